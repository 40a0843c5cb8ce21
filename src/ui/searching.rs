//! A search in slices of some milliseconds: what the worker does between two messages, and the page between two frames where there is
//! no worker. Only when it stops for breath depends on the clock; what it finds does not.

use super::best::Told;
use crate::engine::outcome::Summary;
use crate::engine::search::fastest;
use crate::engine::search::front::Survey;
use crate::engine::{Error, Scenario};
use serde::{Deserialize, Serialize};
use serde_json::json;
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
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "search",
            Self::Survey => "survey",
        }
    }
}

/// What a slice came to.
#[derive(Serialize, Deserialize)]
pub enum News {
    /// The numbers of the whole family, and of keep-everything.
    Survey(Vec<Summary>, Summary),
    /// A plan.
    Plan(Told),
}

/// A search under way.
pub enum Task {
    /// Of the fastest plan.
    Plan {
        /// It.
        search: Box<fastest::Search>,
        /// What was last told, and how many slices ago.
        told: Option<(Told, u32)>,
    },
    /// Of the family.
    Survey(Box<Survey>),
    /// Nothing is left to do.
    Over,
}

impl Task {
    /// Starts one.
    pub fn new(kind: Kind, scenario: &Scenario) -> Self {
        match kind {
            Kind::Plan => {
                Self::Plan { search: Box::new(fastest::Search::new(scenario)), told: None }
            }
            Kind::Survey => Self::Survey(Box::new(Survey::new(scenario))),
        }
    }

    /// Whether there is anything left to do.
    pub const fn over(&self) -> bool {
        matches!(self, Self::Over)
    }

    /// Goes on for about that many milliseconds, and says what is new.
    pub fn slice(&mut self, ms: f64) -> Option<News> {
        let until = now() + ms;
        match self {
            Self::Plan { search, told } => {
                let mut more = true;
                while more && now() < until {
                    more = search.advance(1);
                }
                let news = tell(search, told, !more);
                if !more {
                    *self = Self::Over;
                }
                news.map(News::Plan)
            }
            Self::Survey(survey) => {
                let mut more = true;
                while more && now() < until {
                    more = survey.advance();
                }
                if more {
                    return None;
                }
                let (numbers, plain) = survey.numbers();
                let news = News::Survey(numbers.to_vec(), plain);
                *self = Self::Over;
                Some(news)
            }
            Self::Over => None,
        }
    }
}

/// The first plan and the end at once; what lies between not more often than an eye follows.
fn tell(search: &fastest::Search, last: &mut Option<(Told, u32)>, done: bool) -> Option<Told> {
    const QUIET: u32 = 6;
    let found = search.found();
    if let Some((told, slices)) = last {
        *slices += 1;
        let same = told.summary == found.summary && told.bound == found.bound;
        if !done && (same || *slices < QUIET) {
            return None;
        }
    }
    let told =
        Told { policy: json!(found.policy), summary: found.summary, bound: found.bound, done };
    *last = Some((told.clone(), 0));
    Some(told)
}

thread_local! {
    /// What the worker does: a plan, and a family.
    static TASKS: RefCell<[Task; 2]> = const { RefCell::new([Task::Over, Task::Over]) };
}

/// Starts a search of this request in place of the one of that kind that runs.
///
/// # Errors
/// As [`Scenario::read`].
pub fn begin(kind: Kind, text: &str) -> Result<(), Error> {
    // The page's own request, which may hold a profile longer than what the doors take.
    let (scenario, _) = Scenario::read(&serde_json::from_str(text)?)?;
    TASKS.with_borrow_mut(|tasks| tasks[kind as usize] = Task::new(kind, &scenario));
    Ok(())
}

/// Goes on with it for about that many milliseconds: what is new as text, empty where nothing is; none once it has ended.
pub fn go_on(kind: Kind, ms: f64) -> Option<String> {
    TASKS.with_borrow_mut(|tasks| {
        let task = &mut tasks[kind as usize];
        let going = !task.over();
        let news = going.then(|| task.slice(ms)).flatten();
        let text = news.map(|news| serde_json::to_string(&news).unwrap_or_default());
        going.then(|| text.unwrap_or_default())
    })
}
