//! What can be wrong with a request, as values: the path of the key, what was given, what would be accepted.
//! The English sentence here is for the JSON doors; the page words the same values in its own languages.

use super::accepted::Accepted;
use serde::Serialize;
use serde_json::{Map, Value};

/// Why a request was refused. Nothing behind [`crate::engine::Scenario`] fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// Not JSON: where it stopped making sense.
    #[error("not valid JSON at line {line}, column {column}: {detail}")]
    Syntax {
        /// 1-based line.
        line: usize,
        /// 1-based column.
        column: usize,
        /// The parser's words.
        detail: String,
    },
    /// More text than is read.
    #[error("the request is {given} bytes long; at most {accepted} are read")]
    TooLong {
        /// Bytes given.
        given: usize,
        /// Bytes accepted.
        accepted: usize,
    },
    /// A key has a value of another kind.
    #[error("{path} is {given}; expected {accepted}")]
    Unfit {
        /// Dotted path of the key.
        path: String,
        /// The value, shortened.
        given: String,
        /// What would be accepted.
        accepted: Accepted,
    },
    /// A key that has no default is absent.
    #[error("{path} is missing; expected {accepted}")]
    Missing {
        /// Dotted path of the key.
        path: String,
        /// What would be accepted.
        accepted: Accepted,
    },
    /// Sizes or times are beyond what the model counts (2^60 bytes or nanoseconds).
    #[error(
        "{path} comes to {given}, beyond {accepted}: make the model, batch or sequence smaller, or the card faster"
    )]
    TooLarge {
        /// What overflowed.
        path: String,
        /// How much it is.
        given: String,
        /// The bound.
        accepted: String,
    },
}

impl Error {
    /// A value of the wrong kind at `path`.
    pub fn unfit(path: impl Into<String>, given: &Value, accepted: Accepted) -> Self {
        Self::Unfit { path: path.into(), given: shorten(&given.to_string()), accepted }
    }

    /// The machine code of docs/interface.md.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "syntax",
            Self::TooLong { .. } => "too_long",
            Self::Unfit { .. } => "unfit",
            Self::Missing { .. } => "missing",
            Self::TooLarge { .. } => "too_large",
        }
    }

    /// The dotted path of the key, empty where there is none.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Unfit { path, .. } | Self::Missing { path, .. } | Self::TooLarge { path, .. } => {
                path
            }
            Self::Syntax { .. } | Self::TooLong { .. } => "",
        }
    }

    /// `{"error": {"code", "message", "path"}}`.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::json!({"error": {"code": self.code(), "message": self.to_string(), "path": self.path()}})
            .to_string()
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Syntax { line: error.line(), column: error.column(), detail: error.to_string() }
    }
}

fn shorten(text: &str) -> String {
    const SHOWN: usize = 80;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain(['…']).collect()
}

/// A value that was out of range, and what was used in its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Clamped {
    /// Dotted path of the key.
    pub path: String,
    /// What was given.
    pub given: Value,
    /// What was used.
    pub used: Value,
}

/// What was tolerated while reading a request: reported, never silent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Notes {
    /// Paths of unknown keys.
    pub ignored: Vec<String>,
    /// Values brought into range.
    pub clamped: Vec<Clamped>,
    /// Every value in force by group and key, given or not.
    #[serde(skip)]
    pub settings: Map<String, Value>,
}
