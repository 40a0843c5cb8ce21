//! One device of a pipeline under 1F1B: what it holds for others than the micro-batch shown, and how long it is idle.
//!
//! With one model chunk per device, stage r of p (from 1) runs p − r forwards ahead of its first backward and so holds
//! p − r + 1 micro-batches, or all there are. With m chunks per device (interleaving) it runs 2·(p − r) + (m − 1)·p chunk
//! forwards ahead (Megatron-LM, megatron/core/pipeline_parallel/schedules.py): the first stage then holds m·p + p − 1
//! chunks of L/(p·m) layers, which is L·(1 + (p − 1)/(p·m)) layers (Korthikanti et al. 2022, section 4.2.3). The bubble
//! is p − 1 micro-batches' time, over m (Narayanan et al. 2021, section 2.2).

use super::units::{Bytes, LIMIT, Nanos};

/// A device's place in the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Chunk forwards whose activations are held at once, the micro-batch shown included.
    held: u64,
    /// Model chunks on this device, taken as equal: so many held chunks are one micro-batch.
    chunks: u64,
    /// Micro-batches' time that passes idle, before division by the chunks.
    idle: u64,
}

impl Pipeline {
    /// No pipeline: one micro-batch at a time.
    pub const NONE: Self = Self { held: 1, chunks: 1, idle: 0 };

    /// Stage `stage` (from 1) of `stages`, `chunks` model chunks on each, `micro` micro-batches in a step.
    #[must_use]
    pub fn new(stage: u64, stages: u64, chunks: u64, micro: u64) -> Self {
        let behind = stages.saturating_sub(stage);
        let ahead = if chunks == 1 { behind } else { 2 * behind + (chunks - 1) * stages };
        Self { held: (ahead + 1).min(micro.saturating_mul(chunks)), chunks, idle: stages - 1 }
    }

    /// What all micro-batches in flight hold, where one holds `each`.
    #[must_use]
    pub fn all(&self, each: Bytes) -> Bytes {
        scaled(each, self.held, self.chunks)
    }

    /// What those beside the one that is shown hold.
    #[must_use]
    pub fn others(&self, each: Bytes) -> Bytes {
        scaled(each, self.held - self.chunks, self.chunks)
    }

    /// One micro-batch's share of a room that all in flight use at once.
    #[must_use]
    pub fn share(&self, room: Bytes) -> Bytes {
        let whole = u128::from(room.0) * u128::from(self.chunks) / u128::from(self.held);
        Bytes(u64::try_from(whole).unwrap_or(u64::MAX))
    }

    /// Idle time in a step where a micro-batch takes `micro`.
    #[must_use]
    pub fn bubble(&self, micro: Nanos) -> Nanos {
        Nanos(scaled(Bytes(micro.0), self.idle, self.chunks).0)
    }

    /// Whether this device holds one micro-batch at a time.
    #[must_use]
    pub const fn is_alone(&self) -> bool {
        self.held == self.chunks
    }
}

fn scaled(each: Bytes, by: u64, over: u64) -> Bytes {
    let scaled = (u128::from(each.0) * u128::from(by)).div_ceil(u128::from(over));
    Bytes(u64::try_from(scaled).unwrap_or(LIMIT).min(LIMIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's factor, in whole chunks: m·p + p − 1 of them on the first stage.
    #[test]
    fn the_first_stage_holds_the_papers_layers() {
        for (p, m) in [(2, 2), (8, 3), (35, 3), (64, 1), (4, 8)] {
            let pipeline = Pipeline::new(1, p, m, 1000);
            let layers = 12 * p * m;
            let here = Bytes(layers / p);
            // The factor 1 + (p − 1)/(p·m) comes with interleaving alone: without it the chunks of a stage are one.
            let expected = if m == 1 { layers } else { layers + layers * (p - 1) / (p * m) };
            assert_eq!(pipeline.all(here), Bytes(expected), "p {p}, m {m}");
            assert_eq!(pipeline.others(here) + here, Bytes(expected));
        }
    }

    #[test]
    fn later_stages_hold_less_and_few_micro_batches_bound_all() {
        let held = |stage, micro| Pipeline::new(stage, 4, 1, micro).all(Bytes(1)).0;
        assert_eq!([1, 2, 3, 4].map(|stage| held(stage, 8)), [4, 3, 2, 1]);
        assert_eq!([1, 2, 3, 4].map(|stage| held(stage, 2)), [2, 2, 2, 1]);
        let interleaved = |stage| Pipeline::new(stage, 4, 2, 8).all(Bytes(2)).0;
        assert_eq!([1, 2, 3, 4].map(interleaved), [11, 9, 7, 5]);
        assert_eq!(Pipeline::new(1, 4, 2, 1).all(Bytes(2)), Bytes(2));
    }

    #[test]
    fn interleaving_divides_the_bubble() {
        let bubble = |m| Pipeline::new(1, 5, m, 8).bubble(Nanos(100)).0;
        assert_eq!([1, 2, 4].map(bubble), [400, 200, 100]);
        assert_eq!(Pipeline::NONE.bubble(Nanos(100)), Nanos::ZERO);
    }
}
