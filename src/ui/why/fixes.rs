//! What makes a scenario fit: three buttons under the verdict.

use super::buttons;
use super::work::use_work;
use crate::engine::units::Bytes;
use crate::engine::why::nearest::{Nearest, Seeking};
use crate::scene::format;
use crate::ui::Shared;
use crate::ui::chart::Evaluated;
use crate::ui::store::Msg;
use crate::words::{self, Locale};
use yew::prelude::*;

/// What is to be made to fit.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// The request that it was read from.
    pub request: AttrValue,
    /// Somebody is dragging: looking waits.
    pub busy: bool,
    /// The language.
    pub locale: Locale,
    /// Where a change goes.
    pub send: Callback<Msg>,
}

/// The changes.
#[component]
pub fn Fixes(props: &Props) -> Html {
    let Props { evaluated, request, busy, locale, send } = props;
    let locale = *locale;
    let of = (evaluated.clone(), request.clone());
    let work = use_work(
        &of,
        *busy,
        |(evaluated, request)| {
            // The page's request has been read already.
            let request = serde_json::from_str(request).unwrap_or_default();
            Seeking::new(request, evaluated.scenario.clone(), evaluated.outcome.clone())
        },
        Seeking::advance,
        Seeking::settled,
    );
    let Some(work) = work else {
        return html! { <p class="hosted-state" role="status">{words::why_nearest_waiting(locale)}</p> };
    };
    let stale = work.stale(&of);
    let found = work.task.borrow().nearest();
    let more = found.changes.iter().any(|trial| !trial.complete);
    let more = more.then(|| html! { <p class="quiet">{words::why_nearest_more(locale)}</p> });
    html! {
        <div class={classes!("fixes", stale.then_some("stale"))} aria-busy={stale.to_string()}>
            <p role="status">{said(&found, locale)}</p>
            { buttons(&found.changes, locale, stale, send) }
            { more.unwrap_or_default() }
        </div>
    }
}

/// What is missing, and how many changes there are for it: where there are fewer than are named otherwise, that no more were found.
#[must_use]
pub fn said(found: &Nearest, locale: Locale) -> String {
    let lack = match found.missing {
        Bytes::ZERO => words::why_lack_time(locale).to_owned(),
        missing if found.host => words::why_lack_host(locale, &format::bytes(missing)),
        missing => words::why_lack(locale, &format::bytes(missing)),
    };
    let changes = match found.changes.len() {
        0 => words::why_nearest_none(locale),
        1 => words::why_nearest_one(locale),
        2 => words::why_nearest_two(locale),
        _ => words::why_nearest(locale),
    };
    let between = if locale == Locale::Zh { "" } else { " " };
    format!("{lack}{between}{changes}")
}
