//! A case run through the engine and compared. Principal type [`Row`].

use super::case::{Case, Within};
use super::expression;
use crate::engine::door;
use serde_json::Value;

/// One figure of one case, and what the engine says.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Places of group, set and row in the book.
    pub case: (usize, usize, usize),
    /// Place of the figure in the set.
    pub figure: usize,
    /// What the engine gives; none where it gives no such number.
    pub value: Option<f64>,
    /// How far that is from what is expected.
    pub difference: Option<f64>,
    /// The same as a share of what is expected; none beside an expected zero.
    pub share: Option<f64>,
    /// Whether it comes out.
    pub holds: bool,
    /// What the engine said of the request that it should not have.
    pub objection: Option<Objection>,
}

/// Why a case cannot be held to its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// The request was refused.
    Refused(String),
    /// Keys that mean nothing to the engine.
    Unknown(String),
    /// Keys whose values were brought into range.
    Clamped(String),
}

/// The rows of a case: one for each figure that its source has.
#[must_use]
pub fn evaluate(case: &Case) -> Vec<Row> {
    let mut outcomes = Vec::new();
    let mut objection = None;
    for request in [Some(case.request()), case.against()].into_iter().flatten() {
        match door::evaluate(&request.to_string()) {
            Ok(outcome) => {
                objection = objection.or_else(|| object_to(&outcome, case.set.clamps));
                outcomes.push(outcome);
            }
            Err(error) => objection = Some(Objection::Refused(error.to_string())),
        }
    }
    let figures = case.set.figures.iter().zip(case.expected()).enumerate();
    figures
        .filter(|(_, (_, expected))| expected.is_there())
        .map(|(i, (figure, expected))| {
            let value = expression::value(&figure.measure, &outcomes).filter(|n| n.is_finite());
            let difference = value.map(|value| expected.distance(value));
            let near = value.map(|value| expected.nearest(value).abs());
            let share = difference.zip(near).and_then(|(difference, near)| {
                if difference == 0.0 { Some(0.0) } else { (near > 0.0).then(|| difference / near) }
            });
            let allowed = match figure.within {
                Within::Exact => 0.0,
                Within::Absolute(by) => by,
                Within::Relative(by) => by * near.unwrap_or_default(),
            };
            let close = difference.is_some_and(|difference| difference.abs() <= allowed);
            Row {
                case: (case.group_at, case.set_at, case.row_at),
                figure: i,
                value,
                difference,
                share,
                holds: close && objection.is_none(),
                objection: objection.clone(),
            }
        })
        .collect()
}

fn object_to(outcome: &Value, clamps: bool) -> Option<Objection> {
    let names = |key: &str, part: fn(&Value) -> &Value| {
        let list = outcome[key].as_array()?;
        let names: Vec<&str> = list.iter().filter_map(|item| part(item).as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    names("ignored", |item| item).map(Objection::Unknown).or_else(|| {
        names("clamped", |item| &item["path"]).filter(|_| !clamps).map(Objection::Clamped)
    })
}
