//! Under the policy `best`: which plan the page shows while the fastest one is being searched, and what is known of it. PURE. What is
//! shown is always evaluated, as every other plan is; the search only says which.

use super::chart::Evaluated;
use super::shared::Shared;
use crate::engine::error::Notes;
use crate::engine::outcome::Summary;
use crate::engine::policy::Policy;
use crate::engine::search::fastest::Search;
use crate::engine::units::{Bytes, Nanos};
use crate::engine::{Plan, Scenario, evaluate};
use crate::scene::format;
use crate::words::{self, Locale};
use std::cmp::Reverse;

/// What a search says when it has found something, or has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// The best plan so far, as a request says it.
    pub policy: Policy,
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
    let policy = before.and_then(|policy| running(policy, &scenario)).unwrap_or_else(|| {
        let mut search = Search::new(&scenario);
        search.advance(FEW);
        search.found().policy.clone()
    });
    shown(scenario, notes, policy)
}

/// A request that asks for the best plan, under the one that the page shows.
pub fn shown(scenario: Scenario, notes: Notes, policy: Policy) -> Shared<Evaluated> {
    let plan = Plan::of(&policy, &scenario.chain, &scenario.hardware);
    let outcome = evaluate::evaluate_plan(&scenario, policy, plan);
    Shared::new(Evaluated { scenario, outcome, notes })
}

/// What a search found, shown if it is better than what is shown, or the last word.
pub fn improved(now: &Shared<Evaluated>, told: &Told) -> (Shared<Evaluated>, Best) {
    let Evaluated { scenario, outcome, notes } = &**now;
    let wanted = told.done || rank(&told.summary) < rank(&outcome.summary());
    let next = if wanted && told.policy != outcome.policy {
        shown(scenario.clone(), notes.clone(), told.policy.clone())
    } else {
        now.clone()
    };
    let own = next.outcome.summary();
    let step = own.runs.then_some((own.step, told.bound));
    (next, Best { step, done: told.done, stale: false, answered: true })
}

/// A policy of another chain, where this one allows it and it runs.
fn running(policy: &Policy, scenario: &Scenario) -> Option<Policy> {
    let mut policy = policy.clone();
    Plan::fit_policy(&mut policy, &scenario.chain, &mut Notes::default()).ok()?;
    let plan = Plan::of(&policy, &scenario.chain, &scenario.hardware);
    evaluate::summarize(scenario, &plan).runs.then_some(policy)
}

/// What runs before what does not; then the faster, or the smaller. As the search ranks them.
fn rank(summary: &Summary) -> (Reverse<bool>, u64, u64) {
    let (Bytes(peak), Nanos(step)) = (summary.peak, summary.step);
    let (first, second) = if summary.runs { (step, peak) } else { (peak, step) };
    (Reverse(summary.runs), first, second)
}
