//! Fetching the cases, and computing them a few milliseconds at a time, so that whatever moves under the reader's hand has its frames.

use crate::accuracy::{Book, Row, run};
use crate::ui::Shared;
use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use web_sys::XmlHttpRequest;
use yew::prelude::*;

/// Where the cases are, from the page.
const ADDRESS: &str = "accuracy/cases.json";
/// Computing in one go.
const SLICE_MS: f64 = 6.0;
/// And as long a pause as a frame takes.
const PAUSE_MS: u32 = 16;

/// What is there so far.
#[derive(Clone)]
pub struct Cases {
    /// The cases, once fetched.
    pub book: Option<Shared<Book>>,
    /// Rows of those that are computed.
    pub rows: Shared<Vec<Row>>,
    /// How many are.
    pub done: usize,
    /// Why there are none.
    pub problem: Option<String>,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Fetch,
    Compute(usize),
    Nothing,
}

impl Cases {
    fn none() -> Self {
        Self { book: None, rows: Shared::new(Vec::new()), done: 0, problem: None }
    }

    fn of(fetched: Result<String, u16>) -> Self {
        let book = fetched.map(|text| Book::read(&text).map(Shared::new));
        let problem = match &book {
            Ok(Some(_)) => None,
            Ok(None) => Some(ADDRESS.to_owned()),
            Err(status) => Some(format!("{ADDRESS} ({status})")),
        };
        Self { book: book.ok().flatten(), problem, ..Self::none() }
    }

    /// How many cases there are.
    pub fn all(&self) -> usize {
        self.book.as_ref().map_or(0, |book| book.cases().count())
    }

    /// With the rows of a few more cases.
    fn further(&self) -> Self {
        let Some(book) = &self.book else { return self.clone() };
        let mut rows = (*self.rows).clone();
        let mut done = self.done;
        let end = js_sys::Date::now() + SLICE_MS;
        for case in book.cases().skip(self.done) {
            rows.extend(run::evaluate(&case));
            done += 1;
            if js_sys::Date::now() >= end {
                break;
            }
        }
        Self { rows: Shared::new(rows), done, ..self.clone() }
    }
}

/// The cases, fetched when the section is `open` and computed while nobody is `busy` dragging. Closed and opened again, it tries
/// again what failed.
#[hook]
pub fn use_cases(open: bool, busy: bool) -> Cases {
    let cases = use_state(Cases::none);
    let next = match &cases.book {
        None if open => Next::Fetch,
        Some(_) if open && !busy && cases.done < cases.all() => Next::Compute(cases.done),
        _ => Next::Nothing,
    };
    let now = cases.clone();
    use_effect_with(next, move |next| {
        let mut timer = None;
        let mut answer = None;
        match next {
            Next::Fetch => answer = fetch(move |text| now.set(Cases::of(text))),
            Next::Compute(_) => {
                timer = Some(Timeout::new(PAUSE_MS, move || now.set(now.further())));
            }
            Next::Nothing => {}
        }
        move || drop((timer, answer))
    });
    (*cases).clone()
}

/// Asks for the file, and gives its text or the status that came in its place; dropping what this returns forgets the answer.
fn fetch(then: impl Fn(Result<String, u16>) + 'static) -> Option<EventListener> {
    let request = XmlHttpRequest::new().ok()?;
    let answer = request.clone();
    let listener = EventListener::new(&request, "loadend", move |_| {
        then(match (answer.status(), answer.response_text()) {
            (Ok(200), Ok(Some(text))) => Ok(text),
            (status, _) => Err(status.unwrap_or_default()),
        });
    });
    // What cannot be sent ends at once, with status 0.
    let _sent = request.open("GET", ADDRESS).and_then(|()| request.send());
    Some(listener)
}
