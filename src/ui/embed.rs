//! Inside somebody else's page: without header and menus, telling the host how high it is. The only place that posts
//! messages. Whole pixels, only on a change of more than one, or the frame would grow for ever.

use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;
use web_sys::window;

/// Tells the host that the page is `height` CSS pixels high; `origin` of the host is unknown, and the message holds nothing
/// private.
pub fn tell_height(height: f64) {
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
