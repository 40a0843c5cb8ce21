//! Where a number of the page comes from. PURE: a scenario, its outcome and a [`Subject`] in, a [`Derivation`] out: equations as
//! trees ([`expr::Expr`]) that the page prints and the tests evaluate, with sources and a tolerance. It computes nothing that
//! the engine has not computed; where a formula does not come to the engine's number it is left away ([`expr::Line::checked`]).

pub mod alive;
pub mod expr;
mod layer;
mod memory;
pub mod source;
mod states;
mod textbook;
mod time;

use crate::engine::chain::LayerKind;
use crate::engine::outcome::Outcome;
use crate::engine::scenario::Scenario;
use crate::engine::units::Nanos;
use crate::engine::workload::Workload;
use crate::engine::workload::transformer::Transformer;
use crate::scene::ledger::Band;
use crate::words;
use alive::When;
pub use memory::part_name;
pub use time::{sum_value, sum_words};

use expr::{Expr, Line, Name, Unit, Words, symbol, time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use source::{Source, Work};

/// A number of the page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Subject {
    /// The highest total on the device.
    Peak,
    /// The memory budget.
    Capacity,
    /// What the peak leaves of the budget.
    Headroom,
    /// What is missing where the step stops.
    Missing,
    /// Bytes of one category.
    Band(Band, When),
    /// All bytes at a moment.
    Total(When),
    /// What a moment leaves of the budget (or lacks).
    Free(When),
    /// What offloading frees after forward while the peak stays.
    Unmoved,
    /// The peak of keep-everything.
    PlainPeak,
    /// Bytes in host memory.
    HostPeak,
    /// The step.
    Step,
    /// The step of keep-everything.
    PlainStep,
    /// Tokens (or samples) per second.
    Throughput,
    /// Step time over keep-everything's.
    Overhead,
    /// A sum over one micro-batch.
    Sum(Sum),
    /// Bytes that a layer keeps for backward.
    LayerSaved(usize),
    /// One saved tensor of a layer.
    Saved(usize, usize),
    /// A cost of a layer.
    Cost(usize, Cost),
    /// A number of the textbook.
    Textbook(Textbook),
}

/// A time of one micro-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sum {
    /// First forwards.
    Forward,
    /// Backwards.
    Backward,
    /// Forwards again.
    Recompute,
    /// The optimizer step.
    Optimizer,
    /// Copies out.
    Out,
    /// Copies back.
    Back,
    /// Copies beside running compute.
    Hidden,
    /// Copies beside idle compute.
    Exposed,
    /// Compute idle.
    Stall,
}

impl Sum {
    /// In the order of the page.
    pub const ALL: [Self; 9] = [
        Self::Forward,
        Self::Recompute,
        Self::Backward,
        Self::Optimizer,
        Self::Stall,
        Self::Out,
        Self::Back,
        Self::Hidden,
        Self::Exposed,
    ];
}

/// What is weighed for a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cost {
    /// The copies, and what of them the window does not hide.
    Offload,
    /// Copies out and back.
    RoundTrip,
    /// What of the copies the window does not hide.
    Exposed,
    /// From its forward to its backward.
    Window,
    /// Running it again.
    Recompute,
    /// Compute time lost to its copies.
    Wait,
    /// Share of activations freed over share of the step paid.
    Benefit,
}

/// A number of the textbook's formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Textbook {
    /// Peak of the policy.
    Peak,
    /// Step of the policy.
    Step,
    /// Boundaries and the segment that is being recomputed.
    Boundaries,
    /// Share of memory saved.
    MemoryRatio,
    /// Share of time added.
    CostRatio,
    /// Their ratio.
    Benefit,
    /// Round trip of the worked epoch.
    EpochTrip,
    /// What of it is visible.
    EpochVisible,
    /// The whole epoch.
    Epoch,
    /// Visible over the epoch, in percent.
    Slowdown,
    /// Row (keep, checkpoint, offload) and column (memory, compute, transfer, cost) of the table of strategies.
    Strategy(usize, usize),
}

/// How far a number may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// Held to the byte against measured modules.
    Exact,
    /// A whole model's peak.
    Peak,
    /// Anything that runs on a clock.
    Time,
    /// The same on a card whose efficiency is still its preset's.
    PresetTime,
    /// A formula of the textbook: exact as a formula.
    Formula,
    /// What the reader typed.
    Given,
}

impl Tolerance {
    /// What is typical against published measurements of whole runs (tests/vectors/published.json), as a share of the number;
    /// none where it is exact or not for us to say. Times are those of a card whose efficiency fits.
    #[must_use]
    pub const fn share(self) -> Option<f64> {
        match self {
            Self::Peak | Self::Time => Some(0.10),
            Self::PresetTime => Some(0.30),
            Self::Exact | Self::Formula | Self::Given => None,
        }
    }
}

/// Where a number comes from.
#[derive(Clone)]
pub struct Derivation {
    /// Equations; the first is the number's own.
    pub lines: Vec<Line>,
    /// Works that the formulas are from.
    pub works: Vec<Work>,
    /// What has to be known beside them.
    pub notes: Vec<Words>,
    /// How far to trust it.
    pub tolerance: Tolerance,
}

impl Derivation {
    fn of(tolerance: Tolerance, lines: Vec<Line>) -> Self {
        Self { lines, works: Vec::new(), notes: Vec::new(), tolerance }
    }

    fn after(mut self, works: &[Work]) -> Self {
        self.works.extend(works);
        self
    }

    fn noting(mut self, notes: &[Words]) -> Self {
        self.notes.extend(notes);
        self
    }
}

/// What is asked about: the engine's answer and the settings it was given.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// What it comes to.
    pub outcome: &'a Outcome,
    /// Every value in force by group and key ([`crate::engine::error::Notes::settings`]).
    pub settings: &'a Map<String, Value>,
}

/// Where a number comes from; none for one that this scenario does not have.
#[must_use]
pub fn explain(asked: Asked, subject: Subject) -> Option<Derivation> {
    let mut derivation = match subject {
        Subject::Sum(_)
        | Subject::Step
        | Subject::PlainStep
        | Subject::Throughput
        | Subject::Overhead => time::explain(asked, subject),
        Subject::LayerSaved(_) | Subject::Saved(..) | Subject::Cost(..) => {
            layer::explain(asked, subject)
        }
        Subject::Textbook(what) => textbook::explain(asked, what),
        _ => memory::explain(asked, subject),
    }?;
    derivation.lines = derivation.lines.into_iter().map(Line::checked).collect();
    Some(derivation)
}

impl<'a> Asked<'a> {
    fn model(self) -> Option<&'a Transformer> {
        match &self.scenario.workload {
            Workload::Transformer(model) => Some(model),
            _ => None,
        }
    }

    /// Where a setting's value comes from.
    fn source(self, group: &str, key: &str) -> Source {
        source::setting(self.settings, group, key)
    }

    /// A symbol for a setting of the model or the training.
    fn set(
        self,
        name: &'static str,
        meaning: Words,
        value: u64,
        (group, key): (&str, &str),
    ) -> Expr {
        expr::count(name, meaning, value).from(self.source(group, key))
    }

    /// Bandwidth of the device's memory.
    fn hbm(self) -> Expr {
        let rate = self.scenario.hardware.hbm.0;
        symbol("B_HBM", words::explain_sym_hbm, rate, Unit::Rate)
            .from(self.source("hardware", "hbm_gbps"))
    }

    /// The link from device to host.
    fn out(self) -> Expr {
        let rate = self.scenario.hardware.d2h.0;
        symbol("B_D2H", words::explain_sym_d2h, rate, Unit::Rate)
            .from(self.source("hardware", "d2h_gbps"))
    }

    /// The link from host to device.
    fn back(self) -> Expr {
        let rate = self.scenario.hardware.h2d.0;
        symbol("B_H2D", words::explain_sym_h2d, rate, Unit::Rate)
            .from(self.source("hardware", "h2d_gbps"))
    }

    /// Fixed cost of a copy.
    fn overhead(self) -> Expr {
        let cost = self.scenario.hardware.copy_overhead_s;
        symbol("t₀", words::explain_sym_overhead, cost, Unit::Seconds)
            .from(self.source("hardware", "copy_overhead_us"))
    }

    /// Fixed cost of a copy out or back.
    fn fixed(self, out: bool) -> Expr {
        let lock = self.scenario.hardware.page_lock_s;
        if !out || lock == 0.0 {
            return self.overhead();
        }
        let lock = symbol("t_lock", words::explain_sym_lock, lock, Unit::Seconds);
        self.overhead() + lock.from(self.source("hardware", "page_lock_ms"))
    }

    /// What a step repeats a micro-batch's time by; none where that is 1.
    fn slots(self) -> Option<Expr> {
        let chain = &self.scenario.chain;
        let batches = self.set(
            "m",
            words::explain_sym_accumulation,
            chain.accumulation,
            ("workload", "accumulation"),
        );
        let training = &self.scenario.training;
        if self.model().is_none() || training.pp == 1 {
            return (chain.accumulation > 1).then_some(batches);
        }
        let idle = expr::count("p−1", words::explain_sym_bubble, training.pp - 1);
        let key = ("training", "virtual_stages");
        let chunks = self.set("v", words::explain_sym_chunks, training.virtual_stages, key);
        Some(batches + if training.virtual_stages == 1 { idle } else { idle / chunks })
    }

    /// A time of a micro-batch, in the whole step.
    fn in_step(self, micro: Expr) -> Expr {
        match self.slots() {
            Some(slots) => slots * micro,
            None => micro,
        }
    }
}

/// The link's rate that copies of a size reach.
fn reached(link: Expr, share: f64) -> Expr {
    if share < 1.0 { link * expr::word(words::explain_reached, share, Unit::Share) } else { link }
}

/// A name in words.
fn words_of(words: Words) -> Name {
    Name::Words(words)
}

/// What a kind of layer is called.
#[must_use]
pub fn kind_words(kind: LayerKind) -> Words {
    match kind {
        LayerKind::Embedding => words::chart_name_embedding,
        LayerKind::Block => words::explain_kind_block,
        LayerKind::Receive => words::explain_kind_receive,
        LayerKind::Head => words::chart_name_head,
    }
}

/// Times of layers by kind: n × each, in the order of their first.
fn by_kind(layers: &[(LayerKind, Nanos)]) -> Expr {
    let mut groups: Vec<(LayerKind, Nanos, u64)> = Vec::new();
    for &(kind, length) in layers.iter().filter(|layer| layer.1 > Nanos::ZERO) {
        match groups.iter_mut().find(|group| group.0 == kind && group.1 == length) {
            Some(group) => group.2 += 1,
            None => groups.push((kind, length, 1)),
        }
    }
    let term = |(kind, length, count): (LayerKind, Nanos, u64)| {
        let each = time(kind_words(kind), length);
        if count == 1 { each } else { expr::number(count) * each }
    };
    let mut terms: Vec<Expr> = groups.into_iter().map(term).collect();
    if terms.is_empty() {
        terms.push(time(words::explain_nothing, Nanos::ZERO));
    }
    Expr::sum(terms)
}
