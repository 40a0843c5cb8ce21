//! A transformer by its numbers: parameter counts, and the chain embedding → blocks → head.

use super::block;
use super::states::{Parameters, Training};
use crate::engine::accepted::Accepted;
use crate::engine::chain::{Chain, Layer, LayerKind};
use crate::engine::error::Error;
use crate::engine::hardware::Hardware;
use crate::engine::names::names;
use crate::engine::read::Group;
use crate::engine::units::{Bytes, Nanos};

names! {
    /// The kind of block.
    Block {
        /// Pre-LayerNorm, plain MLP.
        Gpt = "gpt",
        /// Pre-RMSNorm, gated MLP, rotary positions.
        Llama = "llama",
        /// Post-LayerNorm encoder.
        Bert = "bert",
        /// Pre-LayerNorm encoder without dropout.
        Vit = "vit",
    }
}
names! {
    /// The normalization.
    Norm {
        /// LayerNorm.
        Layer = "layer",
        /// RMSNorm.
        Rms = "rms",
    }
}
names! {
    /// How attention is computed.
    Attention {
        /// Scores and probabilities in memory.
        Eager = "eager",
        /// Fused: keeps the log-sum-exp.
        Flash = "flash",
    }
}
names! {
    /// Whose code runs.
    Implementation {
        /// Fused kernels.
        Fused = "fused",
        /// As the transformers library writes it.
        Eager = "eager",
    }
}
names! {
    /// Whose kernels decide what is saved.
    Backend {
        /// Derived.
        Cuda = "cuda",
        /// Measured.
        Cpu = "cpu",
    }
}

/// The numbers of a transformer and of one micro-batch.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a knob of its own")]
pub struct Transformer {
    /// Kind of block.
    pub block: Block,
    /// Blocks.
    pub layers: u64,
    /// Width of the residual stream, h.
    pub hidden: u64,
    /// Attention heads, a.
    pub heads: u64,
    /// Key and value heads.
    pub kv_heads: u64,
    /// Width of a head.
    pub head_dim: u64,
    /// Width of the MLP.
    pub ffn: u64,
    /// Vocabulary.
    pub vocab: u64,
    /// SwiGLU-like MLP.
    pub gated_mlp: bool,
    /// Normalization.
    pub norm: Norm,
    /// Attention.
    pub attention: Attention,
    /// Dropout on the residual stream's way.
    pub dropout: bool,
    /// Dropout on attention probabilities.
    pub attention_dropout: bool,
    /// Attention is given a mask (padding), beside being causal.
    pub attention_mask: bool,
    /// Biases on every linear layer.
    pub bias: bool,
    /// Biases on query, key and value.
    pub qkv_bias: bool,
    /// Norms on queries and keys.
    pub qk_norm: bool,
    /// Head shares the embedding.
    pub tied_embedding: bool,
    /// Rows of the position table.
    pub learned_positions: u64,
    /// Tokens in a sequence, s.
    pub seq: u64,
    /// Sequences in a micro-batch, b.
    pub batch: u64,
    /// Micro-batches per step.
    pub accumulation: u64,
    /// Chunks of the loss.
    pub loss_chunks: u64,
    /// The loss is computed in fp32.
    pub loss_upcast: bool,
    /// Whose code.
    pub implementation: Implementation,
    /// Whose kernels.
    pub backend: Backend,
}

impl Transformer {
    /// Reads the group.
    ///
    /// # Errors
    /// An [`Error`] that names the key; heads that do not divide hidden (without `head_dim`) or are no
    /// multiple of kv heads are refused.
    pub fn read(group: &mut Group) -> Result<Self, Error> {
        let block = group.choice("block", Block::Llama, Block::parse)?;
        let gated = block == Block::Llama;
        let hidden = group.int("hidden", 4096)?;
        let heads = group.int("heads", (hidden / 128).max(1))?;
        let kv_heads = group.int("kv_heads", heads)?;
        let head_dim = match group.int_or_none("head_dim")? {
            Some(width) => width,
            None if hidden.is_multiple_of(heads) => hidden / heads,
            None => {
                return Err(Error::Unfit {
                    path: group.path("heads"),
                    given: heads.to_string(),
                    accepted: Accepted::DividesHidden(hidden),
                });
            }
        };
        if !heads.is_multiple_of(kv_heads) {
            return Err(Error::Unfit {
                path: group.path("kv_heads"),
                given: kv_heads.to_string(),
                accepted: Accepted::DividesHeads(heads),
            });
        }
        let norm = if gated { Norm::Rms } else { Norm::Layer };
        let bias = group.flag("bias", !gated)?;
        let dropout = group.flag("dropout", matches!(block, Block::Gpt | Block::Bert))?;
        let seq = group.int("seq", 2048)?;
        let batch = group.int("batch", 1)?;
        let tokens = batch.saturating_mul(seq);
        Ok(Self {
            block,
            layers: group.int("layers", 32)?,
            hidden,
            heads,
            kv_heads,
            head_dim,
            ffn: group.int("ffn", if gated { gated_width(hidden) } else { 4 * hidden })?,
            vocab: group.int("vocab", 32000)?,
            gated_mlp: group.flag("gated_mlp", gated)?,
            norm: group.choice("norm", norm, Norm::parse)?,
            attention: group.choice("attention", Attention::Flash, Attention::parse)?,
            dropout,
            attention_dropout: group.flag("attention_dropout", dropout)?,
            attention_mask: group.flag("attention_mask", false)?,
            bias,
            qkv_bias: group.flag("qkv_bias", bias)? || bias,
            qk_norm: group.flag("qk_norm", false)?,
            tied_embedding: group
                .flag("tied_embedding", matches!(block, Block::Gpt | Block::Bert))?,
            learned_positions: group.int("learned_positions", if gated { 0 } else { seq })?,
            seq,
            batch,
            accumulation: group.int("accumulation", 1)?,
            loss_chunks: clamp_chunks(group, tokens)?,
            loss_upcast: group.flag("loss_upcast", true)?,
            implementation: group.choice(
                "implementation",
                Implementation::Fused,
                Implementation::parse,
            )?,
            backend: group.choice("backend", Backend::Cuda, Backend::parse)?,
        })
    }

    /// Tokens in a micro-batch.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.batch.saturating_mul(self.seq)
    }

    /// Width of all query heads.
    #[must_use]
    pub const fn query_width(&self) -> u64 {
        self.heads * self.head_dim
    }

    /// Width of all key heads.
    #[must_use]
    pub const fn key_width(&self) -> u64 {
        self.kv_heads * self.head_dim
    }

    /// Parameters of the whole model, as the public models count theirs.
    #[must_use]
    pub fn params(&self) -> u64 {
        self.layers * (self.block_linear() + self.block_norms())
            + self.embedding_params()
            + self.head_params()
    }

    /// Weights and biases of a block's linear layers.
    fn block_linear(&self) -> u64 {
        let (h, q, kv, f) = (self.hidden, self.query_width(), self.key_width(), self.ffn);
        let up = if self.gated_mlp { 2 } else { 1 };
        let qkv_bias = if self.qkv_bias { q + 2 * kv } else { 0 };
        let bias = if self.bias { h + up * f + h } else { 0 };
        self.block_weights() + qkv_bias + bias
    }

    /// Weights of a block's linear layers, biases aside: what autocast casts.
    pub(super) fn block_weights(&self) -> u64 {
        let (h, q, kv, f) = (self.hidden, self.query_width(), self.key_width(), self.ffn);
        let up = if self.gated_mlp { 2 } else { 1 };
        h * q + 2 * h * kv + q * h + (up + 1) * h * f
    }

    fn norm_params(&self) -> u64 {
        match self.norm {
            Norm::Layer => 2 * self.hidden,
            Norm::Rms => self.hidden,
        }
    }

    fn block_norms(&self) -> u64 {
        2 * self.norm_params() + if self.qk_norm { 2 * self.head_dim } else { 0 }
    }

    /// Token and position tables; BERT's token types and embedding norm.
    fn embedding_params(&self) -> u64 {
        let bert = if self.block == Block::Bert { 2 * self.hidden + self.norm_params() } else { 0 };
        (self.vocab + self.learned_positions) * self.hidden + bert
    }

    /// Final norm and an untied head; BERT's masked-language-model head in their place.
    fn head_params(&self) -> u64 {
        let h = self.hidden;
        let transform = if self.block == Block::Bert { h * h + h + self.vocab } else { 0 };
        let head = if self.tied_embedding { 0 } else { self.vocab * h };
        self.norm_params() + transform + head
    }

    /// Σ (in + out) over a block's linear layers: what LoRA adds at rank 1.
    fn lora_unit(&self) -> u64 {
        let (h, q, kv, f) = (self.hidden, self.query_width(), self.key_width(), self.ffn);
        let ups = if self.gated_mlp { 2 } else { 1 };
        (h + q) + 2 * (h + kv) + (q + h) + (ups + 1) * (h + f)
    }

    /// Blocks on the first pipeline stage.
    fn blocks_here(&self, training: &Training) -> u64 {
        self.layers.div_ceil(training.pp)
    }

    /// Parameters on one device of the first stage: linear layers and tables over `tp`, norms in full.
    fn parameters_here(&self, training: &Training) -> Parameters {
        let (t, blocks) = (training.tp, self.blocks_here(training));
        let ends = if training.pp == 1 {
            self.embedding_params() + self.head_params()
        } else {
            self.embedding_params()
        };
        let lora = training.lora_rank.map_or(0, |rank| blocks * self.lora_unit() * rank);
        Parameters {
            linear: (blocks * self.block_linear()).div_ceil(t),
            other: blocks * self.block_norms() + ends.div_ceil(t),
            lora_unit: (lora / training.lora_rank.unwrap_or(1)).div_ceil(t),
        }
    }

    /// Lowers to the chain of the first pipeline stage.
    #[must_use]
    pub fn lower(&self, training: &Training, hardware: &Hardware) -> Chain {
        let table = block::Builder { model: self, training, hardware };
        let here = self.parameters_here(training);
        let fixed = training.states(here, hardware.unmodelled);
        let mut layers = vec![table.embedding()];
        let block = table.block();
        layers.extend((0..self.blocks_here(training)).map(|i| Layer {
            name: format!("block {}", i + 1),
            kind: LayerKind::Block,
            ..block.clone()
        }));
        if training.pp == 1 {
            layers.push(table.head());
        }
        self.gradients(training, fixed.gradients, &mut layers);
        Chain {
            fixed,
            layers,
            optimizer: optimizer_time(&fixed, hardware),
            accumulation: self.accumulation,
            in_flight: training.pp.min(self.accumulation) - 1,
            bubble: training.pp - 1,
            samples: self.batch.saturating_mul(training.dp),
            seq: self.seq,
            params: self.params(),
            params_here: here.linear + here.other,
        }
    }
}

/// Whose parameters' gradients a layer's backward makes.
impl Transformer {
    /// Parameters that are trained in a layer of `kind`, up to the division by `tp` that all share.
    fn trained_in(&self, kind: LayerKind, training: &Training) -> u64 {
        if training.lora_rank.is_some() {
            return if kind == LayerKind::Block { self.lora_unit() } else { 0 };
        }
        match kind {
            LayerKind::Embedding => self.embedding_params() - self.tied(),
            LayerKind::Block => self.block_linear() + self.block_norms(),
            LayerKind::Head => self.head_params() + self.tied(),
        }
    }

    /// Weights that the head shares with the embedding: their gradient is there from the head's backward on.
    const fn tied(&self) -> u64 {
        if self.tied_embedding { self.vocab * self.hidden } else { 0 }
    }

    /// What summing both gradients of a shared weight takes in the embedding's backward: that of the head, its own, and the
    /// sum, which autograd writes to a third place (measured on PyTorch 2.8: three times the weight). The head's is there
    /// already where gradients grow.
    fn tied_sum(&self, training: &Training, grow: bool) -> Bytes {
        let trained = training.lora_rank.is_none() && training.pp == 1;
        let width = training.dtype.residual_width();
        let weight = Bytes::from_shape(&[self.tied().div_ceil(training.tp)], width);
        weight.times(if !trained {
            0
        } else if grow {
            2
        } else {
            3
        })
    }

    /// Spreads the gradients over the layers whose backward makes them: transient bytes there, which stay if they grow.
    fn gradients(&self, training: &Training, total: Bytes, layers: &mut [Layer]) {
        let trained: Vec<u64> =
            layers.iter().map(|layer| self.trained_in(layer.kind, training)).collect();
        let all: u128 = trained.iter().map(|&count| u128::from(count)).sum();
        let mut rest = total;
        for (i, layer) in layers.iter_mut().enumerate().rev() {
            let share = u128::from(total.0) * u128::from(trained[i]) / all.max(1);
            let share = Bytes(u64::try_from(share).unwrap_or(u64::MAX)).min(rest);
            // What rounding leaves goes to the last that backward reaches.
            let share = if i == 0 { rest } else { share };
            rest = rest.saturating_sub(share);
            // The head's summit counts its weight's gradient already; what it leaves fits in what it held.
            layer.backward_scratch = match layer.kind {
                LayerKind::Head => {
                    layer.backward_scratch.max(share.saturating_sub(layer.saved_bytes()))
                }
                _ => layer.backward_scratch + share,
            };
            let grow = training.gradients_grow(self.accumulation);
            if layer.kind == LayerKind::Embedding {
                layer.backward_scratch += self.tied_sum(training, grow);
            }
            if grow {
                layer.gradients = share;
            }
        }
    }
}

/// The optimizer reads and writes every state once: time is traffic over HBM bandwidth.
fn optimizer_time(fixed: &crate::engine::chain::Static, hardware: &Hardware) -> Nanos {
    hardware.hbm.time((fixed.gradients + fixed.optimizer).times(2))
}

/// 8/3 of the width, rounded up to 256 (LLaMA's rule).
const fn gated_width(hidden: u64) -> u64 {
    (8 * hidden).div_ceil(3).next_multiple_of(256)
}

fn clamp_chunks(group: &mut Group, tokens: u64) -> Result<u64, Error> {
    let chunks = group.int("loss_chunks", 1)?;
    if chunks > tokens {
        group.clamp("loss_chunks", chunks.into(), tokens.into());
    }
    Ok(chunks.min(tokens))
}
