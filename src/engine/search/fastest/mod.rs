//! The fastest plan that fits, in the simulated model: candidates, each run by the simulator, under a bound that no plan is
//! below. Anytime: [`Search::advance`] does a little, [`Search::found`] is the best so far. What it does depends on the
//! scenario alone, never on a clock, so that native and wasm end at the same plan.
//!
//! A candidate is made from how many bytes may leave over the link: `recompute` finds the least recomputation for the rest, `offload` sends the
//! earliest tensors away, no more than needed. The bound says which amount to try first.

pub mod bound;
mod offload;
mod recompute;
pub mod table;

use super::family;
use crate::engine::evaluate;
use crate::engine::outcome::Summary;
use crate::engine::plan::Plan;
use crate::engine::policy::{Action, Granularity, Policy, PolicyKind};
use crate::engine::scenario::Scenario;
use crate::engine::units::{Bytes, Nanos};
use std::cmp::Reverse;
use table::Row;

/// The best plan so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// It, as a request says it.
    pub policy: Policy,
    /// What the simulator says of it.
    pub summary: Summary,
    /// No plan that fits has a shorter step; none where no plan fits at all.
    pub bound: Option<Nanos>,
    /// How many plans were run.
    pub searched: usize,
}

impl Found {
    /// Whether no plan is faster.
    #[must_use]
    pub fn optimal(&self) -> bool {
        self.summary.runs && self.bound.is_some_and(|bound| self.summary.step <= bound)
    }

    /// How far the step may be above the best possible, as a share of it; none where no plan fits.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let bound = self.bound.filter(|_| self.summary.runs)?.secs();
        Some(if bound > 0.0 { (self.summary.step.secs() / bound - 1.0).max(0.0) } else { 0.0 })
    }
}

/// What is tried next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Amounts that leave, the bound's first.
    Amount(usize),
    /// The family, for it has plans that this search does not make.
    Family(usize),
    Done,
}

/// A search under way.
pub struct Search {
    scenario: Scenario,
    rows: Vec<Row>,
    room: u64,
    amounts: Vec<u64>,
    family: Vec<Policy>,
    stage: Stage,
    found: Found,
}

impl Search {
    /// Starts with keeping everything.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let chain = &scenario.chain;
        let rows = table::rows(chain);
        let policy = Policy { kind: PolicyKind::Keep, ..scenario.policy.clone() };
        let summary = summary(scenario, &policy);
        let bound = bound::bound(scenario, &rows);
        let whole = |micro| chain.in_step(micro) + chain.optimizer;
        let found = Found { policy, summary, bound: bound.micro.map(whole), searched: 1 };
        Self {
            amounts: amounts(&rows, bound.offloaded),
            room: bound::room(scenario).unwrap_or(0),
            family: family::policies(scenario),
            rows,
            stage: Stage::Amount(0),
            found,
            scenario: scenario.clone(),
        }
    }

    /// Runs about `plans` more candidates; false once there is nothing left to do.
    pub fn advance(&mut self, plans: usize) -> bool {
        for _ in 0..plans {
            if self.found.optimal() {
                self.stage = Stage::Done;
            }
            self.stage = match self.stage {
                Stage::Amount(i) if i < self.amounts.len() => {
                    self.amount(self.amounts[i]);
                    Stage::Amount(i + 1)
                }
                Stage::Amount(_) => Stage::Family(0),
                Stage::Family(i) if i < self.family.len() => {
                    let policy = self.family[i].clone();
                    let summary = summary(&self.scenario, &policy);
                    self.offer(policy, summary);
                    Stage::Family(i + 1)
                }
                Stage::Family(_) | Stage::Done => return false,
            }
        }
        true
    }

    /// The best so far.
    #[must_use]
    pub const fn found(&self) -> &Found {
        &self.found
    }

    /// The candidate of an amount, its copies cut both ways.
    fn amount(&mut self, away: u64) {
        let chain = &self.scenario.chain;
        let base = Plan::uniform(chain, &self.scenario.policy, Action::Keep);
        let Some(kept) = recompute::least(chain, &self.rows, &base, self.room, away, true) else {
            return;
        };
        let plan = offload::earliest(chain, &kept, Action::Host, self.room, 0);
        for granularity in [Granularity::Layer, Granularity::Tensor] {
            for prefetch in [plan.prefetch, 2, 4, 16, 1000] {
                self.plan(Plan { granularity, prefetch, ..plan.clone() });
            }
        }
    }

    fn plan(&mut self, plan: Plan) {
        let summary = evaluate::summarize(&self.scenario, &plan);
        if rank(&summary) < rank(&self.found.summary) {
            let policy = plan.to_policy(&self.scenario.chain, &self.scenario.policy);
            let again = Plan::of(&policy, &self.scenario.chain, &self.scenario.hardware);
            if again.layers == plan.layers && again.segments == plan.segments {
                self.offer(policy, summary);
                return;
            }
        }
        self.found.searched += 1;
    }

    fn offer(&mut self, policy: Policy, summary: Summary) {
        self.found.searched += 1;
        if rank(&summary) < rank(&self.found.summary) {
            (self.found.policy, self.found.summary) = (policy, summary);
        }
    }
}

/// The fastest plan that fits; the one of least peak where none does.
#[must_use]
pub fn fastest(scenario: &Scenario) -> Found {
    let mut search = Search::new(scenario);
    while search.advance(usize::MAX) {}
    search.found
}

/// Amounts to try: the bound's, those around it, then all from nothing to everything.
fn amounts(rows: &[Row], first: u64) -> Vec<u64> {
    let all: u64 = rows.iter().map(|row| row.held).sum();
    let mut amounts = vec![first];
    for share in [96, 104, 90, 110, 80, 120] {
        amounts.push((u128::from(first) * share / 100).try_into().unwrap_or(all));
    }
    amounts.extend((0..=16).map(|i| all / 16 * i));
    let mut seen = Vec::new();
    amounts.retain(|&amount| {
        let new = amount <= all && !seen.contains(&amount);
        seen.push(amount);
        new
    });
    amounts
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
