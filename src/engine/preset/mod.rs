//! Named models and cards. The figures and their sources are data, beside this file.

use super::accepted::Accepted;
use super::error::Error;
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// The model of a request that names none.
pub const DEFAULT_MODEL: &str = "llama-2-7b";
/// The card of a request that names none.
pub const DEFAULT_CARD: &str = "rtx-4090";

/// A table of presets in the order of the menus.
pub type Table = [Map<String, Value>];

fn parse(text: &str) -> Vec<Map<String, Value>> {
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("a preset table: {error}"))
}

/// The cards.
#[must_use]
pub fn cards() -> &'static Table {
    static CARDS: OnceLock<Vec<Map<String, Value>>> = OnceLock::new();
    CARDS.get_or_init(|| parse(include_str!("hardware.json")))
}

/// The models.
#[must_use]
pub fn models() -> &'static Table {
    static MODELS: OnceLock<Vec<Map<String, Value>>> = OnceLock::new();
    MODELS.get_or_init(|| parse(include_str!("model.json")))
}

/// The preset named `id`.
#[must_use]
pub fn find(table: &'static Table, id: &str) -> Option<&'static Map<String, Value>> {
    table.iter().find(|preset| preset.get("id").and_then(Value::as_str) == Some(id))
}

/// The names of a table.
pub fn names(table: &'static Table) -> impl Iterator<Item = &'static str> {
    table.iter().filter_map(|preset| preset.get("id").and_then(Value::as_str))
}

/// What a group starts from: the preset that `given` names; without one, `default` when nothing at all is given.
///
/// # Errors
/// An unknown preset, with the names there are.
pub fn merge(
    group: &str,
    given: Option<&Value>,
    table: &'static Table,
    default: &str,
) -> Result<Map<String, Value>, Error> {
    let named = given.and_then(|object| object.get("preset")).filter(|name| !name.is_null());
    let bare = given
        .and_then(Value::as_object)
        .is_none_or(|object| object.iter().all(|(key, value)| key == "kind" || value.is_null()));
    let id = match named {
        Some(name) => name.as_str().unwrap_or_default(),
        None if bare => default,
        None => return Ok(Map::new()),
    };
    find(table, id).cloned().ok_or_else(|| {
        let accepted = Accepted::OneOf(names(table).map(str::to_owned).collect());
        Error::unfit(format!("{group}.preset"), named.unwrap_or(&Value::Null), accepted)
    })
}
