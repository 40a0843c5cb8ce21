//! One scenario tried: under its own policy, run once; or under the best plan, searched a little at a time until one is good enough.

use crate::engine::evaluate;
use crate::engine::outcome::Summary;
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
    /// The search had nothing left to try: it is the fastest that fits, or the one of least peak where none does.
    pub complete: bool,
}

/// When a search may stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// A plan fits, none can, or `PATIENCE` has run out.
    Fits,
    /// The search has nothing left.
    Best,
}

/// So many plans are run where a search is one of many; what comes of them all is searched to the end.
const PATIENCE: usize = 120;

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
        let summary = evaluate::summarize(scenario, &evaluate::plan(scenario, &policy));
        Self::Done(Tried { policy, summary, proved: true, complete: true })
    }

    /// Runs about `plans` more plans; what came of it once there is nothing left to do. How many at once changes nothing of that.
    pub fn advance(&mut self, plans: usize) -> Option<&Tried> {
        for _ in 0..plans {
            let Self::Searching(search, limit, until) = self else { break };
            if let Some(tried) = step(search, *limit, *until) {
                *self = Self::Done(tried);
            }
        }
        match self {
            Self::Done(tried) => Some(tried),
            Self::Searching(..) => None,
        }
    }
}

/// One step of a search, or what it came to.
fn step(search: &mut Search, limit: Option<Nanos>, until: Until) -> Option<Tried> {
    let found = search.found();
    // No plan fits at all, or none is fast enough.
    let hopeless = found.bound.is_none_or(|bound| limit.is_some_and(|limit| bound > limit));
    let tired = found.searched >= PATIENCE;
    let enough = until == Until::Fits && (found.summary.fits || hopeless || tired);
    if !enough && search.advance(1) {
        return None;
    }
    let found = search.found();
    Some(Tried {
        policy: found.policy.clone(),
        summary: found.summary,
        proved: if found.summary.fits { found.optimal() } else { hopeless },
        complete: !enough,
    })
}
