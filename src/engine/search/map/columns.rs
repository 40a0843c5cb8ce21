//! The plans of the family at each link rate: compiled once where they do not depend on it, bounded by what they took over faster links.

use super::axes::{Axes, COLUMNS};
use super::member::{Member, Moved};
use crate::engine::chain::Chain;
use crate::engine::evaluate::{self, states_without_host};
use crate::engine::hardware::Hardware;
use crate::engine::plan::Plan;
use crate::engine::policy::{Policy, PolicyKind};
use crate::engine::program::Program;
use crate::engine::scenario::{Limits, Scenario};
use crate::engine::search::family;
use crate::engine::units::{Bytes, Nanos};

/// What plans are compared by: step, bytes moved, place in the family.
pub type Key = (Nanos, Bytes, usize);

/// The plans at one link rate.
struct Column {
    hardware: Hardware,
    /// What of the host one micro-batch has.
    share: Hardware,
    /// The chain, where it depends on the link.
    chain: Option<Chain>,
    /// The step of keep-everything.
    plain: Nanos,
    /// Plans that are other plans here: those that weigh times against each other, all where the chain is another.
    own: Vec<Option<Member>>,
    /// No step of the plan is shorter here.
    bounds: Vec<Nanos>,
    /// The plan was run here with room for everything.
    ran: Vec<bool>,
}

/// The plans at every link rate.
pub struct Columns {
    scenario: Scenario,
    axes: Axes,
    plain: Nanos,
    family: Vec<Policy>,
    /// What keep-everything holds after forward.
    all: Bytes,
    members: Vec<Member>,
    made: Vec<Option<Column>>,
}

impl Columns {
    /// Nothing is compiled yet; `plain` is the step of keep-everything on the scenario's own link.
    #[must_use]
    pub fn new(scenario: &Scenario, axes: &Axes, plain: Nanos) -> Self {
        let kept = Program::of(&scenario.chain, &Plan::keep(&scenario.chain));
        Self {
            scenario: scenario.clone(),
            axes: axes.clone(),
            plain,
            family: family::policies(scenario),
            all: kept.resident_after_forward(),
            members: Vec::new(),
            made: (0..COLUMNS).map(|_| None).collect(),
        }
    }

    /// The plans' names.
    #[must_use]
    pub fn family(&self) -> &[Policy] {
        &self.family
    }

    /// What keep-everything holds after forward.
    #[must_use]
    pub const fn all(&self) -> Bytes {
        self.all
    }

    /// Whether every plan is compiled.
    #[must_use]
    pub fn is_compiled(&self) -> bool {
        self.members.len() == self.family.len()
    }

    /// Compiles one more plan.
    pub fn compile(&mut self) {
        if let Some(policy) = self.family.get(self.members.len()) {
            let Scenario { chain, hardware, .. } = &self.scenario;
            self.members.push(Member::of(policy, chain, hardware, self.all));
        }
    }

    /// Whether a column is there as a whole.
    #[must_use]
    pub fn is_ready(&self, column: usize) -> bool {
        self.made[column].as_ref().is_some_and(|column| column.bounds.len() == self.family.len())
    }

    /// A piece of the work that makes a column: at most one plan is compiled.
    pub fn prepare(&mut self, at: usize) {
        let Some(mut column) = self.made[at].take() else {
            self.made[at] = Some(self.begin(at));
            return;
        };
        while let Some(policy) = self.family.get(column.own.len()) {
            let differs = column.chain.is_some() || policy.kind == PolicyKind::Rule;
            let chain = column.chain.as_ref().unwrap_or(&self.scenario.chain);
            let member = differs.then(|| Member::of(policy, chain, &column.hardware, self.all));
            column.own.push(member);
            if differs {
                break;
            }
        }
        if column.own.len() == self.family.len() {
            column.bounds =
                (0..self.family.len()).map(|i| self.first_bound(&column, at, i)).collect();
        }
        self.made[at] = Some(column);
    }

    fn begin(&self, at: usize) -> Column {
        let (out, back) = self.axes.link_gbps(at);
        let hardware = self.scenario.hardware.on_link(out, back);
        let lowered = self.scenario.workload.lower(&self.scenario.training, &hardware).ok();
        let chain = lowered.filter(|chain| *chain != self.scenario.chain);
        let plain = chain.as_ref().map_or(self.plain, |chain| {
            let there = Scenario {
                hardware: hardware.clone(),
                chain: chain.clone(),
                ..self.scenario.clone()
            };
            evaluate::plain(&there).step
        });
        let share = evaluate::share(&hardware, chain.as_ref().unwrap_or(&self.scenario.chain));
        let ran = vec![false; self.family.len()];
        Column { hardware, share, chain, plain, own: Vec::new(), bounds: Vec::new(), ran }
    }

    /// Its compute, and what it took over a faster link.
    fn first_bound(&self, column: &Column, at: usize, i: usize) -> Nanos {
        let floor = column.own[i].as_ref().unwrap_or(&self.members[i]).floor;
        if self.family[i].kind == PolicyKind::Rule {
            return floor;
        }
        let faster = self.made[at..].iter().flatten().filter_map(|column| column.bounds.get(i));
        faster.copied().max().unwrap_or_default().max(floor)
    }

    /// The scenario as a column has it, within a limit.
    #[must_use]
    pub fn scenario(&self, column: usize, limit: Bytes) -> Scenario {
        let mut there = self.scenario.clone();
        if let Some(Column { hardware, chain, .. }) = &self.made[column] {
            there.hardware = hardware.clone();
            there.chain = chain.as_ref().unwrap_or(&there.chain).clone();
        }
        there.hardware.memory = there.hardware.memory.max(limit);
        there.limits = Limits { memory: limit, step: None };
        there
    }

    /// The step of keep-everything on a column's link, on a card that is large enough.
    #[must_use]
    pub fn plain(&self, column: usize) -> Nanos {
        self.made[column].as_ref().map_or(self.plain, |column| column.plain)
    }

    fn member(&self, column: usize, i: usize) -> &Member {
        let own = self.made[column].as_ref().and_then(|column| column.own[i].as_ref());
        own.unwrap_or(&self.members[i])
    }

    /// What becomes of the bytes under a plan.
    #[must_use]
    pub fn moved(&self, column: usize, i: usize) -> Moved {
        self.member(column, i).moved
    }

    /// Whether the device has room for a plan within a limit, and the host for the states.
    #[must_use]
    pub fn has_room(&self, column: usize, i: usize, limit: Bytes) -> bool {
        self.member(column, i).need <= limit && states_without_host(&self.scenario) == Bytes::ZERO
    }

    /// No key of the plan is below this.
    #[must_use]
    pub fn least(&self, column: usize, i: usize) -> Key {
        let bound = self.made[column].as_ref().map_or(Nanos::ZERO, |column| column.bounds[i]);
        (bound, self.member(column, i).moved_bytes(), i)
    }

    /// Runs a plan with room for everything, unless that was done here, and bounds it by that; false where the host has no room for it.
    pub fn tighten(&mut self, column: usize, i: usize) -> bool {
        if self.made[column].as_ref().is_some_and(|column| column.ran[i]) {
            return true;
        }
        let step = self.run(column, i, Bytes(u64::MAX >> 1));
        // A slower link is never faster, but for rules, which are other plans there.
        let first = if self.family[i].kind == PolicyKind::Rule { column } else { 0 };
        for at in self.made[first..=column].iter_mut().flatten() {
            if let Some(bound) = at.bounds.get_mut(i) {
                *bound = (*bound).max(step.unwrap_or(Nanos(u64::MAX)));
            }
        }
        if let Some(column) = &mut self.made[column] {
            column.ran[i] = true;
        }
        step.is_some()
    }

    /// A plan's step within a limit; none where it does not run.
    pub fn run(&mut self, column: usize, i: usize, limit: Bytes) -> Option<Nanos> {
        let Column { share, chain, own, .. } = self.made[column].as_mut()?;
        let member = own[i].as_mut().unwrap_or(&mut self.members[i]);
        member.step(chain.as_ref().unwrap_or(&self.scenario.chain), share, limit)
    }
}
