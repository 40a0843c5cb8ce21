//! A transformer by its numbers: parameter counts, and the chain embedding → blocks → head.

use super::block::{self, Work};
use super::gather::Passing;
use super::parameters::Stage;
use super::states::{Parameters, Training};

use crate::engine::accepted::Accepted;
use crate::engine::chain::{Chain, Layer, LayerKind};
use crate::engine::error::Error;
use crate::engine::hardware::Hardware;
use crate::engine::names::names;
use crate::engine::pipeline::Pipeline;
use crate::engine::read::Group;
use crate::engine::units::{Bytes, Nanos};
use std::ops::Add;

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
    /// Biases on query, key and value.
    pub qkv_bias: bool,
    /// Bias on attention's output projection.
    pub out_bias: bool,
    /// Biases in the MLP.
    pub mlp_bias: bool,
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
            qkv_bias: group.flag("qkv_bias", bias)? || bias,
            out_bias: group.flag("out_bias", bias)? || bias,
            mlp_bias: group.flag("mlp_bias", bias)? || bias,
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

    /// The operations of a layer's forward: what its time is the sum of.
    #[must_use]
    pub fn work(&self, kind: LayerKind, training: &Training, hardware: &Hardware) -> Vec<Work> {
        block::Builder { model: &self.copied(training), training, hardware }.work(kind)
    }

    /// As a rank sees it: it has one key head at least, a copy of another rank's where there are fewer heads than ranks.
    #[must_use]
    pub fn copied(&self, training: &Training) -> Self {
        Self { kv_heads: self.kv_heads.max(training.tp), ..self.clone() }
    }

    /// Lowers to the chain of the pipeline stage that is shown.
    #[must_use]
    pub fn lower(&self, training: &Training, hardware: &Hardware) -> Chain {
        let copied = self.copied(training);
        let table = block::Builder { model: &copied, training, hardware };
        let stage = Stage::of(self.layers, training);
        let shared = self.tied_embedding && training.pp == 1;
        let parts = copied.parts(training.tp, shared);
        let mut layers = Vec::new();
        if stage.first {
            layers.push((table.embedding(), parts.embedding));
        } else {
            layers.push((received_input(&table.block()), Parameters::default()));
        }
        let block = table.block();
        layers.extend(stage.blocks.iter().map(|number| {
            let layer =
                Layer { name: format!("block {number}"), kind: LayerKind::Block, ..block.clone() };
            (layer, parts.block)
        }));
        if stage.last {
            layers.push((table.head(), parts.head));
        }
        let here = layers.iter().map(|layer| layer.1).fold(Parameters::default(), Add::add);
        let states = training.states(here, hardware.unmodelled);
        let pipeline =
            Pipeline::new(training.stage, training.pp, training.virtual_stages, self.accumulation);
        let passing = Passing {
            training,
            hardware,
            shared: if shared { self.vocab.div_ceil(training.tp) * self.hidden } else { 0 },
            gradients: states.device.gradients,
            grow: training.gradients_grow(self.accumulation),
        };
        let (layers, gathered) = passing.through(layers);
        Chain {
            fixed: states.device,
            host_states: states.host,
            gathered,
            layers,
            optimizer: training.optimizer_time(here, hardware),
            optimizer_scratch: Bytes::ZERO,
            accumulation: self.accumulation,
            pipeline,
            samples: self.batch.saturating_mul(training.dp),
            seq: self.seq,
            params: training.count(self.whole()),
            params_here: training.count(here),
        }
    }
}

/// What the stage before sends: it takes no time here, and its bytes are this device's.
fn received_input(block: &Layer) -> Layer {
    Layer {
        name: "received input".to_owned(),
        kind: LayerKind::Receive,
        forward: Nanos::ZERO,
        backward: Nanos::ZERO,
        saved: Vec::new(),
        boundary: Bytes::ZERO,
        output: block.boundary,
        forward_scratch: Bytes::ZERO,
        backward_scratch: Bytes::ZERO,
        weight_casts: Bytes::ZERO,
        gradients: Bytes::ZERO,
    }
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
