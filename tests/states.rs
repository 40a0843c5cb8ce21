//! Model states and where they are: bytes per parameter by policy, adapters and quantized bases, what tensor and pipeline
//! parallelism put on a device, and what the drive takes.

use galley::engine::door;
use serde_json::{Value, json};

fn evaluate(request: &Value) -> Value {
    door::evaluate(&request.to_string()).unwrap_or_else(|error| panic!("{error}: {request}"))
}

fn refused(request: &Value) -> (String, String) {
    let error = door::evaluate(&request.to_string()).expect_err("it is refused");
    (error.path().to_owned(), error.to_string())
}

fn int(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A Llama-2-7B under that training.
fn llama(training: &Value) -> Value {
    evaluate(&json!({"workload": {"preset": "llama-2-7b"}, "training": training}))
}

const LLAMA_2_7B: u64 = 6_738_415_616;
const LLAMA_2_7B_AS_FLOAT: f64 = 6_738_415_616.0;

/// Weights, gradients, master copy and moments, each policy beside the arithmetic that it stands for.
#[test]
fn bytes_per_parameter_follow_policy_and_optimizer() {
    let scales = 2.0 * 4.0 / 256.0;
    for (training, expected) in [
        (json!({}), [2.0, 2.0, 4.0, 8.0]),
        (json!({"grad_dtype": "fp32"}), [2.0, 4.0, 4.0, 8.0]),
        (json!({"dtype": "fp16-mixed"}), [2.0, 2.0, 4.0, 8.0]),
        (json!({"dtype": "fp32"}), [4.0, 4.0, 0.0, 8.0]),
        (json!({"dtype": "bf16-autocast"}), [4.0, 4.0, 0.0, 8.0]),
        // torch.optim's states take the parameter's dtype.
        (json!({"dtype": "bf16"}), [2.0, 2.0, 0.0, 4.0]),
        (json!({"dtype": "bf16", "optimizer": "sgd-momentum"}), [2.0, 2.0, 0.0, 2.0]),
        (json!({"dtype": "bf16", "optimizer": "sgd"}), [2.0, 2.0, 0.0, 0.0]),
        (json!({"optimizer": "sgd-momentum"}), [2.0, 2.0, 4.0, 4.0]),
        (json!({"optimizer": "adamw-8bit"}), [2.0, 2.0, 4.0, 2.0 + scales]),
        (json!({"dtype": "bf16", "optimizer": "adamw-8bit"}), [2.0, 2.0, 0.0, 2.0 + scales]),
        // By hand, one entry or all; null is by policy.
        (json!({"gradient_bytes": 4, "optimizer_bytes": null}), [2.0, 4.0, 4.0, 8.0]),
        (
            json!({"weight_bytes": 1, "gradient_bytes": 0.5, "master_bytes": 2, "optimizer_bytes": 3}),
            [1.0, 0.5, 2.0, 3.0],
        ),
    ] {
        let outcome = llama(&training);
        let table = &outcome["state_bytes_per_parameter"];
        let given = ["weights", "gradients", "master", "optimizer"].map(|key| table[key].clone());
        assert_eq!(given, expected.map(|width| json!(width)), "{training}");
        let states = &outcome["static_bytes"];
        for (key, width) in [
            ("weights", expected[0]),
            ("gradients", expected[1]),
            ("optimizer", expected[2] + expected[3]),
        ] {
            let off = float(&states[key]) - LLAMA_2_7B_AS_FLOAT * width;
            assert!(off.abs() <= 0.5, "{training} {key}: {off} bytes off");
        }
    }
}

/// LoRA trains Σ (in + out) · rank parameters, counted among the model's; the base is kept in 16, 8 or 4 bit, with its scales.
#[test]
fn lora_adds_adapters_and_keeps_its_base_small() {
    let (h, f, layers, vocab) = (4096_u64, 11_008_u64, 32_u64, 32_000_u64);
    let linear = layers * (4 * h * h + 3 * h * f);
    let rows = layers * (4 * h + 2 * f + h);
    let other = 2 * vocab * h + layers * 2 * h + h;
    let adapters = 16 * layers * (4 * (h + h) + 3 * (h + f));
    assert_eq!(linear + other, LLAMA_2_7B);
    for (frozen, base) in [
        ("bf16", 2 * linear),
        ("int8", linear + 4 * rows),
        ("nf4", linear / 2 + linear / 64 * 4),
        ("nf4-double", linear / 2 + linear / 64 + linear / (64 * 256) * 4),
    ] {
        let outcome = llama(&json!({"lora_rank": 16, "frozen_dtype": frozen}));
        assert_eq!(int(&outcome["params"]["model"]), LLAMA_2_7B + adapters, "{frozen}");
        assert_eq!(int(&outcome["params"]["device"]), LLAMA_2_7B + adapters, "{frozen}");
        let states = &outcome["static_bytes"];
        assert_eq!(int(&states["weights"]), base + 2 * other + 2 * adapters, "{frozen}");
        assert_eq!(int(&states["gradients"]), 2 * adapters);
        assert_eq!(int(&states["optimizer"]), 12 * adapters);
    }
}

/// Biases of a Llama-like config: attention_bias on all four projections, mlp_bias on all three; Qwen2's on three alone.
#[test]
fn biases_of_a_config_are_counted() {
    let (h, kv, f, layers) = (64_u64, 32_u64, 160_u64, 3_u64);
    let params = |family: &str, more: Value| {
        let mut config = json!({"model_type": family, "hidden_size": h, "num_attention_heads": 4, "num_key_value_heads": 2,
            "intermediate_size": f, "num_hidden_layers": layers, "vocab_size": 100, "tie_word_embeddings": true});
        for (key, value) in more.as_object().expect("keys") {
            config[key] = value.clone();
        }
        int(
            &evaluate(&json!({"workload": {"kind": "huggingface", "config": config, "seq": 8}}))["params"]
                ["model"],
        )
    };
    let none = params("llama", json!({}));
    assert_eq!(none, 100 * h + layers * (2 * h * h + 2 * h * kv + 3 * h * f + 2 * h) + h);
    let attention = layers * (h + 2 * kv + h);
    assert_eq!(params("llama", json!({"attention_bias": true})), none + attention);
    assert_eq!(params("llama", json!({"mlp_bias": true})), none + layers * (2 * f + h));
    let both = json!({"attention_bias": true, "mlp_bias": true});
    assert_eq!(params("llama", both), none + attention + layers * (2 * f + h));
    assert_eq!(params("qwen2", json!({})), none + layers * (h + 2 * kv));
    assert_eq!(params("mistral", json!({})), none);
}

/// Ranks share heads out; key heads that are fewer than ranks are copied; what cannot be shared out is refused.
#[test]
fn tensor_parallelism_shares_heads_out() {
    let device = |tp: u64| {
        let outcome =
            evaluate(&json!({"workload": {"preset": "llama-3-8b"}, "training": {"tp": tp}}));
        int(&outcome["params"]["device"])
    };
    // Of 8 key heads a rank of 16 has one: twice its share of keys and values.
    let (h, f, vocab, layers) = (4096_u64, 14_336_u64, 128_256_u64, 32_u64);
    let rank = |tp: u64, kv: u64| {
        layers * (2 * h * h / tp + 2 * h * 128 * kv + 3 * h * f / tp + 2 * h)
            + 2 * vocab * h / tp
            + h
    };
    assert_eq!(
        [1, 2, 8, 16, 32].map(device),
        [rank(1, 8), rank(2, 4), rank(8, 1), rank(16, 1), rank(32, 1)]
    );
    let (path, words) =
        refused(&json!({"workload": {"preset": "llama-3-8b"}, "training": {"tp": 3}}));
    assert!(path == "training.tp" && words.contains("a divisor of heads (32)"), "{words}");
    let uneven = json!({"heads": 12, "kv_heads": 6, "hidden": 768, "layers": 2});
    let (path, words) = refused(&json!({"workload": uneven, "training": {"tp": 4}}));
    assert!(path == "training.tp" && words.contains("divides kv_heads (6)"), "{words}");
}

/// Embedding on the first stage, head on the last, each with its copy of tied weights; between them the received input.
#[test]
fn a_stage_has_its_own_layers() {
    let names = |stage: u64, chunks: u64| -> Vec<String> {
        let outcome = evaluate(&json!({
            "workload": {"preset": "gpt2", "layers": 5}, "training": {"pp": 2, "stage": stage, "virtual_stages": chunks},
        }));
        let layers = outcome["layers"].as_array().expect("layers");
        layers.iter().map(|layer| layer["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(1, 1), ["embedding", "block 1", "block 2", "block 3"]);
    assert_eq!(names(2, 1), ["received input", "block 4", "block 5", "head and loss"]);
    assert_eq!(names(1, 2), ["embedding", "block 1", "block 2", "block 4"]);
    let outcome = evaluate(&json!({
        "workload": {"preset": "gpt2", "layers": 3}, "training": {"pp": 9, "stage": 9, "virtual_stages": 5},
    }));
    let clamped = outcome["clamped"].as_array().expect("a list");
    let paths: Vec<&str> =
        clamped.iter().map(|one| one["path"].as_str().expect("a path")).collect();
    assert_eq!(paths, ["training.pp", "training.stage", "training.virtual_stages"]);
}

/// A later stage receives its input and keeps it: under full recomputation each micro-batch in flight holds one.
#[test]
fn a_received_input_is_held() {
    let resident = |stage: u64| {
        int(&evaluate(&json!({
            "workload": {"preset": "gpt2", "accumulation": 8}, "training": {"pp": 4, "stage": stage},
            "policy": {"kind": "recompute"},
        }))["resident_after_forward_bytes"])
    };
    // Three blocks: three boundaries, none of which is another stage's.
    assert_eq!(resident(2), 3 * 1024 * 768 * 2);
    assert_eq!(resident(3), resident(2));
}

/// Interleaving divides the bubble and adds to what is held; idle slots are a share of the step.
#[test]
fn interleaving_trades_the_bubble_for_memory() {
    let ask = |chunks: u64| {
        evaluate(&json!({
            "workload": {"preset": "gpt3-175b", "accumulation": 64},
            "training": {"tp": 8, "pp": 8, "virtual_stages": chunks}, "hardware": {"memory_gib": 10_000},
        }))
    };
    let [plain, three] = [1, 3].map(ask);
    let ratio = float(&plain["bubble_s"]) / float(&three["bubble_s"]);
    assert!((ratio - 3.0).abs() < 1e-6, "{ratio}");
    let held = |outcome: &Value| float(&outcome["ledger_at_peak"]["activations"]);
    let more = held(&three) / held(&plain);
    assert!((more - (1.0 + 7.0 / 24.0)).abs() < 0.01, "{more}");
}

/// Weights come from the host layer by layer only where ZeRO 3 puts them together so.
#[test]
fn weights_leave_the_card_with_zero_3_alone() {
    let (path, words) = refused(&json!({"training": {"zero": 2, "offload_states": "all"}}));
    assert!(path == "training.offload_states" && words.contains("zero 3"), "{words}");
    let outcome = llama(&json!({"zero": 3, "offload_states": "all"}));
    assert_eq!(int(&outcome["host_states_bytes"]), 16 * LLAMA_2_7B);
    assert_eq!(int(&outcome["static_bytes"]["weights"]), 0);
    // 64 GiB of host memory are too little for 16 bytes of each of 6.7 billion parameters.
    assert_eq!(outcome["out_of_memory"]["operation"], "offloaded tensors in host memory and SSD");
    let missing = 16 * LLAMA_2_7B - (64 << 30);
    assert_eq!(int(&outcome["out_of_memory"]["missing_bytes"]), missing);
}

/// The host's optimizer step and its copies take time: gradients out beside backward, weights back behind the step.
#[test]
fn offloaded_states_take_time() {
    let ask = |offload: &str, gbps: f64| {
        evaluate(&json!({
            "workload": {"preset": "llama-3.2-1b", "seq": 128}, "training": {"zero": 3, "offload_states": offload},
            "hardware": {"preset": "h100-80g", "host_gib": 1000, "d2h_gbps": gbps, "h2d_gbps": gbps, "host_gbps": 100, "copy_overhead_us": 0},
        }))
    };
    let params = 1_235_814_400.0;
    let optimizer = float(&ask("optimizer", 50.0)["optimizer_s"]);
    // Gradients read, master and moments read and written, weights written: 2 + 24 + 2 bytes; then 2 bytes back.
    assert!((optimizer - params * 28.0 / 100e9 - params * 2.0 / 50e9).abs() < 1e-6, "{optimizer}");
    let micro = |outcome: &Value| float(&outcome["micro_s"]);
    let [none, part, all] = ["none", "optimizer", "all"].map(|offload| micro(&ask(offload, 5.0)));
    assert!(none < part && part < all, "{none} {part} {all}");
    assert!(micro(&ask("all", 50.0)) < all);
}

/// Written once per micro-batch; the drive's life is its rated volume over that.
#[test]
fn the_drives_life_is_its_endurance_over_what_is_written() {
    let ask = |medium: &str| {
        evaluate(&json!({
            "workload": {"preset": "gpt2", "batch": 8, "accumulation": 3}, "hardware": {"ssd_tbw": 300},
            "policy": {"kind": "offload", "medium": medium},
        }))
    };
    let (host, drive) = (ask("host"), ask("ssd"));
    assert_eq!((int(&host["ssd_written_bytes"]), &host["ssd_life_days"]), (0, &Value::Null));
    assert_eq!(drive["ssd_written_bytes"], drive["bytes_out"]);
    let days = 300e12 / float(&drive["ssd_written_bytes"]) * float(&drive["step_s"]) / 86_400.0;
    assert!((float(&drive["ssd_life_days"]) / days - 1.0).abs() < 1e-12);
}

/// Copies by their size, and page-locked buffers: what each adds to the time on the link.
#[test]
fn links_have_their_price() {
    let ask = |hardware: Value| {
        let layer = json!({"forward_s": 1, "backward_s": 1, "saved": [{"bytes": 50_000_000}]});
        let mut card = json!({"d2h_gbps": 10, "h2d_gbps": 10, "copy_overhead_us": 0});
        for (key, value) in hardware.as_object().expect("keys") {
            card[key] = value.clone();
        }
        evaluate(&json!({
            "workload": {"kind": "profile", "layers": vec![layer; 4]}, "hardware": card, "policy": {"kind": "offload"},
        }))
    };
    let near = |outcome: &Value, key: &str, expected: f64| {
        let given = float(&outcome[key]);
        assert!((given - expected).abs() < 1e-8, "{key}: {given} is not {expected}");
    };
    near(&ask(json!({})), "d2h_s", 4.0 * 0.005);
    near(&ask(json!({"link_efficiency": "by-size"})), "d2h_s", 4.0 * 0.005 / 0.9);
    let locked = ask(json!({"pooled_buffers": false}));
    near(&locked, "d2h_s", 4.0 * (0.005 + 0.003));
    near(&locked, "h2d_s", 4.0 * 0.005);
    // Each copy's bytes once out and once back, on a card of 1 TB/s.
    let slow = ask(json!({"copies_use_hbm": true, "hbm_gbps": 1000}));
    let added = float(&slow["forward_s"]) + float(&slow["backward_s"]) - 8.0;
    assert!((added - 8.0 * 0.000_05).abs() < 1e-8, "{added}");
}
