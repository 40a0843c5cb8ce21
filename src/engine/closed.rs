//! Closed formulas of the literature for a transformer, to be shown beside what is simulated. Activations are those of a
//! 16-bit GPT block with dropout, whatever block is trained; they leave out the norms' statistics, flash attention's
//! log-sum-exp and every transient.

use super::chain::{Chain, Layer};
use super::policy::PolicyKind;
use super::units::Bytes;
use super::workload::states::{OffloadStates, PerParameter, Training};
use super::workload::transformer::{Attention, Transformer};
use serde::Serialize;

/// What the formulas say of a scenario, by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClosedForms {
    /// One block's activations under tensor and sequence parallelism: s·b·h·(10 + 24/t + 5·a·s/(h·t)), all over t with
    /// sequence parallelism, without the last term where the core is recomputed or fused, 2·s·b·h where all is
    /// recomputed (Korthikanti et al. 2022, table 2).
    pub layer_activation_bytes: Bytes,
    /// That over the block under tensor parallelism alone, percent (the same, figure 7).
    pub percent_of_tensor_parallel: f64,
    /// L blocks' worth on the first stage, times 1 + (p − 1)/(p·m) with m > 1 chunks (the same, figure 1).
    pub first_stage_activation_bytes: Bytes,
    /// Beside it what is simulated: what the blocks of the stage shown keep under such a policy, for all micro-batches in
    /// flight.
    pub blocks_held_bytes: Bytes,
    /// Embedding dropout, and with one stage the final norm, head and logits: s·b·h·L/t·(p/L + [p = 1]·(4/L)·(1 + v/h))
    /// (the same, section 4.3).
    pub outside_layers_bytes: Bytes,
    /// Bytes a parameter × 12·L·h²/(t·p): weights of the blocks alone (the same, figure 1, with 18 bytes).
    pub parameter_and_optimizer_bytes: Bytes,
    /// 5·a·s/h over 34 + 5·a·s/h: what recomputing the attention core saves (the same, section 5).
    pub selective_memory_saved: f64,
    /// FLOP that it adds, as a share of the model's: hardware FLOP 72·B·L·s·h²·(1 + s/(3h) + v/(12hL)) over model FLOP
    /// 72·B·L·s·h²·(1 + s/(6h) + v/(12hL)), minus one (the same, equations 8 and 9).
    pub selective_flop_overhead: f64,
    /// L·s·b·h·X + s·b·h on one device, X = 34 + 5·a·s/h, 34 or 2 (Ultra-Scale Playbook, chart of activations).
    pub playbook_activation_bytes: Bytes,
    /// Model states of all parameters under ZeRO stages 0 to 3 (Rajbhandari et al. 2020, figure 1).
    pub zero_states: [ZeroStates; 4],
    /// What DeepSpeed's estimator says of ZeRO 3 (`estimate_zero3_model_states_mem_needs`): the shards that stay on the card,
    /// and weights and gradients of the largest module. States only. The simulation gathers block by block, as FSDP
    /// does, and the next one ahead.
    pub zero3_estimate_bytes: Bytes,
}

/// Model states of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ZeroStates {
    /// Weights.
    pub weights: Bytes,
    /// Gradients.
    pub gradients: Bytes,
    /// Master copy and moments.
    pub optimizer: Bytes,
}

impl ZeroStates {
    /// Their sum.
    #[must_use]
    pub fn total(&self) -> Bytes {
        self.weights + self.gradients + self.optimizer
    }
}

/// Sizes in the formulas' letters.
#[derive(Clone, Copy)]
struct Letters {
    a: f64,
    h: f64,
    l: f64,
    v: f64,
    /// s·b·h.
    sbh: f64,
    s: f64,
    p: f64,
    m: f64,
    t: f64,
}

/// The formulas for `model`, lowered to `chain`, under `policy`.
#[must_use]
pub fn of(
    model: &Transformer,
    training: &Training,
    chain: &Chain,
    policy: PolicyKind,
) -> ClosedForms {
    let letters = Letters {
        a: float(model.heads),
        h: float(model.hidden),
        l: float(model.layers),
        v: float(model.vocab),
        sbh: float(model.tokens()) * float(model.hidden),
        s: float(model.seq),
        p: float(training.pp),
        m: float(training.virtual_stages),
        t: float(training.tp),
    };
    let Letters { a, h, l, v, sbh, s, p, m, t } = letters;
    let score = 5.0 * a * s / h;
    let kept = match (policy, model.attention) {
        (PolicyKind::Selective, _) | (_, Attention::Flash) => 0.0,
        _ => score,
    };
    let full = matches!(policy, PolicyKind::Recompute | PolicyKind::OffloadBoundaries);
    let outer = if training.sp { 10.0 / t } else { 10.0 };
    let layer = if full { 2.0 * sbh } else { sbh * (outer + (24.0 + kept) / t) };
    let tensor_parallel = sbh * (10.0 + (24.0 + score) / t);
    // In chunks of L/(p·m) blocks; at most all micro-batches there are.
    let ahead = if training.virtual_stages > 1 { p * m + p - 1.0 } else { p };
    let held = ahead.min(float(model.accumulation) * m);
    let outside = p / l + if training.pp == 1 { 4.0 / l * (1.0 + v / h) } else { 0.0 };
    let factor = if full { 2.0 } else { 34.0 + kept };
    let model_flop = 1.0 + s / (6.0 * h) + v / (12.0 * h * l);
    let (bytes, params) = (&training.bytes, float(training.count(model.whole())));
    let shards = zero(params, bytes, training.dp)[3];
    let stay = match training.offload_states {
        OffloadStates::None => shards.total(),
        OffloadStates::Optimizer => shards.weights,
        OffloadStates::All => Bytes::ZERO,
    };
    let largest = Bytes::from_f64(2.0 * bytes.weights * largest_module(model));
    ClosedForms {
        layer_activation_bytes: Bytes::from_f64(layer),
        percent_of_tensor_parallel: layer / tensor_parallel * 100.0,
        first_stage_activation_bytes: Bytes::from_f64(layer * l * held / (p * m)),
        blocks_held_bytes: chain.pipeline.all(blocks_kept(chain, policy)),
        outside_layers_bytes: Bytes::from_f64(sbh * l / t * outside),
        parameter_and_optimizer_bytes: Bytes::from_f64(bytes.total() * 12.0 * l * h * h / (t * p)),
        selective_memory_saved: score / (34.0 + score),
        selective_flop_overhead: s / (6.0 * h) / model_flop,
        playbook_activation_bytes: Bytes::from_f64(l * sbh * factor + sbh),
        zero_states: zero(params, bytes, training.dp),
        zero3_estimate_bytes: stay + largest,
    }
}

/// What a stage's blocks keep for one micro-batch.
fn blocks_kept(chain: &Chain, policy: PolicyKind) -> Bytes {
    let kept = |layer: &Layer| match policy {
        PolicyKind::Recompute | PolicyKind::OffloadBoundaries => layer.boundary,
        PolicyKind::Selective => {
            let outside = layer.saved.iter().filter(|tensor| !tensor.attention_core);
            outside.map(|tensor| tensor.bytes).sum()
        }
        _ => layer.saved_bytes(),
    };
    chain.blocks().map(|i| kept(&chain.layers[i])).sum()
}

/// Parameters of the largest module that has its own: the table, a matrix of the MLP or of attention.
fn largest_module(model: &Transformer) -> f64 {
    let widest = model.vocab.max(model.ffn).max(model.query_width());
    float(widest) * float(model.hidden)
}

/// States of `params` parameters on one of `dp` ranks, by stage.
#[must_use]
pub fn zero(params: f64, bytes: &PerParameter, dp: u64) -> [ZeroStates; 4] {
    let share = |width: f64, sharded: bool| {
        Bytes::from_f64(params * width / if sharded { float(dp) } else { 1.0 })
    };
    [0, 1, 2, 3].map(|stage| ZeroStates {
        weights: share(bytes.weights, stage >= 3),
        gradients: share(bytes.gradients, stage >= 2),
        optimizer: share(bytes.master + bytes.optimizer, stage >= 1),
    })
}

#[expect(clippy::cast_precision_loss, reason = "factors of a formula")]
fn float(n: u64) -> f64 {
    n as f64
}
