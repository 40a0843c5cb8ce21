//! The engine against worked examples and against the peaks that were measured in `PyTorch`, digit for digit (`vectors/README.md`).

use galley::engine::door;
use galley::engine::units::{Bytes, BytesPerSec, Nanos};
use serde_json::{Value, json};

/// The file with its numbers as the text they are written in: `serde_json` may read a float one last bit off.
fn lesson() -> Value {
    let path = format!("{}/tests/vectors/lesson.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let line = |line: &str| match line.trim_end_matches(',').split_once("\": ") {
        Some((key, number)) if number.parse::<f64>().is_ok() => {
            line.replace(&format!("{key}\": {number}"), &format!("{key}\": \"{number}\""))
        }
        _ => line.to_owned(),
    };
    let quoted: String = text.lines().map(line).collect();
    serde_json::from_str(&quoted).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A number of that file.
fn number(value: &Value) -> f64 {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no number"));
    text.parse().expect("a number")
}

fn checkpoint_runs() -> Vec<Value> {
    let path = format!("{}/tests/vectors/checkpoint_peaks.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: Value = serde_json::from_str(&text).expect("JSON");
    [rows(&file["equal"]).clone(), rows(&file["hetero"]).clone()].concat()
}

fn rows(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

fn evaluate(request: &Value) -> Value {
    door::evaluate(&request.to_string()).unwrap_or_else(|error| panic!("{error}: {request}"))
}

/// Equal to the last bit.
#[track_caller]
fn same(given: &Value, expected: f64, what: &str) {
    let given = given.as_f64().unwrap_or_else(|| panic!("{what} is {given}"));
    assert!(given.to_bits() == expected.to_bits(), "{what}: {given:?} is not {expected:?}");
}

#[test]
fn lesson_transfers() {
    for row in rows(&lesson()["transfer"]) {
        let time = BytesPerSec(number(&row["gbps"]) * 1e9).time(Bytes::from_gb(number(&row["gb"])));
        // Times are whole nanoseconds: the rows' ten decimals round to them.
        assert_eq!(time, Nanos::from_secs(number(&row["s"])));
        if !row["round_trip_s"].is_null() {
            let [round_trip, compute, visible] =
                ["round_trip_s", "adjacent_compute_s", "visible_s"]
                    .map(|key| Nanos::from_secs(number(&row[key])));
            assert_eq!(time.times(2), round_trip);
            assert_eq!(round_trip.saturating_sub(compute), visible);
        }
    }
}

/// T ≈ max(compute, transfer): one layer that computes 30 ms and moves, out and back, 20 ms.
#[test]
fn lesson_overlap() {
    for row in rows(&lesson()["overlap"]) {
        let seconds = |key: &str| number(&row[key]) / 1e3;
        let outcome = evaluate(&json!({
            "workload": {"kind": "lesson", "layers": 1, "act_gb": seconds("transfer_ms") * 25.0 / 2.0,
                "layer_s": seconds("compute_ms") / 3.0},
            "hardware": {"d2h_gbps": 25, "h2d_gbps": 25},
        }));
        same(&outcome["lesson"]["overlap_s"], seconds("pipeline_ms"), "overlap_s");
        same(&outcome["lesson"]["visible_s"], seconds("extra_wait_ms"), "visible_s");
    }
}

#[test]
fn lesson_epochs() {
    let file = lesson();
    assert_eq!(rows(&file["epoch"]).len(), 8);
    for row in rows(&file["epoch"]) {
        let outcome = evaluate(&json!({"workload": {
            "kind": "lesson", "layers": number(&row["n_layers"]), "act_gb": number(&row["act_gb"]),
            "layer_s": number(&row["compute_per_layer_s"]),
            "gpu_mem_gb": number(&row["gpu_mem_gb"]), "bandwidth_gbps": number(&row["bandwidth_gbps"]),
        }}));
        for key in ["offload_count", "round_trip_s", "visible_s", "epoch_s", "slowdown_percent"] {
            same(&outcome["lesson"]["epoch"][key], number(&row[key]), &format!("{key} of {row}"));
        }
    }
}

/// Every figure to the last bit, but the total cost: the table prints it rounded (0.3·12 + 0.7·6 is no 7.8 in
/// floats), so it is compared rounded, to nine decimals.
#[test]
fn lesson_strategies() {
    let file = lesson();
    let table = &file["strategies"];
    assert_eq!(rows(&table["rows"]).len(), 3);
    for row in rows(&table["rows"]) {
        let outcome = evaluate(&json!({
            "workload": {"kind": "lesson", "layers": number(&table["n_layers"]),
                "act_gb": number(&table["act_per_layer_gb"]), "base_gb": number(&table["base_mem_gb"]),
                "forward_cost_s": number(&table["forward_cost_s"]),
                "bandwidth_gbps": number(&table["bandwidth_gbps"])},
            "policy": {"kind": "checkpoint", "k": number(&table["k"])},
            "weights": {"memory": number(&row["lambda_mem"])},
        }));
        let strategies = &outcome["lesson"]["strategies"];
        assert_eq!(strategies["best"], row["best"]);
        let expected = row["strategies"].as_object().expect("strategies by name");
        assert_eq!(expected.len(), 3);
        for (name, strategy) in expected {
            for (key, figure) in strategy.as_object().expect("figures by name") {
                let mut given = strategies[name][key].clone();
                if key == "total_cost" {
                    given = json!((given.as_f64().expect("a cost") * 1e9).round() / 1e9);
                }
                same(&given, number(figure), &format!("{name} {key} at λ {}", row["lambda_mem"]));
            }
        }
    }
}

#[test]
fn lesson_checkpoint_every_tenth_of_a_hundred() {
    let outcome = evaluate(&json!({
        "workload": {"kind": "lesson", "layers": 100, "act_gb": 1, "layer_s": 1},
        "policy": {"kind": "checkpoint", "k": 10},
    }));
    let expected = &lesson()["checkpoint_every_10_of_100"];
    let formulas = &outcome["lesson"];
    let share =
        |a: &Value, b: &Value| a.as_f64().expect("a number") / b.as_f64().expect("a number");
    let saved = 1.0 - share(&formulas["k_segments_bytes"], &formulas["activation_bytes"]);
    same(&json!(saved), number(&expected["memory_saved_share"]), "memory saved");
    let extra = share(&formulas["k_segments_extra_s"], &outcome["forward_s"]);
    same(&json!(extra), number(&expected["extra_forward_share"]), "forward added");
}

/// A measured block as one layer of a profile: all it saves is one entry, its input or output among it by the flags.
fn layer(saved: u64, input: u64, output: u64, saves_input: bool, saves_output: bool) -> Value {
    json!({
        "forward_s": 0, "backward_s": 0, "input_bytes": input, "output_bytes": output,
        "saves_input": saves_input, "saves_output": saves_output,
        "saved": [{"name": "all", "bytes": saved}],
    })
}

fn chain(row: &Value) -> Vec<Value> {
    let number = |value: &Value| value.as_u64().expect("bytes");
    let flag = |value: &Value| value.as_bool().expect("a flag");
    if let Some(blocks) = row["blocks"].as_array() {
        let one = |b: &Value| {
            layer(number(&b[0]), number(&b[1]), number(&b[2]), flag(&b[3]), flag(&b[4]))
        };
        return blocks.iter().map(one).collect();
    }
    let one = layer(
        number(&row["saved_bytes"]),
        number(&row["input_bytes"]),
        number(&row["output_bytes"]),
        flag(&row["saves_input"]),
        flag(&row["saves_own_output"]),
    );
    let count = usize::try_from(number(&row["L"])).expect("a layer count");
    vec![one; count]
}

fn policy(row: &Value) -> Value {
    if row["mode"] == "none" {
        return json!({"kind": "keep"});
    }
    json!({
        "kind": "checkpoint", "segments": row["segment_lengths"],
        "reentrant": row["use_reentrant"] == true,
        "last_segment_plain": row["last_segment_checkpointed"] == false,
    })
}

/// The chain's output: the tracker still holds it when forward is over, for its caller reads it. The engine lets it go,
/// unless the last block runs plainly and saves it.
fn output_held(row: &Value, layers: &[Value]) -> u64 {
    let last = layers.last().expect("a layer");
    let plain = row["mode"] == "none" || row["last_segment_checkpointed"] == false;
    if plain && last["saves_output"] == true {
        return 0;
    }
    last["output_bytes"].as_u64().expect("bytes")
}

/// Peak of saved activations, recomputed layers, and saved bytes when forward is over: all 420 runs to the byte.
#[test]
fn checkpoint_peaks() {
    let runs = checkpoint_runs();
    assert_eq!(runs.len(), 420);
    let mut wrong = Vec::new();
    for row in &runs {
        let layers = chain(row);
        let outcome = evaluate(&json!({
            "workload": {"kind": "profile", "layers": layers}, "policy": policy(row),
        }));
        let held = output_held(row, &layers);
        for (ours, more, theirs) in [
            ("saved_peak_bytes", 0, "peak_saved_act_bytes"),
            ("recomputed_layers", 0, "extra_block_forward_executions"),
            ("resident_after_forward_bytes", held, "fwd_end_saved_bytes"),
        ] {
            if outcome[ours].as_u64().map(|n| n + more) != row[theirs].as_u64() {
                wrong.push(format!(
                    "{ours} {} is not {} in {}",
                    outcome[ours],
                    row[theirs],
                    row.to_string().chars().take(200).collect::<String>()
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} mismatches:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(8)].join("\n")
    );
}
