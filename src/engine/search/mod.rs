//! The search. In the simulated model: the fastest plan that fits, with a bound that says how far it may be from the best possible; and
//! a family of plans, evaluated one by one, with an exact front over that family and its knee; and questions asked the other way round. In the additive model: the optimum, proved.

pub mod additive;
pub mod bound;
pub mod family;
pub mod fastest;
pub mod front;
pub mod inverse;
pub mod knee;
pub mod revolve;
pub mod rotor;
mod steps;

use super::policy::Policy;
use super::scenario::Scenario;

/// The policy that `best` means: the fastest plan that fits, the one of least peak where none does.
#[must_use]
pub fn best(scenario: &Scenario) -> Policy {
    fastest::fastest(scenario).policy
}
