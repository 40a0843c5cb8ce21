//! Short text that is a request, a workload or a config: read on the spot, for it needs no worker. All else, what is wrong with it
//! included, is the reader's.

use super::{Imported, Kind, told_by};
use serde_json::Value;

/// What is read on the spot, in bytes.
pub const SHORT: usize = 64 << 10;

/// What a short text says, if it can be said at once.
#[must_use]
pub fn short(text: &str) -> Option<Imported> {
    if text.len() > SHORT {
        return None;
    }
    let Ok(Value::Object(keys)) = serde_json::from_str(text) else { return None };
    let measured = ["galley", "curve", "curve_all", "traceEvents"];
    if measured.iter().any(|key| keys.contains_key(*key)) {
        return None;
    }
    let kind = told_by(&keys)?;
    (kind != Kind::Profile).then_some(Imported { kind, value: Value::Object(keys), measured: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::import_text;

    #[test]
    fn short_text_says_what_the_reader_says() {
        for text in [
            r#"{"v": 1, "workload": {"preset": "gpt2"}}"#,
            r#"{"kind": "lesson", "layers": 3}"#,
            r#"{"model_type": "gpt2", "n_layer": 3}"#,
        ] {
            assert_eq!(short(text), Some(import_text(text).expect("a file")), "{text}");
        }
    }

    #[test]
    fn all_else_is_the_readers() {
        let long = format!(r#"{{"kind": "lesson", "x": "{}"}}"#, "y".repeat(SHORT));
        for text in [
            "",
            "[]",
            "{",
            "{}",
            r#"{"kind": "profile", "layers": []}"#,
            r#"{"galley": "profile", "v": 1}"#,
            r#"{"traceEvents": []}"#,
            &long,
        ] {
            assert_eq!(short(text), None, "{}", &text[..text.len().min(60)]);
        }
    }
}
