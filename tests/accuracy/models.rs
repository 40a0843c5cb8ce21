//! Whole steps of real models on a CPU, every storage watched (`tools/profile_model.py`, tests/fixtures), told from their numbers.

use crate::shape::{Group, figure, list, rel, single};
use serde_json::{Value, json};

fn fixture(name: &str) -> Value {
    let path = format!("{}/tests/fixtures/profile-{name}-small.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn groups() -> Vec<Value> {
    let models = [
        (
            "gpt2",
            "GPT-2 small: b 2, s 256",
            json!({"block": "gpt", "layers": 12, "hidden": 768, "heads": 12, "ffn": 3072, "vocab": 50257, "dropout": true,
                "learned_positions": 1024}),
        ),
        (
            "llama",
            "Llama-style: 8 layers, h 512, 2 of 8 heads for keys: b 2, s 256",
            json!({"block": "llama", "layers": 8, "hidden": 512, "heads": 8, "kv_heads": 2, "ffn": 1376, "vocab": 32000}),
        ),
    ];
    let sets = models.into_iter().map(|(file, name, mut workload)| {
        let measured = fixture(file);
        let more = json!({"seq": 256, "batch": 2, "attention": "eager", "implementation": "eager", "backend": "cpu"});
        workload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let request = json!({"v": 1, "workload": workload, "training": {"dtype": "fp32", "optimizer": "adamw"},
            "hardware": {"preset": "a100-80g"}, "policy": {"kind": "keep"}});
        let bytes = |english: &'static str, chinese: &'static str, measure: &str| {
            figure([english, chinese], "B", rel(0.01), json!(measure))
        };
        let states = &measured["workload"]["static_bytes"];
        let layers = list(&measured["workload"]["layers"]);
        let block = layers.iter().find(|layer| layer["kind"] == "block").expect("a block");
        let kept: u64 = list(&block["saved"]).iter().filter_map(|tensor| tensor["bytes"].as_u64()).sum();
        single(
            name,
            request,
            vec![
                (bytes("peak of the step", "一步的峰值", "/peak_bytes"), measured["measured"]["peak_bytes"].clone()),
                (
                    bytes("saved after forward", "前向后保存", "/activation_bytes"),
                    measured["measured"]["saved_bytes"].clone(),
                ),
                (bytes("kept by one block", "单块保存", "/layers/1/saved_bytes"), kept.into()),
                (bytes("weights and buffers", "权重与缓冲", "/static_bytes/weights"), states["weights"].clone()),
                (bytes("gradients", "梯度", "/static_bytes/gradients"), states["gradients"].clone()),
                (bytes("optimizer states", "优化器状态", "/static_bytes/optimizer"), states["optimizer"].clone()),
            ],
        )
    });
    let sets = sets.collect();
    vec![
        Group {
            id: "models",
            title: ["Whole steps of real models", "真实模型的整步"],
            about: [
                "One step of two transformers modules in PyTorch on a CPU, the birth and death of every storage watched, beside what their numbers alone say. Buffers (causal masks, rotary frequencies) are not parameters: the engine leaves them out.",
                "两个 transformers 模型在 CPU 上用 PyTorch 训练一步，逐块存储记录其产生与释放，与仅凭其数字所得对照。缓冲（因果掩码、旋转频率）不是参数，引擎不计。",
            ],
            evidence: "measured",
            source: "PyTorch 2.8.0, transformers 4.55.4, tools/profile_model.py",
            url: None,
            bar: Some(["SimuMax: −1.38 to −0.06 %", "SimuMax：−1.38 至 −0.06 %"]),
        }
        .of(sets),
    ]
}
