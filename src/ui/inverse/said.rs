//! Answers of the door `inverse`, in sentences.

use crate::engine::search::inverse::count::GRANULE;
use crate::engine::units::Bytes;
use crate::request::Request;
use crate::scene::format;
use crate::ui::chart::policy_name;
use crate::words::{self, Locale};
use serde_json::Value;
use yew::prelude::*;

fn size(value: &Value) -> String {
    format::bytes(Bytes(value.as_u64().unwrap_or_default()))
}

fn time(value: &Value) -> String {
    format::seconds(value.as_f64().unwrap_or(f64::NAN))
}

fn rate(at: &Value) -> String {
    format::rate(at["gbps"].as_f64().unwrap_or(f64::NAN) * 1e9)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The answer; `request` is what it is about, as text.
pub fn sentences(answer: &Value, request: &str, locale: Locale) -> Vec<String> {
    match text(&answer["ask"]) {
        "memory" => memory(answer, request, locale),
        "card" => card(answer, locale),
        "bandwidth" => bandwidth(answer, locale),
        _ => count(answer, locale),
    }
}

fn count(answer: &Value, locale: Locale) -> Vec<String> {
    let whole = |value: &Value| format::whole(value.as_u64().unwrap_or_default());
    let (found, next) = (&answer["found"], &answer["next"]);
    let sequence = answer["ask"] == "sequence";
    let mut said = vec![match (found.is_null(), sequence) {
        (true, true) => words::inverse_sequence_none(locale).to_owned(),
        (true, false) => words::inverse_batch_none(locale).to_owned(),
        (false, _) => {
            let says = if sequence { words::inverse_sequence } else { words::inverse_batch };
            says(
                locale,
                &size(&found["peak_bytes"]),
                &time(&found["step_s"]),
                &whole(&answer["value"]),
            )
        }
    }];
    if next.is_null() {
        said.push(words::inverse_most(locale).to_owned());
    } else {
        let (value, missing) = (whole(&next["value"]), size(&next["missing_bytes"]));
        said.push(match text(&next["lacks"]) {
            "memory" => words::inverse_lacks_memory(locale, &missing, &value),
            "host" => words::inverse_lacks_host(locale, &missing, &value),
            "step" => words::inverse_lacks_step(locale, &time(&next["over_s"]), &value),
            _ => words::inverse_lacks_range(locale, &value),
        });
        // Under one plan there is nothing to prove.
        said.extend((answer["under"] == "best").then(|| certainty(next, locale)));
    }
    let round = &answer["of_granule"];
    if !round.is_null() && *round != answer["value"] {
        said.push(words::inverse_round(locale, &GRANULE.to_string(), &whole(round)));
    }
    said
}

fn certainty(next: &Value, locale: Locale) -> String {
    let words =
        if next["proved"] == true { words::inverse_proved } else { words::inverse_searched };
    words(locale).to_owned()
}

fn memory(answer: &Value, request: &str, locale: Locale) -> Vec<String> {
    let (found, next, keep) = (&answer["found"], &answer["next"], &answer["keep"]);
    if found.is_null() {
        return vec![words::inverse_memory_none(locale, &time(&keep["step_s"]))];
    }
    let seconds = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let overhead = seconds(&found["step_s"]) / seconds(&keep["step_s"]) - 1.0;
    // Its name is that of the policy as it reads.
    let reading = serde_json::from_str(request).ok().and_then(|value| {
        Request::read(value).ok()?.request.with(&[("policy", found["policy"].clone())]).ok()
    });
    let name = reading.map(|reading| policy_name(locale, &reading.scenario.policy));
    let mut said = vec![words::inverse_memory(
        locale,
        &format::percent_change(overhead),
        &size(&found["peak_bytes"]),
        &name.unwrap_or_default(),
        &time(&found["step_s"]),
    )];
    if !next.is_null() {
        let bytes = |value: &Value| Bytes(value.as_u64().unwrap_or_default());
        let less = bytes(&found["peak_bytes"]).saturating_sub(bytes(&next["memory_bytes"]));
        let less = format::bytes(less);
        said.push(if next["runs"] == true {
            words::inverse_memory_slow(locale, &less, &time(&next["step_s"]))
        } else {
            words::inverse_memory_out(locale, &less)
        });
        said.push(certainty(next, locale));
    }
    if found["peak_bytes"].as_u64() > answer["card_bytes"].as_u64() {
        said.push(words::inverse_memory_card(locale, &size(&answer["card_bytes"])));
    }
    said
}

fn cards(answer: &Value) -> &[Value] {
    answer["cards"].as_array().map_or(&[], Vec::as_slice)
}

fn card(answer: &Value, locale: Locale) -> Vec<String> {
    let find = |id: &Value| cards(answer).iter().find(|card| card["preset"] == *id);
    let Some(card) = find(&answer["value"]) else {
        return vec![words::inverse_card_none(locale).to_owned()];
    };
    let (label, peak, step) =
        (text(&card["label"]), size(&card["peak_bytes"]), time(&card["step_s"]));
    let mut said = vec![match card["per_hour"].as_f64() {
        Some(price) => {
            words::inverse_card_price(locale, label, &peak, &format::plain(price, 2), &step)
        }
        None => words::inverse_card_size(locale, label, &peak, &step),
    }];
    let cheapest = find(&answer["cheapest_step"]).filter(|other| other["preset"] != card["preset"]);
    said.extend(cheapest.map(|other| words::inverse_card_step(locale, text(&other["label"]))));
    said
}

fn bandwidth(answer: &Value, locale: Locale) -> Vec<String> {
    if answer["moves"] != true {
        return vec![words::inverse_bandwidth_nothing(locale).to_owned()];
    }
    let (found, next) = (&answer["found"], &answer["next"]);
    let mut said = Vec::new();
    if found.is_null() {
        said.push(words::inverse_bandwidth_none(locale, &rate(next), &time(&next["stall_s"])));
    } else {
        said.push(words::inverse_bandwidth(locale, &rate(found)));
        if !next.is_null() {
            said.push(words::inverse_bandwidth_next(locale, &rate(next), &time(&next["stall_s"])));
        }
    }
    if answer["stall_s"].as_f64() > Some(0.0) {
        said.push(words::inverse_bandwidth_now(locale, &time(&answer["stall_s"])));
    }
    said
}

/// A card without its maker: a column is narrow.
fn short(label: &str) -> &str {
    label.split_once(' ').map_or(label, |(_, rest)| rest)
}

/// All cards of a question about them.
pub fn table(answer: &Value, locale: Locale) -> Html {
    if cards(answer).is_empty() {
        return Html::default();
    }
    let row = |card: &Value| {
        let fits = card["fits"] == true;
        let number = |given: bool, text: String| html! { <td class="num">{if given { text } else { "–".to_owned() }}</td> };
        let price = card["per_hour"].as_f64();
        html! {
            <tr class={classes!((!fits).then_some("left"))}>
                <th scope="row">{short(text(&card["label"])).to_owned()}</th>
                { number(price.is_some(), format::plain(price.unwrap_or_default(), 2)) }
                { number(fits, time(&card["step_s"])) }
                { number(fits, size(&card["peak_bytes"])) }
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
                <tbody>{ for cards(answer).iter().map(row) }</tbody>
            </table>
            if let Some(source) = answer["price_source"].as_str() {
                <p class="knob-about">{words::inverse_card_source(locale, source)}</p>
            }
        </>
    }
}
