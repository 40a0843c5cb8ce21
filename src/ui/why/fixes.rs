//! What makes a scenario fit: three buttons under the verdict.

use super::buttons;
use super::work::use_work;
use crate::engine::units::Bytes;
use crate::engine::why::nearest::Seeking;
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
    );
    let Some(work) = work else {
        return html! { <p class="hosted-state" role="status">{words::why_nearest_waiting(locale)}</p> };
    };
    let stale = work.stale(&of);
    let found = work.task.borrow().nearest();
    let said = match found.missing {
        _ if found.changes.is_empty() => words::why_nearest_none(locale).to_owned(),
        Bytes::ZERO => words::why_nearest_slow(locale).to_owned(),
        missing => words::why_nearest(locale, &format::bytes(missing)),
    };
    html! {
        <div class={classes!("fixes", stale.then_some("stale"))} aria-busy={stale.to_string()}>
            <p role="status">{said}</p>
            { buttons(&found.changes, locale, stale, send) }
        </div>
    }
}
