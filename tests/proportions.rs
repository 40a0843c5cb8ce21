//! How a transformer's bytes and times follow its sizes, over random transformers.

use galley::engine::chain::{Chain, Layer, LayerKind};
use galley::engine::evaluate;
use galley::engine::scenario::Scenario;
use galley::engine::units::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Sizes, in multiples that degrees of parallelism up to 4 divide.
fn workload() -> impl Strategy<Value = Value> {
    let sizes = (1_u64..5, 1_u64..4, 1_u64..9, 1_u64..5, 1_u64..4);
    let names = (
        prop::sample::select(vec!["gpt", "llama", "bert", "vit"]),
        prop::sample::select(vec!["fused", "eager"]),
        prop::sample::select(vec!["cuda", "cpu"]),
    );
    (sizes, names, any::<[bool; 4]>()).prop_map(
        |((layers, batch, seq, heads, groups), (block, implementation, backend), flags)| {
            let kv = 4 * heads;
            let heads = kv * groups;
            json!({
                "block": block, "implementation": implementation, "backend": backend, "layers": layers, "batch": batch,
                "seq": 32 * seq, "heads": heads, "kv_heads": kv, "hidden": 16 * heads, "ffn": 40 * heads, "vocab": 64 * seq,
                "dropout": flags[0], "attention_dropout": flags[1], "attention_mask": flags[2], "qk_norm": flags[3],
            })
        },
    )
}

fn dtype() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["fp32", "bf16", "bf16-mixed", "bf16-autocast"])
}

fn scenario(workload: &Value, training: &Value) -> Scenario {
    let request =
        json!({"workload": workload, "training": training, "hardware": {"memory_gib": 100_000}});
    Scenario::parse(&request.to_string()).unwrap_or_else(|error| panic!("{error}: {request}")).0
}

fn with(value: &Value, key: &str, new: impl Into<Value>) -> Value {
    let mut value = value.clone();
    value[key] = new.into();
    value
}

fn block(chain: &Chain) -> &Layer {
    chain.layers.iter().find(|layer| layer.kind == LayerKind::Block).expect("a block")
}

/// Bytes of the block's rows whose shape is, or is not, among `shapes`.
fn bytes(layer: &Layer, shapes: &[&str], among: bool) -> Bytes {
    let shape =
        |tensor: &galley::engine::chain::SavedTensor| tensor.origin.expect("a transformer's").shape;
    layer
        .saved
        .iter()
        .filter(|tensor| shapes.contains(&shape(tensor)) == among)
        .map(|tensor| tensor.bytes)
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    // Without scores everything is linear in the sequence, and in the batch always, but for what has one element. A
    // batch of one may keep views, so it is left out.
    #[test]
    fn doubling_doubles(workload in workload(), dtype in dtype()) {
        let training = json!({"dtype": dtype});
        for (key, attention) in [("seq", "flash"), ("batch", "flash"), ("batch", "eager")] {
            let workload = with(&with(&workload, "attention", attention), "batch", 2);
            let quadratic = ["b·a·s²", "b·s²"];
            let once = scenario(&workload, &training);
            let double = 2 * workload[key].as_u64().expect("a size");
            let twice = scenario(&with(&workload, key, double), &training);
            let [once, twice] = [block(&once.chain), block(&twice.chain)];
            let skip: &[&str] = if key == "seq" { &["1", quadratic[0], quadratic[1]] } else { &["1"] };
            prop_assert_eq!(bytes(once, skip, false).times(2), bytes(twice, skip, false), "{}", key);
            prop_assert_eq!(bytes(once, &["1"], true), bytes(twice, &["1"], true));
            if key == "seq" {
                prop_assert_eq!(bytes(once, &quadratic, true).times(4), bytes(twice, &quadratic, true));
            }
        }
    }

    // Flash attention keeps no scores where it is to be had: 16 bit on CUDA without a mask.
    #[test]
    fn flash_keeps_no_scores(workload in workload(), dtype in dtype()) {
        let workload = with(&with(&with(&workload, "attention", "flash"), "backend", "cuda"), "attention_mask", false);
        let there = dtype != "fp32";
        let chain = scenario(&workload, &json!({"dtype": dtype})).chain;
        if there {
            prop_assert_eq!(bytes(block(&chain), &["b·a·s²", "b·s²"], true), Bytes::ZERO);
        }
    }

    // Tensor parallelism divides what is inside attention and MLP, weights and their states; sequence parallelism what is
    // on the residual stream too. What has one element is on every device.
    #[test]
    fn parallelism_divides_what_it_should(workload in workload(), dtype in dtype(), eager in any::<bool>()) {
        let workload = with(&workload, "attention", if eager { "eager" } else { "flash" });
        let outer = ["b·s", "b·s·h"];
        let whole = scenario(&workload, &json!({"dtype": dtype})).chain;
        for t in [2, 4] {
            let [tensor, both] = [false, true].map(|sp| {
                scenario(&workload, &json!({"dtype": dtype, "tp": t, "sp": sp})).chain
            });
            for (chain, sequence) in [(&tensor, false), (&both, true)] {
                let (one, here) = (block(&whole), block(chain));
                prop_assert_eq!(bytes(one, &["1"], true), bytes(here, &["1"], true));
                let share = if sequence { t } else { 1 };
                prop_assert_eq!(bytes(one, &outer, true), bytes(here, &outer, true).times(share));
                let inner = |layer| bytes(layer, &["1", "b·s", "b·s·h", "b·s²"], false);
                prop_assert_eq!(inner(one), inner(here).times(t));
                prop_assert!(chain.params_here < whole.params_here);
                prop_assert!(chain.fixed.total() < whole.fixed.total());
            }
        }
    }

    // Chunks of the loss change bytes, never what is computed.
    #[test]
    fn chunks_change_no_time(workload in workload(), dtype in dtype(), chunks in 2_u64..40) {
        let training = json!({"dtype": dtype});
        let whole = scenario(&workload, &training);
        let chunked = scenario(&with(&workload, "loss_chunks", chunks), &training);
        prop_assert_eq!(whole.chain.forward(), chunked.chain.forward());
        prop_assert_eq!(whole.chain.backward(), chunked.chain.backward());
        let [whole, chunked] = [&whole, &chunked].map(|one| one.chain.layers.last().expect("a head").saved_bytes());
        prop_assert!(chunked < whole);
    }

    // Gradients that grow never raise the peak over a buffer that stays, and count the same as states.
    #[test]
    fn growing_never_raises_the_peak(
        workload in workload(),
        dtype in dtype(),
        kind in prop::sample::select(vec!["keep", "recompute", "offload"]),
    ) {
        let [grown, fixed] = ["grown", "static"].map(|buffer| {
            let mut scenario = scenario(&workload, &json!({"dtype": dtype, "grad_buffer": buffer}));
            scenario.policy.kind = galley::engine::policy::PolicyKind::parse(kind).expect("a kind");
            (evaluate::evaluate(&scenario), scenario.chain)
        });
        prop_assert!(grown.0.peak.row.total() <= fixed.0.peak.row.total());
        prop_assert_eq!(grown.0.step, fixed.0.step);
        prop_assert_eq!(grown.1.fixed, fixed.1.fixed);
        prop_assert_eq!(grown.1.grown(), grown.1.fixed.gradients);
        prop_assert_eq!(fixed.1.grown(), Bytes::ZERO);
    }

    // Sharding more never takes more room for states.
    #[test]
    fn zero_never_raises_the_states(workload in workload(), dtype in dtype(), dp in 1_u64..64) {
        let states = |zero: u64| scenario(&workload, &json!({"dtype": dtype, "dp": dp, "zero": zero})).chain.fixed;
        for zero in 1..=3 {
            let (less, more) = (states(zero), states(zero - 1));
            prop_assert!(less.total() <= more.total());
            prop_assert!(less.weights <= more.weights && less.gradients <= more.gradients && less.optimizer <= more.optimizer);
        }
    }
}
