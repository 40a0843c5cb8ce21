//! Editing a request, the JSON that a scenario is read from. PURE: the page's knobs, the link and a paste all go through
//! here. Principal type [`Request`]; its law: what it holds has been read without error, clamped values replaced by those used.

use crate::engine::door;
use crate::engine::edit::remove;
pub use crate::engine::edit::set;
use crate::engine::error::{Error, Notes};
use crate::engine::workload::huggingface;
use crate::engine::{Policy, Scenario};
use crate::import::{Imported, Kind};
use serde_json::{Map, Value, json};

/// What the menu of models calls the textbook's uniform layers: 24 of 2 GB and 0.1 s, as its worked epoch has them.
pub const LESSON: &str = "lesson";

/// A number as people type it: `0.5`, `.5`, `+3e8`; none for what is no finite number. It is read as JSON's are: the standard library's
/// reader with its tables would be 12 kB of the page.
#[must_use]
pub fn number(text: &str) -> Option<f64> {
    let (minus, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let first = digits.strip_prefix('.').unwrap_or(digits);
    if !first.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    // JSON wants one zero before a point, and none before other digits.
    let digits = digits.trim_start_matches('0');
    let digits = digits.strip_suffix('.').unwrap_or(digits);
    let zero = if digits.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
    serde_json::from_str(&format!("{minus}{zero}{digits}")).ok()
}

/// A request that reads without error.
#[derive(Clone, Debug, PartialEq)]
pub struct Request(Value);

/// A request with what came of reading it.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The request, clamped values replaced.
    pub request: Request,
    /// The scenario.
    pub scenario: Scenario,
    /// What was tolerated.
    pub notes: Notes,
}

impl Request {
    /// The worked scenario that the page opens with: a 7 B model fine-tuned with LoRA on a 24 GiB card, where keeping
    /// everything does not fit.
    #[must_use]
    pub fn opening() -> Value {
        json!({
            "v": 1,
            "workload": {"preset": "llama-2-7b"},
            "training": {"lora_rank": 16},
            "hardware": {"preset": "rtx-4090"},
            "policy": {"kind": "mix", "k": 4, "beta": 0.5},
        })
    }

    /// Reads a value. What only the additive model answers is refused: every number on the page is the simulation's.
    ///
    /// # Errors
    /// As [`Scenario::read`] and [`door::simulated`].
    pub fn read(mut value: Value) -> Result<Reading, Error> {
        door::simulated(&value)?;
        let (scenario, notes) = Scenario::read(&value)?;
        for clamped in &notes.clamped {
            set(&mut value, &clamped.path, clamped.used.clone());
        }
        for path in &notes.ignored {
            remove(&mut value, path);
        }
        Ok(Reading { request: Self(value), scenario, notes })
    }

    /// The value itself.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.0
    }

    /// The value at a dotted path, if it is set.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Value> {
        path.split('.').try_fold(&self.0, |value, key| value.get(key))
    }

    /// With these paths set (null unsets).
    ///
    /// # Errors
    /// As [`Scenario::read`]; the request itself stays as it is.
    pub fn with(&self, changes: &[(&str, Value)]) -> Result<Reading, Error> {
        let mut value = self.0.clone();
        for (path, new) in changes {
            if new.is_null() {
                remove(&mut value, path);
            } else {
                set(&mut value, path, new.clone());
            }
            let_go(&mut value, path);
        }
        Self::read(value)
    }

    /// Under another policy.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn with_policy(&self, policy: &Policy) -> Result<Reading, Error> {
        self.with(&[("policy", json!(policy))])
    }

    /// With another group in whole, whose other keys do not outlive their preset; the sizes of a batch stay.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn with_preset(&self, group: &str, id: &str) -> Result<Reading, Error> {
        if (group, id) == ("workload", LESSON) {
            let layers = json!({"kind": LESSON, "layers": 24, "act_gb": 2, "layer_s": 0.1});
            return self.with(&[(group, layers)]);
        }
        let mut fresh = Map::from_iter([("preset".to_owned(), Value::from(id))]);
        let kept: &[&str] = match group {
            "workload" => &["batch", "accumulation"],
            _ => &["unmodelled_gib"],
        };
        for key in kept {
            if let Some(value) = self.get(&format!("{group}.{key}")) {
                fresh.insert((*key).to_owned(), value.clone());
            }
        }
        let mut changes = vec![(group, Value::Object(fresh))];
        if group == "hardware" {
            changes.push(("limits.memory_gib", Value::Null));
        }
        self.with(&changes)
    }

    /// With what a file says. A measured run kept what it saved, so a profile with a measurement comes with the plan that keeps
    /// everything; a curve changes nothing.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn with_import(&self, imported: &Imported) -> Result<Reading, Error> {
        let value = || imported.value.clone();
        match imported.kind {
            Kind::Scenario => Self::read(value()),
            Kind::Profile if imported.measured.is_some() => {
                self.with(&[("workload", value()), ("policy", json!({"kind": "keep"}))])
            }
            Kind::Workload | Kind::Profile => self.with(&[("workload", value())]),
            Kind::Curve => Self::read(self.0.clone()),
            Kind::HuggingFace => {
                let (mut keys, unheeded) =
                    huggingface::transformer_from_config(Some(&imported.value))?;
                for key in ["seq", "batch", "accumulation"] {
                    if let Some(value) = self.get(&format!("workload.{key}")) {
                        keys.insert(key.to_owned(), value.clone());
                    }
                }
                let mut reading = self.with(&[("workload", Value::Object(keys))])?;
                reading.notes.ignored.extend(unheeded);
                Ok(reading)
            }
        }
    }
}

/// Lists that were written for what has just changed would refuse every further change: another model lets go of
/// both, K of the segments, another kind of policy of what that kind does not read.
fn let_go(value: &mut Value, path: &str) {
    let kind = value.pointer("/policy/kind").and_then(Value::as_str).unwrap_or("keep").to_owned();
    let other_model = matches!(path, "workload" | "workload.layers");
    if other_model || path == "policy.k" || (path == "policy.kind" && kind != "checkpoint") {
        remove(value, "policy.segments");
    }
    if other_model || (path == "policy.kind" && kind != "plan") {
        remove(value, "policy.plan");
        remove(value, "policy.boundaries");
        remove(value, "policy.nested");
        if kind == "plan" {
            remove(value, "policy.kind");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::import_text;

    fn opening() -> Reading {
        Request::read(Request::opening()).expect("the opening scenario reads")
    }

    #[test]
    fn numbers_are_read_as_people_type_them() {
        for (text, value) in [
            ("0", 0.0),
            ("00", 0.0),
            ("-0.5", -0.5),
            (".5", 0.5),
            ("+5.", 5.0),
            ("007", 7.0),
            ("0.1", 0.1),
            ("1e3", 1000.0),
            ("3.141592653589793", std::f64::consts::PI),
        ] {
            assert!(number(text).is_some_and(|n| n.to_bits() == f64::to_bits(value)), "{text}");
        }
        for text in
            ["", "-", ".", "e5", "5 GiB", "1,5", "0x10", "inf", "NaN", "1e999", "--1", "+-1"]
        {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_clamped_value_is_replaced_by_the_one_used() {
        let reading = opening().request.with(&[("workload.batch", json!(1e30))]).expect("clamped");
        assert_eq!(reading.notes.clamped.len(), 1);
        assert_eq!(reading.request.get("workload.batch"), Some(&json!(65536)));
    }

    #[test]
    fn a_pasted_config_takes_the_batch_along() {
        let request =
            opening().request.with(&[("workload.batch", json!(4))]).expect("reads").request;
        let config = import_text(r#"{"model_type": "gpt2", "n_layer": 6}"#).expect("a config");
        let pasted = request.with_import(&config).expect("reads");
        assert_eq!(pasted.request.get("workload.layers"), Some(&json!(6)));
        assert_eq!(pasted.request.get("workload.batch"), Some(&json!(4)));
    }

    #[test]
    fn a_family_that_is_not_known_is_refused_by_name() {
        let config = import_text(r#"{"model_type": "mamba"}"#).expect("a config");
        let error = opening().request.with_import(&config).expect_err("unknown").to_string();
        assert!(error.contains("mamba") && error.contains("llama"), "{error}");
    }

    #[test]
    fn lists_do_not_outlive_what_they_were_written_for() {
        let lists = json!({"workload": {"preset": "gpt2"}, "policy": {"kind": "checkpoint", "segments": [6, 6]}});
        let request = Request::read(lists).expect("reads").request;
        let other =
            request.with_preset("workload", "llama-2-7b").expect("the list is let go").request;
        assert_eq!(other.get("policy.segments"), None);
        let turned = request.with(&[("policy.k", json!(3))]).expect("reads");
        assert_eq!(turned.scenario.policy.segments, None);
        let plan = json!({"workload": {"preset": "gpt2"}, "policy": {"kind": "plan", "plan": vec!["host"; 12]}});
        let other = Request::read(plan).expect("reads").request.with_preset("workload", "gpt2-xl");
        assert_eq!(other.expect("the list is let go").request.get("policy.kind"), None);
    }

    #[test]
    fn the_lesson_is_one_of_the_models() {
        let reading = opening().request.with_preset("workload", LESSON).expect("reads");
        assert_eq!(reading.scenario.chain.layers.len(), 24);
    }

    #[test]
    fn a_new_card_drops_the_old_limit() {
        let request =
            opening().request.with(&[("limits.memory_gib", json!(10))]).expect("reads").request;
        let reading = request.with_preset("hardware", "h100-80g").expect("reads");
        assert_eq!(reading.request.get("limits.memory_gib"), None);
    }
}
