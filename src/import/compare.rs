//! What was measured beside what is predicted. Principal function [`compare`]; its law: both curves are on one time axis, and how they
//! got there is said.

use super::Measured;
use crate::engine::Outcome;
use crate::engine::trace::{SpanKind, Track};
use crate::engine::units::{Bytes, Nanos};

/// Steps this near in length share their seconds; others are drawn each over its whole length.
const NEAR: f64 = 0.25;
/// Differences that are named.
const NAMED: usize = 3;
/// Those named are at least this share of the step apart.
const APART: f64 = 0.05;
/// An operation shorter than this share of the step is no place to compare: a curve's edge moved a little would decide it.
const SHORTEST: f64 = 0.002;

/// How measured instants are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Second for second, from the beginning of both.
    Same,
    /// The measured step is drawn as long as the predicted one.
    Stretched,
    /// One of the two takes no time: there is nothing to place.
    Timeless,
}

/// An operation during which the two differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// What runs, as predicted.
    pub kind: SpanKind,
    /// On which layer.
    pub layer: usize,
    /// From when, as predicted.
    pub start: Nanos,
    /// Until when.
    pub end: Nanos,
    /// Bytes measured, on average over it.
    pub measured: Bytes,
    /// Bytes predicted, on average over it.
    pub predicted: Bytes,
}

/// The two curves together.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The measured curve on the predicted time axis.
    pub curve: Vec<(Nanos, Bytes)>,
    /// How it was placed there.
    pub alignment: Alignment,
    /// How long the measured curve is, in its own seconds.
    pub measured: Nanos,
    /// How long the predicted one is.
    pub predicted: Nanos,
    /// The largest differences, the largest first.
    pub differences: Vec<Difference>,
}

impl Comparison {
    /// What was measured at an instant of the predicted time axis; none outside the curve.
    #[must_use]
    pub fn at(&self, at: Nanos) -> Option<Bytes> {
        let after = self.curve.partition_point(|point| point.0 <= at);
        let inside = self.curve.last().is_some_and(|last| at <= last.0);
        after.checked_sub(1).filter(|_| inside).map(|i| self.curve[i].1)
    }
}

/// Places a measured curve beside an outcome.
#[must_use]
pub fn compare(measured: &Measured, outcome: &Outcome) -> Comparison {
    let ends = outcome.spans.iter().map(|span| span.end);
    let predicted = ends.max().unwrap_or_default().max(outcome.micro);
    let own = measured.curve.last().map_or(Nanos::ZERO, |last| last.0);
    let ratio = own.secs() / predicted.secs();
    let alignment = if own == Nanos::ZERO || predicted == Nanos::ZERO {
        Alignment::Timeless
    } else if (ratio - 1.0).abs() <= NEAR {
        Alignment::Same
    } else {
        Alignment::Stretched
    };
    let placed = |&(at, bytes): &(Nanos, Bytes)| match alignment {
        Alignment::Stretched => (scaled(at, predicted, own), bytes),
        Alignment::Same | Alignment::Timeless => (at, bytes),
    };
    let curve: Vec<(Nanos, Bytes)> = measured.curve.iter().map(placed).collect();
    let differences = match alignment {
        Alignment::Timeless => Vec::new(),
        _ => differences(&curve, outcome, predicted),
    };
    Comparison { curve, alignment, measured: own, predicted, differences }
}

/// `at` · `to` / `from`, in whole numbers, so that the end is the end.
fn scaled(at: Nanos, to: Nanos, from: Nanos) -> Nanos {
    let product = u128::from(at.0) * u128::from(to.0) / u128::from(from.0.max(1));
    Nanos(u64::try_from(product).unwrap_or(u64::MAX))
}

fn differences(curve: &[(Nanos, Bytes)], outcome: &Outcome, whole: Nanos) -> Vec<Difference> {
    let ledger: Vec<(Nanos, Bytes)> =
        outcome.ledger.iter().map(|step| (step.at, step.row.total())).collect();
    let until = curve.last().map_or(Nanos::ZERO, |last| last.0);
    let long_enough = whole.secs() * SHORTEST;
    let running = outcome.spans.iter().filter(|span| {
        span.track == Track::Compute
            && span.end <= until
            && (span.end - span.start).secs() >= long_enough
    });
    let all: Vec<Difference> = running
        .map(|span| Difference {
            kind: span.kind,
            layer: span.layer,
            start: span.start,
            end: span.end,
            measured: mean(curve, span.start, span.end),
            predicted: mean(&ledger, span.start, span.end),
        })
        .filter(|difference| difference.measured != difference.predicted)
        .collect();
    let mut named: Vec<Difference> = Vec::new();
    while named.len() < NAMED {
        let apart = |one: &&Difference| {
            let far = |other: &Difference| {
                (one.start.secs() - other.start.secs()).abs() >= whole.secs() * APART
            };
            named.iter().all(far)
        };
        let size = |one: &Difference| one.measured.0.abs_diff(one.predicted.0);
        // Of equal ones the first.
        let largest = all.iter().rev().filter(apart).max_by_key(|one| size(one)).copied();
        match largest {
            Some(difference) => named.push(difference),
            None => break,
        }
    }
    named
}

/// The mean of a step function over a stretch of time; before its first point it is what it is there.
fn mean(points: &[(Nanos, Bytes)], start: Nanos, end: Nanos) -> Bytes {
    let first = points.partition_point(|point| point.0 <= start).saturating_sub(1);
    let Some(&(_, mut level)) = points.get(first) else { return Bytes::ZERO };
    let (mut from, mut area) = (start, 0.0);
    for &(at, bytes) in points[first + 1..].iter().take_while(|point| point.0 < end) {
        let at = at.max(start);
        area += level.as_f64() * (at - from).secs();
        (from, level) = (at, bytes);
    }
    area += level.as_f64() * (end - from).secs();
    Bytes::from_f64(area / (end - start).secs())
}
