//! The JSON doors of docs/interface.md: `evaluate`, `front`, `plan`, `inverse`, `calibrate`, `nearest`, `schema` and those of [`searched`], text in and text out, never a panic. Keys are
//! fixed; seconds are numbers, bytes whole numbers.

use super::accepted::Accepted;
use super::calibrate;
use super::chain::Chain;
use super::error::{Error, Notes};
use super::evaluate;
use super::outcome::{LayerOutcome, Operation, Outcome};
use super::program::OpKind;
use super::scenario::{MOST_TEXT, Scenario};
use super::schema;
use super::search::additive;
use super::search::answer as searched;
use super::search::fastest::fastest;
use super::search::front::{Front, objective};
use super::search::inverse::{self, Inverse};
use super::trace::Span;
use super::units::Nanos;
use super::why::answer;
use serde_json::{Map, Value, json};

/// A door takes a request and gives an answer, or an error that names the key.
pub type Answer = Result<Value, Error>;

/// Runs the door of that name; none for an unknown name.
#[must_use]
pub fn open(name: &str, text: &str) -> Option<Answer> {
    match name {
        "evaluate" => Some(evaluate(text)),
        "front" => Some(front(text)),
        "plan" => Some(plan(text)),
        "inverse" => Some(inverse(text)),
        "calibrate" => Some(calibrate(text)),
        "nearest" => Some(answer::nearest(text)),
        "sensitivity" => Some(searched::sensitivity(text)),
        "map" => Some(searched::map(text)),
        "schema" => Some(Ok(schema::schema())),
        _ => None,
    }
}

/// The answer as text: the result, or `{"error": …}`.
#[must_use]
pub fn text(answer: &Answer) -> String {
    match answer {
        Ok(value) => value.to_string(),
        Err(error) => error.to_json(),
    }
}

/// The outcome of a scenario under its policy.
///
/// # Errors
/// As [`Scenario::parse`], and for requests of the additive model, which `plan` and `front` answer.
pub fn evaluate(text: &str) -> Answer {
    simulated_only(text)?;
    let (scenario, notes) = Scenario::parse(text)?;
    let outcome = evaluate::evaluate(&scenario);
    Ok(outcome_json(&scenario, &outcome, &notes))
}

/// The family's points; the front of the additive model where that is asked for.
///
/// # Errors
/// As [`Scenario::parse`].
pub fn front(text: &str) -> Answer {
    match additive::front_answer(text)? {
        Some(answer) => Ok(answer),
        None => simulated_front(text),
    }
}

/// The family's points alone: what the page's program answers at once.
///
/// # Errors
/// As [`front`], and for requests of the additive model.
pub fn simulated_front(text: &str) -> Answer {
    simulated_only(text)?;
    let (scenario, notes) = Scenario::parse(text)?;
    Ok(front_json(&Front::of(&scenario), &notes))
}

/// Refuses what only the additive model answers, by its key; text that is no JSON is for the reader to refuse.
pub(super) fn simulated_only(text: &str) -> Result<(), Error> {
    serde_json::from_str(text).map_or(Ok(()), |request| simulated(&request))
}

/// Refuses what only the additive model answers, by its key.
///
/// # Errors
/// An [`Error`] that names the key.
pub fn simulated(request: &Value) -> Result<(), Error> {
    for key in ["cost_model", "additive", "knapsack"] {
        match request.get(key) {
            None | Some(Value::Null) => {}
            Some(given) if key == "cost_model" && given == "simulated" => {}
            Some(given) => return Err(Error::unfit(key, given, Accepted::Elsewhere)),
        }
    }
    Ok(())
}

/// The fastest plan that fits, with how far it may be from the best possible; of the additive model, or a knapsack, where that is asked for.
///
/// # Errors
/// As [`Scenario::parse`].
pub fn plan(text: &str) -> Answer {
    match additive::answer(text)? {
        Some(answer) => Ok(answer),
        None => simulated_plan(text),
    }
}

/// The fastest plan of the simulated model alone: what the page's program answers at once.
///
/// # Errors
/// As [`plan`], and for requests of the additive model.
pub fn simulated_plan(text: &str) -> Answer {
    simulated_only(text)?;
    let (scenario, notes) = Scenario::parse(text)?;
    let found = fastest(&scenario);
    let (policy, plain) = (found.policy.clone(), evaluate::plain(&scenario));
    let outcome = evaluate::evaluate(&scenario.with_policy(policy));
    Ok(json!({
        "v": 1,
        "policy": found.policy,
        "outcome": outcome_json(&scenario, &outcome, &notes),
        "fits": found.summary.fits,
        "optimal": found.optimal(),
        "cost_model": "simulated",
        "objective": objective(&found.summary, &plain, &scenario.weights),
        "objective_s": found.summary.step.secs(),
        "bound_s": found.bound.map(Nanos::secs),
        // As everywhere: of the objective, not of the bound.
        "gap": found.gap().map(|gap| gap / (1.0 + gap)),
        "exhausted": found.exhausted,
        "searched": found.searched,
    }))
}

/// The setting that comes to what is wanted: the largest batch or sequence that fits, the least memory, card or bandwidth.
///
/// # Errors
/// As [`Inverse::read`], and for text that is too long or no JSON.
pub fn inverse(text: &str) -> Answer {
    if text.len() > MOST_TEXT {
        return Err(Error::TooLong { given: text.len(), accepted: MOST_TEXT });
    }
    simulated_only(text)?;
    let mut inverse = Inverse::read(&serde_json::from_str(text)?)?;
    inverse.finish();
    Ok(inverse::json(&inverse))
}

/// The free knobs of a scenario, fitted to its `measured` numbers.
///
/// # Errors
/// As [`calibrate::calibrate`], and as [`Scenario::parse`] for text that is too long or no JSON.
pub fn calibrate(text: &str) -> Answer {
    if text.len() > MOST_TEXT {
        return Err(Error::TooLong { given: text.len(), accepted: MOST_TEXT });
    }
    let (calibration, notes) = calibrate::calibrate(&serde_json::from_str(text)?)?;
    Ok(calibrate::json(&calibration, &notes))
}

/// The front as JSON.
#[must_use]
pub fn front_json(front: &Front, notes: &Notes) -> Value {
    let points = front.points.iter().map(|point| {
        json!({
            "policy": point.policy,
            "peak_bytes": point.summary.peak,
            "step_s": point.summary.step.secs(),
            "fits": point.summary.fits,
            "on_front": point.on_front,
        })
    });
    json!({
        "v": 1,
        "points": points.collect::<Vec<_>>(),
        "best": front.best(),
        "exact": true,
        "exact_over": "the family of plans listed",
        "cost_model": "simulated",
        "ignored": notes.ignored,
        "clamped": notes.clamped,
    })
}

/// The outcome as JSON, keys as in docs/interface.md.
#[must_use]
pub fn outcome_json(scenario: &Scenario, outcome: &Outcome, notes: &Notes) -> Value {
    let chain = &scenario.chain;
    let mut answer = Map::new();
    for part in [
        memory_json(chain, outcome),
        states_json(scenario, outcome),
        time_json(chain, outcome),
        plan_json(chain, outcome, scenario.detail.then(|| answer::whys(scenario, outcome, notes))),
    ] {
        if let Value::Object(part) = part {
            answer.extend(part);
        }
    }
    answer.insert("lesson".into(), json!(outcome.lesson));
    answer.insert("ignored".into(), json!(notes.ignored));
    answer.insert("clamped".into(), json!(notes.clamped));
    if scenario.detail {
        answer.insert(
            "spans".into(),
            outcome.spans.iter().map(|span| span_json(chain, span)).collect(),
        );
        answer.insert("ledger".into(), outcome.ledger.iter().map(step_json).collect());
    }
    Value::Object(answer)
}

fn memory_json(chain: &Chain, outcome: &Outcome) -> Value {
    let stop = outcome.out_of_memory.as_ref().map(|stop| {
        json!({
            "at_s": stop.at.secs(),
            "operation": operation_name(chain, &stop.operation),
            "missing_bytes": stop.missing,
        })
    });
    json!({
        "v": 1,
        "fits": outcome.fits,
        "out_of_memory": stop,
        "memory_bytes": outcome.memory,
        "shortage_bytes": outcome.shortage,
        "peak_bytes": outcome.peak.row.total(),
        "peak_at_s": outcome.peak.at.secs(),
        "ledger_at_peak": outcome.peak.row,
        "static_bytes": outcome.fixed,
        "params": {"model": chain.params, "device": chain.params_here},
        "activation_bytes": outcome.activation_bytes,
        "resident_after_forward_bytes": outcome.resident_after_forward,
        "saved_peak_bytes": outcome.peak.saved,
        "peak_unmoved_freed_bytes": outcome.peak_unmoved,
        "host_peak_bytes": outcome.host_peak,
        "ssd_peak_bytes": outcome.ssd_peak,
        "bytes_out": outcome.bytes_moved.times(chain.accumulation),
        "bytes_back": outcome.bytes_moved.times(chain.accumulation),
    })
}

/// Model states beyond the device's ledger, and what the drive takes.
fn states_json(scenario: &Scenario, outcome: &Outcome) -> Value {
    let chain = &scenario.chain;
    json!({
        "state_bytes_per_parameter": scenario.training.bytes,
        "host_states_bytes": chain.host_states,
        "gathered_bytes": chain.gathered,
        "ssd_written_bytes": outcome.ssd_written,
        "ssd_life_days": outcome.ssd_life_days(scenario.hardware.ssd_endurance),
    })
}

fn time_json(chain: &Chain, outcome: &Outcome) -> Value {
    let step = |time: Nanos| time.times(chain.accumulation).secs();
    let times = &outcome.times;
    let samples = chain.samples.saturating_mul(chain.accumulation);
    let rate = |count: u64| (outcome.step > Nanos::ZERO).then(|| outcome.per_second(count));
    json!({
        "step_s": outcome.step.secs(),
        "micro_s": outcome.micro.secs(),
        "forward_s": step(times.forward),
        "backward_s": step(times.backward),
        "optimizer_s": chain.optimizer.secs(),
        "recompute_s": step(times.recompute),
        "d2h_s": step(times.d2h),
        "h2d_s": step(times.h2d),
        "hidden_s": step(times.hidden),
        "exposed_s": step(times.exposed),
        "stall_s": step(times.stall),
        "bubble_s": chain.pipeline.bubble(outcome.micro).secs(),
        "samples_per_s": rate(samples),
        "tokens_per_s": rate(samples.saturating_mul(chain.seq)),
        "overhead": outcome.overhead(),
        "binding": outcome.binding.code(),
    })
}

fn plan_json(chain: &Chain, outcome: &Outcome, whys: Option<Vec<Vec<Value>>>) -> Value {
    let mut layers: Vec<Value> =
        outcome.layers.iter().enumerate().map(|(i, layer)| layer_json(chain, i, layer)).collect();
    for (layer, whys) in layers.iter_mut().zip(whys.into_iter().flatten()) {
        for (t, why) in whys.into_iter().enumerate() {
            layer["saved"][t]["why"] = why;
        }
    }
    json!({
        "policy": outcome.policy,
        "layers": layers,
        "segments": outcome.plan.lengths,
        "recomputed_layers": outcome.plan.recomputed_layers(),
    })
}

fn layer_json(chain: &Chain, i: usize, outcome: &LayerOutcome) -> Value {
    let layer = &chain.layers[i];
    let saved = layer.saved.iter().zip(&outcome.actions).map(|(tensor, action)| {
        let origin = tensor.origin;
        json!({
            "name": &*tensor.name,
            "bytes": tensor.bytes,
            "action": action,
            "recompute_s": tensor.recompute.secs(),
            "shape": origin.map(|origin| origin.shape),
            "element_bytes": origin.map(|origin| origin.element_bytes),
            "made_by": origin.map(|origin| origin.made_by),
            "needed_by": origin.map(|origin| origin.needed_by),
        })
    });
    json!({
        "name": layer.name,
        "kind": layer.kind,
        "saved": saved.collect::<Vec<_>>(),
        "saved_bytes": layer.saved_bytes(),
        "boundary_bytes": layer.boundary,
        "forward_s": layer.forward.secs(),
        "backward_s": layer.backward.secs(),
        "offload_s": outcome.choice.round_trip.secs(),
        "window_s": outcome.choice.window.secs(),
        "wait_s": outcome.wait.secs(),
        "recompute_s": outcome.choice.recompute.secs(),
        "benefit_ratio": outcome.benefit_ratio,
        "reason": outcome.reason.code(),
    })
}

fn span_json(chain: &Chain, span: &Span) -> Value {
    json!({
        "track": span.track,
        "kind": span.kind,
        "layer": chain.layers[span.layer].name,
        "tensor": span.tensor.map(|t| chain.layers[span.layer].saved[t].name.as_ref()),
        "start_s": span.start.secs(),
        "end_s": span.end.secs(),
        "bytes": span.bytes,
    })
}

fn step_json(step: &super::ledger::Step) -> Value {
    json!({"at_s": step.at.secs(), "bytes": step.row, "total_bytes": step.row.total()})
}

/// The name of what does not fit, in the terms of the chain.
#[must_use]
pub fn operation_name(chain: &Chain, operation: &Operation) -> String {
    match operation {
        Operation::States => "model states".to_owned(),
        Operation::Host => "offloaded tensors in host memory and SSD".to_owned(),
        Operation::Op(kind, layer) => {
            let verb = match kind {
                OpKind::Forward => "forward",
                OpKind::Recompute => "recompute",
                OpKind::Backward => "backward",
                OpKind::Optimizer => return "optimizer step".to_owned(),
            };
            format!("{verb} of {}", chain.layers[*layer].name)
        }
    }
}
