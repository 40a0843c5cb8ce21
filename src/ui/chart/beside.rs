//! What was measured beside what is predicted, in numbers: peak, step, saved bytes, and where the two differ most.

use super::{Evaluated, layer_name, name};
use crate::engine::trace::SpanKind;
use crate::engine::units::Bytes;
use crate::import::compare::{Alignment, Comparison, Difference};
use crate::import::{Device, Measured};
use crate::scene::format;
use crate::ui::Shared;
use crate::words::{self, Locale};
use yew::prelude::*;

/// What is compared.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// What was measured.
    pub measured: Shared<Measured>,
    /// The two together.
    pub comparison: Shared<Comparison>,
    /// The language.
    pub locale: Locale,
    /// The measurement is to go.
    pub onremove: Callback<()>,
}

/// The comparison.
#[component]
pub fn Beside(props: &Props) -> Html {
    let Props { evaluated, measured, comparison, locale, .. } = props;
    let locale = *locale;
    let differences = &comparison.differences;
    html! {
        <section class="beside" aria-labelledby="beside-title">
            <div class="chart-head">
                <h3 id="beside-title">{words::measured_title(locale)}</h3>
                <button class="chart-toggle" onclick={props.onremove.reform(|_| ())}>{words::measured_remove(locale)}</button>
            </div>
            <div class="beside-parts">
                <table class="num">
                    <thead><tr>
                        <td></td><th scope="col">{words::measured_name(locale)}</th><th scope="col">{words::measured_predicted(locale)}</th>
                        <th scope="col">{words::measured_difference(locale)}</th>
                    </tr></thead>
                    <tbody>{ for rows(evaluated, measured, locale) }</tbody>
                </table>
                if !differences.is_empty() {
                    <div>
                        <h4>{words::measured_largest(locale)}</h4>
                        <ol class="num">{ for differences.iter().map(|difference| item(evaluated, difference, locale)) }</ol>
                    </div>
                }
            </div>
            <p class="chart-note">{remarks(measured, comparison, locale).join(words::import_between(locale))}</p>
            if !measured.notes.is_empty() {
                <p class="chart-note">{words::measured_notes(locale)}{words::import_between(locale)}{measured.notes.join(" · ")}</p>
            }
        </section>
    }
}

/// The numbers that were measured, each with its prediction.
fn rows(evaluated: &Evaluated, measured: &Measured, locale: Locale) -> Vec<Html> {
    let outcome = &evaluated.outcome;
    let bytes = |name: &'static str, given: Option<Bytes>, predicted: Bytes| {
        let given = given?;
        let difference = format::bytes_difference(predicted, given);
        let share = share(given.as_f64(), predicted.as_f64());
        Some(row(name, format::bytes(given), format::bytes(predicted), &difference, share))
    };
    let peak = bytes(words::verdict_peak(locale), measured.peak, outcome.peak.row.total());
    let saved = bytes(words::measured_saved(locale), measured.saved, outcome.activation_bytes);
    let step = measured.step.map(|given| {
        let (a, b) = (given.secs(), outcome.step.secs());
        let sign = if a > b { "+" } else { "" };
        let difference = format!("{sign}{}", format::seconds(a - b));
        let name = words::verdict_step(locale);
        row(name, format::time(given), format::time(outcome.step), &difference, share(a, b))
    });
    [peak, step, saved].into_iter().flatten().collect()
}

/// Measured minus predicted, as a share of what was measured.
fn share(measured: f64, predicted: f64) -> f64 {
    if measured > 0.0 { (measured - predicted) / measured } else { f64::NAN }
}

fn row(name: &str, measured: String, predicted: String, difference: &str, share: f64) -> Html {
    let difference = format!("{difference} ({})", format::percent_change(share));
    html! { <tr><th scope="row">{name.to_owned()}</th><td>{measured}</td><td>{predicted}</td><td>{difference}</td></tr> }
}

/// Where the two differ: what runs there, and both numbers.
fn item(evaluated: &Evaluated, difference: &Difference, locale: Locale) -> Html {
    let layer = layer_name(locale, &evaluated.scenario.chain.layers[difference.layer].name);
    let what = match difference.kind {
        SpanKind::Optimizer => name::kind(locale, difference.kind).to_owned(),
        kind => words::measured_during(locale, name::kind(locale, kind), &layer),
    };
    let Difference { measured, predicted, start, end, .. } = *difference;
    let text = words::measured_there(
        locale,
        &format::bytes_difference(predicted, measured),
        &format::time(end),
        &format::bytes(measured),
        &format::bytes(predicted),
        &format::time(start),
    );
    html! { <li><b>{what}</b>{text}</li> }
}

/// How the curve was placed, of what it is, and what was left out.
fn remarks(measured: &Measured, comparison: &Comparison, locale: Locale) -> Vec<String> {
    let mut said = Vec::new();
    if !measured.curve.is_empty() {
        let (own, ours) = (format::time(comparison.measured), format::time(comparison.predicted));
        said.push(match comparison.alignment {
            Alignment::Same => words::measured_same(locale, &ours, &own),
            Alignment::Stretched => words::measured_stretched(locale, &ours, &own),
            Alignment::Timeless => words::measured_timeless(locale).to_owned(),
        });
    }
    if let Some((step, count)) = &measured.of_step {
        said.push(words::measured_step(locale, &count.to_string(), step));
    }
    if let Some(device) = measured.device {
        said.push(words::measured_device(locale, &device_name(device)));
        if device.kind == 0 {
            said.push(words::measured_host(locale).to_owned());
        }
    }
    if measured.raised > Bytes::ZERO {
        said.push(words::measured_raised(locale, &format::bytes(measured.raised)));
    }
    let tally = &measured.tally;
    let n = |count: u64| format::whole(count);
    if tally.seen > 0 {
        said.push(words::measured_tally(locale, &n(tally.kept), &n(tally.seen)));
    }
    let parts = [
        (tally.others, words::measured_others as fn(Locale, &str) -> String),
        (tally.before, words::measured_before),
        (tally.elsewhere, words::measured_elsewhere),
        (tally.thinned, words::measured_thinned),
        (tally.unread, words::measured_unread),
    ];
    said.extend(
        parts.into_iter().filter(|part| part.0 > 0).map(|(count, words)| words(locale, &n(count))),
    );
    said
}

/// As the profiler counts devices.
fn device_name(device: Device) -> String {
    match device.kind {
        0 => "CPU".to_owned(),
        1 => format!("CUDA {}", device.id),
        kind => format!("{kind}:{}", device.id),
    }
}
