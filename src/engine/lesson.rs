//! The textbook's closed formulas of the same scenario (docs/model.md section 1), to be shown beside the simulation. They
//! know no lifetimes and no streams; each field says what it leaves out.

use super::closed::{self, ClosedForms};
use super::outcome::Summary;
use super::plan::even_split;
use super::policy::{Policy, PolicyKind};
use super::scenario::Scenario;
use super::search::revolve;
use super::units::{Bytes, Nanos};
use super::workload::Workload;
use serde::Serialize;

/// What the formulas say, by name. Bytes and seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lesson {
    /// M = base: bytes that do not depend on the plan.
    pub base_bytes: Bytes,
    /// A: activations of keep-everything, of all micro-batches in flight.
    pub activation_bytes: Bytes,
    /// M of the current policy by formula (A/K forgets the segment that is being recomputed).
    pub peak_bytes: Bytes,
    /// Step of the current policy by formula: compute, plus what max(C, T) leaves visible.
    pub step_s: f64,
    /// base + A/K.
    pub k_segments_bytes: Bytes,
    /// K·c + ⌈L/K⌉·a beside base: boundaries and the segment that is being recomputed.
    pub k_segments_with_boundaries_bytes: Bytes,
    /// F·(K−1)/K.
    pub k_segments_extra_s: f64,
    /// About one forward.
    pub full_recompute_extra_s: f64,
    /// A/B, one way.
    pub full_offload_extra_s: f64,
    /// base + β·A/K.
    pub mix_bytes: Bytes,
    /// (1−β)·A/B, one way.
    pub mix_transfer_s: f64,
    /// max(compute, transfer), transfer out and back.
    pub overlap_s: f64,
    /// max(0, transfer − compute).
    pub visible_s: f64,
    /// `R_mem` = 1 − `M_new`/`M_old`, simulated.
    pub memory_ratio: f64,
    /// `R_cost` = `C_extra`/`C_base`, simulated.
    pub cost_ratio: f64,
    /// Share of memory saved over share of compute added; absent when nothing is added.
    pub benefit_ratio: Option<f64>,
    /// Closed formulas of the literature, for a transformer.
    #[serde(flatten)]
    pub closed: Option<ClosedForms>,
    /// Worked programs, for a lesson workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// Worked programs, for a lesson workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategies: Option<Strategies>,
}

/// The threshold rule: offload when it no longer fits, then the counter is empty again. It charges one layer per overflow
/// yet empties the whole counter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Epoch {
    /// Overflows.
    pub offload_count: u64,
    /// Copies out and back, s.
    pub round_trip_s: f64,
    /// What half of compute cannot hide, s.
    pub visible_s: f64,
    /// Compute plus visible, s.
    pub epoch_s: f64,
    /// Visible over the epoch, percent.
    pub slowdown_percent: f64,
}

/// One row of the table of strategies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Strategy {
    /// Memory, GB.
    pub mem_gb: f64,
    /// Compute added, s.
    pub extra_compute_s: f64,
    /// Transfer added, one way, s.
    pub extra_time_s: f64,
    /// λ·memory + (1−λ)·time.
    pub total_cost: f64,
}

/// The table of strategies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Strategies {
    /// Keep everything.
    pub full_activation: Strategy,
    /// K segments.
    pub gradient_checkpoint: Strategy,
    /// Offload everything.
    pub activation_offload: Strategy,
    /// The name of the least total cost.
    pub best: &'static str,
}

/// The formulas for a scenario under `policy`, beside its simulated peak and step and those of keep-everything.
#[must_use]
pub fn of(
    scenario: &Scenario,
    policy: &Policy,
    plain: &Summary,
    (peak, step): (Bytes, Nanos),
) -> Lesson {
    let chain = &scenario.chain;
    let base = chain.fixed.total();
    let activations = chain.activation_bytes();
    let in_step = |time: Nanos| chain.in_step(time).secs();
    let forward = in_step(chain.forward());
    let blocks = chain.blocks().count() as u64;
    let split = policy.segments.clone().unwrap_or_else(|| even_split(blocks, policy.k));
    let (k, longest) = (split.len() as u64, split.iter().copied().max().unwrap_or(0));
    let share = as_float(k);
    let held = chain.pipeline.all(activations);
    let over_k = Bytes::from_f64(held.as_f64() / share);
    let layer = chain.blocks().map(|i| chain.layers[i].saved_bytes()).max().unwrap_or_default();
    let boundary = chain.blocks().map(|i| chain.layers[i].boundary).max().unwrap_or_default();
    let out = in_step(scenario.hardware.d2h.time(activations));
    let back = in_step(scenario.hardware.h2d.time(activations));
    let extra = forward * (share - 1.0) / share;
    let compute = plain.step.secs();
    let mix_share = 1.0 - policy.beta;
    let (bytes, added, transfer) = match policy.kind {
        PolicyKind::Checkpoint => (base + over_k, extra, 0.0),
        PolicyKind::Recompute => (base, forward, 0.0),
        PolicyKind::Offload => (base, 0.0, out + back),
        PolicyKind::OffloadBoundaries => {
            let moved = boundary.times(blocks).as_f64() / activations.as_f64().max(1.0);
            (base, forward, moved * (out + back))
        }
        PolicyKind::Mix => (
            base + Bytes::from_f64(policy.beta * over_k.as_f64()),
            policy.beta * extra,
            mix_share * (out + back),
        ),
        PolicyKind::Binomial => {
            let (slots, again) = revolve::forwards(blocks, policy);
            let again = forward * as_float(again) / as_float(blocks.max(1));
            (base + boundary.times(slots) + layer, again, 0.0)
        }
        _ => (base + held, 0.0, 0.0),
    };
    let memory_ratio = 1.0 - peak.as_f64() / plain.peak.as_f64().max(1.0);
    let cost_ratio = if compute > 0.0 { step.secs() / compute - 1.0 } else { 0.0 };
    let (epoch, strategies) = worked(scenario, policy);
    let closed = match &scenario.workload {
        Workload::Transformer(model) => {
            Some(closed::of(model, &scenario.training, chain, policy.kind))
        }
        _ => None,
    };
    Lesson {
        base_bytes: base,
        activation_bytes: held,
        peak_bytes: bytes,
        step_s: (compute + added).max(transfer),
        k_segments_bytes: base + over_k,
        k_segments_with_boundaries_bytes: base + boundary.times(k) + layer.times(longest),
        k_segments_extra_s: extra,
        full_recompute_extra_s: forward,
        full_offload_extra_s: out,
        mix_bytes: base + Bytes::from_f64(policy.beta * over_k.as_f64()),
        mix_transfer_s: mix_share * out,
        overlap_s: compute.max(out + back),
        visible_s: (out + back - compute).max(0.0),
        memory_ratio,
        cost_ratio,
        benefit_ratio: (cost_ratio > 0.0).then(|| memory_ratio / cost_ratio),
        closed,
        epoch,
        strategies,
    }
}

fn worked(scenario: &Scenario, policy: &Policy) -> (Option<Epoch>, Option<Strategies>) {
    let Workload::Lesson(lesson) = &scenario.workload else {
        return (None, None);
    };
    let gbps = lesson.bandwidth_gbps.unwrap_or(scenario.hardware.d2h.0 / 1e9);
    let card = lesson.gpu_mem_gb.unwrap_or(scenario.limits.memory.as_f64() / 1e9);
    let layers = as_float(lesson.layers);
    let forward = lesson.forward_cost_s.unwrap_or(layers * lesson.layer_s);
    let epoch = epoch(card, gbps, lesson.layers, lesson.act_gb, lesson.layer_s);
    let table = strategies(&Table {
        layers,
        act_gb: lesson.act_gb,
        base_gb: lesson.base_gb,
        forward_s: forward,
        gbps,
        k: as_float(policy.k),
        lambda_memory: scenario.weights.memory,
    });
    (Some(epoch), Some(table))
}

/// The worked epoch: at most half of compute can hide transfers.
#[must_use]
pub fn epoch(card_gb: f64, gbps: f64, layers: u64, act_gb: f64, layer_s: f64) -> Epoch {
    let mut count = 0;
    let mut used = 0.0;
    for _ in 0..layers {
        used += act_gb;
        if used > card_gb {
            count += 1;
            used = 0.0;
        }
    }
    let compute = as_float(layers) * layer_s;
    let round_trip = as_float(count) * act_gb * 2.0 / gbps;
    let visible = (round_trip - 0.5 * compute).max(0.0);
    let total = compute + visible;
    let slowdown = if total > 0.0 { visible / total * 100.0 } else { 0.0 };
    Epoch {
        offload_count: count,
        round_trip_s: round_trip,
        visible_s: visible,
        epoch_s: total,
        slowdown_percent: slowdown,
    }
}

/// Inputs of the table of strategies.
pub struct Table {
    /// Layers.
    pub layers: f64,
    /// Activation of one, GB.
    pub act_gb: f64,
    /// Base, GB.
    pub base_gb: f64,
    /// Forward, s.
    pub forward_s: f64,
    /// Link, GB/s.
    pub gbps: f64,
    /// Segments.
    pub k: f64,
    /// λ of memory; time has 1 − λ.
    pub lambda_memory: f64,
}

/// The worked table: one way of the transfer, and A/K.
#[must_use]
pub fn strategies(table: &Table) -> Strategies {
    let activations = table.layers * table.act_gb;
    let row = |mem_gb: f64, extra_compute_s: f64, extra_time_s: f64| Strategy {
        mem_gb,
        extra_compute_s,
        extra_time_s,
        total_cost: table.lambda_memory * mem_gb
            + (1.0 - table.lambda_memory) * (extra_compute_s + extra_time_s),
    };
    let full = row(table.base_gb + activations, 0.0, 0.0);
    let checkpoint = row(
        table.base_gb + activations / table.k,
        table.forward_s * (table.k - 1.0) / table.k,
        0.0,
    );
    let offload = row(table.base_gb, 0.0, activations / table.gbps);
    let named = [
        ("full_activation", full),
        ("gradient_checkpoint", checkpoint),
        ("activation_offload", offload),
    ];
    let best = named
        .iter()
        .min_by(|a, b| a.1.total_cost.total_cmp(&b.1.total_cost))
        .map_or("", |row| row.0);
    Strategies {
        full_activation: full,
        gradient_checkpoint: checkpoint,
        activation_offload: offload,
        best,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a lesson")]
fn as_float(n: u64) -> f64 {
    n as f64
}
