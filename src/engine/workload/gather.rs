//! Model states that come and go with the layers: gradients as backward makes them, weights gathered while a layer runs
//! (ZeRO 3), copies of offloaded states. Bytes are transient; copies run beside the layer's own compute.
//!
//! A fresh gradient is whole and has its weight's dtype, until it is added up, sharded or sent. DeepSpeed counts the largest
//! layer's weights and gradients, 4 bytes a parameter in 16 bit, beside the sharded states
//! (`estimate_zero3_model_states_mem_needs`); FSDP and DeepSpeed also fetch the next layer while one runs. Collectives' time
//! is not modelled.

use super::states::{Parameters, Training};
use crate::engine::chain::{Layer, LayerKind};
use crate::engine::hardware::Hardware;
use crate::engine::units::Bytes;

/// What passes through the layers of one device.
pub struct Passing<'a> {
    pub training: &'a Training,
    pub hardware: &'a Hardware,
    /// Elements of the table that embedding and head share on this device; 0 where they do not.
    pub shared: u64,
    /// Gradients that are kept on the device.
    pub gradients: Bytes,
    /// They grow during backward.
    pub grow: bool,
}

impl Passing<'_> {
    /// The layers with those bytes and copies added, and the most that gathered weights and the fresh gradient of any of
    /// them come to, where anything is gathered.
    pub fn through(&self, layers: Vec<(Layer, Parameters)>) -> (Vec<Layer>, Bytes) {
        let training = self.training;
        let used = |layer: &(Layer, Parameters)| match layer.0.kind {
            LayerKind::Head => training.weights(self.with_shared(layer.1)),
            _ => training.weights(layer.1),
        };
        let whole: Vec<Bytes> = layers.iter().map(used).collect();
        let made: Vec<Parameters> = layers.iter().map(|layer| self.made_by(layer)).collect();
        let kept = self.kept(&made);
        let at_once = usize::try_from(training.gathered_layers).unwrap_or(usize::MAX);
        let mut most = Bytes::ZERO;
        let pass = |(i, (mut layer, part)): (usize, (Layer, Parameters))| {
            let fresh = training.fresh_gradients(made[i]);
            let leaves = if self.grow { kept[i] } else { Bytes::ZERO };
            layer.backward_scratch = match layer.kind {
                // The head's summit counts its weight's gradient already; what it leaves fits in what it held.
                LayerKind::Head => {
                    let more = fresh.max(leaves).saturating_sub(layer.saved_bytes());
                    layer.backward_scratch.max(more)
                }
                _ => layer.backward_scratch + fresh.max(leaves),
            };
            layer.gradients = leaves;
            if layer.kind == LayerKind::Embedding {
                layer.backward_scratch += self.tied_sum();
            }
            if training.gathers() {
                let ahead: Bytes = whole[i..].iter().take(at_once).copied().sum();
                let back: Bytes = whole[..=i].iter().rev().take(at_once).copied().sum();
                most = most.max(ahead).max(back + fresh);
                layer.forward_scratch += ahead;
                layer.backward_scratch += back;
            }
            let fetched = training.fetched(part, self.hardware);
            layer.forward = layer.forward.max(fetched);
            layer.backward = layer.backward.max(fetched).max(training.sent(part, self.hardware));
            layer
        };
        let layers = layers.into_iter().enumerate().map(pass).collect();
        (layers, most)
    }

    fn with_shared(&self, part: Parameters) -> Parameters {
        Parameters { other: part.other + self.shared, ..part }
    }

    /// Whose gradients a layer's backward makes: that of a shared table is there from the head's on.
    fn made_by(&self, (layer, part): &(Layer, Parameters)) -> Parameters {
        match layer.kind {
            LayerKind::Head => self.with_shared(*part),
            LayerKind::Embedding => {
                Parameters { other: part.other.saturating_sub(self.shared), ..*part }
            }
            _ => *part,
        }
    }

    /// The kept gradients, layer by layer; what rounding leaves is the last's that backward reaches.
    fn kept(&self, made: &[Parameters]) -> Vec<Bytes> {
        let trained = |part: &Parameters| u128::from(self.training.trained(*part));
        let all: u128 = made.iter().map(trained).sum();
        let mut rest = self.gradients;
        let mut kept: Vec<Bytes> = made
            .iter()
            .rev()
            .map(|part| {
                let share = u128::from(self.gradients.0) * trained(part) / all.max(1);
                let share = Bytes(u64::try_from(share).unwrap_or(u64::MAX)).min(rest);
                rest = rest.saturating_sub(share);
                share
            })
            .collect();
        kept.reverse();
        if let Some(first) = kept.first_mut() {
            *first += rest;
        }
        kept
    }

    /// What summing both gradients of a shared weight takes in the embedding's backward: that of the head, its own, and the
    /// sum, which autograd writes to a third place (measured on PyTorch 2.8: three times the weight). The head's is there
    /// already where gradients grow.
    fn tied_sum(&self) -> Bytes {
        if self.training.lora_rank.is_some() {
            return Bytes::ZERO;
        }
        let width = self.training.dtype.residual_width();
        let weight = Bytes::from_shape(&[self.shared], width);
        weight.times(if self.grow { 2 } else { 3 })
    }
}
