//! What the reader asks for: a [`Policy`] in a few numbers, as the `policy` group says it. Turning it into a plan
//! for a chain is `plan`'s.

use super::accepted::Accepted;
use super::error::{Error, Notes};
use super::names::names;
use super::read::Group;
use super::units::Nanos;
use serde::Serialize;
use serde_json::{Map, Value};

names! {
    /// Kinds of policy.
    PolicyKind {
        /// Keep everything.
        Keep = "keep",
        /// K segments, boundaries kept.
        Checkpoint = "checkpoint",
        /// Every layer recomputed.
        Recompute = "recompute",
        /// Every saved tensor offloaded.
        Offload = "offload",
        /// Every layer recomputed, boundaries offloaded.
        OffloadBoundaries = "offload-boundaries",
        /// Share β of the layers checkpointed in K segments, the rest offloaded.
        Mix = "mix",
        /// The attention core recomputed.
        Selective = "selective",
        /// Per tensor: the cheaper of offloading and recomputing if its window allows, else keep.
        Rule = "rule",
        /// Boundaries in `slots`, by binomial checkpointing: some blocks are recomputed more than once.
        Binomial = "binomial",
        /// The least recomputation within the memory limit, without copies: some layers more than once.
        Rotor = "rotor",
        /// An explicit list.
        Plan = "plan",
        /// What the search would choose.
        Best = "best",
    }
}
names! {
    /// What happens to one saved tensor.
    Action {
        /// It stays.
        Keep = "keep",
        /// It is dropped and made again.
        Recompute = "recompute",
        /// It goes to host memory and comes back.
        Host = "host",
        /// It goes through host memory to SSD and comes back.
        Ssd = "ssd",
    }
}
names! {
    /// How copies are cut.
    Granularity {
        /// One copy per layer.
        Layer = "layer",
        /// One copy per tensor.
        Tensor = "tensor",
    }
}

/// Slots of `binomial` where none are asked for.
pub const SLOTS: u64 = 4;

/// The `policy` group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    /// Its kind.
    pub kind: PolicyKind,
    /// Segments.
    pub k: u64,
    /// Boundaries that are held at once under `binomial`, the first block's input among them; [`SLOTS`] where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<u64>,
    /// Share of layers checkpointed under `mix`.
    pub beta: f64,
    /// [`Action::Host`] or [`Action::Ssd`].
    pub medium: Action,
    /// How copies are cut.
    pub granularity: Granularity,
    /// Tensors smaller than this stay, whatever the policy would offload.
    #[serde(skip_serializing_if = "is_default")]
    pub min_offload_bytes: u64,
    /// Safety margin of the window, ms.
    pub epsilon_ms: f64,
    /// Prefetch distance in layers.
    pub prefetch_layers: u64,
    /// Benefit ratio above which a decision is worthwhile.
    pub threshold: f64,
    /// Explicit layer counts, in place of `k`; of kind `plan`, how its recomputed layers are grouped, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<Vec<u64>>,
    /// Reentrant checkpointing.
    pub reentrant: bool,
    /// The last segment runs plainly.
    pub last_segment_plain: bool,
    /// The list of kind `plan`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<Action>>,
    /// What happens to the boundary of each of the plan's segments; all stay when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundaries: Option<Vec<Action>>,
    /// Parts of the plan's segments that are dropped again when their segment runs again: first layer, and one past the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nested: Option<Vec<[u64; 2]>>,
}

impl Policy {
    /// A policy of that kind with the defaults of everything else.
    #[must_use]
    pub const fn new(kind: PolicyKind) -> Self {
        Self {
            kind,
            k: 8,
            slots: None,
            beta: 0.5,
            medium: Action::Host,
            granularity: Granularity::Layer,
            min_offload_bytes: 0,
            epsilon_ms: 0.0,
            prefetch_layers: 1,
            threshold: 2.0,
            segments: None,
            reentrant: false,
            last_segment_plain: false,
            plan: None,
            boundaries: None,
            nested: None,
        }
    }

    /// The same without what says a plan layer by layer.
    #[must_use]
    pub fn without_lists(&self) -> Self {
        Self { segments: None, plan: None, boundaries: None, nested: None, ..self.clone() }
    }

    /// Reads the group; `k` is clamped to `layers` later, where they are known.
    ///
    /// # Errors
    /// An [`Error`] that names the key.
    pub fn read(group: &mut Group) -> Result<Self, Error> {
        let base = Self::new(PolicyKind::Keep);
        let kind = group.choice("kind", PolicyKind::Keep, PolicyKind::parse)?;
        let plan = read_actions(group, "plan", Action::ALL)?;
        let boundaries =
            read_actions(group, "boundaries", &[Action::Keep, Action::Host, Action::Ssd])?;
        if kind == PolicyKind::Plan && plan.is_none() {
            return Err(Error::Missing {
                path: group.path("plan"),
                accepted: Accepted::SomeActions,
            });
        }
        Ok(Self {
            kind,
            k: group.int("k", base.k)?,
            slots: group.int_or_none("slots")?,
            beta: group.float("beta", base.beta)?,
            medium: group.choice("medium", Action::Host, |name| {
                Action::parse(name).filter(|action| matches!(action, Action::Host | Action::Ssd))
            })?,
            granularity: group.choice("granularity", Granularity::Layer, Granularity::parse)?,
            min_offload_bytes: group.int("min_offload_bytes", 0)?,
            epsilon_ms: group.float("epsilon_ms", 0.0)?,
            prefetch_layers: group.int("prefetch_layers", base.prefetch_layers)?,
            threshold: group.float("threshold", base.threshold)?,
            segments: read_segments(group)?,
            reentrant: group.flag("reentrant", false)?,
            last_segment_plain: group.flag("last_segment_plain", false)?,
            plan,
            boundaries,
            nested: read_nested(group)?,
        })
    }

    /// Reads the group alone, as it is serialized. Whether it fits a chain is [`Plan::fit_policy`](super::plan::Plan::fit_policy)'s.
    ///
    /// # Errors
    /// As [`Policy::read`].
    pub fn of_value(value: &Value) -> Result<Self, Error> {
        Self::read(&mut Group::new("policy", &Map::new(), Some(value), &mut Notes::default())?)
    }

    /// ε as a time.
    #[must_use]
    pub fn epsilon(&self) -> Nanos {
        Nanos::from_secs(self.epsilon_ms / 1e3)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn read_actions(
    group: &mut Group,
    key: &'static str,
    allowed: &[Action],
) -> Result<Option<Vec<Action>>, Error> {
    let Some(list) = group.list(key)? else {
        return Ok(None);
    };
    list.iter()
        .enumerate()
        .map(|(i, value)| {
            let action = value.as_str().and_then(Action::parse);
            action.filter(|action| allowed.contains(action)).ok_or_else(|| {
                Error::unfit(
                    format!("policy.{key}[{i}]"),
                    value,
                    Accepted::OneOf(
                        allowed.iter().map(|action| action.name().to_owned()).collect(),
                    ),
                )
            })
        })
        .collect::<Result<Vec<_>, _>>()
        .map(Some)
}

fn read_segments(group: &mut Group) -> Result<Option<Vec<u64>>, Error> {
    let Some(list) = group.list("segments")? else {
        return Ok(None);
    };
    list.iter()
        .enumerate()
        .map(|(i, value): (usize, &Value)| {
            value.as_u64().filter(|&n| n > 0).ok_or_else(|| {
                Error::unfit(format!("policy.segments[{i}]"), value, Accepted::Count)
            })
        })
        .collect::<Result<Vec<_>, _>>()
        .map(Some)
}

fn read_nested(group: &mut Group) -> Result<Option<Vec<[u64; 2]>>, Error> {
    let Some(list) = group.list("nested")? else {
        return Ok(None);
    };
    list.iter()
        .enumerate()
        .map(|(i, value): (usize, &Value)| {
            let pair = value.as_array().filter(|pair| pair.len() == 2);
            let pair = pair.and_then(|pair| Some([pair[0].as_u64()?, pair[1].as_u64()?]));
            pair.filter(|[start, end]| start < end)
                .ok_or_else(|| Error::unfit(format!("policy.nested[{i}]"), value, Accepted::Part))
        })
        .collect::<Result<Vec<_>, _>>()
        .map(Some)
}
