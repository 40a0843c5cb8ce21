//! The reader of files: a program of its own, which only a worker loads, and only when a file comes. The page would be a twentieth
//! heavier with it inside.

use crate::import::{Problem, import, wire};
use js_sys::{Function, Uint8Array};
use std::io::{self, Read};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Blob, FileReaderSync};

/// Bytes taken from a file at once.
const PIECE: f64 = 1_048_576.0;

/// Reads a file piece by piece and answers as [`wire::write`] writes. `told` hears how many bytes have been taken.
#[wasm_bindgen]
#[must_use]
pub fn import_blob(blob: Blob, told: Function) -> String {
    let answer = match FileReaderSync::new() {
        Ok(reader) => {
            let piece = Uint8Array::new_with_length(0);
            import(&mut Pieces { blob, reader, told, taken: 0.0, piece, next: 0 })
        }
        Err(_) => Err(Problem::Unreadable.into()),
    };
    wire::write(&answer)
}

/// A file in pieces, each read when it is wanted.
struct Pieces {
    blob: Blob,
    reader: FileReaderSync,
    told: Function,
    taken: f64,
    piece: Uint8Array,
    next: u32,
}

impl Pieces {
    fn advance(&mut self) -> Result<(), JsValue> {
        let end = self.taken + PIECE;
        let part = self.blob.slice_with_f64_and_f64(self.taken, end)?;
        self.piece = Uint8Array::new(&self.reader.read_as_array_buffer(&part)?.into());
        self.next = 0;
        self.taken += f64::from(self.piece.length());
        self.told.call1(&JsValue::NULL, &self.taken.into()).map(|_| ())
    }
}

impl Read for Pieces {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.next == self.piece.length() && self.taken < self.blob.size() {
            self.advance().map_err(|_| io::Error::other("the browser could not read the file"))?;
        }
        let left = self.piece.length() - self.next;
        let count = left.min(u32::try_from(out.len()).unwrap_or(u32::MAX));
        let length = usize::try_from(count).unwrap_or_default();
        self.piece.subarray(self.next, self.next + count).copy_to(&mut out[..length]);
        self.next += count;
        Ok(length)
    }
}
