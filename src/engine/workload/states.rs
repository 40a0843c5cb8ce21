//! Model states: weights, gradients and optimizer states in bytes by dtype policy, sharded by tensor
//! parallelism and ZeRO, on the device or on the host. Mixed AdamW is 2 + 2 + 12 = 16 bytes a parameter, 18 with fp32
//! gradients (Rajbhandari et al. 2020; Korthikanti et al. 2022). Activations are elsewhere.

use crate::engine::accepted::Accepted;
use crate::engine::chain::Static;
use crate::engine::error::Error;
use crate::engine::hardware::Hardware;
use crate::engine::names::names;
use crate::engine::read::Group;
use crate::engine::units::{Bytes, Nanos};
use serde::Serialize;
use std::ops::Add;

names! {
    /// The dtype policy.
    Dtype {
        /// Everything in fp32.
        Fp32 = "fp32",
        /// Everything in bf16, optimizer moments too: PyTorch makes them like the parameter.
        Bf16 = "bf16",
        /// bf16 weights, fp32 master copy in the optimizer.
        Bf16Mixed = "bf16-mixed",
        /// fp16 weights, fp32 master copy in the optimizer.
        Fp16Mixed = "fp16-mixed",
        /// fp32 weights, cast to bf16 where they are used.
        Bf16Autocast = "bf16-autocast",
    }
}
names! {
    /// The optimizer.
    Optimizer {
        /// Two moments.
        AdamW = "adamw",
        /// Two 8-bit moments, each block of 256 with an fp32 scale.
        AdamW8bit = "adamw-8bit",
        /// One moment.
        SgdMomentum = "sgd-momentum",
        /// None.
        Sgd = "sgd",
    }
}
names! {
    /// How a LoRA base is kept.
    FrozenDtype {
        /// 2 bytes.
        Bf16 = "bf16",
        /// 1 byte, and an fp32 scale per row of a weight (LLM.int8()).
        Int8 = "int8",
        /// Half a byte, and an fp32 scale per block of 64 (bitsandbytes' default).
        Nf4 = "nf4",
        /// The same with its scales quantized too: 8 bit per block of 64, fp32 per 256 of those (QLoRA).
        Nf4Double = "nf4-double",
    }
}
names! {
    /// Which states are kept in host memory (ZeRO-Offload, ZeRO-Infinity).
    OffloadStates {
        /// None.
        None = "none",
        /// Gradients and optimizer states; the optimizer steps on the host.
        Optimizer = "optimizer",
        /// Weights too, fetched layer by layer.
        All = "all",
    }
}
names! {
    /// Dtype of gradients.
    GradDtype {
        /// 2 bytes.
        Bf16 = "bf16",
        /// 4 bytes.
        Fp32 = "fp32",
    }
}

names! {
    /// Where gradients live.
    GradBuffer {
        /// Each appears when backward makes it, and goes with the optimizer step (PyTorch's `zero_grad(set_to_none=True)`).
        Grown = "grown",
        /// In a buffer that stays: gradient accumulation, the buckets of data parallelism.
        Static = "static",
    }
}

impl Dtype {
    /// Bytes of an activation element where matrix multiplications use it.
    #[must_use]
    pub const fn compute_width(self) -> u64 {
        match self {
            Self::Fp32 => 4,
            _ => 2,
        }
    }

    /// Bytes of an element of the residual stream (autocast keeps it in fp32).
    #[must_use]
    pub const fn residual_width(self) -> u64 {
        match self {
            Self::Fp32 | Self::Bf16Autocast => 4,
            _ => 2,
        }
    }

    const fn weight(self) -> u64 {
        self.residual_width()
    }
}

impl Optimizer {
    /// Bytes of moments beside a parameter that is updated in `width` bytes.
    fn moments(self, width: f64) -> f64 {
        match self {
            // torch.optim makes them with zeros_like(parameter).
            Self::AdamW => 2.0 * width,
            Self::SgdMomentum => width,
            // bitsandbytes: one byte each, absmax in fp32 for each block of 256.
            Self::AdamW8bit => 2.0 * (1.0 + 4.0 / 256.0),
            Self::Sgd => 0.0,
        }
    }
}

/// Bytes of model states per trained parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PerParameter {
    /// Weights as used in forward.
    pub weights: f64,
    /// Gradients.
    pub gradients: f64,
    /// The fp32 copy that the optimizer updates.
    pub master: f64,
    /// Moments.
    pub optimizer: f64,
}

impl PerParameter {
    /// What dtype policy and optimizer make of it.
    #[must_use]
    pub fn of(dtype: Dtype, grad_dtype: GradDtype, optimizer: Optimizer) -> Self {
        let weights = if dtype.weight() == 4 { 4.0 } else { 2.0 };
        let master = match dtype {
            Dtype::Bf16Mixed | Dtype::Fp16Mixed => 4.0,
            _ => 0.0,
        };
        let gradients = match grad_dtype {
            GradDtype::Bf16 => 2.0,
            GradDtype::Fp32 => 4.0,
        };
        let updated = if master > 0.0 { master } else { weights };
        Self { weights, gradients, master, optimizer: optimizer.moments(updated) }
    }

    /// Their sum.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.weights + self.gradients + self.master + self.optimizer
    }
}

/// The `training` group.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// Dtype policy.
    pub dtype: Dtype,
    /// Optimizer.
    pub optimizer: Optimizer,
    /// Dtype of gradients.
    pub grad_dtype: GradDtype,
    /// Bytes per trained parameter, by policy or as given.
    pub bytes: PerParameter,
    /// Where gradients live.
    pub grad_buffer: GradBuffer,
    /// ZeRO stage, 0 to 3.
    pub zero: u64,
    /// Layers whose weights are whole at once under ZeRO 3: the running one and those fetched ahead.
    pub gathered_layers: u64,
    /// States in host memory.
    pub offload_states: OffloadStates,
    /// Data-parallel degree.
    pub dp: u64,
    /// Tensor-parallel degree.
    pub tp: u64,
    /// Sequence parallel.
    pub sp: bool,
    /// Pipeline stages.
    pub pp: u64,
    /// The stage that is shown, from 1.
    pub stage: u64,
    /// Model chunks on each stage (interleaving).
    pub virtual_stages: u64,
    /// Rank of LoRA, none for full training.
    pub lora_rank: Option<u64>,
    /// How a frozen base is kept.
    pub frozen_dtype: FrozenDtype,
    /// Backward time over forward time.
    pub backward_ratio: f64,
}

/// Parameters on one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// In linear layers (what LoRA freezes and quantizes).
    pub linear: u64,
    /// Rows of those layers' weights.
    pub rows: u64,
    /// Embeddings, norms, head.
    pub other: u64,
    /// Added by LoRA at rank 1: Σ (in + out).
    pub lora_unit: u64,
}

impl Parameters {
    /// That many of the same.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self {
            linear: self.linear.saturating_mul(count),
            rows: self.rows.saturating_mul(count),
            other: self.other.saturating_mul(count),
            lora_unit: self.lora_unit.saturating_mul(count),
        }
    }
}

impl Add for Parameters {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            linear: self.linear.saturating_add(other.linear),
            rows: self.rows.saturating_add(other.rows),
            other: self.other.saturating_add(other.other),
            lora_unit: self.lora_unit.saturating_add(other.lora_unit),
        }
    }
}

/// States of one device: there, and in its host's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct States {
    /// On the device.
    pub device: Static,
    /// On the host.
    pub host: Bytes,
}

impl Training {
    /// Reads the group.
    ///
    /// # Errors
    /// An [`Error`] that names the key.
    pub fn read(group: &mut Group) -> Result<Self, Error> {
        let dtype = group.choice("dtype", Dtype::Bf16Mixed, Dtype::parse)?;
        let grads = if dtype.weight() == 4 { GradDtype::Fp32 } else { GradDtype::Bf16 };
        let optimizer = group.choice("optimizer", Optimizer::AdamW, Optimizer::parse)?;
        let mut grad_dtype = group.choice("grad_dtype", grads, GradDtype::parse)?;
        if grads == GradDtype::Fp32 && grad_dtype == GradDtype::Bf16 {
            // Autograd gives fp32 weights fp32 gradients.
            group.clamp("grad_dtype", "bf16".into(), "fp32".into());
            grad_dtype = grads;
        }
        let policy = PerParameter::of(dtype, grad_dtype, optimizer);
        let bytes = PerParameter {
            weights: group.float_or_none("weight_bytes")?.unwrap_or(policy.weights),
            gradients: group.float_or_none("gradient_bytes")?.unwrap_or(policy.gradients),
            master: group.float_or_none("master_bytes")?.unwrap_or(policy.master),
            optimizer: group.float_or_none("optimizer_bytes")?.unwrap_or(policy.optimizer),
        };
        let zero = group.int("zero", 0)?;
        let offload_states =
            group.choice("offload_states", OffloadStates::None, OffloadStates::parse)?;
        if offload_states == OffloadStates::All && zero < 3 {
            return Err(Error::Unfit {
                path: group.path("offload_states"),
                given: offload_states.name().into(),
                accepted: Accepted::NeedsZero3,
            });
        }
        let (dp, pp) = (group.int("dp", 1)?, group.int("pp", 1)?);
        let buffer = if dp == 1 && pp == 1 { GradBuffer::Grown } else { GradBuffer::Static };
        let stage = group.int("stage", 1)?;
        if stage > pp {
            group.clamp("stage", stage.into(), pp.into());
        }
        Ok(Self {
            dtype,
            optimizer,
            grad_dtype,
            bytes,
            grad_buffer: group.choice("grad_buffer", buffer, GradBuffer::parse)?,
            zero,
            gathered_layers: group.int("gathered_layers", 2)?,
            offload_states,
            dp,
            tp: group.int("tp", 1)?,
            sp: group.flag("sp", false)?,
            pp,
            stage: stage.min(pp),
            virtual_stages: group.int("virtual_stages", 1)?,
            lora_rank: group.int_or_none("lora_rank")?,
            frozen_dtype: group.choice("frozen_dtype", FrozenDtype::Bf16, FrozenDtype::parse)?,
            backward_ratio: group.float("backward_ratio", 2.0)?,
        })
    }

    /// Whether gradients grow during backward and go with the optimizer step: not over several micro-batches.
    #[must_use]
    pub fn gradients_grow(&self, accumulation: u64) -> bool {
        self.grad_buffer == GradBuffer::Grown && accumulation == 1
    }

    /// Bytes of the states of `here` on one device, `unmodelled` beside them. ZeRO stage 1 shards optimizer
    /// states over data-parallel ranks, stage 2 gradients too, stage 3 weights too; what is offloaded is on the host.
    #[must_use]
    pub fn states(&self, here: Parameters, unmodelled: Bytes) -> States {
        let mut device = Static {
            weights: self.sharded(self.weights(here), 3),
            gradients: self.sharded(self.each(here, self.bytes.gradients), 2),
            optimizer: self.sharded(self.each(here, self.bytes.master + self.bytes.optimizer), 1),
            unmodelled,
        };
        let mut host = Bytes::ZERO;
        if self.offload_states != OffloadStates::None {
            host += device.gradients + device.optimizer;
            (device.gradients, device.optimizer) = (Bytes::ZERO, Bytes::ZERO);
        }
        if self.offload_states == OffloadStates::All {
            host += device.weights;
            device.weights = Bytes::ZERO;
        }
        States { device, host }
    }

    /// Whether a layer's weights are put together only while it runs.
    #[must_use]
    pub fn gathers(&self) -> bool {
        let scattered = self.dp > 1 || self.offload_states == OffloadStates::All;
        self.zero >= 3 && scattered && self.gathered_layers > 0
    }

    /// Weights of `part`, whole.
    #[must_use]
    pub fn weights(&self, part: Parameters) -> Bytes {
        let frozen = match self.lora_rank {
            None => 0.0,
            Some(_) => self.frozen(part) + float(part.other) * self.bytes.weights,
        };
        self.each(part, self.bytes.weights) + Bytes::from_f64(frozen)
    }

    /// Gradients of `part` as backward makes them, whole and in the weights' own dtype.
    #[must_use]
    pub fn fresh_gradients(&self, part: Parameters) -> Bytes {
        self.each(part, self.bytes.weights)
    }

    /// Time for a layer's weights to come from the host, or its gradients to leave for it, beside its own compute.
    #[must_use]
    pub fn fetched(&self, part: Parameters, hardware: &Hardware) -> Nanos {
        match self.offload_states {
            OffloadStates::All => hardware.copy_back(self.sharded(self.weights(part), 3)),
            _ => Nanos::ZERO,
        }
    }

    /// The same for its gradients on their way out.
    #[must_use]
    pub fn sent(&self, part: Parameters, hardware: &Hardware) -> Nanos {
        match self.offload_states {
            OffloadStates::None => Nanos::ZERO,
            _ => hardware.copy_out(self.sharded(self.each(part, self.bytes.gradients), 2)),
        }
    }

    /// The optimizer step is traffic: gradients are read, master copy and moments read and written, weights written (and
    /// read, where there is no master copy), each rank its shard under ZeRO. On the device that is HBM traffic; with
    /// offloaded states it is the host's, and new weights travel back (Ren et al. 2021, "ZeRO-Offload", section 4).
    #[must_use]
    pub fn optimizer_time(&self, here: Parameters, hardware: &Hardware) -> Nanos {
        let bytes = &self.bytes;
        let passes = if bytes.master > 0.0 { 1.0 } else { 2.0 };
        let width =
            bytes.gradients + 2.0 * (bytes.master + bytes.optimizer) + passes * bytes.weights;
        let traffic = self.sharded(self.each(here, width), 1);
        let updated = self.sharded(self.each(here, bytes.weights), 1);
        match self.offload_states {
            OffloadStates::None => hardware.hbm.time(traffic),
            OffloadStates::Optimizer => {
                hardware.host_rate.time(traffic) + hardware.copy_back(updated)
            }
            OffloadStates::All => hardware.host_rate.time(traffic),
        }
    }

    /// Trained parameters of `part`.
    #[must_use]
    pub fn trained(&self, part: Parameters) -> u64 {
        match self.lora_rank {
            None => part.linear.saturating_add(part.other),
            Some(rank) => part.lora_unit.saturating_mul(rank),
        }
    }

    /// All parameters of `part`, LoRA's adapters among them.
    #[must_use]
    pub fn count(&self, part: Parameters) -> u64 {
        let adapters = self.lora_rank.map_or(0, |rank| part.lora_unit.saturating_mul(rank));
        part.linear.saturating_add(part.other).saturating_add(adapters)
    }

    fn each(&self, part: Parameters, width: f64) -> Bytes {
        Bytes::from_f64(float(self.trained(part)) * width)
    }

    fn sharded(&self, bytes: Bytes, stage: u64) -> Bytes {
        if self.zero >= stage { Bytes(bytes.0.div_ceil(self.dp)) } else { bytes }
    }

    /// Bytes of LoRA's frozen linear layers.
    #[must_use]
    pub fn frozen(&self, part: Parameters) -> f64 {
        let linear = float(part.linear);
        match self.frozen_dtype {
            FrozenDtype::Bf16 => linear * 2.0,
            FrozenDtype::Int8 => linear + 4.0 * float(part.rows),
            FrozenDtype::Nf4 => linear * (0.5 + 4.0 / 64.0),
            FrozenDtype::Nf4Double => linear * (0.5 + 1.0 / 64.0 + 4.0 / (64.0 * 256.0)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 parameters")]
fn float(n: u64) -> f64 {
    n as f64
}
