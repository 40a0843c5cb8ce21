//! The same as JSON, keys as in docs/interface.md.

use super::decision::{Decision, Turn, Weighing};
use super::nearest::Seeking;
use super::trial::Trial;
use crate::engine::door;
use crate::engine::error::{Error, Notes};
use crate::engine::evaluate;
use crate::engine::outcome::Outcome;
use crate::engine::scenario::{MOST_TEXT, Scenario};
use serde_json::{Value, json};

/// The door `nearest`: what is missing, and the nearest changes that make the scenario fit.
///
/// # Errors
/// As [`Scenario::parse`].
pub fn nearest(text: &str) -> Result<Value, Error> {
    if text.len() > MOST_TEXT {
        return Err(Error::TooLong { given: text.len(), accepted: MOST_TEXT });
    }
    let request: Value = serde_json::from_str(text)?;
    door::simulated(&request)?;
    let (scenario, notes) = Scenario::read(&request)?;
    let outcome = evaluate::evaluate(&scenario);
    let mut seeking = Seeking::new(request, scenario, outcome);
    while seeking.advance() {}
    let (found, now) = (seeking.nearest(), seeking.token_s());
    Ok(json!({
        "v": 1,
        "fits": found.fits,
        "missing_bytes": found.missing,
        "changes": found.changes.iter().map(|trial| trial_json(trial, now)).collect::<Vec<_>>(),
        "ignored": notes.ignored,
        "clamped": notes.clamped,
    }))
}

fn trial_json(trial: &Trial, now: f64) -> Value {
    let change = &trial.change;
    json!({
        "change": change.what,
        "with": change.with,
        "price": change.price().code(),
        "set": change.set,
        "fits": trial.fits,
        "peak_bytes": trial.peak,
        "step_s": trial.step.secs(),
        "slower": (now > 0.0).then(|| trial.token_s / now - 1.0),
        "policy": trial.policy,
    })
}

/// Per layer and saved tensor, why it is what it is.
#[must_use]
pub fn whys(scenario: &Scenario, outcome: &Outcome, notes: &Notes) -> Vec<Vec<Value>> {
    let weighing = Weighing::of(scenario, outcome);
    let rate = notes.settings.get("hardware").and_then(|card| card.get("d2h_gbps"));
    let rate = rate.and_then(Value::as_f64);
    let layer = |i| weighing.layer(i).iter().map(|one| why(one, rate)).collect();
    (0..outcome.layers.len()).map(layer).collect()
}

fn why(decision: &Decision, rate: Option<f64>) -> Value {
    let changes_at = decision.turn.and_then(|turn| match turn {
        Turn::Link(factor) => Some(json!({"key": "hardware.d2h_gbps", "value": rate? * factor})),
        Turn::Recompute(time) => Some(json!({"key": "recompute_s", "value": time.secs()})),
    });
    json!({
        "reason": decision.reason.code(),
        "of": decision.unit.code(),
        "window_s": decision.choice.window.secs(),
        "queue_s": decision.choice.queue.secs(),
        "round_trip_s": decision.choice.round_trip.secs(),
        "recompute_s": decision.recompute().map(crate::engine::Nanos::secs),
        "changes_at": changes_at,
    })
}
