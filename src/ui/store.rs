//! The page's one state. `reduce` has no effects: it reads a new request and keeps the last good one when that fails.

use crate::engine::error::{Clamped, Error};
use crate::engine::{Policy, PolicyKind};
use crate::import::{Imported, Kind, Measured};
use crate::link::{Link, View};
use crate::request::{Reading, Request};
use crate::ui::Shared;
use crate::ui::best::{self, Best, Told};
use crate::ui::chart::Evaluated;
use crate::words::Locale;
use serde_json::Value;
use std::rc::Rc;
use yew::Reducible;

/// What can be done to the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// A knob moves: paths and values (null unsets). While dragging.
    Preview(Vec<(String, Value)>),
    /// The same, on release: one entry in the history.
    Commit(Vec<(String, Value)>),
    /// Another preset of a group.
    Preset(&'static str, String),
    /// Another policy, from a dot of the front.
    Choose(Policy),
    /// What a search found, and the revision that it is of.
    Found(Told, u32),
    /// A file or pasted text was read.
    Import(Imported),
    /// The measurement is no longer wanted.
    Unmeasure,
    /// The address changed under the page.
    Load(Link),
    /// Another language.
    Speak(Locale),
    /// Another theme; none follows the system.
    Paint(Option<String>),
    /// The notice was read.
    Dismiss,
    /// Back to the opening scenario.
    Reset,
}

/// Everything the page shows is derived from this.
#[derive(Clone)]
pub struct State {
    /// What is asked; always readable.
    pub request: Request,
    /// What it comes to.
    pub evaluated: Shared<Evaluated>,
    /// How many requests there were before: names this one.
    pub revision: u32,
    /// What is known of the plan shown, where the best one is asked for.
    pub best: Option<Best>,
    /// Why the last change was refused.
    pub problem: Option<Error>,
    /// What was brought into range by the last change.
    pub clamped: Vec<Clamped>,
    /// Unknown keys of the last link or paste.
    pub ignored: Vec<String>,
    /// Language, theme, embedding.
    pub view: View,
    /// The language in force.
    pub locale: Locale,
    /// How many decisions were committed: each is one entry in the history.
    pub commits: u32,
    /// The last commit turned the same knob as the one before: one decision, one entry.
    pub same_knob: bool,
    /// What the last commit turned.
    turned: Vec<String>,
    /// A slider is being dragged: marks follow it at once, without transitions.
    pub turning: bool,
    /// The last change came from the address, which therefore has it already.
    pub from_address: bool,
    /// What was measured, to be shown beside the prediction; in no address.
    pub measured: Option<Shared<Measured>>,
}

impl State {
    /// From a link, in the browser's language unless the link names one.
    #[must_use]
    pub fn open(link: Link, browser: Locale) -> Self {
        let opening = Request::read(Request::opening())
            .unwrap_or_else(|error| unreachable!("the opening scenario: {error}"));
        let state = Self {
            evaluated: best::evaluated(
                opening.scenario,
                opening.notes,
                &Policy::new(PolicyKind::Keep),
            ),
            request: opening.request,
            revision: 0,
            best: None,
            problem: None,
            clamped: Vec::new(),
            ignored: Vec::new(),
            locale: browser,
            view: View::default(),
            commits: 0,
            same_knob: false,
            turned: Vec::new(),
            turning: false,
            from_address: true,
            measured: None,
        };
        state.load(link)
    }

    fn load(mut self, link: Link) -> Self {
        (self.same_knob, self.turned) = (false, Vec::new());
        if let Some(tag) = &link.view.lang {
            self.locale = Locale::from_tag(tag);
        }
        self.view = link.view;
        let value = link.request.unwrap_or_else(Request::opening);
        let mut next = self.take(Request::read(value));
        next.ignored.extend(link.unknown);
        next.from_address = true;
        next
    }

    /// The state after a reading: the new scenario, or the old one and why.
    fn take(mut self, reading: Result<Reading, Error>) -> Self {
        match reading {
            Ok(Reading { request, scenario, notes }) => {
                self.problem = None;
                self.clamped.clone_from(&notes.clamped);
                self.ignored.clone_from(&notes.ignored);
                if request != self.request {
                    let before = &self.evaluated.outcome.policy;
                    self.evaluated = best::evaluated(scenario, notes, before);
                    self.request = request;
                    self.revision += 1;
                    let best = self.evaluated.scenario.asks_for_best();
                    self.best = best.then(|| self.best.unwrap_or_default().aged());
                }
            }
            Err(error) => self.problem = Some(error),
        }
        self.from_address = false;
        self
    }

    /// What a file says. A curve is no decision about the scenario, and a model without a measurement leaves no old one.
    fn import(self, imported: Imported) -> Self {
        let reading = self.request.with_import(&imported);
        let curve = imported.kind == Kind::Curve;
        let next = if curve { self } else { self.take(reading).committed() };
        if next.problem.is_some() && !curve {
            return next;
        }
        Self { measured: imported.measured.map(Shared::new), problem: None, ..next }
    }

    fn change(self, changes: &[(String, Value)]) -> Self {
        let changes: Vec<(&str, Value)> =
            changes.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
        let reading = self.request.with(&changes);
        self.take(reading)
    }

    fn committed(mut self) -> Self {
        (self.same_knob, self.turned) = (false, Vec::new());
        if self.problem.is_none() {
            self.commits += 1;
        }
        self
    }

    /// What a search found is shown, unless another request has come in between.
    fn found(self: Rc<Self>, told: &Told, revision: u32) -> Rc<Self> {
        if self.best.is_none() || revision != self.revision {
            return self;
        }
        let (evaluated, best) = best::improved(&self.evaluated, told);
        Rc::new(Self { evaluated, best: Some(best), ..Rc::unwrap_or_clone(self) })
    }

    /// The theme in force, if one was chosen.
    #[must_use]
    pub fn theme(&self) -> Option<&str> {
        self.view.theme.as_deref()
    }
}

impl Reducible for State {
    type Action = Msg;

    fn reduce(self: Rc<Self>, msg: Msg) -> Rc<Self> {
        if let Msg::Found(told, revision) = &msg {
            return self.found(told, *revision);
        }
        let turning = matches!(msg, Msg::Preview(_));
        let state = Self { turning, ..Rc::unwrap_or_clone(self) };
        Rc::new(match msg {
            Msg::Preview(changes) => state.change(&changes),
            Msg::Commit(changes) => {
                let paths: Vec<String> = changes.iter().map(|(path, _)| path.clone()).collect();
                let same_knob = paths == state.turned;
                let next = state.change(&changes).committed();
                // What was refused is no decision: the next turn has an entry of its own.
                if next.problem.is_some() {
                    next
                } else {
                    State { same_knob, turned: paths, ..next }
                }
            }
            Msg::Preset(group, id) => {
                let reading = state.request.with_preset(group, &id);
                state.take(reading).committed()
            }
            Msg::Choose(policy) => {
                let reading = state.request.with_policy(&policy);
                state.take(reading).committed()
            }
            Msg::Import(imported) => state.import(imported),
            Msg::Found(..) => state,
            Msg::Unmeasure => State { measured: None, ..state },
            Msg::Load(link) => state.load(link),
            Msg::Speak(locale) => {
                let view = View { lang: Some(locale.tag().to_owned()), ..state.view.clone() };
                State { view, locale, from_address: false, ..state }.committed()
            }
            Msg::Paint(theme) => {
                let view = View { theme, ..state.view.clone() };
                State { view, from_address: false, ..state }.committed()
            }
            Msg::Dismiss => {
                State { problem: None, clamped: Vec::new(), ignored: Vec::new(), ..state }
            }
            Msg::Reset => {
                let next = state.take(Request::read(Request::opening())).committed();
                State { measured: None, ..next }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(state: Rc<State>, msg: Msg) -> Rc<State> {
        state.reduce(msg)
    }

    fn turn(path: &str, value: impl Into<Value>) -> Msg {
        Msg::Commit(vec![(path.to_owned(), value.into())])
    }

    #[test]
    fn the_same_knob_turned_on_is_one_entry_and_nothing_else_is() {
        let link = || crate::link::read("", "");
        let mut state = Rc::new(State::open(link(), Locale::En));
        state = after(state, turn("policy.k", 3));
        assert!(!state.same_knob, "a first turn is an entry");
        state = after(state, turn("policy.k", 5));
        assert!(state.same_knob, "turned on, it is the same");
        state = after(state, turn("policy.kind", "checkpoint"));
        assert!(!state.same_knob);
        state = after(state, turn("policy.k", "many"));
        state = after(state, turn("policy.k", 6));
        assert!(!state.same_knob, "a refused turn is no entry to be replaced");
        state = after(state, Msg::Load(link()));
        state = after(state, turn("policy.k", 7));
        assert!(!state.same_knob, "nor is the one that Back came to");
    }

    #[test]
    fn a_measurement_stays_until_it_is_taken_away() {
        let read = |text: &str| Msg::Import(crate::import::import_text(text).expect("a file"));
        let curve = || read(r#"{"galley": "memory", "v": 1, "curve": [[0, 1], [1, 2]]}"#);
        let mut state = Rc::new(State::open(crate::link::read("", ""), Locale::En));
        state = after(state, curve());
        assert!(state.measured.is_some());
        assert_eq!(state.commits, 0, "a curve is no decision");
        state = after(state, turn("policy.k", 3));
        assert!(state.measured.is_some(), "a knob leaves it");
        state = after(state, read(r#"{"kind": "profile", "layers": []}"#));
        assert!(state.problem.is_some() && state.measured.is_some(), "so does what is refused");
        state = after(state, Msg::Unmeasure);
        assert!(state.measured.is_none());
        let lesson = r#"{"kind": "lesson"}"#;
        state = after(after(state, curve()), read(lesson));
        assert!(state.measured.is_none(), "another model has not been measured");
        state = after(after(state, curve()), Msg::Reset);
        assert!(state.measured.is_none());
    }
}
