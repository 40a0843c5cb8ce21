//! The table under construction: rows of saved tensors, and the forward time of the operations that fill it.

use super::{Builder, float};
use crate::engine::chain::{Layer, LayerKind, Origin, SavedTensor, Storage};
use crate::engine::units::{Bytes, Nanos};
use crate::engine::workload::states::Training;
use crate::engine::workload::transformer::Transformer;

/// The shape of a tensor, in sequences b, tokens s, width h, heads a of width d, key-value heads kv, MLP width f,
/// vocabulary v.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One number.
    One,
    /// Tokens.
    Tokens,
    /// Residual stream.
    Hidden,
    /// All query heads.
    Query,
    /// All key (or value) heads.
    Key,
    /// Queries and keys.
    QueryAndKey,
    /// One number per token and head of queries and keys.
    QueryAndKeyHeads,
    /// MLP width.
    Ffn,
    /// Attention scores.
    Scores,
    /// One mask for all heads.
    Mask,
    /// One number per token and head.
    Heads,
    /// The same, tokens rounded up to 32.
    HeadsPadded,
}

impl Shape {
    /// In symbols.
    pub const fn symbols(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Tokens => "b·s",
            Self::Hidden => "b·s·h",
            Self::Query => "b·s·a·d",
            Self::Key => "b·s·kv·d",
            Self::QueryAndKey => "b·s·(a+kv)·d",
            Self::QueryAndKeyHeads => "b·s·(a+kv)",
            Self::Ffn => "b·s·f",
            Self::Scores => "b·a·s²",
            Self::Mask => "b·s²",
            Self::Heads => "b·a·s",
            Self::HeadsPadded => "b·a·⌈s/32⌉·32",
        }
    }

    /// Bytes on one device. Inside attention and MLP tensor parallelism divides (a key-value head is never cut: with more
    /// devices than those, each holds one), on the residual stream only sequence parallelism does.
    pub fn here(self, m: &Transformer, training: &Training, width: u64) -> Bytes {
        let tp = training.tp;
        let keys = m.kv_heads.div_ceil(tp) * m.head_dim;
        let queries = m.query_width();
        let whole = |shape: &[u64]| Bytes::from_shape(shape, width);
        let divided = |bytes: Bytes| Bytes(bytes.0.div_ceil(tp));
        let outer = |bytes| if training.sp { divided(bytes) } else { bytes };
        match self {
            Self::One => Bytes(width),
            Self::Tokens => outer(whole(&[m.tokens()])),
            Self::Hidden => outer(whole(&[m.tokens(), m.hidden])),
            Self::Query => divided(whole(&[m.tokens(), queries])),
            Self::Key => whole(&[m.tokens(), keys]),
            Self::QueryAndKey => {
                divided(whole(&[m.tokens(), queries])) + whole(&[m.tokens(), keys])
            }
            Self::QueryAndKeyHeads => {
                divided(whole(&[m.tokens(), m.heads]))
                    + whole(&[m.tokens(), m.kv_heads.div_ceil(tp)])
            }
            Self::Ffn => divided(whole(&[m.tokens(), m.ffn])),
            Self::Scores => divided(whole(&[m.batch, m.heads, m.seq, m.seq])),
            Self::Mask => whole(&[m.batch, m.seq, m.seq]),
            Self::Heads => divided(whole(&[m.batch, m.heads, m.seq])),
            Self::HeadsPadded => divided(whole(&[m.batch, m.heads, m.seq.next_multiple_of(32)])),
        }
    }
}

/// Who makes a tensor, who needs it again, and whose storage it is.
#[derive(Clone, Copy)]
pub struct Role {
    made_by: &'static str,
    needed_by: &'static str,
    storage: Storage,
    core: bool,
}

impl Role {
    /// Made inside the layer.
    pub const fn inner(made_by: &'static str, needed_by: &'static str) -> Self {
        Self { made_by, needed_by, storage: Storage::Inner, core: false }
    }

    /// Of the attention core: what `selective` makes again.
    pub const fn core(made_by: &'static str, needed_by: &'static str) -> Self {
        Self { made_by, needed_by, storage: Storage::Inner, core: true }
    }

    /// The layer's input.
    pub const fn input(needed_by: &'static str) -> Self {
        Self { made_by: "layer before", needed_by, storage: Storage::Input, core: false }
    }
}

/// What an operation of a layer's forward is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// A matrix multiplication with weights.
    Linear,
    /// Scores and their product with the values.
    Attention,
    /// An element-wise pass.
    Pass,
}

/// One operation of a layer's forward on this device: its time is max(FLOP / rate, bytes / HBM).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// What it is.
    pub kind: WorkKind,
    /// Floating-point operations that count; none for a pass.
    pub flops: f64,
    /// Bytes through device memory.
    pub moved: Bytes,
    /// How long it runs.
    pub time: Nanos,
}

/// Rows and times.
pub struct Table<'a> {
    pub builder: &'a Builder<'a>,
    rows: Vec<SavedTensor>,
    /// What runs, in order.
    pub work: Vec<Work>,
    forward: Nanos,
    /// Of that, matrix multiplications with weights.
    linear: Nanos,
}

impl<'a> Table<'a> {
    pub const fn new(builder: &'a Builder<'a>) -> Self {
        Self {
            builder,
            rows: Vec::new(),
            work: Vec::new(),
            forward: Nanos::ZERO,
            linear: Nanos::ZERO,
        }
    }

    /// One saved tensor: `width` bytes an element, `recompute` to make it again from its own inputs.
    pub fn row(&mut self, name: &str, shape: Shape, width: u64, recompute: Nanos, role: Role) {
        let bytes = self.builder.bytes(shape, width);
        self.sized(name, (bytes, shape.symbols(), width), recompute, role);
    }

    /// The same with its size given.
    pub fn sized(
        &mut self,
        name: &str,
        (bytes, shape, element_bytes): (Bytes, &'static str, u64),
        recompute: Nanos,
        role: Role,
    ) {
        let Role { made_by, needed_by, storage, core } = role;
        self.rows.push(SavedTensor {
            name: name.into(),
            bytes,
            recompute,
            storage,
            attention_core: core,
            origin: Some(Origin { shape, element_bytes, made_by, needed_by }),
        });
    }

    /// Runs an operation.
    pub fn run(&mut self, work: Work) -> Nanos {
        self.work.push(work);
        self.forward += work.time;
        work.time
    }

    /// Runs a matrix multiplication with weights.
    pub fn linear(&mut self, work: Work) {
        let time = self.run(work);
        self.linear += time;
    }

    /// An element-wise pass over `passes` tensors of that shape: its time is traffic.
    pub fn pass(&mut self, passes: u64, shape: Shape) -> Nanos {
        let moved = self.builder.bytes(shape, self.builder.width()).times(passes);
        let time = self.builder.hardware.hbm.time(moved);
        self.run(Work { kind: WorkKind::Pass, flops: 0.0, moved, time })
    }

    /// The finished layer; its boundary, output and scratch are for the caller to say.
    pub fn layer(self, name: &str, kind: LayerKind) -> Layer {
        Layer {
            name: name.to_owned(),
            kind,
            forward: self.forward,
            backward: self.builder.backward(self.forward, self.linear),
            saved: self.rows,
            boundary: Bytes::ZERO,
            output: Bytes::ZERO,
            forward_scratch: Bytes::ZERO,
            backward_scratch: Bytes::ZERO,
            weight_casts: Bytes::ZERO,
            gradients: Bytes::ZERO,
        }
    }

    /// Scores and their product with the values: 4·b·s²·(a·d) operations, no discount for the causal mask (the
    /// convention of published FLOP utilization). Scores in memory also travel through it.
    pub fn attention_work(&self, scores: bool) -> Work {
        let b = self.builder;
        let m = b.model;
        let share = float(b.training.tp);
        let flops =
            4.0 * float(m.batch) * float(m.seq) * float(m.seq) * float(m.query_width()) / share;
        let moved = if scores {
            b.bytes(Shape::Scores, b.width()).times(4)
        } else {
            b.bytes(Shape::Query, b.width()).times(4)
        };
        b.roofline(WorkKind::Attention, flops, moved)
    }
}
