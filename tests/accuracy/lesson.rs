//! The textbook's worked examples: lesson.json.

use crate::shape::{Group, abs, exact, figure, float, list, object, set, single, vectors};
use serde_json::{Value, json};

/// Times of the engine are whole nanoseconds.
const NANO: f64 = 1e-9;

pub fn groups() -> Vec<Value> {
    let file = vectors("lesson");
    let mut sets = transfers(&file);
    sets.push(overlap(&file["overlap"][0]));
    sets.push(epochs(&file));
    sets.extend(strategies(&file["strategies"]));
    sets.push(tenth(&file["checkpoint_every_10_of_100"]));
    vec![
        Group {
            id: "lesson",
            title: ["The textbook's worked examples", "教科书算例"],
            about: [
                "Closed formulas of uniform layers: transfer, overlap, the worked epoch, the table of strategies, K segments.",
                "均匀层的闭式公式：传输、重叠、算例周期、策略表、K 段。",
            ],
            evidence: "published",
            source: "worked examples of the lesson",
            url: None,
            bar: None,
        }
        .of(sets),
    ]
}

fn transfers(file: &Value) -> Vec<Value> {
    let rows = list(&file["transfer"]).iter();
    rows.map(|row| {
        let compute = row["adjacent_compute_s"].as_f64();
        let request = json!({"v": 1,
            "workload": {"kind": "lesson", "layers": 1, "act_gb": row["gb"], "layer_s": compute.map_or(1.0, |s| s / 3.0)},
            "hardware": {"d2h_gbps": row["gbps"], "h2d_gbps": row["gbps"], "copy_overhead_us": 0}});
        let mut figures = vec![(
            figure(["one way", "单程"], "s", abs(NANO), json!("/lesson/full_offload_extra_s")),
            row["s"].clone(),
        )];
        if compute.is_some() {
            // max(compute, transfer), and the transfer is the longer.
            let both = figure(["round trip", "往返"], "s", abs(NANO), json!("/lesson/overlap_s"));
            figures.push((both, row["round_trip_s"].clone()));
            let visible = figure(["visible", "可见"], "s", abs(NANO), json!("/lesson/visible_s"));
            figures.push((visible, row["visible_s"].clone()));
        }
        single(&format!("transfer, {} GB at {} GB/s", row["gb"], row["gbps"]), request, figures)
    })
    .collect()
}

/// T ≈ max(compute, transfer): one layer that computes, and moves out and back.
fn overlap(row: &Value) -> Value {
    let seconds = |key: &str| float(&row[key]) / 1e3;
    let request = json!({"v": 1,
        "workload": {"kind": "lesson", "layers": 1, "act_gb": seconds("transfer_ms") * 25.0 / 2.0,
            "layer_s": seconds("compute_ms") / 3.0},
        "hardware": {"d2h_gbps": 25, "h2d_gbps": 25}});
    let figures = vec![
        (
            figure(["pipeline", "流水"], "s", exact(), json!("/lesson/overlap_s")),
            json!(seconds("pipeline_ms")),
        ),
        (
            figure(["extra wait", "额外等待"], "s", exact(), json!("/lesson/visible_s")),
            json!(seconds("extra_wait_ms")),
        ),
    ];
    single("overlap", request, figures)
}

fn epochs(file: &Value) -> Value {
    let rows = list(&file["epoch"]).iter().map(|row| {
        json!([
            null,
            [
                row["n_layers"],
                row["act_gb"],
                row["compute_per_layer_s"],
                row["gpu_mem_gb"],
                row["bandwidth_gbps"]
            ],
            [
                row["offload_count"],
                row["round_trip_s"],
                row["visible_s"],
                row["epoch_s"],
                row["slowdown_percent"]
            ]
        ])
    });
    let columns = [
        ["workload.layers", "L"],
        ["workload.act_gb", "GB"],
        ["workload.layer_s", "s"],
        ["workload.gpu_mem_gb", "card GB"],
        ["workload.bandwidth_gbps", "GB/s"],
    ];
    let figures = [
        ("offload_count", ["offloads", "卸载次数"], ""),
        ("round_trip_s", ["round trip", "往返"], "s"),
        ("visible_s", ["visible", "可见"], "s"),
        ("epoch_s", ["epoch", "周期"], "s"),
        ("slowdown_percent", ["slowdown", "减速"], "%"),
    ]
    .map(|(key, name, unit)| figure(name, unit, exact(), json!(format!("/lesson/epoch/{key}"))));
    let request = json!({"v": 1, "workload": {"kind": "lesson"}});
    set("worked epoch", request, &columns, figures.into(), rows.collect())
}

/// The total cost is printed rounded: to nine decimals.
fn strategies(table: &Value) -> Vec<Value> {
    let rows = list(&table["rows"]).iter();
    rows.map(|row| {
        let request = json!({"v": 1,
            "workload": {"kind": "lesson", "layers": table["n_layers"], "act_gb": table["act_per_layer_gb"],
                "base_gb": table["base_mem_gb"], "forward_cost_s": table["forward_cost_s"],
                "bandwidth_gbps": table["bandwidth_gbps"]},
            "policy": {"kind": "checkpoint", "k": table["k"]}, "weights": {"memory": row["lambda_mem"]}});
        let best = json!(["is", "/lesson/strategies/best", row["best"]]);
        let mut figures = vec![(figure(["the best is found", "找到最佳"], "", exact(), best), json!(1))];
        for (name, strategy) in object(&row["strategies"]) {
            for (key, value) in object(strategy) {
                let path = json!(format!("/lesson/strategies/{name}/{key}"));
                let within = if key == "total_cost" { abs(NANO) } else { exact() };
                let words = format!("{name}, {key}");
                figures.push((figure([&words, &words], "", within, path), value.clone()));
            }
        }
        single(&format!("strategies at λ {}", row["lambda_mem"]), request, figures)
    })
    .collect()
}

fn tenth(expected: &Value) -> Value {
    let request = json!({"v": 1, "workload": {"kind": "lesson", "layers": 100, "act_gb": 1, "layer_s": 1},
        "policy": {"kind": "checkpoint", "k": 10}});
    let saved = json!(["-", 1, ["/", "/lesson/k_segments_bytes", "/lesson/activation_bytes"]]);
    let extra = json!(["/", "/lesson/k_segments_extra_s", "/forward_s"]);
    let figures = vec![
        (
            figure(["share of memory saved", "节省的内存份额"], "", exact(), saved),
            expected["memory_saved_share"].clone(),
        ),
        (
            figure(["share of a forward added", "增加的前向份额"], "", exact(), extra),
            expected["extra_forward_share"].clone(),
        ),
    ];
    single("a checkpoint every 10 of 100 layers", request, figures)
}
