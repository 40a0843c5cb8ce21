//! A request, read once at the edge. Principal type [`Scenario`]; its law: inside, nothing fails.

use super::accepted::Accepted;
use super::chain::Chain;
use super::error::{Error, Notes};
use super::hardware::Hardware;
use super::plan::Plan;
use super::policy::{Policy, PolicyKind};
use super::read::Group;
use super::units::{Bytes, Nanos};
use super::workload::Workload;
use super::workload::states::Training;
use serde_json::{Map, Value};

/// Longest request that is read, in bytes.
pub const MOST_TEXT: usize = 50_000_000;

/// Limits on what counts as fitting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Memory budget: the card's memory, or less.
    pub memory: Bytes,
    /// Longest step, if any.
    pub step: Option<Nanos>,
}

/// λ of the choice: shares of keeping everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Of the peak over keep-everything's peak.
    pub memory: f64,
    /// Of recomputation over keep-everything's step.
    pub compute: f64,
    /// Of waiting over keep-everything's step.
    pub transfer: f64,
}

/// Everything that is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The model.
    pub workload: Workload,
    /// How it is trained.
    pub training: Training,
    /// On what.
    pub hardware: Hardware,
    /// Under which policy.
    pub policy: Policy,
    /// Within what.
    pub limits: Limits,
    /// Weighed how.
    pub weights: Weights,
    /// Spans and ledger wanted.
    pub detail: bool,
    /// The model, lowered.
    pub chain: Chain,
}

impl Scenario {
    /// Parses and validates a request.
    ///
    /// # Errors
    /// An [`Error`] with the path of the key, the value and what would be accepted.
    pub fn parse(text: &str) -> Result<(Self, Notes), Error> {
        if text.len() > MOST_TEXT {
            return Err(Error::TooLong { given: text.len(), accepted: MOST_TEXT });
        }
        Self::read(&serde_json::from_str(text)?)
    }

    /// Validates a request that is already a value.
    ///
    /// # Errors
    /// As [`Scenario::parse`].
    pub fn read(request: &Value) -> Result<(Self, Notes), Error> {
        let mut notes = Notes::default();
        let object = top_level(request, &mut notes)?;
        let group = |name: &'static str| object.get(name);
        let none = Map::new();
        let training =
            Training::read(&mut Group::new("training", &none, group("training"), &mut notes)?)?;
        let hardware = Hardware::read(group("hardware"), training.dtype, &mut notes)?;
        let workload = Workload::read(group("workload"), &mut notes)?;
        let training = fit_parallelism(training, &workload, &mut notes)?;
        let mut policy =
            Policy::read(&mut Group::new("policy", &none, group("policy"), &mut notes)?)?;
        let chain = workload.lower(&training, &hardware)?;
        Plan::fit_policy(&mut policy, &chain, &mut notes)?;
        if group("policy").is_none_or(|policy| policy.get("k").is_none()) {
            // A default that a short chain brings down is nobody's mistake.
            notes.clamped.retain(|clamped| clamped.path != "policy.k");
        }
        let mut limits = Group::new("limits", &none, group("limits"), &mut notes)?;
        let budget = limits.float_or_none("memory_gib")?.map_or(hardware.memory, Bytes::from_gib);
        if budget > hardware.memory {
            limits.clamp("memory_gib", budget.gib().into(), hardware.memory.gib().into());
        }
        let limits = Limits {
            memory: budget.min(hardware.memory),
            step: limits.float_or_none("step_s")?.map(Nanos::from_secs),
        };
        let mut weights = Group::new("weights", &none, group("weights"), &mut notes)?;
        let weights = Weights {
            memory: weights.float("memory", 0.5)?,
            compute: weights.float("compute", 0.25)?,
            transfer: weights.float("transfer", 0.25)?,
        };
        let detail = matches!(object.get("detail"), Some(Value::Bool(true)));
        Ok((Self { workload, training, hardware, policy, limits, weights, detail, chain }, notes))
    }

    /// The same scenario under another policy.
    #[must_use]
    pub fn with_policy(&self, policy: Policy) -> Self {
        Self { policy, ..self.clone() }
    }

    /// The same scenario on other hardware; none where its times would leave what a chain may hold.
    #[must_use]
    pub fn on(&self, hardware: Hardware) -> Option<Self> {
        let chain = self.workload.lower(&self.training, &hardware).ok()?;
        Some(Self { hardware, chain, ..self.clone() })
    }

    /// The same scenario within a memory limit, on a card that has at least that.
    #[must_use]
    pub fn within(&self, memory: Bytes) -> Self {
        let card = self.hardware.memory.max(memory);
        Self {
            hardware: Hardware { memory: card, ..self.hardware.clone() },
            limits: Limits { memory, ..self.limits },
            ..self.clone()
        }
    }

    /// Whether the policy leaves the choice to the search.
    #[must_use]
    pub fn asks_for_best(&self) -> bool {
        self.policy.kind == PolicyKind::Best
    }
}

const TOP_LEVEL: [&str; 11] = [
    "v",
    "detail",
    "workload",
    "training",
    "hardware",
    "policy",
    "limits",
    "weights",
    "cost_model",
    "additive",
    "knapsack",
];

/// The keys of a request, unknown ones noted.
pub(super) fn top_level<'a>(
    request: &'a Value,
    notes: &mut Notes,
) -> Result<&'a Map<String, Value>, Error> {
    let Value::Object(object) = request else {
        return Err(Error::unfit("request", request, Accepted::Request));
    };
    match object.get("v") {
        None | Some(Value::Null) => {}
        Some(v) if v.as_u64() == Some(1) => {}
        Some(v) => return Err(Error::unfit("v", v, Accepted::Exactly("1"))),
    }
    if let Some(other) =
        object.get("detail").filter(|detail| !detail.is_boolean() && !detail.is_null())
    {
        return Err(Error::unfit("detail", other, Accepted::Flag));
    }
    notes.ignored.extend(object.keys().filter(|key| !TOP_LEVEL.contains(&key.as_str())).cloned());
    Ok(object)
}

/// More pipeline stages, or model chunks on all of them, than blocks make no sense: clamped, and said. Tensor parallelism
/// gives every rank as many heads, and either so many key heads or a copy of one.
fn fit_parallelism(
    mut training: Training,
    workload: &Workload,
    notes: &mut Notes,
) -> Result<Training, Error> {
    let Workload::Transformer(model) = workload else { return Ok(training) };
    let (tp, heads, kv) = (training.tp, model.heads, model.kv_heads);
    let refused = if heads.is_multiple_of(tp) {
        let divides = kv.is_multiple_of(tp) || tp.is_multiple_of(kv);
        (!divides).then_some(Accepted::SharesKeyHeads { heads, kv })
    } else {
        Some(Accepted::DividesHeads(heads))
    };
    if let Some(accepted) = refused {
        return Err(Error::unfit("training.tp", &tp.into(), accepted));
    }
    let mut clamp = |key: &str, value: &mut u64, most: u64| {
        if *value > most {
            notes.clamped.push(super::error::Clamped {
                path: format!("training.{key}"),
                given: (*value).into(),
                used: most.into(),
            });
            *value = most;
        }
    };
    clamp("pp", &mut training.pp, model.layers);
    clamp("stage", &mut training.stage, training.pp);
    clamp("virtual_stages", &mut training.virtual_stages, model.layers / training.pp);
    Ok(training)
}
