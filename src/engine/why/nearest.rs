//! The nearest changes that make a scenario fit. Principal type [`Seeking`]: a search a little at a time; its law: every
//! change that it returns really fits, as `evaluate` says of the request with it.
//!
//! Near is what takes least of what was asked for (`price`): first those that train the same numbers, by the time of a token; then
//! another machine, one card before several; then other rounding; then another training. Of each kind the smallest step that does
//! (`narrow`). No two of those named are the same thing: they differ in the dearest of what is changed.
//!
//! First it is settled which they are: under the policy `best` a plan that fits is enough, and the bound stands for the step. Only the
//! few that are named are then searched to the end.

use super::change::{Change, Price, What, ladder};
use super::combine::{Kinds, Round};
use super::narrow::{Narrow, Tried};
use super::trial::{self, Attempt, Trial};
use crate::engine::evaluate;
use crate::engine::outcome::{Operation, Outcome};
use crate::engine::scenario::Scenario;
use crate::engine::units::Bytes;
use serde_json::Value;

/// How many are named.
pub const MOST: usize = 3;

/// The search under way.
pub struct Seeking {
    request: Value,
    scenario: Scenario,
    outcome: Outcome,
    /// Kinds that this scenario has a use for, in their steps.
    ladders: Vec<(What, Vec<Change>)>,
    round: Option<Round>,
    /// Of what was tried last.
    price: Option<Price>,
    /// What is still to be tried in this round, the next one last.
    waiting: Vec<Kinds>,
    /// What is being tried, and the smallest steps of it so far that do.
    narrow: Option<(Narrow, Option<Trial>)>,
    attempt: Option<Attempt>,
    found: Vec<Trial>,
    /// Which changes are the nearest is settled.
    settled: bool,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// The scenario fits as it is.
    pub fits: bool,
    /// What of memory it lacks; 0 where it only takes too long.
    pub missing: Bytes,
    /// It is host memory that is missing.
    pub host: bool,
    /// The changes, the nearest first.
    pub changes: Vec<Trial>,
}

impl Seeking {
    /// For the scenario that `request` is read as, evaluated.
    #[must_use]
    pub fn new(request: Value, scenario: Scenario, outcome: Outcome) -> Self {
        let settled = outcome.fits;
        Self {
            request,
            scenario,
            outcome,
            ladders: Vec::new(),
            round: None,
            price: None,
            waiting: Vec::new(),
            narrow: None,
            attempt: None,
            found: Vec::new(),
            settled,
        }
    }

    /// Tries a little; false once there is nothing left to try.
    pub fn advance(&mut self) -> bool {
        if let Some(mut attempt) = self.attempt.take() {
            if attempt.advance() {
                self.attempt = Some(attempt);
            } else {
                self.tried(attempt.trial());
            }
            return true;
        }
        if self.settled {
            return self.complete();
        }
        let Some((narrow, _)) = &self.narrow else {
            self.turn();
            return true;
        };
        if let Some(change) = narrow.next() {
            self.ask(change);
        } else {
            self.found.extend(self.narrow.take().and_then(|(_, best)| best));
        }
        true
    }

    /// Begins to try a change.
    fn ask(&mut self, change: Change) {
        let Some((narrow, _)) = &mut self.narrow else { return };
        let Ok(scenario) = change.scenario(&self.request) else {
            narrow.tell(Tried::Refused);
            return;
        };
        self.attempt = Attempt::to_fit(change, scenario);
        if self.attempt.is_none() {
            narrow.tell(Tried::Lacks);
        }
    }

    /// A change has been tried: in its turn, or to the end.
    fn tried(&mut self, trial: Trial) {
        if let Some((narrow, best)) = &mut self.narrow {
            narrow.tell(if trial.fits { Tried::Fits } else { Tried::Lacks });
            if trial.fits {
                *best = Some(trial);
            }
            return;
        }
        let same = |one: &&mut Trial| one.change.kinds().eq(trial.change.kinds());
        if let Some(one) = self.found.iter_mut().find(same) {
            *one = Trial { least_token_s: one.least_token_s, ..trial };
        }
        self.found.retain(|one| one.fits);
    }

    /// The next kinds, the next round, or the end of looking.
    fn turn(&mut self) {
        let Some(round) = self.round else {
            let ladders = Round::KINDS
                .map(|what| (what, ladder(what, &self.request, &self.scenario, &self.outcome)));
            self.ladders = ladders.into_iter().filter(|(_, steps)| !steps.is_empty()).collect();
            self.begin(Round::Alone);
            return;
        };
        let Some(kinds) = self.waiting.pop() else {
            match round.next().filter(|_| self.heads() < MOST) {
                Some(next) => self.begin(next),
                None => self.settled = true,
            }
            return;
        };
        // What is dearer cannot be nearer.
        if self.price.replace(kinds.price()) != Some(kinds.price()) && self.heads() >= MOST {
            self.settled = true;
        } else if self.of_use(&kinds) {
            let steps = |what: &What| {
                let own = self.ladders.iter().find(|(one, _)| one == what);
                own.map(|(_, steps)| steps.clone()).unwrap_or_default()
            };
            let ladders = kinds.list().iter().map(steps).collect();
            let in_turn = self.scenario.limits.step.is_some();
            self.narrow = Some((Narrow::new(ladders, in_turn), None));
        }
    }

    fn begin(&mut self, round: Round) {
        let kinds: Vec<What> = self.ladders.iter().map(|(what, _)| *what).collect();
        self.waiting = round.list(&kinds, self.scenario.asks_for_best());
        self.waiting.reverse();
        self.round = Some(round);
        self.price = None;
    }

    /// Whether these kinds could be named: none of them does with less, and nothing simpler is the same thing.
    fn of_use(&self, kinds: &Kinds) -> bool {
        let plan = |kinds: &Kinds| kinds.head().is_plan();
        let spare = |trial: &Trial| {
            let own = Kinds::of(&trial.change);
            let simpler = own.list().len() < kinds.list().len() && own.head() == kinds.head();
            simpler || own.is_within(kinds) && !(plan(&own) && plan(kinds))
        };
        !self.found.iter().any(spare)
    }

    /// How many different things were found.
    fn heads(&self) -> usize {
        heads(self.found.iter())
    }

    /// Takes up the search for the best plan of the next that is named; false once all have theirs.
    fn complete(&mut self) -> bool {
        let open = self.chosen().into_iter().find(|trial| !trial.complete);
        self.attempt = open.and_then(|trial| Attempt::to_the_end(trial.change, &self.request));
        self.attempt.is_some()
    }

    /// The nearest so far.
    #[must_use]
    pub fn chosen(&self) -> Vec<Trial> {
        let mut all = self.found.clone();
        // One larger card is nearer than several.
        let several = |trial: &Trial| trial.change.kinds().any(|what| what == What::Cards);
        let near = |trial: &Trial| (trial.change.price(), trial.change.with.len(), several(trial));
        let nearer = |a: &Trial, b: &Trial| {
            near(a).cmp(&near(b)).then(a.least_token_s.total_cmp(&b.least_token_s))
        };
        all.sort_by(nearer);
        let mut chosen: Vec<Trial> = Vec::new();
        let mut rest = Vec::new();
        for trial in all {
            let head = |trial: &Trial| Kinds::of(&trial.change).head();
            let same = |other: &Trial| head(other) == head(&trial);
            if chosen.iter().any(same) { rest.push(trial) } else { chosen.push(trial) }
        }
        // Another plan is another thing to do where little else is.
        let as_good = |a: &Trial, b: &Trial| (a.peak, a.step) == (b.peak, b.step);
        rest.retain(|trial| {
            trial.change.what.is_plan() && !chosen.iter().any(|one| as_good(one, trial))
        });
        chosen.extend(rest);
        chosen.truncate(MOST);
        chosen.sort_by(nearer);
        chosen
    }

    /// Whether it is settled which changes are the nearest, though the best plan of some may still be looked for.
    #[must_use]
    pub const fn settled(&self) -> bool {
        self.settled
    }

    /// Those found, the nearest first, and what is missing without them.
    #[must_use]
    pub fn nearest(&self) -> Nearest {
        let Outcome { fits, out_of_memory, .. } = &self.outcome;
        let host = out_of_memory.as_ref().is_some_and(|stop| stop.operation == Operation::Host);
        Nearest { fits: *fits, missing: missing(&self.outcome), host, changes: self.chosen() }
    }

    /// What a token takes as the scenario is.
    #[must_use]
    pub fn token_s(&self) -> f64 {
        trial::token(&self.scenario, self.outcome.step)
    }
}

/// How many different things these are.
fn heads<'a>(trials: impl Iterator<Item = &'a Trial>) -> usize {
    let mut heads: Vec<What> = trials.map(|trial| Kinds::of(&trial.change).head()).collect();
    heads.sort_unstable();
    heads.dedup();
    heads.len()
}

/// All at once.
#[must_use]
pub fn nearest(request: Value, scenario: Scenario) -> Nearest {
    let outcome = evaluate::evaluate(&scenario);
    let mut seeking = Seeking::new(request, scenario, outcome);
    while seeking.advance() {}
    seeking.nearest()
}

/// What memory lacks: of the device for the whole step, or of the host for what is sent there.
#[must_use]
pub fn missing(outcome: &Outcome) -> Bytes {
    match &outcome.out_of_memory {
        None => Bytes::ZERO,
        Some(stop) if stop.operation == Operation::Host => stop.missing,
        // States that leave no room at all count with the gradients that come only later.
        Some(stop) => outcome.shortage.max(stop.missing),
    }
}
