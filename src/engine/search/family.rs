//! The family of plans that a front is drawn over: K × β × medium × policy × prefetch distance, and slots. Deterministic, at least
//! 500 members on chains of three blocks or more, and it contains the scenario's own policy.

use super::revolve;
use crate::engine::chain::{Chain, Layer};
use crate::engine::policy::{Action, Granularity, Policy, PolicyKind};
use crate::engine::scenario::Scenario;
use crate::engine::units::Bytes;

/// Every member, the scenario's own policy first.
#[must_use]
pub fn policies(scenario: &Scenario) -> Vec<Policy> {
    let own = Policy {
        kind: if scenario.asks_for_best() { PolicyKind::Keep } else { scenario.policy.kind },
        ..scenario.policy.clone()
    };
    let base = Policy { slots: None, ..own.without_lists() };
    let blocks = scenario.chain.blocks().count() as u64;
    let segments = segments(blocks);
    let media: &[Action] = if scenario.hardware.ssd > Bytes::ZERO {
        &[Action::Host, Action::Ssd]
    } else {
        &[Action::Host]
    };
    let mut all = vec![own];
    let mut add = |policy: Policy| {
        if policy != all[0] {
            all.push(policy);
        }
    };
    for kind in [PolicyKind::Keep, PolicyKind::Recompute, PolicyKind::Selective] {
        add(Policy { kind, ..base.clone() });
    }
    for &k in &segments {
        for last_segment_plain in [false, true] {
            add(Policy { kind: PolicyKind::Checkpoint, k, last_segment_plain, ..base.clone() });
        }
    }
    for slots in slots(&scenario.chain, &segments) {
        add(Policy { kind: PolicyKind::Binomial, slots: Some(slots), ..base.clone() });
    }
    let distances = prefetches(segments.len());
    let cuts = granularities(
        media.len() * distances.len() * (3 + SHARES.len() * segments.len()),
        base.granularity,
    );
    for &medium in media {
        for &prefetch_layers in distances {
            for &granularity in cuts {
                let base = Policy { medium, granularity, prefetch_layers, ..base.clone() };
                for kind in [PolicyKind::Offload, PolicyKind::OffloadBoundaries, PolicyKind::Rule] {
                    add(Policy { kind, ..base.clone() });
                }
                for beta in SHARES {
                    for &k in &segments {
                        add(Policy { kind: PolicyKind::Mix, k, beta, ..base.clone() });
                    }
                }
            }
        }
    }
    all
}

/// Shares of the layers that `mix` checkpoints.
const SHARES: [f64; 9] = [0.0625, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 0.9375];

/// Prefetch distances: more where a short chain leaves few values of K.
const fn prefetches(segments: usize) -> &'static [u64] {
    match segments {
        0..6 => &[0, 1, 2, 3, 4, 6, 8, 12],
        6..9 => &[0, 1, 2, 4, 8],
        _ => &[1, 2, 4],
    }
}

/// Copies cut both ways where that is needed for 500 plans, else as the reader cuts them.
const fn granularities(plans: usize, own: Granularity) -> &'static [Granularity] {
    match own {
        _ if plans < 500 => &[Granularity::Layer, Granularity::Tensor],
        Granularity::Layer => &[Granularity::Layer],
        Granularity::Tensor => &[Granularity::Tensor],
    }
}

/// Numbers of slots, from 2 on, with which binomial checkpointing holds less than any even split (as if every block were the largest), and
/// runs no more than [`MOST_FORWARDS`] forwards in all beside the first.
fn slots(chain: &Chain, segments: &[u64]) -> impl Iterator<Item = u64> {
    let blocks = chain.blocks().count() as u64;
    let largest = |of: fn(&Layer) -> Bytes| {
        chain.blocks().map(|i| of(&chain.layers[i])).max().unwrap_or_default()
    };
    let (boundary, saved) = (largest(|layer| layer.boundary), largest(Layer::saved_bytes));
    let held = move |boundaries: u64, run: u64| boundary.times(boundaries) + saved.times(run);
    let least = segments.iter().map(|&k| held(k, blocks.div_ceil(k))).min().unwrap_or_default();
    SLOTS.into_iter().filter(move |&slots| {
        let whole = u32::try_from(blocks).ok().zip(u32::try_from(slots).ok());
        let again = whole.and_then(|(blocks, slots)| revolve::advances(blocks, slots));
        slots < blocks
            && held(slots, 1) < least
            && again.is_some_and(|again| again <= MOST_FORWARDS * blocks)
    })
}

/// Candidates.
const SLOTS: [u64; 16] = [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64];

/// Beyond this, a slot less costs more time than anyone would give for a boundary.
const MOST_FORWARDS: u64 = 5;

/// Values of K from 1 to the number of blocks, closer together where they are small.
fn segments(blocks: u64) -> Vec<u64> {
    let wanted = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];
    let mut ks: Vec<u64> = wanted.into_iter().filter(|&k| k < blocks).collect();
    ks.push(blocks.max(1));
    ks
}
