//! The fastest plan that fits, in the simulated model: candidates, each run by the simulator, under a bound that no plan is
//! below. Anytime: [`Search::advance`] does a little, [`Search::found`] is the best so far. What it does depends on the
//! scenario alone, never on a clock, so that native and wasm end at the same plan.

use super::family;
use crate::engine::evaluate;
use crate::engine::outcome::Summary;
use crate::engine::plan::Plan;
use crate::engine::policy::{Policy, PolicyKind};
use crate::engine::scenario::Scenario;
use crate::engine::units::{Bytes, Nanos};
use std::cmp::Reverse;

/// The best plan so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// It, as a request says it.
    pub policy: Policy,
    /// What the simulator says of it.
    pub summary: Summary,
    /// No plan that fits has a shorter step.
    pub bound: Nanos,
    /// How many plans were run.
    pub searched: usize,
}

impl Found {
    /// Whether no plan is faster.
    #[must_use]
    pub fn optimal(&self) -> bool {
        self.summary.runs && self.summary.step <= self.bound
    }

    /// How far the step may be above the best possible, as a share of it.
    #[must_use]
    pub fn gap(&self) -> f64 {
        let bound = self.bound.secs();
        if bound > 0.0 { (self.summary.step.secs() / bound - 1.0).max(0.0) } else { 0.0 }
    }
}

/// A search under way.
pub struct Search {
    scenario: Scenario,
    candidates: Vec<Policy>,
    next: usize,
    found: Found,
}

impl Search {
    /// Starts with keeping everything.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let policy = Policy { kind: PolicyKind::Keep, ..scenario.policy.clone() };
        let summary = summary(scenario, &policy);
        let bound = evaluate::plain(scenario).step;
        let found = Found { policy, summary, bound, searched: 1 };
        Self { scenario: scenario.clone(), candidates: family::policies(scenario), next: 0, found }
    }

    /// Runs about `plans` more candidates; false once there is nothing left to do.
    pub fn advance(&mut self, plans: usize) -> bool {
        for _ in 0..plans {
            if self.found.optimal() {
                return false;
            }
            let Some(policy) = self.candidates.get(self.next) else { return false };
            self.next += 1;
            let summary = summary(&self.scenario, policy);
            self.found.searched += 1;
            if rank(&summary) < rank(&self.found.summary) {
                self.found = Found { policy: policy.clone(), summary, ..self.found.clone() };
            }
        }
        true
    }

    /// The best so far.
    #[must_use]
    pub const fn found(&self) -> &Found {
        &self.found
    }
}

/// The fastest plan that fits; the one of least peak where none does.
#[must_use]
pub fn fastest(scenario: &Scenario) -> Found {
    let mut search = Search::new(scenario);
    while search.advance(usize::MAX) {}
    search.found
}

fn summary(scenario: &Scenario, policy: &Policy) -> Summary {
    evaluate::summarize(scenario, &Plan::of(policy, &scenario.chain, &scenario.hardware))
}

/// What runs before what does not; then the faster, or the smaller.
fn rank(summary: &Summary) -> (Reverse<bool>, u64, u64) {
    let (Bytes(peak), Nanos(step)) = (summary.peak, summary.step);
    let (first, second) = if summary.runs { (step, peak) } else { (peak, step) };
    (Reverse(summary.runs), first, second)
}
