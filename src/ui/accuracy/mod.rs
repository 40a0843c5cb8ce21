//! "How right is this?": every case that others published or measured, run through this page's engine while the reader looks on. The
//! cases are fetched, and computed, once the section is open; nothing of it weighs on a first visit: the page has the heading
//! ([`super::folded`]), what is under it is drawn by the program `details`.

mod load;
mod row;
mod strip;
mod table;

use super::store::Msg;
use crate::accuracy::case::Words;
use crate::words::{self, Locale};
use load::{Cases, use_cases};
use yew::prelude::*;

/// What of the cases is shown.
#[derive(Clone, Default, PartialEq)]
struct View {
    /// One group alone.
    group: Option<usize>,
    /// Words that a row has.
    text: String,
    /// Only what does not come out.
    failing: bool,
    page: usize,
}

/// The word of a pair in that language.
fn said(words: &Words, locale: Locale) -> AttrValue {
    let word = match locale {
        Locale::En => &words[0],
        Locale::Zh => &words[1],
    };
    AttrValue::from(word.clone())
}

/// The head of a table: texts on the left, then numbers on the right, then texts.
fn head(texts: &[&'static str], numbers: std::ops::Range<usize>) -> Html {
    let cell = |(i, text): (usize, &&'static str)| {
        let class = if numbers.contains(&i) { "num" } else { "" };
        html! { <th scope="col" {class}>{*text}</th> }
    };
    html! { <thead><tr>{ for texts.iter().enumerate().map(cell) }</tr></thead> }
}

/// A cell that says its column's name on a phone.
fn cell(class: &'static str, name: &'static str, text: impl Into<AttrValue>, below: Html) -> Html {
    html! { <td {class} data-name={name}>{text.into()}{below}</td> }
}

/// A table that scrolls sideways where it must.
fn scrolled(class: &'static str, label: &'static str, head: Html, lines: Html) -> Html {
    html! {
        <div class="scroll" tabindex="0" role="region" aria-label={label}>
            <table {class}>{head}<tbody>{lines}</tbody></table>
        </div>
    }
}

/// What the cases need.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The language.
    pub locale: Locale,
    /// Whether the section is open: computing waits while it is not.
    pub open: bool,
    /// Somebody is dragging: computing waits.
    pub busy: bool,
    /// Where a case's scenario goes.
    pub send: Callback<Msg>,
}

/// The cases.
#[component]
pub fn CaseBook(props: &Props) -> Html {
    let Props { locale, open, busy, send } = props;
    let locale = *locale;
    let view = use_state_eq(View::default);
    let cases = use_cases(*open, *busy);
    let show = {
        let view = view.setter();
        Callback::from(move |changed: View| view.set(changed))
    };
    html! {
        if *open {
            { status(&cases, locale) }
            if let Some(book) = &cases.book {
                { strip::groups(book, &cases.rows, &view, locale, &show) }
                { table::rows(book, &cases.rows, &view, locale, &show, send) }
            }
        }
    }
}

/// How far it is, or why not.
fn status(cases: &Cases, locale: Locale) -> Html {
    let (all, done) = (cases.all(), cases.done);
    let text = if let Some(problem) = &cases.problem {
        words::accuracy_failed(locale, problem)
    } else if cases.book.is_none() {
        words::accuracy_fetching(locale).to_owned()
    } else if done < all {
        words::accuracy_computing(locale, &all.to_string(), &done.to_string())
    } else {
        let hold = cases.rows.iter().filter(|row| row.holds).count();
        words::accuracy_come_out(locale, &cases.rows.len().to_string(), &hold.to_string())
    };
    let moving = cases.problem.is_none() && (all == 0 || done < all);
    html! {
        <div class="accuracy-status" aria-busy={moving.to_string()}>
            <p role={if cases.problem.is_some() { "alert" } else { "status" }}>{text}</p>
            if moving {
                <progress max={all.max(1).to_string()} value={done.to_string()} aria-labelledby="accuracy-title" />
            }
        </div>
    }
}
