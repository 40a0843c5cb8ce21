//! A plan for now, while the search for the fastest one has only begun: the one that was shown before a limit or a model moved, made to
//! fit again. It costs a few runs of the simulator, so that it can be had between two frames.

use super::{bound, offload, rank};
use crate::engine::error::Notes;
use crate::engine::evaluate;
use crate::engine::outcome::Summary;
use crate::engine::plan::Plan;
use crate::engine::policy::{Action, Policy, PolicyKind};
use crate::engine::scenario::Scenario;

/// `before`, where this chain allows it and it runs. Otherwise the best of a few: what it recomputes, every layer recomputed, or none, each with as much
/// offloaded as it takes.
#[must_use]
pub fn start(scenario: &Scenario, before: &Policy) -> Policy {
    let mut own = before.clone();
    let applies = Plan::fit_policy(&mut own, &scenario.chain, &mut Notes::default()).is_ok();
    let summary = |policy: &Policy| {
        let plan = evaluate::plan(scenario, policy);
        evaluate::summarize(scenario, &plan)
    };
    if applies && summary(&own).runs {
        return own;
    }
    let keep = Policy { kind: PolicyKind::Keep, ..scenario.policy.clone() };
    let mut all: Vec<Policy> = Vec::new();
    if applies {
        all.push(refit(scenario, &own));
    }
    all.extend(plain(scenario));
    let ranked = all.into_iter().map(|policy| (summary(&policy), policy));
    let best = |a: (Summary, Policy), b: (Summary, Policy)| {
        if rank(&b.0) < rank(&a.0) { b } else { a }
    };
    ranked.reduce(best).map_or(keep, |(_, policy)| policy)
}

/// Every layer recomputed, or none, with as much offloaded as it takes.
#[must_use]
pub fn plain(scenario: &Scenario) -> [Policy; 2] {
    let of = |kind| refit(scenario, &Policy { kind, ..scenario.policy.clone() });
    [PolicyKind::Recompute, PolicyKind::Keep].map(of)
}

/// A policy's recomputation, with the earliest of what it keeps offloaded, as much as the room asks for.
fn refit(scenario: &Scenario, policy: &Policy) -> Policy {
    let chain = &scenario.chain;
    let kept = evaluate::plan(scenario, policy).without_offload();
    let room = bound::room(scenario).unwrap_or(0);
    offload::earliest(chain, &kept, Action::Host, room).to_policy(chain, &scenario.policy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::search::fastest::fastest;
    use crate::engine::units::Bytes;

    fn lesson(limit: f64) -> Scenario {
        let request = serde_json::json!({"v": 1, "workload": {"kind": "lesson", "layers": 12, "act_gb": 1.5, "layer_s": 0.1, "base_gb": 4},
            "hardware": {"preset": "rtx-4090", "d2h_gbps": 8, "h2d_gbps": 8}, "policy": {"kind": "best"}, "limits": {"memory_gib": limit}});
        Scenario::read(&request).expect("a sound request").0
    }

    fn run(scenario: &Scenario, policy: &Policy) -> Summary {
        let plan = evaluate::plan(scenario, policy);
        evaluate::summarize(scenario, &plan)
    }

    #[test]
    fn what_runs_stays_and_what_does_not_is_made_to_fit() {
        let wide = lesson(16.0);
        let found = fastest(&wide);
        assert!(found.summary.runs && found.policy.kind == PolicyKind::Plan);
        assert_eq!(start(&wide, &found.policy), found.policy);
        for limit in [12.0, 10.0] {
            let tight = lesson(limit);
            let (best, warm) = (fastest(&tight), run(&tight, &start(&tight, &found.policy)));
            assert!(best.summary.runs && warm.runs, "{limit}");
            assert!(best.bound <= Some(warm.step), "{limit}");
            assert!(!run(&tight, &found.policy).runs, "{limit}: what was found does not fit");
        }
    }

    #[test]
    fn a_list_of_another_chain_and_no_room_at_all_are_no_trouble() {
        let mut tight = lesson(5.0);
        let list = Policy { plan: Some(vec![Action::Host; 7]), ..Policy::new(PolicyKind::Plan) };
        let summary = run(&tight, &start(&tight, &list));
        assert!(!summary.runs && summary.peak > Bytes::ZERO);
        tight.limits.memory = Bytes::ZERO;
        assert!(!run(&tight, &start(&tight, &list)).runs);
    }
}
