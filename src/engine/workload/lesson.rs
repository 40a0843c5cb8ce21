//! The textbook's uniform layers (docs/model.md section 1). A layer's activation is its output, so that keeping
//! everything holds exactly base + layers × activation, and the kept boundary of a segment is one of them.

use crate::engine::chain::{Chain, Layer, LayerKind, SavedTensor, Static, Storage};
use crate::engine::error::Error;
use crate::engine::hardware::Hardware;
use crate::engine::pipeline::Pipeline;
use crate::engine::read::Group;
use crate::engine::units::{Bytes, Nanos};

/// Uniform layers with decimal units, as lessons write them.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// Layers.
    pub layers: u64,
    /// Samples in a batch: activations grow with it.
    pub batch: u64,
    /// Activation of one layer, GB.
    pub act_gb: f64,
    /// Forward time of one layer, s.
    pub layer_s: f64,
    /// Backward time of one layer, s.
    pub backward_s: f64,
    /// Bytes that do not depend on the plan, GB.
    pub base_gb: f64,
    /// Card of the worked epoch, GB.
    pub gpu_mem_gb: Option<f64>,
    /// Link of the worked programs, GB/s.
    pub bandwidth_gbps: Option<f64>,
    /// Forward time in the table of strategies, s.
    pub forward_cost_s: Option<f64>,
}

impl Lesson {
    /// Reads the group.
    ///
    /// # Errors
    /// An [`Error`] that names the key.
    pub fn read(group: &mut Group) -> Result<Self, Error> {
        let layer_s = group.float("layer_s", 0.1)?;
        Ok(Self {
            layers: group.int("layers", 24)?,
            batch: group.int("batch", 1)?,
            act_gb: group.float("act_gb", 2.0)?,
            layer_s,
            backward_s: group.float("backward_s", 2.0 * layer_s)?,
            base_gb: group.float("base_gb", 0.0)?,
            gpu_mem_gb: group.float_or_none("gpu_mem_gb")?,
            bandwidth_gbps: group.float_or_none("bandwidth_gbps")?,
            forward_cost_s: group.float_or_none("forward_cost_s")?,
        })
    }

    /// One layer after another, each keeping its output.
    #[must_use]
    pub fn lower(&self, hardware: &Hardware) -> Chain {
        let act = Bytes::from_gb(self.act_gb).times(self.batch);
        let layer = |i: u64| Layer {
            name: format!("layer {i}"),
            kind: LayerKind::Block,
            forward: Nanos::from_secs(self.layer_s),
            backward: Nanos::from_secs(self.backward_s),
            saved: vec![SavedTensor {
                name: "activation".into(),
                bytes: act,
                recompute: Nanos::from_secs(self.layer_s),
                storage: Storage::Output,
                attention_core: false,
                origin: None,
            }],
            boundary: act,
            output: act,
            forward_scratch: Bytes::ZERO,
            backward_scratch: Bytes::ZERO,
            weight_casts: Bytes::ZERO,
            gradients: Bytes::ZERO,
        };
        Chain {
            fixed: Static {
                weights: Bytes::from_gb(self.base_gb),
                unmodelled: hardware.unmodelled,
                ..Static::default()
            },
            host_states: Bytes::ZERO,
            gathered: Bytes::ZERO,
            layers: (1..=self.layers).map(layer).collect(),
            optimizer: Nanos::ZERO,
            optimizer_scratch: Bytes::ZERO,
            accumulation: 1,
            pipeline: Pipeline::NONE,
            samples: self.batch,
            seq: 1,
            params: 0,
            params_here: 0,
        }
    }
}
