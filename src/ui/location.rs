//! The address: the only place that touches history. A committed decision is one entry; an embedded page replaces, or the
//! host's Back button would fill up. Every call may fail, and then the page goes on without.

use crate::link::{self, Link, View};
use crate::words::Locale;
use gloo::events::EventListener;
use serde_json::Value;
use wasm_bindgen::JsValue;
use web_sys::window;

/// What the address says.
#[must_use]
pub fn read() -> Link {
    let location = window().map(|window| window.location());
    let part =
        |text: Option<Result<String, JsValue>>| text.and_then(Result::ok).unwrap_or_default();
    let query = part(location.as_ref().map(web_sys::Location::search));
    let fragment = part(location.as_ref().map(web_sys::Location::hash));
    link::read(&query, &fragment)
}

/// The browser's language.
#[must_use]
pub fn browser_locale() -> Locale {
    let tag = window().and_then(|window| window.navigator().language());
    Locale::from_tag(&tag.unwrap_or_default())
}

/// Writes a request and a view into the address, unless it says so already; `in_place` of the last entry where the same knob
/// is turned on.
pub fn write(request: &Value, view: &View, in_place: bool) {
    let Some(window) = window() else { return };
    let fragment = format!("#{}", link::write(request, view));
    if window.location().hash().is_ok_and(|hash| hash == fragment) {
        return;
    }
    let Ok(history) = window.history() else { return };
    // Refused (Safari after a hundred calls in ten seconds): the page goes on, the next commit tries again.
    let _refused = if view.embed || in_place {
        history.replace_state_with_url(&JsValue::NULL, "", Some(&fragment))
    } else {
        history.push_state_with_url(&JsValue::NULL, "", Some(&fragment))
    };
}

/// Calls back when the reader goes back, forward, or edits the address.
#[must_use]
pub fn listen(changed: impl Fn(Link) + Clone + 'static) -> Option<[EventListener; 2]> {
    let window = window()?;
    let on = |event: &'static str| {
        let changed = changed.clone();
        EventListener::new(&window, event, move |_| changed(read()))
    };
    Some([on("popstate"), on("hashchange")])
}
