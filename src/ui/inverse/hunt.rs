//! Answering a question a few milliseconds at a time, so that whatever moves under the reader's hand has its frames. One at a time: a new
//! question takes the place of the one that is being answered.

use crate::engine::Error;
use crate::engine::search::inverse::{Ask, Inverse};
use gloo::timers::callback::Timeout;
use serde_json::Value;
use std::cell::{Ref, RefCell};
use std::rc::Rc;
use yew::prelude::*;

/// Searching in one go; one plan more may take longer than what is left of it.
const SLICE_MS: f64 = 8.0;
/// And a pause in which the page draws and listens.
const PAUSE_MS: u32 = 8;

/// A question that was asked.
pub struct Asked {
    ask: Ask,
    /// The request that it is about, as text.
    pub request: AttrValue,
    /// The search, or what is wrong with the question.
    pub result: Result<Inverse, Error>,
    /// The answer is there.
    pub done: bool,
}

/// The questions so far.
pub struct Hunt {
    all: Rc<RefCell<Vec<Asked>>>,
    /// Takes a question: what, of which request, and its `inverse` group.
    pub start: Callback<(Ask, AttrValue, Value)>,
}

impl Hunt {
    /// The newest of that kind.
    pub fn asked(&self, ask: Ask) -> Option<Ref<'_, Asked>> {
        Ref::filter_map(self.all.borrow(), |all| all.iter().find(|one| one.ask == ask)).ok()
    }
}

/// Reads a question; the first steps come with the first slice.
fn asked(ask: Ask, request: AttrValue, group: Value) -> Asked {
    let mut value: Value = serde_json::from_str(&request).unwrap_or_default();
    value["inverse"] = group;
    let result = Inverse::read(&value);
    Asked { ask, request, done: result.is_err(), result }
}

/// Goes on for a slice.
fn further(all: &mut [Asked]) {
    let end = js_sys::Date::now() + SLICE_MS;
    for one in all.iter_mut().filter(|one| !one.done) {
        let Ok(inverse) = &mut one.result else { continue };
        while js_sys::Date::now() < end {
            if !inverse.advance(1) {
                one.done = true;
                break;
            }
        }
    }
}

/// The questions of a place, answered while nobody is `busy` dragging. One that is about another request is given up.
#[hook]
pub fn use_hunt(request: &AttrValue, busy: bool) -> Hunt {
    let all = use_mut_ref(Vec::<Asked>::new);
    let ticks = use_state(|| 0_u32);
    let start = {
        let (all, ticks) = (all.clone(), ticks.clone());
        Callback::from(move |(ask, request, group): (Ask, AttrValue, Value)| {
            let mut all = all.borrow_mut();
            all.retain(|one| one.done && one.ask != ask);
            all.push(asked(ask, request, group));
            ticks.set(ticks.wrapping_add(1));
        })
    };
    all.borrow_mut().retain(|one| one.done || one.request == *request);
    let open = all.borrow().iter().any(|one| !one.done);
    let due = (open && !busy).then_some(*ticks);
    {
        let all = all.clone();
        use_effect_with(due, move |due| {
            let timer = due.map(|_| {
                Timeout::new(PAUSE_MS, move || {
                    further(&mut all.borrow_mut());
                    ticks.set(ticks.wrapping_add(1));
                })
            });
            move || drop(timer)
        });
    }
    Hunt { all, start }
}
