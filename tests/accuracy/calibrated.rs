//! Times from one measured number each: the first row of a table sets the card's efficiency (of a layer also backward over forward), and
//! the engine says the others. The row that was used is not a case.

use crate::papers::{TIME, config, korthikanti, measured_with_bar, trained, tuned};
use crate::shape::{Group, abs, figure, float, list, rel, single, text_of, vectors, with};
use galley::accuracy::expression;
use galley::engine::door;
use serde_json::{Value, json};

pub fn groups() -> Vec<Value> {
    let file = vectors("published");
    vec![layer_times(&file), iterations(&file), torchtune(&file)]
}

/// The efficiency with which `measure` of the request is what was measured, to four digits. Both fall or both rise with it, so it is
/// found by halving.
fn fitted(request: &Value, measure: &Value, measured: f64) -> f64 {
    let at = |efficiency: f64| {
        let mut request = request.clone();
        request["hardware"]["efficiency"] = json!(efficiency);
        let outcome = door::evaluate(&request.to_string())
            .unwrap_or_else(|error| panic!("{error}: {request}"));
        expression::value(measure, &[outcome]).expect("a number")
    };
    let (mut low, mut high) = (0.05, 1.0);
    let rises = at(high) > at(low);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if (at(middle) < measured) == rises {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low * 1e4).round() / 1e4
}

fn at_efficiency(mut request: Value, efficiency: f64) -> Value {
    request["hardware"]["efficiency"] = json!(efficiency);
    request
}

/// Table 4 of Korthikanti et al.: forward and backward of the plain layer give efficiency and ratio.
fn layer_times(file: &Value) -> Value {
    let config = config(file, "22B");
    let rows = list(&file["layer_22B_ms"]);
    let ratio = float(&rows[0]["backward"]) / float(&rows[0]["forward"]);
    let request = |sp: bool, policy: &str| {
        let mut request = trained(config, sp, policy);
        request["workload"]["layers"] = 1.into();
        request["training"]["backward_ratio"] = json!((ratio * 1e4).round() / 1e4);
        request
    };
    let block = |key: &str| format!("/layers/[kind=block]/{key}");
    let forward = json!(["*", 1000, block("forward_s")]);
    let backward = json!(["+", block("backward_s"), "/recompute_s"]);
    let efficiency = fitted(&request(false, "keep"), &forward, float(&rows[0]["forward"]));
    let plain = at_efficiency(request(false, "keep"), efficiency);
    let sets = rows[1..].iter().map(|row| {
        let name = text_of(&row["experiment"]);
        let policy = match name {
            "full recompute" => "recompute",
            "sequence parallel" => "keep",
            _ => "selective",
        };
        let total = json!(["+", block("forward_s"), backward]);
        let before =
            json!(["+", "1:/layers/[kind=block]/forward_s", "1:/layers/[kind=block]/backward_s"]);
        let mut figures = vec![
            (
                figure(
                    ["backward with recomputation", "反向（含重算）"],
                    "ms",
                    rel(TIME),
                    json!(["*", 1000, backward]),
                ),
                row["backward"].clone(),
            ),
            (
                figure(
                    ["time over that of no recomputation", "相对不重算的时间"],
                    "",
                    abs(0.005),
                    json!(["/", total, before]),
                ),
                json!(1.0 + float(&row["overhead"])),
            ),
        ];
        // The plain layer's forward was used: where it is the same, it is no case.
        if row["forward"] != rows[0]["forward"] {
            let told = figure(["forward", "前向"], "ms", rel(TIME), forward.clone());
            figures.insert(0, (told, row["forward"].clone()));
        }
        let request = at_efficiency(request(name.contains("sequence"), policy), efficiency);
        with(single(name, request, figures), json!({"against": plain}))
    });
    measured_with_bar(
        korthikanti(
            "layer-times-calibrated",
            ["Times of one layer, calibrated", "单层时间（经校准）"],
            [
                "Table 4 again: the plain layer's 7.7 and 11.9 ms set efficiency and backward over forward; the other rows are told from these two.",
                "仍为表 4：不重算时的 7.7 与 11.9 毫秒定出效率与反向/前向之比，其余各行由此二数推出。",
            ],
        ),
        "Calculon, table 5: mean 3.65 %, worst 8.87 %",
        "Calculon 表 5：平均 3.65 %，最差 8.87 %",
    )
    .of(sets.collect())
}

/// Table 5: the fully recomputed step gives the efficiency.
fn iterations(file: &Value) -> Value {
    let sets = list(&file["iteration_s"]).iter().map(|row| {
        let name = text_of(&row["name"]);
        let config = config(file, name);
        let full = float(&row["full_recompute"]);
        let efficiency = fitted(&trained(config, false, "recompute"), &json!("/step_s"), full);
        let request = at_efficiency(trained(config, true, "selective"), efficiency);
        let step = figure(["step", "一步"], "s", rel(TIME), json!("/step_s"));
        single(
            &format!("{name}, selective_sequence"),
            request,
            vec![(step, row["selective_sequence"].clone())],
        )
    });
    measured_with_bar(
        korthikanti(
            "iterations-calibrated",
            ["Whole steps, calibrated", "整步（经校准）"],
            [
                "Table 5 again: the step with full recomputation sets the efficiency, the step with selective recomputation and sequence parallelism is told.",
                "仍为表 5：完全重算的一步定出效率，推出选择性重算加序列并行的一步。",
            ],
        ),
        "Calculon, table 5: mean 3.65 %, worst 8.87 %",
        "Calculon 表 5：平均 3.65 %，最差 8.87 %",
    )
    .of(sets.collect())
}

/// The fine-tune's speed: its first row gives the efficiency.
fn torchtune(file: &Value) -> Value {
    let rows = tuned(file);
    let speed = json!("/tokens_per_s");
    let efficiency = fitted(&rows[0].1, &speed, float(&rows[0].0[2]));
    let sets = rows[1..].iter().map(|(row, request)| {
        let figure = figure(["tokens/s", "词元/秒"], "", rel(0.1354), speed.clone());
        single(
            text_of(&row[0]),
            at_efficiency(request.clone(), efficiency),
            vec![(figure, row[2].clone())],
        )
    });
    Group {
        id: "torchtune-speed-calibrated",
        title: ["A real fine-tune: speed, calibrated", "一次真实微调：速度（经校准）"],
        about: [
            "The same runs: the speed of the first sets the efficiency, the others are told. Held to the bar's worst, both ways.",
            "同一组运行：首行的速度定出效率，其余各行由此推出。以标杆的最差误差为限，正负皆可。",
        ],
        evidence: "measured",
        source: text_of(&file["torchtune_llama_3_2_3b_a100_b2_s4096"]["source"]),
        url: Some("https://github.com/pytorch/torchtune"),
        bar: Some(["SimuMax: −13.54 to 0.06 %", "SimuMax：−13.54 至 0.06 %"]),
    }
    .of(sets.collect())
}
