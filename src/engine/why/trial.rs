//! A change, tried: what the simulator says of the scenario with it. Principal type [`Trial`]; its law: the request with the change
//! evaluates to the same numbers.

use super::change::Change;
use crate::engine::evaluate;
use crate::engine::outcome::Summary;
use crate::engine::plan::Plan;
use crate::engine::policy::{Action, Policy, PolicyKind};
use crate::engine::scenario::Scenario;
use crate::engine::search;
use crate::engine::units::{Bytes, Nanos};

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
    /// Tries a change; none for one that other settings refuse.
    #[must_use]
    pub fn of(change: Change, request: &serde_json::Value) -> Option<Self> {
        let scenario = change.scenario(request).ok()?;
        let (policy, summary) = run(&scenario);
        Some(Self {
            change,
            policy,
            memory: scenario.limits.memory,
            peak: summary.peak,
            step: summary.step,
            token_s: token(&scenario, summary.step),
            fits: summary.fits,
        })
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

/// A scenario under its own policy. Where that is the search's to find, it searches only if one of the plainest plans runs: a
/// search for each of many changes would take seconds, and where none of these fits hardly any does.
fn run(scenario: &Scenario) -> (Policy, Summary) {
    let of = |policy: &Policy| {
        evaluate::summarize(scenario, &Plan::of(policy, &scenario.chain, &scenario.hardware))
    };
    if !scenario.asks_for_best() {
        return (scenario.policy.clone(), of(&scenario.policy));
    }
    let mut smallest: Option<(Policy, Summary)> = None;
    for policy in plain(&scenario.policy) {
        let summary = of(&policy);
        if summary.fits {
            let best = search::best(scenario);
            let summary = of(&best);
            return (best, summary);
        }
        if smallest.as_ref().is_none_or(|(_, other)| summary.peak < other.peak) {
            smallest = Some((policy, summary));
        }
    }
    smallest.unwrap_or_else(|| unreachable!("four plans were run"))
}

/// The plainest plans.
fn plain(own: &Policy) -> [Policy; 4] {
    use PolicyKind::{Keep, Offload, OffloadBoundaries, Recompute};
    [Keep, Recompute, OffloadBoundaries, Offload].map(|kind| {
        let lists = Policy { segments: None, plan: None, boundaries: None, ..own.clone() };
        Policy { kind, medium: Action::Host, ..lists }
    })
}
