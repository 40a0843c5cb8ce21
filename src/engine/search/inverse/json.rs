//! Answers as JSON, and the changes of a request that put one to use.

use super::bandwidth::{self, Hidden};
use super::card::Cards;
use super::count::{At, GRANULE, Largest};
use super::memory::Least;
use super::trial::Tried;
use super::{Answer, Inverse};
use crate::engine::evaluate;
use crate::engine::outcome::{Operation, OutOfMemory};
use crate::engine::policy::Policy;
use crate::engine::scenario::Scenario;
use serde_json::{Map, Value, json};

/// Paths of a request and the values that put the answer to use; none where there is nothing to put to use.
fn changes(inverse: &Inverse) -> Option<Vec<(String, Value)>> {
    let policy = |policy: &Policy| ("policy".to_owned(), json!(policy));
    let best = inverse.question.best && !inverse.scenario.asks_for_best();
    Some(match inverse.answer()? {
        Answer::Count(largest) => {
            let (at, tried) = largest.found.as_ref()?;
            let mut changes = vec![(largest.counted.path().to_owned(), json!(at))];
            changes.extend(tried.as_ref().filter(|_| best).map(|tried| policy(&tried.policy)));
            changes
        }
        Answer::Memory(least) => {
            let found = least.found.as_ref().filter(|found| found.summary.peak <= least.card)?;
            // Rounded up to what a reader would type, where the card has that much.
            let gib = (100.0 * found.summary.peak.gib()).ceil() / 100.0;
            let gib = json!(gib.min(least.card.gib()));
            vec![("limits.memory_gib".to_owned(), gib), policy(&found.policy)]
        }
        Answer::Card(cards) => {
            let card = cards.first()?;
            vec![
                ("hardware".to_owned(), card.hardware.clone()),
                ("limits.memory_gib".to_owned(), Value::Null),
                policy(&card.tried.as_ref()?.policy),
            ]
        }
        Answer::Bandwidth(held, hidden) => {
            let gbps = json!(hidden.found?.gbps);
            let link = ["hardware.d2h_gbps", "hardware.h2d_gbps"];
            let mut changes: Vec<_> = link.map(|path| (path.to_owned(), gbps.clone())).into();
            changes.push(policy(held));
            changes
        }
    })
}

/// The answer, keys as in docs/interface.md.
#[must_use]
pub fn json(inverse: &Inverse) -> Value {
    let own = if inverse.question.best { "best" } else { inverse.scenario.policy.kind.name() };
    let mut answer = json!({"v": 1, "ask": inverse.question.ask, "under": own});
    let part = match inverse.answer() {
        Some(Answer::Count(largest)) => count_json(inverse, largest),
        Some(Answer::Memory(least)) => memory_json(inverse, least),
        Some(Answer::Card(cards)) => cards_json(cards),
        Some(Answer::Bandwidth(policy, hidden)) => {
            bandwidth_json(&inverse.scenario, policy, hidden)
        }
        None => Value::Null,
    };
    if let (Value::Object(answer), Value::Object(part)) = (&mut answer, part) {
        answer.extend(part);
    }
    answer["changes"] = changes(inverse)
        .map_or(Value::Null, |changes| changes.into_iter().collect::<Map<_, _>>().into());
    answer["ignored"] = json!(inverse.notes.ignored);
    answer["clamped"] = json!(inverse.notes.clamped);
    answer
}

fn tried_json(tried: &Tried) -> Value {
    let summary = &tried.summary;
    json!({
        "fits": summary.fits,
        "runs": summary.runs,
        "peak_bytes": summary.peak,
        "step_s": summary.step.secs(),
        "policy": tried.policy,
    })
}

/// With what it was tried at, and what it lacks.
fn with(mut tried: Value, more: Value) -> Value {
    if let (Value::Object(tried), Value::Object(more)) = (&mut tried, more) {
        tried.extend(more);
    }
    tried
}

/// What a scenario lacks under the policy that it was tried with, and does not fit under: memory of the device for the whole step, host
/// memory and SSD, or time.
fn lack_json(scenario: &Scenario, tried: &Tried) -> Value {
    let proved = tried.proved;
    if tried.summary.runs {
        let over = tried.summary.step.saturating_sub(scenario.limits.step.unwrap_or_default());
        return json!({"lacks": "step", "missing_bytes": null, "over_s": over.secs(), "proved": proved});
    }
    let outcome = evaluate::evaluate(&scenario.with_policy(tried.policy.clone()));
    let host = |stop: &&OutOfMemory| stop.operation == Operation::Host;
    let (lacks, missing) = match outcome.out_of_memory.as_ref().filter(host) {
        Some(stop) => ("host", stop.missing),
        None => ("memory", outcome.shortage),
    };
    json!({"lacks": lacks, "missing_bytes": missing, "over_s": null, "proved": proved})
}

fn count_json(inverse: &Inverse, largest: &Largest) -> Value {
    let at = |(value, tried): &At| {
        let Some(tried) = tried else {
            return json!({"value": value, "fits": false, "lacks": "range"});
        };
        let answer = with(tried_json(tried), json!({"value": value}));
        let refused = largest.counted.set(&inverse.request, *value).filter(|_| !tried.summary.fits);
        match refused {
            Some(scenario) => with(answer, lack_json(&scenario, tried)),
            None => answer,
        }
    };
    let tried = largest.tried.iter().map(|(value, fits)| json!({"value": value, "fits": fits}));
    json!({
        "own": largest.own,
        "value": largest.found.as_ref().map(|found| found.0),
        "found": largest.found.as_ref().map(at),
        "next": largest.next.as_ref().map(at),
        "granule": largest.round.map(|_| GRANULE),
        "of_granule": largest.round,
        "most": largest.most,
        "tried": tried.collect::<Vec<_>>(),
    })
}

fn memory_json(inverse: &Inverse, least: &Least) -> Value {
    let next = least.next.as_ref().map(|(budget, tried)| {
        let mut scenario = inverse.scenario.clone();
        (scenario.limits.memory, scenario.limits.step) = (*budget, Some(least.step));
        with(tried_json(tried), with(json!({"memory_bytes": budget}), lack_json(&scenario, tried)))
    });
    json!({
        "memory_bytes": least.found.as_ref().map(|found| found.summary.peak),
        "found": least.found.as_ref().map(tried_json),
        "next": next,
        "step_s": least.step.secs(),
        "slowdown": least.step.secs() / least.plain.step.secs().max(1e-9) - 1.0,
        "keep": {"peak_bytes": least.plain.peak, "step_s": least.plain.step.secs()},
        "card_bytes": least.card,
    })
}

fn cards_json(cards: &Cards) -> Value {
    let id = |card: Option<&super::card::Card>| card.map(|card| card.id);
    let row = |card: &super::card::Card| {
        let tried = card.tried.as_ref().map_or_else(|| json!({"fits": false}), tried_json);
        let more = json!({
            "preset": card.id,
            "label": card.label,
            "memory_bytes": card.memory,
            "per_hour": card.price,
            "per_step": card.price_of_step(),
            "optimal": card.tried.as_ref().is_some_and(|tried| tried.proved && card.fits()),
        });
        with(tried, more)
    };
    let first = cards.first();
    let priced = first.is_some_and(|card| card.price.is_some());
    json!({
        "value": id(first),
        "by": first.map(|_| if priced { "price" } else { "size" }),
        "cheapest_step": id(cards.cheapest_step()),
        "cards": cards.cards.iter().map(row).collect::<Vec<_>>(),
        "price_source": cards.source,
    })
}

fn bandwidth_json(scenario: &Scenario, policy: &Policy, hidden: &Hidden) -> Value {
    let at = |at: Option<bandwidth::At>| {
        at.map(|at| json!({"gbps": at.gbps, "stall_s": at.stall.secs()}))
    };
    let rates = bandwidth::of_layers(&scenario.chain, &scenario.hardware, policy);
    let layers = scenario.chain.layers.iter().zip(rates);
    let layers = layers.map(
        |(layer, gbps)| json!({"name": layer.name, "bytes": layer.saved_bytes(), "gbps": gbps}),
    );
    json!({
        "value": hidden.found.map(|at| at.gbps),
        "moves": hidden.moves,
        "stall_s": hidden.stall.secs(),
        "found": at(hidden.found),
        "next": at(hidden.next),
        "policy": policy,
        "layers": layers.collect::<Vec<_>>(),
    })
}
