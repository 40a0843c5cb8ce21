//! The JavaScript door of the JSON interface: text in, text out, errors as `{"error": …}`.

use galley::engine::{door, schema};
use galley::ui::searching::{self, Kind};
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

/// Starts a search of the page's own worker, of a plan or of the family: an error as text where the request does not read.
#[wasm_bindgen]
#[must_use]
pub fn begin(plan: bool, json: &str) -> Option<String> {
    searching::begin(kind(plan), json).err().map(|error| error.to_json())
}

/// Goes on with it for so many milliseconds: what is new as text, perhaps nothing; none once it has ended.
#[wasm_bindgen]
#[must_use]
pub fn go_on(plan: bool, ms: f64) -> Option<String> {
    searching::go_on(kind(plan), ms)
}

const fn kind(plan: bool) -> Kind {
    if plan { Kind::Plan } else { Kind::Survey }
}
