//! Parameter counts: of the whole model, as the public models count theirs, and of one device under tensor and pipeline
//! parallelism, as Megatron-LM divides them: what is inside attention and MLP is divided, and the vocabulary; norms,
//! positions and the biases on the residual stream are on every rank; key and value heads that are fewer than the ranks are
//! copied (megatron/core/transformer/attention.py, tensor_parallel/layers.py).

use super::states::{Parameters, Training};
use super::transformer::{Block, Norm, Transformer};
use crate::engine::plan::even_split;

/// What one pipeline stage holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Numbers of its blocks, from 1.
    pub blocks: Vec<u64>,
    /// It has the embedding.
    pub first: bool,
    /// It has head and loss.
    pub last: bool,
}

impl Stage {
    /// Stage `training.stage`: of pp · m chunks as even as can be, the longer ones first, every pp-th one.
    #[must_use]
    pub fn of(layers: u64, training: &Training) -> Self {
        let (stages, chunks) = (training.pp, training.pp * training.virtual_stages);
        let mut next = 1;
        let mut blocks = Vec::new();
        for (i, count) in (0..).zip(even_split(layers, chunks)) {
            if i % stages + 1 == training.stage {
                blocks.extend(next..next + count);
            }
            next += count;
        }
        Self { blocks, first: training.stage == 1, last: training.stage == stages }
    }
}

/// Parameters of a device, part by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Of the embedding.
    pub embedding: Parameters,
    /// Of one block.
    pub block: Parameters,
    /// Of final norm and head.
    pub head: Parameters,
}

impl Transformer {
    /// Parameters of the whole model, as the public models count theirs; LoRA's adapters are [`Training::count`]'s.
    #[must_use]
    pub fn params(&self) -> u64 {
        let whole = self.whole();
        whole.linear + whole.other
    }

    /// Parameters of the whole model by kind.
    #[must_use]
    pub fn whole(&self) -> Parameters {
        let parts = self.parts(1, self.tied_embedding);
        parts.embedding + parts.block.times(self.layers) + parts.head
    }

    /// Each part's parameters on one of `tp` ranks. `shared` says that the head's weights are the embedding's on this device.
    #[must_use]
    pub fn parts(&self, tp: u64, shared: bool) -> Parts {
        let h = self.hidden;
        let vocab = self.vocab.div_ceil(tp);
        let alone = |other| Parameters { other, ..Parameters::default() };
        let types = if self.block == Block::Bert { 2 * h + self.norm_params() } else { 0 };
        let embedding = alone((vocab + self.learned_positions) * h + types);
        // BERT's masked-language-model head has a layer of its own and a bias.
        let transform = if self.block == Block::Bert { h * h + h + vocab } else { 0 };
        let head = alone(self.norm_params() + transform + if shared { 0 } else { vocab * h });
        Parts { embedding, block: self.block_params(tp), head }
    }

    /// What the stage that is shown has of the model, and each part's parameters on one device of it.
    #[must_use]
    pub fn here(&self, training: &Training) -> (Stage, Parts) {
        let shared = self.tied_embedding && training.pp == 1;
        let parts = self.copied(training).parts(training.tp, shared);
        (Stage::of(self.layers, training), parts)
    }

    /// Weights of a block's linear layers, biases aside: what autocast casts.
    #[must_use]
    pub fn block_weights(&self) -> u64 {
        self.matrices(1)
    }

    /// The same on one of `tp` ranks.
    fn matrices(&self, tp: u64) -> u64 {
        let (h, [q, kv, f, up]) = (self.hidden, self.widths(tp));
        h * q + 2 * h * kv + q * h + (up + 1) * h * f
    }

    /// Width of queries, keys and MLP on one of `tp` ranks, and matrices into the MLP.
    fn widths(&self, tp: u64) -> [u64; 4] {
        let query = self.query_width().div_ceil(tp);
        let key = self.kv_heads.div_ceil(tp) * self.head_dim;
        [query, key, self.ffn.div_ceil(tp), if self.gated_mlp { 2 } else { 1 }]
    }

    fn block_params(&self, tp: u64) -> Parameters {
        let (h, [q, kv, f, up]) = (self.hidden, self.widths(tp));
        let biases = if self.qkv_bias { q + 2 * kv } else { 0 }
            + if self.out_bias { h } else { 0 }
            + if self.mlp_bias { up * f + h } else { 0 };
        let qk_norms = if self.qk_norm { 2 * self.head_dim } else { 0 };
        Parameters {
            linear: self.matrices(tp) + biases,
            rows: q + 2 * kv + h + up * f + h,
            other: 2 * self.norm_params() + qk_norms,
            lora_unit: (h + q) + 2 * (h + kv) + (q + h) + (up + 1) * (h + f),
        }
    }

    fn norm_params(&self) -> u64 {
        match self.norm {
            Norm::Layer => 2 * self.hidden,
            Norm::Rms => self.hidden,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::error::Notes;
    use crate::engine::read::Group;
    use serde_json::{Map, json};

    fn stage(layers: u64, training: &serde_json::Value) -> Stage {
        let (none, mut notes) = (Map::new(), Notes::default());
        let mut group = Group::new("training", &none, Some(training), &mut notes).expect("a group");
        Stage::of(layers, &Training::read(&mut group).expect("valid"))
    }

    #[test]
    fn every_block_is_on_one_stage() {
        for (layers, pp, m) in [(10, 4, 1), (12, 3, 2), (105, 35, 3), (7, 3, 2), (1, 1, 1)] {
            let mut all: Vec<u64> = (1..=pp)
                .flat_map(|r| {
                    stage(layers, &json!({"pp": pp, "virtual_stages": m, "stage": r})).blocks
                })
                .collect();
            all.sort_unstable();
            assert_eq!(all, (1..=layers).collect::<Vec<_>>(), "{layers} over {pp} x {m}");
        }
        // Interleaved: each stage has every pp-th chunk.
        let first = stage(8, &json!({"pp": 2, "virtual_stages": 2}));
        assert_eq!(first, Stage { blocks: vec![1, 2, 5, 6], first: true, last: false });
    }
}
