//! The program `details`: what nobody needs at first, drawn into places of the page (`hosted`). It has an engine of its own
//! and evaluates the page's request again, once for each text.

use super::accuracy::CaseBook;
use super::best;
use super::chart::Evaluated;
use super::control::{Expert, Fitting};
use super::explain::Sheet;
use super::helps::Helps;
use super::hosted::{Said, said};
use super::inverse::Questions;
use super::shared::Shared;
use super::store::Msg;
use super::why::Fixes;
use crate::engine::{Policy, PolicyKind, Scenario};
use crate::explain::Subject;
use crate::words::Locale;
use js_sys::Function;
use serde::Deserialize;
use serde_json::Value;
use std::cell::RefCell;
use wasm_bindgen::JsValue;
use web_sys::{Element, HtmlElement, window};
use yew::{
    AppHandle, Callback, Html, Properties, Renderer, component, html, use_callback, use_memo,
};

/// What is drawn in a place.
#[derive(Clone, PartialEq, Properties)]
struct Props {
    kind: String,
    json: String,
    anchor: Option<HtmlElement>,
    send: Callback<Said>,
}

/// A place in the page.
struct Place {
    element: Element,
    send: Callback<Said>,
    app: AppHandle<Root>,
}

thread_local! {
    static PLACES: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
    /// The last request and plan, and what they come to.
    static LAST: RefCell<Option<(String, Value, Shared<Evaluated>)>> = const { RefCell::new(None) };
}

/// Draws a part (`cases`, `fit`, `fixes`, `inverse`, `map`, `settings` or `sheet`) of what `json` says into `element`, or draws it anew; `tell` takes what
/// `hosted::heard` reads.
pub fn show(
    element: &Element,
    kind: String,
    json: String,
    anchor: Option<HtmlElement>,
    tell: Function,
) {
    PLACES.with_borrow_mut(|places| {
        if let Some(place) = places.iter_mut().find(|place| place.element == *element) {
            let send = place.send.clone();
            place.app.update(Props { kind, json, anchor, send });
            return;
        }
        if places.is_empty() {
            stand_apart();
        }
        let send = Callback::from(move |one: Said| {
            if let Some(text) = said(&one) {
                // A page that does not listen any more has closed this place.
                let _closed = tell.call1(&JsValue::NULL, &text.into());
            }
        });
        let props = Props { kind, json, anchor, send: send.clone() };
        let app = Renderer::<Root>::with_root_and_props(element.clone(), props).render();
        places.push(Place { element: element.clone(), send, app });
    });
}

/// Leaves a place.
pub fn leave(element: &Element) {
    let place = PLACES.with_borrow_mut(|places| {
        let at = places.iter().position(|place| place.element == *element)?;
        Some(places.swap_remove(at))
    });
    if let Some(place) = place {
        place.app.destroy();
    }
}

/// Yew numbers the roots of a program from 1 and marks elements with them, to tell whose events are whose. The page's own root is 1 of
/// its program, so that none of this one may be: a number is spent on an element that is in no document.
fn stand_apart() {
    let element = window().and_then(|window| window.document()?.create_element("div").ok());
    if let Some(element) = element {
        Renderer::<Nothing>::with_root(element).render().destroy();
    }
}

#[component]
fn Nothing() -> Html {
    Html::default()
}

/// What the request comes to, under `best` with the plan that the page shows; none for one that does not read.
fn evaluated(request: &str, shown: &Value) -> Option<Shared<Evaluated>> {
    let last = LAST.with_borrow(Clone::clone);
    if let Some((_, _, evaluated)) = last.filter(|last| last.0 == request && last.1 == *shown) {
        return Some(evaluated);
    }
    let (scenario, notes) = Scenario::parse(request).ok()?;
    let policy = Policy::of_value(shown).ok().filter(|_| scenario.asks_for_best());
    let evaluated = match policy {
        Some(policy) => best::shown(scenario, notes, policy),
        None => best::evaluated(scenario, notes, &Policy::new(PolicyKind::Keep)),
    };
    LAST.set(Some((request.to_owned(), shown.clone(), evaluated.clone())));
    Some(evaluated)
}

/// The part itself.
#[component]
fn Root(props: &Props) -> Html {
    let asked = use_memo(props.json.clone(), |json| {
        serde_json::from_str::<Value>(json).unwrap_or_default()
    });
    let text = |key: &str| asked[key].as_str().unwrap_or_default();
    let is = |key: &str| asked[key] == true;
    let locale = Locale::from_tag(text("locale"));
    let request = text("request");
    // The same one for as long as the page listens, or everything would be drawn at every turn of a knob.
    let send = use_callback(props.send.clone(), |msg: Msg, send| send.emit(Said::Do(msg.into())));
    let onclose = use_callback(props.send.clone(), |(), send| send.emit(Said::Closed));
    let busy = is("busy");
    if props.kind == "cases" {
        return html! { <CaseBook {locale} open={is("open")} {busy} {send} /> };
    }
    let Some(evaluated) = evaluated(request, &asked["shown"]) else { return Html::default() };
    match props.kind.as_str() {
        "fit" => {
            let (open, policy) = (is("open"), evaluated.scenario.policy.kind);
            html! { <Fitting {locale} {open} request={request.to_owned()} {policy} {send} /> }
        }
        "inverse" if is("open") => {
            html! { <Questions {evaluated} request={request.to_owned()} {locale} {busy} {send} /> }
        }
        "fixes" => {
            let request = request.to_owned();
            html! { <Fixes {evaluated} {request} {busy} {locale} {send} /> }
        }
        "map" => html! { <Helps {evaluated} {locale} open={is("open")} {busy} {send} /> },
        "settings" if is("open") => html! { <Expert {evaluated} {locale} {send} /> },
        "sheet" => match Subject::deserialize(&asked["subject"]).ok().zip(props.anchor.clone()) {
            Some((subject, anchor)) => {
                let request = request.to_owned();
                html! { <Sheet {locale} {evaluated} {subject} {request} {send} {anchor} {onclose} /> }
            }
            None => Html::default(),
        },
        _ => Html::default(),
    }
}
