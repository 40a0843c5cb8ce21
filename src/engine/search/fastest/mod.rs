//! The fastest plan that fits, in the simulated model: candidates, each run by the simulator, under a bound that no plan is
//! below. Anytime: [`Search::advance`] does a little, [`Search::found`] is the best so far. What it does depends on the
//! scenario alone, never on a clock, so that native and wasm end at the same plan.
//!
//! A candidate is made from how many bytes may leave over the link: `recompute` finds the least recomputation for the rest, `offload` sends the
//! earliest tensors away, no more than needed. The bound says which amount to try first.

mod alternate;
pub mod bound;
mod equal;
mod moves;
mod near;
mod offload;
mod path;
mod recompute;
mod small;
pub mod table;
pub mod warm;

use super::{family, rotor};
use crate::engine::evaluate;
use crate::engine::outcome::Summary;
use crate::engine::plan::Plan;
use crate::engine::policy::{Action, Granularity, Policy, PolicyKind};
use crate::engine::scenario::Scenario;
use crate::engine::units::{Bytes, Nanos};
use alternate::Alternation;
use equal::Equal;
use recompute::{Leaving, Programme};
use small::Small;
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
    /// All plans of a small chain that run a layer again at most once were tried, with copies issued at the reader's distance and as early as there is room.
    pub exhausted: bool,
}

impl Found {
    /// Whether no plan is faster: the bound is reached.
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
    /// Offloaded layers and recomputed runs in turn.
    Alternate(usize),
    /// The family, for it has plans that this search does not make.
    Family(usize),
    /// Small changes of the best plan, from that one of them on; so many in a row were of no use.
    Move {
        at: usize,
        idle: usize,
        left: usize,
    },
    /// Every plan, where there are few.
    Every,
    Done,
}

/// States per layer of the programme: at first, and for a closer look.
const STATES: [usize; 2] = [48, 256];
/// Chains of more layers are searched less closely: fewer amounts and changes.
const LONG: usize = 128;
/// States that all programmes together look at, at most: some seconds. Only chains of hundreds of different layers come to it.
const WORK: u64 = 100_000_000;
/// How often the distance around the best amount is halved.
const HALVINGS: u32 = 6;
/// Small changes that are tried at most.
const MOVES: usize = 600;
/// Plans that are run at most before not even a small chain is enumerated further: where single tensors are left out, and where none is.
const EVERY: [usize; 2] = [20_000, 200_000];
/// Prefetch distances beside the reader's own; the first is as early as there is room.
const PREFETCH: [usize; 3] = [1000, 2, 4];

/// An amount to be tried: what leaves, the room, the states of the programme.
#[derive(Clone, Copy)]
struct Job {
    leaving: Leaving,
    room: u64,
    states: usize,
}

/// What is recomputed and what leaves is decided: the ways to cut and issue the copies are left.
struct Ways {
    leaving: Leaving,
    kept: Plan,
    plan: Plan,
    left: Vec<(Granularity, usize)>,
}

/// A search under way.
pub struct Search {
    scenario: Scenario,
    rows: Vec<Row>,
    room: u64,
    held: u64,
    amounts: Vec<Leaving>,
    /// Of the best plan.
    amount: Leaving,
    /// The best plan made here, before anything of it is offloaded, and with its copies.
    plan: Option<(Plan, Plan)>,
    /// The last is next.
    jobs: Vec<Job>,
    programme: Option<(Job, Programme)>,
    /// States that programmes may still look at.
    work: u64,
    ways: Option<Ways>,
    alternations: Vec<Alternation>,
    family: Vec<Policy>,
    equal: Option<Equal>,
    /// Passes over equal layers that have been begun.
    passes: usize,
    /// Plans to be run, the next one last.
    plans: Vec<Plan>,
    /// The best of the family is known.
    knows_family: bool,
    every: Option<Small>,
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
        let bound_s = bound.micro.map(whole);
        let found = Found { policy, summary, bound: bound_s, searched: 1, exhausted: false };
        Self {
            amounts: amounts(scenario, &rows, bound.offloaded),
            amount: Leaving { bytes: bound.offloaded, rate: 0.0 },
            held: rows.iter().map(|row| row.held).sum(),
            room: bound::room(scenario).unwrap_or(0),
            alternations: alternate::all(rows.len()),
            family: Vec::new(),
            equal: None,
            passes: 0,
            plans: Vec::new(),
            knows_family: false,
            every: Small::new(&rows, &scenario.hardware, bound::room(scenario).unwrap_or(0)),
            rows,
            plan: None,
            jobs: Vec::new(),
            programme: None,
            work: WORK,
            ways: None,
            stage: Stage::Amount(0),
            found,
            scenario: scenario.clone(),
        }
    }

    /// Does so many small pieces of work, each about as long as running a plan; false once there is nothing left to do.
    pub fn advance(&mut self, pieces: usize) -> bool {
        (0..pieces).all(|_| self.piece())
    }

    fn piece(&mut self) -> bool {
        if self.found.optimal() || self.stage == Stage::Done {
            self.stage = Stage::Done;
            return false;
        }
        if let Some(plan) = self.plans.pop() {
            self.run(None, plan);
        } else if let Some(equal) = &mut self.equal {
            if !equal.advance() {
                self.arrived();
            }
        } else if let Some(ways) = &mut self.ways {
            match ways.left.pop() {
                Some(way) => self.way(way),
                None => self.ways = None,
            }
        } else if let Some((_, programme)) = &mut self.programme {
            if !programme.advance(&self.rows) {
                self.decided();
            }
        } else if let Some(job) = self.jobs.pop().filter(|_| self.work > 0) {
            let Job { leaving, room, states } = job;
            let programme = Programme::new(&self.rows, &self.base(), room, leaving, states);
            self.programme = Some((job, programme));
        } else {
            self.stage = self.next_stage();
        }
        true
    }

    fn next_stage(&mut self) -> Stage {
        match self.stage {
            // After the first, equal layers: a quick pass, then one that proves.
            Stage::Amount(1) if self.passes < 2 => {
                let hardware = evaluate::share_of_host(&self.scenario);
                let (limit, quick) = (self.best_micro().0, self.passes == 0);
                self.equal = Equal::new(&self.rows, &hardware, self.room, limit, quick);
                self.passes = if self.equal.is_some() { self.passes + 1 } else { 2 };
                Stage::Amount(1)
            }
            Stage::Amount(i) => match self.amounts.get(i).copied() {
                Some(amount) => {
                    self.ask(amount, STATES[0]);
                    Stage::Amount(i + 1)
                }
                None => Stage::Closer(0),
            },
            Stage::Closer(i) if i < HALVINGS && !self.is_long() => {
                self.closer(i);
                Stage::Closer(i + 1)
            }
            Stage::Closer(_) => Stage::Alternate(0),
            Stage::Alternate(i) if i < self.alternations.len() => {
                self.alternate(self.alternations[i]);
                Stage::Alternate(i + 1)
            }
            Stage::Alternate(_) => {
                if !self.knows_family {
                    self.family = family::policies(&self.scenario);
                }
                self.family.extend(rotor::policy(&self.scenario));
                Stage::Family(0)
            }
            Stage::Family(i) if i < self.family.len() => {
                let policy = self.family[i].clone();
                let summary = summary(&self.scenario, &policy);
                self.offer(policy, summary);
                Stage::Family(i + 1)
            }
            Stage::Family(_) => {
                let left = if self.is_long() { MOVES / 10 } else { MOVES };
                Stage::Move { at: 0, idle: 0, left }
            }
            Stage::Move { at, idle, left } => self.turn(at, idle, left),
            Stage::Every => self.every(),
            Stage::Done => Stage::Done,
        }
    }

    /// The best so far.
    #[must_use]
    pub const fn found(&self) -> &Found {
        &self.found
    }

    /// Whether there are so many layers that less has to do.
    fn is_long(&self) -> bool {
        self.rows.len() > LONG
    }

    /// Keep everything: what plans are made from.
    fn base(&self) -> Plan {
        Plan::uniform(&self.scenario.chain, &self.scenario.policy, Action::Keep)
    }

    /// Has an amount tried.
    fn ask(&mut self, leaving: Leaving, states: usize) {
        let pipeline = &self.scenario.chain.pipeline;
        // Others in a pipeline hold what this micro-batch keeps: all of it at most.
        let kept = self.held.saturating_sub(leaving.bytes);
        let shares: &[u64] = if pipeline.is_alone() { &[0] } else { &[1, 2, 3, 4] };
        for share in shares {
            let others = pipeline.others(Bytes(kept / 4 * share)).0;
            let room = self.room.saturating_sub(others);
            self.jobs.push(Job { leaving, room, states });
        }
    }

    /// Amounts at both sides of the best one.
    fn closer(&mut self, i: u32) {
        let middle = self.amount;
        let far = self.held >> (i + 4);
        let share = 0.2 / f64::from(1 << i);
        for up in [true, false] {
            let (bytes, rate) = if up {
                ((middle.bytes + far).min(self.held), middle.rate * (1.0 + share))
            } else {
                (middle.bytes.saturating_sub(far), middle.rate * (1.0 - share))
            };
            let bytes = if middle.rate > 0.0 { 0 } else { bytes };
            self.ask(Leaving { bytes, rate }, STATES[1]);
        }
        if i == 0 {
            self.ask(middle, STATES[1]);
        }
    }

    /// The programme is through: sends away what does not fit.
    fn decided(&mut self) {
        let Some((job, programme)) = self.programme.take() else { return };
        self.work = self.work.saturating_sub(programme.work());
        let chain = &self.scenario.chain;
        let Some(kept) = programme.plan(chain, &self.rows, &self.base()) else { return };
        let plan = offload::earliest(chain, &kept, Action::Host, self.room);
        let mut left = Vec::new();
        for granularity in [Granularity::Tensor, Granularity::Layer] {
            left.push((granularity, plan.prefetch));
            let others = PREFETCH.iter().rev().filter(|&&prefetch| prefetch != plan.prefetch);
            left.extend(others.map(|&prefetch| (granularity, prefetch)));
        }
        self.ways = Some(Ways { leaving: job.leaving, kept, plan, left });
    }

    /// A pass over equal layers is through.
    fn arrived(&mut self) {
        let Some(mut equal) = self.equal.take() else { return };
        let chain = &self.scenario.chain;
        if let (Some(micro), Some(bound)) = (equal.bound(), self.found.bound) {
            let possible = micro < u64::MAX;
            self.found.bound =
                possible.then(|| bound.max(chain.in_step(Nanos(micro)) + chain.optimizer));
        }
        let plans = equal.plans(chain, &self.base());
        for plan in plans.into_iter().rev() {
            for prefetch in [PREFETCH[0], plan.prefetch] {
                self.plans.push(Plan { prefetch, granularity: Granularity::Layer, ..plan.clone() });
            }
        }
    }

    /// What the best step leaves of a micro-batch: below it a plan can only be if its micro-batches are.
    fn best_micro(&self) -> Nanos {
        let chain = &self.scenario.chain;
        let step = self.found.summary.step.saturating_sub(chain.optimizer);
        if self.found.summary.runs {
            Nanos(step.0.div_ceil(chain.accumulation.max(1)))
        } else {
            Nanos(u64::MAX)
        }
    }

    /// An alternation, with copies issued as early as there is room.
    fn alternate(&mut self, alternation: Alternation) {
        let chain = &self.scenario.chain;
        let kept = alternation.plan(chain, &self.base());
        let plan = offload::earliest(chain, &kept, Action::Host, self.room);
        self.run(
            Some(&kept),
            Plan { prefetch: PREFETCH[0], granularity: Granularity::Layer, ..plan },
        );
    }

    /// Runs the plan with its copies cut and issued one way.
    fn way(&mut self, (granularity, prefetch): (Granularity, usize)) {
        let Some(ways) = self.ways.take() else { return };
        if self.run(Some(&ways.kept), Plan { prefetch, granularity, ..ways.plan.clone() }) {
            self.amount = ways.leaving;
        }
        self.ways = Some(ways);
    }

    /// Tries one small change of the best plan.
    fn turn(&mut self, at: usize, idle: usize, left: usize) -> Stage {
        let Some((kept, best)) = self.plan.clone() else { return Stage::Every };
        let moves = moves::moves(&self.scenario.chain, &kept);
        if idle >= moves.len() || left == 0 {
            return Stage::Every;
        }
        let at = at % moves.len();
        let better = moves::moved(&self.scenario.chain, &kept, moves[at]).is_some_and(|next| {
            let plan = offload::earliest(&self.scenario.chain, &next, Action::Host, self.room);
            let (granularity, prefetch) = (best.granularity, best.prefetch);
            self.run(Some(&next), Plan { prefetch, granularity, ..plan })
        });
        // What helped may help again beside it.
        if better {
            Stage::Move { at, idle: 0, left: left - 1 }
        } else {
            Stage::Move { at: at + 1, idle: idle + 1, left: left - 1 }
        }
    }

    /// Tries the next of all plans.
    fn every(&mut self) -> Stage {
        let micro = self.best_micro();
        let chain = &self.scenario.chain;
        let Some(every) = &mut self.every else { return Stage::Done };
        if self.found.searched >= EVERY[usize::from(every.all)] {
            return Stage::Done;
        }
        let base = Plan::uniform(chain, &self.scenario.policy, Action::Keep);
        let Some(plan) = every.next(chain, &self.rows, &base, (&self.scenario.hardware, micro))
        else {
            self.found.exhausted = every.all;
            return Stage::Done;
        };
        let kept = plan.without_offload();
        if plan != kept {
            self.run(Some(&kept), Plan { prefetch: PREFETCH[0], ..plan.clone() });
        }
        self.run(Some(&kept), plan);
        Stage::Every
    }

    /// Runs a plan; whether it is the best. Small changes go on from it where `kept` says what it is without its copies.
    fn run(&mut self, kept: Option<&Plan>, plan: Plan) -> bool {
        let summary = evaluate::summarize(&self.scenario, &plan);
        if rank(&summary) < rank(&self.found.summary) {
            let policy = plan.to_policy(&self.scenario.chain, &self.scenario.policy);
            let again = Plan::of(&policy, &self.scenario.chain, &self.scenario.hardware);
            if (&again.layers, &again.segments, &again.nested)
                == (&plan.layers, &plan.segments, &plan.nested)
            {
                self.offer(policy, summary);
                if let Some(kept) = kept {
                    self.plan = Some((kept.clone(), plan));
                }
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

/// Amounts to try: the bound's, those around it, what the link can take while forward runs, then all from nothing to everything.
fn amounts(scenario: &Scenario, rows: &[Row], first: u64) -> Vec<Leaving> {
    let all: u64 = rows.iter().map(|row| row.held).sum();
    let of = |percent: u64| u64::try_from(u128::from(first) * u128::from(percent) / 100);
    let near = [100, 96, 104, 90, 110].into_iter().filter_map(|percent| of(percent).ok());
    let paced = [1.0, 0.9, 0.75, 0.5, 0.25]
        .map(|share| Leaving { bytes: 0, rate: scenario.hardware.d2h.0 * share });
    let some = |bytes| Leaving { bytes, rate: 0.0 };
    let mut amounts: Vec<Leaving> = near.map(some).collect();
    amounts.extend(paced);
    amounts.extend([80, 120].into_iter().filter_map(|percent| of(percent).ok()).map(some));
    amounts.extend((0..=16).map(|i| some(all / 16 * i)));
    let mut seen: Vec<Leaving> = Vec::new();
    amounts.retain(|amount| {
        let new = amount.bytes <= all && !seen.contains(amount);
        seen.push(*amount);
        new
    });
    if rows.len() > LONG {
        amounts.truncate(6);
    }
    amounts
}

fn summary(scenario: &Scenario, policy: &Policy) -> Summary {
    evaluate::summarize(scenario, &evaluate::plan(scenario, policy))
}

/// What runs before what does not; then the faster, or the smaller.
fn rank(summary: &Summary) -> (Reverse<bool>, u64, u64) {
    let (Bytes(peak), Nanos(step)) = (summary.peak, summary.step);
    let (first, second) = if summary.runs { (step, peak) } else { (peak, step) };
    (Reverse(summary.runs), first, second)
}
