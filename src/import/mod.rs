//! Files from the real world: somebody's scenario, model, profile or memory curve, read as it streams by. PURE: bytes in, a value
//! out. Principal function [`import`]; its laws: it never panics, holds what is bounded whatever the file ([`MOST_MEMORY`] of settings,
//! 2 MB of points a device, the longest string), and says what it left out.

pub mod compare;
mod curve;
pub mod error;
pub mod short;
mod source;
mod trace;
mod value;
pub mod wire;

pub use error::{ImportError, Place, Problem};
pub use trace::Device;

use crate::engine::units::{Bytes, Nanos};
use curve::{Points, Series};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use source::Source;
use std::fmt;
use std::io::Read;
use trace::{Events, Trace};
use value::{Any, Budget, Key};

/// Longest file that is read, in bytes.
pub const MOST_BYTES: u64 = 50_000_000;
/// Points of a curve that are kept for drawing.
pub const MOST_POINTS: usize = 4_000;
/// Levels of nesting in what is held; what is passed over may be nested deeper.
pub const MOST_DEPTH: usize = 128;
/// Memory that settings, layers and tensors may take: about 40,000 tensors.
pub const MOST_MEMORY: usize = 32_000_000;
/// Remarks of a file's maker that are shown, and their length.
const MOST_NOTES: usize = 8;
const LONGEST_NOTE: usize = 240;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole request.
    Scenario,
    /// The `workload` group of one.
    Workload,
    /// A config.json of the transformers library.
    HuggingFace,
    /// Measured layers.
    Profile,
    /// Memory over time.
    Curve,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Scenario, Self::Workload, Self::HuggingFace, Self::Profile, Self::Curve];
}

/// What a file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// What it is.
    pub kind: Kind,
    /// The request, its `workload` group, or the config; null for a curve.
    pub value: Value,
    /// What was measured, if anything.
    pub measured: Option<Measured>,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Allocated bytes from each instant on; the first is at 0. Empty where only the peak is known.
    pub curve: Vec<(Nanos, Bytes)>,
    /// The peak, as the file gives it, else the curve's.
    pub peak: Option<Bytes>,
    /// Step time.
    pub step: Option<Nanos>,
    /// Saved for backward.
    pub saved: Option<Bytes>,
    /// What became of the file's events.
    pub tally: Tally,
    /// On which device, if a trace has several.
    pub device: Option<Device>,
    /// By how much a curve was raised that frees what was there before the recording began.
    pub raised: Bytes,
    /// Which step of a trace, and of how many.
    pub of_step: Option<(String, u64)>,
    /// Remarks of the file's maker.
    pub notes: Vec<String>,
}

/// What became of the events about memory: those seen are kept, left out before, elsewhere, thinned out or unread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events (or points) about memory.
    pub seen: u64,
    /// Events about anything else.
    pub others: u64,
    /// Kept for drawing.
    pub kept: u64,
    /// Left out by whatever made the file.
    pub before: u64,
    /// Of other devices or other steps.
    pub elsewhere: u64,
    /// Left out between the first, lowest, highest and last of their stretch of time.
    pub thinned: u64,
    /// Without a time or a size, or with a negative one.
    pub unread: u64,
}

/// Reads a file, whatever it is.
///
/// # Errors
/// [`ImportError`]: what is wrong with it, and where.
pub fn import(input: &mut dyn Read) -> Result<Imported, ImportError> {
    let mut source = Source::open(input)?;
    let budget = Budget::new(MOST_MEMORY);
    let mut json = serde_json::Deserializer::from_reader(&mut source);
    let read = Top(&budget).deserialize(&mut json).and_then(|file| json.end().map(|()| file));
    match read {
        Ok(file) => file.recognised(),
        Err(error) => Err(source.explain(&error, budget.refusal())),
    }
}

/// As [`import`], of text.
///
/// # Errors
/// As [`import`].
pub fn import_text(text: &str) -> Result<Imported, ImportError> {
    import(&mut text.as_bytes())
}

/// What an object is, by its keys.
fn told_by(keys: &Map<String, Value>) -> Option<Kind> {
    let has = |key: &str| keys.contains_key(key);
    if has("workload") || has("v") {
        return Some(Kind::Scenario);
    }
    if has("kind") {
        let profile = keys.get("kind").and_then(Value::as_str) == Some("profile");
        return Some(if profile { Kind::Profile } else { Kind::Workload });
    }
    (has("model_type") || has("architectures")).then_some(Kind::HuggingFace)
}

/// The top level of a file, its long lists already read.
#[derive(Default)]
struct File {
    keys: Map<String, Value>,
    curve: Option<Series>,
    curve_all: Option<Series>,
    trace: Option<Trace>,
}

struct Top<'a>(&'a Budget);

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = File;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<File, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = File;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("an object")
    }

    /// A list is the older form of a trace.
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<File, A::Error> {
        let trace = Some(Events.visit_seq(list)?);
        Ok(File { trace, ..File::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<File, A::Error> {
        let mut file = File::default();
        while let Some(key) = object.next_key_seed(Key(self.0))? {
            self.0.entry(file.keys.len())?;
            let again = match key.as_str() {
                "curve" => file.curve.replace(object.next_value_seed(Points(self.0))?).is_some(),
                "curve_all" => {
                    file.curve_all.replace(object.next_value_seed(Points(self.0))?).is_some()
                }
                "traceEvents" => file.trace.replace(object.next_value_seed(Events)?).is_some(),
                _ => {
                    let value = object.next_value_seed(Any(self.0))?;
                    file.keys.insert(key.clone(), value).is_some()
                }
            };
            if again {
                return Err(self.0.refuse(Problem::Repeated.with(shorten(&key, 60))));
            }
        }
        Ok(file)
    }
}

impl File {
    fn recognised(self) -> Result<Imported, ImportError> {
        if let Some(trace) = self.trace {
            return of_trace(trace);
        }
        if let Some(galley) = self.keys.get("galley") {
            let name = galley.as_str().unwrap_or_default().to_owned();
            self.version()?;
            return match name.as_str() {
                "profile" => self.profile(),
                "memory" => self.memory(),
                _ => Err(Problem::Unknown.into()),
            };
        }
        let kind = told_by(&self.keys).ok_or(Problem::Unknown)?;
        Ok(Imported { kind, value: Value::Object(self.keys), measured: None })
    }

    fn version(&self) -> Result<(), ImportError> {
        match self.keys.get("v") {
            Some(v) if v.as_u64() == Some(1) => Ok(()),
            other => {
                let given = other.map_or_else(|| "–".to_owned(), |v| shorten(&v.to_string(), 60));
                Err(Problem::Version.with(given))
            }
        }
    }

    fn profile(mut self) -> Result<Imported, ImportError> {
        let Some(workload @ Value::Object(_)) = self.keys.remove("workload") else {
            return Err(unfit("workload", &Value::Null));
        };
        let none = Map::new();
        let given = match self.keys.get("measured") {
            None | Some(Value::Null) => &none,
            Some(Value::Object(given)) => given,
            Some(other) => return Err(unfit("measured", other)),
        };
        let peak = number(given, "measured", "peak_bytes")?.map(Bytes::from_f64);
        let step = number(given, "measured", "step_s")?.map(Nanos::from_secs);
        let saved = number(given, "measured", "saved_bytes")?.map(Bytes::from_f64);
        let series = self.curve_all.take().or(self.curve.take()).unwrap_or_default();
        let told = peak.is_some() || step.is_some() || saved.is_some() || series.seen > 0;
        let measured =
            Measured { step, saved, notes: self.notes(), ..of_series(series, peak, None) };
        Ok(Imported { kind: Kind::Profile, value: workload, measured: told.then_some(measured) })
    }

    fn memory(mut self) -> Result<Imported, ImportError> {
        if let Some(unit) = self.keys.get("unit").filter(|unit| unit.as_str() != Some("bytes")) {
            return Err(unfit("unit", unit));
        }
        let peak = number(&self.keys, "", "peak_bytes")?.map(Bytes::from_f64);
        let seen = match self.keys.get("events") {
            Some(Value::Object(events)) => number(events, "events", "seen")?,
            _ => None,
        };
        let series = self.curve.take().unwrap_or_default();
        if series.seen == 0 {
            return Err(Problem::NoMemory.into());
        }
        let seen = seen.map(|seen| Bytes::from_f64(seen).0);
        let measured = Measured { notes: self.notes(), ..of_series(series, peak, seen) };
        Ok(Imported { kind: Kind::Curve, value: Value::Null, measured: Some(measured) })
    }

    /// What the file's maker remarks, shortened.
    fn notes(&self) -> Vec<String> {
        let list = self.keys.get("notes").and_then(Value::as_array);
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        let mut notes: Vec<String> =
            texts.take(MOST_NOTES + 1).map(|text| shorten(text, LONGEST_NOTE)).collect();
        if notes.len() > MOST_NOTES {
            notes.truncate(MOST_NOTES);
            notes.push("…".to_owned());
        }
        notes
    }
}

fn of_trace(trace: Trace) -> Result<Imported, ImportError> {
    let events = trace.events;
    let Some(found) = trace.finish(MOST_POINTS) else {
        return Err(Problem::NoMemory.of(events));
    };
    let curve = from_start(&found.points);
    let measured = Measured {
        peak: curve.iter().map(|point| point.1).max(),
        curve,
        tally: found.tally,
        device: Some(found.device),
        raised: Bytes::from_f64(found.raised),
        of_step: found.step,
        ..Measured::default()
    };
    Ok(Imported { kind: Kind::Curve, value: Value::Null, measured: Some(measured) })
}

/// `seen` is how many events the file's maker says there were.
fn of_series(series: Series, peak: Option<Bytes>, seen: Option<u64>) -> Measured {
    let read = series.seen;
    let seen = seen.unwrap_or(0).max(read);
    let curve = from_start(&series.finish(MOST_POINTS));
    let kept = u64::try_from(curve.len()).unwrap_or(u64::MAX);
    Measured {
        peak: peak.or_else(|| curve.iter().map(|point| point.1).max()),
        curve,
        tally: Tally { seen, kept, before: seen - read, thinned: read - kept, ..Tally::default() },
        ..Measured::default()
    }
}

fn from_start(points: &[(f64, f64)]) -> Vec<(Nanos, Bytes)> {
    let start = points.first().map_or(0.0, |point| point.0);
    let placed = |&(at, bytes): &(f64, f64)| (Nanos::from_secs(at - start), Bytes::from_f64(bytes));
    points.iter().map(placed).collect()
}

/// A size or a time, 0 or more, if it is given.
fn number(object: &Map<String, Value>, path: &str, key: &str) -> Result<Option<f64>, ImportError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64() {
            Some(number) if (0.0..=1e18).contains(&number) => Ok(Some(number)),
            _ => Err(unfit(format!("{path}.{key}").trim_start_matches('.'), value)),
        },
    }
}

fn unfit(path: &str, value: &Value) -> ImportError {
    ImportError { given: shorten(&value.to_string(), 80), ..Problem::Unfit.with(path) }
}

fn shorten(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    text.chars().take(most).chain(['…']).collect()
}
