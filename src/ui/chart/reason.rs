//! Why a layer is what it is, in sentences with its numbers.

use super::{Evaluated, name};
use crate::engine::outcome::{LayerOutcome, Reason};
use crate::engine::policy::{Action, PolicyKind};
use crate::engine::units::Nanos;
use crate::scene::{Fate, format, ratio};
use crate::words::{self, Locale};

/// Who decided what, what the layer's numbers say, and what follows.
#[must_use]
pub fn why(locale: Locale, evaluated: &Evaluated, layer: usize) -> String {
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
    let offload = format::time(choice.offload_cost());
    let recompute = format::time(choice.recompute);
    let (trip, window) = (format::time(choice.round_trip), format::time(choice.window));
    let exposed = format::time(choice.offload_cost().saturating_sub(choice.round_trip));
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
            &format::time(layer.choice.offload_cost()),
            &format::time(layer.choice.recompute),
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
    words::chart_waited(locale, &format::time(layer.wait))
}

fn benefit(locale: Locale, layer: &LayerOutcome, threshold: f64) -> String {
    let Some(benefit) = layer.benefit_ratio else {
        return String::new();
    };
    let (ratio, limit) = (format::ratio(benefit), format::ratio(threshold));
    if benefit >= threshold {
        words::chart_benefit_good(locale, &ratio, &limit)
    } else {
        words::chart_benefit_poor(locale, &ratio, &limit)
    }
}
