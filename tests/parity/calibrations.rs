//! Fits of every kind, and what each comes to: the same text natively and in the browser. Included by tests/calibrate.rs, which can
//! write calibrations.txt anew, and by the browser's tests.

use galley::engine::door;
use serde_json::{Value, json};

const ANSWERS: &str = include_str!("calibrations.txt");

/// Requests with numbers that fit, that do not, and that contradict each other.
pub fn requests() -> Vec<String> {
    let llama = json!({"preset": "llama-2-7b", "seq": 2048});
    let gpt = json!({"preset": "gpt2", "batch": 8});
    let rows: [(&Value, Value, Value); 8] = [
        (
            &llama,
            json!({"kind": "keep"}),
            json!({"step_s": 1.7, "step_checkpoint_s": 2.3, "peak_gib": 110}),
        ),
        (&llama, json!({"kind": "keep"}), json!({"step_s": 1.7, "step_checkpoint_s": 1.71})),
        (&llama, json!({"kind": "mix", "k": 4}), json!({"step_s": 2.7, "step_offload_s": 9.5})),
        (&llama, json!({"kind": "rule"}), json!({"tokens_per_s": 900, "step_checkpoint_s": 2.9})),
        (
            &gpt,
            json!({"kind": "recompute"}),
            json!({"step_s": 0.21, "step_checkpoint_s": 0.16, "policy": {"kind": "keep"}}),
        ),
        (
            &gpt,
            json!({"kind": "offload"}),
            json!({"step_s": 0.7, "peak_gib": 3, "peak_checkpoint_gib": 3.5}),
        ),
        (
            &gpt,
            json!({"kind": "best"}),
            json!({"step_s": 0.2, "tokens_per_s": 35_000, "peak_bytes": 1e10}),
        ),
        (&gpt, json!({"kind": "keep"}), json!({"step_s": 0.2, "step_checkpoint_s": 0.1})),
    ];
    let request = |(workload, policy, measured): &(&Value, Value, Value)| json!({"v": 1, "workload": workload, "hardware": {"preset": "a100-80g"}, "policy": policy, "measured": measured});
    rows.iter().map(|row| request(row).to_string()).collect()
}

/// What the engine makes of them.
pub fn answers() -> Vec<String> {
    requests().iter().map(|request| door::text(&door::calibrate(request))).collect()
}

/// The committed answers.
pub fn expected() -> Vec<String> {
    ANSWERS.lines().map(str::to_owned).collect()
}
