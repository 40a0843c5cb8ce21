//! One change of the settings: what a click does. Principal type [`Change`]: dotted paths of a request and the values they get, so
//! that a page, a script or a person can make it. Principal function [`ladder`]: a kind of change in the steps that it can be
//! made in, the smallest first; empty where this scenario has no use for it.

use crate::engine::edit;
use crate::engine::error::Error;
use crate::engine::names::names;
use crate::engine::outcome::{Operation, Outcome};
use crate::engine::policy::{Action, Granularity, Policy, PolicyKind};
use crate::engine::preset;
use crate::engine::scenario::Scenario;
use crate::engine::units::Bytes;
use crate::engine::workload::Workload;
use crate::engine::workload::states::{FrozenDtype, GradDtype, OffloadStates, Optimizer};
use crate::engine::workload::transformer::{Attention, Transformer};
use serde_json::{Map, Value, json};

names! {
    /// Kinds of change.
    What {
        /// The plan that the search chooses.
        Best = "best-plan",
        /// Every layer recomputed.
        Recompute = "recompute",
        /// The same with boundaries offloaded.
        OffloadBoundaries = "offload-boundaries",
        /// Every saved tensor to host memory.
        Offload = "offload",
        /// Every saved tensor to the drive.
        OffloadSsd = "offload-ssd",
        /// One segment more.
        MoreSegments = "more-segments",
        /// One segment fewer.
        FewerSegments = "fewer-segments",
        /// One copy per tensor in place of one per layer.
        PerTensor = "per-tensor",
        /// The whole card in place of a smaller budget.
        WholeCard = "whole-card",
        /// A smaller micro-batch, accumulated more often: as many tokens in a step.
        MicroBatch = "micro-batch",
        /// The loss in chunks.
        LossChunks = "loss-chunks",
        /// Fused attention.
        Flash = "flash-attention",
        /// A higher ZeRO stage.
        Zero = "zero",
        /// Sequence parallelism beside tensor parallelism.
        SequenceParallel = "sequence-parallel",
        /// Model states on the host.
        HostStates = "host-states",
        /// More host memory.
        HostMemory = "host-memory",
        /// A larger card.
        Card = "card",
        /// More cards that share the states: data parallel with ZeRO 3.
        Cards = "cards",
        /// Optimizer states in 8 bit.
        Optimizer8bit = "optimizer-8bit",
        /// Gradients in 16 bit.
        GradDtype = "grad-dtype",
        /// Adapters in place of full training, their base in 4 bit in the end.
        Lora = "lora",
        /// Fewer tokens in a sequence.
        Sequence = "sequence",
        /// Fewer sequences in a step.
        Batch = "batch",
    }
}

/// How much a change takes from what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Price {
    /// The same numbers are trained, in other time.
    Time,
    /// Another machine.
    Machine,
    /// Other rounding.
    Rounding,
    /// Another training: other parameters, other text.
    Training,
}

impl Price {
    /// The code in the JSON.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Machine => "machine",
            Self::Rounding => "rounding",
            Self::Training => "training",
        }
    }
}

impl What {
    /// What it takes.
    #[must_use]
    pub const fn price(self) -> Price {
        match self {
            Self::HostMemory | Self::Card | Self::Cards => Price::Machine,
            Self::Optimizer8bit | Self::GradDtype => Price::Rounding,
            Self::Lora | Self::Sequence | Self::Batch => Price::Training,
            _ => Price::Time,
        }
    }

    /// Whether it is another plan for the same scenario.
    #[must_use]
    pub const fn is_plan(self) -> bool {
        matches!(
            self,
            Self::Best
                | Self::Recompute
                | Self::OffloadBoundaries
                | Self::Offload
                | Self::OffloadSsd
                | Self::MoreSegments
                | Self::FewerSegments
                | Self::PerTensor
        )
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its kind.
    pub what: What,
    /// What comes with it: a plan, a card.
    pub with: Vec<What>,
    /// Dotted paths and their new values; null unsets.
    pub set: Vec<(String, Value)>,
}

impl Change {
    fn new<const N: usize>(what: What, set: [(&str, Value); N]) -> Self {
        let set = set.into_iter().map(|(path, value)| (path.to_owned(), value)).collect();
        Self { what, with: Vec::new(), set }
    }

    /// Its kinds: what is changed, then what comes with it.
    pub fn kinds(&self) -> impl Iterator<Item = What> + '_ {
        std::iter::once(self.what).chain(self.with.iter().copied())
    }

    /// The most that any of it takes.
    #[must_use]
    pub fn price(&self) -> Price {
        self.kinds().map(What::price).max().unwrap_or(Price::Time)
    }

    /// Both.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        let new = |one: &&(String, Value)| !self.set.contains(one);
        let set: Vec<_> = other.set.iter().filter(new).cloned().collect();
        self.set.extend(set);
        self.with.extend(other.kinds());
        self
    }

    /// The request with it.
    #[must_use]
    pub fn made(&self, request: &Value) -> Value {
        let mut request = request.clone();
        if !request.is_object() {
            request = json!({});
        }
        for (path, value) in &self.set {
            if value.is_null() {
                edit::remove(&mut request, path);
            } else {
                edit::set(&mut request, path, value.clone());
            }
        }
        request
    }

    /// The scenario with it.
    ///
    /// # Errors
    /// As [`Scenario::read`]: what other settings do not allow.
    pub fn scenario(&self, request: &Value) -> Result<Scenario, Error> {
        Scenario::read(&self.made(request)).map(|(scenario, _)| scenario)
    }
}

/// The preset that a group means while it names nothing, for a change inside it: the group would mean another once it names something.
fn named(mut change: Change, request: &Value) -> Change {
    let defaults = [("workload", preset::DEFAULT_MODEL), ("hardware", preset::DEFAULT_CARD)];
    for (group, id) in defaults {
        let other = |(key, value): (&String, &Value)| {
            !(value.is_null() || key == "kind" && value == "transformer")
        };
        let given = request.get(group).and_then(Value::as_object);
        let bare = !given.is_some_and(|object| object.iter().any(other));
        let inside = |(path, _): &(String, Value)| {
            path.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'))
        };
        if bare && change.set.iter().any(inside) {
            change.set.insert(0, (format!("{group}.preset"), id.into()));
        }
    }
    change
}

/// A kind of change in its steps, the smallest first.
#[must_use]
pub fn ladder(what: What, request: &Value, scenario: &Scenario, outcome: &Outcome) -> Vec<Change> {
    let steps = match what {
        _ if what.is_plan() => plans(what, scenario),
        What::WholeCard | What::HostMemory | What::Card => {
            machines(what, request, scenario, outcome)
        }
        _ => match &scenario.workload {
            Workload::Transformer(model) if what == What::Batch => batch(model.batch),
            Workload::Transformer(model) => training(what, model, scenario),
            Workload::Lesson(lesson) if what == What::Batch => batch(lesson.batch),
            _ => Vec::new(),
        },
    };
    steps.into_iter().map(|change| named(change, request)).collect()
}

/// Another plan: the whole group, for lists that were written for the old one mean nothing to the new.
fn plans(what: What, scenario: &Scenario) -> Vec<Change> {
    let own = &scenario.policy;
    let base = own.without_lists();
    let of = |kind| Policy { kind, ..base.clone() };
    let segmented = matches!(own.kind, PolicyKind::Checkpoint | PolicyKind::Mix);
    let blocks = scenario.chain.blocks().count() as u64;
    let drive = scenario.hardware.ssd > Bytes::ZERO;
    let policy = match what {
        What::Best => Some(of(PolicyKind::Best)),
        What::Recompute => Some(of(PolicyKind::Recompute)),
        What::OffloadBoundaries => Some(of(PolicyKind::OffloadBoundaries)),
        What::Offload => Some(Policy { medium: Action::Host, ..of(PolicyKind::Offload) }),
        What::OffloadSsd => {
            drive.then(|| Policy { medium: Action::Ssd, ..of(PolicyKind::Offload) })
        }
        What::MoreSegments => (segmented && own.segments.is_none() && own.k < blocks)
            .then(|| Policy { k: own.k + 1, ..own.clone() }),
        What::FewerSegments => (segmented && own.segments.is_none() && own.k > 1)
            .then(|| Policy { k: own.k - 1, ..own.clone() }),
        What::PerTensor => (own.granularity == Granularity::Layer)
            .then(|| Policy { granularity: Granularity::Tensor, ..own.clone() }),
        _ => None,
    };
    let other = policy.filter(|policy| policy != own);
    other.map(|policy| Change::new(what, [("policy", json!(policy))])).into_iter().collect()
}

/// Another machine, or more of this one.
fn machines(what: What, request: &Value, scenario: &Scenario, outcome: &Outcome) -> Vec<Change> {
    let unlimited = ("limits.memory_gib", Value::Null);
    match what {
        What::WholeCard if scenario.limits.memory < scenario.hardware.memory => {
            vec![Change::new(what, [unlimited])]
        }
        What::HostMemory => host(outcome, scenario).into_iter().collect(),
        // Its own memory is no card's to mend where the host's is what lacks.
        What::Card if !host_is_full(outcome) => {
            let larger = |card: &&Map<String, Value>| {
                let gib = card.get("memory_gib").and_then(Value::as_f64).unwrap_or_default();
                Bytes::from_gib(gib) > scenario.hardware.memory
            };
            let reserved = request.pointer("/hardware/unmodelled_gib");
            let mut cards: Vec<_> = preset::cards().iter().filter(larger).collect();
            cards.sort_by(|a, b| size(a).total_cmp(&size(b)));
            let change = |card: &Map<String, Value>| {
                let mut group = Map::new();
                group.insert("preset".into(), card.get("id").cloned().unwrap_or_default());
                if let Some(reserved) = reserved {
                    group.insert("unmodelled_gib".into(), reserved.clone());
                }
                let hardware = ("hardware", Value::Object(group));
                Change::new(what, [hardware, unlimited.clone()])
            };
            cards.into_iter().map(change).collect()
        }
        _ => Vec::new(),
    }
}

/// Memory, and of equal ones the faster first: there is no price list, and memory is what prices follow.
fn size(card: &Map<String, Value>) -> f64 {
    let number = |key: &str| card.get(key).and_then(Value::as_f64).unwrap_or_default();
    let peak = card.get("tflops").and_then(|table| table.get("bf16")).and_then(Value::as_f64);
    number("memory_gib") * 1e6 - peak.unwrap_or_default()
}

fn host_is_full(outcome: &Outcome) -> bool {
    outcome.out_of_memory.as_ref().is_some_and(|stop| stop.operation == Operation::Host)
}

/// Host memory for what has no place, in steps of 8 GiB.
fn host(outcome: &Outcome, scenario: &Scenario) -> Option<Change> {
    const MODULE: f64 = 8.0;
    let stop = outcome.out_of_memory.as_ref().filter(|_| host_is_full(outcome))?;
    let enough = (scenario.hardware.host + stop.missing).gib();
    let gib = (enough / MODULE).ceil() * MODULE;
    Some(Change::new(What::HostMemory, [("hardware.host_gib", gib.into())]))
}

/// Another way to train a transformer.
fn training(what: What, model: &Transformer, scenario: &Scenario) -> Vec<Change> {
    let training = &scenario.training;
    match what {
        What::MicroBatch => smaller(model.batch)
            .map(|batch| {
                let times = model.accumulation * (model.batch / batch);
                let set =
                    [("workload.batch", batch.into()), ("workload.accumulation", times.into())];
                Change::new(what, set)
            })
            .collect(),
        What::LossChunks => [8, 32, 128]
            .into_iter()
            .filter(|&chunks| chunks > model.loss_chunks && chunks <= model.tokens())
            .map(|chunks: u64| Change::new(what, [("workload.loss_chunks", chunks.into())]))
            .collect(),
        What::Flash => (model.attention == Attention::Eager)
            .then(|| Change::new(what, [("workload.attention", "flash".into())]))
            .into_iter()
            .collect(),
        What::Zero if training.dp > 1 => (training.zero + 1..=3)
            .map(|stage| Change::new(what, [("training.zero", stage.into())]))
            .collect(),
        What::Cards => cards(training.dp)
            .map(|dp| Change::new(what, [("training.dp", dp.into()), ("training.zero", 3.into())]))
            .collect(),
        What::SequenceParallel => (training.tp > 1 && !training.sp)
            .then(|| Change::new(what, [("training.sp", true.into())]))
            .into_iter()
            .collect(),
        What::HostStates if training.offload_states == OffloadStates::None => {
            vec![Change::new(what, [("training.offload_states", "optimizer".into())])]
        }
        What::Optimizer8bit => (training.optimizer == Optimizer::AdamW)
            .then(|| Change::new(what, [("training.optimizer", "adamw-8bit".into())]))
            .into_iter()
            .collect(),
        What::GradDtype => (training.grad_dtype == GradDtype::Fp32)
            .then(|| Change::new(what, [("training.grad_dtype", "bf16".into())]))
            .into_iter()
            .collect(),
        What::Lora => lora(scenario),
        What::Sequence => (1..u64::BITS)
            .map(|halvings| model.seq >> halvings)
            .take_while(|&seq| seq >= SHORTEST)
            .map(|seq| Change::new(what, [("workload.seq", seq.into())]))
            .collect(),
        _ => Vec::new(),
    }
}

/// Twice as many cards, and twice that, up to what many have.
fn cards(now: u64) -> impl Iterator<Item = u64> {
    const MOST: u64 = 64;
    (1..u64::BITS)
        .map_while(move |doublings| now.checked_mul(1 << doublings))
        .take_while(|&dp| dp <= MOST)
}

/// One fewer, then half as many, and half of that.
fn batch(now: u64) -> Vec<Change> {
    let halves = (1..u64::BITS).map(|halvings| now >> halvings).take_while(|&batch| batch > 0);
    let all = now.checked_sub(1).filter(|&batch| batch > now / 2).into_iter().chain(halves);
    all.map(|batch| Change::new(What::Batch, [("workload.batch", batch.into())])).collect()
}

/// Tokens below which nobody trains a language model.
const SHORTEST: u64 = 128;

/// Divisors of a batch below it, the largest first.
fn smaller(batch: u64) -> impl Iterator<Item = u64> {
    (2..=batch).filter(move |&by| batch.is_multiple_of(by)).map(move |by| batch / by)
}

fn lora(scenario: &Scenario) -> Vec<Change> {
    const RANK: u64 = 16;
    let (rank, base) = ("training.lora_rank", "training.frozen_dtype");
    let quantized = || ("training.frozen_dtype", Value::from("nf4"));
    match scenario.training.lora_rank {
        None => vec![
            Change::new(What::Lora, [(rank, RANK.into()), (base, "bf16".into())]),
            Change::new(What::Lora, [(rank, RANK.into()), quantized()]),
        ],
        Some(_) if scenario.training.frozen_dtype == FrozenDtype::Bf16 => {
            vec![Change::new(What::Lora, [quantized()])]
        }
        Some(_) => Vec::new(),
    }
}
