//! What must be said beside the views: a change that was refused, values brought into range, keys that mean nothing here.

use crate::engine::Error;
use crate::engine::error::Clamped;
use crate::words::{self, Locale};
use yew::prelude::*;

/// An error in the reader's language, with the numbers it carries.
#[must_use]
pub fn message(error: &Error, locale: Locale) -> String {
    match error {
        Error::Syntax { line, column, detail } => {
            words::notice_syntax(locale, &column.to_string(), detail, &line.to_string())
        }
        Error::TooLong { given, accepted } => {
            words::notice_too_long(locale, &accepted.to_string(), &given.to_string())
        }
        Error::Unfit { path, given, accepted } => {
            words::notice_unfit(locale, accepted, given, path)
        }
        Error::Missing { path, accepted } => words::notice_missing(locale, accepted, path),
        Error::TooLarge { path, given, accepted } => {
            words::notice_too_large(locale, accepted, given, path)
        }
    }
}

/// What there is to say.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The language.
    pub locale: Locale,
    /// Why the last change was refused.
    pub problem: Option<AttrValue>,
    /// What was brought into range.
    pub clamped: Vec<Clamped>,
    /// Keys that mean nothing here.
    pub ignored: Vec<String>,
    /// The search has no worker.
    pub without_worker: bool,
    /// The model is a pasted profile, which no address carries.
    pub profile: bool,
    /// The notice was read.
    pub ondismiss: Callback<()>,
}

/// The notices; nothing when there are none.
#[component]
pub fn Notices(props: &Props) -> Html {
    let locale = props.locale;
    let clamped = props.clamped.iter().map(|clamped| {
        words::notice_clamped(
            locale,
            &clamped.given.to_string(),
            &clamped.path,
            &clamped.used.to_string(),
        )
    });
    let mut lines: Vec<String> = clamped.collect();
    if !props.ignored.is_empty() {
        lines.push(words::notice_ignored(locale, &props.ignored.join(", ")));
    }
    if props.without_worker {
        lines.push(words::notice_worker(locale).to_owned());
    }
    if props.profile {
        lines.push(words::notice_profile(locale).to_owned());
    }
    let dismissable =
        props.problem.is_some() || !props.clamped.is_empty() || !props.ignored.is_empty();
    html! {
        <div class="notices" aria-live="polite">
            if let Some(problem) = &props.problem {
                <p class="notice problem" role="alert">
                    {words::notice_refused(locale, problem)}{" "}{words::notice_kept(locale)}
                </p>
            }
            { for lines.into_iter().map(|line| html! { <p class="notice">{line}</p> }) }
            if dismissable {
                <button class="quiet" onclick={props.ondismiss.reform(|_| ())}>{words::notice_dismiss(locale)}</button>
            }
        </div>
    }
}
