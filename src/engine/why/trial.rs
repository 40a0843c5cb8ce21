//! A change, tried: what the simulator says of the scenario with it. Principal type [`Trial`]; its law: the request with the change
//! evaluates to the same numbers, once it is `complete`.

use super::change::{Change, What};
use crate::engine::evaluate;
use crate::engine::outcome::Summary;
use crate::engine::policy::{Action, Policy, PolicyKind};
use crate::engine::scenario::Scenario;
use crate::engine::search::fastest::{Search, bound, table, warm};
use crate::engine::units::{Bytes, Nanos};
use serde_json::{Value, json};

/// A change and what comes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// What was changed.
    pub change: Change,
    /// The policy then in force, `best` resolved.
    pub policy: Policy,
    /// The memory budget then.
    pub memory: Bytes,
    /// The peak then.
    pub peak: Bytes,
    /// The step then.
    pub step: Nanos,
    /// Seconds for a token (for a sample, where samples have no tokens).
    pub token_s: f64,
    /// The same of what no plan is below, where the plan is the search's to find: known before the plan is.
    pub least_token_s: f64,
    /// Within all limits.
    pub fits: bool,
    /// The plan is the one that stays: no search for a faster one is to come.
    pub complete: bool,
}

impl Trial {
    /// Tries a change in one go; none for one that other settings refuse.
    #[must_use]
    pub fn of(change: Change, request: &Value) -> Option<Self> {
        let mut attempt = Attempt::new(change, request)?;
        while attempt.advance() {}
        Some(attempt.trial())
    }
}

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Until {
    /// To the first plan that fits; so many more may be run for it.
    Fits { left: usize },
    /// To its end.
    Best,
}

/// A trial under way: where the plan is the search's to find, that takes its time.
pub struct Attempt {
    change: Change,
    scenario: Scenario,
    search: Option<Box<Search>>,
    until: Until,
    policy: Policy,
    summary: Summary,
    least: Nanos,
    open: bool,
}

impl Attempt {
    /// Begins; none for a change that other settings refuse. Under `best` it searches only if one of the plainest plans runs: many
    /// searches in a row would take long, and where none of these fits hardly any plan does.
    #[must_use]
    pub fn new(change: Change, request: &Value) -> Option<Self> {
        let mut attempt = Self::to_the_end(change, request)?;
        if !attempt.summary.runs && attempt.change.what != What::Best {
            attempt.search = None;
        }
        Some(attempt)
    }

    /// Begins; under `best` it searches in any case.
    #[must_use]
    pub fn to_the_end(change: Change, request: &Value) -> Option<Self> {
        let scenario = change.scenario(request).ok()?;
        let open = scenario.asks_for_best();
        let (summary, policy) = plainest(&scenario);
        let search = open.then(|| Box::new(Search::new(&scenario)));
        let least = summary.step;
        Some(Self { change, scenario, search, until: Until::Best, policy, summary, least, open })
    }

    /// Begins to ask whether anything fits with a change: a few of the plainest plans, then a search that ends at the first that does.
    /// None where no plan can, which needs no run.
    #[must_use]
    pub fn to_fit(change: Change, scenario: Scenario) -> Option<Self> {
        const PLANS: usize = 40;
        bound::room(&scenario)?;
        let open = scenario.asks_for_best();
        let least = if open { least(&scenario)? } else { Nanos::ZERO };
        if scenario.limits.step.is_some_and(|limit| least > limit) {
            return None;
        }
        let (mut summary, mut policy) = plainest(&scenario);
        if open && !summary.fits {
            let others = warm::plain(&scenario).map(|policy| run(&scenario, policy));
            (summary, policy) = nearer((summary, policy), others);
        }
        let alone = open && !summary.fits && change.what == What::Best;
        let search = alone.then(|| Box::new(Search::new(&scenario)));
        let least = if open { least } else { summary.step };
        let until = Until::Fits { left: PLANS };
        Some(Self { change, scenario, search, until, policy, summary, least, open })
    }

    /// Runs a few plans; false once there is nothing left to run.
    pub fn advance(&mut self) -> bool {
        const PLANS: usize = 4;
        let Some(search) = &mut self.search else { return false };
        let before = search.found().searched;
        let more = search.advance(PLANS);
        let found = search.found();
        let enough = match &mut self.until {
            Until::Best => false,
            Until::Fits { left } => {
                *left = left.saturating_sub(found.searched - before);
                found.summary.fits || *left == 0
            }
        };
        if more && !enough {
            return true;
        }
        (self.policy, self.summary) = (found.policy.clone(), found.summary);
        false
    }

    /// What has come of it. The best plan is named, for it to stay when a knob is turned.
    #[must_use]
    pub fn trial(self) -> Trial {
        let Self { mut change, scenario, until, policy, summary, least, open, .. } = self;
        let complete = !open || until == Until::Best;
        if complete && change.kinds().any(|what| what == What::Best) {
            change.set.retain(|(path, _)| path != "policy");
            change.set.push(("policy".to_owned(), json!(policy)));
        }
        Trial {
            change,
            memory: scenario.limits.memory,
            peak: summary.peak,
            step: summary.step,
            token_s: token(&scenario, summary.step),
            least_token_s: token(&scenario, least),
            fits: summary.fits,
            complete,
            policy,
        }
    }
}

/// Seconds for a token, where a step takes `step`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a rate")]
pub fn token(scenario: &Scenario, step: Nanos) -> f64 {
    let chain = &scenario.chain;
    let samples = chain.samples.saturating_mul(chain.accumulation);
    step.secs() / samples.saturating_mul(chain.seq).max(1) as f64
}

/// What no plan's step is below; none where none fits.
fn least(scenario: &Scenario) -> Option<Nanos> {
    let chain = &scenario.chain;
    let micro = bound::bound(scenario, &table::rows(chain)).micro?;
    Some(chain.in_step(micro) + chain.optimizer)
}

/// The scenario's own policy, or the one of least peak among the plainest that run where the plan is open.
fn plainest(scenario: &Scenario) -> (Summary, Policy) {
    use PolicyKind::{Keep, Offload, OffloadBoundaries, Recompute};
    let own = &scenario.policy;
    if !scenario.asks_for_best() {
        return run(scenario, own.clone());
    }
    let of = |kind| run(scenario, Policy { kind, medium: Action::Host, ..own.without_lists() });
    nearer(of(Keep), [Recompute, OffloadBoundaries, Offload].map(of))
}

fn run(scenario: &Scenario, policy: Policy) -> (Summary, Policy) {
    let plan = evaluate::plan(scenario, &policy);
    (evaluate::summarize(scenario, &plan), policy)
}

/// The first, unless another fits, runs, or takes less.
fn nearer(
    first: (Summary, Policy),
    others: impl IntoIterator<Item = (Summary, Policy)>,
) -> (Summary, Policy) {
    let near = |(one, _): &(Summary, Policy)| (!one.fits, !one.runs, one.peak);
    let better = |best, one| if near(&one) < near(&best) { one } else { best };
    others.into_iter().fold(first, better)
}
