//! The search. In the simulated model: a family of plans, evaluated one by one, with an exact front over that family. In the additive
//! model: the optimum, proved.

pub mod additive;
pub mod bound;
pub mod family;
pub mod front;
pub mod revolve;

use super::policy::{Policy, PolicyKind};
use super::scenario::Scenario;
use front::Front;

/// The policy that `best` means: the least cost under λ among the family's plans that fit, the least peak when none does.
#[must_use]
pub fn best(scenario: &Scenario) -> Policy {
    let front = Front::of(scenario);
    front.best().map_or_else(|| Policy::new(PolicyKind::Keep), |i| front.points[i].policy.clone())
}
