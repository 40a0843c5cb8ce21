//! What a unit of memory, link and compute would change, as a sentence and a table with bars.

use crate::engine::outcome::Summary;
use crate::engine::search::sensitivity::{Lever, Report, Side};
use crate::scene::format;
use crate::words::{self, Locale};
use yew::prelude::*;

/// The sentence and the table.
pub fn levers(report: &Report, stale: bool, locale: Locale) -> Html {
    let changes = report.levers.iter().flat_map(|(_, sides)| sides.iter().flatten());
    let both = changes.flat_map(|side| [report.difference(side), report.own_difference(side)]);
    let most = both.flatten().map(f64::abs).fold(0.0, f64::max);
    let unsure = report
        .levers
        .iter()
        .any(|(_, sides)| sides.iter().flatten().any(|side| report.within_gap(side)));
    let row = |(lever, sides): &(Lever, [Option<Side>; 2])| {
        let cell = |own: bool| {
            let lines =
                sides.iter().rev().flatten().map(|side| line(report, side, own, most, locale));
            html! { <td>{ for lines }</td> }
        };
        html! { <tr><th scope="row">{lever_words(*lever, locale)}</th>{ cell(false) }{ cell(true) }</tr> }
    };
    html! {
        <div class={classes!("levers", stale.then_some("stale"))} aria-busy={stale.to_string()}>
            <p>{now(report, locale)}{" "}<b>{helps_most(report, locale)}</b></p>
            <table>
                <caption>{words::map_caption(locale)}</caption>
                <thead><tr><th scope="col">{words::map_lever(locale)}</th><th scope="col">{words::map_best(locale)}</th>
                    <th scope="col">{words::map_own(locale)}</th></tr></thead>
                <tbody>{ for report.levers.iter().map(row) }</tbody>
            </table>
            if unsure { <p class="chart-note">{words::map_within_note(locale)}</p> }
        </div>
    }
}

const fn lever_words(lever: Lever, locale: Locale) -> &'static str {
    match lever {
        Lever::Memory => words::map_lever_memory(locale),
        Lever::Link => words::map_lever_link(locale),
        Lever::Compute => words::map_lever_compute(locale),
    }
}

fn now(report: &Report, locale: Locale) -> String {
    let best = &report.now.best;
    if !best.runs {
        return words::map_now_none(locale).to_owned();
    }
    let step = format::time(best.step);
    match report.now.bound {
        Some(bound) if best.step <= bound => words::map_now_exact(locale, &step),
        Some(bound) if bound.secs() > 0.0 => {
            let gap = format::percent(best.step.secs() / bound.secs() - 1.0);
            words::map_now(locale, &gap, &step)
        }
        _ => words::map_now_unbound(locale, &step),
    }
}

/// The lever whose unit takes most off the fastest step.
fn helps_most(report: &Report, locale: Locale) -> String {
    if !report.now.best.runs {
        return String::new();
    }
    let more = report.levers.iter().filter_map(|(lever, [_, more])| {
        let side = more.as_ref()?;
        Some((*lever, report.difference(side)? / side.by, report.within_gap(side)))
    });
    let Some((lever, change, unsure)) =
        more.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|one| one.1 < 0.0)
    else {
        return words::map_most_none(locale).to_owned();
    };
    let words = match lever {
        Lever::Memory => words::map_most_memory,
        Lever::Link => words::map_most_link,
        Lever::Compute => words::map_most_compute,
    };
    let change = format::seconds(-change);
    words(locale, &if unsure { words::map_within(locale, &change) } else { change })
}

/// "−12.0 ms", "+1.20 s", "0 s".
fn signed(seconds: f64) -> String {
    let plus = if seconds > 0.0 { "+" } else { "" };
    format!("{plus}{}", format::seconds(seconds))
}

/// One side: how far it is turned, what that changes, and a bar as long.
fn line(report: &Report, side: &Side, own: bool, most: f64, locale: Locale) -> Html {
    let by = format::plain(side.by.abs(), 3);
    let by =
        if side.by > 0.0 { words::map_more(locale, &by) } else { words::map_less(locale, &by) };
    let (before, after): (&Summary, &Summary) =
        if own { (&report.now.own, &side.own) } else { (&report.now.best, &side.best) };
    let change = if own { report.own_difference(side) } else { report.difference(side) };
    let text = match change {
        Some(change) if !own && report.within_gap(side) => {
            words::map_within(locale, &signed(change))
        }
        Some(change) => signed(change),
        None if after.runs => words::map_fits(locale, &format::time(after.step)),
        None if before.runs => words::map_not(locale).to_owned(),
        None => format::NONE.to_owned(),
    };
    let change = change.unwrap_or(0.0);
    let share = if most > 0.0 { 100.0 * change.abs() / most } else { 0.0 };
    let class = if change < 0.0 { "bar less" } else { "bar more" };
    html! {
        <span class="lever"><span class="by">{by}</span><span class="num">{text}</span>
            <span {class} style={format!("--share: {share:.1}%")} aria-hidden="true"></span></span>
    }
}
