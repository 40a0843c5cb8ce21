//! What attention keeps, by the kernel that runs. Scaled-dot-product attention is not always flash: which kernel it picks
//! depends on device, dtype, mask, dropout and grouped queries (PyTorch 2.8's dispatch; layer_saved.json).

use super::table::{Role, Shape, Table};
use super::{Attention, Block, Builder};
use crate::engine::units::Nanos;

/// Widest head of the flash kernels.
const FLASH_HEAD_DIM: u64 = 256;

/// What computes softmax(q·kᵀ)·v.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// The module's own matrix multiplications and softmax.
    Scores,
    /// Flash attention: keeps the log-sum-exp.
    Flash,
    /// The memory-efficient kernel: the same with padded rows.
    MemoryEfficient,
    /// The fallback: scores in fp32, keys and values repeated.
    Math,
}

impl Builder<'_> {
    /// The kernel that attention ends up in. CUDA: no flash in fp32, with a mask or with heads wider than 256; no memory-efficient
    /// kernel for grouped queries that are not repeated. CPU: no fused kernel with dropout or such grouped queries.
    pub fn kernel(&self) -> Kernel {
        let m = self.model;
        if m.attention == Attention::Eager {
            return Kernel::Scores;
        }
        let grouped = m.kv_heads < m.heads && !self.repeats_keys();
        match (self.cpu(), grouped) {
            (true, _) if m.attention_dropout || grouped => Kernel::Math,
            (true, _) => Kernel::Flash,
            (false, _)
                if self.width() == 2 && !m.attention_mask && m.head_dim <= FLASH_HEAD_DIM =>
            {
                Kernel::Flash
            }
            (false, true) => Kernel::Math,
            (false, false) => Kernel::MemoryEfficient,
        }
    }

    /// Whether repeated heads need no storage of their own: one key-value head of one sequence stays an expanded view.
    fn expands_keys(&self) -> bool {
        let m = self.model;
        m.attention == Attention::Eager && m.kv_heads == 1 && m.heads > 1 && m.batch == 1
    }

    /// Keys and values written out for every query head before the kernel: by a module that multiplies itself, and by the
    /// transformers library where a mask is given.
    fn repeats_keys(&self) -> bool {
        self.model.attention == Attention::Eager || (self.eager() && self.model.attention_mask)
    }
}

impl Table<'_> {
    /// Projections, the kernel, the output projection and its dropout.
    pub fn attention(&mut self) {
        let (m, b) = (self.builder.model, self.builder);
        let (tokens, e) = (m.tokens(), b.width());
        let query = b.matmul(tokens, m.hidden, m.query_width());
        let key = b.matmul(tokens, m.hidden, m.key_width());
        self.linear(query);
        self.linear(key);
        self.linear(key);
        let (query, key) = (query.time, key.time);
        if m.qk_norm {
            self.qk_norm();
        }
        let kernel = b.kernel();
        // The fallback computes in fp32, on copies.
        let width = if kernel == Kernel::Math { 4 } else { e };
        let keys =
            if b.repeats_keys() || kernel == Kernel::Math { Shape::Query } else { Shape::Key };
        let role = Role::inner("linear", "attention");
        self.row("query", Shape::Query, width, query, role);
        let views = if b.expands_keys() { Shape::Key } else { keys };
        // Rotary embedding leaves autocast's keys in fp32: they are cast once repeated.
        self.row("key", if b.autocast() { keys } else { views }, width, key, role);
        self.row("value", views, width, key, role);
        if self.values_stay_views(kernel) {
            // A view of the query-key-value projection keeps all three.
            self.row("query-key-value projection", Shape::Query, 2 * width, query, role);
        }
        let core = self.attention_work(matches!(kernel, Kernel::Scores | Kernel::Math));
        let time = self.run(core);
        match kernel {
            Kernel::Scores => self.scores(time, self.upcasts_softmax(), e),
            Kernel::Math => self.scores(time, false, 4),
            Kernel::Flash | Kernel::MemoryEfficient => self.fused(kernel, time),
        }
        let role = Role::inner("attention", "linear");
        self.row("attention output", Shape::Query, e, time, role);
        if self.copies_output(kernel) {
            let copy = self.pass(2, Shape::Query);
            let role = Role::inner("transpose", "linear");
            self.row("attention output, contiguous", Shape::Query, e, copy, role);
        }
        self.linear(b.matmul(tokens, m.query_width(), m.hidden));
        if m.dropout {
            self.dropout("attention dropout mask", e);
        }
    }

    /// In the fallback a batch of one needs no copy of the values: they stay a view of one fused projection.
    fn values_stay_views(&self, kernel: Kernel) -> bool {
        let (m, b) = (self.builder.model, self.builder);
        kernel == Kernel::Math
            && b.cpu()
            && b.width() == 4
            && m.batch == 1
            && !b.eager()
            && m.kv_heads == m.heads
    }

    /// The transformers library (but for BERT) makes heads contiguous: where the kernel's output has the heads outside, its transpose is
    /// a copy, and both stay. (Derived for CUDA; for the memory-efficient kernel uncertain by this one tensor.)
    fn copies_output(&self, kernel: Kernel) -> bool {
        let b = self.builder;
        b.eager()
            && b.model.block != Block::Bert
            && match kernel {
                Kernel::Flash => true,
                Kernel::MemoryEfficient => b.width() == 2,
                Kernel::Scores | Kernel::Math => false,
            }
    }

    /// What a fused kernel keeps beside queries, keys, values and output.
    fn fused(&mut self, kernel: Kernel, time: Nanos) {
        let b = self.builder;
        if b.model.attention_mask && b.autocast() {
            let role = Role::core("cast", "attention");
            self.row("attention mask, cast", Shape::Mask, 2, Nanos::ZERO, role);
        }
        let padded = kernel == Kernel::MemoryEfficient;
        let shape = if padded { Shape::HeadsPadded } else { Shape::Heads };
        self.row("log-sum-exp", shape, 4, time, Role::core("attention", "attention"));
        let masked = padded && b.model.attention_mask;
        if !b.cpu() && !masked {
            let role = Role::inner("attention", "dropout");
            self.row("random state", Shape::One, 16, Nanos::ZERO, role);
        }
    }

    /// RMSNorm on queries and keys: fused it keeps the inputs, eager an fp32 copy and the normalized ones.
    fn qk_norm(&mut self) {
        let b = self.builder;
        let (shape, time) = (Shape::QueryAndKey, self.pass(2, Shape::QueryAndKey));
        if b.eager() && b.width() == 2 {
            let role = Role::inner("cast to fp32", "RMSNorm");
            self.row("query and key norm: fp32 copy", shape, 4, time, role);
        } else {
            let role = Role::inner("linear", "RMSNorm");
            self.row("query and key norm: input", shape, b.width(), time, role);
        }
        let role = Role::inner("RMSNorm", "RMSNorm");
        self.row("query and key norm: statistics", Shape::QueryAndKeyHeads, 4, time, role);
        if b.eager() {
            let role = Role::inner("RMSNorm", "scale");
            self.row("query and key norm: normalized", shape, b.width(), time, role);
        }
    }

    /// The module's own softmax in fp32, cast back at once.
    fn asks_for_fp32(&self) -> bool {
        let (m, b) = (self.builder.model, self.builder);
        b.width() == 2 && b.eager() && matches!(m.block, Block::Llama | Block::Vit)
    }

    /// Softmax in fp32 although the module computes in 16 bit: LLaMA's and ViT's code ask for it, autocast on CUDA does it.
    fn upcasts_softmax(&self) -> bool {
        let b = self.builder;
        self.asks_for_fp32() || (b.autocast() && !b.cpu())
    }

    /// Scores in memory, `e` bytes each. The softmax output doubles as the input of the product with the values unless
    /// dropout or a cast comes between.
    fn scores(&mut self, time: Nanos, upcast: bool, e: u64) {
        let (m, b) = (self.builder.model, self.builder);
        let (shape, width) = (Shape::Scores, if upcast { 4 } else { e });
        // Recomputed alone: the probabilities need the product with the keys, the others one more pass.
        let half = Nanos(time.0 / 2);
        let pass = b.hardware.hbm.time(b.bytes(shape, e).times(2));
        if b.eager() && m.block == Block::Gpt && m.attention == Attention::Eager {
            let role = Role::core("scale", "scale");
            self.row("attention scale", Shape::One, e, Nanos::ZERO, role);
        }
        let role = Role::core("softmax", "softmax");
        self.row("attention probabilities", shape, width, half, role);
        if m.attention_dropout {
            let role = Role::core("dropout", "dropout");
            let dropped = b.mask_width(if upcast && self.asks_for_fp32() { e } else { width });
            self.row("attention dropout mask (scores)", shape, dropped, pass, role);
        }
        if m.attention_dropout || upcast {
            let role = Role::core(
                if m.attention_dropout { "dropout" } else { "cast" },
                "product with values",
            );
            self.row("attention probabilities, to the values", shape, e, pass, role);
        }
    }
}
