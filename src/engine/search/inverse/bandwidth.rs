//! The least bandwidth that hides everything: of each layer by a closed formula, of a plan by the simulator. Both directions have the same
//! rate, and rates are those of the whole link (`d2h_gbps`), before the cards on it share it.

use super::bisect::Bisection;
use crate::engine::chain::Chain;
use crate::engine::evaluate;
use crate::engine::hardware::Hardware;
use crate::engine::plan::Plan;
use crate::engine::policy::Policy;
use crate::engine::program::Program;
use crate::engine::rule;
use crate::engine::scenario::Scenario;
use crate::engine::units::{Bytes, BytesPerSec, Nanos};

/// Rates of three digits from 0.001 GB/s on: what the digits are multiplied with and divided by, so that each is exact.
const POWERS: [(f64, f64); 8] = [
    (1.0, 1e5),
    (1.0, 1e4),
    (1.0, 1e3),
    (1.0, 1e2),
    (1.0, 1e1),
    (1.0, 1.0),
    (1e1, 1.0),
    (1e2, 1.0),
];
const PER_POWER: u64 = 900;
/// How many such rates there are, up to 99,900 GB/s.
const RATES: u64 = PER_POWER * POWERS.len() as u64;

/// The `i`th rate of three digits, GB/s, from 1.
#[expect(clippy::cast_precision_loss, reason = "three digits")]
fn rate(i: u64) -> f64 {
    let i = i.clamp(1, RATES) - 1;
    let (times, over) = POWERS[usize::try_from(i / PER_POWER).unwrap_or_default()];
    (100 + i % PER_POWER) as f64 * times / over
}

/// The link with another rate in both directions, GB/s.
#[must_use]
pub fn with_rate(hardware: &Hardware, gbps: f64) -> Hardware {
    let share = BytesPerSec(gbps * 1e9 / cards(hardware));
    Hardware { d2h: share, h2d: share, ..hardware.clone() }
}

#[expect(clippy::cast_precision_loss, reason = "at most 64")]
const fn cards(hardware: &Hardware) -> f64 {
    hardware.cards_per_link as f64
}

/// B*: the round trip of `bytes`, alone on the link, fits a window less ε above this rate, GB/s. 0 for no bytes; none where no rate does.
///
/// B* = 2·bytes / (window − ε − fixed costs of two copies) (docs/model.md, "worth offloading", solved for B).
#[must_use]
pub fn hides(hardware: &Hardware, bytes: Bytes, window: Nanos, policy: &Policy) -> Option<f64> {
    if bytes == Bytes::ZERO {
        return Some(0.0);
    }
    let endless = rule::round_trip(&with_rate(hardware, f64::INFINITY), bytes, policy.medium);
    let left = window.saturating_sub(policy.epsilon());
    // What the SSD takes is beside the link, so that it may be all of the window but no more.
    if endless >= left {
        return None;
    }
    let fixed = hardware.copy_out(Bytes::ZERO) + hardware.copy_back(Bytes::ZERO);
    let rate = 2.0 * bytes.as_f64() / (left - fixed).secs();
    Some(rate * cards(hardware) / (1e9 * hardware.link_efficiency.of(bytes)))
}

/// B* of each layer's saved tensors as a whole, in its order.
#[must_use]
pub fn of_layers(chain: &Chain, hardware: &Hardware, policy: &Policy) -> Vec<Option<f64>> {
    let windows = rule::windows(chain);
    let layers = chain.layers.iter().zip(windows);
    layers.map(|(layer, window)| hides(hardware, layer.saved_bytes(), window, policy)).collect()
}

/// A rate, and how long a step waits at it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At {
    /// GB/s, both directions.
    pub gbps: f64,
    /// Waiting in the step: for copies, and for the room that they free.
    pub stall: Nanos,
}

/// The answer for a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Hidden {
    /// The plan moves something.
    pub moves: bool,
    /// How long a step waits with the link as it is.
    pub stall: Nanos,
    /// The least rate of three digits at which the plan never waits; none where it waits at every rate.
    pub found: Option<At>,
    /// The one below it, or the fastest of all where nothing was found; none where nothing is to be tried.
    pub next: Option<At>,
}

/// The hunt for it, with the plan held: more bandwidth never slows a fixed plan (docs/model.md, section 3), so bisection is exact.
pub struct Hunt {
    scenario: Scenario,
    plan: Plan,
    bisection: Bisection,
    answer: Hidden,
}

impl Hunt {
    /// Starts with the fastest link.
    #[must_use]
    pub fn new(scenario: &Scenario, plan: Plan) -> Self {
        let moves = !Program::of(&scenario.chain, &plan).offloads.is_empty();
        let mut hunt = Self {
            scenario: scenario.clone(),
            plan,
            bisection: Bisection { high: Some(RATES + 1), ..Bisection::to(RATES) },
            answer: Hidden { moves, stall: Nanos::ZERO, found: None, next: None },
        };
        hunt.answer.stall = hunt.stall();
        if moves {
            hunt.attempt(RATES);
        } else {
            hunt.bisection.low = RATES;
        }
        hunt
    }

    fn stall(&self) -> Nanos {
        evaluate::summarize(&self.scenario, &self.plan).stall
    }

    fn attempt(&mut self, i: u64) {
        self.scenario.hardware = with_rate(&self.scenario.hardware, rate(i));
        let at = At { gbps: rate(i), stall: self.stall() };
        let waits = at.stall > Nanos::ZERO;
        self.bisection.told(i, waits);
        if waits {
            self.answer.next = Some(at);
        } else {
            self.answer.found = Some(at);
        }
    }

    /// One more run; false once the answer is there.
    pub fn advance(&mut self) -> bool {
        let Some(i) = self.bisection.next() else { return false };
        self.attempt(i);
        true
    }

    /// The answer so far.
    #[must_use]
    pub const fn answer(&self) -> &Hidden {
        &self.answer
    }
}

/// The answer at once, about fifteen runs.
#[must_use]
pub fn of_plan(scenario: &Scenario, plan: &Plan) -> Hidden {
    let mut hunt = Hunt::new(scenario, plan.clone());
    while hunt.advance() {}
    hunt.answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_three_digits_and_rise() {
        assert_eq!((rate(1), rate(RATES)), (0.001, 99_900.0));
        for i in 1..RATES {
            assert!(rate(i) < rate(i + 1), "{i}");
            assert_eq!(format!("{:.2e}", rate(i)).parse(), Ok(rate(i)), "{i}");
        }
    }
}
