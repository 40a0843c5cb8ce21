//! The numbers of a run, read once: what was measured, in which unit, under which plan. Nothing is clamped here: a number that
//! cannot be one is refused, and so are two that contradict each other.

use crate::engine::accepted::Accepted;
use crate::engine::error::{Error, Notes};
use crate::engine::outcome::Summary;
use crate::engine::units::Bytes;
use serde_json::{Map, Value, json};

/// Which of the runs a number belongs to: all of the same scenario, under different policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Under the scenario's own policy.
    Own,
    /// Under `measured.policy`; every layer recomputed when absent.
    Other,
    /// Under `measured.offload_policy`; everything offloaded when absent.
    Offload,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Seconds of a step.
    Step,
    /// Tokens a second.
    Tokens,
    /// Peak on the device, GiB.
    Gib,
    /// Peak on the device, bytes.
    Bytes,
}

impl Quantity {
    /// Whether it is a size; else it is a time.
    #[must_use]
    pub const fn is_peak(self) -> bool {
        matches!(self, Self::Gib | Self::Bytes)
    }

    /// What the model says, in the number's own unit; `tokens` are those of a step.
    #[must_use]
    pub fn of(self, summary: &Summary, tokens: f64) -> f64 {
        match self {
            Self::Step => summary.step.secs(),
            Self::Tokens => tokens / summary.step.secs(),
            Self::Gib => summary.peak.gib(),
            Self::Bytes => summary.peak.as_f64(),
        }
    }

    const fn range(self) -> (f64, f64) {
        match self {
            Self::Step => (1e-9, 1e9),
            Self::Tokens => (1e-9, 1e15),
            Self::Gib => (1e-9, 1e6),
            Self::Bytes => (1.0, 1e15),
        }
    }
}

/// Every number that may be given: its key, its run and what it counts.
const KEYS: [(&str, Run, Quantity); 8] = [
    ("step_s", Run::Own, Quantity::Step),
    ("tokens_per_s", Run::Own, Quantity::Tokens),
    ("step_checkpoint_s", Run::Other, Quantity::Step),
    ("step_offload_s", Run::Offload, Quantity::Step),
    ("peak_gib", Run::Own, Quantity::Gib),
    ("peak_bytes", Run::Own, Quantity::Bytes),
    ("peak_checkpoint_gib", Run::Other, Quantity::Gib),
    ("peak_checkpoint_bytes", Run::Other, Quantity::Bytes),
];

/// One measured number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// Its key.
    pub what: &'static str,
    /// Its run.
    pub run: Run,
    /// What it counts.
    pub quantity: Quantity,
    /// The number, in the unit of its key.
    pub given: f64,
}

impl Number {
    /// The size of a peak; none for a time.
    #[must_use]
    pub fn peak(&self) -> Option<Bytes> {
        match self.quantity {
            Quantity::Gib => Some(Bytes::from_gib(self.given)),
            Quantity::Bytes => Some(Bytes::from_f64(self.given)),
            Quantity::Step | Quantity::Tokens => None,
        }
    }

    /// The step that it says, s; none for a size.
    #[must_use]
    pub fn step(&self, tokens: f64) -> Option<f64> {
        match self.quantity {
            Quantity::Step => Some(self.given),
            Quantity::Tokens => Some(tokens / self.given),
            Quantity::Gib | Quantity::Bytes => None,
        }
    }

    /// The dotted path of its key.
    #[must_use]
    pub fn path(&self) -> String {
        format!("measured.{}", self.what)
    }

    /// The refusal of it.
    #[must_use]
    pub fn unfit(&self, accepted: Accepted) -> Error {
        Error::unfit(self.path(), &json!(self.given), accepted)
    }
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The numbers, at least one.
    pub numbers: Vec<Number>,
    /// The policy of [`Run::Other`].
    pub other: Value,
    /// The policy of [`Run::Offload`].
    pub offload: Value,
}

impl Measured {
    /// Reads the `measured` group; unknown keys are noted.
    ///
    /// # Errors
    /// What is no positive number in range, a peak in two units, or no number at all.
    pub fn read(given: Option<&Value>, notes: &mut Notes) -> Result<Self, Error> {
        let none = Map::new();
        let object = match given {
            None | Some(Value::Null) => &none,
            Some(Value::Object(object)) => object,
            Some(other) => return Err(Error::unfit("measured", other, Accepted::Object)),
        };
        let known = |key: &str| {
            ["policy", "offload_policy"].contains(&key) || KEYS.iter().any(|row| row.0 == key)
        };
        notes
            .ignored
            .extend(object.keys().filter(|key| !known(key)).map(|key| format!("measured.{key}")));
        let mut numbers: Vec<Number> = Vec::new();
        for (what, run, quantity) in KEYS {
            let Some(value) = object.get(what).filter(|value| !value.is_null()) else { continue };
            let (min, max) = quantity.range();
            let fits = |number: &f64| (min..=max).contains(number);
            let given = value.as_f64().filter(fits).ok_or_else(|| {
                Error::unfit(format!("measured.{what}"), value, Accepted::Number { min, max })
            })?;
            let number = Number { what, run, quantity, given };
            let twice = |before: &Number| before.run == run && before.quantity.is_peak();
            if quantity.is_peak() && numbers.iter().any(twice) {
                return Err(number.unfit(Accepted::OneUnit));
            }
            numbers.push(number);
        }
        if numbers.is_empty() {
            return Err(Error::Missing { path: "measured".into(), accepted: Accepted::Measured });
        }
        let policy = |key: &str, kind: &str| {
            object
                .get(key)
                .filter(|policy| !policy.is_null())
                .cloned()
                .unwrap_or_else(|| json!({"kind": kind}))
        };
        Ok(Self {
            numbers,
            other: policy("policy", "recompute"),
            offload: policy("offload_policy", "offload"),
        })
    }

    /// The step that the numbers of a run say, s: where there are two, the one of least squares of relative errors, Σ1/t over
    /// Σ1/t².
    #[must_use]
    pub fn step(&self, run: Run, tokens: f64) -> Option<f64> {
        let of_run = self.numbers.iter().filter(|number| number.run == run);
        let steps: Vec<f64> = of_run.filter_map(|number| number.step(tokens)).collect();
        match steps[..] {
            [] => None,
            [step] => Some(step),
            _ => {
                let sum: f64 = steps.iter().map(|t| 1.0 / t).sum();
                let squares: f64 = steps.iter().map(|t| 1.0 / (t * t)).sum();
                Some(sum / squares)
            }
        }
    }

    /// The peaks, with their runs.
    pub fn peaks(&self) -> impl Iterator<Item = (&Number, Bytes)> {
        self.numbers.iter().filter_map(|number| Some((number, number.peak()?)))
    }
}
