//! The JavaScript door of the JSON interface: text in, text out, errors as `{"error": …}`.

use galley::engine::{door, schema};
use galley::ui::planner;
use wasm_bindgen::prelude::wasm_bindgen;

/// The outcome of a scenario.
#[wasm_bindgen]
#[must_use]
pub fn evaluate(json: &str) -> String {
    door::text(&door::evaluate(json))
}

/// The points of a scenario's family.
#[wasm_bindgen]
#[must_use]
pub fn front(json: &str) -> String {
    door::text(&door::simulated_front(json))
}

/// The best plan.
#[wasm_bindgen]
#[must_use]
pub fn plan(json: &str) -> String {
    door::text(&door::simulated_plan(json))
}

/// Every key of a request, and what the answers hold.
#[wasm_bindgen]
#[must_use]
pub fn schema() -> String {
    schema::schema().to_string()
}

/// The numbers of a front without its policies: what the page's own worker asks for.
#[wasm_bindgen]
#[must_use]
pub fn survey(json: &str) -> String {
    planner::survey(json).unwrap_or_else(|error| error.to_json())
}
