//! Sizes by formula: a block's saved bytes against the closed forms of Korthikanti et al. 2022 (vectors/published.json),
//! and parameters against the public counts.

use galley::engine::{door, preset};
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

/// A GPT block of the paper: s tokens, b sequences, width h, a heads, t-way tensor parallel.
#[derive(Clone, Copy)]
struct Gpt {
    s: u64,
    b: u64,
    h: u64,
    a: u64,
    t: u64,
}

/// The paper's variants: the workload's and training's keys beside the sizes, and the policy.
const VARIANTS: [(&str, bool, &str); 6] = [
    ("eager", false, "keep"),
    ("eager", true, "keep"),
    ("eager", false, "selective"),
    ("eager", true, "selective"),
    ("flash", false, "keep"),
    ("flash", true, "keep"),
];

/// Saved bytes of one block by the engine: what its policy keeps.
fn kept(gpt: Gpt, (attention, sp, policy): (&str, bool, &str)) -> u64 {
    let Gpt { s, b, h, a, t } = gpt;
    let outcome = evaluate(&json!({
        "workload": {"block": "gpt", "layers": 1, "hidden": h, "heads": a, "seq": s, "batch": b, "vocab": 8,
            "attention": attention, "dropout": true},
        "training": {"tp": t, "sp": sp}, "policy": {"kind": policy},
    }));
    let tensors = outcome["layers"][1]["saved"].as_array().expect("tensors");
    tensors.iter().filter(|row| row["action"] == "keep").map(|row| int(&row["bytes"])).sum()
}

/// The same by the closed form, in exact arithmetic: s·b·h·(10 + 24/t + 5as/(ht)), all of it over t with sequence
/// parallelism, without the last term if it is recomputed or never there. The paper leaves out the norms' statistics
/// (16 bytes a token) and flash's log-sum-exp (4 a token and head) and random state.
fn closed_form(gpt: Gpt, (attention, sp, policy): (&str, bool, &str)) -> u64 {
    let Gpt { s, b, h, a, t } = gpt;
    let outer = 10 * s * b * h + 16 * s * b;
    let scores = if attention == "eager" && policy == "keep" { 5 * a * s * s * b } else { 0 };
    let statistics = if attention == "flash" { 4 * a * s * b } else { 0 };
    let random_state = if attention == "flash" { 16 } else { 0 };
    let inner = 24 * s * b * h + scores + statistics;
    assert!(outer % t == 0 && inner % t == 0, "t divides every term");
    (if sp { outer / t } else { outer }) + inner / t + random_state
}

#[test]
fn a_gpt_block_saves_what_the_closed_form_says() {
    let small = [(128, 1, 64, 4), (256, 3, 128, 8), (1024, 2, 768, 12), (2048, 4, 512, 8)];
    for (s, b, h, a) in small {
        for t in [1, 2, 4] {
            for variant in VARIANTS {
                let gpt = Gpt { s, b, h, a, t };
                let what = format!("s {s} b {b} h {h} a {a} t {t} {variant:?}");
                assert_eq!(kept(gpt, variant), closed_form(gpt, variant), "{what}");
            }
        }
    }
}

#[test]
fn the_papers_four_models_save_what_the_closed_form_says() {
    for config in published()["configs"].as_array().expect("configs") {
        let size = |key: &str| int(&config[key]);
        let gpt = Gpt {
            s: 2048,
            b: size("micro_batch"),
            h: size("hidden"),
            a: size("heads"),
            t: size("tp"),
        };
        for variant in VARIANTS {
            let what = format!("{} {variant:?}", config["name"]);
            assert_eq!(kept(gpt, variant), closed_form(gpt, variant), "{what}");
        }
    }
}

/// A recomputed block keeps its input alone: 2·s·b·h.
#[test]
fn full_recomputation_keeps_the_input() {
    let outcome = evaluate(
        &json!({"workload": {"preset": "megatron-22b", "batch": 4}, "policy": {"kind": "recompute"}}),
    );
    assert_eq!(int(&outcome["layers"][1]["boundary_bytes"]), 2 * 2048 * 4 * 6144);
    let kept: Vec<&Value> =
        outcome["layers"][1]["saved"].as_array().expect("tensors").iter().collect();
    let input = |row: &&&Value| row["action"] == "keep";
    assert_eq!(kept.iter().filter(input).count(), 1);
}

/// Figure 7 of the paper: share of the tensor-parallel bytes that each technique leaves, to the stated 0.2 points.
#[test]
fn shares_of_tensor_parallel_are_the_papers() {
    let file = published();
    for (name, shares) in file["percent_of_tensor_parallel"].as_object().expect("shares") {
        let configs = file["configs"].as_array().expect("configs");
        let Some(config) = configs.iter().find(|config| config["name"] == *name) else { continue };
        let size = |key: &str| int(&config[key]);
        let gpt = Gpt {
            s: 2048,
            b: size("micro_batch"),
            h: size("hidden"),
            a: size("heads"),
            t: size("tp"),
        };
        let of = |sp, policy| kept(gpt, ("eager", sp, policy));
        let percent = |bytes: u64| as_float(bytes) / as_float(of(false, "keep")) * 100.0;
        for (technique, given) in [
            ("sp", percent(of(true, "keep"))),
            ("selective", percent(of(false, "selective"))),
            ("both", percent(of(true, "selective"))),
            ("full", percent(2 * gpt.s * gpt.b * gpt.h)),
        ] {
            let expected = float(&shares[technique]);
            assert!(
                (given - expected).abs() <= 0.2,
                "{name} {technique}: {given} is not {expected}"
            );
        }
    }
}

/// Activations that a 22B model's one stage holds, in GiB, the embedding and head aside, which the figure leaves out.
#[test]
fn first_stage_activations_of_the_22b_model() {
    let file = published();
    for (key, sp, policy) in [("none", false, "keep"), ("sp_selective", true, "selective")] {
        let gpt = Gpt { s: 2048, b: 4, h: 6144, a: 64, t: 8 };
        let statistics = if sp { 16 * gpt.s * gpt.b / 8 } else { 16 * gpt.s * gpt.b };
        let bytes = 48 * (kept(gpt, ("eager", sp, policy)) - statistics);
        let gib = as_float(bytes) / 1_073_741_824.0;
        assert!(
            (gib - float(&file["first_stage_activations_gib"]["22B"][key])).abs() < 1e-9,
            "{key}: {gib}"
        );
    }
}

/// The table of the paper on `ZeRO`: 7.5 billion parameters over 64 ranks, to the digits that it prints.
#[test]
fn zero_stages_are_the_papers() {
    let file = published();
    let table = &file["zero"];
    for (stage, digits) in [(0_u64, 0), (1, 1), (2, 1), (3, 1)] {
        let outcome = evaluate(&json!({
            "workload": {"preset": "llama-2-7b"}, "training": {"zero": stage, "dp": table["dp"]},
        }));
        let states = &outcome["static_bytes"];
        let bytes: u64 =
            ["weights", "gradients", "optimizer"].iter().map(|key| int(&states[key])).sum();
        let gb =
            as_float(bytes) / 1e9 * float(&table["params"]) / float(&outcome["params"]["model"]);
        let unit = 10_f64.powi(-digits);
        let expected = float(&table["gb"][format!("stage{stage}")]);
        assert!(
            (gb - expected).abs() <= unit / 2.0 + 1e-9,
            "stage {stage}: {gb} is not {expected}"
        );
    }
}

#[test]
fn every_presets_parameters_are_the_public_count() {
    let mut seen = 0;
    for model in preset::models() {
        let outcome = evaluate(&json!({"workload": {"preset": model["id"]}}));
        assert_eq!(outcome["params"]["model"], model["params"], "{}", model["id"]);
        seen += 1;
    }
    assert!(seen >= 15, "{seen} presets");
}

/// Every preset runs on every card, whatever it comes to: nothing in either table is refused or clamped.
#[test]
fn every_preset_runs_on_every_card() {
    for model in preset::models() {
        for card in preset::cards() {
            let outcome = evaluate(&json!({
                "workload": {"preset": model["id"]}, "hardware": {"preset": card["id"]},
            }));
            let notes = (&outcome["ignored"], &outcome["clamped"]);
            assert_eq!(notes, (&json!([]), &json!([])), "{} on {}", model["id"], card["id"]);
        }
    }
}

/// Public configs, as their repositories have them, with the public count of parameters.
fn configs() -> Vec<(&'static str, Value, u64)> {
    vec![
        (
            "Llama-2-7B",
            json!({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
                "intermediate_size": 11008, "num_attention_heads": 32, "num_hidden_layers": 32,
                "num_key_value_heads": 32, "vocab_size": 32000, "tie_word_embeddings": false,
                "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "torch_dtype": "float16"}),
            6_738_415_616,
        ),
        (
            "Llama-3-70B",
            json!({"model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672,
                "num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": 8,
                "vocab_size": 128_256}),
            70_553_706_496,
        ),
        (
            "Mistral-7B",
            json!({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
                "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
                "sliding_window": 4096, "vocab_size": 32000}),
            7_241_732_096,
        ),
        (
            "Qwen2-0.5B",
            json!({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
                "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2,
                "vocab_size": 151_936, "tie_word_embeddings": true}),
            494_032_768,
        ),
        (
            "Qwen3-0.6B",
            json!({"model_type": "qwen3", "hidden_size": 1024, "head_dim": 128, "intermediate_size": 3072,
                "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 8,
                "vocab_size": 151_936, "tie_word_embeddings": true}),
            596_049_920,
        ),
        (
            "GPT-2",
            json!({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
                "n_ctx": 1024, "vocab_size": 50257, "resid_pdrop": 0.1}),
            124_439_808,
        ),
        (
            "GPT-NeoX-20B",
            json!({"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576,
                "num_attention_heads": 64, "num_hidden_layers": 44, "vocab_size": 50432,
                "max_position_embeddings": 2048, "tie_word_embeddings": false}),
            20_554_567_680,
        ),
        (
            "Pythia-160M",
            json!({"model_type": "gpt_neox", "hidden_size": 768, "intermediate_size": 3072,
                "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 50304,
                "tie_word_embeddings": false}),
            162_322_944,
        ),
        (
            "BERT base, masked language model",
            json!({"architectures": ["BertForMaskedLM"], "model_type": "bert", "hidden_size": 768,
                "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12,
                "type_vocab_size": 2, "max_position_embeddings": 512, "vocab_size": 30522}),
            109_514_298,
        ),
    ]
}

#[test]
fn public_configs_have_their_public_counts() {
    for (name, config, params) in configs() {
        let request =
            json!({"workload": {"kind": "huggingface", "config": config, "seq": 512, "batch": 2}});
        assert_eq!(int(&evaluate(&request)["params"]["model"]), params, "{name}");
    }
}

/// A family that is not modelled is refused by the key that names it, with the families that are.
#[test]
fn unknown_families_are_refused() {
    for family in ["gemma2", "mixtral", "t5", "phi3", "mamba", "deepseek_v3", "", "LLAMA"] {
        let request =
            json!({"workload": {"kind": "huggingface", "config": {"model_type": family}}});
        let error = door::evaluate(&request.to_string()).expect_err(family);
        assert_eq!(error.path(), "workload.config.model_type");
        let words = error.to_string();
        assert!(
            words.contains(&format!("{family:?}")) && words.contains("llama, mistral"),
            "{words}"
        );
    }
    for (key, config) in [
        ("model_type", json!({})),
        ("model_type", json!({"model_type": 7})),
        ("num_local_experts", json!({"model_type": "llama", "num_local_experts": 8})),
        ("hidden_size", json!({"model_type": "llama", "hidden_size": "wide"})),
        ("num_hidden_layers", json!({"model_type": "llama", "num_hidden_layers": 0})),
        ("architectures", json!({"architectures": ["T5ForConditionalGeneration"]})),
        ("architectures", json!({"architectures": ["Gemma2ForCausalLM"]})),
        ("architectures", json!({"architectures": ["MixtralForCausalLM"]})),
    ] {
        let request = json!({"workload": {"kind": "huggingface", "config": config}});
        let error = door::evaluate(&request.to_string()).expect_err(key);
        assert_eq!(error.path(), format!("workload.config.{key}"), "{error}");
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes below 2^53")]
fn as_float(n: u64) -> f64 {
    n as f64
}

/// Frozen weights have no gradient, so LoRA's backward lacks one of the two matrix multiplications: between one forward and
/// two, and nearer to one.
#[test]
fn backward_of_frozen_weights_is_about_one_forward() {
    let ratio = |training: Value| {
        let outcome =
            evaluate(&json!({"workload": {"preset": "llama-2-7b"}, "training": training}));
        float(&outcome["backward_s"]) / float(&outcome["forward_s"])
    };
    assert!((ratio(json!({})) - 2.0).abs() < 1e-6);
    let lora = ratio(json!({"lora_rank": 16}));
    assert!((1.0..1.2).contains(&lora), "{lora}");
}
