//! Parameter counts: every preset, and public configs, against the public model's own count.

use crate::shape::{Group, exact, figure, single, with};
use galley::engine::preset;
use serde_json::{Value, json};

fn count() -> Value {
    figure(["parameters", "参数"], "", exact(), json!("/params/model"))
}

pub fn groups() -> Vec<Value> {
    let models = preset::models().iter().map(|model| {
        let text = |key: &str| model[key].as_str().expect("a text");
        let request = json!({"v": 1, "workload": {"preset": text("id")}});
        let set = single(text("label"), request, vec![(count(), model["params"].clone())]);
        with(set, json!({"source": text("source")}))
    });
    let configs = configs().into_iter().map(|(name, config, params)| {
        let request = json!({"v": 1, "workload": {"kind": "huggingface", "config": config, "seq": 512, "batch": 1}});
        single(&format!("{name}, config.json"), request, vec![(count(), json!(params))])
    });
    let sets = models.chain(configs).collect();
    vec![
        Group {
            id: "parameters",
            title: ["Parameters", "参数量"],
            about: [
                "The public model's own count, to the digit; the Megatron models' follow from the paper's configurations.",
                "公开模型自身的参数量，精确到个位；Megatron 模型由论文配置推出。",
            ],
            evidence: "published",
            source: "the model's config.json and public count",
            url: Some("https://huggingface.co/models"),
            bar: None,
        }
        .of(sets),
    ]
}

/// Public configs, as their repositories have them, with the public count of parameters.
fn configs() -> Vec<(&'static str, Value, u64)> {
    let config = |text: &str| serde_json::from_str(text).expect("JSON");
    vec![
        (
            "Qwen2-0.5B",
            config(
                r#"{"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
            "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2, "vocab_size": 151936,
            "tie_word_embeddings": true}"#,
            ),
            494_032_768,
        ),
        (
            "Llama-3.2-3B",
            config(
                r#"{"model_type": "llama", "hidden_size": 3072, "intermediate_size": 8192,
            "num_attention_heads": 24, "num_hidden_layers": 28, "num_key_value_heads": 8, "head_dim": 128,
            "vocab_size": 128256, "tie_word_embeddings": true}"#,
            ),
            3_212_749_824,
        ),
        (
            "GPT-NeoX-20B",
            config(
                r#"{"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576,
            "num_attention_heads": 64, "num_hidden_layers": 44, "vocab_size": 50432, "max_position_embeddings": 2048,
            "tie_word_embeddings": false}"#,
            ),
            20_554_567_680,
        ),
        (
            "Pythia-160M",
            config(
                r#"{"model_type": "gpt_neox", "hidden_size": 768, "intermediate_size": 3072,
            "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 50304, "tie_word_embeddings": false}"#,
            ),
            162_322_944,
        ),
        (
            "BERT base, masked language model",
            config(
                r#"{"architectures": ["BertForMaskedLM"], "model_type": "bert",
            "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12,
            "type_vocab_size": 2, "max_position_embeddings": 512, "vocab_size": 30522}"#,
            ),
            109_514_298,
        ),
    ]
}
