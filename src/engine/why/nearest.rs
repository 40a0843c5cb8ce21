//! The nearest changes that make a scenario fit. Principal type [`Seeking`]: a search a little at a time; its law: every
//! change that it returns really fits, as `evaluate` says of the request with it.
//!
//! Near is what takes least of what was asked for (`price`): first those that train the same numbers, by the time of a token; then
//! another machine, by its memory; then other rounding; then another training. Of each kind the smallest step that does. One plan
//! stands for all plans, unless little else fits.

use super::change::{Change, What, ladder};
use super::trial::{self, Attempt, Trial};
use crate::engine::evaluate;
use crate::engine::outcome::{Operation, Outcome};
use crate::engine::scenario::Scenario;
use crate::engine::units::Bytes;
use serde_json::Value;

/// How many are named.
pub const MOST: usize = 3;

/// Changes that are tried alone. The search comes first: it says whether another plan will do.
const ALONE: [What; 16] = [
    What::Best,
    What::Recompute,
    What::OffloadBoundaries,
    What::Offload,
    What::OffloadSsd,
    What::WholeCard,
    What::MicroBatch,
    What::LossChunks,
    What::Flash,
    What::Zero,
    What::SequenceParallel,
    What::HostStates,
    What::HostMemory,
    What::Card,
    What::Optimizer8bit,
    What::GradDtype,
];
/// Those that train something else.
const OTHERWISE: [What; 3] = [What::Lora, What::Sequence, What::Batch];
/// Plans that are tried beside another change where too little fits alone.
const PLANS: [What; 3] = [What::Recompute, What::OffloadBoundaries, What::Offload];
/// What is tried with a larger card and every layer recomputed, where nothing fits otherwise.
const LAST: [What; 3] = [What::HostStates, What::Optimizer8bit, What::Lora];

/// The search under way.
pub struct Seeking {
    request: Value,
    scenario: Scenario,
    outcome: Outcome,
    /// What is still to be tried, the next one last.
    waiting: Vec<Vec<What>>,
    /// The steps of the kind that is being tried, the next one last, and the one under way.
    steps: Vec<Change>,
    attempt: Option<Attempt>,
    found: Vec<Trial>,
    round: Round,
}

/// How many changes are made at once.
#[derive(Clone, Copy, PartialEq)]
enum Round {
    Alone,
    Pairs,
    Last,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// The scenario fits as it is.
    pub fits: bool,
    /// What of memory it lacks; 0 where it only takes too long.
    pub missing: Bytes,
    /// The changes, the nearest first.
    pub changes: Vec<Trial>,
}

impl Seeking {
    /// For the scenario that `request` is read as, evaluated.
    #[must_use]
    pub fn new(request: Value, scenario: Scenario, outcome: Outcome) -> Self {
        let alone = ALONE.iter().chain(&OTHERWISE).map(|&what| vec![what]);
        let mut seeking = Self {
            request,
            scenario,
            outcome,
            waiting: Vec::new(),
            steps: Vec::new(),
            attempt: None,
            found: Vec::new(),
            round: Round::Last,
        };
        if !seeking.outcome.fits {
            seeking.begin(Round::Alone, alone);
        }
        seeking
    }

    fn begin(&mut self, round: Round, changes: impl Iterator<Item = Vec<What>>) {
        self.round = round;
        self.waiting = changes.collect();
        self.waiting.reverse();
    }

    /// Tries a little; false once there is nothing left to try.
    pub fn advance(&mut self) -> bool {
        if let Some(mut attempt) = self.attempt.take() {
            if attempt.advance() {
                self.attempt = Some(attempt);
                return true;
            }
            let trial = attempt.trial();
            if trial.fits {
                self.steps.clear();
                self.found.push(trial);
            }
        }
        if let Some(change) = self.steps.pop() {
            self.attempt = Attempt::new(change, &self.request);
        } else if let Some(changes) = self.waiting.pop() {
            self.steps = self.steps_of(&changes);
        } else if self.round == Round::Alone && self.chosen().len() < MOST {
            let all = ALONE.iter().chain(&OTHERWISE).filter(|what| !what.is_plan());
            self.begin(Round::Pairs, all.flat_map(|&what| PLANS.map(|plan| vec![what, plan])));
        } else if self.round == Round::Pairs && self.found.is_empty() {
            let three = |what: What| vec![what, What::Card, What::Recompute];
            self.begin(Round::Last, LAST.into_iter().map(three));
        } else {
            return false;
        }
        true
    }

    /// The steps of a kind, or of several together, the smallest last; none of one that fits alone already.
    fn steps_of(&self, changes: &[What]) -> Vec<Change> {
        let alone = |trial: &Trial| trial.change.what == changes[0] && trial.change.with.is_empty();
        if self.found.iter().any(alone) {
            return Vec::new();
        }
        let steps = |what| ladder(what, &self.request, &self.scenario, &self.outcome);
        let mut all = steps(changes[0]);
        for &what in &changes[1..] {
            let more = steps(what);
            all = all
                .iter()
                .flat_map(|one| more.iter().map(|other| one.clone().and(other)))
                .collect();
        }
        all.reverse();
        all
    }

    /// The nearest so far.
    #[must_use]
    pub fn chosen(&self) -> Vec<Trial> {
        let mut all = self.found.clone();
        let near = |trial: &Trial| (trial.change.price(), trial.change.with.len());
        let nearer =
            |a: &Trial, b: &Trial| near(a).cmp(&near(b)).then(a.token_s.total_cmp(&b.token_s));
        all.sort_by(nearer);
        let mut chosen: Vec<Trial> = Vec::new();
        let mut rest = Vec::new();
        for trial in all {
            let group = |what: What| if what.is_plan() { What::Best } else { what };
            let same = |other: &Trial| group(other.change.what) == group(trial.change.what);
            if chosen.iter().any(same) { rest.push(trial) } else { chosen.push(trial) }
        }
        let as_good = |a: &Trial, b: &Trial| (a.peak, a.step) == (b.peak, b.step);
        rest.retain(|trial| {
            trial.change.what.is_plan() && !chosen.iter().any(|one| as_good(one, trial))
        });
        chosen.extend(rest);
        chosen.truncate(MOST);
        chosen.sort_by(nearer);
        chosen
    }

    /// Those found, the nearest first, and what is missing without them.
    #[must_use]
    pub fn nearest(&self) -> Nearest {
        let missing = missing(&self.outcome);
        Nearest { fits: self.outcome.fits, missing, changes: self.chosen() }
    }

    /// What a token takes as the scenario is.
    #[must_use]
    pub fn token_s(&self) -> f64 {
        trial::token(&self.scenario, self.outcome.step)
    }
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
