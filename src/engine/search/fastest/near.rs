//! A search that starts from what is known: the best of the family there, and plans that won in scenarios nearby.

use super::{Search, offload};
use crate::engine::plan::Plan;
use crate::engine::policy::{Action, Policy};
use crate::engine::scenario::Scenario;
use crate::engine::search::rotor;

impl Search {
    /// Starts with the best of the family (none where nothing of it runs), which is not looked through again.
    #[must_use]
    pub fn beside(scenario: &Scenario, family: Option<&Policy>) -> Self {
        let mut search = Self::new(scenario);
        search.knows_family = true;
        // What takes the least memory, where it is short of everything.
        let least = || rotor::policy(scenario);
        if let Some(policy) = family.cloned().or_else(least) {
            let summary = super::summary(scenario, &policy);
            search.offer(policy, summary);
        }
        search
    }

    /// What it searches.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Tries a plan that won nearby: as it is, and what it recomputes with the earliest of the rest sent away anew, as much as this room asks for.
    pub fn borrow(&mut self, policy: &Policy) {
        let Scenario { chain, hardware, .. } = &self.scenario;
        let plan = Plan::of(policy, chain, hardware);
        let kept = plan.without_offload();
        let flat = Some(&kept).filter(|kept| kept.nested.is_empty());
        let away = offload::earliest(chain, &kept, Action::Host, self.room);
        if away != plan {
            self.run(flat, away);
        }
        self.run(flat, plan);
    }

    /// Whether the best plan is at most so much above what no plan is below, or none is left to be found.
    #[must_use]
    pub fn is_within(&self, share: f64) -> bool {
        let found = self.found();
        found.optimal() || found.bound.is_none() || found.gap().is_some_and(|gap| gap <= share)
    }
}
