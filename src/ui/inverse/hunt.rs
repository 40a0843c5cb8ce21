//! Answering a question: in a worker of its own, which loads the program `details` once more; where workers are blocked a few milliseconds
//! at a time on the page, so that whatever moves under the reader's hand has its frames. One at a time: a new question takes the place of
//! the one that is being answered.

use crate::engine::Error;
use crate::engine::search::inverse::{self, Ask, Inverse};
use crate::ui::worker::{self, object};
use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use js_sys::Reflect;
use serde_json::Value;
use std::cell::{Ref, RefCell};
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{MessageEvent, Worker};
use yew::prelude::*;

/// Searching in one go on the page; one plan more may take longer than what is left of it.
const SLICE_MS: f64 = 8.0;
/// And a pause in which the page draws and listens.
const PAUSE_MS: u32 = 8;

/// Why there is no answer.
pub enum Problem {
    /// The question is wrong.
    Refused(Error),
    /// The search broke off.
    Stopped,
}

/// Who is at it.
enum Work {
    Worker { _until_dropped: Running },
    Page(Box<Inverse>),
}

/// A worker at a question; dropped, it stops.
struct Running {
    worker: Worker,
    _listeners: [EventListener; 2],
}

impl Drop for Running {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

/// A question that was asked.
pub struct Asked {
    ask: Ask,
    /// The request that it is about, as text.
    pub request: AttrValue,
    /// What the door `inverse` says, once it is there.
    pub answer: Option<Result<Value, Problem>>,
    work: Option<Work>,
}

/// The newest question of each kind.
#[derive(Clone)]
struct Book {
    all: Rc<RefCell<Vec<Asked>>>,
    again: Callback<()>,
}

impl Book {
    /// What was being answered has an answer.
    fn answered(&self, answer: Result<Value, Problem>) {
        if let Some(one) = self.all.borrow_mut().iter_mut().find(|one| one.answer.is_none()) {
            (one.answer, one.work) = (Some(answer), None);
        }
        self.again.emit(());
    }

    fn start(&self, ask: Ask, request: AttrValue, group: Value) {
        let mut value: Value = serde_json::from_str(&request).unwrap_or_default();
        value["inverse"] = group;
        let answer = inverse::check(&value).err().map(|error| Err(Problem::Refused(error)));
        let work = if answer.is_some() { None } else { self.work(&value) };
        {
            let mut all = self.all.borrow_mut();
            all.retain(|one| one.answer.is_some() && one.ask != ask);
            all.push(Asked { ask, request, answer, work });
        }
        self.again.emit(());
    }

    fn work(&self, request: &Value) -> Option<Work> {
        let on_page = |request: &Value| Some(Work::Page(Inverse::read(request).ok()?.into()));
        let by_worker =
            self.by_worker(request).map(|running| Work::Worker { _until_dropped: running });
        by_worker.or_else(|| on_page(request))
    }

    fn by_worker(&self, request: &Value) -> Option<Running> {
        let worker = worker::hire("details")?;
        let message = object(&[
            ("id", 0.into()),
            ("call", "inverse".into()),
            ("json", request.to_string().into()),
        ]);
        worker.post_message(&message).ok()?;
        let on_message = EventListener::new(&worker, "message", {
            let book = self.clone();
            move |event| {
                let data = event.dyn_ref::<MessageEvent>().map(MessageEvent::data);
                let json =
                    data.and_then(|data| Reflect::get(&data, &"json".into()).ok()?.as_string());
                let answer = json.and_then(|json| serde_json::from_str::<Value>(&json).ok());
                let whole = answer.filter(|answer| answer.get("error").is_none());
                book.answered(whole.ok_or(Problem::Stopped));
            }
        });
        let on_error = EventListener::new(&worker, "error", {
            let (book, request) = (self.clone(), request.clone());
            move |_| match Inverse::read(&request) {
                Ok(inverse) => {
                    let mut all = book.all.borrow_mut();
                    if let Some(one) = all.iter_mut().find(|one| one.answer.is_none()) {
                        one.work = Some(Work::Page(inverse.into()));
                    }
                    drop(all);
                    book.again.emit(());
                }
                Err(error) => book.answered(Err(Problem::Refused(error))),
            }
        });
        Some(Running { worker, _listeners: [on_message, on_error] })
    }

    /// Whether the page has to search itself.
    fn on_page(&self) -> bool {
        self.all.borrow().iter().any(|one| matches!(one.work, Some(Work::Page(_))))
    }

    /// Goes on for a slice.
    fn further(&self) {
        let end = js_sys::Date::now() + SLICE_MS;
        for one in self.all.borrow_mut().iter_mut() {
            let Some(Work::Page(inverse)) = &mut one.work else { continue };
            while js_sys::Date::now() < end {
                if !inverse.advance(1) {
                    one.answer = Some(Ok(inverse::json(inverse)));
                    one.work = None;
                    break;
                }
            }
        }
        self.again.emit(());
    }
}

/// The questions so far.
pub struct Hunt {
    book: Book,
    /// Takes a question: what, of which request, and its `inverse` group.
    pub start: Callback<(Ask, AttrValue, Value)>,
}

impl Hunt {
    /// The newest of that kind.
    pub fn asked(&self, ask: Ask) -> Option<Ref<'_, Asked>> {
        let all = self.book.all.borrow();
        Ref::filter_map(all, |all| all.iter().find(|one| one.ask == ask)).ok()
    }
}

/// The questions of a place. One that is about another request is given up; where the page searches itself, it waits while somebody is
/// `busy` dragging.
#[hook]
pub fn use_hunt(request: &AttrValue, busy: bool) -> Hunt {
    let all = use_mut_ref(Vec::<Asked>::new);
    let ticks = use_state(|| 0_u32);
    let again = {
        let (ticks, count) = (ticks.setter(), use_mut_ref(|| 0_u32));
        use_callback((), move |(), ()| {
            *count.borrow_mut() += 1;
            ticks.set(*count.borrow());
        })
    };
    all.borrow_mut().retain(|one| one.answer.is_some() || one.request == *request);
    let book = Book { all, again };
    let due = (book.on_page() && !busy).then_some(*ticks);
    {
        let book = book.clone();
        use_effect_with(due, move |due| {
            let timer = due.map(|_| Timeout::new(PAUSE_MS, move || book.further()));
            move || drop(timer)
        });
    }
    let start = {
        let book = book.clone();
        Callback::from(move |(ask, request, group)| book.start(ask, request, group))
    };
    Hunt { book, start }
}
