//! Model states: weights, gradients and optimizer states in bytes by dtype policy, sharded by tensor
//! parallelism and ZeRO. Mixed AdamW is 2 + 2 + 12 = 16 bytes a parameter, 18 with fp32 gradients
//! (Rajbhandari et al. 2020; Korthikanti et al. 2022). Activations are elsewhere.

use crate::engine::chain::Static;
use crate::engine::error::Error;
use crate::engine::names::names;
use crate::engine::read::Group;
use crate::engine::units::{Bytes, LIMIT};

names! {
    /// The dtype policy.
    Dtype {
        /// Everything in fp32.
        Fp32 = "fp32",
        /// Everything in bf16, optimizer moments in fp32.
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
        /// Two fp32 moments.
        AdamW = "adamw",
        /// Two 8-bit moments.
        AdamW8bit = "adamw-8bit",
        /// One fp32 moment.
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
        /// 1 byte.
        Int8 = "int8",
        /// Half a byte.
        Nf4 = "nf4",
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

    const fn master(self) -> u64 {
        match self {
            Self::Bf16Mixed | Self::Fp16Mixed => 4,
            _ => 0,
        }
    }
}

impl Optimizer {
    const fn moments(self) -> u64 {
        match self {
            Self::AdamW => 8,
            Self::SgdMomentum => 4,
            Self::AdamW8bit => 2,
            Self::Sgd => 0,
        }
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
    /// Where gradients live.
    pub grad_buffer: GradBuffer,
    /// ZeRO stage, 0 to 3.
    pub zero: u64,
    /// Data-parallel degree.
    pub dp: u64,
    /// Tensor-parallel degree.
    pub tp: u64,
    /// Sequence parallel.
    pub sp: bool,
    /// Pipeline stages.
    pub pp: u64,
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
    /// Embeddings, norms, head.
    pub other: u64,
    /// Added by LoRA at rank 1: Σ (in + out).
    pub lora_unit: u64,
}

impl Training {
    /// Reads the group.
    ///
    /// # Errors
    /// An [`Error`] that names the key.
    pub fn read(group: &mut Group) -> Result<Self, Error> {
        let dtype = group.choice("dtype", Dtype::Bf16Mixed, Dtype::parse)?;
        let grads = if dtype.weight() == 4 { GradDtype::Fp32 } else { GradDtype::Bf16 };
        let (dp, pp) = (group.int("dp", 1)?, group.int("pp", 1)?);
        let buffer = if dp == 1 && pp == 1 { GradBuffer::Grown } else { GradBuffer::Static };
        Ok(Self {
            dtype,
            optimizer: group.choice("optimizer", Optimizer::AdamW, Optimizer::parse)?,
            grad_dtype: group.choice("grad_dtype", grads, GradDtype::parse)?,
            zero: group.int("zero", 0)?,
            dp,
            tp: group.int("tp", 1)?,
            sp: group.flag("sp", false)?,
            pp,
            grad_buffer: group.choice("grad_buffer", buffer, GradBuffer::parse)?,
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
    /// states over data-parallel ranks, stage 2 gradients too, stage 3 weights too.
    #[must_use]
    pub fn states(&self, here: Parameters, unmodelled: Bytes) -> Static {
        let (trained, frozen) = self.trained(here);
        let shard = |bytes: u64, stage: u64| {
            Bytes(if self.zero >= stage { bytes.div_ceil(self.dp) } else { bytes }.min(LIMIT))
        };
        let gradient = match self.grad_dtype {
            GradDtype::Bf16 => 2,
            GradDtype::Fp32 => 4,
        };
        let each = |width: u64| trained.saturating_mul(width);
        Static {
            weights: shard(each(self.dtype.weight()).saturating_add(frozen), 3),
            gradients: shard(each(gradient), 2),
            optimizer: shard(each(self.dtype.master() + self.optimizer.moments()), 1),
            unmodelled,
        }
    }

    /// Trained parameters, and bytes of the frozen ones.
    fn trained(&self, here: Parameters) -> (u64, u64) {
        match self.lora_rank {
            None => (here.linear + here.other, 0),
            Some(rank) => {
                let base = match self.frozen_dtype {
                    FrozenDtype::Bf16 => here.linear * 2,
                    FrozenDtype::Int8 => here.linear,
                    FrozenDtype::Nf4 => here.linear.div_ceil(2),
                };
                (here.lora_unit.saturating_mul(rank), base + here.other * self.dtype.weight())
            }
        }
    }
}
