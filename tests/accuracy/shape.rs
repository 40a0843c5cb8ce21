//! The shapes that cases.json is made of.

use serde_json::{Map, Value, json};

/// A file of tests/vectors.
pub fn vectors(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

pub fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("{value} is no object"))
}

pub fn int(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

pub fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

pub fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// A figure: its name in both languages, unit, tolerance and how it is read.
pub fn figure(name: [&str; 2], unit: &str, within: Value, measure: Value) -> Value {
    json!({"name": name, "unit": unit, "within": within, "measure": measure})
}

pub fn exact() -> Value {
    json!("exact")
}

/// To the digits printed, or so many of the unit.
pub fn abs(by: f64) -> Value {
    json!({"abs": by})
}

pub fn rel(by: f64) -> Value {
    json!({"rel": by})
}

/// A set: see src/accuracy/case.rs.
pub fn set(
    name: &str,
    request: Value,
    columns: &[[&str; 2]],
    figures: Vec<Value>,
    rows: Vec<Value>,
) -> Value {
    json!({"name": name, "request": request, "columns": columns, "figures": figures, "rows": rows})
}

/// A set of one case without columns.
pub fn single(name: &str, request: Value, figures: Vec<(Value, Value)>) -> Value {
    let (figures, expected): (Vec<Value>, Vec<Value>) = figures.into_iter().unzip();
    set(name, request, &[], figures, vec![json!([null, [], expected])])
}

/// With more keys.
pub fn with(mut value: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("{more} is no object") };
    value.as_object_mut().expect("an object").extend(more);
    value
}

/// A group.
pub struct Group<'a> {
    pub id: &'a str,
    pub title: [&'a str; 2],
    pub about: [&'a str; 2],
    pub evidence: &'a str,
    pub source: &'a str,
    pub url: Option<&'a str>,
    pub bar: Option<[&'a str; 2]>,
}

impl Group<'_> {
    pub fn of(self, sets: Vec<Value>) -> Value {
        let Group { id, title, about, evidence, source, url, bar } = self;
        json!({"id": id, "title": title, "about": about, "evidence": evidence, "source": source, "url": url, "bar": bar,
            "sets": sets})
    }
}

/// The file: one line for each row, so that a difference can be read.
pub fn text(groups: &[Value]) -> String {
    let text = json!({"v": 1, "groups": groups}).to_string();
    text.replace("\"rows\":[[", "\"rows\":[\n[")
        .replace("],[null,", "],\n[null,")
        .replace("],[\"", "],\n[\"")
        + "\n"
}
