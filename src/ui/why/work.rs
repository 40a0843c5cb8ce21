//! Work a few milliseconds at a time, so that whatever moves under the reader's hand has its frames.

use gloo::timers::callback::Timeout;
use std::cell::RefCell;
use std::rc::Rc;
use yew::prelude::*;

/// Working in one go.
const SLICE_MS: f64 = 6.0;
/// And a pause in which a frame is drawn.
const PAUSE_MS: u32 = 8;

/// What is worked on.
pub struct Work<T, D> {
    of: D,
    /// It.
    pub task: Rc<RefCell<T>>,
    turn: u32,
    /// Nothing is left to do.
    pub done: bool,
}

impl<T, D: Clone> Clone for Work<T, D> {
    fn clone(&self) -> Self {
        let Self { of, task, turn, done } = self;
        Self { of: of.clone(), task: task.clone(), turn: *turn, done: *done }
    }
}

impl<T, D: PartialEq> Work<T, D> {
    /// Whether it is of something else.
    pub fn stale(&self, of: &D) -> bool {
        self.of != *of
    }
}

/// Begins with `of` and advances until there is nothing left to do, while nobody is `busy` dragging. What was finished, or is `ready` to be
/// shown, stays until the next is.
#[hook]
pub fn use_work<T: 'static, D: Clone + PartialEq + 'static>(
    of: &D,
    busy: bool,
    begin: fn(&D) -> T,
    advance: fn(&mut T) -> bool,
    ready: fn(&T) -> bool,
) -> Option<Work<T, D>> {
    let now = use_state(|| None::<Work<T, D>>);
    let last = use_mut_ref(|| None::<Work<T, D>>);
    let fresh = (*now).clone().filter(|work| work.of == *of);
    let shown = |work: &Work<T, D>| work.done || ready(&work.task.borrow());
    if let Some(work) = fresh.clone().filter(shown) {
        *last.borrow_mut() = Some(work);
    }
    let turn = fresh.as_ref().map(|work| (work.turn, work.done));
    use_effect_with((of.clone(), busy, turn), move |(of, busy, turn)| {
        let idle = *busy || turn.is_some_and(|(_, done)| done);
        let of = of.clone();
        let timer = (!idle).then(|| {
            Timeout::new(PAUSE_MS, move || {
                let start = || {
                    let task = Rc::new(RefCell::new(begin(&of)));
                    Work { of: of.clone(), task, turn: 0, done: false }
                };
                let mut work = fresh.unwrap_or_else(start);
                let end = js_sys::Date::now() + SLICE_MS;
                work.turn += 1;
                while !work.done && js_sys::Date::now() < end {
                    work.done = !advance(&mut work.task.borrow_mut());
                }
                now.set(Some(work));
            })
        });
        move || drop(timer)
    });
    last.borrow().clone()
}
