//! The documentation of the JSON doors, made from the table of knobs: what a request may hold and what the answers do.

use super::knob::{KNOBS, Kind};
use super::preset;
use serde_json::{Value, json};

/// Every key of a request with its kind, range, unit and meaning, and what the answers hold.
#[must_use]
pub fn schema() -> Value {
    let knobs = KNOBS.iter().map(|knob| {
        let mut row = json!({"path": format!("{}.{}", knob.group, knob.key), "unit": knob.unit, "about": knob.about});
        let kind = match knob.kind {
            Kind::Int { min, max } => json!({"type": "integer", "min": min, "max": max}),
            Kind::Float { min, max } => json!({"type": "number", "min": min, "max": max}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Choice(names) => json!({"type": "string", "one_of": names}),
            Kind::Preset if knob.group == "hardware" => {
                json!({"type": "string", "one_of": preset::names(preset::cards()).collect::<Vec<_>>()})
            }
            Kind::Preset => json!({"type": "string", "one_of": preset::names(preset::models()).collect::<Vec<_>>()}),
            Kind::List => json!({"type": "array"}),
            Kind::Object => json!({"type": "object"}),
        };
        if let (Value::Object(row), Value::Object(kind)) = (&mut row, kind) {
            row.extend(kind);
        }
        row
    });
    json!({
        "v": 1,
        "request": knobs.collect::<Vec<_>>(),
        "doors": {
            "evaluate": "the outcome of a scenario under its policy; spans and ledger with detail: true",
            "front": "points: every plan of the family with peak_bytes, step_s, fits and on_front; best is an index into them",
            "calibrate": "the knobs efficiency, backward_ratio, unmodelled_gib, d2h_gbps and h2d_gbps fitted to the numbers of measured beside the scenario, with residuals",
            "inverse": "the largest batch or sequence that fits, the least memory at a slowdown, the cheapest card, the least bandwidth: what inverse.ask names, with the neighbour that is not enough and the changes that put it to use",
            "nearest": "what a scenario that does not fit is missing, and up to three changes that make it fit, each a list of path and value (set)",
            "sensitivity": "the fastest step and the own plan's with one unit less and more of memory, link and compute: difference_s, per_unit_s, within_gap",
            "map": "cells: over link rate and memory limit the fastest plan found, its strategy, step_s, overhead and bound_s; here is the scenario's own",
            "plan": "the fastest plan that runs, with its outcome; no plan that runs is below bound_s",
        },
        "cost_model": "simulated, or additive: plan and front then answer the additive model, layer by layer, with optimal, bound_s and gap",
        "additive": "plan and front: an instance of the additive model by its own keys, or hidden_s beside a workload",
        "knapsack": "plan: size_bytes, runtime_s and budget_bytes; kept are indices, from 0",
        "detail": "true beside v: evaluate answers with spans and ledger too",
        "units": "keys that end in _bytes are bytes, in _s seconds, in _gib 2^30 bytes, in _gbps 1e9 bytes a second",
        "outcome_keys_beyond_docs": [
            "outcome.memory_bytes: the budget that the step ran within",
            "outcome.shortage_bytes: what the budget lacks for the whole step; out_of_memory.missing_bytes is what its first failing operation lacks",
            "outcome.policy: the policy with best resolved and every default filled",
            "outcome.peak_unmoved_freed_bytes: what offloading frees after forward without lowering the peak; null otherwise",
            "outcome.state_bytes_per_parameter: weights, gradients, master and optimizer of a trained parameter, before sharding; states only",
            "outcome.host_states_bytes, gathered_bytes: model states in host memory; the most that gathered weights and passing gradients add to a layer",
            "outcome.ssd_written_bytes, ssd_life_days: written to the drive in a step; days until hardware.ssd_tbw, null where nothing is written",
            "outcome.micro_s, bubble_s: one micro-batch; pipeline slots that pass idle",
            "outcome.layers[].window_s: from the end of its forward to the start of its backward",
            "outcome.layers[].saved[].why: with detail: true, its own numbers and what would change their reason",
            "outcome.layers[].reason: window-too-short, offload-hidden, recompute-cheaper or nothing-saved",
        ],
        "presets": {"hardware": preset::cards(), "workload": preset::models()},
    })
}
