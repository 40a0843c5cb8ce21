//! A change, tried: what the simulator says of the scenario with it. Principal type [`Trial`]; its law: the request with the change
//! evaluates to the same numbers.

use super::change::{Change, What};
use crate::engine::evaluate;
use crate::engine::outcome::Summary;
use crate::engine::policy::{Action, Policy, PolicyKind};
use crate::engine::scenario::Scenario;
use crate::engine::search::fastest::Search;
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
    /// Within all limits.
    pub fits: bool,
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

/// A trial under way: where the plan is the search's to find, that takes its time.
pub struct Attempt {
    change: Change,
    scenario: Scenario,
    search: Option<Box<Search>>,
    policy: Policy,
    summary: Summary,
}

impl Attempt {
    /// Begins; none for a change that other settings refuse. Under `best` it searches only if one of the plainest plans runs: many
    /// searches in a row would take long, and where none of these fits hardly any plan does.
    #[must_use]
    pub fn new(change: Change, request: &Value) -> Option<Self> {
        let scenario = change.scenario(request).ok()?;
        let open = scenario.asks_for_best();
        let policies = if open { plain(&scenario.policy) } else { vec![scenario.policy.clone()] };
        let all = policies.into_iter().map(|policy| {
            let plan = evaluate::plan(&scenario, &policy);
            (evaluate::summarize(&scenario, &plan), policy)
        });
        let (summary, policy) = all.min_by_key(|(summary, _)| (!summary.runs, summary.peak))?;
        let search = (open && (summary.runs || change.what == What::Best))
            .then(|| Box::new(Search::new(&scenario)));
        Some(Self { change, scenario, search, policy, summary })
    }

    /// Runs a few plans; false once there is nothing left to run.
    pub fn advance(&mut self) -> bool {
        const PLANS: usize = 4;
        let Some(search) = &mut self.search else { return false };
        if search.advance(PLANS) {
            return true;
        }
        let found = search.found();
        (self.policy, self.summary) = (found.policy.clone(), found.summary);
        false
    }

    /// What has come of it. The best plan is named, for it to stay when a knob is turned.
    #[must_use]
    pub fn trial(self) -> Trial {
        let Self { mut change, scenario, policy, summary, .. } = self;
        if change.what == What::Best {
            change.set = vec![("policy".to_owned(), json!(policy))];
        }
        Trial {
            change,
            memory: scenario.limits.memory,
            peak: summary.peak,
            step: summary.step,
            token_s: token(&scenario, summary.step),
            fits: summary.fits,
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

/// The plainest plans.
fn plain(own: &Policy) -> Vec<Policy> {
    use PolicyKind::{Keep, Offload, OffloadBoundaries, Recompute};
    let of = |kind| {
        let lists =
            Policy { segments: None, plan: None, boundaries: None, nested: None, ..own.clone() };
        Policy { kind, medium: Action::Host, ..lists }
    };
    [Keep, Recompute, OffloadBoundaries, Offload].map(of).to_vec()
}
