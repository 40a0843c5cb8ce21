//! Each saved tensor's decision in one sentence from its own numbers.

use crate::engine::outcome::{Outcome, Reason};
use crate::engine::policy::Action;
use crate::engine::scenario::Scenario;
use crate::engine::units::{Bytes, Nanos};
use crate::engine::why::decision::{Decision, Turn, Unit, Weighing};
use crate::engine::why::keep;
use crate::scene::{Fate, format};
use crate::ui::chart::{Evaluated, fate_name, layer_name, tensor_name};
use crate::words::{self, Locale};
use serde_json::Value;
use yew::prelude::*;

/// The sentences of a layer, each under the names of the tensors that it is true of.
pub fn tensors(evaluated: &Evaluated, layer: usize, locale: Locale) -> Html {
    let Evaluated { scenario, outcome, .. } = evaluated;
    let saved = &scenario.chain.layers[layer].saved;
    let decisions = Weighing::of(scenario, outcome).layer(layer);
    let mut said: Vec<(String, String)> = Vec::new();
    for (t, (tensor, decision)) in saved.iter().zip(&decisions).enumerate() {
        let (name, text) =
            (tensor_name(locale, &tensor.name), say(evaluated, (layer, t), decision, locale));
        match said.iter_mut().find(|(_, other)| *other == text) {
            Some((names, _)) => {
                *names += if locale == Locale::Zh { "、" } else { ", " };
                *names += &name;
            }
            None => said.push((name, text)),
        }
    }
    let row = |(names, text)| html! { <div><dt>{names}</dt><dd>{text}</dd></div> };
    html! {
        <>
            <h3>{words::why_title(locale)}</h3>
            <dl class="tensors">{ for said.into_iter().map(row) }</dl>
        </>
    }
}

/// The sentence of one tensor; none where there is none.
#[must_use]
pub fn sentence(
    evaluated: &Evaluated,
    layer: usize,
    tensor: usize,
    locale: Locale,
) -> Option<String> {
    let Evaluated { scenario, outcome, .. } = evaluated;
    (layer < outcome.layers.len()).then_some(())?;
    let decision = *Weighing::of(scenario, outcome).layer(layer).get(tensor)?;
    Some(say(evaluated, (layer, tensor), &decision, locale))
}

fn say(
    evaluated: &Evaluated,
    (layer, tensor): (usize, usize),
    decision: &Decision,
    locale: Locale,
) -> String {
    let Evaluated { scenario, outcome, .. } = evaluated;
    let mut clauses = vec![numbers(decision, scenario, layer, locale)];
    clauses.extend(turn(evaluated, decision, locale));
    let until = decision.until.map(|i| layer_name(locale, &scenario.chain.layers[i].name));
    clauses.extend(until.map(|layer| words::why_until(locale, &layer)));
    clauses.extend(kept(scenario, outcome, (layer, tensor), decision, locale));
    let between = if locale == Locale::Zh { "；" } else { "; " };
    let action = fate_name(locale, Fate::All(decision.action));
    let clauses = clauses.join(between);
    if parts_ways(decision) {
        words::why_though(locale, action, &clauses)
    } else {
        words::why_sentence(locale, action, &clauses)
    }
}

/// Whether the plan does otherwise than the tensor's own numbers say.
const fn parts_ways(decision: &Decision) -> bool {
    let numbers = (decision.action, decision.reason);
    matches!(
        numbers,
        (Action::Host | Action::Ssd, Reason::RecomputeCheaper | Reason::WindowTooShort)
    ) || matches!(numbers, (Action::Recompute, Reason::OffloadHidden))
        && matches!(decision.unit, Unit::Tensor)
}

/// What the numbers say.
fn numbers(decision: &Decision, scenario: &Scenario, layer: usize, locale: Locale) -> String {
    let choice = &decision.choice;
    let window = format::time(choice.window);
    let offload = format::time(choice.offload_cost());
    let trip = format::time(choice.round_trip);
    let trip = if choice.queue > Nanos::ZERO {
        words::why_behind(locale, &format::time(choice.queue), &trip)
    } else {
        trip
    };
    let recompute = decision.recompute().map(format::time);
    let again = recompute.clone().unwrap_or_default();
    let all = format::bytes(scenario.chain.layers[layer].saved_bytes());
    match (decision.reason, decision.unit) {
        (Reason::NothingSaved, _) => words::why_nothing(locale).to_owned(),
        (Reason::RecomputeCheaper, Unit::Tensor) => words::why_cheaper(locale, &offload, &again),
        (Reason::OffloadHidden, Unit::Tensor) => match recompute {
            Some(again) => words::why_hidden(locale, &again, &trip, &window),
            None => words::why_hidden_alone(locale, &trip, &window),
        },
        (Reason::WindowTooShort, Unit::Tensor) if choice.window == Nanos::ZERO => {
            words::why_short_never(locale).to_owned()
        }
        (Reason::WindowTooShort, Unit::Tensor) => words::why_short(locale, &trip, &window),
        (Reason::RecomputeCheaper, Unit::Layer) => {
            words::why_layer_cheaper(locale, &all, &offload, &again)
        }
        (Reason::OffloadHidden, Unit::Layer) => {
            words::why_layer_hidden(locale, &all, &again, &trip, &window)
        }
        (Reason::WindowTooShort, Unit::Layer) => {
            words::why_layer_short(locale, &all, &again, &trip, &window)
        }
    }
}

/// What would change that.
fn turn(evaluated: &Evaluated, decision: &Decision, locale: Locale) -> Option<String> {
    Some(match (decision.turn?, decision.reason) {
        (Turn::Link(factor), reason) => {
            let rate = rate(evaluated, factor)?;
            match reason {
                Reason::WindowTooShort => words::why_turn_fits(locale, &rate),
                Reason::RecomputeCheaper => words::why_turn_not_cheaper(locale, &rate),
                Reason::OffloadHidden => words::why_turn_not_hidden(locale, &rate),
                Reason::NothingSaved => return None,
            }
        }
        (Turn::Recompute(time), Reason::RecomputeCheaper) => {
            words::why_turn_made_longer(locale, &format::time(time))
        }
        (Turn::Recompute(time), _) => words::why_turn_made(locale, &format::time(time)),
    })
}

/// The link at a multiple of what is set: one rate, or out and back.
fn rate(evaluated: &Evaluated, factor: f64) -> Option<String> {
    let card = evaluated.notes.settings.get("hardware")?;
    let gbps = |key: &str| card.get(key).and_then(Value::as_f64).map(|rate| rate * 1e9 * factor);
    let (out, back) = (format::rate(gbps("d2h_gbps")?), format::rate(gbps("h2d_gbps")?));
    Some(if out == back { out } else { format!("{out} / {back}") })
}

/// What keeping it takes; for one that is kept, whether there is room.
fn kept(
    scenario: &Scenario,
    outcome: &Outcome,
    (layer, tensor): (usize, usize),
    decision: &Decision,
    locale: Locale,
) -> Option<String> {
    if decision.bytes == Bytes::ZERO {
        return None;
    }
    if decision.action == Action::Keep {
        let fits = outcome.out_of_memory.is_none();
        let said = if fits { words::why_room(locale) } else { words::why_no_room(locale) };
        return Some(said.to_owned());
    }
    let needed = keep::memory(scenario, outcome, layer, tensor)?;
    let memory = format::bytes(needed);
    Some(if needed > outcome.memory {
        words::why_keep_more(locale, &memory, &format::bytes(needed - outcome.memory))
    } else {
        words::why_keep_room(locale, &format::bytes(outcome.memory), &memory)
    })
}
