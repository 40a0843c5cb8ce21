//! Where the bytes come from: read in pieces, counted, looked at before they are parsed. Principal type [`Source`]; its law: it
//! never holds more than one piece, and knows what stands where reading stopped.

use super::MOST_BYTES;
use super::error::{ImportError, Place, Problem};
use std::io::{self, Read};

/// Bytes asked for at once.
const PIECE: usize = 1 << 16;
/// Bytes kept from the piece before, for [`Place::near`].
const TAIL: usize = 24;

/// A reader that counts.
pub struct Source<'a> {
    input: &'a mut dyn Read,
    /// The tail of the piece before, then the piece.
    buffer: Vec<u8>,
    next: usize,
    /// Bytes taken from the input.
    taken: u64,
    failure: Option<ImportError>,
}

impl<'a> Source<'a> {
    /// Reads the first piece; a byte order mark of UTF-8 is skipped.
    ///
    /// # Errors
    /// [`Problem::Empty`], or what its first bytes say it is instead of JSON in UTF-8.
    pub fn open(input: &'a mut dyn Read) -> Result<Self, ImportError> {
        let mut source = Self { input, buffer: Vec::new(), next: 0, taken: 0, failure: None };
        // What fails here is kept, and told below.
        let _failed = source.fill();
        if let Some(error) = source.failure.take() {
            return Err(error);
        }
        match *source.buffer.as_slice() {
            [] => return Err(Problem::Empty.into()),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{' | b'[', 0, ..] | [0, ..] => {
                return Err(Problem::Utf16.into());
            }
            [0x1f, 0x8b, ..] | [b'P', b'K', 3, 4, ..] => return Err(Problem::Packed.into()),
            [0x80, 2..=5, ..] => return Err(Problem::Pickle.into()),
            [0xef, 0xbb, 0xbf, ..] => source.next = 3,
            _ => {}
        }
        if source.buffer[source.next..].iter().all(u8::is_ascii_whitespace)
            && source.buffer.len() < PIECE
        {
            return Err(Problem::Empty.into());
        }
        Ok(source)
    }

    /// What the parser's error means, and where it is.
    pub fn explain(
        &mut self,
        error: &serde_json::Error,
        refused: Option<ImportError>,
    ) -> ImportError {
        if let Some(failure) = self.failure.take() {
            return failure;
        }
        let at = Some(self.place(error.line(), error.column()));
        let words = error.to_string();
        let found = refused.unwrap_or_else(|| {
            if error.is_eof() {
                Problem::Cut.into()
            } else if words.starts_with("recursion limit") {
                Problem::TooDeep.into()
            } else if words.starts_with("invalid unicode") {
                Problem::NotUtf8.into()
            } else if self.at_no_number() {
                Problem::NotANumber.into()
            } else {
                let detail = words.split(" at line ").next().unwrap_or_default();
                Problem::Syntax.with(super::shorten(detail, 120))
            }
        });
        ImportError { at, ..found }
    }

    fn place(&self, line: usize, column: usize) -> Place {
        let byte = self.taken - as_u64(self.buffer.len() - self.next);
        let around = self.next.saturating_sub(TAIL)..(self.next + TAIL).min(self.buffer.len());
        let near = String::from_utf8_lossy(&self.buffer[around]);
        let near = near.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Place { line: as_u64(line), column: as_u64(column), byte, near }
    }

    /// Whether what the parser stumbled over is one of the numbers that JSON does not have.
    fn at_no_number(&self) -> bool {
        // The parser has looked one character ahead, and a minus before it.
        let from = self.next.saturating_sub(2);
        let ahead = &self.buffer[from..(from + 12).min(self.buffer.len())];
        ["NaN", "Infinity"].iter().any(|word| {
            (0..3).any(|i| ahead.get(i..).is_some_and(|at| at.starts_with(word.as_bytes())))
        })
    }

    fn fill(&mut self) -> io::Result<()> {
        let kept = self.buffer.len().min(TAIL);
        self.buffer.drain(..self.buffer.len() - kept);
        self.next = kept;
        self.buffer.resize(kept + PIECE, 0);
        let mut filled = kept;
        // A short read is no end; whoever looks at the first bytes wants more than one.
        while filled < self.buffer.len() {
            match self.input.read(&mut self.buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count.min(self.buffer.len() - filled),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failure = Some(Problem::Unreadable.into());
                    self.buffer.truncate(filled);
                    return Err(error);
                }
            }
        }
        self.buffer.truncate(filled);
        self.taken += as_u64(filled - kept);
        if self.taken > MOST_BYTES {
            self.failure = Some(Problem::TooLong.of(self.taken));
            return Err(io::Error::other("too long"));
        }
        Ok(())
    }
}

impl Read for Source<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.next == self.buffer.len() {
            self.fill()?;
        }
        let count = out.len().min(self.buffer.len() - self.next);
        out[..count].copy_from_slice(&self.buffer[self.next..self.next + count]);
        self.next += count;
        Ok(count)
    }
}

fn as_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
