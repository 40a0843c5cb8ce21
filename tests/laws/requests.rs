//! Random valid requests: profiles with shared and unshared boundaries, lessons and transformers; every policy; links, hosts
//! and memories from ample to far too small.

use galley::engine::Scenario;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// One layer of a profile, its boundaries to be filled in.
fn layer() -> impl Strategy<Value = Value> {
    let bytes = prop_oneof![1 => Just(0_u64), 4 => 1_u64..64 << 20];
    let milliseconds = prop_oneof![1 => Just(0_u32), 6 => 1_u32..50];
    (
        (milliseconds.clone(), milliseconds, bytes.clone(), bytes.clone()),
        (any::<bool>(), any::<bool>()),
        vec((bytes.clone(), 0_u32..10), 0..4),
        bytes,
    )
        .prop_map(|((forward, backward, scratch, more), (input, output), tensors, boundary)| {
            let saved: Vec<Value> = tensors
                .iter()
                .map(|(bytes, ms)| json!({"bytes": bytes, "recompute_s": f64::from(*ms) / 1e3}))
                .collect();
            json!({
                "forward_s": f64::from(forward) / 1e3, "backward_s": f64::from(backward) / 1e3,
                "forward_scratch_bytes": scratch / 8, "backward_scratch_bytes": more / 8, "gradient_bytes": more / 16,
                "saves_input": input, "saves_output": output, "saved": saved, "input_bytes": boundary,
            })
        })
}

/// A chain of them. Each layer's output is the next one's input, now and then not.
fn profile() -> impl Strategy<Value = Value> {
    let ends = (any::<bool>(), any::<bool>(), prop::bool::weighted(0.9), 0_u64..64 << 20);
    let sizes = (0_u64..32 << 20, 1_u64..4);
    (vec(layer(), 1..10), ends, sizes).prop_map(
        |(mut layers, (first, last, agree, end), (states, accumulation))| {
            let n = layers.len();
            if agree {
                for i in 0..n {
                    let next = layers.get(i + 1).map_or(json!(end), |next| next["input_bytes"].clone());
                    layers[i]["output_bytes"] = next;
                }
            }
            if n > 2 && first {
                layers[0]["kind"] = json!("embedding");
            }
            if n > 2 && last {
                layers[n - 1]["kind"] = json!("head");
            }
            let states = json!({"weights": states, "gradients": states, "optimizer": 3 * states});
            json!({"kind": "profile", "layers": layers, "static_bytes": states, "accumulation": accumulation,
                "optimizer_scratch_bytes": end / 2, "optimizer_s": 0.01})
        },
    )
}

fn lesson() -> impl Strategy<Value = Value> {
    (1_u64..16, 0_u32..200, 1_u32..100, prop::option::of(0_u32..300)).prop_map(
        |(layers, megabytes, ms, backward)| {
            let mut lesson = json!({
                "kind": "lesson", "layers": layers, "act_gb": f64::from(megabytes) / 1e3,
                "layer_s": f64::from(ms) / 1e3, "base_gb": 0.1,
            });
            if let Some(ms) = backward {
                lesson["backward_s"] = json!(f64::from(ms) / 1e3);
            }
            lesson
        },
    )
}

fn transformer() -> impl Strategy<Value = Value> {
    let names = (
        prop::sample::select(vec!["gpt", "llama", "bert", "vit"]),
        prop::sample::select(vec!["eager", "flash"]),
        prop::sample::select(vec!["fused", "eager"]),
    );
    let sizes = (1_u64..6, 1_u64..5, 0_u32..3, 0_u32..3);
    let counts = (16_u64..512, 1_u64..4, 1_u64..5, 1_u64..6, 1_u64..40_000);
    (names, sizes, counts, any::<bool>()).prop_map(
        |((block, attention, implementation), (layers, width, heads, kv), (seq, batch, many, chunks, vocab), dropout)| {
            json!({
                "kind": "transformer", "block": block, "attention": attention, "implementation": implementation,
                "layers": layers, "hidden": width * 64, "heads": 1_u64 << heads, "kv_heads": 1_u64 << kv.min(heads),
                "ffn": width * 160, "vocab": vocab, "seq": seq, "batch": batch, "accumulation": many,
                "loss_chunks": chunks, "dropout": dropout,
            })
        },
    )
}

fn training() -> impl Strategy<Value = Value> {
    (
        prop::sample::select(vec!["fp32", "bf16", "bf16-mixed", "bf16-autocast"]),
        (0_u64..4, 1_u64..5, 0_u32..3, any::<bool>(), 1_u64..4),
        (1_u64..4, 1_u64..4, 0_u64..4, prop::sample::select(vec!["none", "none", "optimizer", "all"])),
        prop::option::weighted(0.2, 1_u64..32),
    )
        .prop_map(|(dtype, (zero, dp, tp, sp, pp), (stage, chunks, gathered, offload), rank)| {
            json!({
                "dtype": dtype, "zero": zero, "dp": dp, "tp": 1 << tp, "sp": sp, "pp": pp, "lora_rank": rank,
                "stage": stage.min(pp), "virtual_stages": chunks, "gathered_layers": gathered,
                "offload_states": if zero < 3 && offload == "all" { "none" } else { offload },
            })
        })
}

/// Tensor parallelism shares heads out: at most as many ranks as heads.
fn fit_heads(request: &mut Value) {
    if let Some(heads) = request["workload"]["heads"].as_u64() {
        let ranks = request["training"]["tp"].as_u64().expect("a count");
        request["training"]["tp"] = json!(ranks.min(heads));
    }
}

fn gbps() -> impl Strategy<Value = f64> {
    (0_u32..1000).prop_map(|x| 0.2 * 300_f64.powf(f64::from(x) / 1000.0))
}

fn hardware() -> impl Strategy<Value = Value> {
    let host = prop_oneof![2 => Just(64.0), 1 => Just(0.0), 2 => (1_u32..300).prop_map(|mib| f64::from(mib) / 1024.0)];
    let ssd = prop_oneof![2 => Just(1000.0), 1 => Just(0.0), 1 => (1_u32..300).prop_map(|mib| f64::from(mib) / 1024.0)];
    (
        (gbps(), gbps(), gbps(), gbps(), gbps()),
        (prop::bool::weighted(0.7), prop_oneof![Just(0_u32), 1_u32..3000], any::<bool>(), any::<bool>()),
        (host, ssd),
    )
        .prop_map(|((d2h, h2d, read, write, flops), (duplex, overhead, sized, pooled), (host, ssd))| {
            json!({
                "memory_gib": 1000, "tflops": flops, "efficiency": 0.5, "hbm_gbps": 20.0 * d2h,
                "d2h_gbps": d2h, "h2d_gbps": h2d, "duplex": duplex, "copy_overhead_us": overhead,
                "host_gib": host, "ssd_gib": ssd, "ssd_read_gbps": read, "ssd_write_gbps": write,
                "link_efficiency": if sized { "by-size" } else { "flat" }, "pooled_buffers": pooled, "page_lock_ms": 1,
            })
        })
}

/// A policy; `plan` and `segments` get lists of a length that fits once the chain is known.
fn policy() -> impl Strategy<Value = Value> {
    let kinds = vec![
        "keep",
        "checkpoint",
        "checkpoint",
        "recompute",
        "offload",
        "offload",
        "offload-boundaries",
        "mix",
        "mix",
        "selective",
        "rule",
        "rule",
        "binomial",
        "rotor",
        "plan",
        "plan",
        "plan",
    ];
    (
        (prop::sample::select(kinds), 1_u64..12, 0_u32..9, any::<bool>()),
        prop::sample::select(vec!["layer", "tensor"]),
        (prop::bool::weighted(0.3), 0_u64..5, any::<bool>(), any::<bool>()),
        vec(prop::sample::select(vec!["keep", "recompute", "host", "host", "ssd"]), 200),
    )
        .prop_map(|((kind, k, eighths, per_tensor), granularity, (ssd, prefetch, reentrant, plain), plan)| {
            json!({
                "kind": kind, "k": k, "slots": k, "beta": f64::from(eighths) / 8.0, "medium": if ssd { "ssd" } else { "host" },
                "granularity": granularity, "prefetch_layers": prefetch, "reentrant": reentrant,
                "last_segment_plain": plain, "plan": plan, "per_tensor": per_tensor,
            })
        })
}

/// Cuts the policy's random list to one entry per layer or per tensor.
fn fit_list(request: &mut Value) {
    let policy = request["policy"].take();
    let (chain, _) = Scenario::read(request).unwrap_or_else(|error| panic!("{error}: {request}"));
    request["policy"] = policy;
    let policy = request["policy"].as_object_mut().expect("a policy");
    let tensors: usize = chain.chain.layers.iter().map(|layer| layer.saved.len()).sum();
    let per_tensor = policy.remove("per_tensor") == Some(json!(true));
    let wanted = if per_tensor { tensors } else { chain.chain.layers.len() };
    let list = policy["plan"].as_array_mut().expect("a list");
    list.truncate(wanted);
    if policy["kind"] != "plan" {
        policy.remove("plan");
    }
}

/// Any valid request, on a card of ample memory.
pub fn roomy() -> impl Strategy<Value = Value> {
    on_ample_cards(prop_oneof![4 => profile(), 1 => lesson(), 1 => transformer()])
}

/// The same, of transformers alone.
#[allow(dead_code, reason = "one of the tests that include this file uses it")]
pub fn transformers() -> impl Strategy<Value = Value> {
    on_ample_cards(transformer())
}

fn on_ample_cards(workload: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (workload, training(), hardware(), policy()).prop_map(|(workload, training, hardware, policy)| {
        let mut request = json!({
            "v": 1, "detail": true, "workload": workload, "training": training, "hardware": hardware,
            "policy": policy,
        });
        fit_heads(&mut request);
        fit_list(&mut request);
        request
    })
}

/// Any valid request, its memory a share of what it would take on an ample card: from hopeless to ample.
pub fn any_memory() -> impl Strategy<Value = Value> {
    (roomy(), 0.4_f64..1.3, prop::bool::weighted(0.8)).prop_map(|(mut request, share, tight)| {
        if tight {
            let (scenario, _) = Scenario::read(&request).expect("valid");
            let peak = galley::engine::evaluate::evaluate(&scenario).peak.row.total();
            request["limits"] = json!({"memory_gib": (share * peak.gib()).max(0.001)});
        }
        request
    })
}
