//! The least memory at a given slowdown: the least budget whose fastest plan is within a step.

use super::bisect::Bisection;
use super::trial::{Trial, Tried, Until};
use crate::engine::evaluate;
use crate::engine::outcome::Summary;
use crate::engine::scenario::Scenario;
use crate::engine::units::{Bytes, Nanos};

/// Slowdown over keep-everything where neither it nor a longest step is given.
pub const SLOWDOWN: f64 = 0.05;

/// Budgets are tried on a grid of about so many between keep-everything's peak and the model states.
const STEPS: u64 = 256;
const MIB: u64 = 1 << 20;

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Least {
    /// Keep-everything on a card that is large enough.
    pub plain: Summary,
    /// The longest step allowed.
    pub step: Nanos,
    /// The plan of least peak that is within it: its peak is the least budget. None where no plan is that fast.
    pub found: Option<Tried>,
    /// A budget, less than a grid step below that peak, and the fastest plan found within it: too slow, or none. None where the states
    /// leave nothing to be tried.
    pub next: Option<(Bytes, Tried)>,
    /// The distance of budgets that were tried.
    pub grain: Bytes,
    /// What the card has.
    pub card: Bytes,
}

/// The hunt for it.
pub struct Hunt {
    scenario: Scenario,
    /// How many grains less than keep-everything's peak.
    bisection: Bisection,
    trial: Option<(u64, Trial)>,
    answer: Least,
}

impl Hunt {
    /// Starts with the memory that keeps everything. The step is the least of those given; [`SLOWDOWN`] where none is.
    #[must_use]
    pub fn new(scenario: &Scenario, slowdown: Option<f64>) -> Self {
        let plain = evaluate::plain(scenario);
        let share = slowdown.or(scenario.limits.step.is_none().then_some(SLOWDOWN));
        let slowed = share.map(|share| Nanos::from_secs(plain.step.secs() * (1.0 + share)));
        let step = slowed.into_iter().chain(scenario.limits.step).min().unwrap_or(plain.step);
        let range = plain.peak.saturating_sub(scenario.chain.standing().total());
        let grain = Bytes((range.0 / STEPS).next_multiple_of(MIB).max(MIB));
        let card = scenario.hardware.memory;
        let answer = Least { plain, step, found: None, next: None, grain, card };
        let mut scenario = scenario.clone();
        scenario.limits.step = Some(step);
        let bisection = Bisection::to(range.0 / grain.0);
        let mut hunt = Self { scenario, bisection, trial: None, answer };
        hunt.start(0, Until::Fits);
        hunt
    }

    fn budget(&self, grains: u64) -> Bytes {
        self.answer.plain.peak.saturating_sub(self.answer.grain.times(grains))
    }

    fn start(&mut self, grains: u64, until: Until) {
        let budget = self.budget(grains);
        self.scenario.limits.memory = budget;
        self.scenario.hardware.memory = self.answer.card.max(budget);
        self.trial = Some((grains, Trial::new(&self.scenario, true, until)));
    }

    /// Runs about `plans` more plans; false once the answer is there.
    pub fn advance(&mut self, plans: usize) -> bool {
        let Some((grains, trial)) = &mut self.trial else { return false };
        let grains = *grains;
        let Some(tried) = trial.advance(plans).cloned() else { return true };
        self.trial = None;
        if tried.summary.fits {
            // A plan that was given more than its peak runs within its peak as it did.
            let spared = self.answer.plain.peak.saturating_sub(tried.summary.peak).0;
            self.bisection.told((spared / self.answer.grain.0).max(grains), true);
            self.answer.found = Some(tried);
            let high = self.bisection.high;
            let next = self.answer.next.take();
            self.answer.next =
                next.filter(|next| high.map(|high| self.budget(high)) == Some(next.0));
        } else if grains == 0 {
            // Not even keeping everything is that fast, or the host has no room for its states.
            return false;
        } else {
            self.bisection.told(grains, false);
            self.answer.next = Some((self.budget(grains), tried));
        }
        match (self.bisection.next(), self.bisection.high, &self.answer.next) {
            (Some(grains), ..) => self.start(grains, Until::Fits),
            (None, Some(high), Some((_, tried))) if !tried.complete => {
                self.start(high, Until::Best);
            }
            _ => {}
        }
        self.trial.is_some()
    }

    /// The answer so far.
    #[must_use]
    pub const fn answer(&self) -> &Least {
        &self.answer
    }
}
