//! Questions asked the other way round: not what a setting comes to, but which setting comes to what is wanted. Principal type
//! [`Inverse`]; its law: every answer was tried, and so was its neighbour, which is not good enough. Searches are advanced a little at a
//! time, so that a page can go on drawing; what they find depends on the request alone.

pub mod bandwidth;
mod bisect;
pub mod card;
pub mod count;
mod json;
pub mod memory;
mod read;
pub mod trial;

pub use json::json;
pub use read::{Ask, Question, possible};

use super::super::error::{Error, Notes};
use super::super::evaluate;
use super::super::policy::Policy;
use super::super::scenario::Scenario;
use serde_json::Value;
use trial::{Trial, Until};

/// A request without its question, the question, the scenario, and what was tolerated.
fn parts(request: &Value) -> Result<(Value, Question, Scenario, Notes), Error> {
    let mut request = request.clone();
    let group = request.as_object_mut().and_then(|object| object.remove("inverse"));
    let (scenario, mut notes) = Scenario::read(&request)?;
    let question = Question::read(group.as_ref(), &scenario, &mut notes)?;
    Ok((request, question, scenario, notes))
}

/// Whether a request can be asked its question: what [`Inverse::read`] refuses, without its first steps.
///
/// # Errors
/// As [`Inverse::read`].
pub fn check(request: &Value) -> Result<(), Error> {
    parts(request).map(|_| ())
}

/// A question, its scenario, and how far its answer is.
pub struct Inverse {
    /// What is asked.
    pub question: Question,
    /// What it is asked of.
    pub scenario: Scenario,
    /// What was tolerated while reading it.
    pub notes: Notes,
    /// The request that it was read from, without the question.
    pub request: Value,
    hunt: Hunt,
}

enum Hunt {
    Count(Box<count::Hunt>),
    Memory(Box<memory::Hunt>),
    Card(card::Hunt),
    /// The plan first, where the best one is wanted.
    Plan(Trial),
    Bandwidth(Policy, Box<bandwidth::Hunt>),
}

/// An answer; not the last word before [`Inverse::advance`] says so.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<'a> {
    /// The largest batch or sequence.
    Count(&'a count::Largest),
    /// The least memory.
    Memory(&'a memory::Least),
    /// The cheapest card.
    Card(&'a card::Cards),
    /// The least bandwidth, and the policy that it is of.
    Bandwidth(&'a Policy, &'a bandwidth::Hidden),
}

impl Inverse {
    /// Reads a request with its `inverse` group.
    ///
    /// # Errors
    /// As [`Scenario::read`], and as [`Question::read`].
    pub fn read(request: &Value) -> Result<Self, Error> {
        let (request, question, scenario, notes) = parts(request)?;
        let best = question.best;
        let hunt = match question.ask {
            Ask::Batch | Ask::Sequence => {
                let counted = question.counted();
                Hunt::Count(count::Hunt::new(&request, &scenario, counted, best).into())
            }
            Ask::Memory => Hunt::Memory(memory::Hunt::new(&scenario, question.slowdown).into()),
            Ask::Card => Hunt::Card(card::Hunt::new(&request, &scenario, &question.prices)),
            Ask::Bandwidth => Hunt::Plan(Trial::new(&scenario, best, Until::Best)),
        };
        Ok(Self { question, scenario, notes, request, hunt })
    }

    /// Runs about `plans` more plans; false once the answer is there.
    pub fn advance(&mut self, plans: usize) -> bool {
        match &mut self.hunt {
            Hunt::Count(hunt) => hunt.advance(plans),
            Hunt::Memory(hunt) => hunt.advance(plans),
            Hunt::Card(hunt) => hunt.advance(plans),
            Hunt::Plan(trial) => {
                if let Some(tried) = trial.advance(plans) {
                    let policy = tried.policy.clone();
                    let plan = evaluate::plan(&self.scenario, &policy);
                    // Another link would have another plan by rule: this one is held.
                    let held = plan.to_policy(&self.scenario.chain, &policy);
                    let hunt = bandwidth::Hunt::new(&self.scenario, plan);
                    self.hunt = Hunt::Bandwidth(held, hunt.into());
                }
                true
            }
            Hunt::Bandwidth(_, hunt) => hunt.advance(),
        }
    }

    /// The answer so far; none while the plan that it is about is being searched.
    #[must_use]
    pub const fn answer(&self) -> Option<Answer<'_>> {
        Some(match &self.hunt {
            Hunt::Count(hunt) => Answer::Count(hunt.answer()),
            Hunt::Memory(hunt) => Answer::Memory(hunt.answer()),
            Hunt::Card(hunt) => Answer::Card(hunt.answer()),
            Hunt::Plan(_) => return None,
            Hunt::Bandwidth(policy, hunt) => Answer::Bandwidth(policy, hunt.answer()),
        })
    }

    /// Runs all of it.
    pub fn finish(&mut self) {
        while self.advance(usize::MAX) {}
    }
}
