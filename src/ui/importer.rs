//! Files and pasted text on their way in. Each is read by a worker hired for it alone, with a program of its own (`reader`), piece by
//! piece; cancelling lets the worker go, and its memory with it. Until the answer comes the page stays as it is.

use super::store::Msg;
use super::worker::{self, object};
use crate::engine::units::Bytes;
use crate::import::short::short;
use crate::import::wire::{self, Answer};
use crate::import::{ImportError, MOST_BYTES, Problem};
use gloo::events::EventListener;
use js_sys::{Array, Reflect};
use wasm_bindgen::JsCast;
use web_sys::{Blob, File, MessageEvent, Worker};
use yew::prelude::*;

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

/// A worker at a file; dropped, it stops.
struct Running {
    worker: Worker,
    _listeners: [EventListener; 2],
}

impl Drop for Running {
    fn drop(&mut self) {
        self.worker.terminate();
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
            if let Incoming::Text(text) = &incoming
                && let Some(imported) = short(text)
            {
                status.set(Status::Idle);
                send.emit(Msg::Import(imported));
                return;
            }
            let done = |name: String| {
                let (status, send, running) = (status.clone(), send.clone(), running.clone());
                Callback::from(move |answer| {
                    *running.borrow_mut() = None;
                    match answer {
                        Ok(imported) => {
                            status.set(Status::Idle);
                            send.emit(Msg::Import(imported));
                        }
                        Err(error) => status.set(Status::Refused { name: name.clone(), error }),
                    }
                })
            };
            let (name, blob) = match incoming {
                Incoming::Text(text) => (String::new(), blob_of(&text)),
                Incoming::File(file) => (file.name(), Some(Blob::from(file))),
                Incoming::Several => (String::new(), None),
            };
            let done = done(name.clone());
            let Some(blob) = blob else {
                done.emit(Err(Problem::Several.into()));
                return;
            };
            let total = blob.size();
            let given = Bytes::from_f64(total).0;
            if given > MOST_BYTES {
                done.emit(Err(Problem::TooLong.of(given)));
                return;
            }
            status.set(Status::Reading { name: name.clone(), read: 0.0, total });
            let status = status.clone();
            let told = Callback::from(move |read| {
                status.set(Status::Reading { name: name.clone(), read, total });
            });
            let reading = by_worker(&blob, told, done.clone());
            if reading.is_none() {
                done.emit(Err(Problem::NoWorker.into()));
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

fn by_worker(blob: &Blob, told: Callback<f64>, done: Callback<Answer>) -> Option<Running> {
    let worker = worker::hire("reader")?;
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
            done.emit(wire::read(&text).unwrap_or_else(|| Err(Problem::Stopped.into())));
        }
    });
    let on_error =
        EventListener::new(&worker, "error", move |_| done.emit(Err(Problem::Stopped.into())));
    Some(Running { worker, _listeners: [on_message, on_error] })
}

fn blob_of(text: &str) -> Option<Blob> {
    Blob::new_with_str_sequence(&Array::of1(&text.into())).ok()
}
