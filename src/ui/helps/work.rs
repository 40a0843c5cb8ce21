//! The map and the sensitivities, computed a few milliseconds at a time while the section is open. One of each runs; a scenario that
//! comes meanwhile waits, the newest alone, so that they follow a drag without starting over at each of its steps.

use crate::engine::Scenario;
use crate::engine::search::map::{Known, Map};
use crate::engine::search::sensitivity::{Report, Sensitivity};
use crate::ui::Shared;
use crate::ui::chart::Evaluated;
use gloo::timers::callback::Timeout;
use std::cell::RefCell;
use std::rc::Rc;
use yew::prelude::*;

/// Computing in one go, and the pause after it: while somebody drags, most of a frame is theirs.
const SLICE_MS: f64 = 5.0;
const PAUSE_MS: u32 = 4;
const BUSY_PAUSE_MS: u32 = 20;
/// A map whose cells are searched is drawn again after so long.
const REDRAW_MS: f64 = 250.0;

/// What is there.
#[derive(Clone, Default, PartialEq)]
pub struct Found {
    /// The map, as far as it is known.
    pub map: Option<Shared<Known>>,
    /// It is of an older scenario.
    pub map_stale: bool,
    /// Its cells are still being searched.
    pub map_searching: bool,
    /// What a unit of each would change.
    pub report: Option<Shared<Report>>,
    /// It is of an older scenario.
    pub report_stale: bool,
    /// How many of its searches are done, of how many.
    pub searched: (usize, usize),
}

#[derive(Default)]
struct Desk {
    /// The newest scenario.
    wanted: Option<Shared<Evaluated>>,
    map: Option<(Shared<Evaluated>, Map)>,
    /// The map has been drawn as a whole before.
    drawn: bool,
    /// Every cell is searched.
    arrived: bool,
    /// The levers are next, not the map.
    levers_next: bool,
    /// When the map was drawn last.
    drawn_at: f64,
    levers: Option<(Shared<Evaluated>, Sensitivity)>,
    found: Found,
    timer: Option<Timeout>,
}

impl Desk {
    /// Works until `end`; whether there is more to do.
    fn work(&mut self, end: f64, busy: bool) -> bool {
        loop {
            if !self.further(busy) {
                return false;
            }
            if js_sys::Date::now() >= end {
                return true;
            }
        }
    }

    /// One piece of work; false when there is none. While somebody is still turning, the first picture follows; the searches wait until they let go.
    fn further(&mut self, busy: bool) -> bool {
        let Some(wanted) = self.wanted.clone() else { return false };
        match &mut self.map {
            Some((_, map)) if !map.is_whole() => {
                map.advance(1);
                if map.is_whole() {
                    self.drawn = true;
                    self.draw();
                }
                return true;
            }
            Some((of, map)) if *of == wanted => {
                if busy {
                    return false;
                }
                // The map and the levers take turns.
                self.levers_next = !self.levers_next && self.found.report_stale;
                if !self.arrived && !self.levers_next {
                    self.arrived = !map.advance(1);
                    if self.arrived {
                        self.draw();
                    }
                    return true;
                }
            }
            _ => {
                self.turn_to(wanted);
                return true;
            }
        }
        match &mut self.levers {
            Some((of, levers)) if *of == wanted => {
                let more = levers.advance(1);
                self.found.searched = levers.progress();
                if more {
                    return true;
                }
                if !self.found.report_stale {
                    return false;
                }
                self.found.report = levers.report().map(Shared::new);
                self.found.report_stale = false;
                !self.arrived
            }
            _ => {
                let levers = Sensitivity::new(&wanted.scenario);
                self.levers = Some((wanted, levers));
                true
            }
        }
    }

    fn turn_to(&mut self, wanted: Shared<Evaluated>) {
        let scenario: &Scenario = &wanted.scenario;
        let map = match self.map.take() {
            Some((_, mut map)) if map.covers(scenario) => {
                map.moved_to(scenario);
                map
            }
            _ => Map::new(scenario),
        };
        self.map = Some((wanted, map));
        self.arrived = false;
    }

    fn draw(&mut self) {
        let Some((of, map)) = &self.map else { return };
        self.found.map = Some(Shared::new(map.known()));
        self.found.map_stale = self.wanted.as_ref() != Some(of);
        self.found.map_searching = !self.arrived;
        self.drawn_at = js_sys::Date::now();
    }

    /// A first map is drawn as it comes; a later one takes the place of the old one at once, and then as its cells are searched.
    fn show(&mut self) {
        let is_whole = self.map.as_ref().is_some_and(|(_, map)| map.is_whole());
        let due = js_sys::Date::now() - self.drawn_at > REDRAW_MS;
        if !self.drawn || (is_whole && !self.arrived && due) {
            self.draw();
        }
    }

    /// A new scenario: what is there is of an older one, unless the map is the same.
    fn want(&mut self, evaluated: &Shared<Evaluated>) {
        if self.wanted.as_ref() == Some(evaluated) {
            return;
        }
        let same = self.map.as_ref().is_some_and(|(_, map)| map.covers(&evaluated.scenario));
        self.found.map_stale |= !same;
        self.found.report_stale = true;
        self.wanted = Some(evaluated.clone());
    }
}

type Handle = Rc<RefCell<Desk>>;

fn later(desk: &Handle, busy: bool, tell: &UseStateSetter<Found>) {
    let pause = if busy { BUSY_PAUSE_MS } else { PAUSE_MS };
    let (again, tell) = (desk.clone(), tell.clone());
    let timer = Timeout::new(pause, move || {
        let mut desk = again.borrow_mut();
        let more = desk.work(js_sys::Date::now() + SLICE_MS, busy);
        desk.show();
        tell.set(desk.found.clone());
        drop(desk);
        if more {
            later(&again, busy, &tell);
        }
    });
    desk.borrow_mut().timer = Some(timer);
}

/// What is found of `evaluated` while the section is `open`, kept up with as it changes; `busy` while somebody drags.
#[hook]
pub fn use_found(evaluated: &Shared<Evaluated>, open: bool, busy: bool) -> Found {
    let found = use_state_eq(Found::default);
    let desk = use_mut_ref(Desk::default);
    let tell = found.setter();
    use_effect_with((evaluated.clone(), open, busy), move |(evaluated, open, busy)| {
        if *open {
            desk.borrow_mut().want(evaluated);
            tell.set(desk.borrow().found.clone());
            later(&desk, *busy, &tell);
        }
        move || drop(desk.borrow_mut().timer.take())
    });
    (*found).clone()
}
