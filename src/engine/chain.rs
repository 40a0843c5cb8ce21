//! What every workload is lowered to: a [`Chain`] of layers with times, saved tensors and boundaries. Its law:
//! a storage is named once, however many layers keep it (a layer's input is its predecessor's output). It
//! knows nothing of policies or streams.

use super::pipeline::Pipeline;
use super::units::{Bytes, Nanos};
use serde::Serialize;
use std::sync::Arc;

/// What a layer is to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerKind {
    /// Token and position embedding.
    Embedding,
    /// What a later pipeline stage receives in its place.
    Receive,
    /// One transformer block, or one layer of a lesson or profile.
    Block,
    /// Final norm, LM head and loss.
    Head,
}

/// Which storage a saved tensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Storage {
    /// The layer's own.
    Inner,
    /// The layer's input: shared with the layer before.
    Input,
    /// The layer's output: shared with the layer after.
    Output,
}

/// Where a saved tensor comes from and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Its shape in symbols: sequences b, tokens s, width h, heads a of width d, key-value heads kv, MLP width f, vocabulary v.
    pub shape: &'static str,
    /// Bytes of an element.
    pub element_bytes: u64,
    /// The operation that makes it.
    pub made_by: &'static str,
    /// The operation whose backward needs it.
    pub needed_by: &'static str,
}

/// What forward leaves for backward.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedTensor {
    /// What it is, in the field's words; shared, for a chain of equal layers has it many times.
    pub name: Arc<str>,
    /// Its size on this device.
    pub bytes: Bytes,
    /// What making it again costs, its own inputs being there.
    pub recompute: Nanos,
    /// Which storage it is.
    pub storage: Storage,
    /// Part of the attention core (scores, softmax, dropout): what `selective` recomputes.
    pub attention_core: bool,
    /// Where it comes from; none where a request gave its size.
    pub origin: Option<Origin>,
}

/// One link of the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: LayerKind,
    /// Forward time.
    pub forward: Nanos,
    /// Backward time.
    pub backward: Nanos,
    /// What it keeps for backward, its input included where it keeps that.
    pub saved: Vec<SavedTensor>,
    /// Its input: what must stay if it is recomputed.
    pub boundary: Bytes,
    /// Its output.
    pub output: Bytes,
    /// Bytes that live during forward only, beside what is saved.
    pub forward_scratch: Bytes,
    /// Bytes that live during backward only (gradients of activations, and of weights until they are added up).
    pub backward_scratch: Bytes,
    /// Weights cast for this layer by autocast: they stay from its forward to its backward.
    pub weight_casts: Bytes,
    /// Gradients of its weights that its backward leaves until the optimizer step; none where their buffer is static.
    pub gradients: Bytes,
}

impl Layer {
    /// Bytes kept for backward, shared storages included.
    #[must_use]
    pub fn saved_bytes(&self) -> Bytes {
        self.saved.iter().map(|tensor| tensor.bytes).sum()
    }

    /// Whether it keeps its input (or output).
    #[must_use]
    pub fn saves(&self, storage: Storage) -> bool {
        self.saved.iter().any(|tensor| tensor.storage == storage)
    }
}

/// Bytes that stay for the whole step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Static {
    /// Weights as used in forward.
    pub weights: Bytes,
    /// Gradients of the weights.
    pub gradients: Bytes,
    /// Optimizer states and the fp32 master copy.
    pub optimizer: Bytes,
    /// What the user reserves for what is not modelled.
    pub unmodelled: Bytes,
}

impl Static {
    /// Their sum.
    #[must_use]
    pub fn total(&self) -> Bytes {
        self.weights + self.gradients + self.optimizer + self.unmodelled
    }
}

/// A training step's model side: what a plan is applied to.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Model states, gradients in full: some of them may only grow during backward ([`Self::standing`]).
    pub fixed: Static,
    /// Model states in host memory.
    pub host_states: Bytes,
    /// The most that gathered weights and passing gradients add to a layer's scratch (ZeRO 3, offloaded states).
    pub gathered: Bytes,
    /// The layers in forward order; never empty.
    pub layers: Vec<Layer>,
    /// Time of the optimizer step.
    pub optimizer: Nanos,
    /// Bytes that live during the optimizer step only.
    pub optimizer_scratch: Bytes,
    /// Micro-batches per optimizer step.
    pub accumulation: u64,
    /// This device's place in the pipeline (1F1B).
    pub pipeline: Pipeline,
    /// Sequences in a micro-batch of one device, times the data-parallel degree.
    pub samples: u64,
    /// Tokens in a sequence.
    pub seq: u64,
    /// Parameters on the whole model.
    pub params: u64,
    /// Parameters on this device.
    pub params_here: u64,
}

impl Chain {
    /// Gradients that grow during backward.
    #[must_use]
    pub fn grown(&self) -> Bytes {
        self.layers.iter().map(|layer| layer.gradients).sum()
    }

    /// Bytes that stay for the whole step: the states without the gradients that grow.
    #[must_use]
    pub fn standing(&self) -> Static {
        let gradients = self.fixed.gradients.saturating_sub(self.grown());
        Static { gradients, ..self.fixed }
    }

    /// Bytes that keep-everything holds at the end of forward, each storage once; the chain's input is the
    /// caller's and is not counted.
    #[must_use]
    pub fn activation_bytes(&self) -> Bytes {
        let mut total = Bytes::ZERO;
        for (i, layer) in self.layers.iter().enumerate() {
            let shared = i == 0 || self.layers[i - 1].saves(Storage::Output);
            total += layer
                .saved
                .iter()
                .filter(|tensor| tensor.storage != Storage::Input || !shared)
                .map(|tensor| tensor.bytes)
                .sum();
        }
        total
    }

    /// What something that takes `time` in a micro-batch comes to in a step, idle slots of the pipeline included.
    #[must_use]
    pub fn in_step(&self, time: Nanos) -> Nanos {
        time.times(self.accumulation) + self.pipeline.bubble(time)
    }

    /// Forward time of one micro-batch.
    #[must_use]
    pub fn forward(&self) -> Nanos {
        self.layers.iter().map(|layer| layer.forward).sum()
    }

    /// Backward time of one micro-batch.
    #[must_use]
    pub fn backward(&self) -> Nanos {
        self.layers.iter().map(|layer| layer.backward).sum()
    }

    /// Indices of the layers that policies apply to: the blocks.
    pub fn blocks(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.layers.len()).filter(|&i| self.layers[i].kind == LayerKind::Block)
    }
}
