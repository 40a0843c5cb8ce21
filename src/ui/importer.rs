//! Files and pasted text on their way in. A file is read by a worker hired for it alone, piece by piece; cancelling lets the worker
//! go, and its memory with it. Until the answer comes the page stays as it is. Where workers are blocked the page reads it itself.

use super::store::Msg;
use super::worker::{self, object};
use crate::engine::units::Bytes;
use crate::import::{ImportError, Imported, MOST_BYTES, Problem, import};
use gloo::events::EventListener;
use js_sys::{Array, ArrayBuffer, Function, Reflect, Uint8Array};
use std::io::{self, Read};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, File, FileReader, FileReaderSync, MessageEvent, Worker};
use yew::prelude::*;

/// Text up to this many bytes is read at once; longer text is a file like any other.
const SHORT: usize = 1_000_000;
/// Bytes taken from a file at once.
const PIECE: f64 = 1_048_576.0;

/// What comes in.
#[derive(Clone)]
pub enum Incoming {
    /// Dropped or chosen.
    File(File),
    /// Pasted.
    Text(String),
    /// More than one file at once.
    Several,
}

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Status {
    /// Nothing is being read.
    #[default]
    Idle,
    /// A file is being read.
    Reading {
        /// Its name.
        name: String,
        /// Bytes read.
        read: f64,
        /// Bytes in all.
        total: f64,
    },
    /// The last one was not used.
    Refused {
        /// Its name; empty for text.
        name: String,
        /// Why.
        error: ImportError,
    },
}

/// What the page has to do with it.
#[derive(Clone, PartialEq)]
pub struct Importer {
    /// How far it is.
    pub status: Status,
    /// Takes something in; what is still being read is let go.
    pub take: Callback<Incoming>,
    /// Lets go of what is being read, or of the last refusal.
    pub cancel: Callback<()>,
}

/// Who reads a file: a worker, or the page itself.
enum Reader {
    Hired(Worker),
    Here(FileReader),
}

/// Reading; dropped, it stops.
struct Running {
    reader: Reader,
    listeners: Vec<EventListener>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Stopping is an event too, which nobody is to hear.
        self.listeners.clear();
        match &self.reader {
            Reader::Hired(worker) => worker.terminate(),
            Reader::Here(reader) => reader.abort(),
        }
    }
}

/// Files and pasted text, read and sent on.
#[hook]
pub fn use_importer(send: Callback<Msg>) -> Importer {
    let status = use_state_eq(Status::default);
    let running = use_mut_ref(|| None::<Running>);
    let take = {
        let (status, running) = (status.setter(), running.clone());
        use_callback(send, move |incoming: Incoming, send| {
            *running.borrow_mut() = None;
            let (name, blob) = match incoming {
                Incoming::Text(text) if text.len() <= SHORT => {
                    settle(import(&mut text.as_bytes()), "", &status, send);
                    return;
                }
                Incoming::Text(text) => (String::new(), blob_of(&text)),
                Incoming::File(file) => (file.name(), Some(Blob::from(file))),
                Incoming::Several => {
                    settle(Err(Problem::Several.into()), "", &status, send);
                    return;
                }
            };
            let size = blob.as_ref().map_or(0.0, Blob::size);
            let given = Bytes::from_f64(size).0;
            if given > MOST_BYTES {
                let problem = Problem::TooLong { given, accepted: MOST_BYTES };
                settle(Err(problem.into()), &name, &status, send);
                return;
            }
            status.set(Status::Reading { name: name.clone(), read: 0.0, total: size });
            let done = {
                let (status, send, running) = (status.clone(), send.clone(), running.clone());
                let name = name.clone();
                Callback::from(move |answer| {
                    settle(answer, &name, &status, &send);
                    *running.borrow_mut() = None;
                })
            };
            let told = {
                let status = status.clone();
                Callback::from(move |read| {
                    status.set(Status::Reading { name: name.clone(), read, total: size });
                })
            };
            let reading = blob.and_then(|blob| {
                by_worker(&blob, told, done.clone()).or_else(|| here(&blob, done.clone()))
            });
            if reading.is_none() {
                done.emit(Err(Problem::Unreadable.into()));
            }
            *running.borrow_mut() = reading;
        })
    };
    let cancel = {
        let status = status.setter();
        use_callback((), move |(), ()| {
            *running.borrow_mut() = None;
            status.set(Status::Idle);
        })
    };
    Importer { status: (*status).clone(), take, cancel }
}

type Answer = Result<Imported, ImportError>;

fn settle(answer: Answer, name: &str, status: &UseStateSetter<Status>, send: &Callback<Msg>) {
    match answer {
        Ok(imported) => {
            status.set(Status::Idle);
            send.emit(Msg::Import(imported));
        }
        Err(error) => status.set(Status::Refused { name: name.to_owned(), error }),
    }
}

fn by_worker(blob: &Blob, told: Callback<f64>, done: Callback<Answer>) -> Option<Running> {
    let worker = worker::hire()?;
    let message = object(&[("id", 0.into()), ("call", "import".into()), ("blob", blob.into())]);
    worker.post_message(&message).ok()?;
    let on_message = EventListener::new(&worker, "message", {
        let done = done.clone();
        move |event| {
            let Some(event) = event.dyn_ref::<MessageEvent>() else { return };
            let get = |key: &str| Reflect::get(&event.data(), &key.into()).ok();
            if let Some(read) = get("read").and_then(|read| read.as_f64()) {
                told.emit(read);
                return;
            }
            let text = get("json").and_then(|json| json.as_string()).unwrap_or_default();
            done.emit(serde_json::from_str(&text).unwrap_or_else(|_| Err(Problem::Stopped.into())));
        }
    });
    let on_error =
        EventListener::new(&worker, "error", move |_| done.emit(Err(Problem::Stopped.into())));
    Some(Running { reader: Reader::Hired(worker), listeners: vec![on_message, on_error] })
}

/// Reads it on the page, whole.
fn here(blob: &Blob, done: Callback<Answer>) -> Option<Running> {
    let reader = FileReader::new().ok()?;
    let on_end = EventListener::new(&reader, "loadend", {
        let reader = reader.clone();
        move |_| {
            let buffer =
                reader.result().ok().and_then(|result| result.dyn_into::<ArrayBuffer>().ok());
            let bytes = buffer.map(|buffer| Uint8Array::new(&buffer).to_vec());
            let unreadable = || Err(Problem::Unreadable.into());
            done.emit(bytes.map_or_else(unreadable, |bytes| import(&mut &bytes[..])));
        }
    });
    reader.read_as_array_buffer(blob).ok()?;
    Some(Running { reader: Reader::Here(reader), listeners: vec![on_end] })
}

fn blob_of(text: &str) -> Option<Blob> {
    Blob::new_with_str_sequence(&Array::of1(&text.into())).ok()
}

/// In a worker: reads a file piece by piece and answers with an `Imported` or an `ImportError`, as `{"Ok": …}` or `{"Err": …}`. `told`
/// hears how many bytes have been taken.
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
    serde_json::to_string(&answer).unwrap_or_default()
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
