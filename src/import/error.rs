//! Why a file was not used, as values: what is wrong, and where. The page words them in the reader's language.

use serde::{Deserialize, Serialize};

/// Where reading stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in bytes.
    pub column: usize,
    /// How many bytes of the file had been read.
    pub byte: u64,
    /// What stands there: a few characters before and after.
    pub near: String,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Problem {
    /// Nothing in it.
    Empty,
    /// More bytes than are read.
    TooLong {
        /// Bytes given; at least so many where the length was not known before.
        given: u64,
        /// Bytes accepted.
        accepted: u64,
    },
    /// Text in UTF-16.
    Utf16,
    /// A string that is not UTF-8.
    NotUtf8,
    /// Packed: gzip or zip.
    Packed,
    /// A Python pickle: what a CUDA memory snapshot is before it is converted.
    Pickle,
    /// Not JSON.
    Syntax {
        /// The parser's words.
        detail: String,
    },
    /// NaN or Infinity, which Python writes and JSON has not.
    NotANumber,
    /// It ends in the middle.
    Cut,
    /// Nested deeper than is read.
    TooDeep {
        /// Levels accepted.
        accepted: usize,
    },
    /// More settings, layers or tensors than are held.
    TooMuch {
        /// Bytes of memory that they may take.
        accepted: usize,
    },
    /// A key stands twice in one object.
    Repeated {
        /// Which.
        key: String,
    },
    /// Nothing in it says what it is.
    Unknown,
    /// A file of a later version.
    Version {
        /// What its `v` is.
        given: String,
    },
    /// A key has a value of another kind: a size or time that is negative, or no number.
    Unfit {
        /// Dotted path of the key.
        path: String,
        /// The value, shortened.
        given: String,
    },
    /// A point of a curve that is not `[seconds, bytes]`.
    Point {
        /// Which, from 0.
        index: u64,
    },
    /// A trace or curve without anything about memory.
    NoMemory {
        /// How many events it has.
        events: u64,
    },
    /// The browser could not read it.
    Unreadable,
    /// Reading it came to an end by itself: out of memory, most likely.
    Stopped,
    /// More than one file.
    Several,
}

/// Why a file was not used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportError {
    /// What is wrong.
    pub problem: Problem,
    /// Where, if it is at one place.
    pub at: Option<Place>,
}

impl From<Problem> for ImportError {
    fn from(problem: Problem) -> Self {
        Self { problem, at: None }
    }
}
