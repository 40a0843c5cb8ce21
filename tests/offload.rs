//! Offloading by hooks with a threshold, measured on PyTorch (vectors/offload_bytes.json): bytes out, bytes back, and what
//! stays on the device when forward is over.

use galley::engine::door;
use serde_json::{Value, json};

fn rows() -> Vec<Value> {
    let path = format!("{}/tests/vectors/offload_bytes.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: Value = serde_json::from_str(&text).expect("JSON");
    file["rows"].as_array().expect("rows").clone()
}

fn evaluate(request: &Value) -> Value {
    door::evaluate(&request.to_string()).unwrap_or_else(|error| panic!("{error}: {request}"))
}

fn int(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

/// The measured blocks in fp32: s·b = 64 tokens of width 32, so one b·s·h tensor has 8,192 bytes. Their saved tensors,
/// and bytes that hooks move once more per layer because two views of one storage are packed.
fn block(kind: &str) -> (Vec<Value>, bool, u64) {
    let gpt = |attention: &str, dropout: bool| {
        let outcome = evaluate(&json!({
            "workload": {"block": "gpt", "layers": 1, "hidden": 32, "heads": 2, "seq": 32, "batch": 2, "vocab": 8,
                "attention": attention, "dropout": dropout, "backend": "cpu"},
            "training": {"dtype": "fp32"},
        }));
        let tensors = outcome["layers"][1]["saved"].as_array().expect("tensors").iter();
        // Mean and deviation are two tensors to hooks, one row of two numbers to the engine.
        let split = |tensor: &Value| {
            let (name, bytes) = (tensor["name"].as_str().expect("a name"), int(&tensor["bytes"]));
            let parts = if name.ends_with("statistics") { 2 } else { 1 };
            vec![
                json!({"name": name, "bytes": bytes / parts});
                usize::try_from(parts).expect("few")
            ]
        };
        tensors.flat_map(split).collect()
    };
    let shared = |name: &str| json!({"name": name, "bytes": 8192});
    match kind {
        "gpt" => (gpt("eager", true), false, 0),
        // The attention's output and its transpose.
        "gpt_sdpa_p0" => (gpt("flash", false), false, 8192),
        // LayerNorm (two statistics, output), a linear layer three times as wide, GELU, a linear layer.
        "mlp" => {
            let inner = [256, 256, 8192, 24576, 24576].map(|bytes| json!({"bytes": bytes}));
            ([&[shared("input")], &inner[..]].concat(), false, 0)
        }
        // A linear layer and a ReLU, which keeps its own output: the next one's input.
        "linrelu" => (vec![shared("input"), shared("output")], true, 0),
        other => panic!("no block {other}"),
    }
}

#[test]
fn hooks_move_what_was_measured() {
    let rows = rows();
    for row in &rows {
        let (saved, own_output, views) = block(row["kind"].as_str().expect("a kind"));
        let (layers, threshold) = (int(&row["L"]), int(&row["threshold_bytes"]));
        let size = int(&row["input_bytes"]);
        let layer = json!({
            "saved": saved, "saves_input": true, "input_bytes": size, "output_bytes": size, "boundary_bytes": size,
            "saves_output": own_output,
        });
        // A reader of the output, then time for the copies to end before forward does, as hooks wait for theirs.
        let mut chain = vec![layer; usize::try_from(layers).expect("few")];
        chain.push(json!({"kind": "head", "input_bytes": size, "output_bytes": 0}));
        chain.push(json!({"kind": "head", "forward_s": 100, "input_bytes": 0, "output_bytes": 0}));
        let ask = |policy: &Value| {
            evaluate(&json!({
                "workload": {"kind": "profile", "layers": chain}, "hardware": {"memory_gib": 1}, "policy": policy,
            }))
        };
        let moved = ask(
            &json!({"kind": "offload", "granularity": "tensor", "min_offload_bytes": threshold}),
        );
        // Packed twice: by hooks that look at tensors, not storages. The chain's input is the caller's: the engine leaves it.
        let twice = if threshold <= size { layers * views + size } else { 0 };
        let (out, back) = (int(&row["bytes_out"]) - twice, int(&row["bytes_back"]) - twice);
        // A storage that two layers keep leaves once; hooks that do not look move it for each, and bring it back for each.
        let shared = if own_output && threshold <= size { (layers - 1) * size } else { 0 };
        let out = if row["dedup_storage_views"] == true { out } else { out - shared };
        assert_eq!(int(&moved["bytes_out"]), out, "{row}");
        assert_eq!(int(&moved["bytes_back"]), back - shared, "{row}");
        let resident = &row["resident_fwd_end_after_output_released_bytes"];
        assert_eq!(&moved["resident_after_forward_bytes"], resident, "{row}");
        // The measurement still has the chain's output.
        let kept = ask(&json!({"kind": "keep"}));
        let output = if own_output { 0 } else { size };
        let measured = int(&row["no_offload_fwd_end_saved_bytes"]) - output;
        assert_eq!(int(&kept["activation_bytes"]), measured, "{row}");
    }
    assert_eq!(rows.len(), 120);
}
