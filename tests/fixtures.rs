//! Profiles that `tools/profile_model.py` measured on real models (`fixtures/`): the engine reads every key of them, its bytes are
//! the measured ones, and the same models described by their numbers come out the same.

use galley::engine::door;
use serde_json::{Value, json};

const PROFILES: [&str; 2] = ["profile-gpt2-small.json", "profile-llama-small.json"];

fn fixture(name: &str) -> Value {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

/// What keep-everything says of a workload on a card that holds it.
fn keep(workload: &Value) -> Value {
    let request = json!({
        "v": 1, "workload": workload, "policy": { "kind": "keep" },
        "training": { "dtype": "fp32", "optimizer": "adamw" }, "hardware": { "memory_gib": 80 },
    });
    door::evaluate(&request.to_string()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_key_of_a_profile_is_read() {
    for name in PROFILES {
        let file = fixture(name);
        assert_eq!((&file["galley"], &file["v"]), (&json!("profile"), &json!(1)), "{name}");
        let outcome = keep(&file["workload"]);
        assert_eq!(outcome["ignored"], json!([]), "{name}");
        assert_eq!(outcome["clamped"], json!([]), "{name}");
        let layers = list(&file["workload"]["layers"]);
        assert_eq!(list(&outcome["layers"]).len(), layers.len(), "{name}");
        for (given, read) in layers.iter().zip(list(&outcome["layers"])) {
            assert_eq!(given["name"], read["name"], "{name}");
            assert_eq!(given["kind"], read["kind"], "{name}");
            assert_eq!(given["boundary_bytes"], read["boundary_bytes"], "{name}");
            let sizes = |value: &Value| {
                list(&value["saved"]).iter().map(|t| whole(&t["bytes"])).collect::<Vec<_>>()
            };
            assert_eq!(sizes(given), sizes(read), "{name}: {}", given["name"]);
        }
    }
}

/// `measured` was counted while the step ran, storage by storage, apart from the list of layers. The engine's peak of saved bytes
/// has the chain's output too (here the loss), which the loss's backward still reads.
#[test]
fn saved_bytes_are_the_measured_ones() {
    for name in PROFILES {
        let file = fixture(name);
        let (outcome, measured) = (keep(&file["workload"]), &file["measured"]);
        assert_eq!(outcome["activation_bytes"], measured["saved_bytes"], "{name}");
        let output =
            list(&file["workload"]["layers"]).last().map(|head| whole(&head["output_bytes"]));
        let peak = whole(&measured["saved_peak_bytes"]) + output.unwrap_or(0);
        assert_eq!(whole(&outcome["saved_peak_bytes"]), peak, "{name}");
        let highest = list(&file["curve"]).iter().map(|point| whole(&point[1])).max();
        assert_eq!(highest, measured["saved_peak_bytes"].as_u64(), "{name}");
    }
}

/// Weights, optimizer states, what is saved, what comes and goes, and gradients as they appear: the highest sum is the measured one,
/// to the byte, and so is the highest in the optimizer step.
#[test]
fn the_peak_of_the_step_is_the_measured_one() {
    for name in PROFILES {
        let file = fixture(name);
        let outcome = keep(&file["workload"]);
        assert_eq!(outcome["peak_bytes"], file["measured"]["peak_bytes"], "{name}");
        assert_eq!(outcome["optimizer_s"], file["measured"]["optimizer_s"], "{name}");
        let made = list(&file["workload"]["layers"]).iter().map(|l| whole(&l["gradient_bytes"]));
        assert_eq!(
            made.sum::<u64>(),
            whole(&file["workload"]["static_bytes"]["gradients"]),
            "{name}"
        );
    }
}

/// Curves of both kinds start at 0, never run backwards in time, and have the peak that the file names.
#[test]
fn curves_are_in_order() {
    let memory = fixture("memory-gpt2-small.json");
    assert_eq!(
        (&memory["galley"], &memory["v"], &memory["unit"]),
        (&json!("memory"), &json!(1), &json!("bytes"))
    );
    let profiles = PROFILES.map(fixture);
    let named = profiles.iter().map(|file| (&file["curve_all"], &file["measured"]["peak_bytes"]));
    for (curve, peak) in named.chain([(&memory["curve"], &memory["peak_bytes"])]) {
        let times: Vec<f64> = list(curve).iter().filter_map(|point| point[0].as_f64()).collect();
        assert!(
            times.first() == Some(&0.0) && times.is_sorted() && times.len() == list(curve).len()
        );
        assert_eq!(list(curve).iter().map(|point| whole(&point[1])).max(), Some(whole(peak)));
    }
}

/// Each block of a model described by its numbers keeps what the block of that profile was measured to keep.
#[track_caller]
fn same_by_numbers(name: &str, workload: &Value) {
    let (file, outcome) = (fixture(name), keep(workload));
    let block = |layers: &Value| {
        let blocks = list(layers).iter().filter(|layer| layer["kind"] == "block");
        blocks
            .map(|l| list(&l["saved"]).iter().map(|t| whole(&t["bytes"])).sum())
            .collect::<Vec<u64>>()
    };
    assert_eq!(block(&outcome["layers"]), block(&file["workload"]["layers"]), "{name}");
}

#[test]
fn llama_by_its_numbers_saves_the_same() {
    same_by_numbers(
        PROFILES[1],
        &json!({
            "kind": "transformer", "block": "llama", "layers": 8, "hidden": 512, "heads": 8, "kv_heads": 2, "ffn": 1376,
            "vocab": 32000, "seq": 256, "batch": 2, "attention": "eager", "implementation": "eager", "backend": "cpu",
        }),
    );
}

#[test]
fn gpt2_by_its_numbers_saves_the_same() {
    same_by_numbers(
        PROFILES[0],
        &json!({
            "kind": "transformer", "block": "gpt", "layers": 12, "hidden": 768, "heads": 12, "kv_heads": 12, "ffn": 3072,
            "vocab": 50257, "seq": 256, "batch": 2, "attention": "eager", "dropout": true, "implementation": "eager",
            "backend": "cpu",
        }),
    );
}
