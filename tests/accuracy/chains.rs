//! Chains of blocks under checkpointing and offloading: checkpoint_peaks.json and offload_bytes.json.

use crate::shape::{Group, exact, figure, int, list, set, text_of, vectors};
use serde_json::{Value, json};

pub fn groups() -> Vec<Value> {
    vec![checkpoint(), offload()]
}

fn bit(value: &Value) -> u64 {
    u64::from(value.as_bool().expect("a flag"))
}

/// The terse list of blocks that a run had, and what it is called.
fn blocks(row: &Value) -> (String, Value) {
    if let Some(blocks) = row["blocks"].as_array() {
        let one = |b: &Value| json!([1, b[0], b[1], b[2], bit(&b[3]), bit(&b[4])]);
        return (format!("mixed, {} blocks", blocks.len()), blocks.iter().map(one).collect());
    }
    let block = json!([[
        row["L"],
        row["saved_bytes"],
        row["input_bytes"],
        row["output_bytes"],
        bit(&row["saves_input"]),
        bit(&row["saves_own_output"])
    ]]);
    (format!("{} × {}", text_of(&row["kind"]), row["L"]), block)
}

/// The chain's output: the tracker still holds it when forward is over, for its caller reads it; the engine lets it go, unless the
/// last block runs plainly and saves it.
fn output_held(row: &Value) -> u64 {
    let (saves, output) = match row["blocks"].as_array().and_then(|blocks| blocks.last()) {
        Some(last) => (&last[4], &last[2]),
        None => (&row["saves_own_output"], &row["output_bytes"]),
    };
    let plain = row["mode"] == "none" || row["last_segment_checkpointed"] == false;
    if plain && saves == true { 0 } else { int(output) }
}

fn checkpoint() -> Value {
    let file = vectors("checkpoint_peaks");
    let columns = [
        ["blocks", ""],
        ["policy.kind", ""],
        ["policy.segments", "segments"],
        ["policy.reentrant", "reentrant"],
        ["policy.last_segment_plain", "last one plain"],
    ];
    let sets = [("equal blocks", "equal"), ("mixed blocks", "hetero")].map(|(name, key)| {
        let rows = list(&file[key]).iter().map(|row| {
            let (name, blocks) = blocks(row);
            let values = if row["mode"] == "none" {
                json!([blocks, "keep", null, null, null])
            } else {
                let plain = row["last_segment_checkpointed"] == false;
                json!([
                    blocks,
                    "checkpoint",
                    row["segment_lengths"],
                    row["use_reentrant"] == true,
                    plain
                ])
            };
            let after = int(&row["fwd_end_saved_bytes"]) - output_held(row);
            let expected =
                json!([row["peak_saved_act_bytes"], after, row["extra_block_forward_executions"]]);
            json!([name, values, expected])
        });
        let figures = vec![
            figure(
                ["peak of saved bytes", "保存字节的峰值"],
                "B",
                exact(),
                json!("/saved_peak_bytes"),
            ),
            figure(
                ["saved bytes after forward", "前向之后的保存字节"],
                "B",
                exact(),
                json!("/resident_after_forward_bytes"),
            ),
            figure(["layers run again", "重新运行的层"], "", exact(), json!("/recomputed_layers")),
        ];
        let request = json!({"v": 1, "workload": {"kind": "profile"}, "policy": {}});
        set(name, request, &columns, figures, rows.collect())
    });
    Group {
        id: "checkpoint",
        title: ["Checkpointing", "检查点"],
        about: [
            "Live saved bytes of real chains under torch.utils.checkpoint, every storage tracked, on a CPU. After forward the chain's output is not counted: its caller holds it.",
            "真实层链在 torch.utils.checkpoint 下的存活保存字节，跟踪每块存储，CPU 实测。前向之后不计链的输出：它由调用者持有。",
        ],
        evidence: "measured",
        source: "PyTorch 2.8.0, torch.utils.checkpoint",
        url: Some("https://docs.pytorch.org/docs/stable/checkpoint.html"),
        bar: None,
    }
    .of(sets.into())
}

/// The storages of one block, in bytes, as the bytes moved at each threshold give them.
fn storages(kind: &str) -> Vec<u64> {
    let times = |n: usize, bytes: u64| vec![bytes; n];
    match kind {
        "gpt" => [times(4, 256), times(10, 8192), times(3, 16_384), times(2, 32_768)].concat(),
        "gpt_sdpa_p0" => [times(4, 256), times(1, 512), times(8, 8192), times(2, 32_768)].concat(),
        "mlp" => [times(2, 256), times(2, 8192), times(2, 24_576)].concat(),
        "linrelu" => times(2, 8192),
        other => panic!("{other} is no kind of block"),
    }
}

fn offload() -> Value {
    let file = vectors("offload_bytes");
    let columns = [["blocks", ""], ["host_from", "from bytes"]];
    let mut sets = Vec::new();
    for kind in ["gpt", "gpt_sdpa_p0", "mlp", "linrelu"] {
        for dedup in [false, true] {
            let of = |row: &&Value| row["kind"] == kind && row["dedup_storage_views"] == dedup;
            let rows = list(&file["rows"]).iter().filter(of).map(|row| {
                let sizes = storages(kind);
                assert_eq!(sizes.iter().sum::<u64>(), int(&row["saved_bytes"]), "{kind}");
                let (_, mut blocks) = blocks(row);
                blocks[0][1] = sizes.into();
                // What makes the chain's input, so that it is a storage like any other: the hooks move it too.
                let input = int(&row["input_bytes"]);
                let maker = json!([1, [], 0, input, 0, 0]);
                blocks.as_array_mut().expect("a list").insert(0, maker);
                // Where the hooks leave it, it is its caller's and was not counted.
                let left = if int(&row["threshold_bytes"]) > input { input } else { 0 };
                let after = int(&row["resident_fwd_end_after_output_released_bytes"]) + left;
                let expected = json!([row["bytes_out"], row["bytes_back"], after]);
                json!([
                    format!("{kind} × {}", row["L"]),
                    [blocks, row["threshold_bytes"]],
                    expected
                ])
            });
            let figures = vec![
                figure(["bytes out", "移出的字节"], "B", exact(), json!("/bytes_out")),
                figure(["bytes back", "移回的字节"], "B", exact(), json!("/bytes_back")),
                figure(
                    ["bytes that stay", "留下的字节"],
                    "B",
                    exact(),
                    json!(["-", "/activation_bytes", "/bytes_out"]),
                ),
            ];
            let request = json!({"v": 1, "workload": {"kind": "profile"},
                "hardware": {"memory_gib": 24}, "policy": {"kind": "plan", "granularity": "tensor"}});
            let name = format!("{kind}, {}", if dedup { "storages once" } else { "every tensor" });
            sets.push(set(&name, request, &columns, figures, rows.collect()));
        }
    }
    Group {
        id: "offload",
        title: ["Offloading", "卸载"],
        about: [
            "Bytes that hooks move away in forward and back in backward when a saved tensor has at least so many bytes, and what stays. A first layer makes the chain's input, which the hooks move too.",
            "保存的张量达到给定字节数时，钩子在前向移出、在反向移回的字节，以及留下的字节。首层产生链的输入，钩子也会移动它。",
        ],
        evidence: "measured",
        source: "PyTorch 2.8.0, saved-tensor hooks",
        url: Some("https://docs.pytorch.org/docs/stable/autograd.html"),
        bar: None,
    }
    .of(sets)
}
