//! The fastest plan of the simulated model: under random requests and random plans, and against every plan of small chains.

#![cfg(not(target_arch = "wasm32"))]

#[path = "laws/requests.rs"]
mod requests;

use galley::engine::outcome::Summary;
use galley::engine::plan::{LayerPlan, Plan};
use galley::engine::policy::{Action, Granularity, Policy, PolicyKind};
use galley::engine::search::fastest::{Found, bound, fastest, table};
use galley::engine::units::Nanos;
use galley::engine::{Scenario, evaluate};
use proptest::prelude::*;
use proptest::test_runner::Config;
use requests::any_memory;
use serde_json::{Value, json};

fn config(cases: u32) -> Config {
    let cases = std::env::var("PROPTEST_CASES").map_or(cases, |n| n.parse().expect("a number"));
    Config { cases, failure_persistence: None, ..Config::default() }
}

fn scenario(request: &Value) -> Scenario {
    Scenario::read(request).unwrap_or_else(|error| panic!("{error}: {request}")).0
}

fn summary(scenario: &Scenario, policy: &Policy) -> Summary {
    evaluate::summarize(scenario, &evaluate::plan(scenario, policy))
}

/// The bound of a whole step.
fn bound(scenario: &Scenario) -> Option<Nanos> {
    let micro = bound::bound(scenario, &table::rows(&scenario.chain)).micro?;
    Some(scenario.chain.in_step(micro) + scenario.chain.optimizer)
}

/// A plan from dice: an action for every tensor, whole layers recomputed now and then, segments cut where the dice say.
fn diced(scenario: &Scenario, dice: &[u8]) -> Policy {
    let mut dice = dice.iter().copied().cycle();
    let mut roll = |sides: u8| dice.next().unwrap_or(0) % sides;
    let (mut list, mut lengths, mut run) = (Vec::new(), Vec::new(), 0);
    for layer in &scenario.chain.layers {
        let whole = roll(3) == 0 && !layer.saved.is_empty();
        for _ in &layer.saved {
            let action = Action::ALL[usize::from(roll(4))];
            list.push(if whole { Action::Recompute } else { action });
        }
        let start = list.len() - layer.saved.len();
        let again = !layer.saved.is_empty()
            && list[start..].iter().all(|&action| action == Action::Recompute);
        if run > 0 && (!again || roll(2) == 0) {
            lengths.push(run);
            run = 0;
        }
        run += u64::from(again);
    }
    lengths.extend((run > 0).then_some(run));
    // A list as long as there are layers is read as one entry per layer.
    if [scenario.chain.layers.len(), scenario.chain.blocks().count()].contains(&list.len()) {
        return Policy { plan: Some(list), k: 1, ..Policy::new(PolicyKind::Plan) };
    }
    let actions = [Action::Keep, Action::Host, Action::Ssd];
    let boundaries = lengths.iter().map(|_| actions[usize::from(roll(3))]).collect();
    Policy {
        plan: Some(list),
        segments: Some(lengths),
        boundaries: Some(boundaries),
        granularity: if roll(2) == 0 { Granularity::Layer } else { Granularity::Tensor },
        prefetch_layers: u64::from(roll(5)),
        reentrant: scenario.policy.reentrant,
        k: 1,
        ..Policy::new(PolicyKind::Plan)
    }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn no_plan_is_below_the_bound(request in any_memory(), dice in prop::collection::vec(any::<u8>(), 40)) {
        let scenario = scenario(&request);
        let bound = bound(&scenario);
        for policy in [scenario.policy.clone(), diced(&scenario, &dice), diced(&scenario, &dice[7..])] {
            let given = summary(&scenario, &policy);
            if given.runs {
                prop_assert!(bound.is_some(), "no plan fits, and this one does: {policy:?}");
                prop_assert!(Some(given.step) >= bound, "{given:?} is below {bound:?}: {policy:?}");
            }
        }
    }

    #[test]
    fn a_plan_as_a_policy_is_the_same_plan(request in any_memory(), dice in prop::collection::vec(any::<u8>(), 40)) {
        let scenario = scenario(&request);
        let policy = diced(&scenario, &dice);
        let mut text = request.clone();
        text["policy"] = json!(policy);
        let (read, notes) = Scenario::read(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        prop_assert!(notes.clamped.iter().all(|clamped| !clamped.path.starts_with("policy")));
        let plan = Plan::of(&read.policy, &scenario.chain, &scenario.hardware);
        let again = plan.to_policy(&scenario.chain, &policy);
        let again = Plan::of(&again, &scenario.chain, &scenario.hardware);
        prop_assert_eq!((&again.layers, &again.segments), (&plan.layers, &plan.segments));
        let segments = plan.layers.iter().filter(|layer| matches!(layer, LayerPlan::Segment(_))).count();
        prop_assert_eq!(segments, plan.recomputed_layers());
    }
}

/// Found again: by its own numbers, through the request, and no slower than the plan that was there.
fn sound(scenario: &Scenario, found: &Found) {
    assert_eq!(summary(scenario, &found.policy), found.summary, "{:?}", found.policy);
    if found.summary.runs {
        assert!(found.bound.is_some_and(|bound| found.summary.step >= bound), "{found:?}");
    }
    let own = summary(scenario, &scenario.policy);
    if own.runs && !scenario.asks_for_best() {
        assert!(found.summary.runs && found.summary.step <= own.step, "{found:?}, {own:?}");
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn what_is_found_is_what_it_says(request in any_memory()) {
        let scenario = scenario(&request);
        let found = fastest(&scenario);
        sound(&scenario, &found);
        prop_assert_eq!(&fastest(&scenario), &found);
    }
}

/// Every plan that gives whole blocks one of the four actions, neighbours recomputed together or not, boundaries kept.
fn every_layer_plan(scenario: &Scenario) -> Vec<Policy> {
    let blocks = scenario.chain.blocks().count();
    let mut all = Vec::new();
    for code in 0..4_usize.pow(u32::try_from(blocks).expect("few")) {
        let list: Vec<Action> = (0..blocks).map(|i| Action::ALL[code >> (2 * i) & 3]).collect();
        let joins: Vec<usize> = (1..blocks)
            .filter(|&i| list[i - 1] == Action::Recompute && list[i] == Action::Recompute)
            .collect();
        for cut in 0..1_usize << joins.len() {
            let mut lengths: Vec<u64> = Vec::new();
            for (i, _) in
                list.iter().enumerate().filter(|(_, action)| **action == Action::Recompute)
            {
                let joined =
                    joins.iter().position(|&j| j == i).is_some_and(|at| cut >> at & 1 == 1);
                match lengths.last_mut() {
                    Some(last) if joined => *last += 1,
                    _ => lengths.push(1),
                }
            }
            all.push(Policy {
                plan: Some(list.clone()),
                segments: Some(lengths),
                k: 1,
                ..Policy { kind: PolicyKind::Plan, ..scenario.policy.clone() }
            });
        }
    }
    all
}

/// The shortest step among every plan of whole blocks that runs.
fn by_force(scenario: &Scenario) -> Option<Nanos> {
    let all = every_layer_plan(scenario);
    let steps = all.iter().map(|policy| summary(scenario, policy));
    steps.filter(|summary| summary.runs).map(|summary| summary.step).min()
}

fn uniform(layers: u32, rate: f64, units: u32) -> Scenario {
    // So many layers' worth of memory, and a byte over.
    let memory = (f64::from(units) * 1e9 + 1.0) / 1024_f64.powi(3);
    scenario(&json!({
        "v": 1, "workload": {"kind": "lesson", "layers": layers, "act_gb": 1, "layer_s": 0.1},
        "hardware": {"memory_gib": 1000, "d2h_gbps": rate, "h2d_gbps": rate, "host_gib": 512,
            "ssd_gib": 100, "ssd_read_gbps": 6, "ssd_write_gbps": 5},
        "limits": {"memory_gib": memory},
    }))
}

/// On uniform chains of up to five layers no plan is better, and the search knows.
#[test]
fn small_uniform_chains_are_solved() {
    for layers in 2..=5 {
        for rate in [30.0, 10.0, 4.0, 1.0] {
            for units in 1..=layers {
                let scenario = uniform(layers, rate, units);
                let found = fastest(&scenario);
                sound(&scenario, &found);
                let best = by_force(&scenario);
                let name = format!("{layers} layers, {rate} GB/s, {units} GB");
                assert_eq!(found.summary.runs, best.is_some(), "{name}");
                if let Some(best) = best {
                    assert!(found.summary.step <= best, "{name}: {found:?}, {best:?}");
                    assert!(found.optimal(), "{name}: {found:?}");
                } else {
                    assert!(found.bound.is_none() || found.exhausted, "{name}: {found:?}");
                }
            }
        }
    }
}

/// On longer uniform chains the bound is reached wherever the link keeps up with a third of the activations or the memory holds half of them.
#[test]
fn long_uniform_chains_are_proved() {
    for layers in [16, 24, 48, 96] {
        for (rate, units) in [
            (60.0, 2),
            (60.0, 4),
            (20.0, 2),
            (20.0, layers / 3),
            (8.0, layers / 2),
            (3.0, layers - 2),
        ] {
            let found = fastest(&uniform(layers, rate, units));
            assert!(found.optimal(), "{layers} layers, {rate} GB/s, {units} GB: {found:?}");
        }
    }
}

proptest! {
    #![proptest_config(config(40))]

    /// Random chains of a few layers: per tensor and in any segments, it is never behind the best plan of whole layers.
    #[test]
    fn small_chains_are_never_behind(request in any_memory()) {
        let scenario = scenario(&request);
        if scenario.chain.blocks().count() <= 4 {
            let (found, best) = (fastest(&scenario), by_force(&scenario));
            if let Some(best) = best {
                prop_assert!(found.summary.runs && found.summary.step <= best, "{found:?}, {best:?}");
            }
        }
    }
}

/// Of a layer that can run each tensor again but not all, the large one goes and a cheap small one stays.
#[test]
fn the_small_tensor_may_stay_that_costs_nothing() {
    let layer = |large: u64| {
        json!({"name": "one", "kind": "block", "forward_s": 0.008, "backward_s": 0.003, "boundary_bytes": 1,
            "saved": [{"name": "large", "bytes": large, "recompute_s": 0.001}, {"name": "small", "bytes": 1, "recompute_s": 0.0}]})
    };
    let scenario = scenario(&json!({
        "v": 1, "workload": {"kind": "profile", "batch": 1, "layers": [layer(50_000_000), layer(40_000_000)], "static_bytes": {}},
        "hardware": {"memory_gib": 1000, "d2h_gbps": 0.2, "h2d_gbps": 0.2}, "limits": {"memory_gib": 0.05},
    }));
    let [keep, again] = [Action::Keep, Action::Recompute];
    let list =
        Policy { plan: Some(vec![again, keep, keep, keep]), ..Policy::new(PolicyKind::Plan) };
    let given = summary(&scenario, &list);
    let found = fastest(&scenario);
    assert!(
        given.runs && found.bound.is_some_and(|bound| bound <= given.step),
        "{given:?}, {found:?}"
    );
    assert!(found.summary.step <= given.step, "{given:?}, {found:?}");
}
