//! The Pareto front of (peak, step time) over a family of plans. Dominance is exact over that family; its law: no point
//! of the front is dominated, and every point evaluates to the same numbers again.

use super::family;
use crate::engine::evaluate;
use crate::engine::outcome::Summary;
use crate::engine::policy::Policy;
use crate::engine::scenario::{Scenario, Weights};
use crate::engine::sort;
use crate::engine::units::{Bytes, Nanos};

/// One plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What it is called.
    pub policy: Policy,
    /// Peak, step, parts.
    pub summary: Summary,
    /// Not dominated by any other.
    pub on_front: bool,
}

/// The family's points; the scenario's own policy is the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    /// In the order of the family.
    pub points: Vec<Point>,
    /// Keep-everything on a card that is large enough.
    pub plain: Summary,
    /// λ.
    pub weights: Weights,
}

/// The numbers of every member of the family, in its order, found a few at a time: what a worker sends back.
pub struct Survey {
    scenario: Scenario,
    policies: Vec<Policy>,
    summaries: Vec<Summary>,
}

impl Survey {
    /// Of the family of `scenario`; nothing is run yet.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let policies = family::policies(scenario);
        Self { scenario: scenario.clone(), policies, summaries: Vec::new() }
    }

    /// Runs the next member; false once there is none.
    pub fn advance(&mut self) -> bool {
        let Some(policy) = self.policies.get(self.summaries.len()) else { return false };
        let plan = evaluate::plan(&self.scenario, policy);
        self.summaries.push(evaluate::summarize(&self.scenario, &plan));
        true
    }

    /// The numbers so far, and those of keep-everything.
    #[must_use]
    pub fn numbers(&self) -> (&[Summary], Summary) {
        (&self.summaries, evaluate::plain(&self.scenario))
    }
}

impl Front {
    /// Evaluates the whole family.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        let mut survey = Survey::new(scenario);
        while survey.advance() {}
        let plain = evaluate::plain(scenario);
        Self::from_survey(scenario, survey.summaries, plain)
    }

    /// The front of numbers that a whole [`Survey`] gave for the same scenario.
    #[must_use]
    pub fn from_survey(scenario: &Scenario, summaries: Vec<Summary>, plain: Summary) -> Self {
        let policies = family::policies(scenario);
        let flags = undominated(&summaries);
        let points = policies
            .into_iter()
            .zip(summaries)
            .zip(flags)
            .map(|((policy, summary), on_front)| Point { policy, summary, on_front })
            .collect();
        Self { points, plain, weights: scenario.weights }
    }

    /// The least cost among what fits; the least peak when nothing does.
    #[must_use]
    pub fn best(&self) -> Option<usize> {
        let fitting = (0..self.points.len()).filter(|&i| self.points[i].summary.fits);
        let cost = |i: &usize| objective(&self.points[*i].summary, &self.plain, &self.weights);
        fitting.min_by(|a, b| cost(a).total_cmp(&cost(b))).or_else(|| {
            (0..self.points.len())
                .min_by_key(|&i| (self.points[i].summary.peak, self.points[i].summary.step))
        })
    }
}

/// `λ_m`·M + `λ_c`·C + `λ_t`·T, memory over keep-everything's peak, recomputation and waiting over its step.
#[must_use]
pub fn objective(summary: &Summary, plain: &Summary, weights: &Weights) -> f64 {
    let step = plain.step.secs().max(1e-9);
    weights.memory * summary.peak.as_f64() / plain.peak.as_f64().max(1.0)
        + weights.compute * summary.recompute.secs() / step
        + weights.transfer * summary.stall.secs() / step
}

/// Which are dominated by none: no other is as good in both and better in one. Of equal ones all stay.
#[must_use]
pub fn undominated(summaries: &[Summary]) -> Vec<bool> {
    let key = |i: usize| (summaries[i].peak, summaries[i].step);
    let mut flags = vec![false; summaries.len()];
    let mut best: Option<(Bytes, Nanos)> = None;
    for i in sort::order(summaries.len(), |i| (key(i).0.0, key(i).1.0, 0)) {
        let (peak, step) = key(i);
        let dominated = best.is_some_and(|(p, s)| s < step || (s == step && p < peak));
        flags[i] = !dominated;
        if !dominated {
            best = Some((peak, step));
        }
    }
    flags
}
