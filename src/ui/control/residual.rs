//! What a fit says: knobs before and after, every number beside the model's, and what is to be known about it.

use super::calibrate::{KNOBS, number_words};
use crate::engine::calibrate::{Calibration, Knob, Note, Number, Quantity, Residual};
use crate::engine::units::Bytes;
use crate::scene::format;
use crate::words::{self, Locale};
use yew::prelude::*;

/// The two tables and the remarks. Not a component: it changes with the box around it alone.
pub fn fitted(calibration: &Calibration, locale: Locale) -> Html {
    let Calibration { before, after, fitted, residuals, .. } = calibration;
    let knob = |knob: &Knob| {
        let fitted = fitted.contains(knob);
        html! {
            <tr class={classes!((!fitted).then_some("left"))}>
                <th scope="row">{knob_words(*knob, locale)}</th>
                <td class="num">{knob_value(*knob, before.get(*knob))}</td>
                <td class="num">{if fitted { knob_value(*knob, after.get(*knob)) } else { words::calibrate_stays(locale).to_owned() }}</td>
            </tr>
        }
    };
    html! {
        <>
            <table>
                <caption>{words::calibrate_knobs(locale)}</caption>
                <thead><tr><td />{ head(words::calibrate_before(locale)) }{ head(words::calibrate_after(locale)) }</tr></thead>
                <tbody>{ for KNOBS.iter().map(knob) }</tbody>
            </table>
            <table class="residuals">
                <caption>{words::calibrate_numbers(locale)}</caption>
                <thead><tr>
                    { head(words::calibrate_measured(locale)) }{ head(words::calibrate_before(locale)) }
                    { head(words::calibrate_after(locale)) }{ head(words::calibrate_off(locale)) }
                </tr></thead>
                { for residuals.iter().map(|row| residual(row, locale)) }
            </table>
            { for remarks(calibration, locale).into_iter().map(|text| html! { <p class="notice">{text}</p> }) }
        </>
    }
}

fn head(words: &'static str) -> Html {
    html! { <th scope="col" class="num">{words}</th> }
}

fn residual(row: &Residual, locale: Locale) -> Html {
    /// A difference that is more than rounding of what was typed.
    const OFF: f64 = 0.01;
    let value = |value: f64| number_value(&row.number, value);
    let off = row.difference();
    html! {
        <tbody>
            <tr><th scope="rowgroup" colspan="4">{number_name(&row.number, locale)}</th></tr>
            <tr>
                <td class="num">{value(row.number.given)}</td>
                <td class="num">{value(row.before)}</td>
                <td class="num">{value(row.after)}</td>
                <td class={classes!("num", (off.abs() > OFF).then_some("problem"))}>{format::percent_change(off)}</td>
            </tr>
        </tbody>
    }
}

fn knob_words(knob: Knob, locale: Locale) -> &'static str {
    match knob {
        Knob::Efficiency => words::knob_efficiency(locale),
        Knob::BackwardRatio => words::knob_backward_ratio(locale),
        Knob::Unmodelled => words::knob_unmodelled(locale),
        Knob::ToHost => words::knob_d2h(locale),
        Knob::ToDevice => words::knob_h2d(locale),
    }
}

fn knob_value(knob: Knob, value: f64) -> String {
    match knob {
        Knob::Unmodelled => format::bytes(Bytes::from_gib(value)),
        Knob::ToHost | Knob::ToDevice => format::rate(value * 1e9),
        Knob::Efficiency | Knob::BackwardRatio => format::plain(value, 3),
    }
}

fn number_name(number: &Number, locale: Locale) -> &'static str {
    number_words(number.what, locale).unwrap_or(number.what)
}

fn number_value(number: &Number, value: f64) -> String {
    match number.quantity {
        Quantity::Step => format::seconds(value),
        Quantity::Tokens => format::per_second(value),
        Quantity::Gib => format::bytes(Bytes::from_gib(value)),
        Quantity::Bytes => format::bytes(Bytes::from_f64(value)),
    }
}

/// The remarks in the reader's language, those of one kind about several numbers in one; none about the link, of which the panel
/// asks nothing.
fn remarks(calibration: &Calibration, locale: Locale) -> Vec<String> {
    let Calibration { bound, notes, .. } = calibration;
    let names = |wanted: fn(&Note) -> Option<Number>| {
        let numbers = notes.iter().filter_map(wanted);
        numbers.map(|number| number_name(&number, locale)).collect::<Vec<_>>().join(" · ")
    };
    // Where unmodelled memory stops at nothing, the peaks say why.
    let bounds = bound.iter().filter(|&&knob| knob != Knob::Unmodelled);
    let mut said: Vec<String> =
        bounds.map(|&knob| words::calibrate_bound(locale, knob_words(knob, locale))).collect();
    said.extend(notes.iter().filter_map(|note| match note {
        Note::Undetermined(Knob::Efficiency) => {
            Some(words::calibrate_needs_step(locale).to_owned())
        }
        Note::Undetermined(Knob::BackwardRatio) => {
            Some(words::calibrate_needs_steps(locale).to_owned())
        }
        Note::Undetermined(Knob::Unmodelled) => {
            Some(words::calibrate_needs_peak(locale).to_owned())
        }
        Note::NoEffect(knob) => Some(words::calibrate_no_effect(locale, knob_words(*knob, locale))),
        Note::BestHeld => Some(words::calibrate_best_held(locale).to_owned()),
        _ => None,
    }));
    let below = names(|note| match note {
        Note::PeakBelow(number, _) => Some(*number),
        _ => None,
    });
    let unexplained = names(|note| match note {
        Note::Unexplained(number, _) => Some(*number),
        _ => None,
    });
    let unfit = names(|note| match note {
        Note::DoesNotFit(number, _) => Some(*number),
        _ => None,
    });
    if !below.is_empty() {
        said.push(words::calibrate_peak_below(locale, &below));
    }
    if !unexplained.is_empty() {
        said.push(words::calibrate_unexplained(locale, &unexplained));
    }
    let memory = notes.iter().find_map(|note| match note {
        Note::DoesNotFit(_, memory) => Some(*memory),
        _ => None,
    });
    if let Some(memory) = memory {
        said.push(words::calibrate_does_not_fit(locale, &format::bytes(memory), &unfit));
    }
    said
}
