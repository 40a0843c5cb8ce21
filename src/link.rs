//! Scenario and view to and from a URL fragment. PURE. Flat, readable, versioned: `v=1&model=llama-2-7b&card=rtx-4090&batch=4`.
//! Its law: a fragment read and written again is the same, and unknown keys are reported.

use crate::engine::knob::{KNOBS, Kind, Knob};
use crate::request::set;
use serde_json::{Value, json};

/// What is shown, beside what is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Language tag, if chosen.
    pub lang: Option<String>,
    /// `light` or `dark`, if chosen.
    pub theme: Option<String>,
    /// Without header and menus.
    pub embed: bool,
    /// Which views, all when empty.
    pub views: Vec<String>,
}

/// The names of the views.
pub const VIEWS: [&str; 7] =
    ["verdict", "knobs", "ledger", "timeline", "pareto", "ratio", "textbook"];

/// What a link says.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The request, if it names any of it.
    pub request: Option<Value>,
    /// What is shown.
    pub view: View,
    /// Keys that mean nothing here.
    pub unknown: Vec<String>,
}

/// Short names of keys whose own would not say enough, or stand twice.
const NAMES: [(&str, &str, &str); 9] = [
    ("model", "workload", "preset"),
    ("workload", "workload", "kind"),
    ("card", "hardware", "preset"),
    ("policy", "policy", "kind"),
    ("limit_gib", "limits", "memory_gib"),
    ("limit_s", "limits", "step_s"),
    ("lambda_memory", "weights", "memory"),
    ("lambda_compute", "weights", "compute"),
    ("lambda_transfer", "weights", "transfer"),
];

/// The name of a knob in a link; none for what a link does not carry.
#[must_use]
pub fn name(knob: &Knob) -> Option<&'static str> {
    match knob.kind {
        Kind::Object => None,
        _ => Some(
            NAMES
                .iter()
                .find(|(_, group, key)| (*group, *key) == (knob.group, knob.key))
                .map_or(knob.key, |row| row.0),
        ),
    }
}

fn knob(name: &str) -> Option<&'static Knob> {
    KNOBS.iter().find(|knob| self::name(knob) == Some(name))
}

/// The fragment of a request and a view, without `#`. Keys come in the order of the table of knobs. A profile's
/// layers are not carried.
#[must_use]
pub fn write(request: &Value, view: &View) -> String {
    let mut pairs: Vec<(&str, String)> = vec![("v", "1".to_owned())];
    for knob in KNOBS {
        let value = request.get(knob.group).and_then(|group| group.get(knob.key));
        if let (Some(name), Some(text)) = (name(knob), value.and_then(text)) {
            pairs.push((name, text));
        }
    }
    pairs.extend(view.lang.iter().map(|lang| ("lang", lang.clone())));
    pairs.extend(view.theme.iter().map(|theme| ("theme", theme.clone())));
    serde_urlencoded::to_string(pairs).unwrap_or_default()
}

/// Reads a query (`?embed&views=…`) and a fragment (with or without `#`).
#[must_use]
pub fn read(query: &str, fragment: &str) -> Link {
    let mut link = Link { request: None, view: View::default(), unknown: Vec::new() };
    for part in [query.trim_start_matches('?'), fragment.trim_start_matches('#')] {
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(part).unwrap_or_default();
        for (key, text) in pairs {
            if !link.view.take(&key, &text) && key != "v" {
                link.take(&key, &text);
            }
        }
    }
    link
}

impl View {
    fn take(&mut self, key: &str, text: &str) -> bool {
        match key {
            "lang" => self.lang = Some(text.to_owned()),
            "theme" => {
                let known = ["light", "dark"].contains(&text);
                self.theme = known.then(|| text.to_owned());
            }
            "embed" => self.embed = text != "0" && text != "false",
            "views" => {
                self.views =
                    text.split(',').filter(|view| !view.is_empty()).map(str::to_owned).collect();
            }
            _ => return false,
        }
        true
    }

    /// Whether a view is among those shown: all are where none of those asked for is known.
    #[must_use]
    pub fn shows(&self, view: &str) -> bool {
        let known = self.views.iter().any(|shown| VIEWS.contains(&shown.as_str()));
        !known || self.views.iter().any(|shown| shown == view)
    }
}

impl Link {
    fn take(&mut self, key: &str, text: &str) {
        let Some((knob, value)) = knob(key).map(|knob| (knob, value(knob, text))) else {
            self.unknown.push(key.to_owned());
            return;
        };
        let request = self.request.get_or_insert_with(|| json!({"v": 1}));
        set(request, &format!("{}.{}", knob.group, knob.key), value);
    }
}

/// A knob's value as text; lists joined by commas.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Array(list) => list
            .iter()
            .map(|item| match item {
                Value::Object(_) => None,
                // A pair of numbers.
                Value::Array(_) => text(item).map(|pair| pair.replace(',', "-")),
                _ => text(item),
            })
            .collect::<Option<Vec<_>>>()
            .map(|l| l.join(",")),
        Value::Null | Value::Object(_) => None,
    }
}

/// Text as the knob's value; what does not read stays text, for the reader to refuse by name.
fn value(knob: &Knob, text: &str) -> Value {
    let parsed = || serde_json::from_str::<Value>(text).ok();
    match knob.kind {
        Kind::Int { .. } | Kind::Float { .. } => {
            parsed().filter(Value::is_number).unwrap_or_else(|| text.into())
        }
        Kind::Flag => parsed().filter(Value::is_boolean).unwrap_or_else(|| text.into()),
        Kind::List => text
            .split(',')
            .map(|item| {
                let number = |text: &str| text.parse::<u64>().ok().map(Value::from);
                let pair =
                    item.split_once('-').and_then(|(a, b)| Some(json!([number(a)?, number(b)?])));
                number(item).or(pair).unwrap_or_else(|| item.into())
            })
            .collect(),
        Kind::Choice(_) | Kind::Preset | Kind::Object => text.into(),
    }
}
