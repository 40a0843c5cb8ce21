//! Bytes kept by one layer: layer_saved.json and loss_head.json.

use crate::shape::{Group, abs, exact, figure, float, int, list, object, set, text_of, vectors};
use serde_json::{Map, Value, json};

const PYTORCH: &str = "PyTorch 2.8.0, transformers 4.55.4";

const SIZES: [[&str; 2]; 6] = [
    ["workload.batch", "b"],
    ["workload.seq", "s"],
    ["workload.hidden", "h"],
    ["workload.heads", "a"],
    ["workload.ffn", "ffn"],
    ["workload.kv_heads", "kv"],
];

pub fn groups() -> Vec<Value> {
    vec![measured(), more(), derived(), head()]
}

/// The scenario of a measured module, whose name says how it was built.
fn module(name: &str, backend: &str) -> Value {
    let mut workload = Map::new();
    let mut put = |key: &str, value: Value| workload.insert(key.to_owned(), value);
    let block = match name {
        _ if name.starts_with("hf_llama") => "llama",
        _ if name.starts_with("hf_bert") => "bert",
        _ => "gpt",
    };
    put("block", block.into());
    put("layers", 1.into());
    put("vocab", 8.into());
    put("implementation", if name.starts_with("hf_") { "eager" } else { "fused" }.into());
    put("attention", if name.contains("_sdpa") { "flash" } else { "eager" }.into());
    let none = ["_p0_", "_p0.0_"].iter().any(|p| name.contains(p)) || block == "llama";
    put("dropout", (!none).into());
    if name.contains("_attnp0_") {
        put("attention_dropout", false.into());
    }
    if name.contains("gqa_mask") {
        put("attention_mask", true.into());
    }
    put("backend", backend.into());
    let dtype = match name {
        _ if name.contains("autocast") => "bf16-autocast",
        _ if name.ends_with("fp32") => "fp32",
        _ => "bf16",
    };
    json!({"v": 1, "workload": workload, "training": {"dtype": dtype}})
}

fn saved(within: Value) -> Vec<Value> {
    vec![figure(
        ["bytes kept by one layer", "一层保存的字节"],
        "B",
        within,
        json!("/layers/[kind=block]/saved_bytes"),
    )]
}

fn sizes(row: &Value) -> Value {
    ["b", "s", "h", "a", "ffn", "kv_heads"].iter().map(|key| row[key].clone()).collect()
}

/// Rows by module, in the order of the closed forms.
fn by_module(file: &Value) -> Vec<(&String, Vec<&Value>)> {
    let rows = list(&file["rows"]);
    let of = |name: &String| rows.iter().filter(|row| row["module"] == *name).collect::<Vec<_>>();
    let modules: Vec<_> =
        object(&file["closed_forms"]).keys().map(|name| (name, of(name))).collect();
    assert_eq!(modules.iter().map(|(_, rows)| rows.len()).sum::<usize>(), rows.len());
    modules
}

fn measured() -> Value {
    let file = vectors("layer_saved");
    let sets = by_module(&file).into_iter().map(|(name, rows)| {
        let rows = rows.iter().map(|row| json!([null, sizes(row), [row["saved_bytes"]]]));
        set(name, module(name, "cpu"), &SIZES, saved(exact()), rows.collect())
    });
    Group {
        id: "layer-cpu",
        title: ["One layer", "单层"],
        about: [
            "Bytes that autograd keeps for one layer's backward, module by module: saved-tensor hooks on a CPU, each storage counted once.",
            "自动微分为一层的反向传播保存的字节，逐模块实测：CPU 上的保存张量钩子，每块存储只计一次。",
        ],
        evidence: "measured",
        source: PYTORCH,
        url: None,
        bar: None,
    }
    .of(sets.collect())
}

/// Modules that no key describes: ReLU, a parallel residual, a norm with 1 + w, RMSNorm as PyTorch 2.8 composes it, PyTorch's own packed
/// layer.
const NO_KEY: [&str; 5] = ["opt", "gpt_neox", "gemma", "fused_llama", "torch_layer"];

/// The scenario of a module of layer_more.json, from the facts that stand there.
fn described(facts: &Value) -> Option<Value> {
    let family = text_of(&facts["family"]);
    // Its input was a leaf there, whose cast autocast caches; inside a model each projection casts it.
    let leaf = family == "bert" && facts["autocast"] == true;
    if leaf || NO_KEY.iter().any(|prefix| family.starts_with(prefix)) {
        return None;
    }
    let on = |key: &str| float(&facts[key]) > 0.0;
    let dtype = match (text_of(&facts["param_dtype"]), facts["autocast"] == true) {
        (_, true) => "bf16-autocast",
        ("bfloat16", _) => "bf16",
        _ => "fp32",
    };
    Some(json!({"v": 1,
        "workload": {
            "block": facts["block"], "layers": 1, "vocab": 8, "backend": "cpu", "implementation": facts["implementation"],
            "attention": if facts["attention"] == "sdpa" { "flash" } else { "eager" },
            "dropout": on("hidden_dropout"), "attention_dropout": on("attention_dropout"),
            "attention_mask": facts["mask"], "qk_norm": family == "qwen3", "qkv_bias": family == "qwen2",
        },
        "training": {"dtype": dtype}}))
}

fn more() -> Value {
    let file = vectors("layer_more");
    let mut columns = SIZES.to_vec();
    columns.push(["workload.head_dim", "d"]);
    let sets = object(&file["modules"]).iter().filter_map(|(name, facts)| {
        let request = described(facts)?;
        let rows = list(&file["rows"]).iter().filter(|row| row["module"] == *name).map(|row| {
            let mut sizes = sizes(row);
            sizes.as_array_mut().expect("a list").push(row["head_dim"].clone());
            json!([null, sizes, [row["saved_bytes"]]])
        });
        Some(set(name, request, &columns, saved(exact()), rows.collect()))
    });
    Group {
        id: "layer-more",
        title: ["More layers", "更多层"],
        about: [
            "The same for further modules: GPT blocks with each mixture of dropouts, and GPT-2, BERT, ViT, Llama, Mistral, Qwen2 and Qwen3 as transformers writes them. Left out, for no key describes them: OPT, GPT-NeoX, Gemma, nn.RMSNorm blocks, nn.TransformerEncoderLayer; and BERT under autocast, whose input was a leaf there, so that one cast served three layers. Casts of weights under autocast are counted apart.",
            "更多模块：各种 dropout 组合的 GPT 块，以及 transformers 写法的 GPT-2、BERT、ViT、Llama、Mistral、Qwen2 与 Qwen3。未收入（无键可描述）：OPT、GPT-NeoX、Gemma、nn.RMSNorm 块、nn.TransformerEncoderLayer，以及自动混合精度下的 BERT（其输入在测量中是叶子，三层共用一次转换）。autocast 下权重的转换另计。",
        ],
        evidence: "measured",
        source: "PyTorch 2.8.0, transformers 4.55.4, by tools/measure_layers.py",
        url: None,
        bar: None,
    }
    .of(sets.collect())
}

/// The closed form of a module for CUDA at the sizes of a row; none where none was derived.
fn cuda(file: &Value, name: &str, row: &Value) -> Option<u64> {
    let size = |key: &str| int(&row[key]);
    let (b, s, h, a) = (size("b"), size("s"), size("h"), size("a"));
    let term = |key: &str| match key {
        "bsh" => b * s * h,
        "bsf" => b * s * size("ffn"),
        "bass" => b * a * s * s,
        "bskvd" => b * s * size("kv_heads") * (h / a),
        "bs" => b * s,
        "bas" => b * a * s,
        "bas32" => b * a * s.div_ceil(32) * 32,
        "one" => 1,
        other => panic!("{other} is no term of the closed forms"),
    };
    let form = file["closed_forms"][name]["cuda_derived_not_measured"].as_object()?;
    let bytes: f64 = form.iter().map(|(key, factor)| float(factor) * as_float(term(key))).sum();
    assert!(bytes.fract() == 0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and positive"
    )]
    Some(bytes as u64)
}

#[expect(clippy::cast_precision_loss, reason = "sizes below 2^53")]
fn as_float(n: u64) -> f64 {
    n as f64
}

fn derived() -> Value {
    let file = vectors("layer_saved");
    let sets = by_module(&file).into_iter().filter_map(|(name, rows)| {
        let form = |row: &&Value| Some(json!([null, sizes(row), [cuda(&file, name, row)?]]));
        let rows: Vec<Value> = rows.iter().filter_map(form).collect();
        (!rows.is_empty()).then(|| set(name, module(name, "cuda"), &SIZES, saved(exact()), rows))
    });
    Group {
        id: "layer-cuda",
        title: ["One layer on CUDA", "CUDA 上的单层"],
        about: [
            "The same modules with the coefficients that CUDA kernels give: derived from their sources, not measured.",
            "同样的模块，系数取自 CUDA 内核：由源码推导，未经实测。",
        ],
        evidence: "derived",
        source: "PyTorch 2.8.0, CUDA kernels",
        url: None,
        bar: None,
    }
    .of(sets.collect())
}

/// What the head keeps. The chunked variant has no list of saved tensors: there it is its input and what lives after forward
/// without the loss itself (4 bytes), which is how the other variants' two figures differ.
fn head() -> Value {
    let file = vectors("loss_head");
    let mut sets: Vec<(String, Vec<Value>)> = Vec::new();
    for row in list(&file["rows"]) {
        let variant = text_of(&row["variant"]);
        let short = if row["param_dtype"] == "float32" { "fp32" } else { "bf16" };
        let name = format!("{variant} {short}");
        let [b, s, h, v] = ["b", "s", "h", "V"].map(|key| int(&row[key]));
        let width = if short == "fp32" { 4 } else { 2 };
        let bytes = row["saved_bytes"]
            .as_u64()
            .unwrap_or_else(|| b * s * h * width + int(&row["fwd_end_live_bytes"]) - 4);
        let values = json!([null, [b, s, h, v], [bytes]]);
        match sets.iter_mut().find(|(there, _)| *there == name) {
            Some((_, rows)) => rows.push(values),
            None => sets.push((name, vec![values])),
        }
    }
    let columns = [
        ["workload.batch", "b"],
        ["workload.seq", "s"],
        ["workload.hidden", "h"],
        ["workload.vocab", "V"],
    ];
    let set_of = |(name, rows): (String, Vec<Value>)| {
        let (variant, dtype) = name.split_once(' ').expect("variant and dtype");
        let mut workload = json!({"block": "gpt", "layers": 1, "heads": 4, "dropout": false, "backend": "cpu",
            "learned_positions": 0});
        match variant {
            "norm_head_ce" => workload["loss_upcast"] = false.into(),
            "norm_head_ce_float_upcast" => workload["loss_upcast"] = true.into(),
            "hf_llama_style_shift_float" => workload["implementation"] = "eager".into(),
            "head_ce_chunk4_checkpointed" => workload["loss_chunks"] = 4.into(),
            other => panic!("{other} is no variant"),
        }
        let request = json!({"v": 1, "workload": workload, "training": {"dtype": dtype}});
        // What chunks keep is not in the source's list: it follows from what lives, but for scalars.
        let within = if variant.contains("chunk") { abs(16.0) } else { exact() };
        let figures = vec![figure(
            ["bytes kept by norm, head and loss", "归一化、输出头与损失保存的字节"],
            "B",
            within,
            json!("/layers/[kind=head]/saved_bytes"),
        )];
        set(&name, request, &columns, figures, rows)
    };
    let sets = sets.into_iter().map(set_of).collect();
    Group {
        id: "head",
        title: ["Head and loss", "输出头与损失"],
        about: [
            "Bytes kept by the final norm, the LM head and cross-entropy, on a CPU; whole, and in four checkpointed chunks.",
            "最终归一化、语言模型头与交叉熵保存的字节，CPU 实测；整体计算与分四块重算。",
        ],
        evidence: "measured",
        source: PYTORCH,
        url: None,
        bar: None,
    }
    .of(sets)
}
