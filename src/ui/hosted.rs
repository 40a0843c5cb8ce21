//! The place in the page of what the program `details` draws: that is fetched when the first of its places shows itself. What it needs
//! goes in as JSON, what comes of it back as an event of the place's element ([`said`], [`heard`]). Until it is there the place
//! says so; where it cannot be had, why, and offers to try again.

use super::store::Msg;
use crate::import::{Imported, Kind};
use crate::words::{self, Locale};
use gloo::events::EventListener;
use serde_json::{Value, json};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CustomEvent, Element, HtmlElement};
use yew::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// `galleyDetails` of static/boot.js.
    #[wasm_bindgen(js_namespace = galleyDetails, catch)]
    fn show(
        place: &Element,
        kind: &str,
        json: &str,
        anchor: Option<HtmlElement>,
    ) -> Result<(), JsValue>;
    #[wasm_bindgen(js_namespace = galleyDetails, catch, js_name = drop)]
    fn let_go(place: &Element) -> Result<(), JsValue>;
}

/// What is said at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// It is drawn.
    Ready,
    /// The program cannot be had.
    Failed,
    /// It wants to be closed.
    Closed,
    /// The page has something to do.
    Do(Box<Msg>),
}

/// As the event's detail; none for what only the page itself does.
#[must_use]
pub fn said(said: &Said) -> Option<String> {
    let value = match said {
        Said::Ready => json!("ready"),
        Said::Failed => json!("failed"),
        Said::Closed => json!("closed"),
        Said::Do(msg) => match &**msg {
            Msg::Commit(changes) => json!(changes),
            Msg::Import(Imported { kind: Kind::Scenario, value, measured: None }) => {
                json!({"scenario": value})
            }
            _ => return None,
        },
    };
    Some(value.to_string())
}

/// From the event's detail; none for what [`said`] did not write.
#[must_use]
pub fn heard(detail: &str) -> Option<Said> {
    match serde_json::from_str(detail).ok()? {
        Value::String(word) => match word.as_str() {
            "ready" => Some(Said::Ready),
            "failed" => Some(Said::Failed),
            "closed" => Some(Said::Closed),
            _ => None,
        },
        Value::Array(changes) => {
            let change = |change: &Value| Some((change[0].as_str()?.to_owned(), change[1].clone()));
            let changes = changes.iter().map(change).collect::<Option<_>>()?;
            Some(Said::Do(Msg::Commit(changes).into()))
        }
        mut value => {
            let value = value.get_mut("scenario")?.take();
            let scenario = Imported { kind: Kind::Scenario, value, measured: None };
            Some(Said::Do(Msg::Import(scenario).into()))
        }
    }
}

/// What a place shows.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// Which part: `cases`, `fit`, `fixes`, `settings` or `sheet` (`details`).
    pub kind: &'static str,
    /// What it needs, as JSON.
    pub json: AttrValue,
    /// The element that it hangs on, if it hangs on one.
    #[prop_or_default]
    pub anchor: Option<HtmlElement>,
    /// The language.
    pub locale: Locale,
    /// Told of all that is said there.
    pub onsaid: Callback<Said>,
}

/// The place.
#[component]
pub fn Hosted(props: &Props) -> Html {
    let Props { kind, json, anchor, locale, onsaid } = props;
    let node = use_node_ref();
    let state = use_state_eq(|| None::<Said>);
    let tries = use_state(|| 0);
    {
        let (node, state) = (node.clone(), state.setter());
        use_effect_with(onsaid.clone(), move |onsaid| {
            let onsaid = onsaid.clone();
            let listener = node.cast::<Element>().map(|place| {
                EventListener::new(&place, "galley-details", move |event| {
                    let detail = event.dyn_ref::<CustomEvent>().map(CustomEvent::detail);
                    match detail.and_then(|detail| heard(&detail.as_string()?)) {
                        Some(said @ (Said::Ready | Said::Failed)) => state.set(Some(said)),
                        Some(said) => onsaid.emit(said),
                        None => {}
                    }
                })
            });
            move || drop(listener)
        });
    }
    {
        let (node, state, kind) = (node.clone(), state.setter(), *kind);
        let wanted = (json.clone(), anchor.clone(), *tries);
        use_effect_with(wanted, move |(json, anchor, _)| {
            let shown =
                node.cast::<Element>().map(|place| show(&place, kind, json, anchor.clone()));
            // Without the page's starter there is nobody to ask.
            if let Some(Err(_)) = shown {
                state.set(Some(Said::Failed));
            }
        });
    }
    {
        let node = node.clone();
        use_effect_with((), move |()| {
            let place = node.cast::<Element>();
            move || {
                let _nobody_there = place.map(|place| let_go(&place));
            }
        });
    }
    let onagain = {
        let state = state.setter();
        Callback::from(move |_: MouseEvent| {
            state.set(None);
            tries.set(*tries + 1);
        })
    };
    // What hangs on a number goes when it is not wanted any more, and the number has the focus again.
    let close = anchor.clone().map(|anchor| {
        let onclick = onsaid.reform(move |_: MouseEvent| {
            // A number that is already gone needs none.
            let _gone = anchor.focus();
            Said::Closed
        });
        html! { <button type="button" class="icon quiet" {onclick} aria-label={words::explain_close(*locale)}>{"×"}</button> }
    });
    let waiting = match &*state {
        Some(Said::Ready) => Html::default(),
        Some(_) => html! {
            <p class="hosted-state problem" role="alert">{words::details_failed(*locale)}{" "}
                <button type="button" onclick={onagain}>{words::details_again(*locale)}</button>{close}</p>
        },
        None => {
            html! { <p class="hosted-state" role="status">{words::details_loading(*locale)}</p> }
        }
    };
    html! { <>{waiting}<div ref={node} class="hosted"></div></> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_heard_is_what_was_said() {
        let changes =
            vec![("hardware.efficiency".to_owned(), json!(0.25)), ("x".to_owned(), Value::Null)];
        let value = json!({"v": 1, "workload": {"preset": "gpt2"}});
        let scenario = Imported { kind: Kind::Scenario, value, measured: None };
        let all = [
            Said::Ready,
            Said::Failed,
            Said::Closed,
            Said::Do(Msg::Commit(changes).into()),
            Said::Do(Msg::Commit(Vec::new()).into()),
            Said::Do(Msg::Import(scenario).into()),
        ];
        for one in all {
            let text = said(&one).expect("this can be said");
            assert_eq!(heard(&text), Some(one), "{text}");
        }
        assert_eq!(said(&Said::Do(Msg::Reset.into())), None, "the page's own business");
        for text in ["", "7", "null", "\"gone\"", "[[1, 2]]", "[3]", "{}"] {
            assert_eq!(heard(text), None, "{text}");
        }
    }
}
