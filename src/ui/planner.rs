//! The search, in a worker of its own. Latest wins: one call runs, one waits, a newer one takes the
//! place of the one that waits. Where workers are blocked it runs on the page, once the reader lets go.

use crate::engine::outcome::Summary;
use crate::engine::search::front::{self, Front};
use crate::engine::{Error, Scenario};
use crate::ui::Shared;
use crate::ui::chart::Evaluated;
use crate::ui::worker::{self, object};
use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use js_sys::Reflect;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, Worker};
use yew::prelude::*;

/// The survey of a request as text: what the worker's `survey` answers.
///
/// # Errors
/// As [`Scenario::parse`].
pub fn survey(text: &str) -> Result<String, Error> {
    // The page's own request, which may hold a profile longer than what the doors take.
    let (scenario, _) = Scenario::read(&serde_json::from_str(text)?)?;
    Ok(serde_json::to_string(&front::survey(&scenario))?)
}

/// What the search knows.
#[derive(Clone, PartialEq, Default)]
pub struct Search {
    /// The last front that came back.
    pub front: Option<Shared<Front>>,
    /// It is of an older scenario than the page shows.
    pub stale: bool,
    /// No worker could be had.
    pub without_worker: bool,
}

struct Job {
    id: u32,
    text: Shared<String>,
    evaluated: Shared<Evaluated>,
}

struct Planner {
    worker: Option<Worker>,
    listeners: Vec<EventListener>,
    running: Option<Job>,
    waiting: Option<Job>,
    later: Option<Timeout>,
    pause: Option<Timeout>,
    next: u32,
    done: Callback<(Front, bool)>,
    lost: Callback<()>,
}

type Handle = Rc<RefCell<Planner>>;

impl Planner {
    fn start(done: Callback<(Front, bool)>, lost: Callback<()>) -> Handle {
        let handle = Rc::new(RefCell::new(Self {
            worker: None,
            listeners: Vec::new(),
            running: None,
            waiting: None,
            later: None,
            pause: None,
            next: 0,
            done,
            lost,
        }));
        if hire(&handle).is_none() {
            handle.borrow().lost.emit(());
        }
        handle
    }

    fn send(&mut self) {
        let (None, None, Some(worker)) = (&self.running, &self.pause, &self.worker) else { return };
        let Some(job) = self.waiting.take() else { return };
        let message = object(&[
            ("id", job.id.into()),
            ("call", "survey".into()),
            ("json", job.text.as_str().into()),
        ]);
        if worker.post_message(&message).is_ok() {
            self.running = Some(job);
        }
    }
}

fn hire(handle: &Handle) -> Option<()> {
    let worker = worker::hire("page")?;
    let on_message = EventListener::new(&worker, "message", {
        let handle = handle.clone();
        move |event| {
            if let Some(event) = event.dyn_ref::<MessageEvent>() {
                answered(&handle, &event.data());
            }
        }
    });
    let on_error = EventListener::new(&worker, "error", {
        let handle = handle.clone();
        move |_| dismissed(&handle)
    });
    let mut planner = handle.borrow_mut();
    planner.listeners = vec![on_message, on_error];
    planner.worker = Some(worker);
    Some(())
}

fn answered(handle: &Handle, data: &JsValue) {
    let get = |key: &str| Reflect::get(data, &key.into()).ok();
    let mut planner = handle.borrow_mut();
    let Some(job) = planner.running.take() else { return };
    let text = get("json").and_then(|json| json.as_string()).unwrap_or_default();
    let latest = planner.waiting.is_none();
    let done = planner.done.clone();
    planner.pause = Some(pause(handle));
    drop(planner);
    if let Ok((summaries, plain)) = serde_json::from_str::<(Vec<Summary>, Summary)>(&text) {
        done.emit((Front::from_survey(&job.evaluated.scenario, summaries, plain), latest));
    } else {
        handle.borrow_mut().running = Some(job);
        dismissed(handle);
    }
}

/// A breath between two searches: while dragging, most frames belong to what moves under the hand.
fn pause(handle: &Handle) -> Timeout {
    const BREATH_MS: u32 = 80;
    let handle = handle.clone();
    Timeout::new(BREATH_MS, move || {
        let mut planner = handle.borrow_mut();
        planner.pause = None;
        planner.send();
    })
}

/// The worker failed: what it was doing is done on the page, and so is all that follows.
fn dismissed(handle: &Handle) {
    let mut planner = handle.borrow_mut();
    if let Some(worker) = planner.worker.take() {
        worker.terminate();
    }
    let job = planner.waiting.take().or_else(|| planner.running.take());
    planner.running = None;
    let lost = planner.lost.clone();
    drop(planner);
    lost.emit(());
    if let Some(job) = job {
        on_the_page(handle, job);
    }
}

/// Searches on the page a moment after the last call, so that a drag is never in its way.
fn on_the_page(handle: &Handle, job: Job) {
    const PATIENCE_MS: u32 = 250;
    let done = handle.borrow().done.clone();
    let timeout =
        Timeout::new(PATIENCE_MS, move || done.emit((Front::of(&job.evaluated.scenario), true)));
    handle.borrow_mut().later = Some(timeout);
}

fn ask(handle: &Handle, text: Shared<String>, evaluated: Shared<Evaluated>) {
    let mut planner = handle.borrow_mut();
    planner.next += 1;
    let job = Job { id: planner.next, text, evaluated };
    if planner.worker.is_some() {
        planner.waiting = Some(job);
        planner.send();
    } else {
        drop(planner);
        on_the_page(handle, job);
    }
}

/// The front of `evaluated`, kept up with while it changes. `request` is its text.
#[hook]
pub fn use_search(evaluated: &Shared<Evaluated>, request: &Shared<String>) -> Search {
    let found = use_state(|| (None::<Shared<Front>>, true));
    let without_worker = use_state(|| false);
    let planner = use_mut_ref(|| None::<Handle>);
    let evaluated = evaluated.clone();
    {
        let (found, without_worker, planner) = (found.clone(), without_worker.clone(), planner);
        use_effect_with(request.clone(), move |request| {
            let handle = planner
                .borrow_mut()
                .get_or_insert_with(|| {
                    let done = {
                        let found = found.setter();
                        Callback::from(move |(front, latest): (Front, bool)| {
                            found.set((Some(Shared::new(front)), !latest));
                        })
                    };
                    let lost = {
                        let setter = without_worker.setter();
                        Callback::from(move |()| setter.set(true))
                    };
                    Planner::start(done, lost)
                })
                .clone();
            found.set((found.0.clone(), true));
            ask(&handle, request.clone(), evaluated);
        });
    }
    Search { front: found.0.clone(), stale: found.1, without_worker: *without_worker }
}
