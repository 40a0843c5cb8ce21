//! Final norm, logits and loss, with the moments that make the summit: every figure of loss_head.json (PyTorch 2.8) comes out.

use super::Builder;
use super::table::{Role, Shape, Table, Work, WorkKind};
use crate::engine::chain::{Layer, LayerKind};
use crate::engine::units::{Bytes, Nanos};

/// Bytes of the head's tensors on this device.
struct Sizes {
    /// Logits as the matrix multiplication gives them; of one chunk.
    logits: Bytes,
    /// Logits as the loss takes them (fp32 when it casts), and so their log-probabilities; of one chunk.
    loss: Bytes,
    /// Gradient of the head's weight, as autograd makes it; none where the weight is frozen.
    weight: Bytes,
    /// Gradient of the final norm's output, of one chunk.
    normed: Bytes,
    /// Chunks.
    chunks: u64,
}

impl Sizes {
    /// The most that backward holds beside what forward saved.
    ///
    /// In one piece: the loss's gradient and the log-softmax's, or, once the log-probabilities are gone, the gradients of
    /// logits, weight and norm output. In chunks the weight's gradient is summed over them, and a sum has three: so far,
    /// new, and result; chunks can cost more than they save.
    fn backward(&self) -> Bytes {
        if self.chunks == 1 {
            let after = self.logits + self.weight + self.normed;
            return self.loss.times(2).max(after.saturating_sub(self.loss));
        }
        let so_far = self.normed.times(self.chunks - 1);
        let in_loss = self.weight + self.loss.times(3);
        let in_product = self.weight.times(2) + self.logits + self.normed;
        so_far + in_loss.max(in_product).max(self.weight.times(3))
    }

    /// The most that forward holds beside what it saves; `keeps` says that the module hands out its logits, so that they
    /// stay beside their fp32 copy.
    fn forward(&self, keeps: bool) -> Bytes {
        // Logits and log-probabilities at once; the latter are saved unless there are chunks.
        let both = if self.chunks == 1 { self.loss } else { self.loss.times(2) };
        let cast = self.loss > self.logits;
        both + if keeps && cast { self.logits } else { Bytes::ZERO }
    }
}

impl Builder<'_> {
    /// Bytes of an element of the loss.
    fn loss_width(&self) -> u64 {
        if self.model.loss_upcast { 4 } else { self.width() }
    }

    fn sizes(&self) -> Sizes {
        let m = self.model;
        let chunks = m.loss_chunks;
        let rows = m.tokens().div_ceil(chunks);
        let vocab = m.vocab.div_ceil(self.training.tp);
        let frozen = self.training.lora_rank.is_some();
        let weight = Bytes::from_shape(&[vocab, m.hidden], self.residual_width());
        Sizes {
            logits: Bytes::from_shape(&[rows, vocab], self.width()),
            loss: Bytes::from_shape(&[rows, vocab], self.loss_width()),
            weight: if frozen { Bytes::ZERO } else { weight },
            normed: Bytes::from_shape(&[rows, m.hidden], self.width()),
            chunks,
        }
    }

    /// Final norm, logits and loss. In chunks, the logits of each are made again in backward (or used up in forward, as fused
    /// kernels do): nothing of vocabulary size stays. Time is that of one pass either way.
    pub fn head(&self) -> Layer {
        let (m, sizes) = (self.model, self.sizes());
        Layer {
            boundary: self.residual(),
            output: Bytes(self.loss_width()),
            forward_scratch: sizes.forward(self.eager() && m.loss_upcast),
            backward_scratch: sizes.backward(),
            weight_casts: self.weight_casts(m.vocab * m.hidden),
            ..self.head_table().layer("head and loss", LayerKind::Head)
        }
    }

    pub fn head_table(&self) -> Table<'_> {
        let m = self.model;
        let mut table = Table::new(self);
        table.norm("final norm", false, 1);
        let product = self.matmul(m.tokens(), m.hidden, m.vocab);
        table.linear(product);
        let sizes = self.sizes();
        let width = self.loss_width();
        // In and out of log-softmax: the same bytes in chunks.
        let whole = Bytes::from_shape(&[m.tokens(), m.vocab.div_ceil(self.training.tp)], width);
        let moved = whole.times(2);
        let time = self.hardware.hbm.time(moved);
        let pass = table.run(Work { kind: WorkKind::Pass, flops: 0.0, moved, time });
        table.labels();
        let role = Role::inner("loss", "loss");
        table.row("loss weight", Shape::One, width, Nanos::ZERO, role);
        if m.loss_chunks == 1 {
            let name = if width == 4 { "log-probabilities (fp32)" } else { "log-probabilities" };
            let role = Role::inner("log-softmax", "log-softmax");
            table.sized(name, (sizes.loss, "b·s·v", width), pass, role);
        }
        table
    }
}

impl Table<'_> {
    /// The transformers library shifts the labels: one position more before they are cut, a copy unless there is one sequence.
    fn labels(&mut self) {
        let (m, b) = (self.builder.model, self.builder);
        if b.eager() {
            let rows = if m.batch == 1 { m.seq + 1 } else { m.tokens() };
            let role = Role::inner("shift", "loss");
            let bytes = Bytes::from_shape(&[rows], 8);
            self.sized("shifted labels", (bytes, "b·s", 8), Nanos::ZERO, role);
        }
    }
}
