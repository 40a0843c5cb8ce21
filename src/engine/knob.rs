//! Every key a request may have: its kind, range, unit and meaning. One table serves the reader (ranges), the
//! page (sliders), the link (which keys it carries) and `schema` (the documentation of the JSON doors).

/// What values a knob takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number.
    Int {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A number.
    Float {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// True or false.
    Flag,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// The name of a preset.
    Preset,
    /// A list, described in words.
    List,
    /// An object, described in words.
    Object,
}

/// One key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knob {
    /// The group it lives in.
    pub group: &'static str,
    /// Its key.
    pub key: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Its unit, empty for counts and shares.
    pub unit: &'static str,
    /// One line about it.
    pub about: &'static str,
}

/// The knob at `group.key`, if there is one.
#[must_use]
pub fn find(group: &str, key: &str) -> Option<&'static Knob> {
    KNOBS.iter().find(|knob| knob.group == group && knob.key == key)
}

const fn int(
    group: &'static str,
    key: &'static str,
    min: u64,
    max: u64,
    about: &'static str,
) -> Knob {
    Knob { group, key, kind: Kind::Int { min, max }, unit: "", about }
}
const fn float(
    group: &'static str,
    key: &'static str,
    (min, max, unit): (f64, f64, &'static str),
    about: &'static str,
) -> Knob {
    Knob { group, key, kind: Kind::Float { min, max }, unit, about }
}
const fn flag(group: &'static str, key: &'static str, about: &'static str) -> Knob {
    Knob { group, key, kind: Kind::Flag, unit: "", about }
}
const fn choice(
    group: &'static str,
    key: &'static str,
    names: &'static [&'static str],
    about: &'static str,
) -> Knob {
    Knob { group, key, kind: Kind::Choice(names), unit: "", about }
}
const fn other(group: &'static str, key: &'static str, kind: Kind, about: &'static str) -> Knob {
    Knob { group, key, kind, unit: "", about }
}

const W: &str = "workload";
const T: &str = "training";
const H: &str = "hardware";
const P: &str = "policy";

/// All knobs, in the order of the documentation.
pub const KNOBS: &[Knob] = &[
    choice(
        W,
        "kind",
        &["transformer", "huggingface", "lesson", "profile"],
        "what describes the model",
    ),
    other(W, "preset", Kind::Preset, "a named model: fills every key of the group"),
    other(W, "config", Kind::Object, "kind huggingface: the config.json object"),
    choice(
        W,
        "block",
        &["gpt", "llama", "bert", "vit"],
        "sets the defaults of norm, gated_mlp, bias and dropout",
    ),
    int(
        W,
        "layers",
        1,
        1000,
        "transformer blocks, or uniform layers of a lesson; for a profile, the list of layers",
    ),
    int(W, "hidden", 1, 1 << 20, "width of the residual stream"),
    int(W, "heads", 1, 1 << 16, "attention heads"),
    int(W, "kv_heads", 1, 1 << 16, "key and value heads (grouped queries)"),
    int(W, "head_dim", 1, 1 << 16, "width of one head; hidden / heads when absent"),
    int(W, "ffn", 1, 1 << 22, "width of the MLP"),
    int(W, "vocab", 1, 1 << 24, "vocabulary size"),
    flag(W, "gated_mlp", "SwiGLU-like MLP with a gate"),
    choice(W, "norm", &["layer", "rms"], "LayerNorm or RMSNorm"),
    choice(
        W,
        "attention",
        &["eager", "flash"],
        "scores kept (b·a·s²), or fused attention that keeps the log-sum-exp",
    ),
    flag(W, "dropout", "dropout after attention, MLP and embedding"),
    flag(W, "attention_dropout", "dropout on attention probabilities; as dropout when absent"),
    flag(W, "attention_mask", "attention is given a mask (padding): no flash kernel"),
    flag(W, "bias", "linear layers have biases"),
    flag(W, "qkv_bias", "biases on the query, key and value projections alone"),
    flag(W, "out_bias", "bias on attention's output projection alone"),
    flag(W, "mlp_bias", "biases in the MLP alone"),
    flag(W, "qk_norm", "queries and keys are normalized per head"),
    flag(W, "tied_embedding", "the head shares the embedding's weights"),
    int(
        W,
        "learned_positions",
        0,
        1 << 24,
        "rows of a learned position table; 0 with rotary positions",
    ),
    int(W, "seq", 1, 1 << 24, "tokens in a sequence"),
    int(W, "batch", 1, 1 << 16, "sequences in a micro-batch on one device"),
    int(W, "accumulation", 1, 1 << 16, "micro-batches per optimizer step"),
    int(W, "loss_chunks", 1, 1 << 16, "the head and loss run over the tokens in this many chunks"),
    flag(W, "loss_upcast", "logits are cast to fp32 before the loss"),
    choice(
        W,
        "implementation",
        &["fused", "eager"],
        "fused kernels, or modules as the transformers library writes them",
    ),
    choice(W, "backend", &["cuda", "cpu"], "whose kernels decide what is saved"),
    float(W, "act_gb", (0.0, 1e6, "GB"), "lesson: activation of one layer"),
    float(W, "layer_s", (0.0, 1e6, "s"), "lesson: forward time of one layer"),
    float(
        W,
        "backward_s",
        (0.0, 1e6, "s"),
        "lesson: backward time of one layer; twice the forward when absent",
    ),
    float(W, "base_gb", (0.0, 1e6, "GB"), "lesson: bytes that do not depend on the plan"),
    float(
        W,
        "gpu_mem_gb",
        (0.001, 1e6, "GB"),
        "lesson: card of the worked epoch; the memory limit when absent",
    ),
    float(
        W,
        "bandwidth_gbps",
        (0.001, 1e6, "GB/s"),
        "lesson: link of the worked programs; the card's d2h rate when absent",
    ),
    float(
        W,
        "forward_cost_s",
        (0.0, 1e9, "s"),
        "lesson: forward time of the strategy table; layers × layer_s when absent",
    ),
    other(
        W,
        "static_bytes",
        Kind::Object,
        "profile: bytes by category (weights, gradients, optimizer)",
    ),
    float(W, "optimizer_s", (0.0, 1e6, "s"), "profile: time of the optimizer step"),
    int(
        W,
        "optimizer_scratch_bytes",
        0,
        1 << 50,
        "profile: bytes that live during the optimizer step only",
    ),
    choice(
        T,
        "dtype",
        &["fp32", "bf16", "bf16-mixed", "fp16-mixed", "bf16-autocast"],
        "dtype policy",
    ),
    choice(T, "optimizer", &["adamw", "adamw-8bit", "sgd-momentum", "sgd"], "optimizer"),
    choice(T, "grad_dtype", &["bf16", "fp32"], "dtype in which gradients are kept"),
    choice(
        T,
        "grad_buffer",
        &["grown", "static"],
        "gradients appear in backward and go with the optimizer step, or keep a buffer; static when absent with dp or pp \
         above 1, and always with accumulation",
    ),
    float(
        T,
        "weight_bytes",
        (0.0, 64.0, "B"),
        "bytes per trained parameter for weights; by dtype policy when absent",
    ),
    float(T, "gradient_bytes", (0.0, 64.0, "B"), "the same for gradients"),
    float(T, "master_bytes", (0.0, 64.0, "B"), "the same for the fp32 master copy"),
    float(T, "optimizer_bytes", (0.0, 64.0, "B"), "the same for the optimizer's moments"),
    int(T, "zero", 0, 3, "ZeRO stage: shards optimizer states, then gradients, then weights"),
    int(
        T,
        "gathered_layers",
        0,
        1000,
        "ZeRO 3: layers whose weights are whole at once, the running one and those fetched ahead; 0 counts none",
    ),
    choice(
        T,
        "offload_states",
        &["none", "optimizer", "all"],
        "states in host memory: gradients and optimizer states (the optimizer steps there), or weights too (ZeRO 3)",
    ),
    int(T, "dp", 1, 1 << 16, "data-parallel degree"),
    int(T, "tp", 1, 1024, "tensor-parallel degree"),
    flag(T, "sp", "sequence parallel: norms and dropouts are divided too"),
    int(T, "pp", 1, 1024, "pipeline stages (1F1B)"),
    int(T, "stage", 1, 1024, "which pipeline stage is shown, from 1"),
    int(
        T,
        "virtual_stages",
        1,
        1000,
        "model chunks on each pipeline stage (interleaved 1F1B): the bubble over them, more activations",
    ),
    int(T, "lora_rank", 1, 1 << 16, "rank of LoRA on every linear layer; absent for full training"),
    choice(
        T,
        "frozen_dtype",
        &["bf16", "int8", "nf4", "nf4-double"],
        "dtype of LoRA's frozen base",
    ),
    float(
        T,
        "backward_ratio",
        (0.5, 5.0, ""),
        "backward time over forward time; with LoRA the frozen weights' gradients are left out of it",
    ),
    other(H, "preset", Kind::Preset, "a named card: fills every key of the group"),
    float(H, "memory_gib", (0.001, 1e6, "GiB"), "memory of the card"),
    float(
        H,
        "tflops",
        (0.001, 1e6, "TFLOP/s"),
        "dense peak of the dtype; the card's own figure when absent",
    ),
    float(H, "efficiency", (0.01, 1.0, ""), "share of the peak that matrix multiplications reach"),
    float(H, "hbm_gbps", (0.1, 1e6, "GB/s"), "memory bandwidth of the card"),
    float(H, "d2h_gbps", (0.001, 1e5, "GB/s"), "device to host"),
    float(H, "h2d_gbps", (0.001, 1e5, "GB/s"), "host to device"),
    flag(H, "duplex", "both directions at once; one shared copy stream otherwise"),
    float(H, "copy_overhead_us", (0.0, 1e6, "µs"), "fixed cost of each copy"),
    choice(
        H,
        "link_efficiency",
        &["flat", "by-size"],
        "share of the link's rate that a copy reaches: all (a measured rate), or 0.3 to 0.95 by size (a nominal one)",
    ),
    flag(H, "pooled_buffers", "host buffers are page-locked once and used again"),
    float(
        H,
        "page_lock_ms",
        (0.0, 1e4, "ms"),
        "page-locking the buffer of one copy, where buffers are not pooled",
    ),
    flag(
        H,
        "copies_use_hbm",
        "copies take their bytes of memory bandwidth from the operation beside them: an upper bound",
    ),
    int(H, "cards_per_link", 1, 64, "cards that copy at the same time over one link"),
    float(H, "host_gib", (0.0, 1e6, "GiB"), "pinned host memory for offloading"),
    float(
        H,
        "host_gbps",
        (0.1, 1e5, "GB/s"),
        "memory bandwidth of the host, this card's share: the optimizer's, where states are offloaded",
    ),
    float(H, "ssd_read_gbps", (0.001, 1e4, "GB/s"), "SSD read"),
    float(H, "ssd_write_gbps", (0.001, 1e4, "GB/s"), "SSD write"),
    float(H, "ssd_gib", (0.0, 1e7, "GiB"), "SSD space; 0 for none"),
    float(H, "ssd_tbw", (0.001, 1e9, "TB"), "what the SSD is rated to take in its life"),
    float(
        H,
        "unmodelled_gib",
        (0.0, 1e5, "GiB"),
        "context, workspace, fragmentation: set by the user",
    ),
    choice(
        P,
        "kind",
        &[
            "keep",
            "checkpoint",
            "recompute",
            "offload",
            "offload-boundaries",
            "mix",
            "selective",
            "rule",
            "binomial",
            "rotor",
            "plan",
            "best",
        ],
        "what happens to saved tensors",
    ),
    int(P, "k", 1, 1 << 20, "segments; at most one per layer"),
    int(
        P,
        "slots",
        1,
        1 << 20,
        "binomial: boundaries held at once, the first block's input among them; 4 when absent, at most one per block",
    ),
    float(
        P,
        "beta",
        (0.0, 1.0, ""),
        "mix: share of the layers that is checkpointed; the rest is offloaded",
    ),
    choice(P, "medium", &["host", "ssd"], "where offloaded tensors go"),
    choice(P, "granularity", &["layer", "tensor"], "one copy per layer, or one per tensor"),
    int(
        P,
        "min_offload_bytes",
        0,
        1 << 40,
        "tensors smaller than this are not offloaded (hooks have such a threshold); an explicit plan is taken as it is",
    ),
    float(P, "epsilon_ms", (0.0, 1e6, "ms"), "rule: safety margin of the window"),
    int(P, "prefetch_layers", 0, 1000, "prefetch distance: layers ahead of use"),
    float(P, "threshold", (0.0, 1e6, ""), "benefit ratio above which a decision is worthwhile"),
    other(
        P,
        "segments",
        Kind::List,
        "explicit layer counts, in place of k; with plan, how its recomputed layers are grouped, in order",
    ),
    other(P, "boundaries", Kind::List, "with plan: keep, host or ssd for each segment's boundary"),
    other(
        P,
        "nested",
        Kind::List,
        "with plan: parts of segments that are dropped again when the segment runs again and then run once more, as [first layer, the layer after the last]",
    ),
    flag(P, "reentrant", "reentrant checkpointing holds a segment's output too"),
    flag(P, "last_segment_plain", "the last segment runs without checkpointing"),
    other(
        P,
        "plan",
        Kind::List,
        "plan: keep, recompute, host or ssd; one entry per layer, per block or per tensor",
    ),
    float(
        "limits",
        "memory_gib",
        (0.001, 1e6, "GiB"),
        "memory budget; the card's memory when absent",
    ),
    float("limits", "step_s", (0.0, 1e9, "s"), "longest step allowed"),
    float("weights", "memory", (0.0, 1.0, ""), "λ of memory, as a share of keeping everything"),
    float("weights", "compute", (0.0, 1.0, ""), "λ of added compute, as a share of the plain step"),
    float("weights", "transfer", (0.0, 1.0, ""), "λ of waiting, as a share of the plain step"),
];
