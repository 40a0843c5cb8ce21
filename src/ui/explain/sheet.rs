//! The sheet that explains a number: anchored to it on a wide screen, from the bottom on a narrow one. It lies above the page, so
//! nothing jumps; Escape, the button and a tap beside it close it.

use super::math::{Book, shown, title};
use crate::explain::{Asked, Subject, explain};
use crate::ui::Shared;
use crate::ui::chart::{Evaluated, layer_name};
use crate::ui::store::Msg;
use crate::ui::why::{Highest, sentence, tensors};
use crate::words::{self, Locale};
use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, Node, window};
use yew::prelude::*;

/// What the sheet explains.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// The language.
    pub locale: Locale,
    /// The number.
    pub subject: Subject,
    /// The request that the scenario was read from.
    pub request: AttrValue,
    /// Where a change goes.
    pub send: Callback<Msg>,
    /// Where it stands.
    pub anchor: HtmlElement,
    /// Told that it is to be closed.
    pub onclose: Callback<()>,
}

/// The sheet.
#[component]
pub fn Sheet(props: &Props) -> Html {
    let Props { evaluated, locale, subject, anchor, onclose, .. } = props;
    let (node, locale) = (use_node_ref(), *locale);
    // From the number that was tapped, deeper into its formula, and back.
    let way = use_state_eq(Vec::<Subject>::new);
    {
        let way = way.setter();
        use_effect_with((*subject, anchor.clone()), move |_| way.set(Vec::new()));
    }
    let current = way.last().copied().unwrap_or(*subject);
    let derived = use_memo((evaluated.clone(), current), |(evaluated, subject)| {
        let Evaluated { scenario, outcome, notes } = &**evaluated;
        explain(Asked { scenario, outcome, settings: &notes.settings }, *subject).map(Shared::new)
    });
    use_place(&node, anchor, current);
    use_dismissed(&node, anchor, onclose);
    let onask = {
        let way = way.clone();
        Callback::from(move |subject: Subject| {
            let mut longer = (*way).clone();
            longer.push(subject);
            way.set(longer);
        })
    };
    let onback = {
        let way = way.clone();
        Callback::from(move |_: MouseEvent| {
            let mut shorter = (*way).clone();
            shorter.pop();
            way.set(shorter);
        })
    };
    let close = {
        let (onclose, anchor) = (onclose.clone(), anchor.clone());
        Callback::from(move |_: MouseEvent| {
            onclose.emit(());
            focus(&anchor);
        })
    };
    let Some(derivation) = (*derived).clone() else { return Html::default() };
    let first = &derivation.lines[0];
    html! {
        <div ref={node} class="explain" role="dialog" aria-labelledby="explain-title" tabindex="-1">
            <div class="explain-head">
                if !way.is_empty() {
                    <button type="button" class="icon quiet" onclick={onback} aria-label={words::explain_back(locale)}>{"←"}</button>
                }
                <h2 id="explain-title"><span class="aside">{words::explain_title(locale)}{": "}</span>
                    { whose(evaluated, current, locale) }{title(&first.name, locale)}{" "}<b class="num">{shown(first.value, first.unit)}</b></h2>
                <button type="button" class="icon quiet" onclick={close} aria-label={words::explain_close(locale)}>{"×"}</button>
            </div>
            <Book {derivation} {locale} {onask} />
            { why(props, current) }
        </div>
    }
}

/// Beside the formula of a peak what sets it, beside that of a tensor what decided.
fn why(props: &Props, subject: Subject) -> Html {
    let Props { evaluated, locale, request, send, .. } = props;
    match subject {
        Subject::Peak | Subject::Unmoved => {
            html! { <Highest evaluated={evaluated.clone()} {request} locale={*locale} {send} /> }
        }
        Subject::LayerSaved(layer) => tensors(evaluated, layer, *locale),
        Subject::Saved(layer, tensor) => {
            let said = sentence(evaluated, layer, tensor, *locale);
            html! { if let Some(said) = said { <h3>{words::why_one(*locale)}</h3><p>{said}</p> } }
        }
        _ => Html::default(),
    }
}

/// The layer that a number is of.
fn whose(evaluated: &Evaluated, subject: Subject, locale: Locale) -> Html {
    let (Subject::LayerSaved(layer) | Subject::Cost(layer, _)) = subject else {
        return Html::default();
    };
    evaluated.scenario.chain.layers.get(layer).map_or_else(Html::default, |layer| {
        html! { <>{layer_name(locale, &layer.name)}{" · "}</> }
    })
}

fn focus(element: &HtmlElement) {
    // A number that is already gone needs none.
    let _gone = element.focus();
}

/// Puts the sheet below its number, or above where there is more room, and gives it the focus.
#[hook]
fn use_place(node: &NodeRef, anchor: &HtmlElement, current: Subject) {
    let node = node.clone();
    use_effect_with((anchor.clone(), current), move |(anchor, _)| {
        if let Some(sheet) = node.cast::<HtmlElement>() {
            sheet.set_scroll_top(0);
            place(&sheet, anchor);
            focus(&sheet);
        }
    });
}

/// Between the sheet and its number, and the window's edge.
const MARGIN: f64 = 8.0;

fn place(sheet: &HtmlElement, anchor: &HtmlElement) {
    let Some(window) = window() else { return };
    let size = |length: Result<wasm_bindgen::JsValue, _>| {
        length.ok().and_then(|n| n.as_f64()).unwrap_or(0.0)
    };
    let (width, height) = (size(window.inner_width()), size(window.inner_height()));
    let style = sheet.style();
    // As high as it wants to be, first.
    let _kept = style.remove_property("--room");
    let (at, own) = (anchor.get_bounding_client_rect(), sheet.get_bounding_client_rect());
    let x = at.left().min(width - own.width() - MARGIN).max(MARGIN);
    let (above, below) = (at.top() - 2.0 * MARGIN, height - at.bottom() - 2.0 * MARGIN);
    let under = own.height() <= below || below >= above;
    let room = if under { below } else { above };
    let y = if under { at.bottom() + MARGIN } else { at.top() - MARGIN - own.height().min(room) };
    // The verdict stays while the page scrolls, and so does what hangs on it.
    let pinned = anchor.closest(".verdict").ok().flatten().is_some();
    let (left, top) = if pinned {
        (0.0, 0.0)
    } else {
        (window.scroll_x().unwrap_or(0.0), window.scroll_y().unwrap_or(0.0))
    };
    for (name, value) in [("--x", x + left), ("--y", y + top), ("--room", room)] {
        let _kept = style.set_property(name, &format!("{value}px"));
    }
    let _kept = sheet.class_list().toggle_with_force("pinned", pinned);
}

/// Closes on Escape, giving the focus back, and on a press anywhere else.
#[hook]
fn use_dismissed(node: &NodeRef, anchor: &HtmlElement, onclose: &Callback<()>) {
    let node = node.clone();
    use_effect_with((anchor.clone(), onclose.clone()), move |(anchor, onclose)| {
        let document = window().and_then(|window| window.document());
        let listeners = document.map(|document| {
            let escape = {
                let (anchor, onclose) = (anchor.clone(), onclose.clone());
                move |event: &web_sys::Event| {
                    if event.dyn_ref::<KeyboardEvent>().is_some_and(|event| event.key() == "Escape")
                    {
                        event.stop_propagation();
                        onclose.emit(());
                        focus(&anchor);
                    }
                }
            };
            let press = {
                let (anchor, onclose) = (anchor.clone(), onclose.clone());
                move |event: &web_sys::Event| {
                    let target = event.target().and_then(|target| target.dyn_into::<Node>().ok());
                    let inside = |node: Option<Node>| {
                        node.is_some_and(|node| node.contains(target.as_ref()))
                    };
                    // The number itself toggles.
                    if !inside(node.cast::<Node>()) && !inside(Some(anchor.clone().into())) {
                        onclose.emit(());
                    }
                }
            };
            let first = EventListenerOptions {
                phase: gloo::events::EventListenerPhase::Capture,
                passive: true,
            };
            [
                EventListener::new_with_options(&document, "keydown", first, escape),
                EventListener::new_with_options(&document, "pointerdown", first, press),
            ]
        });
        move || drop(listeners)
    });
}
