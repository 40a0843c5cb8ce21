//! The playhead's clock: the only place that asks for animation frames. It asks only while playing, and stops with the page.

use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::window;
use yew::prelude::*;

/// Calls `tick` with the milliseconds since the last frame, while `running`.
#[hook]
pub fn use_frames(running: bool, tick: Callback<f64>) {
    let latest = use_mut_ref(|| tick.clone());
    *latest.borrow_mut() = tick;
    use_effect_with(running, move |&running| {
        let frames = running.then(|| Frames::start(latest));
        move || drop(frames)
    });
}

type Frame = Rc<RefCell<Option<Closure<dyn FnMut(f64)>>>>;

struct Frames {
    alive: Rc<RefCell<Option<i32>>>,
    frame: Frame,
}

impl Frames {
    fn start(tick: Rc<RefCell<Callback<f64>>>) -> Self {
        let alive = Rc::new(RefCell::new(None));
        let frame: Frame = Rc::default();
        let (next_alive, next_frame) = (alive.clone(), frame.clone());
        let mut last = None::<f64>;
        *frame.borrow_mut() = Some(Closure::new(move |now: f64| {
            let since = last.replace(now).map_or(0.0, |last| now - last);
            *next_alive.borrow_mut() = request(&next_frame);
            let tick = tick.borrow().clone();
            tick.emit(since);
        }));
        *alive.borrow_mut() = request(&frame);
        Self { alive, frame }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        if let (Some(window), Some(id)) = (window(), self.alive.borrow_mut().take()) {
            // A frame that is already gone is no loss.
            let _gone = window.cancel_animation_frame(id);
        }
        // The closure holds itself through `frame`: letting go of it here, after the frame that drops us has returned.
        let frame = self.frame.clone();
        gloo::timers::callback::Timeout::new(0, move || drop(frame.borrow_mut().take())).forget();
    }
}

fn request(frame: &Frame) -> Option<i32> {
    let frame = frame.borrow();
    window()?.request_animation_frame(frame.as_ref()?.as_ref().unchecked_ref()).ok()
}
