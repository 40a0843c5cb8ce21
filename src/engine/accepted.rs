//! What would be accepted in place of a refused value, as a value itself: the doors say it in English, the page in its own
//! languages.

use std::fmt::{Display, Formatter, Result};

/// What a key takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Accepted {
    /// A whole number in a range.
    Whole {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A number in a range.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A whole number, 1 or more.
    Count,
    /// Bytes, 0 or more.
    Bytes,
    /// Seconds, 0 or more.
    Seconds,
    /// A rate from 0 to 1.
    Rate,
    /// One of these names.
    OneOf(Vec<String>),
    /// Just this.
    Exactly(&'static str),
    /// True or false.
    Flag,
    /// An object.
    Object,
    /// A list.
    List,
    /// A list of layers.
    Layers(usize),
    /// A list of that many entries.
    Entries(usize),
    /// A list of that many entries at most.
    UpTo(usize),
    /// That many saved tensors at most.
    Tensors(usize),
    /// Layer counts with that sum.
    SumTo(u64),
    /// Layer counts of segments without a gap.
    Runs,
    /// One entry per segment, of which there are so many.
    Boundaries(usize),
    /// The first layer of a part and the layer after its last.
    Part,
    /// Such parts, each in one segment and shorter, any two apart or one in the other.
    Parts,
    /// A list of actions, one per block, layer or tensor.
    Actions {
        /// Blocks.
        blocks: u64,
        /// Layers.
        layers: usize,
        /// Saved tensors.
        tensors: usize,
    },
    /// A list of actions.
    SomeActions,
    /// A divisor of the hidden width, or a head's width beside it.
    DividesHidden(u64),
    /// A divisor of the number of heads.
    DividesHeads(u64),
    /// A divisor of the heads that divides the key heads too, or is a multiple of them.
    SharesKeyHeads {
        /// Heads.
        heads: u64,
        /// Key and value heads.
        kv: u64,
    },
    /// Weights leave the device only where ZeRO 3 puts them together layer by layer.
    NeedsZero3,
    /// An object with the groups of a request.
    Request,
    /// The object of a config.json.
    Config,
    /// A family of models that is read.
    Family,
    /// A dense model.
    Dense,
    /// Attention without a latent space.
    NoLatent,
    /// The inner text config alone.
    InnerText,
    /// A text model.
    TextModel,
    /// A config that is not quantized.
    Unquantized,
    /// No cross-attention.
    NoCross,
    /// No encoder-decoder.
    NoEncoderDecoder,
    /// A number that was measured.
    Measured,
    /// One of a size's two units.
    OneUnit,
    /// A step longer than this one, s, which recomputes nothing.
    StepAbove(f64),
    /// A step shorter than this one, s, which recomputes.
    StepBelow(f64),
    /// A peak of at most this one, GiB, which keeps everything.
    PeakAtMost(f64),
    /// A peak of at least this one, GiB, which keeps less.
    PeakAtLeast(f64),
    /// What another door answers.
    Elsewhere,
    /// A file that can be read.
    File,
    /// Text in UTF-8.
    Utf8,
    /// The command line's own usage.
    Usage,
}

/// The families that are read, as `model_type` has them.
pub const FAMILIES: &str = "llama, mistral, qwen2, qwen3, gpt2, gpt_neox, bert";

impl Display for Accepted {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Whole { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Number { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Count => f.write_str("a whole number, 1 or more"),
            Self::Bytes => f.write_str("bytes, 0 or more"),
            Self::Seconds => f.write_str("seconds, 0 or more"),
            Self::Rate => f.write_str("a rate from 0 to 1"),
            Self::OneOf(names) => write!(f, "one of {}", names.join(", ")),
            Self::Exactly(text) => f.write_str(text),
            Self::Flag => f.write_str("true or false"),
            Self::Object => f.write_str("an object"),
            Self::List => f.write_str("a list"),
            Self::Layers(most) => write!(f, "a list of 1 to {most} layers"),
            Self::Entries(count) => write!(f, "a list of {count} entries, as many as size_bytes has"),
            Self::UpTo(most) => write!(f, "a list of at most {most} entries"),
            Self::Tensors(most) => write!(f, "at most {most} saved tensors"),
            Self::SumTo(total) => write!(f, "layer counts that sum to {total}"),
            Self::Runs => f.write_str("layer counts of segments without a layer between that is not recomputed"),
            Self::Boundaries(count) => write!(f, "{count} entries, one per segment"),
            Self::Part => f.write_str("[first layer, the layer after the last], counted from 0"),
            Self::Parts => f.write_str("parts of one segment each, shorter than it, any two apart or one in the other, with 200,000 layers in all at most"),
            Self::Actions { blocks, layers, tensors } => {
                write!(f, "{blocks} entries (blocks), {layers} (layers) or {tensors} (tensors)")
            }
            Self::SomeActions => f.write_str(
                "a list of keep, recompute, host or ssd, one entry per layer, per block or per tensor",
            ),
            Self::DividesHidden(hidden) => {
                write!(f, "a divisor of hidden ({hidden}), or head_dim beside it")
            }
            Self::DividesHeads(heads) => write!(f, "a divisor of heads ({heads})"),
            Self::SharesKeyHeads { heads, kv } => {
                write!(f, "a divisor of heads ({heads}) that divides kv_heads ({kv}) or is a multiple of it")
            }
            Self::NeedsZero3 => f.write_str("none or optimizer, or zero 3 beside it"),
            Self::Request => f.write_str("an object with v, workload, training, hardware, policy"),
            Self::Config => f.write_str("the object of a config.json"),
            Self::Family => write!(f, "model_type {FAMILIES}"),
            Self::Dense => f.write_str("a dense model: mixtures of experts are not modelled"),
            Self::NoLatent => f.write_str("no latent attention: it is not modelled"),
            Self::InnerText => f.write_str("the inner text_config, pasted alone"),
            Self::TextModel => f.write_str("a text model's config"),
            Self::Unquantized => f.write_str(
                "an unquantized config; choose frozen_dtype with lora_rank instead",
            ),
            Self::NoCross => f.write_str("no cross-attention: it is not modelled"),
            Self::NoEncoderDecoder => f.write_str("no encoder-decoder: it is not modelled"),
            Self::Measured => f.write_str(
                "at least one number: step_s, tokens_per_s, step_checkpoint_s, step_offload_s, peak_gib, peak_bytes, \
                 peak_checkpoint_gib or peak_checkpoint_bytes",
            ),
            Self::OneUnit => f.write_str("this peak once, in bytes or in GiB"),
            Self::StepAbove(step) => {
                write!(f, "more than {step} s, the step that keeps everything: recomputing adds time")
            }
            Self::StepBelow(step) => {
                write!(f, "less than {step} s, the step that recomputes: keeping everything saves time")
            }
            Self::PeakAtMost(peak) => {
                write!(f, "at most {peak} GiB, the peak that keeps everything: this plan keeps less")
            }
            Self::PeakAtLeast(peak) => {
                write!(f, "at least {peak} GiB, the peak that recomputes: this plan keeps more")
            }
            Self::Elsewhere => f.write_str(
                "no additive model here: the command line answers it, and in the page galley.exactPlan and galley.exactFront",
            ),
            Self::File => f.write_str("a readable file, or standard input"),
            Self::Utf8 => f.write_str("UTF-8 text"),
            Self::Usage => f.write_str("usage: galley evaluate|front|plan|inverse|sensitivity|map|calibrate|nearest|schema [FILE], galley accuracy [--markdown]"),
        }
    }
}
