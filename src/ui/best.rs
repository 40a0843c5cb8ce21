//! Under the policy `best`: which plan the page shows while the fastest one is being searched, and what is known of it. PURE. What is
//! shown is always evaluated, as every other plan is; the search only says which.

use super::chart::Evaluated;
use super::shared::Shared;
use crate::engine::error::Notes;
use crate::engine::outcome::{Outcome, Summary};
use crate::engine::policy::Policy;
use crate::engine::search::fastest::Search;
use crate::engine::units::{Bytes, Nanos};
use crate::engine::{Error, Plan, Scenario, evaluate};
use crate::scene::format;
use crate::words::{self, Locale};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cmp::Reverse;

/// What a search says when it has found something, or has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The best plan so far, as a request says it.
    pub policy: Value,
    /// Its numbers.
    pub summary: Summary,
    /// No plan that fits has a shorter step.
    pub bound: Nanos,
    /// The search has ended.
    pub done: bool,
}

/// What is known of the plan that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Best {
    /// Its step and the least that is possible; none before a first search has answered, or where no plan runs.
    step: Option<(Nanos, Nanos)>,
    /// The search has ended.
    pub done: bool,
    /// It is said of an older request.
    pub stale: bool,
    /// A search has answered.
    answered: bool,
}

impl Best {
    /// The request has changed: what was known is said a moment longer.
    pub const fn aged(self) -> Self {
        Self { done: false, stale: true, ..self }
    }

    /// What the reader is told.
    pub fn sentence(&self, locale: Locale) -> String {
        match self.step {
            _ if !self.answered => words::best_searching(locale).to_owned(),
            None if self.done => words::best_none(locale).to_owned(),
            None => words::best_none_yet(locale).to_owned(),
            Some((step, bound)) if step <= bound => words::best_proved(locale).to_owned(),
            Some((step, bound)) => {
                let gap = format::percent_change(step.secs() / bound.secs().max(1e-12) - 1.0);
                let gap = gap.trim_start_matches('+');
                let said = if self.done { words::best_found } else { words::best_so_far };
                said(locale, gap)
            }
        }
    }
}

/// A request read, under its policy. Under `best`: the plan shown `before` if it runs here too, or what a few steps of a search find;
/// the search proper follows.
pub fn evaluated(scenario: Scenario, notes: Notes, before: Option<&Policy>) -> Shared<Evaluated> {
    const FEW: usize = 4;
    if !scenario.asks_for_best() {
        return Shared::new(Evaluated { outcome: evaluate::evaluate(&scenario), scenario, notes });
    }
    let before = before.and_then(|policy| fitted(policy.clone(), &scenario).ok());
    let outcome = before.map(|policy| under(&scenario, policy));
    let outcome = outcome.filter(|outcome| outcome.summary().runs).unwrap_or_else(|| {
        let mut search = Search::new(&scenario);
        search.advance(FEW);
        under(&scenario, search.found().policy.clone())
    });
    Shared::new(Evaluated { scenario, outcome, notes })
}

/// A request that asks for the best plan, under the one that the page shows.
pub fn shown(scenario: Scenario, notes: Notes, policy: Policy) -> Shared<Evaluated> {
    let outcome = under(&scenario, policy);
    Shared::new(Evaluated { scenario, outcome, notes })
}

/// What a search found, shown if it is better than what is shown, or the last word.
pub fn improved(now: &Shared<Evaluated>, told: &Told) -> (Shared<Evaluated>, Best) {
    let Evaluated { scenario, outcome, notes } = &**now;
    let wanted = told.done || rank(&told.summary) < rank(&outcome.summary());
    let policy = Policy::of_value(&told.policy).and_then(|policy| fitted(policy, scenario));
    let next = match policy {
        Ok(policy) if wanted && policy != outcome.policy => {
            shown(scenario.clone(), notes.clone(), policy)
        }
        _ => now.clone(),
    };
    let own = next.outcome.summary();
    let step = own.runs.then_some((own.step, told.bound));
    (next, Best { step, done: told.done, stale: false, answered: true })
}

fn under(scenario: &Scenario, policy: Policy) -> Outcome {
    let plan = Plan::of(&policy, &scenario.chain, &scenario.hardware);
    evaluate::evaluate_plan(scenario, policy, plan)
}

/// A policy of another chain, as far as this one allows it.
fn fitted(mut policy: Policy, scenario: &Scenario) -> Result<Policy, Error> {
    Plan::fit_policy(&mut policy, &scenario.chain, &mut Notes::default())?;
    Ok(policy)
}

/// What runs before what does not; then the faster, or the smaller. As the search ranks them.
fn rank(summary: &Summary) -> (Reverse<bool>, u64, u64) {
    let (Bytes(peak), Nanos(step)) = (summary.peak, summary.step);
    let (first, second) = if summary.runs { (step, peak) } else { (peak, step) };
    (Reverse(summary.runs), first, second)
}
