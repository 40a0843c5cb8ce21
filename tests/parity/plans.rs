//! Searches for the fastest plan, and where each ends: the same plan and numbers natively and, in slices, in the browser. Included by
//! tests/parity.rs, which can write plans.txt anew, and by the browser's tests.

use galley::engine::outcome::Summary;
use galley::engine::{Nanos, Policy};
use serde_json::{Value, json};

const PLANS: &str = include_str!("plans.txt");

/// Searches that prove their plan, that leave a gap, and that find none; with a drive, a slow link, a pipeline and layers that differ.
pub fn requests() -> Vec<String> {
    let lesson =
        json!({"kind": "lesson", "layers": 12, "act_gb": 1.5, "layer_s": 0.1, "base_gb": 4});
    let gpt = json!({"preset": "gpt2", "batch": 8});
    let layer = |i: u32| {
        json!({"forward_s": 0.01 * f64::from(i % 3) + 0.02, "backward_s": 0.05, "boundary_bytes": 1 << 24,
        "saves_input": true, "saved": [{"bytes": (1 + i % 4) << 26, "recompute_s": 0.01}, {"bytes": 1 << 25}]})
    };
    let mixed = json!({"kind": "profile", "layers": (0..9).map(layer).collect::<Vec<_>>()});
    let rows = [
        (&lesson, json!({}), json!({}), 24.0),
        (&lesson, json!({}), json!({"d2h_gbps": 4, "h2d_gbps": 6}), 12.0),
        (&lesson, json!({}), json!({"host_gib": 4}), 10.0),
        (&lesson, json!({}), json!({}), 5.0),
        (&gpt, json!({}), json!({}), 4.0),
        (&gpt, json!({"pp": 2}), json!({"d2h_gbps": 6}), 3.0),
        (&mixed, json!({}), json!({"d2h_gbps": 3, "h2d_gbps": 3}), 0.75),
    ];
    let request = |(workload, training, hardware, limit): &(&Value, Value, Value, f64)| {
        let mut card = json!({"preset": "rtx-4090"});
        for (key, value) in hardware.as_object().into_iter().flatten() {
            card[key] = value.clone();
        }
        json!({"v": 1, "workload": workload, "training": training, "hardware": card,
            "policy": {"kind": "best"}, "limits": {"memory_gib": limit}})
    };
    rows.iter().map(|row| request(row).to_string()).collect()
}

/// Where a search ended, in a line.
pub fn line(policy: &Policy, summary: &Summary, bound: Option<Nanos>) -> String {
    let digest = super::scenarios::digest(&json!(policy).to_string());
    let bound = bound.map_or_else(|| "none".to_owned(), |bound| bound.0.to_string());
    let (step, peak, kind) = (summary.step.0, summary.peak.0, policy.kind.name());
    format!("{kind} {digest:016x} step {step} peak {peak} runs {} bound {bound}", summary.runs)
}

/// The committed lines.
pub fn expected() -> Vec<String> {
    PLANS.lines().map(str::to_owned).collect()
}
