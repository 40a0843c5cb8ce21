//! What a layer and the head keep for backward, to the byte: measured on PyTorch (vectors/layer_saved.json, layer_more.json,
//! loss_head.json) and, for CUDA, the closed forms that were derived from it.

use galley::engine::chain::Storage;
use galley::engine::door;
use galley::engine::scenario::Scenario;
use serde_json::{Map, Value, json};

fn vectors(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).expect("JSON")
}

fn evaluate(request: &Value) -> Value {
    let outcome =
        door::evaluate(&request.to_string()).unwrap_or_else(|error| panic!("{error}: {request}"));
    assert_eq!(outcome["ignored"], json!([]), "{request}");
    assert_eq!(outcome["clamped"], json!([]), "{request}");
    outcome
}

fn int(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

/// The layer of `kind`.
fn layer<'a>(outcome: &'a Value, kind: &str) -> &'a Value {
    let layers = outcome["layers"].as_array().expect("layers");
    layers.iter().find(|layer| layer["kind"] == kind).expect("a layer of that kind")
}

/// The keys of a module, by its name in layer_saved.json: what its authors call `gpt` is plain PyTorch, `hf` the transformers
/// library's code.
fn keys_of(module: &str) -> Map<String, Value> {
    let has = |part: &str| module.contains(part);
    let block =
        ["gpt", "bert", "llama", "vit"].into_iter().find(|block| has(block)).expect("a block");
    let dropout = !has("llama") && !has("p0_") && !has("p0.0");
    let keys = json!({
        "block": block, "layers": 1, "vocab": 8, "backend": "cpu",
        "implementation": if has("hf_") { "eager" } else { "fused" },
        "attention": if has("sdpa") { "flash" } else { "eager" },
        "dropout": dropout || has("attnp0"), "attention_dropout": dropout && !has("attnp0_"),
        "attention_mask": has("_mask"),
    });
    let Value::Object(keys) = keys else { unreachable!("an object") };
    keys
}

fn dtype_of(module: &str) -> &'static str {
    let end = |part: &str| module.ends_with(part);
    if end("fp32") {
        "fp32"
    } else if end("autocast") || end("autocast_bf16") {
        "bf16-autocast"
    } else {
        "bf16"
    }
}

/// A row's sizes beside its module's keys.
fn request(mut keys: Map<String, Value>, dtype: &str, row: &Value) -> Value {
    for (key, from) in [
        ("seq", "s"),
        ("batch", "b"),
        ("hidden", "h"),
        ("heads", "a"),
        ("ffn", "ffn"),
        ("kv_heads", "kv_heads"),
        ("head_dim", "head_dim"),
    ] {
        if row[from].is_u64() {
            keys.insert(key.to_owned(), row[from].clone());
        }
    }
    json!({"workload": keys, "training": {"dtype": dtype}, "hardware": {"memory_gib": 1000}})
}

#[test]
fn every_measured_layer_keeps_what_was_measured() {
    let file = vectors("layer_saved");
    let rows = file["rows"].as_array().expect("rows");
    let mut wrong = Vec::new();
    for row in rows {
        let module = row["module"].as_str().expect("a module");
        let outcome = evaluate(&request(keys_of(module), dtype_of(module), row));
        let block = layer(&outcome, "block");
        if block["saved_bytes"] != row["saved_bytes"] {
            wrong.push(format!("{row}: {}", block["saved_bytes"]));
        }
        let tensors = block["saved"].as_array().expect("tensors");
        let input = tensors.iter().any(|tensor| tensor["name"] == "input");
        assert_eq!(row["layer_input_itself_saved"], input, "{row}");
    }
    assert!(rows.len() == 203 && wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// More modules of the transformers library, and plain blocks with every mixture of dropouts. Modules that no key
/// describes are named.
#[test]
fn more_modules_keep_what_was_measured() {
    // ReLU, a parallel residual, a norm with 1 + w, RMSNorm as PyTorch 2.8 composes it, PyTorch's own packed layer.
    const NO_KEY: [&str; 5] = ["opt", "gpt_neox", "gemma", "fused_llama", "torch_layer"];
    let file = vectors("layer_more");
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for row in file["rows"].as_array().expect("rows") {
        let module = row["module"].as_str().expect("a module");
        let facts = &file["modules"][module];
        let family = facts["family"].as_str().expect("a family");
        // Its input was a leaf there, whose cast autocast caches; inside a model each projection casts it.
        let leaf = family == "bert" && facts["autocast"] == true;
        if NO_KEY.iter().any(|prefix| family.starts_with(prefix)) || leaf {
            continue;
        }
        let zero = |key: &str| facts[key].as_f64() == Some(0.0);
        let Value::Object(mut keys) = json!({
            "block": facts["block"], "layers": 1, "vocab": 8, "backend": "cpu",
            "implementation": facts["implementation"],
            "attention": if facts["attention"] == "eager" { "eager" } else { "flash" },
            "dropout": !zero("hidden_dropout"), "attention_dropout": !zero("attention_dropout"),
            "attention_mask": facts["mask"], "qk_norm": family == "qwen3", "qkv_bias": family == "qwen2",
        }) else {
            unreachable!("an object")
        };
        if facts["attention"] == "explicit" {
            keys.insert("attention".into(), "eager".into());
        }
        let dtype = match (facts["param_dtype"].as_str(), facts["autocast"] == true) {
            (_, true) => "bf16-autocast",
            (Some("bfloat16"), _) => "bf16",
            _ => "fp32",
        };
        let request = request(keys, dtype, row);
        let outcome = evaluate(&request);
        let block = layer(&outcome, "block");
        compared += 1;
        if block["saved_bytes"] != row["saved_bytes"] {
            wrong.push(format!("{row}: {}", block["saved_bytes"]));
        }
        let (scenario, _) = Scenario::parse(&request.to_string()).expect("a scenario");
        let casts = scenario.chain.layers[1].weight_casts.0;
        if casts != row["weight_cast_bytes"].as_u64().unwrap_or(0) {
            wrong.push(format!("{row}: casts {casts}"));
        }
    }
    assert!(
        compared > 870 && wrong.is_empty(),
        "{} of {compared}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A closed form's value: coefficients by term.
fn value(form: &Value, row: &Value) -> Option<u64> {
    let size = |key: &str| int(&row[key]);
    let (tokens, s, h, a) = (size("b") * size("s"), size("s"), size("h"), size("a"));
    let mut sum = 0.0;
    for (term, coefficient) in form.as_object()? {
        let elements = match term.as_str() {
            "bsh" => tokens * h,
            "bsf" => tokens * size("ffn"),
            "bass" => tokens * a * s,
            "bskvd" => tokens * size("kv_heads") * (h / a),
            "bs" => tokens,
            "bas" => tokens * a,
            "bas32" => size("b") * a * s.next_multiple_of(32),
            "one" => 1,
            other => panic!("no term {other}"),
        };
        sum += coefficient.as_f64()? * f64::from(u32::try_from(elements).expect("small"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole")]
    Some(sum as u64)
}

/// What was derived for CUDA, on every shape that was measured on CPU.
#[test]
fn cuda_keeps_what_was_derived() {
    let file = vectors("layer_saved");
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for row in file["rows"].as_array().expect("rows") {
        let module = row["module"].as_str().expect("a module");
        let form = &file["closed_forms"][module]["cuda_derived_not_measured"];
        let Some(expected) = value(form, row) else { continue };
        let mut keys = keys_of(module);
        keys.insert("backend".into(), "cuda".into());
        let outcome = evaluate(&request(keys, dtype_of(module), row));
        let saved = &layer(&outcome, "block")["saved_bytes"];
        compared += 1;
        if *saved != expected {
            wrong.push(format!("{module} {row}: {saved}, derived {expected}"));
        }
    }
    assert!(
        compared > 180 && wrong.is_empty(),
        "{} of {compared}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Final norm, head and loss: kept bytes, and the summits of forward and backward. The measurement leaves out the input.
#[test]
fn every_measured_head_keeps_what_was_measured() {
    let file = vectors("loss_head");
    let mut wrong = Vec::new();
    for row in file["rows"].as_array().expect("rows") {
        let variant = row["variant"].as_str().expect("a variant");
        let chunked = variant == "head_ce_chunk4_checkpointed";
        let workload = json!({
            "block": "gpt", "layers": 1, "hidden": row["h"], "heads": 1, "seq": row["s"], "batch": row["b"],
            "vocab": row["V"], "backend": "cpu", "dropout": false, "learned_positions": 0, "tied_embedding": false,
            "implementation": if variant.starts_with("hf_") { "eager" } else { "fused" },
            "loss_upcast": variant != "norm_head_ce", "loss_chunks": if chunked { 4 } else { 1 },
        });
        let dtype = if row["param_dtype"] == "float32" { "fp32" } else { "bf16" };
        let request = json!({"workload": workload, "training": {"dtype": dtype}, "hardware": {"memory_gib": 1000}});
        let (scenario, _) = Scenario::parse(&request.to_string()).expect("a scenario");
        let head = scenario.chain.layers.last().expect("a head");
        if !chunked && head.saved_bytes().0 != int(&row["saved_bytes"]) {
            wrong.push(format!("saved: {row}: {}", head.saved_bytes().0));
        }
        let inner = head.saved.iter().filter(|tensor| tensor.storage == Storage::Inner);
        let inner: u64 = inner.map(|tensor| tensor.bytes.0).sum::<u64>() + head.output.0;
        for (scratch, measured) in [
            (head.forward_scratch, "fwd_peak_live_bytes"),
            (head.backward_scratch, "bwd_peak_live_bytes_incl_grads"),
        ] {
            let (summit, given) = (inner + scratch.0, int(&row[measured]));
            // Scalars on the way (counts of labels, sums of chunks), and labels that forward already let go.
            let scalars = if variant.starts_with("hf_") {
                16 + 8 * int(&row["b"]) * (int(&row["s"]) + 1)
            } else {
                16
            };
            if summit.abs_diff(given) > scalars {
                wrong.push(format!("{measured} {variant}: {summit} for {row}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The transformers library's heads with its own loss, measured with layer_more.json.
#[test]
fn more_heads_keep_what_was_measured() {
    let file = vectors("layer_more");
    let rows = file["heads"].as_array().expect("rows");
    for row in rows {
        let variant = row["variant"].as_str().expect("a variant");
        let block = if variant.starts_with("hf_gpt2") { "gpt" } else { "llama" };
        let workload = json!({
            "block": block, "layers": 1, "hidden": row["h"], "heads": 1, "seq": row["s"], "batch": row["b"],
            "vocab": row["V"], "backend": "cpu", "implementation": "eager",
        });
        let outcome =
            evaluate(&json!({"workload": workload, "training": {"dtype": dtype_of(variant)}}));
        assert_eq!(layer(&outcome, "head")["saved_bytes"], row["saved_bytes"], "{row}");
    }
    assert!(rows.len() >= 36);
}
