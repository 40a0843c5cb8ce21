//! One scenario tried: under its own policy, run once; or under the best plan, searched a little at a time until one is good enough.

use crate::engine::evaluate;
use crate::engine::outcome::Summary;
use crate::engine::plan::Plan;
use crate::engine::policy::Policy;
use crate::engine::scenario::Scenario;
use crate::engine::search::fastest::Search;
use crate::engine::units::Nanos;

/// What a trial came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The scenario's own policy, or the best that was found.
    pub policy: Policy,
    /// What the simulator says of it.
    pub summary: Summary,
    /// Nothing could have been better: it is the one policy that was asked about, or the search's bound rules the rest out.
    pub proved: bool,
}

/// When a search may stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// A plan fits, or none can.
    Fits,
    /// The search has nothing left.
    Best,
}

/// A trial under way.
pub enum Trial {
    /// Done.
    Done(Tried),
    /// Searching.
    Searching(Box<Search>, Option<Nanos>, Until),
}

impl Trial {
    /// Of the scenario's own policy; of the best one where `best`.
    #[must_use]
    pub fn new(scenario: &Scenario, best: bool, until: Until) -> Self {
        if best {
            let limit = scenario.limits.step;
            return Self::Searching(Search::new(scenario).into(), limit, until);
        }
        let policy = scenario.policy.clone();
        let plan = Plan::of(&policy, &scenario.chain, &scenario.hardware);
        let summary = evaluate::summarize(scenario, &plan);
        Self::Done(Tried { policy, summary, proved: true })
    }

    /// Runs about `plans` more plans; what came of it once there is nothing left to do.
    pub fn advance(&mut self, plans: usize) -> Option<&Tried> {
        if let Self::Searching(search, limit, until) = self {
            let found = search.found();
            let too_slow = limit.is_some_and(|limit| found.bound > limit);
            let enough = *until == Until::Fits && (found.summary.fits || too_slow);
            if !enough && search.advance(plans) {
                return None;
            }
            let found = search.found();
            let (policy, summary) = (found.policy.clone(), found.summary);
            let proved = if summary.fits { found.optimal() } else { too_slow };
            *self = Self::Done(Tried { policy, summary, proved });
        }
        match self {
            Self::Done(tried) => Some(tried),
            Self::Searching(..) => None,
        }
    }
}
