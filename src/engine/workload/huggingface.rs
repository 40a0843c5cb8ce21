//! A Hugging Face `config.json`, read into the keys of a transformer. Each family's keys and defaults are those of
//! its configuration class in the transformers library (4.57); what the model cannot say truly is refused.

use crate::engine::accepted::Accepted;
use crate::engine::error::Error;
use serde_json::{Map, Value, json};

/// The `workload` keys of a config object.
///
/// # Errors
/// [`Error::Missing`] without a config, [`Error::Unfit`] for an unknown family, a wrong kind of value, or a
/// feature that is not modelled.
pub fn transformer_from_config(
    config: Option<&Value>,
) -> Result<(Map<String, Value>, Vec<String>), Error> {
    let config = match config {
        Some(Value::Object(config)) => Config(config),
        Some(other) => {
            return Err(Error::unfit("workload.config", other, Accepted::Config));
        }
        None => {
            return Err(Error::Missing {
                path: "workload.config".into(),
                accepted: Accepted::Config,
            });
        }
    };
    config.refuse_what_is_not_modelled()?;
    let keys = match config.family()? {
        // attention_bias is on the output projection too; Qwen2's biases are not.
        "llama" => config.llama(&Family {
            kv_absent: None,
            head_dim: None,
            qkv_bias: config.flag("attention_bias", false)?,
            out_bias: config.flag("attention_bias", false)?,
            mlp_bias: config.flag("mlp_bias", false)?,
            qk_norm: false,
        }),
        "mistral" => config.llama(&Family {
            kv_absent: Some(8),
            head_dim: None,
            qkv_bias: false,
            out_bias: false,
            mlp_bias: false,
            qk_norm: false,
        }),
        "qwen2" => config.llama(&Family {
            kv_absent: Some(32),
            head_dim: None,
            qkv_bias: true,
            out_bias: false,
            mlp_bias: false,
            qk_norm: false,
        }),
        "qwen3" => config.llama(&Family {
            kv_absent: Some(32),
            head_dim: Some(128),
            qkv_bias: config.flag("attention_bias", false)?,
            out_bias: config.flag("attention_bias", false)?,
            mlp_bias: false,
            qk_norm: true,
        }),
        "gpt2" => config.gpt2(),
        "gpt_neox" => config.gpt_neox(),
        _ => config.bert(),
    }?;
    Ok((keys, config.unheeded()))
}

/// What differs between the Llama-like families.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
struct Family {
    kv_absent: Option<u64>,
    head_dim: Option<u64>,
    qkv_bias: bool,
    out_bias: bool,
    mlp_bias: bool,
    qk_norm: bool,
}

struct Config<'a>(&'a Map<String, Value>);

impl<'a> Config<'a> {
    fn unfit(key: &str, value: &Value, accepted: Accepted) -> Error {
        Error::unfit(format!("workload.config.{key}"), value, accepted)
    }

    fn given(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    fn family(&self) -> Result<&'static str, Error> {
        const KNOWN: [&str; 7] = ["llama", "mistral", "qwen2", "qwen3", "gpt2", "gpt_neox", "bert"];
        // GPT2LMHeadModel, LlamaForCausalLM, BertForMaskedLM: the family, and nothing more, before the task.
        let by_architecture = |name: &str| {
            let tasks = ["ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForPreTraining", "Model"];
            let family = tasks.into_iter().find_map(|task| name.strip_suffix(task))?.to_lowercase();
            KNOWN.into_iter().find(|known| known.replace('_', "") == family)
        };
        match (self.given("model_type"), self.given("architectures")) {
            (Some(value), _) => value
                .as_str()
                .and_then(|name| KNOWN.into_iter().find(|&family| family == name))
                .ok_or_else(|| Self::unfit("model_type", value, Accepted::Family)),
            (None, Some(list)) => list
                .get(0)
                .and_then(Value::as_str)
                .and_then(by_architecture)
                .ok_or_else(|| Self::unfit("architectures", list, Accepted::Family)),
            (None, None) => Err(Error::Missing {
                path: "workload.config.model_type".into(),
                accepted: Accepted::Family,
            }),
        }
    }

    fn refuse_what_is_not_modelled(&self) -> Result<(), Error> {
        let refused: [(&str, Accepted); 9] = [
            ("num_local_experts", Accepted::Dense),
            ("num_experts", Accepted::Dense),
            ("n_routed_experts", Accepted::Dense),
            ("kv_lora_rank", Accepted::NoLatent),
            ("text_config", Accepted::InnerText),
            ("vision_config", Accepted::TextModel),
            ("quantization_config", Accepted::Unquantized),
            ("add_cross_attention", Accepted::NoCross),
            ("is_encoder_decoder", Accepted::NoEncoderDecoder),
        ];
        for (key, accepted) in refused {
            if let Some(value) = self.given(key).filter(|value| !is_empty(value)) {
                return Err(Self::unfit(key, value, accepted));
            }
        }
        match self.given("position_embedding_type") {
            Some(value) if value.as_str() != Some("absolute") => {
                Err(Self::unfit("position_embedding_type", value, Accepted::Exactly("absolute")))
            }
            _ => Ok(()),
        }
    }

    /// Keys that matter in reality and are not modelled, where they ask for other than what is.
    fn unheeded(&self) -> Vec<String> {
        let family = self.family().unwrap_or_default();
        let activation = match family {
            "gpt2" => "gelu_new",
            "gpt_neox" | "bert" => "gelu",
            _ => "silu",
        };
        let text = |key: &str| self.given(key).and_then(Value::as_str);
        let other = |key: &str| text(key).is_some_and(|name| name != activation);
        let masked_head = |name: &str| name.ends_with("ForMaskedLM");
        let architecture = self.given("architectures").and_then(|list| list.get(0)?.as_str());
        let found = [
            ("hidden_act", other("hidden_act")),
            ("activation_function", other("activation_function")),
            // Left out, it is true.
            (
                "use_parallel_residual",
                family == "gpt_neox" && self.given("use_parallel_residual") != Some(&false.into()),
            ),
            (
                "sliding_window",
                self.given("sliding_window").is_some()
                    && self.given("use_sliding_window") != Some(&false.into()),
            ),
            (
                "type_vocab_size",
                family == "bert" && self.given("type_vocab_size").is_some_and(|n| *n != 2),
            ),
            ("architectures", family == "bert" && architecture.is_some_and(|a| !masked_head(a))),
        ];
        let found = found.into_iter().filter(|(_, unheeded)| *unheeded);
        found.map(|(key, _)| format!("workload.config.{key}")).collect()
    }

    /// The first of `keys` that is given, else `default`.
    fn int(&self, keys: &[&str], default: u64) -> Result<u64, Error> {
        for key in keys {
            if let Some(value) = self.given(key) {
                return value
                    .as_u64()
                    .filter(|&n| n > 0)
                    .ok_or_else(|| Self::unfit(key, value, Accepted::Count));
            }
        }
        Ok(default)
    }

    fn flag(&self, key: &str, default: bool) -> Result<bool, Error> {
        match self.given(key) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(value) => Err(Self::unfit(key, value, Accepted::Flag)),
        }
    }

    /// Whether any of these dropout rates is above zero.
    fn dropout(&self, keys: &[(&str, f64)]) -> Result<bool, Error> {
        for (key, default) in keys {
            let rate = match self.given(key) {
                None => *default,
                Some(value) => {
                    value.as_f64().ok_or_else(|| Self::unfit(key, value, Accepted::Rate))?
                }
            };
            if rate > 0.0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn llama(&self, family: &Family) -> Result<Map<String, Value>, Error> {
        let heads = self.int(&["num_attention_heads"], 32)?;
        // A key that is null means "as many as heads", whatever the family's default for an absent one.
        let kv_default = match (self.0.contains_key("num_key_value_heads"), family.kv_absent) {
            (false, Some(absent)) => absent,
            _ => heads,
        };
        let mut keys = object(json!({
            "block": "llama", "norm": "rms", "gated_mlp": true,
            "layers": self.int(&["num_hidden_layers"], 32)?,
            "hidden": self.int(&["hidden_size"], 4096)?,
            "heads": heads,
            "kv_heads": self.int(&["num_key_value_heads"], kv_default)?,
            "ffn": self.int(&["intermediate_size"], if family.kv_absent == Some(32) { 22016 } else if family.kv_absent == Some(8) { 14336 } else { 11008 })?,
            "vocab": self.int(&["vocab_size"], if family.kv_absent == Some(32) { 151_936 } else { 32_000 })?,
            "tied_embedding": self.flag("tie_word_embeddings", false)?,
            "bias": false, "qkv_bias": family.qkv_bias, "out_bias": family.out_bias,
            "mlp_bias": family.mlp_bias, "qk_norm": family.qk_norm,
            "dropout": false, "attention_dropout": self.dropout(&[("attention_dropout", 0.0)])?,
            "learned_positions": 0, "attention": "flash",
        }));
        let head_dim = self
            .given("head_dim")
            .map_or(Ok(family.head_dim), |_| self.int(&["head_dim"], 1).map(Some))?;
        if let Some(width) = head_dim {
            keys.insert("head_dim".into(), width.into());
        }
        Ok(keys)
    }

    fn gpt2(&self) -> Result<Map<String, Value>, Error> {
        let hidden = self.int(&["n_embd", "hidden_size"], 768)?;
        Ok(object(json!({
            "block": "gpt", "norm": "layer", "gated_mlp": false, "bias": true,
            "layers": self.int(&["n_layer", "num_hidden_layers"], 12)?,
            "hidden": hidden,
            "heads": self.int(&["n_head", "num_attention_heads"], 12)?,
            "ffn": self.int(&["n_inner"], hidden.saturating_mul(4))?,
            "vocab": self.int(&["vocab_size"], 50257)?,
            "tied_embedding": self.flag("tie_word_embeddings", true)?,
            "dropout": self.dropout(&[("resid_pdrop", 0.1), ("embd_pdrop", 0.1)])?,
            "attention_dropout": self.dropout(&[("attn_pdrop", 0.1)])?,
            "learned_positions": self.int(&["n_positions", "max_position_embeddings"], 1024)?,
            "attention": "flash",
        })))
    }

    fn gpt_neox(&self) -> Result<Map<String, Value>, Error> {
        Ok(object(json!({
            "block": "gpt", "norm": "layer", "gated_mlp": false, "bias": true,
            "layers": self.int(&["num_hidden_layers"], 44)?,
            "hidden": self.int(&["hidden_size"], 6144)?,
            "heads": self.int(&["num_attention_heads"], 64)?,
            "ffn": self.int(&["intermediate_size"], 24576)?,
            "vocab": self.int(&["vocab_size"], 50432)?,
            "tied_embedding": self.flag("tie_word_embeddings", false)?,
            "dropout": self.dropout(&[("hidden_dropout", 0.0)])?,
            "attention_dropout": self.dropout(&[("attention_dropout", 0.0)])?,
            "learned_positions": 0, "attention": "flash",
        })))
    }

    fn bert(&self) -> Result<Map<String, Value>, Error> {
        Ok(object(json!({
            "block": "bert", "norm": "layer", "gated_mlp": false, "bias": true,
            "layers": self.int(&["num_hidden_layers"], 12)?,
            "hidden": self.int(&["hidden_size"], 768)?,
            "heads": self.int(&["num_attention_heads"], 12)?,
            "ffn": self.int(&["intermediate_size"], 3072)?,
            "vocab": self.int(&["vocab_size"], 30522)?,
            "tied_embedding": self.flag("tie_word_embeddings", true)?,
            "dropout": self.dropout(&[("hidden_dropout_prob", 0.1)])?,
            "attention_dropout": self.dropout(&[("attention_probs_dropout_prob", 0.1)])?,
            "learned_positions": self.int(&["max_position_embeddings"], 512)?,
            "attention": "flash", "seq": 512,
        })))
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => unreachable!("written as an object"),
    }
}

/// What stands for "not there": false, 0, nothing in braces.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Null | Value::String(_) => false,
    }
}
