//! The place under the verdict of what makes a scenario fit: there where it does not, drawn by the program `details`. While a slider is
//! dragged it stays as it was, so that nothing jumps under the hand.

use super::hosted::{Hosted, Said};
use super::shared::Shared;
use super::store::Msg;
use crate::engine::Policy;
use crate::words::Locale;
use serde_json::json;
use yew::prelude::*;

/// What does not fit.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// Whether it does.
    pub fits: bool,
    /// The request in force, as text.
    pub request: Shared<String>,
    /// The plan shown, where the request does not say it.
    pub shown: Option<Shared<Policy>>,
    /// Somebody is dragging.
    pub busy: bool,
    /// The language.
    pub locale: Locale,
    /// Told of the change that is chosen.
    pub send: Callback<Msg>,
}

/// The place.
#[component]
pub fn Misfit(props: &Props) -> Html {
    let Props { fits, request, shown, busy, locale, send } = props;
    let last = use_mut_ref(|| None::<(Shared<String>, Option<Shared<Policy>>)>);
    if !busy {
        *last.borrow_mut() = (!fits).then(|| (request.clone(), shown.clone()));
    }
    let onsaid = use_callback(send.clone(), |said: Said, send| {
        if let Said::Do(msg) = said {
            send.emit(*msg);
        }
    });
    let last = last.borrow().clone();
    let place = |(request, shown): (Shared<String>, Option<Shared<Policy>>)| {
        let json = json!({"locale": locale.tag(), "request": *request, "shown": shown.as_deref(), "busy": busy});
        html! { <div class="misfit"><Hosted kind="fixes" json={json.to_string()} locale={*locale} {onsaid} /></div> }
    };
    last.map_or_else(Html::default, place)
}
