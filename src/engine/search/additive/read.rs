//! Requests of the additive model: `additive` and `knapsack` as docs/interface.md has them, or any workload with
//! `cost_model: "additive"`. Lengths, signs and sums are checked here; behind it nothing fails.

use super::{Cost, Front, Instance, Knapsack, Layer, MOST_LAYERS, Solution, front};
use crate::engine::accepted::Accepted;
use crate::engine::door::{Answer, outcome_json};
use crate::engine::error::{Error, Notes};
use crate::engine::evaluate;
use crate::engine::policy::{Action, Policy, PolicyKind};
use crate::engine::scenario::{MOST_TEXT, Scenario, top_level};
use crate::engine::units::{Bytes, LIMIT};
use serde_json::{Map, Value, json};

/// What `plan` answers where the request asks for the additive model or a knapsack; none where it asks for the simulation.
///
/// # Errors
/// An [`Error`] that names the key.
pub fn answer(text: &str) -> Result<Option<Value>, Error> {
    let Some(mut asked) = Asked::read(text)? else { return Ok(None) };
    if let Some(given) = asked.request.get("knapsack") {
        return knapsack(given, &mut asked.notes).map(Some);
    }
    let (instance, scenario) = asked.instance()?;
    let solution = instance.solve();
    let mut answer = solution_json(&instance, &solution);
    if let (Some(actions), Some(scenario)) = (&solution.actions, &scenario) {
        let scenario = scenario.with_policy(plan_of(scenario, actions.clone()));
        let outcome = evaluate::evaluate(&scenario);
        answer.insert("policy".into(), json!(scenario.policy));
        answer.insert("outcome".into(), outcome_json(&scenario, &outcome, &asked.notes));
    }
    if let Some(scenario) = &scenario {
        let missing = scenario.chain.fixed.total().saturating_sub(scenario.limits.memory);
        answer.insert("missing_static_bytes".into(), json!(missing));
    }
    answer.extend(asked.noted());
    Ok(Some(Value::Object(answer)))
}

/// What `front` answers where the request asks for the additive model.
///
/// # Errors
/// An [`Error`] that names the key.
pub fn front_answer(text: &str) -> Result<Option<Value>, Error> {
    let Some(mut asked) = Asked::read(text)? else { return Ok(None) };
    if let Some(given) = asked.request.get("knapsack") {
        return Err(Error::unfit("knapsack", given, Accepted::Exactly("a request of plan")));
    }
    let (instance, scenario) = asked.instance()?;
    let fixed = scenario.as_ref().map_or(Bytes::ZERO, |scenario| scenario.chain.fixed.total());
    let Front { points, exact } = front(&instance);
    let points = points.iter().map(|point| {
        let policy = scenario.as_ref().map_or_else(
            || plan_json(&point.actions),
            |scenario| json!(plan_of(scenario, point.actions.clone())),
        );
        json!({
            "policy": policy,
            "peak_bytes": point.memory + fixed,
            "objective_s": point.objective_s,
            "fits": point.memory.0 <= instance.memory,
            "on_front": true,
        })
    });
    let mut answer = Map::new();
    answer.insert("v".into(), json!(1));
    answer.insert("points".into(), points.collect());
    answer.insert("exact".into(), json!(exact));
    answer.insert("cost_model".into(), json!("additive"));
    answer.extend(asked.noted());
    Ok(Some(Value::Object(answer)))
}

/// A request that is not for the simulation.
struct Asked {
    request: Map<String, Value>,
    notes: Notes,
}

impl Asked {
    fn read(text: &str) -> Result<Option<Self>, Error> {
        if text.len() > MOST_TEXT {
            return Err(Error::TooLong { given: text.len(), accepted: MOST_TEXT });
        }
        let request: Value = serde_json::from_str(text)?;
        let mut notes = Notes::default();
        let request = top_level(&request, &mut notes)?;
        let given = |key: &str| request.get(key).filter(|value| !value.is_null());
        match given("cost_model").map(|model| (model, model.as_str())) {
            None | Some((_, Some("simulated" | "additive"))) => {}
            Some((other, _)) => {
                let names = ["simulated", "additive"].map(str::to_owned).to_vec();
                return Err(Error::unfit("cost_model", other, Accepted::OneOf(names)));
            }
        }
        let additive = given("cost_model").is_some_and(|model| model == "additive");
        let own = ["additive", "knapsack"].iter().any(|key| given(key).is_some());
        let mut request = request.clone();
        request.retain(|_, value| !value.is_null());
        Ok((additive || own).then_some(Self { request, notes }))
    }

    /// The instance, and the scenario where it comes from a workload.
    fn instance(&mut self) -> Result<(Instance, Option<Scenario>), Error> {
        let given = self.request.get("additive");
        let none = Map::new();
        let keys = match given {
            None => Keys { path: "additive", map: &none },
            Some(given) => Keys::of("additive", given)?,
        };
        if keys.map.contains_key("size_bytes") || self.request.get("cost_model").is_none() {
            keys.only(&INSTANCE_KEYS, &mut self.notes);
            return Ok((read_instance(&keys)?, None));
        }
        keys.only(&["hidden_s"], &mut self.notes);
        let hidden_s = keys.optional("hidden_s")?;
        let (scenario, notes) = Scenario::read(&Value::Object(self.request.clone()))?;
        self.notes.ignored.retain(|path| !notes.ignored.contains(path));
        self.notes.ignored.extend(notes.ignored);
        self.notes.clamped = notes.clamped;
        Ok((of_scenario(&scenario, hidden_s), Some(scenario)))
    }

    fn noted(&self) -> [(String, Value); 2] {
        [
            ("ignored".into(), json!(self.notes.ignored)),
            ("clamped".into(), json!(self.notes.clamped)),
        ]
    }
}

/// A workload's layers as wholes: what a layer keeps is one tensor, its boundary the residual. One that names its own recomputation
/// is taken at its word, otherwise its forward runs again. All compute of the chain can hide copies unless `hidden_s` says how much.
fn of_scenario(scenario: &Scenario, hidden_s: Option<f64>) -> Instance {
    let (chain, hardware) = (&scenario.chain, &scenario.hardware);
    let layers = chain.layers.iter().map(|layer| {
        let own = match layer.saved.as_slice() {
            [tensor] if tensor.recompute.0 > 0 => tensor.recompute,
            _ => layer.forward,
        };
        let size = layer.saved_bytes().0;
        Layer { size, residual: layer.boundary.0, recompute_s: own.secs() }
    });
    let compute = chain.layers.iter().map(|layer| (layer.forward + layer.backward).secs()).sum();
    Instance {
        layers: layers.collect(),
        link_s: 1.0 / hardware.d2h.0 + 1.0 / hardware.h2d.0,
        ssd_s: 1.0 / hardware.ssd_write.0 + 1.0 / hardware.ssd_read.0,
        hidden_s: hidden_s.unwrap_or(compute),
        memory: scenario.limits.memory.saturating_sub(chain.fixed.total()).0,
        host: hardware.host.0,
        ssd: Some(hardware.ssd.0),
    }
}

fn plan_of(scenario: &Scenario, actions: Vec<Action>) -> Policy {
    let segments = None;
    Policy { kind: PolicyKind::Plan, plan: Some(actions), segments, ..scenario.policy.clone() }
}

fn plan_json(actions: &[Action]) -> Value {
    json!({"kind": PolicyKind::Plan, "plan": actions})
}

fn solution_json(instance: &Instance, solution: &Solution) -> Map<String, Value> {
    let actions = solution.actions.as_deref();
    let cost = actions.map(|actions| cost_json(&instance.cost(actions)));
    let finite = |seconds: f64| seconds.is_finite().then_some(seconds);
    let answer = json!({
        "v": 1,
        "fits": actions.is_some(),
        "policy": actions.map(plan_json),
        "outcome": cost,
        "additive": cost,
        "optimal": solution.optimal,
        "cost_model": "additive",
        "objective_s": finite(solution.objective_s),
        "bound_s": finite(solution.bound_s),
        "gap": actions.map(|_| solution.gap()),
        "hidden_s": instance.hidden_s,
    });
    match answer {
        Value::Object(answer) => answer,
        _ => Map::new(),
    }
}

fn cost_json(cost: &Cost) -> Value {
    json!({
        "fits": cost.fits,
        "memory_bytes": cost.memory,
        "host_bytes": cost.host,
        "ssd_bytes": cost.ssd,
        "recompute_s": cost.recompute_s,
        "t_link_s": cost.link_s,
        "t_ssd_s": cost.ssd_s,
        "exposed_s": cost.exposed_s,
    })
}

fn knapsack(given: &Value, notes: &mut Notes) -> Answer {
    let keys = Keys::of("knapsack", given)?;
    keys.only(&["id", "family", "n", "size_bytes", "runtime_s", "budget_bytes"], notes);
    let sizes = keys.sizes("size_bytes", None)?;
    let runtimes = keys.list("runtime_s", Some(sizes.len()), &SECONDS, seconds)?;
    let budget = keys.required("budget_bytes", &Accepted::Bytes, bytes)?;
    let answer = Knapsack { sizes, runtimes, budget }.solve();
    Ok(json!({
        "v": 1,
        "kept": answer.kept,
        "saved_runtime_s": answer.saved_s,
        "bound_s": answer.bound_s,
        "optimal": answer.optimal,
        "ignored": notes.ignored,
        "clamped": notes.clamped,
    }))
}

/// Keys of the instances; those without a use here (`id`, `n`, and what others measured) are no mistake.
const INSTANCE_KEYS: [&str; 14] = [
    "id",
    "n",
    "highs",
    "other",
    "size_bytes",
    "recompute_residual_bytes",
    "recompute_s",
    "forward_s",
    "cpu_link_bandwidth_bytes_per_s",
    "ssd_write_bandwidth_bytes_per_s",
    "ssd_read_bandwidth_bytes_per_s",
    "hidden_s",
    "memory_limit_bytes",
    "host_limit_bytes",
];

fn read_instance(keys: &Keys) -> Result<Instance, Error> {
    let sizes = keys.sizes("size_bytes", None)?;
    let n = Some(sizes.len());
    let residuals = keys.sizes("recompute_residual_bytes", n)?;
    let times = if keys.map.contains_key("recompute_s") { "recompute_s" } else { "forward_s" };
    let times = keys.list(times, n, &SECONDS, seconds)?;
    let layers = sizes.iter().zip(&residuals).zip(&times);
    let layers =
        layers.map(|((&size, &residual), &recompute_s)| Layer { size, residual, recompute_s });
    let rate = |key| keys.required(key, &Accepted::Number { min: 1.0, max: 1e18 }, rate);
    Ok(Instance {
        layers: layers.collect(),
        link_s: 2.0 / rate("cpu_link_bandwidth_bytes_per_s")?,
        ssd_s: 1.0 / rate("ssd_write_bandwidth_bytes_per_s")?
            + 1.0 / rate("ssd_read_bandwidth_bytes_per_s")?,
        hidden_s: keys.required("hidden_s", &SECONDS, seconds)?,
        memory: keys.required("memory_limit_bytes", &Accepted::Bytes, bytes)?,
        host: keys.required("host_limit_bytes", &Accepted::Bytes, bytes)?,
        ssd: None,
    })
}

/// Seconds that are read: below that, sums of a chain stay finite.
const SECONDS: Accepted = Accepted::Number { min: 0.0, max: 1e9 };

/// One object of the request.
struct Keys<'a> {
    path: &'static str,
    map: &'a Map<String, Value>,
}

impl<'a> Keys<'a> {
    fn of(path: &'static str, given: &'a Value) -> Result<Self, Error> {
        match given {
            Value::Object(map) => Ok(Self { path, map }),
            other => Err(Error::unfit(path, other, Accepted::Object)),
        }
    }

    /// Notes every other key.
    fn only(&self, known: &[&str], notes: &mut Notes) {
        let other = self.map.keys().filter(|key| !known.contains(&key.as_str()));
        notes.ignored.extend(other.map(|key| format!("{}.{key}", self.path)));
    }

    fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    fn required<T>(
        &self,
        key: &str,
        accepted: &Accepted,
        read: fn(&Value) -> Option<T>,
    ) -> Result<T, Error> {
        let missing = || Error::Missing { path: self.at(key), accepted: accepted.clone() };
        let value = self.map.get(key).ok_or_else(missing)?;
        read(value).ok_or_else(|| Error::unfit(self.at(key), value, accepted.clone()))
    }

    fn optional(&self, key: &str) -> Result<Option<f64>, Error> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.required(key, &SECONDS, seconds).map(Some),
        }
    }

    /// A list of `len` entries, or of as many as are read.
    fn list<T>(
        &self,
        key: &str,
        len: Option<usize>,
        each: &Accepted,
        read: fn(&Value) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        let accepted = len.map_or(Accepted::UpTo(MOST_LAYERS), Accepted::Entries);
        let list = self.required(key, &accepted, |value| value.as_array().cloned())?;
        if len.map_or(list.len() > MOST_LAYERS, |len| len != list.len()) {
            let given = format!("a list of {}", list.len());
            return Err(Error::Unfit { path: self.at(key), given, accepted });
        }
        let entries = list.iter().enumerate();
        let entries = entries.map(|(i, value)| {
            let unfit = || Error::unfit(format!("{}[{i}]", self.at(key)), value, each.clone());
            read(value).ok_or_else(unfit)
        });
        entries.collect()
    }

    /// A list of bytes whose sum is counted.
    fn sizes(&self, key: &str, len: Option<usize>) -> Result<Vec<u64>, Error> {
        let sizes = self.list(key, len, &Accepted::Bytes, bytes)?;
        let total: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
        if total > u128::from(LIMIT) {
            return Err(Error::TooLarge {
                path: self.at(key),
                given: format!("{total} bytes"),
                accepted: format!("{LIMIT} bytes"),
            });
        }
        Ok(sizes)
    }
}

/// Whole bytes, not negative; 3.0 is 3. More than is counted is as good as the most that is.
fn bytes(value: &Value) -> Option<u64> {
    let whole = |number: &f64| *number >= 0.0 && number.fract() == 0.0;
    let exact = value.as_u64();
    exact.or_else(|| value.as_f64().filter(whole).map(|bytes| Bytes::from_f64(bytes).0))
}

/// Seconds from 0 to 1e9.
fn seconds(value: &Value) -> Option<f64> {
    value.as_f64().filter(|seconds| (0.0..=1e9).contains(seconds))
}

/// Bytes a second.
fn rate(value: &Value) -> Option<f64> {
    value.as_f64().filter(|rate| (1.0..=1e18).contains(rate))
}
