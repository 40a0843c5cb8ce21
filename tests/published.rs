//! Published figures to the last digit (vectors/published.json): the closed formulas through the door, the simulation beside
//! them, and what lies between the two.

use galley::engine::closed;
use galley::engine::door;
use galley::engine::units::GIB;
use galley::engine::workload::states::PerParameter;
use serde_json::{Value, json};

fn published() -> Value {
    let path = format!("{}/tests/vectors/published.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).expect("JSON")
}

fn evaluate(request: &Value) -> Value {
    door::evaluate(&request.to_string()).unwrap_or_else(|error| panic!("{error}: {request}"))
}

fn int(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn gib(value: &Value) -> f64 {
    float(value) / GIB
}

/// A difference that no rounding explains.
fn same(what: &str, given: f64, expected: f64) {
    assert!((given - expected).abs() <= 1e-9 * expected.abs(), "{what}: {given} is not {expected}");
}

/// The paper's configurations as scenarios: 22B, 175B, 530B and 1T; 175B and 530B with three chunks on each stage.
fn papers(sp: bool, policy: &str) -> Vec<(String, Value)> {
    let file = published();
    let configs = file["configs"].as_array().expect("configs");
    let one = |config: &Value| {
        let name = config["name"].as_str().expect("a name");
        let preset =
            if name == "175B" { "gpt3-175b" } else { &format!("megatron-{}", name.to_lowercase()) };
        let ranks = int(&config["gpus"]) / int(&config["tp"]) / int(&config["pp"]);
        let micro = int(&config["global_batch"]) / int(&config["micro_batch"]) / ranks;
        let chunks = if matches!(name, "175B" | "530B") { 3 } else { 1 };
        let request = json!({
            "workload": {"preset": preset, "batch": config["micro_batch"], "accumulation": micro},
            "training": {"tp": config["tp"], "pp": config["pp"], "virtual_stages": chunks, "sp": sp, "grad_dtype": "fp32"},
            "hardware": {"preset": "a100-80g", "memory_gib": 10_000}, "policy": {"kind": policy},
        });
        (name.to_owned(), request)
    };
    configs.iter().map(one).collect()
}

#[test]
fn first_stage_activations_are_figure_1s() {
    let table = &published()["first_stage_activations_gib"];
    for (key, sp, policy) in [("none", false, "keep"), ("sp_selective", true, "selective")] {
        for (name, request) in papers(sp, policy) {
            let lesson = &evaluate(&request)["lesson"];
            let given = gib(&lesson["first_stage_activation_bytes"]);
            same(&format!("{name} {key}"), given, float(&table[&name][key]));
        }
    }
}

/// The simulation holds what the formula says, the norms' statistics (16 bytes a token and block, over t with sequence
/// parallelism) and the embedding's dropout mask and token ids beside it: nothing else, to the byte.
#[test]
fn the_simulation_holds_figure_1_and_the_statistics() {
    for (sp, policy) in [(false, "keep"), (true, "selective")] {
        for (name, request) in papers(sp, policy) {
            let outcome = evaluate(&request);
            let layers = outcome["layers"].as_array().expect("layers");
            let kept = |layer: &Value| -> u64 {
                let saved = layer["saved"].as_array().expect("tensors").iter();
                saved.filter(|row| row["action"] == "keep").map(|row| int(&row["bytes"])).sum()
            };
            let blocks: Vec<&Value> =
                layers.iter().filter(|layer| layer["kind"] == "block").collect();
            let (p, m) =
                (int(&request["training"]["pp"]), int(&request["training"]["virtual_stages"]));
            let held = if m == 1 { p } else { p * m + p - 1 };
            let tokens = 2048 * int(&request["workload"]["batch"]);
            let statistics = 16 * tokens / if sp { 8 } else { 1 };
            let simulated: u64 = blocks.iter().map(|block| kept(block) - statistics).sum();
            let formula = int(&outcome["lesson"]["first_stage_activation_bytes"]);
            assert_eq!(simulated * held / m, formula, "{name} {policy}");
        }
    }
}

#[test]
fn parameters_and_optimizer_are_figure_1s() {
    let table = &published()["parameter_and_optimizer_gib"];
    for (name, request) in papers(false, "keep") {
        let outcome = evaluate(&request);
        let given = gib(&outcome["lesson"]["parameter_and_optimizer_bytes"]);
        same(&name, given, float(&table[&name]));
        // The simulation counts norms and biases of the stage's blocks, and the embedding, too.
        let lesson = int(&outcome["lesson"]["parameter_and_optimizer_bytes"]);
        let hidden = int(&outcome["layers"][1]["boundary_bytes"])
            / (2 * 2048 * int(&request["workload"]["batch"]));
        let layers = outcome["layers"].as_array().expect("layers").iter();
        let blocks = layers.filter(|layer| layer["kind"] == "block").count() as u64;
        let small = blocks * (7 * hidden / 8 + 2 * hidden + 4 * hidden);
        let ends = (51_200 / 8 + 2048) * hidden + if name == "22B" { 2 * hidden } else { 0 };
        let states = &outcome["static_bytes"];
        let states: u64 =
            ["weights", "gradients", "optimizer"].iter().map(|key| int(&states[key])).sum();
        assert_eq!(states, lesson + 18 * (small + ends), "{name}");
    }
}

#[test]
fn shares_of_tensor_parallel_are_figure_7s() {
    let table = &published()["percent_of_tensor_parallel"];
    for (technique, sp, policy) in [
        ("sp", true, "keep"),
        ("selective", false, "selective"),
        ("both", true, "selective"),
        ("full", false, "recompute"),
    ] {
        for (name, request) in
            papers(sp, policy).into_iter().filter(|paper| !table[&paper.0].is_null())
        {
            let given = float(&evaluate(&request)["lesson"]["percent_of_tensor_parallel"]);
            let expected = float(&table[&name][technique]);
            assert!(
                (given - expected).abs() <= 0.2,
                "{name} {technique}: {given} is not {expected}"
            );
        }
    }
}

#[test]
fn outside_the_layers_is_the_papers_formula() {
    for (name, request) in papers(false, "keep") {
        let workload = |key: &str| float(&request["workload"][key]);
        let (h, l) = match name.as_str() {
            "22B" => (6144.0, 48.0),
            "175B" => (12_288.0, 96.0),
            "530B" => (20_480.0, 105.0),
            _ => (25_600.0, 128.0),
        };
        let p = float(&request["training"]["pp"]);
        let ends = if p < 1.5 { 4.0 / l * (1.0 + 51_200.0 / h) } else { 0.0 };
        let expected = 2048.0 * workload("batch") * h * l / 8.0 * (p / l + ends);
        let outcome = evaluate(&request);
        same(&name, float(&outcome["lesson"]["outside_layers_bytes"]), expected);
    }
}

#[test]
fn selective_recomputation_is_the_papers_table() {
    let table = &published()["selective"];
    for (key, preset) in [("gpt3", "gpt3-175b"), ("mtnlg", "megatron-530b")] {
        let lesson = &evaluate(&json!({"workload": {"preset": preset}}))["lesson"];
        let row = &table[key];
        let score = float(&row["score_term"]);
        same(key, float(&lesson["selective_memory_saved"]), score / (34.0 + score));
        for (given, expected, digits) in [
            ("selective_memory_saved", "memory_saved", 0.005),
            ("selective_flop_overhead", "flop_overhead", 0.0005),
        ] {
            let (given, expected) = (float(&lesson[given]), float(&row[expected]));
            assert!((given - expected).abs() <= digits, "{key}: {given} is not {expected}");
        }
    }
}

/// Figure 1 of the paper on ZeRO: 7.5 billion parameters over 64 ranks, to the digits that it prints.
#[test]
fn zero_is_figure_1() {
    let file = published();
    let table = &file["zero"];
    let mixed = PerParameter { weights: 2.0, gradients: 2.0, master: 4.0, optimizer: 8.0 };
    let stages = closed::zero(float(&table["params"]), &mixed, int(&table["dp"]));
    for (stage, unit) in [(0, 1.0), (1, 0.1), (2, 0.1), (3, 0.1)] {
        let given = stages[stage].total().as_f64() / 1e9;
        let expected = float(&table["gb"][format!("stage{stage}")]);
        assert!(
            (given - expected).abs() <= unit / 2.0 + 1e-9,
            "stage {stage}: {given} is not {expected}"
        );
    }
}

/// The playbook's chart of an 8B model over 8 ranks: 2, 2 and 8 bytes of 7.5 billion parameters to the digit (no master
/// copy), in GB.
#[test]
fn zero_is_the_playbooks_chart() {
    let table = &published()["playbook_zero_gb_8B_dp8"];
    let bytes = PerParameter { weights: 2.0, gradients: 2.0, master: 0.0, optimizer: 8.0 };
    let stages = closed::zero(7.5e9, &bytes, 8);
    for (stage, states) in stages.iter().enumerate() {
        let row = &table[format!("zero{stage}")];
        for (i, given) in [states.weights, states.gradients, states.optimizer].iter().enumerate() {
            same(&format!("zero{stage} {i}"), given.as_f64() / 1e9, float(&row[i]));
        }
    }
}

/// The formulas and the simulation agree on the states of a whole model, whatever the stage.
#[test]
fn zero_states_are_simulated_alike() {
    for zero in 0..4 {
        let outcome = evaluate(&json!({
            "workload": {"preset": "llama-3-8b"}, "training": {"zero": zero, "dp": 8, "dtype": "bf16", "optimizer_bytes": 8},
        }));
        let lesson = &outcome["lesson"]["zero_states"][zero];
        for key in ["weights", "gradients", "optimizer"] {
            let (given, expected) = (int(&outcome["static_bytes"][key]), int(&lesson[key]));
            assert!(given.abs_diff(expected) <= 1, "{zero} {key}: {given} is not {expected}");
        }
    }
}

#[test]
fn activations_are_the_playbooks() {
    let table = &published()["playbook_activations_gib"];
    let sizes = |name: &str| -> Vec<u64> {
        let numbers = name.split(' ').skip(1).map(|word| word[1..].parse().expect("a number"));
        numbers.collect()
    };
    for (name, rows) in table["models"].as_object().expect("models") {
        let [layers, hidden, heads] = sizes(name)[..] else { panic!("{name}") };
        for (row, attention, policy) in [
            ("none", "eager", "keep"),
            ("selective", "eager", "selective"),
            ("full", "eager", "recompute"),
        ] {
            for (i, seq) in table["seq"].as_array().expect("lengths").iter().enumerate() {
                let outcome = evaluate(&json!({
                    "workload": {"block": "gpt", "layers": layers, "hidden": hidden, "heads": heads, "seq": seq,
                        "batch": 1, "attention": attention},
                    "policy": {"kind": policy},
                }));
                let given = gib(&outcome["lesson"]["playbook_activation_bytes"]);
                same(&format!("{name} {row} {seq}"), given, float(&rows[row][i]));
            }
        }
    }
}

/// 12·L·h²·(1 + 13/(12h) + (V + s)/(12·L·h)) (Narayanan et al. 2021, equation 2), and the final norm that it leaves out.
#[test]
fn megatrons_parameters_are_the_papers_formula() {
    for (preset, l, h) in [
        ("megatron-22b", 48_u64, 6144_u64),
        ("gpt3-175b", 96, 12_288),
        ("megatron-530b", 105, 20_480),
        ("megatron-1t", 128, 25_600),
    ] {
        let outcome = evaluate(&json!({"workload": {"preset": preset}}));
        let formula = 12 * l * h * h + 13 * l * h + (51_200 + 2048) * h;
        assert_eq!(int(&outcome["params"]["model"]), formula + 2 * h, "{preset}");
    }
}
