//! Calibrating: on the engine's own numbers of another scenario it gives that scenario's knobs back, on a run's it shows what
//! is left over, and what cannot be is refused by name.

#[path = "parity/calibrations.rs"]
mod calibrations;
#[path = "laws/requests.rs"]
mod requests;

use galley::engine::{Error, door};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

fn calibrate(request: &Value) -> Result<Value, Error> {
    door::calibrate(&request.to_string())
}

#[track_caller]
fn fit(request: &Value) -> Value {
    calibrate(request).unwrap_or_else(|error| panic!("{error}: {request}"))
}

#[track_caller]
fn refusal(request: &Value) -> (String, String) {
    let error = calibrate(request).expect_err("it is refused");
    (error.path().to_owned(), error.to_string())
}

/// What the engine says of a request under a policy.
fn evaluate(request: &Value, policy: &Value) -> Value {
    let mut request = request.clone();
    request["policy"] = policy.clone();
    door::evaluate(&request.to_string()).unwrap_or_else(|error| panic!("{error}: {request}"))
}

fn with(request: &Value, measured: Value) -> Value {
    let mut request = request.clone();
    request["measured"] = measured;
    request
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is a number"))
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

/// Codes of the notes about `about`.
fn codes<'a>(answer: &'a Value, about: &str) -> Vec<&'a str> {
    let notes = answer["notes"].as_array().expect("a list");
    let of = notes.iter().filter(|note| note["about"] == about);
    of.filter_map(|note| note["code"].as_str()).collect()
}

#[track_caller]
fn near(given: &Value, expected: f64, share: f64, what: &str) {
    let given = number(given);
    let scale = if expected == 0.0 { 1.0 } else { expected.abs().max(1e-3) };
    assert!((given - expected).abs() <= share * scale, "{what}: {given}, not {expected}");
}

/// A transformer that is bound by its products, as those that are trained are.
fn transformer() -> impl Strategy<Value = Value> {
    (
        (prop::sample::select(vec!["gpt", "llama", "bert", "vit"]), 1_u64..6, 3_u64..5, 2_u64..9, any::<bool>()),
        (1_u64..4, 1_u64..4, prop::option::weighted(0.3, 4_u64..32), 1_u64..3, prop::sample::select(vec![1_u64, 2])),
        (20_u32..120, 300_u32..2000),
    )
        .prop_map(|((block, layers, width, seq, flash), (batch, many, rank, pp, tp), (tflops, hbm))| {
            json!({
                "v": 1,
                "workload": {"kind": "transformer", "block": block, "layers": layers, "hidden": width * 512, "heads": 16,
                    "seq": seq * 128, "batch": batch, "accumulation": many, "vocab": 8192,
                    "attention": if flash { "flash" } else { "eager" }},
                "training": {"lora_rank": rank, "pp": pp, "tp": tp},
                "hardware": {"memory_gib": 1000, "tflops": tflops, "hbm_gbps": hbm, "host_gib": 10_000},
            })
        })
}

/// Knobs of a run: efficiency, backward ratio, unmodelled GiB, link GB/s.
fn knobs() -> impl Strategy<Value = (f64, f64, f64, f64)> {
    let efficiency = (60_u32..950).prop_map(|x| f64::from(x) / 1e3);
    let ratio = (130_u32..450).prop_map(|x| f64::from(x) / 1e2);
    let unmodelled = (0_u32..4000).prop_map(|x| f64::from(x) / 1e3);
    let link = (10_u32..600).prop_map(|x| f64::from(x) / 10.0);
    (efficiency, ratio, unmodelled, link)
}

fn turned(request: &Value, (efficiency, ratio, unmodelled, link): (f64, f64, f64, f64)) -> Value {
    let mut request = request.clone();
    request["hardware"]["efficiency"] = efficiency.into();
    request["training"]["backward_ratio"] = ratio.into();
    request["hardware"]["unmodelled_gib"] = unmodelled.into();
    request["hardware"]["d2h_gbps"] = link.into();
    request["hardware"]["h2d_gbps"] = (1.5 * link).into();
    request
}

fn keep() -> Value {
    json!({"kind": "keep"})
}

fn recompute() -> Value {
    json!({"kind": "recompute"})
}

/// A scenario, the same with other knobs, and what the engine says of that one.
fn run_of(request: &Value, truth: (f64, f64, f64, f64), checkpoint: &Value) -> (Value, Value) {
    let run = turned(request, truth);
    let (plain, again) = (evaluate(&run, &keep()), evaluate(&run, checkpoint));
    let away = evaluate(&run, &json!({"kind": "offload"}));
    let measured = json!({
        "step_s": plain["step_s"], "peak_bytes": plain["peak_bytes"], "step_checkpoint_s": again["step_s"],
        "step_offload_s": away["step_s"], "policy": checkpoint,
    });
    (run, measured)
}

proptest! {
    #![proptest_config(Config::with_cases(48))]

    #[test]
    fn a_perturbed_scenarios_own_numbers_give_its_knobs_back(
        request in transformer(), start in knobs(), truth in knobs(), segments in prop::option::of(1_u64..6),
    ) {
        let checkpoint = segments.map_or_else(recompute, |k| json!({"kind": "checkpoint", "k": k}));
        let (_, measured) = run_of(&request, truth, &checkpoint);
        let asked = measured.clone();
        let answer = fit(&with(&turned(&request, start), measured));
        for residual in answer["residuals"].as_array().expect("a list") {
            let difference = number(&residual["difference"]);
            prop_assert!(difference.abs() < 3e-5, "{residual}\n{answer}");
        }
        prop_assert!(names(&answer["bound"]).is_empty(), "{answer}");
        let fitted = &answer["fitted"];
        // Where memory bandwidth binds everywhere, an efficiency that changes nothing is as good.
        let other = (number(&fitted["efficiency"]), truth.1, truth.2, truth.3);
        let (_, same) = run_of(&request, other, &checkpoint);
        for key in ["step_s", "step_checkpoint_s"] {
            let (given, fitted) = (number(&asked[key]), number(&same[key]));
            prop_assert!((fitted / given - 1.0).abs() < 1e-4, "{key}: {fitted}, not {given}: {answer}");
        }
        near(&fitted["backward_ratio"], truth.1, 1e-3, "backward_ratio");
        near(&fitted["unmodelled_gib"], truth.2, 1e-3, "unmodelled_gib");
        // Copies that hide tell nothing of the link, and are said to.
        if fitted.get("d2h_gbps").is_none() {
            prop_assert_eq!(codes(&answer, "d2h_gbps"), ["hidden"]);
        }
    }

    /// Applying what was fitted and evaluating is the same as what the fit says.
    #[test]
    fn the_fit_is_what_the_engine_says(request in transformer(), start in knobs(), seconds in 0.001_f64..100.0, extra in 0.01_f64..1.0) {
        let request = turned(&request, start);
        let measured = json!({"step_s": seconds, "step_checkpoint_s": seconds * (1.0 + extra), "peak_gib": 40.0 * extra});
        let answer = fit(&with(&request, measured));
        let mut applied = request.clone();
        for (group, key) in [("hardware", "efficiency"), ("training", "backward_ratio"), ("hardware", "unmodelled_gib")] {
            applied[group][key] = answer["fitted"][key].clone();
        }
        let (plain, again) = (evaluate(&applied, &keep()), evaluate(&applied, &recompute()));
        for (what, outcome) in [("step_s", &plain), ("step_checkpoint_s", &again)] {
            let residuals = answer["residuals"].as_array().expect("a list");
            let row = residuals.iter().find(|row| row["what"] == what).expect("a row of each number");
            prop_assert_eq!(&row["model_after"], &outcome["step_s"]);
        }
        prop_assert!(number(&answer["fitted"]["unmodelled_gib"]) >= 0.0);
        // What stays off is at an end, and said; an end that costs nothing is not.
        let differences = answer["residuals"].as_array().expect("a list").iter().map(|row| number(&row["difference"]).abs());
        let most = differences.fold(0.0, f64::max);
        prop_assert!(most < 1e-4 || !names(&answer["bound"]).is_empty(), "{answer}");
        prop_assert!(most > 2e-5 || names(&answer["bound"]).is_empty(), "{answer}");
    }

    /// A longer measured step never says that the card is more efficient; a higher peak never that less is unmodelled.
    #[test]
    fn what_is_fitted_follows_what_is_measured(request in transformer(), start in knobs(), mut steps in prop::array::uniform2(0.001_f64..100.0), mut peaks in prop::array::uniform2(0.1_f64..100.0)) {
        let request = turned(&request, start);
        steps.sort_by(f64::total_cmp);
        peaks.sort_by(f64::total_cmp);
        let [low, high] = [0, 1].map(|i| fit(&with(&request, json!({"step_s": steps[i], "peak_gib": peaks[i]})))["fitted"].clone());
        prop_assert!(number(&low["efficiency"]) >= number(&high["efficiency"]));
        prop_assert!(number(&low["unmodelled_gib"]) <= number(&high["unmodelled_gib"]));
    }

    /// Any workload, any policy, any numbers: an answer or a refusal that names a key.
    #[test]
    fn nothing_panics(request in requests::any_memory(), given in prop::collection::vec((0_usize..8, prop_oneof![
        Just(json!(0)), Just(json!("many")), Just(json!(-1e300)), Just(json!(null)), Just(json!([])), (1e-9_f64..1e3).prop_map(Value::from), (1_u64..1 << 50).prop_map(Value::from),
    ]), 0..6), policy in prop_oneof![Just(json!(null)), Just(json!({"kind": "keep"})), Just(json!({"kind": "best"})), Just(json!({"kind": "offload"})), Just(json!({"k": 1e9})), Just(json!(7))]) {
        const KEYS: [&str; 8] = ["step_s", "tokens_per_s", "step_checkpoint_s", "step_offload_s", "peak_gib", "peak_bytes", "peak_checkpoint_gib", "peak_checkpoint_bytes"];
        let mut measured = json!({"policy": policy});
        for (key, value) in given {
            measured[KEYS[key]] = value;
        }
        match calibrate(&with(&request, measured)) {
            Ok(answer) => {
                let fitted = answer["fitted"].as_object().expect("an object").len();
                prop_assert_eq!(fitted + names(&answer["left"]).len(), 5);
                prop_assert!(!answer["residuals"].as_array().expect("a list").is_empty());
            }
            Err(error) => prop_assert!(error.path().starts_with("measured"), "{}", error),
        }
    }
}

fn opening() -> Value {
    json!({"v": 1, "workload": {"preset": "llama-2-7b"}, "training": {"lora_rank": 16}, "hardware": {"preset": "a100-80g"}})
}

/// Korthikanti et al. 2022, table 4, the 22B model: a layer takes 7.7 ms forward, 11.9 ms backward, and 19.5 ms backward where it
/// is recomputed, 39 % more. Of a step that is 48 such layers, the ratio is what those three say, and so is the overhead.
#[test]
fn the_published_layer_gives_its_ratio_and_its_overhead() {
    let (forward, backward, again) = (7.7e-3, 11.9e-3, 19.5e-3);
    let run = json!({"v": 1, "workload": {"preset": "megatron-22b", "batch": 4}, "training": {"tp": 8},
        "hardware": {"preset": "a100-80g"}});
    let measured = json!({"step_s": 48.0 * (forward + backward), "step_checkpoint_s": 48.0 * (forward + again)});
    let answer = fit(&with(&run, measured));
    let (plain, full) = (forward + backward, forward + again);
    // Head, embedding and optimizer are a few percent of the step, and none of it is run again.
    near(
        &answer["fitted"]["backward_ratio"],
        (plain - (full - plain)) / (full - plain),
        0.12,
        "ratio",
    );
    let mut applied = run.clone();
    applied["hardware"]["efficiency"] = answer["fitted"]["efficiency"].clone();
    applied["training"]["backward_ratio"] = answer["fitted"]["backward_ratio"].clone();
    let overhead = &evaluate(&applied, &recompute())["overhead"];
    near(overhead, full / plain - 1.0, 1e-4, "overhead");
    assert!((number(overhead) - 0.39).abs() < 0.005, "{overhead}");
}

#[test]
fn fewer_numbers_leave_knobs_alone_and_say_which() {
    let answer = fit(&with(&opening(), json!({"step_s": 3.0})));
    assert_eq!(
        names(&answer["left"]),
        ["backward_ratio", "unmodelled_gib", "d2h_gbps", "h2d_gbps"]
    );
    assert_eq!(answer["fitted"].as_object().map(serde_json::Map::len), Some(1));
    for knob in names(&answer["left"]) {
        assert_eq!(codes(&answer, knob), ["undetermined"], "{knob}");
    }
    let answer = fit(&with(&opening(), json!({"peak_gib": 60})));
    assert!(answer["fitted"].get("efficiency").is_none(), "{answer}");
    assert_eq!(codes(&answer, "efficiency"), ["undetermined"]);
    // Twice the same plan is one step, measured twice.
    let twice = json!({"step_s": 3.0, "step_checkpoint_s": 3.2, "policy": {"kind": "keep"}});
    let answer = fit(&with(&opening(), twice));
    assert_eq!(codes(&answer, "backward_ratio"), ["undetermined"]);
    near(&answer["residuals"][0]["model_after"], 3.1, 0.01, "between the two");
    // The least squares of the relative errors of two measurements of one step.
    let answer = fit(&with(&opening(), json!({"step_s": 3.0, "tokens_per_s": 1000})));
    let (a, b) = (3.0, 4.096);
    let best = (1.0 / a + 1.0 / b) / (1.0 / (a * a) + 1.0 / (b * b));
    near(&answer["residuals"][0]["model_after"], best, 1e-5, "least squares");
    assert_eq!(codes(&answer, "tokens_per_s"), ["unexplained"]);
}

/// Times that were measured, or are the lesson's own, have no knobs.
#[test]
fn a_workload_with_times_of_its_own_keeps_them() {
    let lesson = json!({"v": 1, "workload": {"kind": "lesson"}, "hardware": {"memory_gib": 100}});
    let answer =
        fit(&with(&lesson, json!({"step_s": 10, "step_checkpoint_s": 12, "peak_gib": 50})));
    assert_eq!(codes(&answer, "efficiency"), ["no-effect"]);
    assert_eq!(codes(&answer, "backward_ratio"), ["no-effect"]);
    near(&answer["residuals"][0]["difference"], 7.2 / 10.0 - 1.0, 1e-6, "in sight");
    near(&answer["residuals"][2]["difference"], 0.0, 1e-6, "the peak is explained");
}

#[test]
fn a_peak_below_the_modelled_one_is_said_and_not_hidden() {
    let modelled = number(&evaluate(&opening(), &keep())["peak_bytes"]);
    let answer = fit(&with(&opening(), json!({"peak_bytes": 0.9 * modelled})));
    assert_eq!(answer["fitted"]["unmodelled_gib"], 0.0);
    assert_eq!(names(&answer["bound"]), ["unmodelled_gib"]);
    assert_eq!(codes(&answer, "peak_bytes"), ["peak-below"]);
    near(&answer["residuals"][0]["difference"], 1.0 / 0.9 - 1.0, 1e-6, "the model's excess");
    // Two peaks, one knob: what they share is unmodelled, the rest is shown.
    let again = number(&evaluate(&opening(), &recompute())["peak_bytes"]);
    let gib = f64::from(1 << 30);
    let two =
        json!({"peak_bytes": modelled + 2.0 * gib, "peak_checkpoint_bytes": again + 3.0 * gib});
    let unmodelled = number(&fit(&with(&opening(), two))["fitted"]["unmodelled_gib"]);
    assert!((2.0..3.0).contains(&unmodelled), "{unmodelled}");
}

#[test]
fn an_end_of_a_range_is_said() {
    let answer = fit(&with(&opening(), json!({"step_s": 1e-3})));
    assert_eq!(
        (&answer["fitted"]["efficiency"], names(&answer["bound"])),
        (&json!(1.0), vec!["efficiency"])
    );
    assert_eq!(codes(&answer, "step_s"), ["unexplained"]);
    let answer = fit(&with(&opening(), json!({"step_s": 3.0, "step_checkpoint_s": 3.01})));
    assert_eq!(names(&answer["bound"]), ["backward_ratio"]);
    let slow = fit(&with(&opening(), json!({"step_s": 1e6})));
    assert_eq!(names(&slow["bound"]), ["efficiency"]);
}

#[test]
fn contradictions_and_nonsense_are_refused_by_name() {
    let ask = |measured: Value| refusal(&with(&opening(), measured));
    for (measured, path, words) in [
        (json!({}), "measured", "at least one number"),
        (json!({"step_s": null}), "measured", "at least one number"),
        (json!(3), "measured", "an object"),
        (json!({"step_s": "1,5"}), "measured.step_s", "a number from"),
        (json!({"step_s": 0}), "measured.step_s", "a number from"),
        (json!({"peak_gib": 20, "peak_bytes": 20}), "measured.peak_bytes", "once"),
        (
            json!({"step_s": 3, "step_checkpoint_s": 2.9}),
            "measured.step_checkpoint_s",
            "more than 3 s",
        ),
        (
            json!({"peak_gib": 30, "peak_checkpoint_gib": 31}),
            "measured.peak_checkpoint_gib",
            "at most 30 GiB",
        ),
        (
            json!({"step_checkpoint_s": 3, "policy": {"kind": "magic"}}),
            "measured.policy.kind",
            "one of",
        ),
        (json!({"step_offload_s": 3, "offload_policy": 1}), "measured.offload_policy", "an object"),
    ] {
        let (at, said) = ask(measured);
        assert_eq!(at, path, "{said}");
        assert!(said.contains(words), "{said}");
    }
    let mut recomputing = opening();
    recomputing["policy"] = recompute();
    let plain = json!({"step_s": 3, "step_checkpoint_s": 3.5, "policy": {"kind": "keep"}});
    let (at, said) = refusal(&with(&recomputing, plain));
    assert!(at == "measured.step_checkpoint_s" && said.contains("less than 3 s"), "{said}");
    let plain = json!({"peak_gib": 30, "peak_checkpoint_gib": 29, "policy": {"kind": "keep"}});
    assert!(refusal(&with(&recomputing, plain)).1.contains("at least 30 GiB"));
    // A policy that is brought into range, and a key that means nothing, are reported.
    let answer = fit(&with(
        &opening(),
        json!({"step_s": 3, "step_checkpoint_s": 4, "policy": {"kind": "checkpoint", "k": 99}, "x": 1}),
    ));
    assert_eq!(answer["clamped"][0]["path"], "measured.policy.k");
    assert_eq!(names(&answer["ignored"]), ["measured.x"]);
}

/// Which run recomputes does not matter, nor does `best`: the plan is held, and that is said.
#[test]
fn either_run_may_be_the_one_that_recomputes() {
    let truth = (0.31, 2.4, 1.5, 20.0);
    let run = turned(&opening(), truth);
    let (plain, again) = (evaluate(&run, &keep()), evaluate(&run, &recompute()));
    let mut request = opening();
    request["policy"] = recompute();
    let measured =
        json!({"step_s": again["step_s"], "step_checkpoint_s": plain["step_s"], "policy": keep()});
    let answer = fit(&with(&request, measured));
    near(&answer["fitted"]["efficiency"], truth.0, 1e-5, "efficiency");
    near(&answer["fitted"]["backward_ratio"], truth.1, 1e-5, "ratio");
    request["policy"] = json!({"kind": "best"});
    let answer = fit(&with(&request, json!({"step_s": plain["step_s"]})));
    assert_eq!(codes(&answer, "policy"), ["best-held"]);
    near(&answer["residuals"][0]["difference"], 0.0, 1e-5, "held");
}

#[test]
fn fits_are_those_committed() {
    let given = calibrations::answers();
    if std::env::var_os("UPDATE_PARITY").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parity/calibrations.txt");
        std::fs::write(path, given.join("\n") + "\n").expect("the file can be written");
        return;
    }
    assert_eq!(given, calibrations::expected());
}
