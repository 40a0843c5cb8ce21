//! A request as a value, edited by dotted paths.

use serde_json::{Value, json};

/// Sets a dotted path, making the objects on the way.
pub fn set(value: &mut Value, path: &str, new: Value) {
    let mut at = value;
    let mut keys = path.split('.').peekable();
    while let Some(key) = keys.next() {
        if !at.is_object() {
            *at = json!({});
        }
        let Value::Object(map) = at else { return };
        if keys.peek().is_none() {
            map.insert(key.to_owned(), new);
            return;
        }
        at = map.entry(key).or_insert_with(|| json!({}));
    }
}

/// Removes a dotted path, if it is there.
pub fn remove(value: &mut Value, path: &str) {
    let (parent, key) = path.rsplit_once('.').unwrap_or(("", path));
    let parent =
        parent.split('.').filter(|key| !key.is_empty()).try_fold(value, |at, key| at.get_mut(key));
    if let Some(Value::Object(map)) = parent {
        map.remove(key);
    }
}
