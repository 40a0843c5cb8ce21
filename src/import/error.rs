//! Why a file was not used, as values: what is wrong, and where. The page words them in the reader's language.

/// Where reading stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// 1-based line.
    pub line: u64,
    /// 1-based column, in bytes.
    pub column: u64,
    /// How many bytes of the file had been read.
    pub byte: u64,
    /// What stands there: a few characters before and after.
    pub near: String,
}

/// What is wrong with a file. The number or text that a kind names is in its [`ImportError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Nothing in it.
    Empty,
    /// More bytes than are read: `number` of them, or at least so many.
    TooLong,
    /// Text in UTF-16.
    Utf16,
    /// A string that is not UTF-8.
    NotUtf8,
    /// Packed: gzip or zip.
    Packed,
    /// A Python pickle: what a CUDA memory snapshot is before it is converted.
    Pickle,
    /// Not JSON: `text` is what the parser says.
    Syntax,
    /// NaN or Infinity, which Python writes and JSON has not.
    NotANumber,
    /// It ends in the middle.
    Cut,
    /// Nested deeper than [`super::MOST_DEPTH`].
    TooDeep,
    /// More settings, layers or tensors than [`super::MOST_MEMORY`] holds, or one text that is far too long.
    TooMuch,
    /// The key `text` stands twice in one object.
    Repeated,
    /// Nothing in it says what it is.
    Unknown,
    /// A file of a later version: its `v` is `text`.
    Version,
    /// The key `text` has a value of another kind, `given`: a size or time that is negative, or no number.
    Unfit,
    /// Point `number`, from 0, of a curve is not `[seconds, bytes]`.
    Point,
    /// None of the `number` events of a trace or curve is about memory.
    NoMemory,
    /// The browser could not read it.
    Unreadable,
    /// Reading it came to an end by itself: out of memory, most likely.
    Stopped,
    /// More than one file.
    Several,
    /// The browser allows no worker, and files are read in one.
    NoWorker,
}

impl Problem {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Empty,
        Self::TooLong,
        Self::Utf16,
        Self::NotUtf8,
        Self::Packed,
        Self::Pickle,
        Self::Syntax,
        Self::NotANumber,
        Self::Cut,
        Self::TooDeep,
        Self::TooMuch,
        Self::Repeated,
        Self::Unknown,
        Self::Version,
        Self::Unfit,
        Self::Point,
        Self::NoMemory,
        Self::Unreadable,
        Self::Stopped,
        Self::Several,
        Self::NoWorker,
    ];

    /// With the number that it names.
    #[must_use]
    pub fn of(self, number: u64) -> ImportError {
        ImportError { number, ..self.into() }
    }

    /// With the text that it names.
    #[must_use]
    pub fn with(self, text: impl Into<String>) -> ImportError {
        ImportError { text: text.into(), ..self.into() }
    }
}

/// Why a file was not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// What is wrong.
    pub problem: Problem,
    /// A number that says more, where the problem names one.
    pub number: u64,
    /// A text that says more, where the problem names one.
    pub text: String,
    /// The value that does not fit, shortened.
    pub given: String,
    /// Where, if it is at one place.
    pub at: Option<Place>,
}

impl From<Problem> for ImportError {
    fn from(problem: Problem) -> Self {
        Self { problem, number: 0, text: String::new(), given: String::new(), at: None }
    }
}
