//! A search in slices of some milliseconds: what the worker does between two messages, and the page between two frames where there is
//! no worker. Only when it stops for breath depends on the clock; what it finds does not.

use super::best::Told;
use crate::engine::outcome::Summary;
use crate::engine::search::fastest::{self, Found};
use crate::engine::search::front::Survey;
use crate::engine::{Error, Nanos, Policy, Scenario};
use serde_json::{Value, json};
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The clock of the page, or of the worker.
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

/// Which search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The fastest plan.
    Plan,
    /// The family of plans.
    Survey,
}

impl Kind {
    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "search",
            Self::Survey => "survey",
        }
    }
}

/// A search under way.
enum Task {
    /// Of the fastest plan; how many slices ago which was told.
    Plan(Box<fastest::Search>, Option<(Summary, Option<Nanos>, u32)>),
    /// Of the family.
    Survey(Box<Survey>),
    /// Nothing is left to do.
    Over,
}

thread_local! {
    /// A plan, and a family.
    static TASKS: RefCell<[Task; 2]> = const { RefCell::new([Task::Over, Task::Over]) };
}

/// Starts a search of this request in place of the one of that kind that runs.
///
/// # Errors
/// As [`Scenario::read`].
pub fn begin(kind: Kind, text: &str) -> Result<(), Error> {
    // The page's own request, which may hold a profile longer than what the doors take.
    let (scenario, _) = Scenario::read(&serde_json::from_str(text)?)?;
    let task = match kind {
        Kind::Plan => Task::Plan(Box::new(fastest::Search::new(&scenario)), None),
        Kind::Survey => Task::Survey(Box::new(Survey::new(&scenario))),
    };
    TASKS.with_borrow_mut(|tasks| tasks[kind as usize] = task);
    Ok(())
}

/// Goes on with it for about that many milliseconds: what is new as text ([`told`] or [`surveyed`] read it), empty where nothing is; none
/// once it has ended.
#[must_use]
pub fn go_on(kind: Kind, ms: f64) -> Option<String> {
    let until = now() + ms;
    TASKS.with_borrow_mut(|tasks| {
        let task = &mut tasks[kind as usize];
        let mut more = true;
        let news = match task {
            Task::Plan(search, last) => {
                while more && now() < until {
                    more = search.advance(1);
                }
                is_news(search.found(), last, !more).then(|| {
                    let Found { policy, summary, bound, .. } = search.found();
                    serde_json::to_string(&(json!(policy), summary, bound, !more))
                })
            }
            Task::Survey(survey) => {
                while more && now() < until {
                    more = survey.advance();
                }
                (!more).then(|| serde_json::to_string(&survey.numbers()))
            }
            Task::Over => return None,
        };
        if !more {
            *task = Task::Over;
        }
        Some(news.and_then(Result::ok).unwrap_or_default())
    })
}

/// The first plan and the end are told at once; what lies between not more often than an eye follows.
fn is_news(found: &Found, last: &mut Option<(Summary, Option<Nanos>, u32)>, done: bool) -> bool {
    const QUIET: u32 = 6;
    if let Some((summary, bound, slices)) = last {
        *slices += 1;
        let same = *summary == found.summary && *bound == found.bound;
        if !done && (same || *slices < QUIET) {
            return false;
        }
    }
    *last = Some((found.summary, found.bound, 0));
    true
}

/// What a slice says of a plan.
#[must_use]
pub fn told(text: &str) -> Option<Told> {
    let (policy, summary, bound, done) = serde_json::from_str::<(Value, _, _, _)>(text).ok()?;
    Some(Told { policy: Policy::of_value(&policy).ok()?, summary, bound, done })
}

/// What the last slice says of the family: the numbers of its members, and of keep-everything.
#[must_use]
pub fn surveyed(text: &str) -> Option<(Vec<Summary>, Summary)> {
    serde_json::from_str(text).ok()
}
