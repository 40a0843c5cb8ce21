//! What sets the peak, and what moves it: under the formula of the peak.

use super::buttons;
use super::work::use_work;
use crate::engine::outcome::Outcome;
use crate::engine::scenario::Scenario;
use crate::engine::units::Bytes;
use crate::engine::why::peak::{Levers, Summit, summit};
use crate::explain::alive::{When, parts};
use crate::explain::part_name;
use crate::scene::format;
use crate::scene::ledger::Band;
use crate::ui::Shared;
use crate::ui::chart::{Evaluated, band_name};
use crate::ui::explain::title;
use crate::ui::store::Msg;
use crate::ui::verdict::operation;
use crate::words::{self, Locale};
use yew::prelude::*;

/// Whose peak.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// The request that it was read from.
    pub request: AttrValue,
    /// The language.
    pub locale: Locale,
    /// Where a change goes.
    pub send: Callback<Msg>,
}

/// Changes that are shown.
const MOST: usize = 3;
/// Holders that are named.
const NAMED: usize = 4;

/// The answer.
#[component]
pub fn Highest(props: &Props) -> Html {
    let Props { evaluated, request, locale, send } = props;
    let locale = *locale;
    let of = (evaluated.clone(), request.clone());
    let work = use_work(
        &of,
        false,
        |(evaluated, request)| {
            // The page's request has been read already.
            let request = serde_json::from_str(request).unwrap_or_default();
            Levers::new(request, evaluated.scenario.clone(), evaluated.outcome.clone())
        },
        Levers::advance,
        |_| false,
    );
    let said = use_memo((evaluated.clone(), locale), |(evaluated, locale)| {
        let Evaluated { scenario, outcome, .. } = &**evaluated;
        sentences(scenario, outcome, *locale)
    });
    let unmoved = evaluated.outcome.peak_unmoved.is_some();
    let title = if unmoved { words::why_peak_unmoved(locale) } else { words::why_peak(locale) };
    let levers = work.filter(|work| !work.stale(&of)).map(|work| {
        let mut levers = work.task.borrow().ranked();
        levers.truncate(MOST);
        levers
    });
    html! {
        <div class="summit">
            <h3>{title}</h3>
            { for said.iter().map(|text| html! { <p>{text.clone()}</p> }) }
            <h3>{words::why_levers(locale)}</h3>
            { match levers {
                None => html! { <p class="quiet" role="status">{words::why_levers_waiting(locale)}</p> },
                Some(levers) if levers.is_empty() => html! { <p>{words::why_no_lever(locale)}</p> },
                Some(levers) => buttons(&levers, locale, false, send),
            } }
        </div>
    }
}

/// The moment, who holds most then, and what of the freed is away.
#[must_use]
pub fn sentences(scenario: &Scenario, outcome: &Outcome, locale: Locale) -> Vec<String> {
    let Summit { at, op, layer, freed, away } = summit(scenario, outcome);
    let operation = operation(&scenario.chain, op, layer, locale);
    let mut said = vec![
        words::why_peak_at(locale, &operation, &format::time(at)),
        words::why_peak_alive(locale, &holders(scenario, outcome, locale)),
    ];
    let bytes = format::bytes(freed);
    match (freed, away) {
        (Bytes::ZERO, _) => {}
        (_, Bytes::ZERO) => said.push(words::why_peak_none_away(locale, &bytes)),
        _ => said.push(words::why_peak_away(locale, &format::bytes(away), &bytes)),
    }
    said
}

/// The largest of those that are there at the peak, states among them.
fn holders(scenario: &Scenario, outcome: &Outcome, locale: Locale) -> String {
    let alive = parts(scenario, outcome, When::Peak);
    let part = |part: &crate::explain::alive::Part| {
        (title(&part_name(part.kind, &part.what), locale), part.row.total())
    };
    let standing = |band: Band| (band_name(locale, band).to_owned(), band.bytes(&outcome.standing));
    let mut all: Vec<(String, Bytes)> = alive.parts.iter().map(part).collect();
    all.extend([Band::Weights, Band::Gradients, Band::Optimizer, Band::Unmodelled].map(standing));
    all.push((words::explain_background(locale).to_owned(), alive.background));
    all.retain(|(_, bytes)| *bytes > Bytes::ZERO);
    all.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let named = all.iter().take(NAMED);
    let named = named.map(|(name, bytes)| format!("{name} {}", format::bytes(*bytes)));
    let between = if locale == Locale::Zh { "，" } else { ", " };
    named.collect::<Vec<_>>().join(between)
}
