//! Laws of parallelism, states and links.

use super::requests::{roomy, transformers};
use super::{config, evaluated, run, scenario};
use galley::engine::evaluate;
use galley::engine::units::{Bytes, Nanos};
use proptest::prelude::*;
use serde_json::{Value, json};

fn with(request: &Value, group: &str, keys: &Value) -> Value {
    let mut request = request.clone();
    for (key, value) in keys.as_object().expect("keys") {
        request[group][key] = value.clone();
    }
    request
}

// ZeRO: from one stage to the next the static bytes never rise, nor does the peak from 0 to 1 and 1 to 2; from 2 to 3 it
// never rises where nothing is gathered, and else by no more than what is gathered. Refuted without that exception: a model
// of one layer is gathered whole; and with offloaded states, where shards leave faster, times change and with them a rule's
// plan. Tried: one rank, LoRA, every policy.
proptest! {
    #![proptest_config(config(300))]
    #[test]
    fn zero_never_raises_what_stays(request in transformers()) {
        let at = |zero: u64| {
            let training = json!({"zero": zero, "offload_states": "none"});
            let (scenario, outcome) = evaluated(&with(&request, "training", &training));
            (scenario.chain.fixed.total(), outcome.peak.row.total(), scenario.chain.gathered)
        };
        let stages = [0, 1, 2, 3].map(at);
        for (less, more) in stages.iter().skip(1).zip(&stages) {
            prop_assert!(less.0 <= more.0);
            prop_assert!(less.1 <= more.1 + less.2);
        }
        prop_assert!(stages[2].1 <= stages[1].1 && stages[1].1 <= stages[0].1);
        if request["training"]["gathered_layers"] == 0 {
            prop_assert!(stages[3].1 <= stages[2].1);
        }
    }
}

// Tensor parallelism divides weights, gradients, optimizer states and what is inside attention and MLP; with sequence
// parallelism it divides all that a block keeps. Every tensor rounds up. Tried: key heads fewer than ranks (copied), widths
// that do not divide, LoRA, norms on queries and keys.
proptest! {
    #![proptest_config(config(300))]
    #[test]
    fn tensor_parallelism_divides(request in transformers()) {
        let ranks = request["training"]["tp"].as_u64().expect("a count");
        // Which tensors there are, and so a list of actions, may depend on the heads of a rank.
        let request = with(&request, "policy", &json!({"kind": "keep"}));
        let at = |tp: u64, sp: bool| scenario(&with(&request, "training", &json!({"tp": tp, "sp": sp})));
        let (whole, divided, all) = (at(1, false), at(ranks, false), at(ranks, true));
        let kv = request["workload"]["kv_heads"].as_u64().expect("a count");
        let Some(block) = whole.chain.blocks().next() else { return Ok(()) };
        let rows = |scenario: &galley::engine::Scenario| scenario.chain.layers[block].saved.clone();
        for ((one, part), sequence) in rows(&whole).iter().zip(rows(&divided)).zip(rows(&all)) {
            // A number or two are no tensor to divide; copied key heads take more than their share.
            if one.bytes > Bytes(16) && kv.is_multiple_of(ranks) {
                let share = Bytes(one.bytes.0.div_ceil(ranks));
                prop_assert_eq!(sequence.bytes, share, "{}", one.name);
                prop_assert!(part.bytes == share || part.bytes == one.bytes, "{}", one.name);
            }
            prop_assert!(sequence.bytes <= part.bytes);
        }
        let states = |scenario: &galley::engine::Scenario| scenario.chain.fixed.total() + scenario.chain.host_states;
        prop_assert!(states(&divided) <= states(&whole));
        prop_assert_eq!(states(&divided), states(&all));
    }
}

// Pipelining: every parameter is on one stage (tied weights twice); a later stage holds no more micro-batches than an earlier
// one; interleaving holds more and idles less, m times less. Tried: fewer micro-batches than stages, uneven splits.
proptest! {
    #![proptest_config(config(300))]
    #[test]
    fn stages_hold_their_share(request in transformers(), chunks in 1_u64..4) {
        let stages = request["training"]["pp"].as_u64().expect("a count");
        let layers = request["workload"]["layers"].as_u64().expect("a count");
        let stages = stages.min(layers);
        let at = |stage: u64, chunks: u64| {
            let keys = json!({"pp": stages, "stage": stage, "virtual_stages": chunks, "lora_rank": null, "tp": 1});
            // A list of actions is one stage's.
            scenario(&with(&with(&request, "training", &keys), "policy", &json!({"kind": "keep"}))).chain
        };
        let all: Vec<_> = (1..=stages).map(|stage| at(stage, 1)).collect();
        let held: Vec<Bytes> = all.iter().map(|chain| chain.pipeline.all(Bytes(1 << 20))).collect();
        prop_assert!(held.is_sorted_by(|a, b| a >= b));
        let tied = request["workload"]["tied_embedding"].as_bool().unwrap_or(false)
            || matches!(request["workload"]["block"].as_str(), Some("gpt" | "bert"));
        let vocab = request["workload"]["vocab"].as_u64().expect("a count");
        let hidden = request["workload"]["hidden"].as_u64().expect("a width");
        let copied = if tied && stages > 1 { vocab * hidden } else { 0 };
        let sum: u64 = all.iter().map(|chain| chain.params_here).sum();
        prop_assert_eq!(sum, all[0].params + copied);
        let chunks = chunks.min(layers / stages);
        let (plain, interleaved) = (at(1, 1), at(1, chunks));
        let each = Bytes(chunks * stages * 1024);
        prop_assert!(interleaved.pipeline.all(each) >= plain.pipeline.all(each));
        let idle = |chain: &galley::engine::chain::Chain| chain.pipeline.bubble(Nanos(chunks * 1000)).0;
        prop_assert_eq!(idle(&plain), chunks * idle(&interleaved));
        // At least p micro-batches: the ratio of the paper.
        if plain.pipeline.all(Bytes(1)).0 == stages && chunks > 1 && plain.accumulation > stages {
            let ratio = each.0 * (stages * chunks + stages - 1) / chunks;
            prop_assert_eq!(interleaved.pipeline.all(each).0, ratio);
        }
    }
}

// Links: with the sizes fixed, no plan runs slower where copies take all of the rate than where they take a share of it by
// size, nor with pooled buffers than without, nor where copies leave memory bandwidth alone. Tried: every plan, half duplex.
proptest! {
    #![proptest_config(config(400))]
    #[test]
    fn a_better_link_never_slows_a_fixed_plan(request in roomy()) {
        let keys = |efficiency: &str, pooled: bool, hbm: bool| {
            json!({"link_efficiency": efficiency, "pooled_buffers": pooled, "copies_use_hbm": hbm})
        };
        let base = scenario(&with(&request, "hardware", &keys("flat", true, false)));
        let plan = evaluate::plan(&base, &base.policy);
        let end = |keys: Value| {
            let hardware = scenario(&with(&request, "hardware", &keys)).hardware;
            run(&base.chain, &plan, &hardware, Bytes(u64::MAX >> 1)).map(|run| run.micro_end)
        };
        let best = end(keys("flat", true, false));
        for worse in [keys("by-size", true, false), keys("flat", false, false), keys("flat", true, true)] {
            prop_assert!(best <= end(worse));
        }
    }
}

// Offloaded states are on the host, all of them, and the card has that much less; the host's peak counts them.
proptest! {
    #![proptest_config(config(200))]
    #[test]
    fn offloaded_states_are_on_the_host(request in transformers()) {
        let at = |offload: &str| evaluated(&with(&request, "training", &json!({"zero": 3, "offload_states": offload})));
        let (kept, _) = at("none");
        for offload in ["optimizer", "all"] {
            let (scenario, outcome) = at(offload);
            let chain = &scenario.chain;
            prop_assert_eq!(chain.fixed.total() + chain.host_states, kept.chain.fixed.total());
            prop_assert!(outcome.host_peak >= chain.host_states);
            let fixed = &chain.fixed;
            prop_assert_eq!(fixed.gradients + fixed.optimizer, Bytes::ZERO);
            prop_assert!(offload == "optimizer" || fixed.weights == Bytes::ZERO);
        }
    }
}
