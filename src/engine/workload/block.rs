//! A layer as a table of saved tensors, row by row. In 16 bit with dropout and eager attention a fused GPT block
//! keeps s·b·h·(34 + 5·a·s/h) bytes and the norms' statistics; tensor parallelism divides what is inside
//! attention and MLP (24 of the 34), sequence parallelism the rest (Korthikanti et al. 2022, section 4). What
//! kernels really keep follows layer_saved.json (PyTorch 2.8, derived for CUDA).

use super::states::{Dtype, Training};
use super::transformer::{Attention, Backend, Block, Implementation, Norm, Transformer};
use crate::engine::chain::{Layer, LayerKind, SavedTensor, Storage};
use crate::engine::hardware::Hardware;
use crate::engine::units::{Bytes, Nanos};

/// Which part of a block a tensor belongs to: what is divided by tensor parallelism.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// Inside attention or MLP: divided.
    Inner,
    /// On the residual stream: divided only with sequence parallelism.
    Outer,
}

/// Lowers the layers of one model.
pub struct Builder<'a> {
    pub model: &'a Transformer,
    pub training: &'a Training,
    pub hardware: &'a Hardware,
}

/// The table under construction, and the forward time of the operations that fill it.
struct Table<'a> {
    builder: &'a Builder<'a>,
    rows: Vec<SavedTensor>,
    forward: Nanos,
    /// Of that, matrix multiplications with weights.
    linear: Nanos,
}

impl Builder<'_> {
    fn table(&self) -> Table<'_> {
        Table { builder: self, rows: Vec::new(), forward: Nanos::ZERO, linear: Nanos::ZERO }
    }

    fn width(&self) -> u64 {
        self.training.dtype.compute_width()
    }

    fn residual(&self) -> Bytes {
        self.divided(
            Part::Outer,
            &[self.model.tokens(), self.model.hidden],
            self.training.dtype.residual_width(),
        )
    }

    fn divided(&self, part: Part, shape: &[u64], width: u64) -> Bytes {
        let whole = Bytes::from_shape(shape, width);
        match part {
            Part::Outer if !self.training.sp => whole,
            _ => Bytes(whole.0.div_ceil(self.training.tp)),
        }
    }

    /// A matrix multiplication's time on this device: max(FLOP / rate, bytes / HBM).
    fn matmul(&self, rows: u64, inner: u64, columns: u64) -> Nanos {
        let share = float(self.training.tp);
        let flops = 2.0 * float(rows) * float(inner) * float(columns) / share;
        let moved = Bytes::from_shape(&[rows, inner + columns], self.width())
            + Bytes::from_shape(&[inner, columns], self.width());
        self.roofline(flops, Bytes(moved.0 / self.training.tp))
    }

    fn roofline(&self, flops: f64, moved: Bytes) -> Nanos {
        self.hardware.compute.time(flops).max(self.hardware.hbm.time(moved))
    }

    /// Scores and their product with the values: 4·b·s²·(a·d) operations, no discount for the causal mask (the
    /// convention of published FLOP utilization). Eager scores also travel through memory.
    fn attention_time(&self) -> Nanos {
        let m = self.model;
        let share = float(self.training.tp);
        let flops =
            4.0 * float(m.batch) * float(m.seq) * float(m.seq) * float(m.query_width()) / share;
        let scores = Bytes::from_shape(&[m.batch, m.heads, m.seq, m.seq], self.width());
        let moved = match m.attention {
            Attention::Eager => scores.times(4),
            Attention::Flash => Bytes::from_shape(&[m.tokens(), 4 * m.query_width()], self.width()),
        };
        self.roofline(flops, Bytes(moved.0 / self.training.tp))
    }

    /// Backward makes the gradient of the input and that of the weight, each as long as forward; frozen weights have none
    /// (LoRA's own are small beside them).
    fn backward(&self, forward: Nanos, linear: Nanos) -> Nanos {
        let whole = forward.secs() * self.training.backward_ratio;
        let frozen = if self.training.lora_rank.is_some() { linear.secs() } else { 0.0 };
        Nanos::from_secs((whole - frozen).max(0.0))
    }

    /// Token and position lookup. Its input (the token ids) is the caller's.
    pub fn embedding(&self) -> Layer {
        let m = self.model;
        let mut table = self.table();
        let ids = Bytes::from_shape(&[m.tokens()], 8);
        table.keep("token ids", ids, Nanos::ZERO, Storage::Input);
        table.pointwise(2, &[m.tokens(), m.hidden], Part::Outer);
        if m.block == Block::Bert {
            table.norm("embedding norm", true);
        }
        table.dropout("embedding dropout mask");
        table.layer(
            "embedding",
            LayerKind::Embedding,
            ids,
            self.residual(),
            Bytes::ZERO,
            self.residual(),
        )
    }

    /// One block.
    pub fn block(&self) -> Layer {
        let m = self.model;
        let mut table = self.table();
        if m.block == Block::Bert {
            table.keep("input", self.residual(), Nanos::ZERO, Storage::Input);
            table.attention();
            table.norm("attention norm", true);
            table.mlp();
            table.norm_input("mlp norm", true);
        } else {
            table.norm("attention norm", false);
            table.attention();
            table.norm("mlp norm", true);
            table.mlp();
        }
        let inner = self.divided(Part::Inner, &[m.tokens(), m.ffn], self.width());
        let scores = match m.attention {
            Attention::Eager => {
                self.divided(Part::Inner, &[m.batch, m.heads, m.seq, m.seq], self.width())
            }
            Attention::Flash => Bytes::ZERO,
        };
        let gradients =
            self.residual().times(2) + inner.times(if m.gated_mlp { 2 } else { 1 }).max(scores);
        table.layer(
            "block",
            LayerKind::Block,
            self.residual(),
            self.residual(),
            self.residual(),
            gradients,
        )
    }

    /// Final norm, logits and loss. The fp32 log-probabilities stay for backward; the fp32 logits live in forward,
    /// their gradient in backward, and chunks divide all three.
    pub fn head(&self) -> Layer {
        let m = self.model;
        let mut table = self.table();
        table.norm("final norm", false);
        table.linear(self.matmul(m.tokens(), m.hidden, m.vocab));
        let logits =
            Bytes(self.divided(Part::Inner, &[m.tokens(), m.vocab], 4).0.div_ceil(m.loss_chunks));
        let cost = self.hardware.hbm.time(logits.times(2));
        table.keep("log-probabilities (fp32)", logits, cost, Storage::Inner);
        table.forward += cost.times(m.loss_chunks);
        let input = self.residual();
        table.layer(
            "head and loss",
            LayerKind::Head,
            input,
            Bytes(4),
            logits,
            logits + input.times(2),
        )
    }
}

impl Table<'_> {
    /// Time of a matrix multiplication with weights.
    fn linear(&mut self, time: Nanos) {
        self.forward += time;
        self.linear += time;
    }

    fn keep(&mut self, name: &str, bytes: Bytes, recompute: Nanos, storage: Storage) {
        self.rows.push(SavedTensor {
            name: name.into(),
            bytes,
            recompute,
            storage,
            attention_core: false,
        });
    }

    fn inner(&mut self, name: &str, shape: &[u64], width: u64, recompute: Nanos) {
        let bytes = self.builder.divided(Part::Inner, shape, width);
        self.keep(name, bytes, recompute, Storage::Inner);
    }

    /// The attention core: what `selective` makes again.
    fn core(&mut self, name: &str, shape: &[u64], width: u64, recompute: Nanos) {
        self.inner(name, shape, width, recompute);
        if let Some(row) = self.rows.last_mut() {
            row.attention_core = true;
        }
    }

    /// An element-wise pass over `passes` tensors of that shape: its time is traffic.
    fn pointwise(&mut self, passes: u64, shape: &[u64], part: Part) -> Nanos {
        let moved = self.builder.divided(part, shape, self.builder.width()).times(passes);
        let time = self.builder.hardware.hbm.time(moved);
        self.forward += time;
        time
    }

    /// What a norm keeps of its input. `own` says that the input is made inside this layer.
    fn norm_input(&mut self, name: &str, own: bool) {
        let (m, b) = (self.builder.model, self.builder);
        let tokens = m.tokens();
        let eager_rms = m.norm == Norm::Rms && m.implementation == Implementation::Eager;
        let time = self.pointwise(2, &[tokens, m.hidden], Part::Outer);
        if eager_rms && b.training.dtype.residual_width() == 2 {
            let copy = b.divided(Part::Outer, &[tokens, m.hidden], 4);
            self.keep(&format!("{name}: fp32 copy"), copy, time, Storage::Inner);
        } else if own {
            self.keep(&format!("{name}: input"), b.residual(), time, Storage::Inner);
        } else {
            self.keep("input", b.residual(), Nanos::ZERO, Storage::Input);
        }
        let statistics = match (m.norm, m.backend) {
            (Norm::Layer, Backend::Cuda) => 8,
            (Norm::Layer, Backend::Cpu) => 2 * b.training.dtype.residual_width(),
            (Norm::Rms, _) => 4,
        };
        let bytes = b.divided(Part::Outer, &[tokens], statistics);
        self.keep(&format!("{name}: statistics"), bytes, time, Storage::Inner);
        if eager_rms {
            let normalized =
                b.divided(Part::Outer, &[tokens, m.hidden], b.training.dtype.residual_width());
            self.keep(&format!("{name}: normalized"), normalized, time, Storage::Inner);
        }
    }

    /// A norm and its output, which the linear layer behind it keeps.
    fn norm(&mut self, name: &str, own: bool) {
        let m = self.builder.model;
        self.norm_input(name, own);
        let time = self.pointwise(2, &[m.tokens(), m.hidden], Part::Outer);
        let bytes =
            self.builder.divided(Part::Outer, &[m.tokens(), m.hidden], self.builder.width());
        self.keep(&format!("{name}: output"), bytes, time, Storage::Inner);
    }

    fn dropout(&mut self, name: &str) {
        let (m, b) = (self.builder.model, self.builder);
        if m.dropout {
            let time = self.pointwise(2, &[m.tokens(), m.hidden], Part::Outer);
            let mask = b.divided(Part::Outer, &[m.tokens(), m.hidden], self.mask_width());
            self.keep(name, mask, time, Storage::Inner);
        }
    }

    /// Masks are one byte on CUDA, full width on CPU.
    fn mask_width(&self) -> u64 {
        match self.builder.model.backend {
            Backend::Cuda => 1,
            Backend::Cpu => self.builder.width(),
        }
    }

    fn attention(&mut self) {
        let (m, b) = (self.builder.model, self.builder);
        let (tokens, e) = (m.tokens(), b.width());
        let eager = m.implementation == Implementation::Eager;
        let query = b.matmul(tokens, m.hidden, m.query_width());
        let key = b.matmul(tokens, m.hidden, m.key_width());
        self.linear(query + key + key);
        if m.qk_norm {
            self.qk_norm(eager);
        }
        // Eager attention repeats keys and values to every query head; flash takes them as they are.
        let repeated = m.attention == Attention::Eager;
        let kept = if repeated { m.query_width() } else { m.key_width() };
        self.inner("query", &[tokens, m.query_width()], e, query);
        self.inner("key", &[tokens, kept], e, key);
        self.inner("value", &[tokens, kept], e, key);
        let time = b.attention_time();
        self.forward += time;
        match m.attention {
            Attention::Eager => self.scores(time),
            Attention::Flash => {
                self.core("log-sum-exp", &[m.batch, m.heads, m.seq], 4, time);
            }
        }
        self.inner("attention output", &[tokens, m.query_width()], e, time);
        if m.attention == Attention::Flash && eager {
            let copy = self.pointwise(2, &[tokens, m.query_width()], Part::Inner);
            self.inner("attention output, contiguous", &[tokens, m.query_width()], e, copy);
        }
        self.linear(b.matmul(tokens, m.query_width(), m.hidden));
        self.dropout("attention dropout mask");
    }

    /// RMSNorm on queries and keys: fused it keeps the inputs, eager an fp32 copy and the normalized ones.
    fn qk_norm(&mut self, eager: bool) {
        let (m, b) = (self.builder.model, self.builder);
        let width = m.query_width() + m.key_width();
        let time = self.pointwise(2, &[m.tokens(), width], Part::Inner);
        if eager && b.width() == 2 {
            self.inner("query and key norm: fp32 copy", &[m.tokens(), width], 4, time);
        } else {
            self.inner("query and key norm: input", &[m.tokens(), width], b.width(), time);
        }
        self.inner("query and key norm: statistics", &[m.tokens(), m.heads + m.kv_heads], 4, time);
        if eager {
            self.inner("query and key norm: normalized", &[m.tokens(), width], b.width(), time);
        }
    }

    /// Scores of eager attention. The softmax output doubles as the matrix multiplication's input unless dropout
    /// or a cast comes between (LLaMA and autocast compute it in fp32).
    fn scores(&mut self, time: Nanos) {
        let (m, b) = (self.builder.model, self.builder);
        let (shape, e) = ([m.batch, m.heads, m.seq, m.seq], b.width());
        let upcast = e == 2
            && (b.training.dtype == Dtype::Bf16Autocast
                || (m.block == Block::Llama && m.implementation == Implementation::Eager));
        // Recomputed alone: the probabilities need the product with the keys, the others one more pass.
        let half = Nanos(time.0 / 2);
        let pass = b.hardware.hbm.time(b.divided(Part::Inner, &shape, e).times(2));
        self.core("attention probabilities", &shape, if upcast { 4 } else { e }, half);
        if m.dropout {
            self.core("attention dropout mask (scores)", &shape, self.mask_width(), pass);
        }
        if m.dropout || upcast {
            self.core("attention probabilities, to the values", &shape, e, pass);
        }
    }

    fn mlp(&mut self) {
        let (m, b) = (self.builder.model, self.builder);
        let (shape, e) = ([m.tokens(), m.ffn], b.width());
        let eager = m.implementation == Implementation::Eager;
        let up = b.matmul(m.tokens(), m.hidden, m.ffn);
        self.linear(up);
        if m.gated_mlp {
            self.linear(up);
            self.inner("MLP gate", &shape, e, up);
            self.inner("MLP up", &shape, e, up);
            let time = self.pointwise(3, &shape, Part::Inner);
            if eager {
                self.inner("MLP activation", &shape, e, time);
            }
            self.inner("MLP product", &shape, e, time);
        } else {
            self.inner("MLP hidden", &shape, e, up);
            let time = self.pointwise(2, &shape, Part::Inner);
            if eager && m.block == Block::Gpt {
                for name in ["MLP cube", "MLP tanh", "MLP half"] {
                    self.inner(name, &shape, e, time);
                }
            }
            self.inner("MLP activation", &shape, e, time);
        }
        self.linear(b.matmul(m.tokens(), m.ffn, m.hidden));
        self.dropout("MLP dropout mask");
    }

    fn layer(
        self,
        name: &str,
        kind: LayerKind,
        boundary: Bytes,
        output: Bytes,
        forward_scratch: Bytes,
        backward_scratch: Bytes,
    ) -> Layer {
        Layer {
            name: name.to_owned(),
            kind,
            forward: self.forward,
            backward: self.builder.backward(self.forward, self.linear),
            saved: self.rows,
            boundary,
            output,
            forward_scratch,
            backward_scratch,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "factors of a FLOP count")]
fn float(n: u64) -> f64 {
    n as f64
}
