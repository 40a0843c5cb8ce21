//! A folded section of the page whose inside the program `details` draws, once it has been open. Closed again it keeps what was typed.

use super::hosted::{Hosted, Said};
use super::shared::Shared;
use super::store::Msg;
use crate::engine::Policy;
use crate::words::Locale;
use serde_json::json;
use web_sys::HtmlDetailsElement;
use yew::prelude::*;

/// What is folded.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// Which part: `cases`, `fit`, `map` or `settings` (`details`).
    pub kind: &'static str,
    /// Of the box.
    #[prop_or_default]
    pub class: Classes,
    /// What is there while it is folded.
    pub title: Html,
    /// The request in force, as text.
    pub request: Shared<String>,
    /// The plan shown, where the request does not say it.
    #[prop_or_default]
    pub shown: Option<Shared<Policy>>,
    /// Somebody is dragging.
    #[prop_or_default]
    pub busy: bool,
    /// The language.
    pub locale: Locale,
    /// Told of what the reader decides in it.
    pub send: Callback<Msg>,
}

/// The section.
#[component]
pub fn Folded(props: &Props) -> Html {
    let Props { kind, class, title, request, shown, busy, locale, send } = props;
    let open = use_state_eq(|| None::<bool>);
    let ontoggle = {
        let open = open.setter();
        Callback::from(move |event: Event| {
            open.set(Some(event.target_unchecked_into::<HtmlDetailsElement>().open()));
        })
    };
    let onsaid = use_callback(send.clone(), |said: Said, send| {
        if let Said::Do(msg) = said {
            send.emit(*msg);
        }
    });
    let place = |open: bool| {
        let asked = json!({"locale": locale.tag(), "request": **request, "shown": shown.as_deref(), "busy": busy, "open": open});
        html! { <Hosted {kind} json={asked.to_string()} locale={*locale} {onsaid} /> }
    };
    html! {
        <details class={class.clone()} {ontoggle}>
            <summary>{title.clone()}</summary>
            { (*open).map(place).unwrap_or_default() }
        </details>
    }
}
