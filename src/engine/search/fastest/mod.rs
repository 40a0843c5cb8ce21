//! The fastest plan that fits, in the simulated model: candidates, each run by the simulator, under a bound that no plan is
//! below. Anytime: [`Search::advance`] does a little, [`Search::found`] is the best so far. What it does depends on the
//! scenario alone, never on a clock, so that native and wasm end at the same plan.
//!
//! A candidate is made from how many bytes may leave over the link: `recompute` finds the least recomputation for the rest, `offload` sends the
//! earliest tensors away, no more than needed. The bound says which amount to try first.

pub mod bound;
mod moves;
mod offload;
mod path;
mod recompute;
pub mod table;
pub mod warm;

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
    /// Amounts around the best one, ever closer, with a finer programme.
    Closer(u32),
    /// The family, for it has plans that this search does not make.
    Family(usize),
    /// Small changes of the best plan, from that one of them on; so many in a row were of no use.
    Move {
        at: usize,
        idle: usize,
        left: usize,
    },
    Done,
}

/// States per layer of the programme: at first, and for a closer look.
const STATES: [usize; 2] = [48, 256];
/// How often the distance around the best amount is halved.
const HALVINGS: u32 = 6;
/// Small changes that are tried at most.
const MOVES: usize = 600;
/// Prefetch distances beside the reader's own; the first is as early as there is room.
const PREFETCH: [usize; 3] = [1000, 2, 4];

/// A search under way.
pub struct Search {
    scenario: Scenario,
    rows: Vec<Row>,
    room: u64,
    held: u64,
    amounts: Vec<u64>,
    /// Of the best plan.
    amount: u64,
    /// The best plan made here, before anything of it is offloaded, and with its copies.
    plan: Option<(Plan, Plan)>,
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
            amount: bound.offloaded,
            held: rows.iter().map(|row| row.held).sum(),
            room: bound::room(scenario).unwrap_or(0),
            family: family::policies(scenario),
            rows,
            plan: None,
            stage: Stage::Amount(0),
            found,
            scenario: scenario.clone(),
        }
    }

    /// Runs about `plans` more candidates; false once there is nothing left to do.
    pub fn advance(&mut self, plans: usize) -> bool {
        let until = self.found.searched.saturating_add(plans);
        while self.found.searched < until {
            if self.found.optimal() {
                self.stage = Stage::Done;
            }
            self.stage = match self.stage {
                Stage::Amount(i) if i < self.amounts.len() => {
                    self.amount(self.amounts[i], STATES[0]);
                    Stage::Amount(i + 1)
                }
                Stage::Amount(_) => Stage::Closer(0),
                Stage::Closer(i) if i < HALVINGS => {
                    self.closer(i);
                    Stage::Closer(i + 1)
                }
                Stage::Closer(_) => Stage::Family(0),
                Stage::Family(i) if i < self.family.len() => {
                    let policy = self.family[i].clone();
                    let summary = summary(&self.scenario, &policy);
                    self.offer(policy, summary);
                    Stage::Family(i + 1)
                }
                Stage::Family(_) => Stage::Move { at: 0, idle: 0, left: MOVES },
                Stage::Move { at, idle, left } => self.turn(at, idle, left),
                Stage::Done => return false,
            };
        }
        true
    }

    /// The best so far.
    #[must_use]
    pub const fn found(&self) -> &Found {
        &self.found
    }

    /// The candidates of an amount.
    fn amount(&mut self, away: u64, states: usize) {
        let chain = &self.scenario.chain;
        let base = Plan::uniform(chain, &self.scenario.policy, Action::Keep);
        // Others in a pipeline hold what this micro-batch keeps: all of it at most.
        let others =
            |share: u64| chain.pipeline.others(Bytes(self.held.saturating_sub(away) / 4 * share)).0;
        let shares: &[u64] = if chain.pipeline.is_alone() { &[0] } else { &[4, 3, 2, 1] };
        let rooms: Vec<u64> =
            shares.iter().map(|&share| self.room.saturating_sub(others(share))).collect();
        for room in rooms {
            let chain = &self.scenario.chain;
            if let Some(kept) = recompute::least(chain, &self.rows, &base, room, away, states) {
                if self.candidates(&kept) {
                    self.amount = away;
                }
            }
        }
    }

    /// Amounts at both sides of the best one.
    fn closer(&mut self, i: u32) {
        let far = self.held >> (i + 4);
        let middle = self.amount;
        if i == 0 {
            self.amount(middle, STATES[1]);
        }
        for amount in [middle.saturating_sub(far), (middle + far).min(self.held)] {
            self.amount(amount, STATES[1]);
        }
    }

    /// What is recomputed is decided: sends away what does not fit, with copies cut and issued in every way. Whether the best is among them.
    fn candidates(&mut self, kept: &Plan) -> bool {
        let plan = offload::earliest(&self.scenario.chain, kept, Action::Host, self.room);
        let mut better = false;
        for granularity in [Granularity::Layer, Granularity::Tensor] {
            let own = [plan.prefetch];
            for &prefetch in PREFETCH.iter().filter(|&&p| p != plan.prefetch).chain(&own) {
                if self.found.optimal() {
                    return better;
                }
                better |= self.run(kept, Plan { granularity, prefetch, ..plan.clone() });
            }
        }
        better
    }

    /// Tries one small change of the best plan.
    fn turn(&mut self, at: usize, idle: usize, left: usize) -> Stage {
        let Some((kept, best)) = self.plan.clone() else { return Stage::Done };
        let moves = moves::moves(&self.scenario.chain, &kept);
        if idle >= moves.len() || left == 0 {
            return Stage::Done;
        }
        let at = at % moves.len();
        let better = moves::moved(&self.scenario.chain, &kept, moves[at]).is_some_and(|next| {
            let plan = offload::earliest(&self.scenario.chain, &next, Action::Host, self.room);
            let (granularity, prefetch) = (best.granularity, best.prefetch);
            self.run(&next, Plan { granularity, prefetch, ..plan })
        });
        // What helped may help again beside it.
        if better {
            Stage::Move { at, idle: 0, left: left - 1 }
        } else {
            Stage::Move { at: at + 1, idle: idle + 1, left: left - 1 }
        }
    }

    /// Runs a plan; whether it is the best.
    fn run(&mut self, kept: &Plan, plan: Plan) -> bool {
        let summary = evaluate::summarize(&self.scenario, &plan);
        if rank(&summary) < rank(&self.found.summary) {
            let policy = plan.to_policy(&self.scenario.chain, &self.scenario.policy);
            let again = Plan::of(&policy, &self.scenario.chain, &self.scenario.hardware);
            if again.layers == plan.layers && again.segments == plan.segments {
                self.offer(policy, summary);
                self.plan = Some((kept.clone(), plan));
                return true;
            }
        }
        self.found.searched += 1;
        false
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
