//! One line for each group: how many come out, and how far off the others are.

use super::{View, cell, head, said, scrolled};
use crate::accuracy::case::Group;
use crate::accuracy::summary::{self, Summary};
use crate::accuracy::{Book, Row, text};
use crate::scene::format;
use crate::words::{self, Locale};
use yew::prelude::*;

/// The strip.
pub fn groups(
    book: &Book,
    rows: &[Row],
    view: &View,
    locale: Locale,
    show: &Callback<View>,
) -> Html {
    let summaries = summary::of(book, rows);
    let lines = book.groups.iter().zip(&summaries).enumerate();
    let lines = lines.map(|(i, (group, summary))| {
        let chosen = view.group == Some(i);
        let view = view.clone();
        let onclick = show.reform(move |_: MouseEvent| View {
            group: (!chosen).then_some(i),
            page: 0,
            ..view.clone()
        });
        line(group, summary, chosen, locale, onclick)
    });
    let names = [
        words::accuracy_group(locale),
        words::accuracy_held(locale),
        words::accuracy_mean(locale),
        words::accuracy_worst(locale),
        words::accuracy_bar(locale),
    ];
    scrolled("groups", words::accuracy_groups(locale), head(&names, 1..4), lines.collect())
}

fn line(
    group: &Group,
    summary: &Summary,
    chosen: bool,
    locale: Locale,
    onclick: Callback<MouseEvent>,
) -> Html {
    let mean = match summary.mean() {
        Some(mean) => text::percent(mean).replace('+', ""),
        None => format::NONE.to_owned(),
    };
    let bar = group.bar.as_ref().map(|bar| said(bar, locale)).unwrap_or_default();
    let evidence = match group.evidence.as_str() {
        "measured" => words::accuracy_measured(locale),
        "published" => words::accuracy_published(locale),
        _ => words::accuracy_derived(locale),
    };
    html! {
        <tr class={classes!((summary.hold < summary.rows).then_some("fails"), chosen.then_some("chosen"))}>
            <th scope="row"><button class="quiet" aria-pressed={chosen.to_string()} {onclick}>{said(&group.title, locale)}</button>
                <span>{evidence}</span></th>
            { cell("num", words::accuracy_held(locale), format!("{} / {}", summary.hold, summary.rows), Html::default()) }
            { cell("num", words::accuracy_mean(locale), mean, Html::default()) }
            { cell("num", words::accuracy_worst(locale), text::percent(summary.worst), Html::default()) }
            { cell("bar", words::accuracy_bar(locale), bar, Html::default()) }
        </tr>
    }
}
