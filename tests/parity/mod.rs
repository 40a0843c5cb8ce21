//! 200 scenarios from a fixed seed, and what each comes to: the same bytes natively and in the browser. Included by
//! tests/parity.rs, which can write outcomes.txt anew, and by the browser's tests. Nothing here depends on the width
//! of a pointer, on hashing or on a clock.

use galley::engine::door;
use serde_json::{Value, json};

/// The committed outcomes: a line of sixteen hexadecimal digits per scenario, then the first three in full.
const OUTCOMES: &str = include_str!("outcomes.txt");

/// How many outcomes are there in full.
const IN_FULL: usize = 3;

/// Scenarios of every workload and policy.
pub fn requests() -> Vec<String> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    (0..200).map(|i| request(i, &mut random).to_string()).collect()
}

/// What the engine makes of them, as outcomes.txt has it.
pub fn outcomes() -> Vec<String> {
    let answers: Vec<String> =
        requests().iter().map(|request| door::text(&door::evaluate(request))).collect();
    let digests = answers.iter().map(|answer| format!("{:016x}", digest(answer)));
    digests.chain(answers.iter().take(IN_FULL).cloned()).collect()
}

/// The committed lines.
pub fn expected() -> Vec<String> {
    OUTCOMES.lines().map(str::to_owned).collect()
}

/// FNV-1a, 64 bits.
pub fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Marsaglia's xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Below `end`.
    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    fn from(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        let at = self.below(choices.len() as u64);
        choices[usize::try_from(at).expect("an index")]
    }

    /// A number of a few digits, so that its text is the same everywhere.
    fn hundredths(&mut self, first: u64, last: u64) -> Value {
        let text = format!("{:.2}", self.small(first, last) / 100.0);
        serde_json::from_str(&text).expect("a number")
    }

    fn small(&mut self, first: u64, last: u64) -> f64 {
        f64::from(u32::try_from(self.from(first, last)).expect("a small number"))
    }
}

fn request(i: usize, random: &mut Random) -> Value {
    // Small ones first: the first three are kept in full.
    let workload = match if i < IN_FULL { 0 } else { i % 5 } {
        0 => lesson(i, random),
        1 => profile(random),
        2 => transformer(random),
        3 => preset(random),
        _ => huggingface(random),
    };
    let layers = match &workload["layers"] {
        Value::Array(list) => list.len() as u64,
        count => count.as_u64().unwrap_or(0),
    };
    let mut training = training(random);
    // Heads that are not written in the request may be refused: that answer has to be the same, too.
    let heads = workload["heads"].as_u64().unwrap_or(8);
    if !heads.is_multiple_of(training["tp"].as_u64().unwrap_or(1)) {
        training["tp"] = json!(1);
    }
    json!({
        "v": 1, "detail": i.is_multiple_of(7), "workload": workload, "training": training,
        "hardware": hardware(random), "policy": policy(i, layers, random),
        "limits": {"memory_gib": random.hundredths(40, 4000)},
        "weights": {"memory": random.hundredths(0, 100), "compute": random.hundredths(0, 100)},
    })
}

fn lesson(i: usize, random: &mut Random) -> Value {
    let layers = if i < IN_FULL { 3 } else { random.from(1, 24) };
    json!({"kind": "lesson", "layers": layers, "act_gb": random.hundredths(1, 300),
        "layer_s": random.hundredths(1, 40), "base_gb": random.hundredths(0, 500)})
}

fn profile(random: &mut Random) -> Value {
    let layer = |random: &mut Random| {
        let saved: Vec<Value> = (0..random.below(4))
            .map(|_| json!({"bytes": random.below(1 << 28), "recompute_s": random.hundredths(0, 20)}))
            .collect();
        json!({
            "forward_s": random.hundredths(0, 20), "backward_s": random.hundredths(0, 40),
            "boundary_bytes": random.below(1 << 26), "output_bytes": random.below(1 << 26),
            "forward_scratch_bytes": random.below(1 << 25), "backward_scratch_bytes": random.below(1 << 26),
            "saves_input": random.flag(), "saves_output": random.flag(), "saved": saved,
        })
    };
    let layers: Vec<Value> = (0..random.from(1, 12)).map(|_| layer(random)).collect();
    json!({"kind": "profile", "layers": layers, "accumulation": random.from(1, 3),
        "static_bytes": {"weights": random.below(1 << 30), "optimizer": random.below(1 << 30)}})
}

fn transformer(random: &mut Random) -> Value {
    let heads = random.pick(&[1, 2, 4, 8]);
    json!({
        "kind": "transformer", "block": random.pick(&["gpt", "llama", "bert", "vit"]),
        "layers": random.from(1, 12), "hidden": 64 * random.from(1, 24), "heads": heads,
        "kv_heads": if random.flag() { heads } else { 1 }, "ffn": random.from(64, 8192),
        "vocab": random.from(100, 60_000), "seq": random.from(16, 4096), "batch": random.from(1, 6),
        "accumulation": random.from(1, 4), "loss_chunks": random.from(1, 8),
        "attention": random.pick(&["eager", "flash"]), "implementation": random.pick(&["fused", "eager"]),
        "backend": random.pick(&["cuda", "cpu"]), "dropout": random.flag(), "qk_norm": random.flag(),
    })
}

fn preset(random: &mut Random) -> Value {
    let model = random.pick(&[
        "gpt2",
        "gpt2-xl",
        "llama-3.2-1b",
        "llama-2-7b",
        "qwen3-0.6b",
        "megatron-22b",
    ]);
    json!({"preset": model, "seq": random.from(128, 4096), "batch": random.from(1, 4)})
}

fn huggingface(random: &mut Random) -> Value {
    let config = match random.below(3) {
        0 => json!({"model_type": "gpt2", "n_layer": random.from(1, 12)}),
        1 => {
            json!({"model_type": "qwen2", "hidden_size": 896, "num_attention_heads": 14, "num_key_value_heads": 2,
            "num_hidden_layers": random.from(1, 12), "intermediate_size": 4864})
        }
        _ => json!({"model_type": "bert", "num_hidden_layers": random.from(1, 12)}),
    };
    json!({"kind": "huggingface", "config": config, "seq": random.from(32, 2048), "batch": random.from(1, 8)})
}

fn training(random: &mut Random) -> Value {
    json!({
        "dtype": random.pick(&["fp32", "bf16", "bf16-mixed", "fp16-mixed", "bf16-autocast"]),
        "optimizer": random.pick(&["adamw", "adamw-8bit", "sgd-momentum", "sgd"]),
        "zero": random.below(4), "dp": random.from(1, 8), "tp": random.pick(&[1, 1, 1, 1, 2, 8]), "sp": random.flag(),
        "pp": random.pick(&[1, 1, 1, 2, 3]), "virtual_stages": random.from(1, 2), "lora_rank": if random.below(4) == 0 { json!(8) } else { Value::Null },
    })
}

fn hardware(random: &mut Random) -> Value {
    json!({
        "preset": random.pick(&["rtx-4090", "a100-80g", "h100-80g", "gh200"]),
        "d2h_gbps": random.hundredths(50, 10_000), "h2d_gbps": random.hundredths(50, 10_000),
        "duplex": random.below(3) > 0, "copy_overhead_us": random.below(3000), "cards_per_link": random.from(1, 4),
        "host_gib": random.hundredths(0, 6400), "ssd_gib": random.pick(&[0, 1, 1000]),
        "unmodelled_gib": random.hundredths(0, 100),
    })
}

/// Every kind in turn; out of step with the workloads' turn.
fn policy(i: usize, layers: u64, random: &mut Random) -> Value {
    const KINDS: [&str; 11] = [
        "keep",
        "checkpoint",
        "offload",
        "mix",
        "recompute",
        "offload-boundaries",
        "selective",
        "rule",
        "plan",
        "mix",
        "best",
    ];
    let kind =
        if i < IN_FULL { ["keep", "offload", "checkpoint"][i] } else { KINDS[i % KINDS.len()] };
    // A plan's list has an entry per block; a layer count that is not written in the request has a list of one, which
    // is refused: that answer has to be the same, too.
    let entries = (0..layers.max(1)).map(|_| random.pick(&["keep", "recompute", "host", "ssd"]));
    let plan: Vec<&str> = entries.collect();
    let mut policy = json!({
        "kind": kind, "k": random.from(1, 12), "beta": random.hundredths(0, 100),
        "medium": random.pick(&["host", "host", "ssd"]), "granularity": random.pick(&["layer", "tensor"]),
        "epsilon_ms": random.below(5), "prefetch_layers": random.below(5), "reentrant": random.flag(),
        "last_segment_plain": random.flag(),
    });
    if kind == "plan" {
        policy["plan"] = json!(plan);
    }
    policy
}
