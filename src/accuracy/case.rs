//! Cases as the file has them: groups of sets, each a request with columns that its rows fill in, and the figures that are
//! compared. Terse, for hundreds of rows differ in six numbers. Principal types [`Book`] and [`Case`].
//!
//! A row is `[name, [values], [expected]]`: one value for each column (null leaves the key out), one expectation for each figure: a
//! number, `[least, most]` with null for an open end, or null where the source has none. A column is a dotted path of the request and a
//! label, empty where the row's name says it already. Two columns are no keys: `blocks` lists a profile's layers as `[count,
//! saved bytes or list of them, input bytes, output bytes, saves input, saves output]`, and `host_from` sends every saved tensor
//! of at least so many bytes to host memory.

use crate::request::set;
use serde_json::{Value, json};

/// A text in English and Chinese.
pub type Words = [String; 2];

/// All cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Book {
    /// In the order of the page.
    pub groups: Vec<Group>,
}

/// Cases that are summed up together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name in the menu of groups.
    pub id: String,
    /// What it is called.
    pub title: Words,
    /// What is compared, and how it was got.
    pub about: Words,
    /// `measured`, `published` or `derived`.
    pub evidence: String,
    /// Where its figures are from.
    pub source: Source,
    /// The best figures known of another program on such cases.
    pub bar: Option<Words>,
    /// Its cases.
    pub sets: Vec<Set>,
}

/// Where figures are from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// In words.
    pub text: String,
    /// Its address, if it has one.
    pub url: Option<String>,
}

/// Cases of one shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// The name of its cases, where they have none of their own.
    pub name: String,
    /// Its source, where it is not the group's.
    pub source: Option<Source>,
    /// What is asked.
    pub request: Value,
    /// What it is compared with, for ratios and differences.
    pub against: Option<Value>,
    /// Values that are brought into range are what is tried here, not a fault.
    pub clamps: bool,
    /// What is known of cases that do not come out.
    pub found: Option<Words>,
    columns: Vec<(String, String)>,
    /// What is compared.
    pub figures: Vec<Figure>,
    rows: Vec<Values>,
}

/// A row: its name, a value for each column, an expectation for each figure.
type Values = (Option<String>, Vec<Value>, Vec<Expected>);

/// One number that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it is.
    pub name: Words,
    /// Its unit.
    pub unit: String,
    /// How sharp.
    pub within: Within,
    /// How it is read off the outcome: see [`super::expression`].
    pub measure: Value,
}

/// How far a figure may be from what is expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Within {
    /// Not at all.
    Exact,
    /// By so much.
    Absolute(f64),
    /// By this share of it.
    Relative(f64),
}

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// At least; minus infinity where the source sets no bound.
    pub least: f64,
    /// At most.
    pub most: f64,
}

/// One case: a row of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case<'a> {
    /// Its group.
    pub group: &'a Group,
    /// Its set.
    pub set: &'a Set,
    /// Place of the group.
    pub group_at: usize,
    /// Place of the set in the group.
    pub set_at: usize,
    /// Place of the row in the set.
    pub row_at: usize,
}

impl Book {
    /// Reads the file; none for one that is not as it should be. It is the project's own, and its tests read it.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let file: Value = serde_json::from_str(text).ok()?;
        if file["v"] != 1 {
            return None;
        }
        Some(Self { groups: each(&file, "groups", group)? })
    }

    /// All cases, in the order of the file.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        self.groups.iter().enumerate().flat_map(|(group_at, group)| {
            group.sets.iter().enumerate().flat_map(move |(set_at, set)| {
                (0..set.rows.len()).map(move |row_at| Case { group, set, group_at, set_at, row_at })
            })
        })
    }

    /// The case of that place.
    #[must_use]
    pub fn case(&self, (group_at, set_at, row_at): (usize, usize, usize)) -> Option<Case<'_>> {
        let group = self.groups.get(group_at)?;
        let set = group.sets.get(set_at)?;
        (row_at < set.rows.len()).then_some(Case { group, set, group_at, set_at, row_at })
    }
}

impl<'a> Case<'a> {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.set.rows[self.row_at].0.as_deref().unwrap_or(&self.set.name)
    }

    /// Its inputs, as far as its name does not say them: "b 2, s 128".
    #[must_use]
    pub fn inputs(&self) -> String {
        let values = self.set.columns.iter().zip(&self.set.rows[self.row_at].1);
        let shown = values.filter(|((_, label), value)| !label.is_empty() && !value.is_null());
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        shown
            .map(|((_, label), value)| format!("{label} {}", text(value)))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Where its figures are from.
    #[must_use]
    pub fn source(&self) -> &'a Source {
        self.set.source.as_ref().unwrap_or(&self.group.source)
    }

    /// What its figures should be; none where the source has no such figure.
    #[must_use]
    pub fn expected(&self) -> &'a [Expected] {
        &self.set.rows[self.row_at].2
    }

    /// What is asked of the engine.
    #[must_use]
    pub fn request(&self) -> Value {
        self.filled(&self.set.request)
    }

    /// What it is compared with.
    #[must_use]
    pub fn against(&self) -> Option<Value> {
        self.set.against.as_ref().map(|request| self.filled(request))
    }

    fn filled(&self, request: &Value) -> Value {
        let mut request = request.clone();
        for ((path, _), value) in self.set.columns.iter().zip(&self.set.rows[self.row_at].1) {
            match path.as_str() {
                _ if value.is_null() => {}
                "blocks" => set(&mut request, "workload.layers", profile(value)),
                "host_from" => {
                    let plan = plan(&request, value.as_u64().unwrap_or_default());
                    set(&mut request, "policy.plan", plan);
                }
                _ => set(&mut request, path, value.clone()),
            }
        }
        request
    }
}

impl Expected {
    /// How far `value` is from it: 0 inside.
    #[must_use]
    pub fn distance(&self, value: f64) -> f64 {
        if value < self.least {
            value - self.least
        } else if value > self.most {
            value - self.most
        } else {
            0.0
        }
    }

    /// The number that a difference is a share of: the bound that is nearest.
    #[must_use]
    pub fn nearest(&self, value: f64) -> f64 {
        if value < self.least || !self.most.is_finite() { self.least } else { self.most }
    }

    /// Whether the source has such a figure.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        self.least.is_finite() || self.most.is_finite()
    }
}

/// The layers of a profile, from the terse list of blocks.
fn profile(blocks: &Value) -> Value {
    let mut layers = Vec::new();
    for block in list(blocks) {
        let sizes = match &block[1] {
            Value::Array(sizes) => sizes.clone(),
            size => vec![size.clone()],
        };
        let saved = sizes.iter().enumerate().map(|(i, bytes)| {
            let name =
                if sizes.len() == 1 { "all".to_owned() } else { format!("tensor {}", i + 1) };
            json!({"name": name, "bytes": bytes})
        });
        let layer = json!({
            "forward_s": 0, "backward_s": 0, "input_bytes": block[2], "output_bytes": block[3],
            "saves_input": block[4] == 1, "saves_output": block[5] == 1, "saved": saved.collect::<Vec<_>>(),
        });
        let count = block[0].as_u64().unwrap_or_default();
        layers.extend((0..count).map(|_| layer.clone()));
    }
    layers.into()
}

/// One action for each saved tensor of a profile: to host memory from that size on.
fn plan(request: &Value, from: u64) -> Value {
    let layers = list(&request["workload"]["layers"]).iter();
    let tensors = layers.flat_map(|layer| list(&layer["saved"]));
    tensors
        .map(|tensor| if tensor["bytes"].as_u64() >= Some(from) { "host" } else { "keep" })
        .collect::<Vec<_>>()
        .into()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn each<T>(value: &Value, key: &str, read: fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value[key].as_array()?.iter().map(read).collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn words(value: &Value) -> Option<Words> {
    Some([text(&value[0])?, text(&value[1])?])
}

fn source(value: &Value) -> Option<Source> {
    Some(Source { text: text(&value["source"])?, url: text(&value["url"]) })
}

fn group(value: &Value) -> Option<Group> {
    Some(Group {
        id: text(&value["id"])?,
        title: words(&value["title"])?,
        about: words(&value["about"])?,
        evidence: text(&value["evidence"])?,
        source: source(value)?,
        bar: words(&value["bar"]),
        sets: each(value, "sets", set_of)?,
    })
}

fn set_of(value: &Value) -> Option<Set> {
    let set = Set {
        name: text(&value["name"])?,
        source: source(value),
        request: value["request"].clone(),
        against: value.get("against").cloned(),
        clamps: value["clamps"] == true,
        found: words(&value["found"]),
        columns: each(value, "columns", |value| Some((text(&value[0])?, text(&value[1])?)))?,
        figures: each(value, "figures", figure)?,
        rows: each(value, "rows", row)?,
    };
    let sizes = (set.columns.len(), set.figures.len());
    set.rows.iter().all(|row| (row.1.len(), row.2.len()) == sizes).then_some(set)
}

fn row(value: &Value) -> Option<Values> {
    let values = list(&value[1]).to_vec();
    Some((text(&value[0]), values, list(&value[2]).iter().map(expected).collect::<Option<_>>()?))
}

fn figure(value: &Value) -> Option<Figure> {
    let within = &value["within"];
    let by = |key: &str| within[key].as_f64();
    Some(Figure {
        name: words(&value["name"])?,
        unit: text(&value["unit"])?,
        within: match (by("abs"), by("rel")) {
            (Some(by), None) => Within::Absolute(by),
            (None, Some(by)) => Within::Relative(by),
            _ if within == "exact" => Within::Exact,
            _ => return None,
        },
        measure: value["measure"].clone(),
    })
}

fn expected(value: &Value) -> Option<Expected> {
    let (least, most) = match value {
        Value::Array(range) => (range.first()?, range.get(1)?),
        value => (value, value),
    };
    let bound =
        |value: &Value, open: f64| if value.is_null() { Some(open) } else { value.as_f64() };
    Some(Expected { least: bound(least, f64::NEG_INFINITY)?, most: bound(most, f64::INFINITY)? })
}
