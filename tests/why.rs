//! Why a plan is what it is, and what would change it. Laws: a decision's turning point turns it, just beyond and not just
//! before; what keeping a tensor takes is what it takes; every change that is said to make a scenario fit does.

#[path = "laws/requests.rs"]
mod requests;

use galley::engine::chain::Storage;
use galley::engine::door;
use galley::engine::edit;
use galley::engine::evaluate::{evaluate, evaluate_plan};
use galley::engine::outcome::{Outcome, Reason};
use galley::engine::units::{Bytes, Nanos};
use galley::engine::why::change::{What, ladder};
use galley::engine::why::combine::Kinds;
use galley::engine::why::decision::{Decision, Turn, Unit, Weighing};
use galley::engine::why::nearest::{MOST, Seeking, nearest};
use galley::engine::why::trial::Trial;
use galley::engine::why::{keep, peak};
use galley::engine::{Action, Scenario};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

fn read(request: &Value) -> Scenario {
    Scenario::read(request).unwrap_or_else(|error| panic!("{error}: {request}")).0
}

fn with(request: &Value, changes: &[(&str, Value)]) -> Value {
    let mut request = request.clone();
    for (path, value) in changes {
        edit::set(&mut request, path, value.clone());
    }
    request
}

/// Models, cards and plans whose decisions are looked at, tensor by tensor.
fn requests() -> Vec<Value> {
    let mut all = Vec::new();
    let policies = [
        json!({"kind": "keep"}),
        json!({"kind": "offload", "granularity": "tensor"}),
        json!({"kind": "offload", "medium": "ssd"}),
        json!({"kind": "mix", "k": 4, "beta": 0.5}),
        json!({"kind": "offload-boundaries"}),
        json!({"kind": "checkpoint", "k": 3}),
        json!({"kind": "rule", "granularity": "tensor", "epsilon_ms": 2}),
        json!({"kind": "rule"}),
        json!({"kind": "selective"}),
    ];
    let models = [
        json!({"workload": {"preset": "llama-2-7b", "layers": 6}, "training": {"lora_rank": 16}}),
        json!({"workload": {"preset": "gpt2", "attention": "eager", "batch": 4}, "hardware": {"preset": "a100-40g"}}),
        json!({"workload": {"preset": "gpt2", "layers": 5, "batch": 2},
            "hardware": {"preset": "rtx-4090", "pooled_buffers": false, "link_efficiency": "by-size", "d2h_gbps": 6, "h2d_gbps": 4}}),
        json!({"workload": {"kind": "lesson", "layers": 8, "act_gb": 2, "layer_s": 0.1}, "hardware": {"preset": "gh200"}}),
        json!({"workload": {"kind": "profile", "layers": [
            {"name": "a", "forward_s": 0.01, "backward_s": 0.02, "boundary_bytes": 1_000_000, "saved": [
                {"name": "x", "bytes": 400_000_000, "recompute_s": 0.002}, {"name": "y", "bytes": 1000, "recompute_s": 0.01}]},
            {"name": "b", "forward_s": 0.02, "backward_s": 0.01, "saved": [{"name": "z", "bytes": 90_000_000, "recompute_s": 0.004}]},
            {"name": "c", "forward_s": 0.005, "backward_s": 0.01, "saved": [{"name": "w", "bytes": 500_000_000, "recompute_s": 0.05}]}]}}),
    ];
    for model in &models {
        for policy in &policies {
            all.push(with(model, &[("policy", policy.clone())]));
        }
    }
    all
}

/// Every decision of a request, with the plan that it is of.
fn decisions(scenario: &Scenario, outcome: &Outcome) -> Vec<(usize, usize, Decision)> {
    let weighing = Weighing::of(scenario, outcome);
    let layer = |i: usize| {
        weighing
            .layer(i)
            .into_iter()
            .enumerate()
            .map(move |(t, one)| (i, t, one))
            .collect::<Vec<_>>()
    };
    (0..outcome.layers.len()).flat_map(layer).collect()
}

/// The reason of one tensor on another link, the plan held.
fn on_link(scenario: &Scenario, outcome: &Outcome, factor: f64, at: (usize, usize)) -> Reason {
    let mut other = scenario.clone();
    other.hardware.d2h.0 *= factor;
    other.hardware.h2d.0 *= factor;
    let outcome = evaluate_plan(&other, outcome.policy.clone(), outcome.plan.clone());
    Weighing::of(&other, &outcome).layer(at.0)[at.1].reason
}

#[test]
fn a_turning_point_turns_the_reason_just_beyond_and_not_just_before() {
    let mut counted = [0; 5];
    for request in requests() {
        let scenario = read(&request);
        let outcome = evaluate(&scenario);
        let epsilon = outcome.policy.epsilon();
        for (i, t, one) in decisions(&scenario, &outcome) {
            let place = format!("{request}: layer {i}, tensor {t}: {one:?}");
            match one.turn {
                Some(Turn::Link(factor)) => {
                    let upwards = one.reason != Reason::OffloadHidden;
                    assert_eq!(upwards, factor >= 1.0, "{place}");
                    let (beyond, before) = if upwards { (1.01, 0.99) } else { (0.99, 1.01) };
                    let at = |share: f64| on_link(&scenario, &outcome, factor * share, (i, t));
                    assert_ne!(at(beyond), one.reason, "{place}");
                    // Just before it nothing has changed, unless the link as it is lies in between.
                    if (factor * before - 1.0) * (factor - 1.0) > 0.0 {
                        assert_eq!(at(before), one.reason, "{place}");
                    }
                    counted[usize::from(!upwards)] += 1;
                }
                Some(Turn::Recompute(time)) => {
                    let at = |share: f64| {
                        let recompute = Nanos::from_secs(time.secs() * share);
                        let choice = galley::engine::rule::Choice { recompute, ..one.choice };
                        choice.reason(epsilon)
                    };
                    assert_eq!(at(0.99), Reason::RecomputeCheaper, "{place}");
                    assert_ne!(at(1.01), Reason::RecomputeCheaper, "{place}");
                    counted[2] += 1;
                }
                None => {
                    let nothing = one.reason == Reason::NothingSaved;
                    let at = |factor| on_link(&scenario, &outcome, factor, (i, t)) == one.reason;
                    assert!(nothing || at(900.0) && at(1.0 / 900.0), "{place}");
                    counted[3] += 1;
                }
            }
            if let Some(j) = one.until {
                // Such a tensor there would have the time.
                let weighing = Weighing::of(&scenario, &outcome);
                let there = weighing.layer(j)[0].choice;
                assert!(
                    j < i && there.window > there.queue + one.choice.round_trip + epsilon,
                    "{place}"
                );
                counted[4] += 1;
            }
        }
    }
    assert!(counted.iter().all(|&n| n > 20), "every kind is there: {counted:?}");
}

/// On a request, not only inside: the rates that `evaluate` names, a hundredth beyond.
#[test]
fn the_bandwidth_that_is_named_is_the_one_to_set() {
    let request = json!({"detail": true, "workload": {"preset": "llama-2-7b"}, "training": {"lora_rank": 16},
        "hardware": {"preset": "rtx-4090", "d2h_gbps": 8, "h2d_gbps": 10, "cards_per_link": 2},
        "policy": {"kind": "mix", "k": 4, "beta": 0.5}});
    let why = |request: &Value, i: usize| {
        let answer = door::evaluate(&request.to_string()).expect("reads");
        answer["layers"][i]["saved"][3]["why"].clone()
    };
    let mut turned = 0;
    for i in [1, 8, 15, 16] {
        let now = why(&request, i);
        assert_eq!(now["changes_at"]["key"], "hardware.d2h_gbps", "{now}");
        let rate = now["changes_at"]["value"].as_f64().expect("a rate");
        let sign = if rate > 8.0 { 1.0 } else { -1.0 };
        let at = |share: f64| {
            let rates = [
                ("hardware.d2h_gbps", json!(rate * share)),
                ("hardware.h2d_gbps", json!(rate * share * 1.25)),
            ];
            why(&with(&request, &rates), i)["reason"].clone()
        };
        assert_ne!(at(1.0 + 0.01 * sign), now["reason"], "{now}");
        assert_eq!(at(1.0 - 0.01 * sign), now["reason"], "{now}");
        turned += 1;
    }
    assert_eq!(turned, 4);
    let plain = with(&request, &[("detail", json!(false))]);
    assert_eq!(why(&plain, 1), Value::Null, "only where detail is asked for");
}

#[test]
fn under_the_rule_the_reason_is_the_decision() {
    let mut counted = [0; 3];
    for request in requests().iter().filter(|request| request["policy"]["granularity"] == "tensor")
    {
        let scenario = read(request);
        let outcome = evaluate(&scenario);
        if request["policy"]["kind"] != "rule" {
            continue;
        }
        for (i, t, one) in decisions(&scenario, &outcome) {
            let layer = &scenario.chain.layers[i];
            let ruled = layer.kind == galley::engine::chain::LayerKind::Block
                && layer.saved[t].storage == Storage::Inner
                && one.unit == Unit::Tensor;
            if !ruled {
                continue;
            }
            let (expected, count) = match one.reason {
                Reason::RecomputeCheaper => (Action::Recompute, 0),
                Reason::OffloadHidden => (outcome.policy.medium, 1),
                _ => (Action::Keep, 2),
            };
            assert_eq!(one.action, expected, "{request}: layer {i}, tensor {t}: {one:?}");
            counted[count] += 1;
        }
    }
    assert!(counted.iter().all(|&n| n > 0), "{counted:?}");
}

#[test]
fn keeping_a_tensor_takes_the_memory_that_is_named() {
    let mut tried = 0;
    for request in requests() {
        let scenario = read(&request);
        let outcome = evaluate(&scenario);
        for (i, t, one) in decisions(&scenario, &outcome) {
            let needed = keep::memory(&scenario, &outcome, i, t);
            assert_eq!(needed.is_none(), one.action == Action::Keep, "{request}: {one:?}");
            let Some(needed) = needed.filter(|_| (i + t) % 5 == 0) else { continue };
            let plan = keep::keeping(&outcome.plan, &scenario.chain, (i, t), one.action);
            let within = |memory: Bytes| {
                let mut other = scenario.clone();
                (other.limits.memory, other.hardware.host) = (memory, Bytes::from_gib(4096.0));
                evaluate_plan(&other, outcome.policy.clone(), plan.clone())
            };
            let enough = within(needed);
            assert!(enough.out_of_memory.is_none(), "{request}: layer {i}, tensor {t}");
            assert_eq!(
                enough.layers[i].actions[t],
                Action::Keep,
                "{request}: layer {i}, tensor {t}"
            );
            assert!(
                within(needed - Bytes(1)).out_of_memory.is_some(),
                "{request}: layer {i}, tensor {t}"
            );
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
}

/// Scenarios that do not fit, of every kind.
fn too_large() -> Vec<Value> {
    vec![
        json!({"workload": {"preset": "llama-2-7b"}, "training": {"lora_rank": 16}, "policy": {"kind": "keep"}}),
        json!({"workload": {"preset": "llama-2-7b", "batch": 6}, "training": {"lora_rank": 16}, "policy": {"kind": "checkpoint", "k": 4}}),
        json!({"workload": {"preset": "llama-2-7b"}, "policy": {"kind": "recompute"}}),
        json!({"workload": {"preset": "gpt2", "batch": 48, "seq": 1024}, "policy": {"kind": "keep"}}),
        json!({"workload": {"preset": "gpt2", "batch": 16, "attention": "eager"}, "hardware": {"preset": "rtx-3090"}, "policy": {"kind": "keep"}}),
        json!({"workload": {"preset": "llama-3-8b"}, "training": {"dp": 8}, "hardware": {"preset": "a100-80g"}, "policy": {"kind": "recompute"}}),
        json!({"workload": {"preset": "llama-3-70b"}, "policy": {"kind": "keep"}}),
        json!({"workload": {"preset": "llama-2-7b"}, "training": {"lora_rank": 16}, "hardware": {"preset": "rtx-4090", "host_gib": 2, "ssd_gib": 0},
            "policy": {"kind": "offload"}}),
        json!({"workload": {"preset": "llama-2-7b", "seq": 2048}, "training": {"lora_rank": 16}, "limits": {"memory_gib": 13}, "policy": {"kind": "recompute"}}),
        json!({"workload": {"preset": "gpt2", "layers": 4, "batch": 96}, "policy": {"kind": "best"}}),
        json!({"workload": {"kind": "lesson"}, "policy": {"kind": "keep"}}),
        json!({"workload": {"kind": "lesson", "base_gb": 12, "batch": 3}, "policy": {"kind": "keep"}}),
        json!({"workload": {"kind": "profile", "static_bytes": {"weights": 8_000_000_000_u64}, "layers": (0..6).map(|i| json!({
            "name": format!("l{i}"), "forward_s": 0.05, "backward_s": 0.1, "boundary_bytes": 50_000_000,
            "saved": [{"name": "x", "bytes": 4_000_000_000_u64}]})).collect::<Vec<_>>()}, "policy": {"kind": "keep"}}),
        json!({"workload": {"preset": "gpt2", "batch": 8}, "limits": {"step_s": 0.12}, "policy": {"kind": "recompute"}}),
        json!({}),
    ]
}

#[test]
fn every_change_that_is_named_makes_it_fit() {
    let mut found = Vec::new();
    for request in too_large() {
        let scenario = read(&request);
        let outcome = evaluate(&scenario);
        assert!(!outcome.fits, "{request}");
        let answer = nearest(request.clone(), scenario);
        assert!(
            !answer.fits && !answer.changes.is_empty() && answer.changes.len() <= MOST,
            "{request}: {answer:?}"
        );
        let stopped = outcome.out_of_memory.is_some();
        assert_eq!(answer.missing > Bytes::ZERO, stopped, "{request}");
        for trial in &answer.changes {
            let other = read(&trial.change.made(&request));
            let after = evaluate(&other);
            assert!(after.fits, "{request}: {trial:?}");
            assert_eq!(
                (after.peak.row.total(), after.step),
                (trial.peak, trial.step),
                "{request}: {trial:?}"
            );
            found.push(trial.change.what);
        }
        let prices: Vec<_> = answer.changes.iter().map(|trial| trial.change.price()).collect();
        assert!(prices.is_sorted(), "{prices:?}");
        let other = |trial: &&Trial| !head(trial).is_plan();
        let mut heads: Vec<What> = answer.changes.iter().filter(other).map(head).collect();
        let named = heads.len();
        heads.sort_unstable();
        heads.dedup();
        assert_eq!(heads.len(), named, "{request}: two of the same: {answer:?}");
    }
    for what in
        [What::Best, What::MicroBatch, What::Card, What::HostMemory, What::Zero, What::WholeCard]
    {
        assert!(found.contains(&what), "{what:?} is never near: {found:?}");
    }
}

/// What a change is above all.
fn head(trial: &Trial) -> What {
    Kinds::of(&trial.change).head()
}

/// Where there are three things to do, three are named, and no two of them are the same.
#[test]
fn three_different_things_are_named_where_there_are_three() {
    let of = |model: &str, card: &str, batch: u64, kind: &str| json!({"workload": {"preset": model, "batch": batch}, "hardware": {"preset": card}, "policy": {"kind": kind}});
    let mut together = 0;
    for request in [
        of("llama-3-8b", "a100-80g", 4, "best"),
        of("llama-3-8b", "h100-80g", 16, "keep"),
        of("llama-3-8b", "h100-80g", 16, "best"),
        of("llama-2-7b", "rtx-4090", 1, "recompute"),
        of("llama-3.2-1b", "rtx-4090", 8, "best"),
        with(
            &of("llama-3-8b", "h100-80g", 16, "keep"),
            &[("training.lora_rank", json!(16)), ("limits.memory_gib", json!(4))],
        ),
    ] {
        // Which they are is settled with the first plan that fits; the best plan of each takes longer.
        let scenario = read(&request);
        let outcome = evaluate(&scenario);
        let mut seeking = Seeking::new(request.clone(), scenario, outcome);
        while !seeking.settled() && seeking.advance() {}
        let changes = seeking.chosen();
        assert_eq!(changes.len(), MOST, "{request}: {changes:?}");
        for (i, trial) in changes.iter().enumerate() {
            assert!(trial.fits, "{request}: {trial:?}");
            assert!(
                !changes[..i].iter().any(|one| head(one) == head(trial)),
                "{request}: {changes:?}"
            );
            together += trial.change.with.len();
        }
    }
    assert!(together > 0, "none of these needs two at once");
}

/// What is settled stays: the search for the best plans changes steps and peaks, never which changes they are or their order.
#[test]
fn the_best_plans_of_the_changes_leave_them_where_they_are() {
    let request = json!({"workload": {"preset": "gpt2", "layers": 4, "batch": 96}, "policy": {"kind": "best"}});
    let scenario = read(&request);
    let outcome = evaluate(&scenario);
    let mut seeking = Seeking::new(request, scenario, outcome);
    while !seeking.settled() && seeking.advance() {}
    let kinds = |seeking: &Seeking| {
        let all = seeking.chosen();
        all.iter().map(|trial| trial.change.kinds().collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let (settled, first) = (kinds(&seeking), seeking.chosen());
    assert!(first.iter().any(|trial| !trial.complete), "{first:?}");
    while seeking.advance() {
        assert_eq!(kinds(&seeking), settled);
    }
    let last = seeking.chosen();
    assert!(last.iter().all(|trial| trial.complete), "{last:?}");
    assert!(
        first.iter().zip(&last).all(|(before, after)| after.step <= before.step),
        "{first:?} {last:?}"
    );
}

#[test]
fn where_only_one_thing_helps_one_is_named() {
    let request =
        json!({"workload": {"kind": "lesson", "base_gb": 30}, "policy": {"kind": "keep"}});
    let answer = nearest(request.clone(), read(&request));
    let kinds: Vec<What> = answer.changes.iter().map(|trial| trial.change.what).collect();
    assert_eq!(kinds, [What::Card]);
}

#[test]
fn what_only_the_additive_model_answers_is_refused() {
    for request in [
        json!({"cost_model": "additive"}),
        json!({"knapsack": {"capacity": 3}}),
        json!({"additive": {}}),
    ] {
        for name in ["nearest", "evaluate"] {
            let error =
                door::open(name, &request.to_string()).expect("a door").expect_err("refused");
            assert_eq!(error.code(), "unfit", "{name}: {request}");
        }
    }
    let simulated = json!({"workload": {"preset": "gpt2"}, "cost_model": "simulated"});
    assert!(door::open("nearest", &simulated.to_string()).expect("a door").is_ok());
}

#[test]
fn what_fits_needs_nothing() {
    let request = json!({"workload": {"preset": "gpt2"}, "hardware": {"preset": "a100-80g"}});
    let answer = door::open("nearest", &request.to_string()).expect("a door").expect("reads");
    assert_eq!(
        (&answer["fits"], &answer["missing_bytes"], &answer["changes"]),
        (&json!(true), &json!(0), &json!([]))
    );
    let error = door::open("nearest", "{").expect("a door").expect_err("no JSON");
    assert_eq!(error.code(), "syntax");
}

#[test]
fn the_door_has_its_keys() {
    let request = json!({"workload": {"preset": "gpt2", "batch": 48}, "policy": {"kind": "keep"}, "colour": 1});
    let answer = door::open("nearest", &request.to_string()).expect("a door").expect("reads");
    assert_eq!(answer["ignored"], json!(["colour"]));
    assert!(answer["missing_bytes"].as_u64().expect("bytes") > 0);
    let changes = answer["changes"].as_array().expect("a list");
    assert_eq!(changes.len(), MOST);
    for change in changes {
        let mut made = request.clone();
        for pair in change["set"].as_array().expect("pairs") {
            let (path, value) = (pair[0].as_str().expect("a path"), pair[1].clone());
            if value.is_null() {
                edit::remove(&mut made, path);
            } else {
                edit::set(&mut made, path, value);
            }
        }
        let after = door::evaluate(&made.to_string()).expect("reads");
        assert_eq!(after["fits"], json!(true), "{change}");
        for key in ["peak_bytes", "step_s", "policy"] {
            assert_eq!(after[key], change[key], "{key}: {change}");
        }
        assert!(What::parse(change["change"].as_str().expect("a name")).is_some());
        assert!(change["slower"].is_number() && change["with"].is_array(), "{change}");
        assert!(
            ["time", "machine", "rounding", "training"]
                .contains(&change["price"].as_str().expect("a word"))
        );
    }
}

/// A smaller micro-batch trains as many tokens in a step; a group that was not named stays the default's.
#[test]
fn changes_change_what_they_say_and_nothing_else() {
    let request = json!({"workload": {"preset": "gpt2", "batch": 12, "accumulation": 2}});
    let scenario = read(&request);
    let outcome = evaluate(&scenario);
    let steps = ladder(What::MicroBatch, &request, &scenario, &outcome);
    let sizes: Vec<_> = steps
        .iter()
        .map(|change| read(&change.made(&request)).chain)
        .map(|chain| (chain.samples, chain.accumulation))
        .collect();
    assert_eq!(sizes, [(6, 4), (4, 6), (3, 8), (2, 12), (1, 24)]);
    let bare = json!({"policy": {"kind": "keep"}});
    let (scenario, asked) = (read(&bare), read(&bare));
    let chunks = &ladder(What::LossChunks, &bare, &scenario, &evaluate(&scenario))[0];
    let after = chunks.scenario(&bare).expect("reads");
    assert_eq!(after.chain.params, asked.chain.params, "the same model");
    assert_ne!(after.chain, asked.chain);
    assert_eq!(
        chunks.set[0],
        ("workload.preset".to_owned(), json!("llama-2-7b")),
        "said, for others to set"
    );
    let lists = json!({"workload": {"preset": "gpt2"}, "policy": {"kind": "plan", "plan": vec!["keep"; 12]}});
    let scenario = read(&lists);
    for what in What::ALL.iter().filter(|what| what.is_plan()) {
        for change in ladder(*what, &lists, &scenario, &evaluate(&scenario)) {
            assert!(change.scenario(&lists).is_ok(), "{change:?}");
        }
    }
}

fn levers(request: &Value, scenario: &Scenario, outcome: &Outcome) -> Vec<Trial> {
    let mut levers = peak::Levers::new(request.clone(), scenario.clone(), outcome.clone());
    while levers.advance() {}
    levers.ranked()
}

#[test]
fn levers_move_the_peak_and_the_first_leaves_the_training_as_it_is() {
    for request in requests().into_iter().chain(too_large()) {
        let scenario = read(&request);
        let outcome = evaluate(&scenario);
        let peak = outcome.peak.row.total();
        let levers = levers(&request, &scenario, &outcome);
        for Trial { change, policy, peak: lower, .. } in &levers {
            let scenario = change.scenario(&request).expect("reads");
            let after = evaluate(&scenario.with_policy(policy.clone()));
            assert_eq!(after.peak.row.total(), *lower, "{request}: {change:?}");
            assert!(*lower < peak, "{request}: {change:?}");
        }
        let prices: Vec<_> = levers.iter().map(|trial| trial.change.price()).collect();
        assert!(prices.is_sorted(), "{prices:?}");
    }
}

/// Offloaded boundaries of a model whose logits are the peak: they are away after forward, and it stays.
#[test]
fn the_peak_that_does_not_move_is_explained() {
    let request = json!({"workload": {"preset": "gpt2", "batch": 8, "seq": 1024}, "hardware": {"preset": "a100-80g"},
        "policy": {"kind": "offload-boundaries"}});
    let scenario = read(&request);
    let outcome = evaluate(&scenario);
    let summit = peak::summit(&scenario, &outcome);
    assert_eq!(summit.at, outcome.peak.at);
    let head = scenario.chain.layers.len() - 1;
    assert_eq!(summit.layer, head, "{summit:?}");
    assert!(summit.freed > Bytes::ZERO);
    let levers = levers(&request, &scenario, &outcome);
    assert_eq!(levers[0].change.what, What::LossChunks, "{levers:?}");
    // Keeping everything, nothing is away.
    let keep = with(&request, &[("policy", json!({"kind": "keep"}))]);
    let scenario = read(&keep);
    let summit = peak::summit(&scenario, &evaluate(&scenario));
    assert_eq!((summit.freed, summit.away), (Bytes::ZERO, Bytes::ZERO));
}

proptest! {
    #![proptest_config(Config { cases: 150, failure_persistence: None, ..Config::default() })]

    /// Whatever is asked: turning points turn, what keeping takes is what it takes, and the peak has its place.
    #[test]
    fn any_scenario_has_its_whys(request in requests::any_memory()) {
        let scenario = read(&request);
        let outcome = evaluate(&scenario);
        for (i, t, one) in decisions(&scenario, &outcome) {
            if let Some(Turn::Link(factor)) = one.turn {
                // Times are whole nanoseconds: a turn within a few of them is none that a link of a hundredth more makes.
                // Both now and at the turn: a link hundreds of times as fast may turn at a few dozen of them.
                let there = one.choice.round_trip.secs() / factor.max(1.0);
                let coarse = there < Nanos(10_000).secs();
                let beyond = if one.reason == Reason::OffloadHidden { 0.99 } else { 1.01 };
                let then = on_link(&scenario, &outcome, factor * beyond, (i, t));
                prop_assert!(coarse || then != one.reason, "layer {}, tensor {}: {:?}", i, t, one);
            }
            if let Some(memory) = keep::memory(&scenario, &outcome, i, t) {
                let plan = keep::keeping(&outcome.plan, &scenario.chain, (i, t), one.action);
                let mut other = scenario.clone();
                let ample = Bytes::from_gib(4096.0);
                (other.limits.memory, other.hardware.host, other.hardware.ssd) =
                    (memory, ample, ample);
                let kept = evaluate_plan(&other, outcome.policy.clone(), plan);
                prop_assert!(kept.out_of_memory.is_none(), "{:?}: {:?}", one, kept.out_of_memory);
            }
        }
        let summit = peak::summit(&scenario, &outcome);
        prop_assert_eq!(summit.at, outcome.peak.at);
        prop_assert!(summit.away <= summit.freed);
    }
}

proptest! {
    #![proptest_config(Config { cases: 25, failure_persistence: None, ..Config::default() })]

    #[test]
    fn any_change_that_is_named_makes_it_fit(request in requests::any_memory()) {
        let answer = nearest(request.clone(), read(&request));
        for trial in &answer.changes {
            let after = evaluate(&read(&trial.change.made(&request)));
            prop_assert!(after.fits, "{:?}", trial);
            prop_assert_eq!((after.peak.row.total(), after.step), (trial.peak, trial.step));
        }
    }
}
