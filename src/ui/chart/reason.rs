//! Why a layer is what it is, in sentences with its numbers.

use super::{Evaluated, name};
use crate::engine::outcome::{LayerOutcome, Reason};
use crate::engine::policy::{Action, PolicyKind};
use crate::engine::units::Nanos;
use crate::explain::expr::Words;
use crate::explain::{Cost, Subject};
use crate::scene::{Fate, format, ratio};
use crate::ui::explain::{mark, unmarked};
use crate::words::{self, Locale};

/// Who decided what, what the layer's numbers say, and what follows.
#[must_use]
pub fn why(locale: Locale, evaluated: &Evaluated, layer: usize) -> String {
    unmarked(&marked_why(locale, evaluated, layer))
}

/// The costs that the sentences hold, by the place of their marks.
pub fn numbers(locale: Locale, layer: usize) -> [(Subject, &'static str); 7] {
    COSTS.map(|(cost, words)| (Subject::Cost(layer, cost), words(locale)))
}

const COSTS: [(Cost, Words); 7] = [
    (Cost::Offload, words::chart_ratio_offload),
    (Cost::RoundTrip, words::chart_ratio_trip),
    (Cost::Exposed, words::chart_ratio_exposed),
    (Cost::Window, words::chart_ratio_window),
    (Cost::Recompute, words::chart_ratio_recompute),
    (Cost::Wait, words::explain_waited),
    (Cost::Benefit, words::chart_ratio_benefit_short),
];

/// A cost as text, marked.
fn cost(cost: Cost, text: &str) -> String {
    let place = COSTS.iter().position(|(one, _)| *one == cost).unwrap_or_default();
    mark(u32::try_from(place).unwrap_or_default(), text)
}

/// As [`why`], its numbers marked.
pub fn marked_why(locale: Locale, evaluated: &Evaluated, layer: usize) -> String {
    let outcome = &evaluated.outcome;
    let Some(own) = outcome.layers.get(layer) else {
        return String::new();
    };
    if own.reason == Reason::NothingSaved {
        return words::chart_why_nothing(locale).to_owned();
    }
    let fate = ratio::fate(outcome, layer);
    let sentences = [
        decided(locale, evaluated, fate),
        says(locale, own),
        follows(locale, own, fate),
        waited(locale, own),
        benefit(locale, own, evaluated.scenario.policy.threshold),
    ];
    let between = if locale == Locale::En { " " } else { "" };
    let said: Vec<String> = sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect();
    said.join(between)
}

/// The layer's name and fate: "block 12: Recompute".
pub fn heading(locale: Locale, evaluated: &Evaluated, layer: usize) -> String {
    let name = name::layer(locale, &evaluated.scenario.chain.layers[layer].name);
    let fate = name::fate(locale, ratio::fate(&evaluated.outcome, layer));
    words::chart_ratio_layer(locale, fate, &name)
}

fn decided(locale: Locale, evaluated: &Evaluated, fate: Fate) -> String {
    let by = if evaluated.scenario.asks_for_best() {
        words::chart_by_search(locale)
    } else if evaluated.outcome.policy.kind == PolicyKind::Rule {
        words::chart_by_rule(locale)
    } else {
        words::chart_by_plan(locale)
    };
    match fate {
        Fate::All(Action::Keep) => words::chart_did_keep(locale, by),
        Fate::All(Action::Recompute) => words::chart_did_recompute(locale, by),
        Fate::All(Action::Host) => words::chart_did_offload(locale, by),
        Fate::All(Action::Ssd) => words::chart_did_ssd(locale, by),
        Fate::Mixed => words::chart_did_mixed(locale, by),
        Fate::Nothing => String::new(),
    }
}

fn says(locale: Locale, layer: &LayerOutcome) -> String {
    let choice = &layer.choice;
    let offload = cost(Cost::Offload, &format::time(choice.offload_cost()));
    let recompute = cost(Cost::Recompute, &format::time(choice.recompute));
    let trip = cost(Cost::RoundTrip, &format::time(choice.round_trip));
    let window = cost(Cost::Window, &format::time(choice.window));
    let beyond = choice.offload_cost().saturating_sub(choice.round_trip);
    let exposed = cost(Cost::Exposed, &format::time(beyond));
    match layer.reason {
        Reason::RecomputeCheaper => words::chart_why_recompute(locale, &offload, &recompute),
        Reason::OffloadHidden => words::chart_why_hidden(locale, &recompute, &trip, &window),
        Reason::WindowTooShort => words::chart_why_window(locale, &exposed, &trip, &window),
        Reason::NothingSaved => String::new(),
    }
}

/// What follows where the numbers and the action part ways; nothing where they agree.
fn follows(locale: Locale, layer: &LayerOutcome, fate: Fate) -> String {
    let Fate::All(action) = fate else {
        return String::new();
    };
    match (action, layer.reason) {
        (Action::Keep, Reason::RecomputeCheaper) => {
            words::chart_then_keep_recompute(locale).to_owned()
        }
        (Action::Keep, Reason::OffloadHidden) => words::chart_then_keep_offload(locale).to_owned(),
        (Action::Keep, Reason::WindowTooShort) => words::chart_then_keep_window(locale).to_owned(),
        (Action::Recompute, Reason::WindowTooShort) => words::chart_then_recompute_window(
            locale,
            &cost(Cost::Offload, &format::time(layer.choice.offload_cost())),
            &cost(Cost::Recompute, &format::time(layer.choice.recompute)),
        ),
        (Action::Host | Action::Ssd, Reason::WindowTooShort) => {
            words::chart_then_offload_window(locale).to_owned()
        }
        // The comparison has said which is cheaper already.
        (
            Action::Recompute | Action::Host | Action::Ssd,
            Reason::RecomputeCheaper | Reason::OffloadHidden,
        )
        | (_, Reason::NothingSaved) => String::new(),
    }
}

fn waited(locale: Locale, layer: &LayerOutcome) -> String {
    if layer.wait == Nanos::ZERO {
        return String::new();
    }
    words::chart_waited(locale, &cost(Cost::Wait, &format::time(layer.wait)))
}

fn benefit(locale: Locale, layer: &LayerOutcome, threshold: f64) -> String {
    let Some(benefit) = layer.benefit_ratio else {
        return String::new();
    };
    let ratio = cost(Cost::Benefit, &format::ratio(benefit));
    let limit = format::ratio(threshold);
    if benefit >= threshold {
        words::chart_benefit_good(locale, &ratio, &limit)
    } else {
        words::chart_benefit_poor(locale, &ratio, &limit)
    }
}
