//! Answers in sentences.

use crate::engine::search::inverse::bandwidth::Hidden;
use crate::engine::search::inverse::card::{Card, Cards};
use crate::engine::search::inverse::count::{At, Counted, GRANULE, Largest};
use crate::engine::search::inverse::memory::Least;
use crate::engine::search::inverse::trial::Tried;
use crate::engine::search::inverse::{Answer, Inverse, Lack, lack};
use crate::scene::format;
use crate::ui::chart::policy_name;
use crate::words::{self, Locale};
use yew::prelude::*;

/// How much was tried so far.
pub fn tried(inverse: &Inverse) -> usize {
    match inverse.answer() {
        Some(Answer::Count(largest)) => largest.tried.len(),
        Some(Answer::Card(cards)) => cards.cards.iter().filter(|card| card.tried.is_some()).count(),
        Some(Answer::Memory(least)) => least.tries,
        Some(Answer::Bandwidth(..)) | None => 0,
    }
}

/// The answer.
pub fn sentences(inverse: &Inverse, locale: Locale) -> Vec<String> {
    match inverse.answer() {
        Some(Answer::Count(largest)) => count(inverse, largest, locale),
        Some(Answer::Memory(least)) => memory(least, locale),
        Some(Answer::Card(cards)) => card(cards, locale),
        Some(Answer::Bandwidth(_, hidden)) => bandwidth(hidden, locale),
        None => Vec::new(),
    }
}

fn count(inverse: &Inverse, largest: &Largest, locale: Locale) -> Vec<String> {
    let sequence = largest.counted == Counted::Sequence;
    let mut text = vec![match &largest.found {
        Some((value, Some(tried))) => {
            let says = if sequence { words::inverse_sequence } else { words::inverse_batch };
            let summary = &tried.summary;
            says(
                locale,
                &format::bytes(summary.peak),
                &format::time(summary.step),
                &format::whole(*value),
            )
        }
        _ if sequence => words::inverse_sequence_none(locale).to_owned(),
        _ => words::inverse_batch_none(locale).to_owned(),
    }];
    match &largest.next {
        Some(next) => {
            text.push(beyond(inverse, largest, next, locale));
            // Under one plan there is nothing to prove.
            text.extend(
                next.1
                    .as_ref()
                    .filter(|_| inverse.question.best)
                    .map(|next| certainty(next, locale)),
            );
        }
        None => text.push(words::inverse_most(locale).to_owned()),
    }
    let round =
        largest.round.filter(|&round| largest.found.as_ref().is_some_and(|found| found.0 != round));
    text.extend(
        round
            .map(|round| words::inverse_round(locale, &GRANULE.to_string(), &format::whole(round))),
    );
    text
}

/// What the value after the largest lacks.
fn beyond(inverse: &Inverse, largest: &Largest, next: &At, locale: Locale) -> String {
    let value = &format::whole(next.0);
    let tried = next.1.as_ref().zip(largest.counted.set(&inverse.request, next.0));
    match tried.map(|(tried, scenario)| lack(&scenario, tried)) {
        None => words::inverse_lacks_range(locale, value),
        Some(Lack::Memory(missing)) => {
            words::inverse_lacks_memory(locale, &format::bytes(missing), value)
        }
        Some(Lack::Host(missing)) => {
            words::inverse_lacks_host(locale, &format::bytes(missing), value)
        }
        Some(Lack::Step(over)) => words::inverse_lacks_step(locale, &format::time(over), value),
    }
}

fn certainty(tried: &Tried, locale: Locale) -> String {
    let words = if tried.proved { words::inverse_proved } else { words::inverse_searched };
    words(locale).to_owned()
}

fn memory(least: &Least, locale: Locale) -> Vec<String> {
    let Some(found) = &least.found else {
        return vec![words::inverse_memory_none(locale, &format::time(least.plain.step))];
    };
    let step = found.summary.step;
    let overhead = step.secs() / least.plain.step.secs().max(1e-9) - 1.0;
    let mut text = vec![words::inverse_memory(
        locale,
        &format::percent_change(overhead),
        &format::bytes(found.summary.peak),
        &policy_name(locale, &found.policy),
        &format::time(step),
    )];
    if let Some((budget, next)) = &least.next {
        let budget = format::bytes(*budget);
        text.push(if next.summary.runs {
            words::inverse_memory_slow(locale, &budget, &format::time(next.summary.step))
        } else {
            words::inverse_memory_out(locale, &budget)
        });
        text.push(certainty(next, locale));
    }
    if found.summary.peak > least.card {
        text.push(words::inverse_memory_card(locale, &format::bytes(least.card)));
    }
    text
}

fn card(cards: &Cards, locale: Locale) -> Vec<String> {
    let first = cards.first().and_then(|card| Some((card, card.tried.as_ref()?.summary)));
    let Some((card, summary)) = first else {
        return vec![words::inverse_card_none(locale).to_owned()];
    };
    let (peak, step) = (format::bytes(summary.peak), format::time(summary.step));
    let mut text = vec![match card.price {
        Some(price) => {
            words::inverse_card_price(locale, card.label, &peak, &format::plain(price, 2), &step)
        }
        None => words::inverse_card_size(locale, card.label, &peak, &step),
    }];
    let cheapest = cards.cheapest_step().filter(|cheapest| cheapest.id != card.id);
    text.extend(cheapest.map(|cheapest| words::inverse_card_step(locale, cheapest.label)));
    text
}

fn bandwidth(hidden: &Hidden, locale: Locale) -> Vec<String> {
    let rate = |gbps: f64| format::rate(gbps * 1e9);
    if !hidden.moves {
        return vec![words::inverse_bandwidth_nothing(locale).to_owned()];
    }
    let now = words::inverse_bandwidth_now(locale, &format::time(hidden.stall));
    match (hidden.found, hidden.next) {
        (Some(found), next) => {
            let mut text = vec![words::inverse_bandwidth(locale, &rate(found.gbps))];
            text.extend(next.map(|next| {
                words::inverse_bandwidth_next(locale, &rate(next.gbps), &format::time(next.stall))
            }));
            text.push(now);
            text
        }
        (None, Some(top)) => vec![
            words::inverse_bandwidth_none(locale, &rate(top.gbps), &format::time(top.stall)),
            now,
        ],
        (None, None) => Vec::new(),
    }
}

/// All cards of a question about them.
pub fn table(inverse: &Inverse, locale: Locale) -> Html {
    let Some(Answer::Card(cards)) = inverse.answer() else { return Html::default() };
    let row = |card: &Card| {
        let number = |text: Option<String>| html! { <td class="num">{text.unwrap_or_else(|| "–".to_owned())}</td> };
        let summary = card.tried.as_ref().filter(|_| card.fits()).map(|tried| tried.summary);
        html! {
            <tr class={classes!(summary.is_none().then_some("left"))}>
                <th scope="row">{card.label}</th>
                { number(card.price.map(|price| format::plain(price, 2))) }
                { number(summary.map(|summary| format::time(summary.step))) }
                { number(summary.map(|summary| format::bytes(summary.peak))) }
            </tr>
        }
    };
    let head = [
        words::inverse_card_hour(locale),
        words::chart_pareto_step(locale),
        words::chart_pareto_peak(locale),
    ];
    html! {
        <>
            <table>
                <caption>{words::inverse_card_list(locale)}</caption>
                <thead><tr><td />{ for head.map(|words| html! { <th scope="col" class="num">{words}</th> }) }</tr></thead>
                <tbody>{ for cards.cards.iter().map(row) }</tbody>
            </table>
            if let Some(source) = cards.source { <p class="knob-about">{words::inverse_card_source(locale, source)}</p> }
        </>
    }
}
