//! One row: what the source says, what the engine says, and a button that loads the scenario.

use super::{cell, said};
use crate::accuracy::case::{Source, Within};
use crate::accuracy::run::Objection;
use crate::accuracy::{Case, Row, text};
use crate::import::{Imported, Kind};
use crate::ui::store::Msg;
use crate::words::{self, Locale};
use yew::prelude::*;

/// The row of a case, as a line of the table.
pub fn line(case: &Case, row: &Row, locale: Locale, send: &Callback<Msg>) -> Html {
    let figure = &case.set.figures[row.figure];
    let (mark, verdict) = if row.holds {
        ("✓", words::accuracy_holds(locale))
    } else {
        ("✗", words::accuracy_fails(locale))
    };
    let request = case.request();
    let onclick = send.reform(move |_: MouseEvent| {
        show_the_verdict();
        // The road of a pasted scenario: one entry in the history.
        Msg::Import(Imported { kind: Kind::Scenario, value: request.clone(), measured: None })
    });
    let name = case.name();
    // Exact needs no word: all that is exact has all its digits.
    let within = match figure.within {
        Within::Exact => Html::default(),
        within => small("inputs", text::within(within, &figure.unit).into()),
    };
    html! {
        <tr class={classes!((!row.holds).then_some("fails"))}>
            <th scope="row">
                <span class="mark" role="img" aria-label={verdict}>{mark}</span>{name.to_owned()}
                { small("inputs", case.inputs().into()) }
                { small("inputs source", source(case.source())) }
                { small("why", why(case, row, locale).into()) }
            </th>
            { cell("what", words::accuracy_figure(locale), said(&figure.name, locale), Html::default()) }
            { cell("num", words::accuracy_expected(locale), text::expected(&case.expected()[row.figure], &figure.unit), within) }
            { cell("num", words::accuracy_ours(locale), text::figure(row.value, &figure.unit), Html::default()) }
            { cell("num", words::accuracy_difference(locale), text::difference(row.difference, row.share, &figure.unit), Html::default()) }
            <td class="load"><button {onclick} aria-label={words::accuracy_load_label(locale, name)}>{words::accuracy_load(locale)}</button></td>
        </tr>
    }
}

fn small(class: &'static str, content: Html) -> Html {
    html! { <span {class}>{content}</span> }
}

/// Where figures are from, with a link if there is one.
pub fn source(source: &Source) -> Html {
    let text = source.text.clone();
    match source.url.clone() {
        Some(url) => {
            html! { <a href={url} title={text.clone()} target="_blank" rel="noopener">{text}</a> }
        }
        None => html! { <span title={text.clone()}>{text}</span> },
    }
}

/// Why a row does not come out, as far as it is known.
fn why(case: &Case, row: &Row, locale: Locale) -> AttrValue {
    match &row.objection {
        _ if row.holds => AttrValue::default(),
        Some(Objection::Refused(error)) => words::accuracy_refused(locale, error).into(),
        Some(Objection::Unknown(keys)) => words::accuracy_unknown(locale, keys).into(),
        Some(Objection::Clamped(keys)) => words::accuracy_clamped(locale, keys).into(),
        None => case.set.found.as_ref().map(|found| said(found, locale)).unwrap_or_default(),
    }
}

/// What a loaded scenario comes to stands at the top of the page.
fn show_the_verdict() {
    let page = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.query_selector(".page").ok().flatten());
    if let Some(page) = page {
        page.scroll_into_view();
    }
}
