//! The rows, filtered and a page at a time: all of them at once would slow whatever else moves.

use super::row::{line, source};
use super::{View, head, said, scrolled};
use crate::accuracy::case::Group;
use crate::accuracy::{Book, Case, Row};
use crate::ui::store::Msg;
use crate::words::{self, Locale};
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, HtmlSelectElement, window};
use yew::prelude::*;

/// Rows on a page.
const PAGE: usize = 25;

impl View {
    /// Whether a row is asked for: every word of the text is somewhere in it.
    fn takes(&self, case: &Case, row: &Row) -> bool {
        if (self.failing && row.holds) || self.group.is_some_and(|group| group != case.group_at) {
            return false;
        }
        let figure = &case.set.figures[row.figure].name;
        let title = &case.group.title;
        let has = |word: &str| {
            let texts: [&str; 7] = [
                case.name(),
                &case.inputs(),
                &case.source().text,
                &figure[0],
                &figure[1],
                &title[0],
                &title[1],
            ];
            texts.iter().any(|text| text.to_ascii_lowercase().contains(word))
        };
        self.text.to_ascii_lowercase().split_whitespace().all(has)
    }
}

/// The table with its filters.
pub fn rows(
    book: &Book,
    rows: &[Row],
    view: &View,
    locale: Locale,
    show: &Callback<View>,
    send: &Callback<Msg>,
) -> Html {
    let cases = rows.iter().filter_map(|row| Some((book.case(row.case)?, row)));
    let found: Vec<(Case, &Row)> = cases.filter(|(case, row)| view.takes(case, row)).collect();
    let pages = found.len().div_ceil(PAGE).max(1);
    let page = view.page.min(pages - 1);
    let first = page * PAGE;
    let shown = &found[first..found.len().min(first + PAGE)];
    let counts = if found.is_empty() {
        words::accuracy_none(locale).to_owned()
    } else {
        let last = first + shown.len();
        words::accuracy_range(
            locale,
            &found.len().to_string(),
            &(first + 1).to_string(),
            &last.to_string(),
        )
    };
    let names = [
        words::accuracy_case(locale),
        words::accuracy_figure(locale),
        words::accuracy_expected(locale),
        words::accuracy_ours(locale),
        words::accuracy_difference(locale),
        words::accuracy_scenario(locale),
    ];
    let lines = shown.iter().map(|(case, row)| line(case, row, locale, send));
    html! {
        <>
            { filters(book, view, locale, show) }
            { view.group.and_then(|group| book.groups.get(group)).map(|group| about(group, locale)).unwrap_or_default() }
            { scrolled("rows", words::accuracy_rows(locale), head(&names, 2..5), lines.collect()) }
            <nav class="pager" aria-label={words::accuracy_pages(locale)}>
                { turn(words::accuracy_before(locale), page.checked_sub(1), view, show) }
                <p role="status">{counts}</p>
                { turn(words::accuracy_next(locale), (page + 1 < pages).then_some(page + 1), view, show) }
            </nav>
        </>
    }
}

fn about(group: &Group, locale: Locale) -> Html {
    html! { <p class="help">{said(&group.about, locale)}{" "}{words::accuracy_source(locale)}{" "}{source(&group.source)}</p> }
}

fn filters(book: &Book, view: &View, locale: Locale, show: &Callback<View>) -> Html {
    // What a field says, in a view that begins at its first page.
    let changed = |change: fn(View, HtmlInputElement) -> View| {
        let view = View { page: 0, ..view.clone() };
        show.reform(move |event: Event| change(view.clone(), event.target_unchecked_into()))
    };
    let oninput = {
        let onsearch = changed(|view, field| View { text: field.value(), ..view });
        onsearch.reform(Event::from)
    };
    let onfailing = changed(|view, field| View { failing: field.checked(), ..view });
    let ongroup = changed(|view, field| {
        let menu: HtmlSelectElement = JsCast::unchecked_into(field);
        View { group: menu.value().parse().ok(), ..view }
    });
    let option = |(i, group): (usize, &Group)| {
        html! { <option value={i.to_string()} selected={view.group == Some(i)}>{said(&group.title, locale)}</option> }
    };
    html! {
        <div class="accuracy-filters" role="search" aria-label={words::accuracy_filter(locale)}>
            <div class="choice"><label for="accuracy-text">{words::accuracy_filter_text(locale)}</label>
                <input type="text" id="accuracy-text" value={view.text.clone()} {oninput} autocomplete="off" spellcheck="false" /></div>
            // Made anew with another group, or a choice in the strip would not show in it.
            <div class="choice" key={view.group.map_or(0, |group| group + 1)}><label for="accuracy-group">{words::accuracy_group(locale)}</label>
                <select id="accuracy-group" onchange={ongroup}>
                    <option value="" selected={view.group.is_none()}>{words::accuracy_all(locale)}</option>
                    { for book.groups.iter().enumerate().map(option) }
                </select></div>
            <label class="check"><input type="checkbox" checked={view.failing} onchange={onfailing} />{words::accuracy_failing(locale)}</label>
        </div>
    }
}

/// A button to another page; none such, and it is off.
fn turn(words: &'static str, to: Option<usize>, view: &View, show: &Callback<View>) -> Html {
    let view = view.clone();
    let onclick = show.reform(move |_: MouseEvent| {
        // The next page begins at its top.
        let top = window()
            .and_then(|window| window.document())
            .and_then(|document| document.get_element_by_id("accuracy-text"));
        if let Some(top) = top {
            top.scroll_into_view();
        }
        View { page: to.unwrap_or(view.page), ..view.clone() }
    });
    html! { <button disabled={to.is_none()} {onclick}>{words}</button> }
}
