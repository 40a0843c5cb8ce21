//! The `inverse` group of a request, read once.

use super::count::Counted;
use crate::engine::accepted::Accepted;
use crate::engine::error::{Error, Notes};
use crate::engine::names::names;
use crate::engine::preset;
use crate::engine::scenario::Scenario;
use crate::engine::workload::Workload;
use serde_json::{Map, Value};

names! {
    /// What is asked for.
    Ask {
        /// The largest micro-batch that fits.
        Batch = "batch",
        /// The largest sequence that fits.
        Sequence = "sequence",
        /// The least memory at a given slowdown.
        Memory = "memory",
        /// The cheapest card that fits.
        Card = "card",
        /// The least bandwidth that hides everything.
        Bandwidth = "bandwidth",
    }
}

/// Most that a slowdown may be, as a share.
const SLOWEST: f64 = 1000.0;
/// Most that an hour may cost.
const DEAREST: f64 = 1e9;

/// The group.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What is asked for.
    pub ask: Ask,
    /// Under the best plan; else under the scenario's own policy. Memory and card are always asked under the best one.
    pub best: bool,
    /// Of memory: the step over keep-everything's, minus one.
    pub slowdown: Option<f64>,
    /// Of card: what an hour costs, by preset, in any one currency; null for a card that is not to be had for money.
    pub prices: Map<String, Value>,
}

impl Question {
    /// Reads the group; unknown keys are noted.
    ///
    /// # Errors
    /// No question, one that this workload has no answer to, or a number that cannot be one: by path.
    pub fn read(
        given: Option<&Value>,
        scenario: &Scenario,
        notes: &mut Notes,
    ) -> Result<Self, Error> {
        let none = Map::new();
        let group = match given {
            None | Some(Value::Null) => &none,
            Some(Value::Object(group)) => group,
            Some(other) => return Err(Error::unfit("inverse", other, Accepted::Object)),
        };
        let known = ["ask", "policy", "slowdown", "prices"];
        let unknown = group.keys().filter(|key| !known.contains(&key.as_str()));
        notes.ignored.extend(unknown.map(|key| format!("inverse.{key}")));
        let value = |key: &str| group.get(key).filter(|value| !value.is_null());
        let ask = ask(value("ask"), scenario)?;
        let best = match value("policy") {
            None => scenario.asks_for_best(),
            Some(Value::String(name)) if name == "own" => scenario.asks_for_best(),
            Some(Value::String(name)) if name == "best" => true,
            Some(other) => {
                return Err(Error::unfit("inverse.policy", other, one_of(&["own", "best"])));
            }
        };
        let best = best || matches!(ask, Ask::Memory | Ask::Card);
        let slowdown =
            value("slowdown").map(|given| number("inverse.slowdown", given, (0.0, SLOWEST)));
        let prices = match value("prices") {
            None => none.clone(),
            Some(Value::Object(prices)) => prices.clone(),
            Some(other) => return Err(Error::unfit("inverse.prices", other, Accepted::Object)),
        };
        for (card, price) in &prices {
            let path = format!("inverse.prices.{card}");
            if preset::find(preset::cards(), card).is_none() {
                let names: Vec<_> = preset::names(preset::cards()).collect();
                return Err(Error::unfit(path, &card.as_str().into(), one_of(&names)));
            }
            if !price.is_null() {
                number(&path, price, (0.0, DEAREST))?;
            }
        }
        Ok(Self { ask, best, slowdown: slowdown.transpose()?, prices })
    }

    /// What is counted by a question about a batch or a sequence.
    pub(super) const fn counted(&self) -> Counted {
        match self.ask {
            Ask::Sequence => Counted::Sequence,
            _ => Counted::Batch,
        }
    }
}

/// The question, if this workload has an answer to it.
fn ask(given: Option<&Value>, scenario: &Scenario) -> Result<Ask, Error> {
    let path = "inverse.ask";
    let possible = |ask: &Ask| possible(*ask, &scenario.workload);
    let names: Vec<_> = Ask::ALL.iter().filter(|ask| possible(ask)).map(|ask| ask.name()).collect();
    let Some(given) = given else {
        return Err(Error::Missing { path: path.into(), accepted: one_of(&names) });
    };
    let ask = given.as_str().and_then(Ask::parse).filter(possible);
    ask.ok_or_else(|| Error::unfit(path, given, one_of(&names)))
}

/// Whether a workload has an answer to it: a profile has no batch of its own, nor a lesson a sequence.
#[must_use]
pub const fn possible(ask: Ask, workload: &Workload) -> bool {
    match ask {
        Ask::Batch => Counted::Batch.of(workload).is_some(),
        Ask::Sequence => Counted::Sequence.of(workload).is_some(),
        Ask::Memory | Ask::Card | Ask::Bandwidth => true,
    }
}

fn one_of(names: &[&str]) -> Accepted {
    Accepted::OneOf(names.iter().map(|&name| name.to_owned()).collect())
}

fn number(path: &str, given: &Value, (min, max): (f64, f64)) -> Result<f64, Error> {
    let number = given.as_f64().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| Error::unfit(path, given, Accepted::Number { min, max }))
}
