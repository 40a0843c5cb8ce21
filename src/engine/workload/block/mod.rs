//! A layer as a table of saved tensors: name, shape, dtype, who makes it, who needs it, what it costs to make again.
//! One table per kind of block; `attention` holds what each attention kernel keeps, `head` the loss.
//!
//! In 16 bit with dropout and eager attention a fused GPT block keeps s·b·h·(34 + 5·a·s/h) bytes and the norms' statistics,
//! which the formula leaves out; tensor parallelism divides what is inside attention and MLP (24 of the 34), sequence
//! parallelism the rest (Korthikanti et al. 2022, section 4). What kernels really keep follows
//! layer_saved.json: measured on PyTorch 2.8 for `cpu`, derived from it for `cuda`.

mod attention;
mod head;
mod table;

use super::states::{Dtype, Training};
use super::transformer::{Attention, Backend, Block, Implementation, Norm, Transformer};
use crate::engine::chain::{Layer, LayerKind};
use crate::engine::hardware::Hardware;
use crate::engine::units::{Bytes, Nanos};
use table::{Role, Shape, Table};
pub use table::{Work, WorkKind};

/// Lowers the layers of one model.
pub struct Builder<'a> {
    pub model: &'a Transformer,
    pub training: &'a Training,
    pub hardware: &'a Hardware,
}

impl Builder<'_> {
    /// Bytes of an element where matrix multiplications use it.
    fn width(&self) -> u64 {
        self.training.dtype.compute_width()
    }

    /// Bytes of an element of the residual stream.
    fn residual_width(&self) -> u64 {
        self.training.dtype.residual_width()
    }

    fn autocast(&self) -> bool {
        self.training.dtype == Dtype::Bf16Autocast
    }

    /// Modules as the transformers library writes them.
    fn eager(&self) -> bool {
        self.model.implementation == Implementation::Eager
    }

    /// Linear layers that read the attention's input: GPT's is one, for query, key and value.
    fn projections(&self) -> u64 {
        if self.model.block == Block::Gpt { 1 } else { 3 }
    }

    /// Linear layers that read the MLP's input.
    fn ups(&self) -> u64 {
        if self.model.gated_mlp { 2 } else { 1 }
    }

    fn cpu(&self) -> bool {
        self.model.backend == Backend::Cpu
    }

    /// Bytes of a dropout mask's element: a flag on CUDA (`native_dropout`), noise of the tensor's own dtype on CPU.
    fn mask_width(&self, dropped: u64) -> u64 {
        if self.cpu() { dropped } else { 1 }
    }

    /// Bytes of a tensor on this device.
    fn bytes(&self, shape: Shape, width: u64) -> Bytes {
        shape.here(self.model, self.training, width)
    }

    fn residual(&self) -> Bytes {
        self.bytes(Shape::Hidden, self.residual_width())
    }

    /// 16-bit copies of `weights` fp32 weights, which autocast keeps for backward.
    fn weight_casts(&self, weights: u64) -> Bytes {
        let casts = if self.autocast() { Bytes(weights.saturating_mul(2)) } else { Bytes::ZERO };
        Bytes(casts.0.div_ceil(self.training.tp))
    }

    /// A matrix multiplication on this device.
    fn matmul(&self, rows: u64, inner: u64, columns: u64) -> Work {
        let share = float(self.training.tp);
        let flops = 2.0 * float(rows) * float(inner) * float(columns) / share;
        let moved = Bytes::from_shape(&[rows, inner + columns], self.width())
            + Bytes::from_shape(&[inner, columns], self.width());
        self.roofline(WorkKind::Linear, flops, Bytes(moved.0 / self.training.tp))
    }

    /// Its time is max(FLOP / rate, bytes / HBM).
    fn roofline(&self, kind: WorkKind, flops: f64, moved: Bytes) -> Work {
        let time = self.hardware.compute.time(flops).max(self.hardware.hbm.time(moved));
        Work { kind, flops, moved, time }
    }

    /// Backward makes the gradient of the input and that of the weight, each half of it; frozen weights have none (LoRA's own
    /// are small beside them).
    fn backward(&self, forward: Nanos, linear: Nanos) -> Nanos {
        let whole = forward.secs() * self.training.backward_ratio;
        let half = linear.secs() * self.training.backward_ratio / 2.0;
        let frozen = if self.training.lora_rank.is_some() { half } else { 0.0 };
        Nanos::from_secs((whole - frozen).max(0.0))
    }

    /// Token and position lookup. Its input (the token ids) is the caller's.
    pub fn embedding(&self) -> Layer {
        Layer {
            boundary: self.bytes(Shape::Tokens, 8),
            output: self.residual(),
            backward_scratch: self.residual(),
            ..self.embedding_table().layer("embedding", LayerKind::Embedding)
        }
    }

    fn embedding_table(&self) -> Table<'_> {
        let m = self.model;
        let mut table = Table::new(self);
        table.row("token ids", Shape::Tokens, 8, Nanos::ZERO, Role::input("embedding"));
        table.pass(2, Shape::Hidden);
        if m.block == Block::Bert {
            // Its output is the first block's input.
            table.norm_input("embedding norm", true);
        }
        if m.dropout {
            table.dropout("embedding dropout mask", self.residual_width());
        }
        table
    }

    /// The operations of a layer's forward.
    pub fn work(&self, kind: LayerKind) -> Vec<Work> {
        let table = match kind {
            LayerKind::Embedding => self.embedding_table(),
            LayerKind::Block => self.block_table(),
            LayerKind::Head => self.head_table(),
            LayerKind::Receive => return Vec::new(),
        };
        table.work
    }

    fn block_table(&self) -> Table<'_> {
        let m = self.model;
        let mut table = Table::new(self);
        if m.block == Block::Bert {
            table.linear_input("input", self.projections());
            table.attention();
            table.norm("attention norm", true, self.ups());
            table.mlp();
            table.norm_input("mlp norm", true);
        } else {
            table.norm("attention norm", false, self.projections());
            table.attention();
            table.norm("mlp norm", true, self.ups());
            table.mlp();
        }
        table
    }

    /// One block.
    pub fn block(&self) -> Layer {
        let m = self.model;
        let inner = self.bytes(Shape::Ffn, self.width());
        let scores = match m.attention {
            Attention::Eager => self.bytes(Shape::Scores, self.width()),
            Attention::Flash => Bytes::ZERO,
        };
        let gradients =
            self.residual().times(2) + inner.times(if m.gated_mlp { 2 } else { 1 }).max(scores);
        Layer {
            boundary: self.residual(),
            output: self.residual(),
            forward_scratch: self.residual(),
            backward_scratch: gradients,
            weight_casts: self.weight_casts(m.block_weights()),
            ..self.block_table().layer("block", LayerKind::Block)
        }
    }
}

impl Table<'_> {
    /// What a norm keeps of its input. `own` says that the input is made inside this layer.
    fn norm_input(&mut self, name: &str, own: bool) {
        let (m, b) = (self.builder.model, self.builder);
        let (rms, r) = (m.norm == Norm::Rms, b.residual_width());
        let kind = if rms { "RMSNorm" } else { "LayerNorm" };
        let time = self.pass(2, Shape::Hidden);
        // RMSNorm in Python computes in fp32: what it keeps is the copy, not the input.
        if rms && b.eager() && r == 2 {
            let role = Role::inner("cast to fp32", kind);
            self.row(&format!("{name}: fp32 copy"), Shape::Hidden, 4, time, role);
        } else if own {
            let role = Role::inner("residual sum", kind);
            self.row(&format!("{name}: input"), Shape::Hidden, r, time, role);
        } else {
            self.row("input", Shape::Hidden, r, Nanos::ZERO, Role::input(kind));
        }
        // LayerNorm: mean and reciprocal deviation, fp32 on CUDA, in the input's dtype on CPU.
        let statistics = match (rms, b.cpu()) {
            (true, _) => 4,
            (false, false) => 8,
            (false, true) => 2 * r,
        };
        let role = Role::inner(kind, kind);
        self.row(&format!("{name}: statistics"), Shape::Tokens, statistics, time, role);
        if rms && b.eager() {
            let role = Role::inner(kind, "scale");
            self.row(&format!("{name}: normalized"), Shape::Hidden, r, time, role);
        }
    }

    /// A norm and its output, which the `readers` linear layers behind it keep: one storage, or a cast for each under
    /// autocast.
    fn norm(&mut self, name: &str, own: bool, readers: u64) {
        self.norm_input(name, own);
        let (time, b) = (self.pass(2, Shape::Hidden), self.builder);
        let kind = if b.model.norm == Norm::Rms { "RMSNorm" } else { "LayerNorm" };
        if b.autocast() {
            self.casts(&format!("{name}: output"), readers);
        } else {
            let role = Role::inner(kind, "linear");
            self.row(&format!("{name}: output"), Shape::Hidden, b.width(), time, role);
        }
    }

    /// The layer's input, where `readers` linear layers are its first operations.
    fn linear_input(&mut self, name: &str, readers: u64) {
        let b = self.builder;
        if b.autocast() {
            self.casts(name, readers);
        } else {
            let role = Role::input("linear");
            self.row(name, Shape::Hidden, b.residual_width(), Nanos::ZERO, role);
        }
    }

    /// Autocast casts an activation anew for each linear layer that reads it (only casts of weights are cached).
    fn casts(&mut self, name: &str, readers: u64) {
        let time = self.builder.hardware.hbm.time(self.builder.bytes(Shape::Hidden, 6));
        for reader in 1..=readers {
            let role = Role::inner("cast", "linear");
            self.row(&format!("{name}, cast {reader}"), Shape::Hidden, 2, time, role);
        }
    }

    /// The mask of a dropout on the residual stream's way; `dropped` is the width of what it drops.
    fn dropout(&mut self, name: &str, dropped: u64) {
        let time = self.pass(2, Shape::Hidden);
        let width = self.builder.mask_width(dropped);
        self.row(name, Shape::Hidden, width, time, Role::inner("dropout", "dropout"));
    }

    fn mlp(&mut self) {
        let (m, b) = (self.builder.model, self.builder);
        let (shape, e) = (Shape::Ffn, b.width());
        let up = b.matmul(m.tokens(), m.hidden, m.ffn);
        self.linear(up);
        if m.gated_mlp {
            self.linear(up);
            self.row("MLP gate", shape, e, up.time, Role::inner("linear", "SiLU"));
            let time = self.pass(3, shape);
            if b.eager() {
                self.row("MLP activation", shape, e, time, Role::inner("SiLU", "product"));
            }
            self.row("MLP up", shape, e, up.time, Role::inner("linear", "product"));
            self.row("MLP product", shape, e, time, Role::inner("product", "linear"));
        } else {
            self.row("MLP hidden", shape, e, up.time, Role::inner("linear", "GELU"));
            let time = self.pass(2, shape);
            // GPT-2's GELU in Python: ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
            if b.eager() && m.block == Block::Gpt {
                for name in ["MLP cube", "MLP tanh", "MLP half"] {
                    self.row(name, shape, e, time, Role::inner("GELU", "GELU"));
                }
            }
            self.row("MLP activation", shape, e, time, Role::inner("GELU", "linear"));
        }
        self.linear(b.matmul(m.tokens(), m.ffn, m.hidden));
        if m.dropout {
            self.dropout("MLP dropout mask", e);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "factors of a FLOP count")]
fn float(n: u64) -> f64 {
    n as f64
}
