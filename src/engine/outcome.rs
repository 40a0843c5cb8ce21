//! All that evaluating a scenario returns. Principal type [`Outcome`]: numbers and codes, no words. Its law: the rows of
//! `ledger_at_peak` sum to the peak, and everything can be derived again from (scenario, plan).

use super::ledger::{Peak, Row, Step};
use super::lesson::Lesson;
use super::plan::{LayerPlan, Plan};
use super::policy::{Action, Policy};
use super::program::OpKind;
use super::rule::Choice;
use super::trace::{Span, Times, Track};
use super::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Out of memory: where the step stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// When the operation would start.
    pub at: Nanos,
    /// What it is.
    pub operation: Operation,
    /// How much is missing.
    pub missing: Bytes,
}

/// What does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The model states, before the first operation.
    States,
    /// An operation of the compute stream on a layer.
    Op(OpKind, usize),
    /// Offloaded bytes, in host memory and SSD.
    Host,
}

/// What a plan does to one layer, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerOutcome {
    /// Per saved tensor.
    pub actions: Vec<Action>,
    /// The two costs and the window.
    pub choice: Choice,
    /// Compute time lost to its copies.
    pub wait: Nanos,
    /// Share of the activations that the decision frees over the share of the plain step that it pays; of the
    /// cheaper of the two for a layer that is kept; none where nothing is saved.
    pub benefit_ratio: Option<f64>,
    /// What its numbers say.
    pub reason: Reason,
}

/// What a layer's own numbers say, whoever decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The round trip does not fit its window: its copies would be waited for.
    WindowTooShort,
    /// The round trip fits the window and costs less than running it again.
    OffloadHidden,
    /// Running it again costs less than the round trip.
    RecomputeCheaper,
    /// It keeps nothing.
    NothingSaved,
}

impl Reason {
    /// The code in the JSON.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::WindowTooShort => "window-too-short",
            Self::OffloadHidden => "offload-hidden",
            Self::RecomputeCheaper => "recompute-cheaper",
            Self::NothingSaved => "nothing-saved",
        }
    }
}

/// What limits the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Device memory: it does not fit, or waits for room.
    Memory,
    /// The host link: it waits for copies.
    Link,
    /// The compute stream: it never waits.
    Compute,
    /// Host memory and SSD.
    Host,
}

impl Binding {
    /// The code in the JSON.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Link => "link",
            Self::Compute => "compute",
            Self::Host => "host",
        }
    }
}

/// Peak and step of a plan: what a front is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Peak on the device.
    pub peak: Bytes,
    /// Step time.
    pub step: Nanos,
    /// Recomputation in the step.
    pub recompute: Nanos,
    /// Waiting in the step.
    pub stall: Nanos,
    /// Within the memory of device and host: the numbers are those of this card, not of a larger one.
    pub runs: bool,
    /// Within all limits.
    pub fits: bool,
}

/// All that evaluating returns.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Within the memory budget and the longest step.
    pub fits: bool,
    /// Where it stops, if it does. The other numbers are then those of a card that is large enough.
    pub out_of_memory: Option<OutOfMemory>,
    /// The policy, with `best` resolved.
    pub policy: Policy,
    /// Its plan.
    pub plan: Plan,
    /// Budget.
    pub memory: Bytes,
    /// What the budget lacks for the whole step, waiting for copies allowed; 0 where it runs.
    pub shortage: Bytes,
    /// The summit.
    pub peak: Peak,
    /// Model states, gradients in full.
    pub fixed: Row,
    /// Of those, what stays for the whole step: without gradients that grow during backward.
    pub standing: Row,
    /// Bytes over one micro-batch.
    pub ledger: Vec<Step>,
    /// Spans of one micro-batch and the optimizer step.
    pub spans: Vec<Span>,
    /// Kept by keep-everything.
    pub activation_bytes: Bytes,
    /// On the device when forward ends.
    pub resident_after_forward: Bytes,
    /// Bytes that offloading frees after forward although the peak drops by less than a twentieth of them.
    pub peak_unmoved: Option<Bytes>,
    /// Host bytes.
    pub host_peak: Bytes,
    /// SSD bytes.
    pub ssd_peak: Bytes,
    /// Bytes written to the SSD in a step.
    pub ssd_written: Bytes,
    /// Bytes out (and back) per micro-batch.
    pub bytes_moved: Bytes,
    /// Per layer.
    pub layers: Vec<LayerOutcome>,
    /// Sums of one micro-batch.
    pub times: Times,
    /// One micro-batch.
    pub micro: Nanos,
    /// The whole step.
    pub step: Nanos,
    /// Step of keep-everything on a card that is large enough.
    pub plain_step: Nanos,
    /// Peak of keep-everything.
    pub plain_peak: Bytes,
    /// What limits it.
    pub binding: Binding,
    /// What the closed formulas say.
    pub lesson: Lesson,
}

impl Outcome {
    /// What a front and the search know of a plan.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            peak: self.peak.row.total(),
            step: self.step,
            recompute: self.times.recompute,
            stall: self.times.stall,
            runs: self.out_of_memory.is_none(),
            fits: self.fits,
        }
    }

    /// Step time over keep-everything's, minus one; infinite over a step that takes no time.
    #[must_use]
    pub fn overhead(&self) -> f64 {
        if self.step == self.plain_step {
            return 0.0;
        }
        self.step.secs() / self.plain_step.secs() - 1.0
    }

    /// Days until the SSD has taken what it is rated for (`endurance`, bytes), training without a pause; none where nothing is
    /// written to it.
    #[must_use]
    pub fn ssd_life_days(&self, endurance: f64) -> Option<f64> {
        const DAY: f64 = 86_400.0;
        let steps = endurance / self.ssd_written.as_f64();
        (self.ssd_written > Bytes::ZERO).then(|| steps * self.step.secs() / DAY)
    }

    /// The next (or last) start or end of an operation of the compute stream after (or before) `at`.
    #[must_use]
    pub fn next_event(&self, at: Nanos, forward: bool) -> Nanos {
        let compute = self.spans.iter().filter(|span| span.track == Track::Compute);
        let edges = compute.flat_map(|span| [span.start, span.end]);
        if forward {
            edges.filter(|&edge| edge > at).min().unwrap_or(at)
        } else {
            edges.filter(|&edge| edge < at).max().unwrap_or(Nanos::ZERO)
        }
    }

    /// `count` things a step, per second; infinite for a step that takes no time.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.step.secs()
    }

    /// What a layer is under this plan, in one word; none for a mixture.
    #[must_use]
    pub fn layer_action(&self, i: usize) -> Option<Action> {
        if let LayerPlan::Segment(_) = self.plan.layers[i] {
            return Some(Action::Recompute);
        }
        let first = *self.layers[i].actions.first()?;
        self.layers[i].actions.iter().all(|&action| action == first).then_some(first)
    }
}
