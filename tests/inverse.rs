//! Questions asked the other way round, held to brute force: every batch, sequence, budget, card and rate on the way is evaluated by
//! itself, through the doors.

#[path = "laws/requests.rs"]
mod requests;

use galley::engine::search::fastest::fastest;
use galley::engine::search::inverse::{self, Inverse};
use galley::engine::search::knee::knee;
use galley::engine::units::{Bytes, Nanos};
use galley::engine::{Scenario, door};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

fn with(request: &Value, path: &str, value: Value) -> Value {
    let mut request = request.clone();
    let (group, key) = path.split_once('.').expect("a dotted path");
    request[group][key] = value;
    request
}

fn ask(request: &Value, question: Value) -> Value {
    let mut request = request.clone();
    request["inverse"] = question;
    door::inverse(&request.to_string()).unwrap_or_else(|error| panic!("{error}: {request}"))
}

fn evaluate(request: &Value) -> Value {
    door::evaluate(&request.to_string()).unwrap_or_else(|error| panic!("{error}: {request}"))
}

/// A request with the changes of an answer.
fn changed(request: &Value, answer: &Value) -> Value {
    let mut request = request.clone();
    for (path, value) in answer["changes"].as_object().expect("changes") {
        match path.split_once('.') {
            Some(_) => request = with(&request, path, value.clone()),
            None => request[path.as_str()] = value.clone(),
        }
    }
    request
}

fn fits(request: &Value) -> bool {
    evaluate(request)["fits"] == true
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Small models, so that every value can be tried.
fn small(policy: Value) -> Value {
    let mut request = json!({
        "v": 1,
        "workload": {"kind": "transformer", "layers": 6, "hidden": 256, "heads": 8, "kv_heads": 8, "ffn": 1024, "vocab": 4000, "seq": 512, "batch": 3},
        "training": {"dtype": "bf16-mixed"},
        "hardware": {"memory_gib": 0.5, "tflops": 20, "efficiency": 0.5, "hbm_gbps": 500, "d2h_gbps": 6, "h2d_gbps": 6, "host_gib": 8, "ssd_gib": 0},
    });
    request["policy"] = policy;
    request
}

/// Own policies of every kind, with parallelism, limits on the step, hosts that run out, and the lesson.
fn scenarios() -> Vec<Value> {
    let mut all: Vec<Value> = [
        json!({"kind": "keep"}),
        json!({"kind": "checkpoint", "k": 3}),
        json!({"kind": "recompute"}),
        json!({"kind": "offload"}),
        json!({"kind": "offload-boundaries", "prefetch_layers": 2}),
        json!({"kind": "mix", "k": 2, "beta": 0.5}),
        json!({"kind": "selective"}),
        json!({"kind": "rule", "granularity": "tensor"}),
        json!({"kind": "plan", "plan": ["host", "recompute", "keep", "host", "keep", "keep"]}),
    ]
    .map(small)
    .into();
    let keep = || small(json!({"kind": "keep"}));
    all.push(with(&keep(), "limits.step_s", json!(0.02)));
    all.push(with(&small(json!({"kind": "offload"})), "hardware.host_gib", json!(0.2)));
    all.push(with(&with(&keep(), "training.tp", json!(4)), "training.sp", json!(true)));
    let sharded = with(&with(&keep(), "training.zero", json!(3)), "training.dp", json!(8));
    all.push(with(&sharded, "training.offload_states", json!("optimizer")));
    let staged = with(&with(&keep(), "training.pp", json!(2)), "training.stage", json!(2));
    all.push(with(&staged, "workload.accumulation", json!(4)));
    let lesson =
        json!({"kind": "lesson", "layers": 12, "act_gb": 0.02, "layer_s": 0.01, "base_gb": 0.1});
    for kind in ["keep", "mix"] {
        let mut request = small(json!({"kind": kind}));
        request["workload"] = lesson.clone();
        all.push(with(&request, "hardware.memory_gib", json!(8)));
    }
    all
}

/// The answer's value and its neighbour, evaluated by themselves, say what the answer says.
fn check_edge(request: &Value, answer: &Value, path: &str) {
    let found = answer["value"].as_u64();
    assert_eq!(found, answer["found"]["value"].as_u64());
    if let Some(found) = found {
        let outcome = evaluate(&with(request, path, json!(found)));
        assert_eq!(outcome["fits"], true, "{found}: {request}");
        assert_eq!(outcome["peak_bytes"], answer["found"]["peak_bytes"]);
        assert_eq!(outcome["step_s"], answer["found"]["step_s"]);
        assert!(fits(&changed(request, answer)), "{}", answer["changes"]);
    }
    let next = &answer["next"];
    if next.is_null() {
        assert_eq!(
            found,
            answer["most"].as_u64(),
            "without a neighbour it is the largest that can be asked for"
        );
        return;
    }
    let by = if answer["under"] == "best" && path == "workload.seq" { 128 } else { 1 };
    assert_eq!(next["value"].as_u64(), Some(found.unwrap_or(0) + by), "{answer}");
    let outcome = evaluate(&with(request, path, next["value"].clone()));
    assert_eq!(outcome["fits"], false, "{request}");
    match next["lacks"].as_str().expect("what it lacks") {
        "memory" => assert_eq!(outcome["shortage_bytes"], next["missing_bytes"]),
        "host" => assert_eq!(outcome["out_of_memory"]["missing_bytes"], next["missing_bytes"]),
        "step" => assert!(seconds(&next["over_s"]) > 0.0 && outcome["out_of_memory"].is_null()),
        other => panic!("{other}"),
    }
}

#[test]
fn the_largest_batch_is_that_of_a_scan() {
    let mut stops = std::collections::BTreeSet::new();
    for request in scenarios() {
        let answer = ask(&request, json!({"ask": "batch"}));
        check_edge(&request, &answer, "workload.batch");
        let found = answer["value"].as_u64().unwrap_or(0);
        let fitting =
            (1..=2 * found + 4).filter(|&n| fits(&with(&request, "workload.batch", json!(n))));
        assert_eq!(fitting.max().unwrap_or(0), found, "{request}");
        stops.insert(answer["next"]["lacks"].to_string());
        assert!(answer["tried"].as_array().expect("a list").len() < 24);
    }
    assert_eq!(stops.len(), 3, "memory, host and step all end one: {stops:?}");
}

#[test]
fn the_largest_sequence_is_that_of_a_scan() {
    for request in
        scenarios().into_iter().filter(|request| request["workload"]["kind"] == "transformer")
    {
        let answer = ask(&request, json!({"ask": "sequence"}));
        check_edge(&request, &answer, "workload.seq");
        let found = answer["value"].as_u64().unwrap_or(0);
        let of = answer["of_granule"].as_u64().unwrap_or(0);
        assert!(of <= found && found < of + 128 && of.is_multiple_of(128), "{answer}");
        // Every one nearby, and every granule up to twice as long.
        let near = found.saturating_sub(20).max(1)..found + 60;
        let far = (1..=2 * found / 128 + 2).map(|n| 128 * n);
        let fitting = near.chain(far).filter(|&n| fits(&with(&request, "workload.seq", json!(n))));
        assert_eq!(fitting.max().unwrap_or(0), found, "{request}");
    }
}

#[test]
fn a_learned_position_table_ends_a_sequence() {
    let request =
        json!({"workload": {"preset": "gpt2", "seq": 700}, "hardware": {"preset": "h100-80g"}});
    let answer = ask(&request, json!({"ask": "sequence"}));
    assert_eq!(
        (answer["value"].as_u64(), answer["next"].is_null()),
        (Some(1024), true),
        "{answer}"
    );
    // A table that has as many rows as the sequence has tokens, for nobody said otherwise, grows with it.
    let grown = json!({"workload": {"block": "gpt", "layers": 2, "hidden": 64, "heads": 1, "ffn": 64, "vocab": 10, "seq": 100}, "hardware": {"preset": "h100-80g"}});
    let answer = ask(&grown, json!({"ask": "sequence"}));
    assert!(answer["value"].as_u64() > Some(10_000), "{answer}");
    check_edge(&grown, &answer, "workload.seq");
    // Rows that are no multiple of the granule are reached too.
    let answer =
        ask(&with(&request, "workload.learned_positions", json!(1000)), json!({"ask": "sequence"}));
    assert_eq!((answer["value"].as_u64(), answer["of_granule"].as_u64()), (Some(1000), Some(896)));
}

#[test]
fn what_fits_nowhere_and_what_fits_everywhere_are_said() {
    let tiny = with(&small(json!({"kind": "keep"})), "hardware.memory_gib", json!(0.01));
    for question in ["batch", "sequence"] {
        let answer = ask(&tiny, json!({"ask": question}));
        assert!(answer["value"].is_null() && answer["changes"].is_null(), "{answer}");
        assert_eq!(answer["next"]["value"], 1);
    }
    let huge = with(&small(json!({"kind": "keep"})), "hardware.memory_gib", json!(1e6));
    let answer = ask(&huge, json!({"ask": "batch"}));
    assert_eq!((answer["value"].as_u64(), answer["next"].is_null()), (Some(65536), true));
}

/// Under the best plan the search decides. It need not be monotone; the edge is, and here the scan agrees too.
#[test]
fn under_the_best_plan_the_scan_searches_every_batch() {
    let request = with(&small(json!({"kind": "mix", "k": 2})), "hardware.memory_gib", json!(0.35));
    let best = |request: &Value, n: u64| {
        let (scenario, _) =
            Scenario::parse(&with(request, "workload.batch", json!(n)).to_string()).expect("reads");
        fastest(&scenario).summary
    };
    for request in [request.clone(), with(&request, "limits.step_s", json!(0.3))] {
        let answer = ask(&request, json!({"ask": "batch", "policy": "best"}));
        assert_eq!(answer["under"], "best");
        let found = answer["value"].as_u64().expect("one");
        let fitting = (1..=found + 4).filter(|&n| best(&request, n).fits);
        assert_eq!(fitting.max(), Some(found), "{answer}");
        assert!(fits(&changed(&request, &answer)));
        let own = ask(&request, json!({"ask": "batch"}))["value"].as_u64();
        assert!(own <= Some(found), "the best plan is no worse than the scenario's own");
        // The kind `best` asks for the same without being told.
        let kind = with(&request, "policy.kind", json!("best"));
        assert_eq!(ask(&kind, json!({"ask": "batch"}))["value"], found);
        check_edge(&kind, &ask(&kind, json!({"ask": "batch"})), "workload.batch");
    }
}

/// Sequences are searched by the granule there, and the edge is searched to the end on both sides.
#[test]
fn under_the_best_plan_a_sequence_is_a_multiple() {
    let request = with(&small(json!({"kind": "best"})), "hardware.memory_gib", json!(0.3));
    let answer = ask(&request, json!({"ask": "sequence"}));
    check_edge(&request, &answer, "workload.seq");
    assert_eq!(answer["value"], answer["of_granule"]);
    let found = answer["value"].as_u64().expect("one");
    let fitting = (1..=found / 128 + 4)
        .map(|n| 128 * n)
        .filter(|&n| fits(&with(&request, "workload.seq", json!(n))));
    assert_eq!(fitting.max(), Some(found), "{answer}");
}

/// How much is done at once is the page's business alone.
#[test]
fn slices_change_no_answer() {
    for question in ["batch", "sequence", "memory", "card", "bandwidth"] {
        let mut request = with(&small(json!({"kind": "rule"})), "hardware.memory_gib", json!(0.3));
        request["inverse"] = json!({"ask": question, "policy": "best"});
        let mut sliced = Inverse::read(&request).expect("it reads");
        let mut slices = 0;
        while sliced.advance(1 + slices % 3) {
            slices += 1;
        }
        assert!(slices > 0 && !sliced.advance(1), "{question}: {slices}");
        let whole = door::inverse(&request.to_string()).expect("it reads");
        assert_eq!(inverse::json(&sliced), whole);
    }
}

#[test]
fn the_least_memory_is_that_of_a_scan_of_budgets() {
    for (request, question, slowdown) in [
        (small(json!({"kind": "keep"})), json!({"ask": "memory"}), 0.05),
        (small(json!({"kind": "mix"})), json!({"ask": "memory", "slowdown": 0.3}), 0.3),
        (small(json!({"kind": "best"})), json!({"ask": "memory", "slowdown": 0}), 0.0),
        (
            with(&small(json!({"kind": "keep"})), "workload.batch", json!(24)),
            json!({"ask": "memory", "slowdown": 0.1}),
            0.1,
        ),
    ] {
        let answer = ask(&request, question);
        assert!((seconds(&answer["slowdown"]) - slowdown).abs() < 1e-6, "{answer}");
        let (scenario, _) = Scenario::parse(&request.to_string()).expect("reads");
        let least = Bytes(answer["memory_bytes"].as_u64().expect("one"));
        let step = Nanos::from_secs(seconds(&answer["step_s"]));
        // Within its own peak the plan runs as it ran with more.
        let mut again = with(&request, "limits.memory_gib", json!(least.gib()));
        again["hardware"]["memory_gib"] = json!(least.gib().max(0.5));
        again["policy"] = answer["found"]["policy"].clone();
        let outcome = evaluate(&again);
        assert_eq!(outcome["fits"], true, "{again}");
        assert_eq!(outcome["peak_bytes"], answer["found"]["peak_bytes"]);
        assert_eq!(outcome["step_s"], answer["found"]["step_s"]);
        assert!(Nanos::from_secs(seconds(&outcome["step_s"])) <= step);
        if answer["changes"].is_null() {
            assert!(least > scenario.hardware.memory, "only what the card has can be put to use");
        } else {
            // Rounded up, the budget leaves a little more room, which never slows a plan.
            let used = evaluate(&changed(&request, &answer));
            assert!(
                used["fits"] == true
                    && seconds(&used["step_s"]) <= seconds(&answer["found"]["step_s"])
            );
        }
        // No budget below its neighbour has a plan that the search finds to be within the step.
        let next =
            Bytes(answer["next"]["memory_bytes"].as_u64().unwrap_or_else(|| panic!("{answer}")));
        let statics = scenario.chain.standing().total();
        let range = answer["keep"]["peak_bytes"].as_u64().expect("bytes") - statics.0;
        assert!(next < least && least.0 - next.0 <= range / 256 + (1 << 20), "{answer}");
        for part in 0..=5 {
            let mut tight = scenario.clone();
            tight.limits.memory = Bytes(statics.0 + (next.0 - statics.0) / 5 * part);
            tight.limits.step = Some(step);
            let found = fastest(&tight);
            assert!(!found.summary.fits, "{} of {least:?}: {found:?}", tight.limits.memory.0);
        }
    }
}

#[test]
fn no_memory_makes_a_step_faster_than_keeping_everything() {
    let request = with(&small(json!({"kind": "keep"})), "limits.step_s", json!(1e-6));
    let answer = ask(&request, json!({"ask": "memory"}));
    assert!(answer["memory_bytes"].is_null() && answer["changes"].is_null(), "{answer}");
    // Of two limits the tighter one counts.
    let request = with(&small(json!({"kind": "keep"})), "limits.step_s", json!(1.0));
    let answer = ask(&request, json!({"ask": "memory", "slowdown": 0.02}));
    assert!((seconds(&answer["slowdown"]) - 0.02).abs() < 1e-6);
    let kept = seconds(&answer["keep"]["step_s"]);
    let request = with(&request, "limits.step_s", json!(1.01 * kept));
    let answer = ask(&request, json!({"ask": "memory", "slowdown": 0.5}));
    assert!((seconds(&answer["slowdown"]) - 0.01).abs() < 1e-4, "{answer}");
    assert_eq!(ask(&request, json!({"ask": "memory"}))["step_s"], answer["step_s"]);
}

#[test]
fn every_card_is_what_the_plan_door_says_of_it() {
    let mut request = small(json!({"kind": "keep"}));
    request["workload"]["batch"] = json!(120);
    request["workload"]["seq"] = json!(4096);
    request["hardware"] = json!({"preset": "rtx-4090", "unmodelled_gib": 1.5});
    request["limits"] = json!({"memory_gib": 8});
    let answer = ask(&request, json!({"ask": "card"}));
    let cards = answer["cards"].as_array().expect("a list");
    assert_eq!(cards.len(), 12);
    for card in cards {
        let mut other = request.clone();
        other["hardware"] = json!({"preset": card["preset"], "unmodelled_gib": 1.5});
        other["limits"] = json!({});
        let plan = door::plan(&other.to_string()).expect("it reads");
        assert_eq!(plan["outcome"]["peak_bytes"], card["peak_bytes"], "{card}");
        assert_eq!(plan["outcome"]["step_s"], card["step_s"]);
        assert_eq!(plan["fits"], card["fits"]);
    }
    let fitting: Vec<&Value> = cards.iter().filter(|card| card["fits"] == true).collect();
    assert!(!fitting.is_empty() && fitting.len() < cards.len(), "some fit, some do not: {answer}");
    assert_eq!(answer["value"], fitting[0]["preset"]);
    let price = |card: &Value| card["per_hour"].as_f64().unwrap_or(f64::INFINITY);
    assert!(cards.windows(2).all(|pair| price(&pair[0]) <= price(&pair[1])), "by price");
    assert!(answer["price_source"].as_str().is_some_and(|source| source.contains("2026-")));
    assert_eq!(evaluate(&changed(&request, &answer))["step_s"], fitting[0]["step_s"]);
    for card in fitting.iter().filter(|card| card["per_hour"].is_number()) {
        let cost = seconds(&card["per_hour"]) * seconds(&card["step_s"]) / 3600.0;
        assert!((seconds(&card["per_step"]) - cost).abs() < 1e-12);
    }

    // Other prices, another order; without any, the smallest.
    let last = fitting.last().expect("one")["preset"].as_str().expect("a name").to_owned();
    let answer = ask(&request, json!({"ask": "card", "prices": {&last: 0.01}}));
    assert_eq!((&answer["value"], &answer["by"]), (&json!(last), &json!("price")));
    let none: Value = cards
        .iter()
        .map(|card| (card["preset"].as_str().expect("a name").to_owned(), Value::Null))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let answer = ask(&request, json!({"ask": "card", "prices": none}));
    assert_eq!(answer["by"], "size");
    assert!(answer["price_source"].is_null() && answer["cheapest_step"].is_null());
    let cards = answer["cards"].as_array().expect("a list");
    let memory = |card: &Value| card["memory_bytes"].as_u64();
    assert!(cards.windows(2).all(|pair| memory(&pair[0]) <= memory(&pair[1])), "by size");
    let least = cards.iter().filter(|card| card["fits"] == true).map(memory).min();
    assert_eq!(cards.iter().find(|card| card["preset"] == answer["value"]).map(memory), least);
}

#[test]
fn a_model_that_no_card_holds_has_no_card() {
    let request = json!({"workload": {"preset": "llama-3-70b"}, "hardware": {"preset": "h200"}});
    let answer = ask(&request, json!({"ask": "card"}));
    assert!(answer["value"].is_null() && answer["changes"].is_null() && answer["by"].is_null());
}

/// The link with a rate in both directions.
fn linked(request: &Value, gbps: f64) -> Value {
    with(&with(request, "hardware.d2h_gbps", json!(gbps)), "hardware.h2d_gbps", json!(gbps))
}

#[test]
fn the_least_bandwidth_is_that_of_a_scan_of_rates() {
    let mut answered = 0;
    for request in scenarios().into_iter().flat_map(|request| {
        [
            with(&request, "hardware.cards_per_link", json!(2)),
            with(&request, "hardware.duplex", json!(false)),
            request,
        ]
    }) {
        let answer = ask(&request, json!({"ask": "bandwidth"}));
        let held = json!({"policy": answer["policy"]});
        let held = |gbps: f64| {
            let mut request = linked(&request, gbps);
            request["policy"] = held["policy"].clone();
            seconds(&evaluate(&request)["stall_s"])
        };
        assert_eq!(
            answer["stall_s"],
            evaluate(&request)["stall_s"],
            "the held plan is the policy's own"
        );
        if answer["moves"] == false {
            assert!(
                answer["value"].is_null()
                    && answer["next"].is_null()
                    && answer["changes"].is_null()
            );
            continue;
        }
        let Some(gbps) = answer["value"].as_f64() else {
            assert!(held(99_900.0) > 0.0, "{answer}");
            continue;
        };
        answered += 1;
        assert!(held(gbps).abs() < 1e-12, "{answer}");
        let changed = evaluate(&changed(&request, &answer));
        assert!(seconds(&changed["stall_s"]).abs() < 1e-12, "{}", answer["changes"]);
        if let Some(next) = answer["next"]["gbps"].as_f64() {
            assert!(next < gbps && next >= 0.989 * gbps, "one in the third digit: {next} {gbps}");
            assert!(
                (held(next) - seconds(&answer["next"]["stall_s"])).abs() < 1e-12
                    && held(next) > 0.0
            );
        }
        let rates: Vec<f64> = (1..40).map(|i| gbps * f64::from(i) / 20.0).collect();
        let waits: Vec<f64> = rates.iter().map(|&rate| held(rate)).collect();
        assert!(
            waits.windows(2).all(|pair| pair[0] >= pair[1]),
            "more bandwidth never waits longer: {waits:?}"
        );
        for (rate, wait) in rates.iter().zip(waits) {
            assert_eq!(wait > 0.0, *rate < 0.999 * gbps, "{rate} of {gbps}");
        }
    }
    assert!(answered > 8, "{answered}");
}

/// B* of a layer solves `t_next − t_now > D/B + ε` for B: just above it the round trip is within the window, just below it is not.
#[test]
fn a_layers_bandwidth_is_where_its_round_trip_fits_its_window() {
    let base = json!({"workload": {"preset": "llama-2-7b"}, "training": {"lora_rank": 16}, "hardware": {"preset": "rtx-4090"}, "policy": {"kind": "offload"}});
    let ssd = with(&with(&base, "policy.medium", json!("ssd")), "hardware.ssd_read_gbps", json!(3));
    let sized = with(&base, "hardware.link_efficiency", json!("by-size"));
    let unpooled = with(&base, "hardware.pooled_buffers", json!(false));
    let shared = with(&base, "hardware.cards_per_link", json!(4));
    let careful = with(&base, "policy.epsilon_ms", json!(40));
    for request in [base, ssd, sized, unpooled, shared, careful] {
        let epsilon = request["policy"]["epsilon_ms"].as_f64().unwrap_or(0.0) / 1e3;
        let answer = ask(&request, json!({"ask": "bandwidth"}));
        let layers = answer["layers"].as_array().expect("a list");
        let hides = |gbps: f64, i: usize| {
            let layer = evaluate(&linked(&request, gbps))["layers"][i].take();
            seconds(&layer["offload_s"]) + epsilon < seconds(&layer["window_s"])
        };
        assert_eq!(layers.len(), 34);
        for i in [1, 2, 16, 30, 31, 32, 33] {
            match layers[i]["gbps"].as_f64() {
                Some(gbps) => {
                    assert!(hides(gbps * 1.0001, i) && !hides(gbps * 0.9999, i), "{i} {gbps}");
                }
                None => assert!(!hides(1e5, i), "{i}"),
            }
        }
        assert!(layers[33]["gbps"].is_null(), "the head's backward follows its forward at once");
        let rates: Vec<f64> =
            layers[1..30].iter().filter_map(|layer| layer["gbps"].as_f64()).collect();
        assert!(
            rates.windows(2).all(|pair| pair[0] <= pair[1]),
            "later layers have shorter windows"
        );
    }
}

#[test]
fn a_rule_would_choose_again_so_its_plan_is_held() {
    let request = small(json!({"kind": "rule", "granularity": "tensor"}));
    let answer = ask(&linked(&request, 30.0), json!({"ask": "bandwidth"}));
    assert_eq!(answer["policy"]["kind"], "plan");
    assert_eq!(answer["changes"]["policy"]["kind"], "plan");
}

#[test]
fn wrong_questions_are_refused_by_path() {
    let profile = json!({"workload": {"kind": "profile", "layers": [{"forward_s": 0.1, "saved": [{"bytes": 100}]}]}});
    let lesson = json!({"workload": {"kind": "lesson"}});
    let plain = json!({"workload": {"preset": "gpt2"}});
    for (request, question, path, words) in [
        (&plain, Value::Null, "inverse.ask", "batch, sequence, memory, card, bandwidth"),
        (&plain, json!({}), "inverse.ask", "missing"),
        (&plain, json!(3), "inverse", "an object"),
        (&plain, json!({"ask": "price"}), "inverse.ask", "one of batch"),
        (&plain, json!({"ask": 1}), "inverse.ask", "one of batch"),
        (&profile, json!({"ask": "batch"}), "inverse.ask", "one of memory, card, bandwidth"),
        (
            &lesson,
            json!({"ask": "sequence"}),
            "inverse.ask",
            "one of batch, memory, card, bandwidth",
        ),
        (&plain, json!({"ask": "memory", "slowdown": -0.1}), "inverse.slowdown", "from 0"),
        (&plain, json!({"ask": "memory", "slowdown": "5 %"}), "inverse.slowdown", "a number"),
        (&plain, json!({"ask": "batch", "policy": "keep"}), "inverse.policy", "one of own, best"),
        (&plain, json!({"ask": "card", "prices": 3}), "inverse.prices", "an object"),
        (&plain, json!({"ask": "card", "prices": {"h900": 3}}), "inverse.prices.h900", "rtx-4090"),
        (
            &plain,
            json!({"ask": "card", "prices": {"h200": -3}}),
            "inverse.prices.h200",
            "a number from 0",
        ),
    ] {
        let mut request = request.clone();
        request["inverse"] = question;
        let error = door::inverse(&request.to_string()).expect_err("it is refused");
        let said = error.to_string();
        assert!(error.path() == path && said.contains(words), "{path}: {} {said}", error.path());
    }
    let mut additive = plain.clone();
    additive["cost_model"] = json!("additive");
    additive["inverse"] = json!({"ask": "batch"});
    assert_eq!(door::inverse(&additive.to_string()).expect_err("refused").path(), "cost_model");
    assert_eq!(door::inverse("{").expect_err("refused").code(), "syntax");
    let answer = ask(&plain, json!({"ask": "batch", "colour": "red", "slowdown": null}));
    assert_eq!(answer["ignored"], json!(["inverse.colour"]));
}

#[test]
fn the_command_line_has_the_door() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_galley"))
        .arg("inverse")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let request = json!({"workload": {"preset": "gpt2"}, "inverse": {"ask": "batch"}});
    let mut input = child.stdin.take().expect("a pipe");
    write!(input, "{request}").expect("it is read");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(output.status.success() && answer["value"].as_u64() > Some(1), "{answer}");
}

proptest! {
    #![proptest_config(Config::with_cases(24))]

    /// Whatever is asked of whatever request: an answer whose value fits and whose neighbour does not, or a refusal of the question.
    #[test]
    fn any_request_has_an_edge_or_no_such_question(request in requests::any_memory(), which in 0_usize..5, slowdown in 0.0_f64..2.0) {
        // A list is written for one chain: another batch may save other tensors.
        prop_assume!(request["policy"]["kind"] != "plan");
        let name = ["batch", "sequence", "memory", "card", "bandwidth"][which];
        let mut asked = request.clone();
        asked["inverse"] = json!({"ask": name, "slowdown": slowdown});
        match door::inverse(&asked.to_string()) {
            Err(error) => prop_assert_eq!(error.path(), "inverse.ask"),
            Ok(answer) => match name {
                "batch" => check_edge(&request, &answer, "workload.batch"),
                "sequence" => check_edge(&request, &answer, "workload.seq"),
                _ => prop_assert_eq!(&answer["ask"], name),
            },
        }
    }

    /// However a front is stretched, its knee is the same point; and it is on the hull.
    #[test]
    fn a_knee_knows_no_units(steps in prop::collection::vec((1_u32..1000, 1_u32..1000), 0..12), sx in 1e-3_f64..1e3, sy in 1e-3_f64..1e3) {
        let (mut x, mut y) = (0.0, 1e5);
        let mut points = vec![(x, y)];
        for (dx, dy) in &steps {
            x += f64::from(*dx);
            y -= f64::from(*dy);
            points.push((x, y));
        }
        let stretched: Vec<_> = points.iter().map(|(x, y)| (7.0 + sx * x, sy * y)).collect();
        let (one, other) = (knee(&points), knee(&stretched));
        if let (Some(one), Some(other)) = (one, other) {
            // Ties may fall either way.
            let (&(x0, y0), &(x1, y1)) = (&points[0], &points[points.len() - 1]);
            let below = |i: usize| 1.0 - (points[i].0 - x0) / (x1 - x0) - (points[i].1 - y1) / (y0 - y1);
            prop_assert!((below(one) - below(other)).abs() < 1e-9);
            prop_assert!(points.iter().enumerate().all(|(i, _)| below(i) <= below(one) + 1e-9));
            prop_assert!(one > 0 && one + 1 < points.len(), "an end is no knee");
        } else {
            prop_assert_eq!(one, other);
        }
    }
}

#[test]
fn knees_of_plain_shapes() {
    // A corner: the corner.
    assert_eq!(knee(&[(0.0, 10.0), (1.0, 1.0), (10.0, 0.0)]), Some(1));
    // Of a hyperbola between 1/9 and 9, its vertex.
    let hyperbola: Vec<_> = (1..=81).map(|i| f64::from(i) / 9.0).map(|x| (x, 1.0 / x)).collect();
    assert_eq!(knee(&hyperbola), Some(8));
    // Nothing bends, or bends the other way, or is there.
    assert_eq!(knee(&[]), None);
    assert_eq!(knee(&[(1.0, 1.0)]), None);
    assert_eq!(knee(&[(1.0, 2.0), (2.0, 1.0)]), None);
    assert_eq!(knee(&[(1.0, 1.0); 4]), None);
    assert_eq!(knee(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), None);
    assert_eq!(knee(&[(1.0, 3.0), (2.9, 2.9), (3.0, 1.0)]), None);
    // Equal heights or widths: no extent, no knee.
    assert_eq!(knee(&[(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]), None);
    assert_eq!(knee(&[(1.0, 3.0), (1.0, 2.0), (1.0, 1.0)]), None);
    // The first of equal ones.
    assert_eq!(knee(&[(0.0, 3.0), (0.5, 1.5), (1.5, 0.5), (3.0, 0.0)]), Some(1));
}

#[test]
fn a_policy_that_follows_the_limit_is_asked_within_it() {
    let mut request = small(json!({"kind": "rotor"}));
    let keep = evaluate(&with(&request, "policy.kind", json!("keep")));
    request["limits"] = json!({"memory_gib": seconds(&keep["peak_bytes"]) * 0.9 / 1_073_741_824.0});
    assert!(fits(&request), "rotor makes room");
    let answer = ask(&request, json!({"ask": "batch", "policy": "own"}));
    assert!(answer["value"].as_u64() >= Some(3), "{answer}");
    assert!(fits(&with(&request, "workload.batch", answer["value"].clone())));
    assert!(!fits(&with(&request, "workload.batch", answer["next"]["value"].clone())));
    let answer = door::open("sensitivity", &request.to_string()).expect("a door");
    let own = answer.expect("an answer")["own"].clone();
    assert_eq!(own["step_s"], evaluate(&request)["step_s"], "held as it is");
}
