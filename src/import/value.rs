//! JSON values of bounded size: settings, layers and tensors are held in whole, so what they may take is counted while they
//! are read. Principal type [`Budget`]; its law: the values made under it take no more memory than it has.

use super::error::{ImportError, Problem};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::{Cell, RefCell};
use std::fmt;

/// What one scalar takes, and an entry of a list or an object at least.
const SCALAR: usize = size_of::<Value>();
/// What a node of a B-tree takes, whether it has one entry or eleven.
const NODE: usize = 11 * (size_of::<String>() + SCALAR) + 16;
/// Longest text that is held.
const MOST_TEXT: usize = 100_000;

/// What may still be held, and why it was refused if it was.
pub struct Budget {
    left: Cell<usize>,
    refused: RefCell<Option<ImportError>>,
}

impl Budget {
    /// So many bytes.
    pub const fn new(all: usize) -> Self {
        Self { left: Cell::new(all), refused: RefCell::new(None) }
    }

    /// Why reading was given up, if a visitor did.
    pub fn refusal(&self) -> Option<ImportError> {
        self.refused.borrow_mut().take()
    }

    /// Gives up, with a reason that the parser's own errors could not carry.
    pub fn refuse<E: Error>(&self, error: ImportError) -> E {
        *self.refused.borrow_mut() = Some(error);
        E::custom("refused")
    }

    fn spend<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let Some(left) = self.left.get().checked_sub(bytes) else {
            return Err(self.refuse(Problem::TooMuch.into()));
        };
        self.left.set(left);
        Ok(())
    }

    /// Counts one more entry of an object that has so many; nodes are half full at least.
    pub fn entry<E: Error>(&self, entries: usize) -> Result<(), E> {
        if entries.is_multiple_of(5) { self.spend(NODE) } else { Ok(()) }
    }

    fn text<E: Error>(&self, text: &str) -> Result<String, E> {
        if text.len() > MOST_TEXT {
            return Err(self.refuse(Problem::TooMuch.into()));
        }
        self.spend(text.len() + 16)?;
        Ok(text.to_owned())
    }
}

/// Reads any value.
#[derive(Clone, Copy)]
pub struct Any<'a>(pub &'a Budget);

impl<'de> DeserializeSeed<'de> for Any<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Any<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.0.text(text).map(Value::String)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self)? {
            // A list that grows has twice its room, and while it is moved the old one beside it.
            self.0.spend(3 * SCALAR)?;
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = object.next_key_seed(Key(self.0))? {
            self.0.entry(map.len())?;
            if map.contains_key(&key) {
                return Err(self.0.refuse(Problem::Repeated.with(super::shorten(&key, 60))));
            }
            map.insert(key, object.next_value_seed(self)?);
        }
        Ok(Value::Object(map))
    }
}

/// Reads a key.
pub struct Key<'a>(pub &'a Budget);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = String;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = String;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        self.0.text(text)
    }
}
