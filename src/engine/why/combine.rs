//! Which kinds of change are tried together. Principal type [`Kinds`]: some kinds, the dearest first; principal function [`Round::list`]:
//! all that are tried in one round, the cheapest first.

use super::change::{Change, Price, What};

/// Kinds made at once, the dearest first; of equal price the one further ahead in `Round::KINDS`; a plan last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kinds(Vec<What>);

/// How many are made at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// One.
    Alone,
    /// One, and another plan for it.
    Planned,
    /// Two.
    Pairs,
    /// Two, and another plan for them.
    PlannedPairs,
    /// Three, with the plan that is best for them.
    Threes,
}

impl Kinds {
    fn new(mut kinds: Vec<What>) -> Self {
        kinds.sort_by_key(|what| (what.is_plan(), std::cmp::Reverse(what.price())));
        Self(kinds)
    }

    /// Those of a change.
    #[must_use]
    pub fn of(change: &Change) -> Self {
        Self(change.kinds().collect())
    }

    /// All of them.
    #[must_use]
    pub fn list(&self) -> &[What] {
        &self.0
    }

    /// What the change is above all: two with the same are not two things.
    #[must_use]
    pub fn head(&self) -> What {
        self.0.first().map_or(What::Best, |&what| thing(what))
    }

    /// The most that any of them takes.
    #[must_use]
    pub fn price(&self) -> Price {
        self.0.iter().map(|what| what.price()).max().unwrap_or(Price::Time)
    }

    /// Whether `other` changes all of this and maybe more.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        let has = |what: &What| other.0.iter().any(|one| thing(*one) == thing(*what));
        self.0.iter().all(has)
    }

    /// Whether they can be made at once: no two of them turn the same knob.
    fn agree(&self) -> bool {
        let knob = |what: What| match what {
            What::WholeCard | What::HostMemory => What::Card,
            What::Zero => What::Cards,
            other => thing(other),
        };
        let knobs: Vec<What> = self.0.iter().map(|&what| knob(what)).collect();
        knobs.iter().enumerate().all(|(i, one)| !knobs[..i].contains(one))
    }
}

/// What a kind is a flavour of.
const fn thing(what: What) -> What {
    match what {
        What::Batch => What::MicroBatch,
        plan if plan.is_plan() => What::Best,
        other => other,
    }
}

impl Round {
    /// Kinds that are tried. Of equal price the one that changes more is further ahead.
    pub const KINDS: [What; 20] = [
        What::Best,
        What::Recompute,
        What::OffloadBoundaries,
        What::Offload,
        What::OffloadSsd,
        What::WholeCard,
        What::HostStates,
        What::SequenceParallel,
        What::Zero,
        What::Flash,
        What::LossChunks,
        What::MicroBatch,
        What::HostMemory,
        What::Card,
        What::Cards,
        What::Optimizer8bit,
        What::GradDtype,
        What::Lora,
        What::Sequence,
        What::Batch,
    ];

    /// The one after it.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Alone => Some(Self::Planned),
            Self::Planned => Some(Self::Pairs),
            Self::Pairs => Some(Self::PlannedPairs),
            Self::PlannedPairs => Some(Self::Threes),
            Self::Threes => None,
        }
    }

    /// What is tried in it, of these kinds: the cheapest first. Where the plan is `open` already, none comes with another.
    #[must_use]
    pub fn list(self, kinds: &[What], open: bool) -> Vec<Kinds> {
        let other: Vec<What> = kinds.iter().copied().filter(|what| !what.is_plan()).collect();
        let (count, planned) = match self {
            Self::Alone => return sorted(kinds.iter().map(|&what| vec![what])),
            Self::Planned => (1, true),
            Self::Pairs => (2, false),
            Self::PlannedPairs => (2, true),
            Self::Threes => (3, !open),
        };
        if planned && open {
            return Vec::new();
        }
        let plan = planned.then_some(What::Best);
        sorted(choose(&other, count).into_iter().map(|mut some| {
            some.extend(plan);
            some
        }))
    }
}

fn sorted(all: impl Iterator<Item = Vec<What>>) -> Vec<Kinds> {
    let mut all: Vec<Kinds> = all.map(Kinds::new).filter(Kinds::agree).collect();
    all.sort_by_key(Kinds::price);
    all
}

/// All ways to take `count` of them, in order.
fn choose(all: &[What], count: usize) -> Vec<Vec<What>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut ways = Vec::new();
    for (i, &first) in all.iter().enumerate() {
        for mut rest in choose(&all[i + 1..], count - 1) {
            rest.insert(0, first);
            ways.push(rest);
        }
    }
    ways
}
