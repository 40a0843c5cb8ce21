//! Under the policy `best`: which plan the page shows while the fastest one is being searched, and what is known of it. PURE. What is
//! shown is always evaluated, as every other plan is; the search only says which.

use super::chart::Evaluated;
use super::shared::Shared;
use crate::engine::error::Notes;
use crate::engine::outcome::Summary;
use crate::engine::policy::Policy;
use crate::engine::search::fastest::warm;
use crate::engine::units::{Bytes, Nanos};
use crate::engine::{Scenario, evaluate};
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
    /// No plan that fits has a shorter step; none where no plan can fit.
    pub bound: Option<Nanos>,
    /// The search has ended.
    pub done: bool,
}

/// What is known of the plan that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Best {
    /// Its step, where it runs, and the least that is possible, where anything is; none before a search has answered.
    known: Option<(Option<Nanos>, Option<Nanos>)>,
    /// The search has ended.
    pub done: bool,
    /// It is said of an older request.
    pub stale: bool,
}

impl Best {
    /// The request has changed: what was known is said a moment longer.
    #[must_use]
    pub const fn aged(self) -> Self {
        Self { done: false, stale: true, ..self }
    }

    /// What the reader is told.
    #[must_use]
    pub fn sentence(&self, locale: Locale) -> String {
        let Some((step, bound)) = self.known else {
            return words::best_searching(locale).to_owned();
        };
        let plain = match (step, bound) {
            (Some(step), Some(bound)) if step > bound => {
                let said = if self.done { words::best_found } else { words::best_so_far };
                return said(
                    locale,
                    &format::percent_at_most(step.secs() / bound.secs().max(1e-12) - 1.0),
                );
            }
            (Some(_), _) => words::best_proved,
            (None, None) => words::best_impossible,
            _ if self.done => words::best_none,
            _ => words::best_none_yet,
        };
        plain(locale).to_owned()
    }
}

/// A request read, under its policy. Under `best`: the plan shown `before`, as far as it applies; the search follows.
#[must_use]
pub fn evaluated(scenario: Scenario, notes: Notes, before: &Policy) -> Shared<Evaluated> {
    if !scenario.asks_for_best() {
        return Shared::new(Evaluated { outcome: evaluate::evaluate(&scenario), scenario, notes });
    }
    let policy = warm::start(&scenario, before);
    shown(scenario, notes, policy)
}

/// A request that asks for the best plan, under the one that the page shows.
#[must_use]
pub fn shown(scenario: Scenario, notes: Notes, policy: Policy) -> Shared<Evaluated> {
    let plan = evaluate::plan(&scenario, &policy);
    let outcome = evaluate::evaluate_plan(&scenario, policy, plan);
    Shared::new(Evaluated { scenario, outcome, notes })
}

/// What a search found, shown if it is better than what is shown, or the last word.
#[must_use]
pub fn improved(now: &Shared<Evaluated>, told: &Told) -> (Shared<Evaluated>, Best) {
    let Evaluated { scenario, outcome, notes } = &**now;
    let wanted = told.done || rank(&told.summary) < rank(&outcome.summary());
    let next = if wanted && told.policy != outcome.policy {
        shown(scenario.clone(), notes.clone(), told.policy.clone())
    } else {
        now.clone()
    };
    let own = next.outcome.summary();
    let known = Some((own.runs.then_some(own.step), told.bound));
    (next, Best { known, done: told.done, stale: false })
}

/// What runs before what does not; then the faster, or the smaller. As the search ranks them.
fn rank(summary: &Summary) -> (Reverse<bool>, u64, u64) {
    let (Bytes(peak), Nanos(step)) = (summary.peak, summary.step);
    let (first, second) = if summary.runs { (step, peak) } else { (peak, step) };
    (Reverse(summary.runs), first, second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::PolicyKind;
    use crate::engine::search::fastest::fastest;
    use crate::ui::store::{Msg, State};
    use std::rc::Rc;
    use yew::Reducible;

    fn open() -> Rc<State> {
        let link = "workload=lesson&layers=8&act_gb=2&layer_s=0.1&base_gb=4&card=rtx-4090&d2h_gbps=8&policy=best&limit_gib=18";
        Rc::new(State::open(crate::link::read("", link), Locale::En))
    }

    fn limit(gib: f64) -> Msg {
        Msg::Preview(vec![("limits.memory_gib".to_owned(), gib.into())])
    }

    /// What a policy comes to, as a search would tell it.
    fn told(state: &State, policy: Policy, done: bool) -> Told {
        let scenario = &state.evaluated.scenario;
        let plan = evaluate::plan(scenario, &policy);
        let bound = Some(Nanos(1_000_000_000));
        Told { policy, summary: evaluate::summarize(scenario, &plan), bound, done }
    }

    fn last_word(state: &State) -> Told {
        let found = fastest(&state.evaluated.scenario);
        Told { policy: found.policy, summary: found.summary, bound: found.bound, done: true }
    }

    fn sentence(state: &State) -> String {
        state.best.expect("the best plan is asked for").sentence(Locale::En)
    }

    #[test]
    fn a_plan_is_there_at_once_and_the_last_word_comes_from_the_search() {
        let mut state = open();
        assert_eq!(sentence(&state), words::best_searching(Locale::En));
        let before = state.evaluated.outcome.summary();
        assert!(before.runs, "something that fits is shown before any search");
        let end = last_word(&state);
        let revision = state.revision;
        state = state.reduce(Msg::Found(end.clone(), revision));
        assert_eq!(state.evaluated.outcome.policy, end.policy);
        assert_eq!(
            state.evaluated.outcome.summary(),
            end.summary,
            "evaluated again, it is the same"
        );
        assert_eq!(state.commits, 0, "no entry in the history");
        assert_eq!(state.evaluated.scenario.policy.kind, PolicyKind::Best);
        assert_eq!(state.request.get("policy.kind"), Some(&"best".into()));
        assert!(
            state.best.expect("known").done
                && sentence(&state) != words::best_searching(Locale::En)
        );

        state = state.reduce(limit(11.0));
        assert!(state.turning && state.best.expect("known").stale);
        assert!(!sentence(&state).is_empty(), "what was known is still said");
        assert!(state.evaluated.outcome.summary().runs, "the plan follows before the search does");
        let end = last_word(&state);
        let (late, revision) = (state.clone(), state.revision);
        state = state.reduce(Msg::Found(end.clone(), revision - 1));
        assert!(Rc::ptr_eq(&late, &state), "an answer to an older request changes nothing");
        drop(late);
        state = state.reduce(Msg::Found(end, revision));
        assert!(state.turning, "the hand has not let go");
        assert!(!state.best.expect("known").stale);
    }

    #[test]
    fn what_is_worse_is_shown_only_as_the_last_word() {
        let state = open();
        let end = last_word(&state);
        let revision = state.revision;
        let state = state.reduce(Msg::Found(end.clone(), revision));
        let worse = Policy::new(PolicyKind::Recompute);
        let early = told(&state, worse.clone(), false);
        assert!(early.summary.step > end.summary.step);
        let state = state.reduce(Msg::Found(early, revision));
        assert_eq!(state.evaluated.outcome.policy, end.policy);
        assert!(sentence(&state).contains("Still searching"), "{}", sentence(&state));
        let late = told(&state, worse.clone(), true);
        let state = state.reduce(Msg::Found(late, revision));
        assert_eq!(state.evaluated.outcome.policy, worse);
    }

    #[test]
    fn under_another_policy_nothing_is_followed() {
        let state = open();
        let end = last_word(&state);
        let state = state.reduce(Msg::Choose(Policy::new(PolicyKind::Keep)));
        assert!(state.best.is_none());
        let (before, revision) = (state.clone(), state.revision);
        let state = state.reduce(Msg::Found(end, revision));
        assert!(Rc::ptr_eq(&before, &state));
    }

    #[test]
    fn every_state_of_knowledge_has_its_sentence() {
        let best = |step: Option<u64>, bound: Option<u64>, done| Best {
            known: Some((step.map(Nanos), bound.map(Nanos))),
            done,
            stale: false,
        };
        let said = |best: Best| best.sentence(Locale::En);
        assert_eq!(said(best(Some(10), Some(10), true)), words::best_proved(Locale::En));
        assert!(said(best(Some(1050), Some(1000), true)).contains("at most 5\u{a0}%"));
        assert!(said(best(Some(100_001), Some(100_000), true)).contains("at most 0.01\u{a0}%"));
        assert!(said(best(Some(105), Some(100), false)).contains("Still searching"));
        assert_eq!(said(best(None, Some(10), true)), words::best_none(Locale::En));
        assert_eq!(said(best(None, Some(10), false)), words::best_none_yet(Locale::En));
        assert_eq!(said(best(None, None, true)), words::best_impossible(Locale::En));
    }
}
