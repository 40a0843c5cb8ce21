//! Chains of equal layers, exactly. A plan of such a chain is a row of steps: a unit (what one layer holds) stays or leaves, and so many layers
//! after it are made again. From the first layer on, a label has what decides how the rest can go: bytes kept, when forward gets here and its link
//! is free, and the same of backward with time turned round, counted from the end of the step: there copies come back as they leave here. Labels that
//! another one is no worse than in all of that are dropped, and those that cannot be faster than the best plan.
//!
//! A label is no later than any plan with its steps is: what it leaves out are waits of backward behind copies that are still leaving, and drives
//! slower than the link. So the least over all labels that arrive is a bound, and its steps are a plan for the simulator.

mod again;
mod kind;
mod label;
mod links;
mod steps;

use super::table::Row;
use crate::engine::chain::Chain;
use crate::engine::hardware::Hardware;
use crate::engine::nested::Nested;
use crate::engine::plan::{LayerPlan, Plan};
use crate::engine::policy::Action;
use kind::{Kind, Uniform};
use label::{Label, Step, Unit};

/// Longer chains are not looked at: labels go with the square of it.
const LAYERS: usize = 160;
/// Labels that are extended by a step at most, and that are held.
const STEPS: u64 = 10_000_000;
const LABELS: usize = 300_000;
/// Steps of one piece of work.
const PIECE: u64 = 400;
/// Labels of one place that the first, quick pass goes on with.
const BEAM: usize = 24;
/// Plans that are made of labels in one pass.
const PLANS: usize = 8;

/// A pass over the chain.
pub struct Equal {
    chain: Uniform,
    /// The quick pass: it proves nothing.
    pub quick: bool,
    /// Labels must be below this, ns of a micro-batch.
    limit: u64,
    labels: Vec<Label>,
    /// Labels that have come to a layer, by what became of the layer before it.
    places: Vec<[Vec<u32>; 4]>,
    /// The layer whose labels are extended, the steps from it, and the labels that are left.
    at: usize,
    next: Vec<Step>,
    left: Vec<u32>,
    arrived: Vec<(u64, u32)>,
    steps: u64,
}

impl Equal {
    /// A pass that looks for plans below `limit`; none where layers are not alike.
    pub fn new(
        rows: &[Row],
        hardware: &Hardware,
        room: u64,
        limit: u64,
        quick: bool,
    ) -> Option<Self> {
        if rows.len() > LAYERS {
            return None;
        }
        let chain = Uniform::of(rows, hardware, room, limit, quick)?;
        Some(Self {
            quick,
            limit,
            labels: vec![Label::START],
            places: vec![Default::default(); rows.len() + 1],
            at: 0,
            next: chain.kind.steps(0, rows.len(), chain.drives()),
            left: vec![0],
            arrived: Vec::new(),
            steps: 0,
            chain,
        })
    }

    /// Extends some labels; false once none is left.
    pub fn advance(&mut self) -> bool {
        let until = self.steps + PIECE;
        while self.steps < until {
            if self.is_too_much() {
                return false;
            }
            if let Some(id) = self.left.pop() {
                self.extend(id);
                continue;
            }
            self.at += 1;
            if self.at >= self.chain.layers {
                return false;
            }
            self.next = self.chain.kind.steps(self.at, self.chain.layers, self.chain.drives());
            self.left = std::mem::take(&mut self.places[self.at]).concat();
            self.left.sort_unstable_by(|a, b| b.cmp(a));
        }
        true
    }

    /// Whether it was given up: then it proves nothing.
    fn is_too_much(&self) -> bool {
        self.steps > STEPS || self.labels.len() > LABELS || self.chain.again.is_too_much()
    }

    /// No plan has a micro-batch shorter than this; none where that is not known.
    pub fn bound(&self) -> Option<u64> {
        let least = self.arrived.iter().map(|&(time, _)| time).min();
        (!self.quick && !self.is_too_much()).then(|| least.unwrap_or(self.limit))
    }

    fn extend(&mut self, id: u32) {
        let label = self.labels[id as usize];
        for i in 0..self.next.len() {
            let step = self.next[i];
            // Long runs have many operations, and ways.
            self.steps += 1 + step.again as u64 / 8;
            let Some(mut next) = self.chain.after(&label, self.at, step) else { continue };
            next.from = id;
            let place = self.at + step.layers(self.chain.kind);
            if place == self.chain.layers {
                self.end(next);
            } else if self.chain.least(&next, place) < self.limit {
                self.arrive(next, place);
            }
        }
    }

    fn end(&mut self, label: Label) {
        if let Some(time) = self.chain.whole(&label).filter(|&time| time < self.limit) {
            let id = self.hold(label);
            self.arrived.push((time, id));
        }
    }

    fn hold(&mut self, label: Label) -> u32 {
        self.labels.push(label);
        u32::try_from(self.labels.len() - 1).unwrap_or(u32::MAX)
    }

    fn arrive(&mut self, label: Label, place: usize) {
        let labels = &self.labels;
        self.steps += self.places[place][label.before as usize].len() as u64 / 32;
        let here = &mut self.places[place][label.before as usize];
        if here.iter().any(|&other| labels[other as usize].is_no_worse(&label)) {
            return;
        }
        here.retain(|&other| !label.is_no_worse(&labels[other as usize]));
        if self.quick && here.len() >= BEAM {
            let cost = |label: &Label| self.chain.cost(label);
            let Some(worst) = (0..here.len()).max_by_key(|&i| cost(&labels[here[i] as usize]))
            else {
                return;
            };
            if cost(&labels[here[worst] as usize]) <= cost(&label) {
                return;
            }
            here.swap_remove(worst);
        }
        let id = self.hold(label);
        self.places[place][label.before as usize].push(id);
    }

    /// The best plans, the best first.
    pub fn plans(&mut self, chain: &Chain, base: &Plan) -> Vec<Plan> {
        self.arrived.sort_unstable();
        self.arrived.iter().take(PLANS).map(|&(_, id)| self.plan(chain, base, id)).collect()
    }

    fn plan(&self, chain: &Chain, base: &Plan, mut id: u32) -> Plan {
        let mut steps: Vec<Step> = Vec::new();
        while id != 0 {
            let label = &self.labels[id as usize];
            steps.push(label.step);
            id = label.from;
        }
        let mut plan = base.clone();
        let (mut at, mut kept) = (0, 0);
        for step in steps.into_iter().rev() {
            let action = match step.unit {
                Unit::Leaves => Action::Host,
                Unit::Drives => Action::Ssd,
                Unit::Stays | Unit::Again => Action::Keep,
            };
            let end = at + step.layers(self.chain.kind);
            let first =
                at + usize::from(self.chain.kind == Kind::Output && step.unit != Unit::Again);
            if step.again == 0 || first > at {
                plan.layers[at] = LayerPlan::Plain(vec![action; chain.layers[at].saved.len()]);
            }
            if step.again > 0 {
                plan.recompute(first, end, action);
                plan.nested.extend(self.parts(first, end - first, step, kept));
            }
            if step.unit == Unit::Stays {
                kept += self.chain.held(step);
            }
            at = end;
        }
        plan.nested.sort_unstable_by_key(|part| (part.start, usize::MAX - part.end));
        plan.lengths =
            plan.segments.iter().map(|segment| (segment.end - segment.start) as u64).collect();
        plan
    }

    fn parts(&self, first: usize, layers: usize, step: Step, kept: i64) -> Vec<Nested> {
        let room = self.chain.free(step, first, kept);
        self.chain.again.parts(first, layers, room, step.way)
    }
}
