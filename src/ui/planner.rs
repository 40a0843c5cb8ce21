//! The searches, in a worker of their own: of the fastest plan, and of the family that a front is drawn over. Latest wins: a newer
//! request ends the search of a plan at once; a survey that runs is finished, so that the front follows a drag, and the newest waits. Where
//! there is no worker, or it falls silent, both run on the page in slices.

use super::best::Told;
use super::searching::{self, Kind};
use crate::engine::search::front::Front;
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

/// What the searches know.
#[derive(Clone, PartialEq, Default)]
pub struct Search {
    /// The last front that came back.
    pub front: Option<Shared<Front>>,
    /// It is of an older request than the page shows.
    pub stale: bool,
    /// The fastest plan found, of the front's request or a newer one.
    pub found: Option<Shared<Told>>,
    /// No worker could be had, or it fell silent.
    pub without_worker: bool,
}

/// What a planner tells the page; requests are named by their revision.
enum Answer {
    Front(Front, u32),
    Plan(Told, u32),
    Lost,
}

/// A request to be searched.
#[derive(Clone)]
struct Job {
    revision: u32,
    text: Shared<String>,
    evaluated: Shared<Evaluated>,
}

/// One of the two searches.
struct Lane {
    running: Option<Job>,
    /// It has answered.
    heard: bool,
    waiting: Option<Job>,
}

impl Lane {
    const IDLE: Self = Self { running: None, heard: false, waiting: None };

    const fn busy(&self) -> bool {
        self.running.is_some() || self.waiting.is_some()
    }
}

struct Planner {
    worker: Option<(Worker, [EventListener; 2])>,
    lanes: [Lane; 2],
    /// The page shows the plan that is searched, so that it comes first.
    best: bool,
    /// Until the next survey.
    pause: Option<Timeout>,
    /// Until the next slice on the page.
    later: Option<Timeout>,
    /// Until the worker has to have said something.
    watch: Option<Timeout>,
    /// How often it had not.
    missed: u32,
    /// It has said something at all.
    loaded: bool,
    told: Callback<Answer>,
}

type Handle = Rc<RefCell<Planner>>;

impl Planner {
    fn lane(&mut self, kind: Kind) -> &mut Lane {
        &mut self.lanes[kind as usize]
    }

    /// Gives the worker what it can begin.
    fn send(&mut self) {
        let [plan, survey] = &self.lanes;
        let plan_may = plan.running.is_none() || plan.heard;
        let (plan, survey) = if self.best {
            (plan_may, plan_may && plan.waiting.is_none())
        } else {
            (plan_may && !survey.busy(), true)
        };
        if plan {
            self.post(Kind::Plan);
        }
        if survey && self.pause.is_none() && self.lane(Kind::Survey).running.is_none() {
            self.post(Kind::Survey);
        }
    }

    fn post(&mut self, kind: Kind) {
        let Some((worker, _)) = &self.worker else { return };
        let lane = &mut self.lanes[kind as usize];
        let Some(job) = lane.waiting.take() else { return };
        let message = object(&[
            ("id", job.revision.into()),
            ("call", kind.name().into()),
            ("json", job.text.as_str().into()),
        ]);
        if worker.post_message(&message).is_ok() {
            (lane.running, lane.heard) = (Some(job), false);
        }
    }

    /// Which search has the next slice on the page.
    fn turn(&self) -> Option<Kind> {
        let order = if self.best { [Kind::Plan, Kind::Survey] } else { [Kind::Survey, Kind::Plan] };
        order.into_iter().find(|&kind| self.lanes[kind as usize].busy())
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
        move |_| dismiss(&handle)
    });
    handle.borrow_mut().worker = Some((worker, [on_message, on_error]));
    Some(())
}

/// A message of the worker's: an answer, or a sign of life.
fn answered(handle: &Handle, data: &JsValue) {
    let get = |key: &str| Reflect::get(data, &key.into()).ok();
    let text = |key: &str| get(key).and_then(|value| value.as_string());
    let mut planner = handle.borrow_mut();
    (planner.missed, planner.loaded) = (0, true);
    if text("error").is_some() {
        drop(planner);
        return dismiss(handle);
    }
    let plan = text("call").is_some_and(|call| call == Kind::Plan.name());
    let kind = if plan { Kind::Plan } else { Kind::Survey };
    let lane = planner.lane(kind);
    let id = get("id").and_then(|id| id.as_f64());
    // What is of an older request comes too late.
    if lane.running.as_ref().map(|job| f64::from(job.revision)) != id {
        return;
    }
    lane.heard = true;
    drop(planner);
    heard(handle, kind, &text("json").unwrap_or_default());
    pump(handle);
}

/// What a slice says, if it says anything.
fn heard(handle: &Handle, kind: Kind, text: &str) {
    let mut planner = handle.borrow_mut();
    let running = &mut planner.lane(kind).running;
    let answer = match kind {
        Kind::Survey => searching::surveyed(text).and_then(|(summaries, plain)| {
            let Job { evaluated, revision, .. } = running.take()?;
            let front = Front::from_survey(&evaluated.scenario, summaries, plain);
            Some(Answer::Front(front, revision))
        }),
        Kind::Plan => searching::told(text).and_then(|told| {
            let revision = running.as_ref()?.revision;
            if told.done {
                *running = None;
            }
            Some(Answer::Plan(told, revision))
        }),
    };
    if planner.worker.is_some() && matches!(answer, Some(Answer::Front(..))) {
        planner.pause = Some(pause(handle));
    }
    let callback = planner.told.clone();
    drop(planner);
    if let Some(answer) = answer {
        callback.emit(answer);
    }
}

/// A breath between two surveys: while dragging, most frames belong to what moves under the hand.
fn pause(handle: &Handle) -> Timeout {
    const BREATH_MS: u32 = 80;
    let handle = handle.clone();
    Timeout::new(BREATH_MS, move || {
        handle.borrow_mut().pause = None;
        pump(&handle);
    })
}

/// Lets whatever can run, run.
fn pump(handle: &Handle) {
    let mut planner = handle.borrow_mut();
    if planner.worker.is_some() {
        planner.send();
        let running = planner.lanes.iter().any(|lane| lane.running.is_some());
        planner.watch =
            if running { planner.watch.take().or_else(|| Some(watch(handle))) } else { None };
    } else if planner.later.is_none() && planner.turn().is_some() {
        planner.later = Some(later(handle, 0));
    }
}

/// The worker has to say something every second while it works. A page that was frozen has two periods to hear what it said meanwhile; the
/// program itself may take longer to come.
fn watch(handle: &Handle) -> Timeout {
    const PERIOD_MS: u32 = 2500;
    let handle = handle.clone();
    Timeout::new(PERIOD_MS, move || {
        let mut planner = handle.borrow_mut();
        planner.watch = None;
        planner.missed += 1;
        let most = if planner.loaded { 2 } else { 8 };
        let silent = planner.missed >= most;
        drop(planner);
        if silent {
            dismiss(&handle);
        } else {
            pump(&handle);
        }
    })
}

/// The worker failed or fell silent: what it was doing is done on the page, and so is all that follows.
fn dismiss(handle: &Handle) {
    let mut planner = handle.borrow_mut();
    if let Some((worker, _)) = planner.worker.take() {
        worker.terminate();
    }
    (planner.pause, planner.watch) = (None, None);
    for lane in &mut planner.lanes {
        let job = lane.waiting.take().or_else(|| lane.running.take());
        *lane = Lane { waiting: job, ..Lane::IDLE };
    }
    let told = planner.told.clone();
    drop(planner);
    told.emit(Answer::Lost);
    pump(handle);
}

/// A slice on the page: short, and a task of its own, so that what a hand does comes in between.
fn later(handle: &Handle, ms: u32) -> Timeout {
    let handle = handle.clone();
    Timeout::new(ms, move || {
        slice(&handle);
        pump(&handle);
    })
}

fn slice(handle: &Handle) {
    const SLICE_MS: f64 = 5.0;
    let mut planner = handle.borrow_mut();
    planner.later = None;
    let Some(kind) = planner.turn() else { return };
    let lane = planner.lane(kind);
    if let Some(job) = lane.waiting.take() {
        // Reading it is a slice of its own; a request that reads here reads there.
        lane.running = searching::begin(kind, job.text.as_str()).ok().map(|()| job);
        return;
    }
    drop(planner);
    match searching::go_on(kind, SLICE_MS) {
        Some(text) => heard(handle, kind, &text),
        None => handle.borrow_mut().lane(kind).running = None,
    }
}

/// A newer request.
fn ask(handle: &Handle, job: &Job) {
    const PATIENCE_MS: u32 = 250;
    let mut planner = handle.borrow_mut();
    planner.best = job.evaluated.scenario.asks_for_best();
    for lane in &mut planner.lanes {
        lane.waiting = Some(job.clone());
    }
    if let Some((worker, _)) = &planner.worker {
        if !planner.best {
            // Nobody waits for it any more.
            let _gone = worker.post_message(&object(&[("call", "stop".into())]));
            planner.lane(Kind::Plan).running = None;
        }
    } else {
        for lane in &mut planner.lanes {
            lane.running = None;
        }
        // A front can wait until the hand lets go; a plan that is shown cannot.
        planner.later = Some(later(handle, if planner.best { 0 } else { PATIENCE_MS }));
    }
    drop(planner);
    pump(handle);
}

/// The front of the request, and the fastest plan that fits, kept up with while it changes. What is found of a plan is also told to `onfound`,
/// with the revision that it is of.
#[hook]
pub fn use_search(
    evaluated: &Shared<Evaluated>,
    request: &Shared<String>,
    revision: u32,
    onfound: &Callback<(Told, u32)>,
) -> Search {
    let front = use_state(|| None::<(Shared<Front>, u32)>);
    let found = use_state(|| None::<(Shared<Told>, u32)>);
    let without_worker = use_state_eq(|| false);
    let planner = use_memo((), |()| {
        let (front, found, lost) = (front.setter(), found.setter(), without_worker.setter());
        let onfound = onfound.clone();
        Rc::new(RefCell::new(Planner {
            worker: None,
            lanes: [Lane::IDLE, Lane::IDLE],
            best: false,
            pause: None,
            later: None,
            watch: None,
            missed: 0,
            loaded: false,
            told: Callback::from(move |answer| match answer {
                Answer::Front(one, revision) => front.set(Some((Shared::new(one), revision))),
                Answer::Plan(told, revision) => {
                    found.set(Some((Shared::new(told.clone()), revision)));
                    onfound.emit((told, revision));
                }
                Answer::Lost => lost.set(true),
            }),
        }))
    });
    {
        let planner = planner.clone();
        use_effect_with((), move |()| {
            if hire(&planner).is_none() {
                planner.borrow().told.emit(Answer::Lost);
            }
            move || {
                let mut planner = planner.borrow_mut();
                planner.lanes = [Lane::IDLE, Lane::IDLE];
                (planner.pause, planner.later, planner.watch) = (None, None, None);
                if let Some((worker, _)) = planner.worker.take() {
                    worker.terminate();
                }
            }
        });
    }
    {
        let job = Job { revision, text: request.clone(), evaluated: evaluated.clone() };
        use_effect_with(revision, move |_| ask(&planner, &job));
    }
    let of = front.as_ref().map(|(_, of)| *of);
    Search {
        front: front.as_ref().map(|(front, _)| front.clone()),
        stale: of != Some(revision),
        found: found.as_ref().filter(|(_, found)| Some(*found) >= of).map(|(told, _)| told.clone()),
        without_worker: *without_worker,
    }
}
