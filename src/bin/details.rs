//! The program of what nobody needs at first: static/boot.js fetches it when a number is asked about or a folded section opened.

use galley::engine::{door, why};
use galley::ui::details;
use js_sys::Function;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Element, HtmlElement};

/// Draws a part into a place of the page, or draws it anew: [`details::show`].
#[wasm_bindgen]
pub fn show(
    element: &Element,
    kind: String,
    json: String,
    anchor: Option<HtmlElement>,
    tell: Function,
) {
    details::show(element, kind, json, anchor, tell);
}

/// Leaves a place of the page.
#[wasm_bindgen]
pub fn leave(element: &Element) {
    details::leave(element);
}

/// The free knobs, fitted to measured numbers.
#[wasm_bindgen]
#[must_use]
pub fn calibrate(json: &str) -> String {
    door::text(&door::calibrate(json))
}

/// The setting that comes to what is wanted.
#[wasm_bindgen]
#[must_use]
pub fn inverse(json: &str) -> String {
    door::text(&door::inverse(json))
}

/// The nearest changes that make a scenario fit.
#[wasm_bindgen]
#[must_use]
pub fn nearest(json: &str) -> String {
    door::text(&why::answer::nearest(json))
}

/// The best plan, of the additive model too.
#[wasm_bindgen(js_name = exactPlan)]
#[must_use]
pub fn exact_plan(json: &str) -> String {
    door::text(&door::plan(json))
}

/// The front, of the additive model too.
#[wasm_bindgen(js_name = exactFront)]
#[must_use]
pub fn exact_front(json: &str) -> String {
    door::text(&door::front(json))
}

fn main() {
    console_error_panic_hook::set_once();
}
