//! The JSON doors: every key is there with its type, what is tolerated is reported, what is refused is named by key, value
//! and what would be accepted, and nothing whatever panics.

#[path = "laws/requests.rs"]
mod requests;

use galley::engine::door;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn ask(request: &Value) -> Value {
    door::evaluate(&request.to_string()).unwrap_or_else(|error| panic!("{error}: {request}"))
}

fn whole(value: &Value) -> bool {
    value.is_u64()
}

fn bool(value: &Value) -> bool {
    value.is_boolean()
}

fn seconds(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number >= 0.0 && number.is_finite())
}

fn number(value: &Value) -> bool {
    value.as_f64().is_some_and(f64::is_finite)
}

fn text(value: &Value) -> bool {
    value.is_string()
}

fn list(value: &Value) -> bool {
    value.is_array()
}

fn object(value: &Value) -> bool {
    value.is_object()
}

fn null(value: &Value) -> bool {
    value.is_null()
}

/// The seven categories of the ledger, each whole bytes, and nothing else.
fn row(value: &Value) -> bool {
    const CATEGORIES: [&str; 7] = [
        "weights",
        "gradients",
        "optimizer",
        "activations",
        "in_flight",
        "workspace",
        "unmodelled",
    ];
    let Some(row) = value.as_object() else { return false };
    row.len() == CATEGORIES.len() && CATEGORIES.iter().all(|key| row.get(*key).is_some_and(whole))
}

type Kind = fn(&Value) -> bool;

/// What an answer of `evaluate` holds: the published interface, key by key.
const OUTCOME: &[(&str, Kind)] = &[
    ("v", whole),
    ("fits", bool),
    ("peak_bytes", whole),
    ("peak_at_s", seconds),
    ("ledger_at_peak", row),
    ("static_bytes", row),
    ("params", object),
    ("activation_bytes", whole),
    ("resident_after_forward_bytes", whole),
    ("saved_peak_bytes", whole),
    ("host_peak_bytes", whole),
    ("ssd_peak_bytes", whole),
    ("bytes_out", whole),
    ("bytes_back", whole),
    ("layers", list),
    ("segments", list),
    ("recomputed_layers", whole),
    ("step_s", seconds),
    ("forward_s", seconds),
    ("backward_s", seconds),
    ("optimizer_s", seconds),
    ("recompute_s", seconds),
    ("d2h_s", seconds),
    ("h2d_s", seconds),
    ("hidden_s", seconds),
    ("exposed_s", seconds),
    ("stall_s", seconds),
    ("samples_per_s", seconds),
    ("tokens_per_s", seconds),
    ("overhead", number),
    ("binding", text),
    ("lesson", object),
    ("ignored", list),
    ("clamped", list),
];

const LAYER: &[(&str, Kind)] = &[
    ("name", text),
    ("kind", text),
    ("saved", list),
    ("saved_bytes", whole),
    ("boundary_bytes", whole),
    ("forward_s", seconds),
    ("backward_s", seconds),
    ("offload_s", seconds),
    ("wait_s", seconds),
    ("recompute_s", seconds),
    ("reason", text),
];

#[track_caller]
fn holds(value: &Value, table: &[(&str, Kind)]) {
    for (key, kind) in table {
        assert!(value.get(key).is_some_and(kind), "{key} is {:?}", value.get(key));
    }
}

/// One of every workload and policy.
fn samples() -> Vec<Value> {
    let workloads = [
        json!({"preset": "gpt2"}),
        json!({"kind": "transformer", "block": "bert", "layers": 2, "hidden": 64, "heads": 4}),
        json!({"kind": "huggingface", "config": {"model_type": "gpt2", "n_layer": 3}, "seq": 64, "batch": 2}),
        json!({"kind": "lesson", "layers": 4, "act_gb": 1, "layer_s": 0.1}),
        json!({"kind": "profile", "layers": [{"forward_s": 1, "saved": [{"name": "x", "bytes": 5}]}, {"forward_s": 1}]}),
    ];
    let kinds = [
        "keep",
        "checkpoint",
        "recompute",
        "offload",
        "offload-boundaries",
        "mix",
        "selective",
        "rule",
        "binomial",
        "rotor",
        "best",
    ];
    let pair = |workload: &Value, kind: &str| json!({"v": 1, "detail": true, "workload": workload, "policy": {"kind": kind}, "limits": {"memory_gib": 20}});
    workloads.iter().flat_map(|workload| kinds.map(|kind| pair(workload, kind))).collect()
}

#[test]
fn an_outcome_has_every_key() {
    for request in samples() {
        let outcome = ask(&request);
        holds(&outcome, OUTCOME);
        assert!(outcome["out_of_memory"].is_null() || outcome["out_of_memory"].is_object());
        assert!(outcome["params"]["model"].is_u64() && outcome["params"]["device"].is_u64());
        assert!(
            ["memory", "link", "compute", "host"]
                .contains(&outcome["binding"].as_str().expect("text"))
        );
        for layer in outcome["layers"].as_array().expect("layers") {
            holds(layer, LAYER);
            assert!(layer["benefit_ratio"].is_null() || number(&layer["benefit_ratio"]));
            assert!(
                ["embedding", "block", "head"].contains(&layer["kind"].as_str().expect("text"))
            );
            for tensor in layer["saved"].as_array().expect("tensors") {
                holds(tensor, &[("name", text), ("bytes", whole), ("action", text)]);
            }
        }
        for span in outcome["spans"].as_array().expect("spans, for detail is true") {
            holds(
                span,
                &[("track", text), ("kind", text), ("start_s", seconds), ("end_s", seconds)],
            );
        }
        for step in outcome["ledger"].as_array().expect("a ledger, for detail is true") {
            holds(step, &[("at_s", seconds), ("bytes", row), ("total_bytes", whole)]);
        }
    }
}

#[test]
fn spans_and_ledger_come_with_detail_only() {
    for (detail, there) in [(json!(true), true), (json!(false), false), (Value::Null, false)] {
        let outcome = ask(&json!({"detail": detail, "workload": {"preset": "gpt2"}}));
        for key in ["spans", "ledger"] {
            assert_eq!(outcome.get(key).is_some(), there, "{key} with detail {detail}");
        }
    }
}

#[test]
fn out_of_memory_names_instant_operation_and_bytes() {
    let outcome =
        ask(&json!({"workload": {"preset": "llama-3-70b"}, "hardware": {"preset": "rtx-4090"}}));
    assert_eq!(outcome["fits"], json!(false));
    holds(
        &outcome["out_of_memory"],
        &[("at_s", seconds), ("operation", text), ("missing_bytes", whole)],
    );
    let small = json!({"workload": {"preset": "gpt2"}});
    assert!(null(&ask(&small)["out_of_memory"]));
}

#[test]
fn a_lesson_answers_with_its_worked_programs() {
    let outcome = ask(&json!({"workload": {"kind": "lesson"}}));
    let epoch = [
        ("offload_count", whole as Kind),
        ("visible_s", seconds),
        ("epoch_s", seconds),
        ("slowdown_percent", seconds),
    ];
    holds(&outcome["lesson"]["epoch"], &epoch);
    let strategies = &outcome["lesson"]["strategies"];
    assert!(text(&strategies["best"]));
    for name in ["full_activation", "gradient_checkpoint", "activation_offload"] {
        let figures = ["mem_gb", "extra_compute_s", "extra_time_s", "total_cost"];
        holds(&strategies[name], &figures.map(|key| (key, number as Kind)));
    }
    let transformer = ask(&json!({"workload": {"preset": "gpt2"}}));
    assert!(transformer["lesson"].get("epoch").is_none());
}

#[test]
fn front_and_plan_have_their_keys() {
    let request = json!({"workload": {"preset": "gpt2", "layers": 3}}).to_string();
    let front = door::front(&request).expect("valid");
    holds(&front, &[("points", list), ("exact", bool), ("cost_model", text), ("best", whole)]);
    for point in front["points"].as_array().expect("points") {
        let keys = [
            ("policy", object as Kind),
            ("peak_bytes", whole),
            ("step_s", seconds),
            ("on_front", bool),
        ];
        holds(point, &keys);
    }
    let plan = door::plan(&request).expect("valid");
    let keys = [
        ("policy", object as Kind),
        ("outcome", object),
        ("optimal", bool),
        ("cost_model", text),
        ("objective_s", seconds),
        ("bound_s", seconds),
        ("gap", number),
    ];
    holds(&plan, &keys);
    holds(&plan["outcome"], OUTCOME);
}

/// The policy of any point of a front can be asked for again, and comes to that point.
#[test]
fn a_points_policy_is_a_request() {
    let mut request =
        json!({"workload": {"preset": "gpt2", "layers": 4}, "limits": {"memory_gib": 3}});
    let front = door::front(&request.to_string()).expect("valid");
    for point in front["points"].as_array().expect("points").iter().step_by(11) {
        request["policy"] = point["policy"].clone();
        let outcome = ask(&request);
        assert_eq!(
            (&outcome["peak_bytes"], &outcome["step_s"]),
            (&point["peak_bytes"], &point["step_s"])
        );
        assert_eq!((&outcome["ignored"], &outcome["clamped"]), (&json!([]), &json!([])));
    }
}

#[test]
fn the_schema_describes_every_key_of_a_request() {
    let schema = galley::engine::schema::schema();
    for row in schema["request"].as_array().expect("rows") {
        holds(row, &[("path", text), ("type", text), ("about", text)]);
        let (low, high) = (&row["min"], &row["max"]);
        assert!(low.as_f64() <= high.as_f64(), "{row}");
    }
    assert_eq!(door::open("schema", ""), Some(Ok(schema)));
    assert_eq!(door::open("close", ""), None);
}

/// Out of range: brought into range, and reported.
#[test]
fn values_out_of_range_are_clamped() {
    for (path, given, used) in [
        ("workload.batch", json!(0), json!(1)),
        ("workload.layers", json!(0), json!(1)),
        ("workload.layers", json!(-3), json!(1)),
        ("workload.layers", json!(1e30), json!(1000)),
        ("workload.seq", json!(0), json!(1)),
        ("workload.vocab", json!(0.2), json!(1)),
        ("workload.loss_chunks", json!(5000), json!(1024)),
        ("training.zero", json!(4), json!(3)),
        ("training.dp", json!(-1), json!(1)),
        ("training.pp", json!(500), json!(12)),
        ("training.lora_rank", json!(0), json!(1)),
        ("hardware.memory_gib", json!(0), json!(0.001)),
        ("hardware.memory_gib", json!(1e30), json!(1e6)),
        ("hardware.tflops", json!(-1), json!(0.001)),
        ("hardware.efficiency", json!(7), json!(1.0)),
        ("hardware.d2h_gbps", json!(0), json!(0.001)),
        ("hardware.host_gib", json!(-1e300), json!(0.0)),
        ("policy.k", json!(0), json!(1)),
        ("policy.k", json!(99), json!(12)),
        ("policy.beta", json!(1.5), json!(1.0)),
        ("policy.prefetch_layers", json!(1e9), json!(1000)),
        ("limits.memory_gib", json!(-2), json!(0.001)),
        ("weights.memory", json!(3), json!(1.0)),
    ] {
        let mut request = json!({
            "workload": {"preset": "gpt2"}, "hardware": {"preset": "rtx-4090"}, "policy": {"k": 1},
        });
        let (group, key) = path.split_once('.').expect("a dotted path");
        request[group][key] = given.clone();
        let outcome = ask(&request);
        let expected = json!([{"path": path, "given": given, "used": used}]);
        assert_eq!(outcome["clamped"], expected, "{path} {given}");
    }
}

/// A whole number may be written as a float: nothing is changed, nothing reported.
#[test]
fn whole_floats_are_whole_numbers() {
    let outcome = ask(
        &json!({"workload": {"preset": "gpt2", "layers": 3.0, "batch": 2e0}, "policy": {"k": 1.0}}),
    );
    assert_eq!(outcome["clamped"], json!([]));
    assert_eq!(outcome["layers"].as_array().map(Vec::len), Some(5));
}

#[test]
fn unknown_keys_are_ignored_and_reported() {
    let outcome = ask(&json!({
        "v": 1, "colour": "red", "training": {"Dtype": "fp32"}, "hardware": {"gib": 3}, "policy": {"K": 2},
        "limits": {"memory": 2}, "weights": {"lambda": 1},
        "workload": {"kind": "profile", "flavour": 1, "static_bytes": {"weights": 1, "spare": 2}, "layers": [
            {"forward_s": 1, "colour": 3, "saved": [{"bytes": 1, "dtype": "fp8"}]},
        ]},
    }));
    let mut ignored: Vec<&str> =
        outcome["ignored"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    ignored.sort_unstable();
    let expected = [
        "colour",
        "hardware.gib",
        "limits.memory",
        "policy.K",
        "training.Dtype",
        "weights.lambda",
        "workload.flavour",
        "workload.layers[0].colour",
        "workload.layers[0].saved[0].dtype",
        "workload.static_bytes.spare",
    ];
    assert_eq!(ignored, expected);
}

/// A null is an absent key.
#[test]
fn nulls_are_defaults() {
    let plain = ask(&json!({"workload": {"preset": "gpt2"}}));
    let nulls = ask(&json!({
        "workload": {"preset": "gpt2", "layers": null, "norm": null, "dropout": null}, "training": null,
        "hardware": {"preset": null}, "policy": {"kind": null, "plan": null, "segments": null},
        "limits": {"step_s": null}, "weights": null, "detail": null,
    }));
    assert_eq!(plain, nulls);
}

/// What is refused: the request, the code, the key, and words that the message has to have beside the key.
fn refused() -> Vec<(String, &'static str, &'static str, Vec<&'static str>)> {
    let one = |group: &str, key: &str, value: Value| json!({ group: { key: value } }).to_string();
    let profile =
        |layers: Value| json!({"workload": {"kind": "profile", "layers": layers}}).to_string();
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let huge = json!([{"saved": [{"bytes": 1e30}]}]);
    vec![
        (String::new(), "syntax", "", vec!["line 1"]),
        ("{".into(), "syntax", "", vec!["column 1"]),
        ("{\"workload\": {\"preset\": \"gpt2\"".into(), "syntax", "", vec!["line 1"]),
        ("{\n\"v\": NaN}".into(), "syntax", "", vec!["line 2"]),
        ("{\"v\": 1e999}".into(), "syntax", "", vec!["line 1"]),
        ("\u{0}".into(), "syntax", "", vec!["line 1"]),
        (deep, "syntax", "", vec!["recursion"]),
        (format!("{{\"a\": \"{}\"}}", "x".repeat(50_000_000)), "too_long", "", vec!["50000000"]),
        ("[]".into(), "unfit", "request", vec!["[]", "workload"]),
        ("null".into(), "unfit", "request", vec!["null"]),
        ("{\"v\": 2}".into(), "unfit", "v", vec!["2", "1"]),
        ("{\"detail\": \"yes\"}".into(), "unfit", "detail", vec!["yes", "true or false"]),
        ("{\"workload\": 5}".into(), "unfit", "workload", vec!["5", "an object"]),
        ("{\"limits\": []}".into(), "unfit", "limits", vec!["[]", "an object"]),
        (one("workload", "preset", json!("gpt-5")), "unfit", "workload.preset", vec!["gpt-5", "llama-2-7b"]),
        (one("workload", "preset", json!(7)), "unfit", "workload.preset", vec!["7", "gpt2"]),
        (one("hardware", "preset", json!("h900")), "unfit", "hardware.preset", vec!["h900", "rtx-4090"]),
        (one("workload", "kind", json!("cnn")), "unfit", "workload.kind", vec!["cnn", "profile"]),
        (one("workload", "kind", json!([])), "unfit", "workload.kind", vec!["[]", "lesson"]),
        (one("workload", "layers", json!("many")), "unfit", "workload.layers", vec!["many", "from 1 to 1000"]),
        (one("workload", "batch", json!(true)), "unfit", "workload.batch", vec!["true", "whole number"]),
        (one("workload", "batch", json!("NaN")), "unfit", "workload.batch", vec!["NaN", "whole number"]),
        (one("workload", "seq", json!({})), "unfit", "workload.seq", vec!["{}", "whole number"]),
        (one("workload", "dropout", json!(0.1)), "unfit", "workload.dropout", vec!["0.1", "true or false"]),
        (one("workload", "norm", json!("batch")), "unfit", "workload.norm", vec!["batch", "layer, rms"]),
        (json!({"workload": {"hidden": 100, "heads": 3}}).to_string(), "unfit", "workload.heads", vec!["3", "100", "head_dim"]),
        (json!({"workload": {"hidden": 64, "heads": 8, "kv_heads": 3}}).to_string(), "unfit", "workload.kv_heads", vec!["3", "8"]),
        (json!({"workload": {"hidden": 1 << 20, "heads": 1, "ffn": 1 << 22, "seq": 1 << 24, "batch": 1 << 16, "layers": 1000}}).to_string(), "too_large", "memory", vec!["bytes", "smaller"]),
        (json!({"workload": {"preset": "llama-3-70b", "seq": 1 << 24}, "hardware": {"tflops": 0.001, "efficiency": 0.01}}).to_string(), "too_large", "time", vec![" s", "faster"]),
        (one("training", "dtype", json!("fp8")), "unfit", "training.dtype", vec!["fp8", "bf16-mixed"]),
        (one("training", "optimizer", json!("none")), "unfit", "training.optimizer", vec!["none", "sgd"]),
        (one("hardware", "memory_gib", json!("24")), "unfit", "hardware.memory_gib", vec!["24", "a number"]),
        (one("hardware", "duplex", json!("no")), "unfit", "hardware.duplex", vec!["no", "true or false"]),
        (one("policy", "kind", json!("hope")), "unfit", "policy.kind", vec!["hope", "offload-boundaries"]),
        (one("policy", "kind", json!("plan")), "missing", "policy.plan", vec!["keep, recompute, host or ssd"]),
        (one("policy", "beta", json!("half")), "unfit", "policy.beta", vec!["half", "from 0 to 1"]),
        (one("policy", "medium", json!("keep")), "unfit", "policy.medium", vec!["keep", "host, ssd"]),
        (one("policy", "plan", json!("keep")), "unfit", "policy.plan", vec!["a list"]),
        (json!({"policy": {"kind": "plan", "plan": []}}).to_string(), "unfit", "policy.plan", vec!["list of 0", "32 entries"]),
        (json!({"policy": {"kind": "plan", "plan": ["keep", 3]}}).to_string(), "unfit", "policy.plan[1]", vec!["3", "recompute"]),
        (json!({"policy": {"kind": "checkpoint", "segments": [1, 2]}}).to_string(), "unfit", "policy.segments", vec!["sums to 3", "32"]),
        (one("policy", "segments", json!([0, 32])), "unfit", "policy.segments[0]", vec!["0", "1 or more"]),
        (one("policy", "segments", json!([32.5])), "unfit", "policy.segments[0]", vec!["32.5"]),
        (json!({"policy": {"kind": "checkpoint", "segments": [u64::MAX, 33]}}).to_string(), "unfit", "policy.segments", vec!["32"]),
        (json!({"policy": {"kind": "checkpoint", "segments": []}}).to_string(), "unfit", "policy.segments", vec!["sums to 0"]),
        (one("workload", "kind", json!("huggingface")), "missing", "workload.config", vec!["config.json"]),
        (json!({"workload": {"kind": "huggingface", "config": "gpt2"}}).to_string(), "unfit", "workload.config", vec!["gpt2", "config.json"]),
        (json!({"workload": {"kind": "huggingface", "config": {"model_type": "t5"}}}).to_string(), "unfit", "workload.config.model_type", vec!["t5", "llama"]),
        (one("workload", "kind", json!("profile")), "missing", "workload.layers", vec!["1 to 10000"]),
        (profile(json!([])), "unfit", "workload.layers", vec!["[]", "1 to 10000"]),
        (profile(json!(3)), "unfit", "workload.layers", vec!["3", "a list"]),
        (profile(json!([1])), "unfit", "workload.layers[0]", vec!["1", "an object"]),
        (profile(json!([{"forward_s": -1}])), "unfit", "workload.layers[0].forward_s", vec!["-1", "0 or more"]),
        (profile(json!([{"saved": {}}])), "unfit", "workload.layers[0].saved", vec!["{}", "a list"]),
        (profile(json!([{"saved": [{}]}])), "missing", "workload.layers[0].saved[0].bytes", vec!["0 or more"]),
        (profile(json!([{}, {"saved": [{"bytes": "1"}]}])), "unfit", "workload.layers[1].saved[0].bytes", vec!["0 or more"]),
        (profile(json!([{"saves_input": 1}])), "unfit", "workload.layers[0].saves_input", vec!["true or false"]),
        (profile(huge), "too_large", "memory", vec!["bytes"]),
        (profile(json!([{"forward_s": 1e30}])), "too_large", "time", vec![" s"]),
        (profile(json!(vec![json!({}); 10_001])), "unfit", "workload.layers", vec!["1 to 10000"]),
        (json!({"workload": {"kind": "profile", "layers": [{}], "static_bytes": []}}).to_string(), "unfit", "workload.static_bytes", vec!["[]", "an object"]),
    ]
}

#[test]
fn what_is_refused_is_named() {
    for (request, code, path, words) in refused() {
        let shown: String = request.chars().take(120).collect();
        for name in ["evaluate", "front", "plan"] {
            let error = door::open(name, &request).expect("a door").expect_err(&shown);
            assert_eq!((error.code(), error.path()), (code, path), "{shown}: {error}");
            let message = error.to_string();
            for word in words.iter().chain([&path]) {
                assert!(message.contains(word), "{shown}: {word:?} is not in {message:?}");
            }
            assert!(message.len() < 600, "{message}");
            let answer: Value = serde_json::from_str(&error.to_json()).expect("JSON");
            assert_eq!(answer, json!({"error": {"code": code, "message": message, "path": path}}));
        }
    }
}

/// As much as is read: 10,000 layers in 900 kB, under every policy.
#[test]
fn a_huge_profile_is_answered() {
    let layer = json!({"forward_s": 0.001, "saves_input": true, "input_bytes": 9, "saved": [{"bytes": 12345}]});
    let layers = vec![layer; 10_000];
    for kind in ["keep", "checkpoint", "recompute", "offload", "mix", "rule"] {
        let request = json!({
            "workload": {"kind": "profile", "layers": layers}, "policy": {"kind": kind, "k": 100, "granularity": "tensor"},
            "limits": {"memory_gib": 0.1},
        });
        assert!(request.to_string().len() < 1_000_000);
        assert_eq!(ask(&request)["layers"].as_array().map(Vec::len), Some(10_000));
    }
}

/// The program: arguments, standard input.
fn galley(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_galley"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // It may answer before it has read all of a request that is too long.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("the program ends")
}

fn answer(output: &Output) -> Value {
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON on standard output")
}

#[test]
fn the_program_exits_with_0_and_a_result() {
    let request = json!({"workload": {"preset": "gpt2"}}).to_string();
    let printed = |arguments: &[&str], input: &str| {
        let output = galley(arguments, input.as_bytes());
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).expect("text")
    };
    let expected = |name: &str| door::text(&door::open(name, &request).expect("a door")) + "\n";
    for name in ["evaluate", "front", "plan", "nearest", "schema"] {
        assert_eq!(printed(&[name], &request), expected(name));
    }
    let file = std::env::temp_dir().join(format!("galley-{}.json", std::process::id()));
    std::fs::write(&file, &request).expect("a temporary file");
    let from_file = printed(&["evaluate", file.to_str().expect("a path")], "");
    std::fs::remove_file(&file).expect("it is there");
    assert_eq!(from_file, expected("evaluate"));
}

#[test]
fn the_program_exits_with_2_and_an_error() {
    for (arguments, input, path) in [
        (vec!["evaluate"], "{".as_bytes(), ""),
        (vec!["evaluate"], b"\xff\xfe", "FILE"),
        (vec!["evaluate"], b"{\"policy\": {\"kind\": \"hope\"}}", "policy.kind"),
        (vec!["front"], b"", ""),
        (vec!["plan"], b"7", "request"),
        (vec!["evaluate", "no/such/file.json"], b"", "FILE"),
        (vec!["close"], b"{}", "command"),
        (vec![], b"{}", "command"),
    ] {
        let output = galley(&arguments, input);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let answer = answer(&output);
        assert_eq!(answer["error"]["path"], json!(path), "{arguments:?} {answer}");
        holds(&answer["error"], &[("code", text), ("message", text), ("path", text)]);
    }
    let output = galley(&["evaluate"], " ".repeat(60_000_000).as_bytes());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(answer(&output)["error"]["code"], json!("too_long"));
}

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// An answer, or an error whose message has its path.
fn answered(text: &str) -> Result<(), TestCaseError> {
    match door::evaluate(text) {
        Ok(outcome) => {
            // Over a step that takes no time there is no overhead to speak of.
            let plain =
                ["forward_s", "backward_s", "optimizer_s"].iter().map(|key| outcome[key].as_f64());
            let idle = plain.sum::<Option<f64>>() == Some(0.0);
            for (key, kind) in OUTCOME.iter().filter(|row| !row.0.ends_with("per_s")) {
                prop_assert!(
                    outcome.get(key).is_some_and(kind)
                        || (idle && *key == "overhead" && outcome[key].is_null()),
                    "{} is {:?}",
                    key,
                    outcome.get(key)
                );
            }
        }
        Err(error) => prop_assert!(error.to_string().contains(error.path())),
    }
    Ok(())
}

/// Values as they come: extreme numbers, other kinds, nestings.
fn junk() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![0.0, -0.0, -1.0, 1e-300, 1e18, 1e19, 1e30, 1e308, 0.5, 2.5])
            .prop_map(Value::from),
        prop::sample::select(vec![
            "keep",
            "ssd",
            "best",
            "plan",
            "rule",
            "offload",
            "gpt2",
            "huggingface",
            "",
            "NaN"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|pairs| Value::from(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A key that some group has.
fn key() -> impl Strategy<Value = String> {
    let keys: Vec<String> = galley::engine::knob::KNOBS
        .iter()
        .flat_map(|knob| [knob.key, knob.group])
        .chain([
            "saved",
            "bytes",
            "forward_s",
            "name",
            "model_type",
            "n_layer",
            "saves_input",
            "detail",
        ])
        .map(str::to_owned)
        .collect();
    prop::sample::select(keys)
}

/// Puts `value` at the `at`-th place of a tree, counted depth first.
fn graft(tree: &mut Value, at: &mut usize, value: &Value) {
    if *at == 0 {
        *tree = value.clone();
    }
    *at = at.wrapping_sub(1);
    match tree {
        Value::Array(list) => list.iter_mut().for_each(|branch| graft(branch, at, value)),
        Value::Object(map) => map.values_mut().for_each(|branch| graft(branch, at, value)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(config(600))]

    /// Bytes of any kind.
    #[test]
    fn any_text_is_answered(text in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        "[\\[\\]{}\",:0-9a-z.eE+-]{0,80}",
    ]) {
        answered(&text)?;
    }

    /// JSON of any shape, in the words of a request.
    #[test]
    fn any_json_is_answered(groups in prop::collection::vec((key(), junk()), 0..6)) {
        let request: Map<String, Value> = groups.into_iter().collect();
        answered(&Value::from(request).to_string())?;
    }

    /// A valid request with a few places of it replaced, and cut short now and then.
    #[test]
    fn a_mangled_request_is_answered(
        request in requests::any_memory(),
        grafts in prop::collection::vec((0_usize..120, junk()), 1..4),
        cut in prop::option::weighted(0.2, 0.0_f64..1.0),
    ) {
        let mut request = request;
        for (at, value) in grafts {
            graft(&mut request, &mut { at }, &value);
        }
        let text = request.to_string();
        answered(&cut.map_or(text.clone(), |share| cut_at(&text, share)))?;
    }
}

proptest! {
    #![proptest_config(config(40))]

    /// The other doors, too.
    #[test]
    fn a_mangled_request_has_a_front_and_a_plan(
        request in requests::any_memory(),
        grafts in prop::collection::vec((0_usize..120, junk()), 0..3),
    ) {
        let mut request = request;
        for (at, value) in grafts {
            graft(&mut request, &mut { at }, &value);
        }
        let text = request.to_string();
        for answer in [door::front(&text), door::plan(&text)] {
            if let Err(error) = answer {
                prop_assert!(error.to_string().contains(error.path()));
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a length"
)]
fn cut_at(text: &str, share: f64) -> String {
    text.chars().take((share * text.len() as f64) as usize).collect()
}

/// A profile may have an embedding or a head alone: policies then have nothing to apply to.
#[test]
fn a_chain_without_blocks_is_answered() {
    let layer = json!({"kind": "embedding", "forward_s": 1, "boundary_bytes": 10, "saved": [{"bytes": 100}]});
    for kind in [
        "keep",
        "checkpoint",
        "recompute",
        "offload",
        "offload-boundaries",
        "mix",
        "selective",
        "rule",
        "binomial",
        "rotor",
        "best",
    ] {
        let request =
            json!({"workload": {"kind": "profile", "layers": [layer]}, "policy": {"kind": kind}})
                .to_string();
        let outcome = door::evaluate(&request).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!(outcome["activation_bytes"], 100, "{kind}");
        assert!(door::front(&request).is_ok(), "{kind}");
    }
}

/// 1F1B holds several micro-batches, and what each has offloaded is on the host at once.
#[test]
fn every_micro_batch_in_flight_has_its_bytes_on_the_host() {
    let outcome = |pp: u64, host_gib: u64| {
        let request = json!({
            "workload": {"preset": "llama-2-7b", "accumulation": 8}, "training": {"pp": pp},
            "hardware": {"memory_gib": 1000, "host_gib": host_gib, "ssd_gib": 0}, "policy": {"kind": "offload"},
        });
        door::evaluate(&request.to_string()).unwrap_or_else(|error| panic!("{error}"))
    };
    let roomy = outcome(4, 1000);
    let each = roomy["bytes_out"].as_u64().expect("bytes") / 8;
    assert_eq!(roomy["host_peak_bytes"], 4 * each);
    assert_eq!(outcome(4, 5)["fits"], false, "one micro-batch would fit, four do not");
}

/// What a layer offers to offload stays where its neighbour keeps it, and the table of actions says so.
#[test]
fn a_boundary_that_a_neighbour_keeps_is_said_to_be_kept() {
    let request = json!({
        "workload": {"kind": "lesson", "layers": 10, "act_gb": 1}, "policy": {"kind": "mix", "k": 4, "beta": 0.5},
    });
    let outcome = door::evaluate(&request.to_string()).expect("it reads");
    let away = outcome["layers"].as_array().expect("layers").iter();
    let away = away.flat_map(|layer| layer["saved"].as_array().expect("saved"));
    let away: u64 = away
        .filter(|tensor| tensor["action"] == "host")
        .map(|t| t["bytes"].as_u64().expect("bytes"))
        .sum();
    assert_eq!(outcome["bytes_out"], away);
}
