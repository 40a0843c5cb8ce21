//! Reading one group of a request. Principal type [`Group`]; its law: every key is found in the
//! table of knobs, every value out of range is clamped and noted, every value of a wrong kind is refused by
//! path. It knows nothing of what the values mean.

use super::accepted::Accepted;
use super::error::{Clamped, Error, Notes};
use super::knob::{self, Kind, Knob};
use serde_json::{Map, Value};

/// The keys of one group, the given ones laid over the preset's.
pub struct Group<'a> {
    name: &'static str,
    map: Map<String, Value>,
    notes: &'a mut Notes,
}

impl<'a> Group<'a> {
    /// Lays `given` over `base`, noting the keys that the table of knobs does not have.
    ///
    /// # Errors
    /// When `given` is neither an object nor absent.
    pub fn new(
        name: &'static str,
        base: &Map<String, Value>,
        given: Option<&Value>,
        notes: &'a mut Notes,
    ) -> Result<Self, Error> {
        let mut map = base.clone();
        match given {
            None | Some(Value::Null) => {}
            Some(Value::Object(object)) => {
                for (key, value) in object {
                    if knob::find(name, key).is_none() {
                        notes.ignored.push(format!("{name}.{key}"));
                    } else if !value.is_null() {
                        map.insert(key.clone(), value.clone());
                    }
                }
            }
            Some(other) => return Err(Error::unfit(name, other, Accepted::Object)),
        }
        let mut group = Self { name, map, notes };
        if let Some(id) = base.get("id") {
            group.record("preset", id.clone());
        }
        Ok(group)
    }

    /// The value of `key` as given or preset, if any.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.map.get(key)
    }

    /// A whole number in the knob's range; `default` when absent.
    pub fn int(&mut self, key: &'static str, default: u64) -> Result<u64, Error> {
        let value = self.int_or_none(key)?.unwrap_or(default);
        self.record(key, value.into());
        Ok(value)
    }

    /// A whole number in the knob's range, or none.
    pub fn int_or_none(&mut self, key: &'static str) -> Result<Option<u64>, Error> {
        let knob = self.knob(key);
        let Kind::Int { min, max } = knob.kind else { unreachable!("{key} is no whole number") };
        let Some(value) = self.map.get(key).cloned() else {
            self.record(key, Value::Null);
            return Ok(None);
        };
        let accepted = || Accepted::Whole { min, max };
        let Some(number) = value.as_f64() else {
            return Err(Error::unfit(self.path(key), &value, accepted()));
        };
        let used = clamp_int(number, value.as_u64(), min, max);
        // 3.0 is 3: some languages write whole numbers so.
        let whole = value.as_u64().or_else(|| whole(number));
        if whole != Some(used) {
            self.clamp(key, value, used.into());
        }
        self.record(key, used.into());
        Ok(Some(used))
    }

    /// A number in the knob's range; `default` when absent.
    pub fn float(&mut self, key: &'static str, default: f64) -> Result<f64, Error> {
        let value = self.float_or_none(key)?.unwrap_or(default);
        self.record(key, value.into());
        Ok(value)
    }

    /// A number in the knob's range, or none.
    pub fn float_or_none(&mut self, key: &'static str) -> Result<Option<f64>, Error> {
        let knob = self.knob(key);
        let Kind::Float { min, max } = knob.kind else { unreachable!("{key} is no number") };
        let Some(value) = self.map.get(key).cloned() else {
            self.record(key, Value::Null);
            return Ok(None);
        };
        let Some(number) = value.as_f64() else {
            return Err(Error::unfit(self.path(key), &value, Accepted::Number { min, max }));
        };
        let used = number.clamp(min, max);
        if used.to_bits() != number.to_bits() {
            self.clamp(key, value, used.into());
        }
        self.record(key, used.into());
        Ok(Some(used))
    }

    /// True or false; `default` when absent.
    pub fn flag(&mut self, key: &'static str, default: bool) -> Result<bool, Error> {
        let flag = match self.map.get(key) {
            None => default,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => return Err(Error::unfit(self.path(key), other, Accepted::Flag)),
        };
        self.record(key, flag.into());
        Ok(flag)
    }

    /// One of the knob's names, turned into a type by `parse`; `default` when absent.
    pub fn choice<T: Copy + Into<&'static str>>(
        &mut self,
        key: &'static str,
        default: T,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, Error> {
        let chosen = match self.map.get(key) {
            None => default,
            Some(value) => value.as_str().and_then(parse).ok_or_else(|| {
                let Kind::Choice(names) = self.knob(key).kind else {
                    unreachable!("{key} is no choice")
                };
                Error::unfit(
                    self.path(key),
                    value,
                    Accepted::OneOf(names.iter().map(|&name| name.to_owned()).collect()),
                )
            })?,
        };
        let name: &'static str = chosen.into();
        self.record(key, name.into());
        Ok(chosen)
    }

    /// Notes the value in force, given or not: what the page's fields show.
    fn record(&mut self, key: &str, value: Value) {
        let group = self.notes.settings.entry(self.name).or_insert_with(|| Map::new().into());
        if let Value::Object(group) = group {
            group.insert(key.to_owned(), value);
        }
    }

    /// The list at `key`, if any.
    pub fn list(&self, key: &'static str) -> Result<Option<&Vec<Value>>, Error> {
        match self.map.get(key) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(other) => Err(Error::unfit(self.path(key), other, Accepted::List)),
        }
    }

    /// Notes that `used` stands in for `given`.
    pub fn clamp(&mut self, key: &str, given: Value, used: Value) {
        self.notes.clamped.push(Clamped { path: self.path(key), given, used });
    }

    /// Notes an unknown key somewhere below this group.
    pub fn ignore(&mut self, path: String) {
        self.notes.ignored.push(path);
    }

    /// The dotted path of `key`.
    pub fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.name)
    }

    fn knob(&self, key: &'static str) -> &'static Knob {
        knob::find(self.name, key).unwrap_or_else(|| unreachable!("{key} is in no table of knobs"))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bounded by the range before the cast"
)]
fn clamp_int(number: f64, exact: Option<u64>, min: u64, max: u64) -> u64 {
    exact.unwrap_or_else(|| number.round().clamp(min as f64, max as f64) as u64).clamp(min, max)
}

/// The whole number that a float is, if it is one.
fn whole(number: f64) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, not negative and below 2^53"
    )]
    (number.fract() == 0.0 && (0.0..EXACT).contains(&number)).then_some(number as u64)
}
