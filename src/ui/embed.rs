//! Inside somebody else's page: without header and menus, telling the host how high it is. The only place that posts
//! messages. Whole pixels, only on a change of more than one, or the frame would grow for ever.

use super::width::Observed;
use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;
use web_sys::{Element, window};
use yew::prelude::*;

/// While embedded, tells the host the height of the element at `node`, which must not depend on the viewport's.
#[hook]
pub fn use_told_height(node: &NodeRef, embedded: bool) {
    let node = node.clone();
    use_effect_with(embedded, move |&embedded| {
        let element = node.cast::<Element>().filter(|_| embedded);
        let mut told = 0.0_f64;
        let observed = element.and_then(|element| {
            Observed::start(&element, move |element| {
                let height = element.get_bounding_client_rect().height().ceil();
                if (height - told).abs() > 1.0 {
                    told = height;
                    tell_height(height);
                }
            })
        });
        move || drop(observed)
    });
}

/// The host's origin is unknown, and the message holds nothing private.
fn tell_height(height: f64) {
    let Some(window) = window() else { return };
    let Ok(Some(parent)) = window.parent() else { return };
    if parent == window {
        return;
    }
    let message = Object::new();
    let _own = Reflect::set(&message, &"type".into(), &"galley:height".into());
    let _own = Reflect::set(&message, &"height".into(), &JsValue::from_f64(height));
    // A host that cannot be told stays as high as it is.
    let _refused = parent.post_message(&message, "*");
}
