//! The free knobs of a scenario, fitted to a few numbers of a real run. Principal function [`calibrate`]; its law: the model is
//! solved through the engine itself, so that a step evaluated with the fitted knobs is the step fitted, and what no knob
//! explains stays in sight as a residual. It knows no knob that could hide a wrong model: memory that is not modelled is
//! never negative.
//!
//! With forward F, backward r·F and everything recomputed, a step takes (1 + r)·F, or (2 + r)·F: their difference is F, which
//! tells the efficiency, and the rest tells r. (Korthikanti et al. 2022, table 4: 7.7 ms forward, 11.9 ms backward, 19.5 ms
//! backward with recomputation, 39 % more.) The roofline and the copies bend these lines, hence a solver instead of a division.

mod fit;
mod measured;
mod note;
mod solve;

pub use measured::{Number, Quantity, Run};
pub use note::Note;

use super::error::{Error, Notes};
use super::evaluate;
use super::knob::{self, Kind};
use super::outcome::Summary;
use super::policy::PolicyKind;
use super::scenario::Scenario;
use super::units::Bytes;
use measured::Measured;
use serde_json::{Map, Value, json};

/// A knob that may be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knob {
    /// Share of the peak rate that matrix multiplications reach.
    Efficiency,
    /// Backward time over forward time.
    BackwardRatio,
    /// Memory that is not modelled, GiB.
    Unmodelled,
    /// Device to host, GB/s.
    ToHost,
    /// Host to device, GB/s.
    ToDevice,
}

impl Knob {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Efficiency, Self::BackwardRatio, Self::Unmodelled, Self::ToHost, Self::ToDevice];

    /// Its group and key in a request.
    #[must_use]
    pub const fn place(self) -> (&'static str, &'static str) {
        match self {
            Self::Efficiency => ("hardware", "efficiency"),
            Self::BackwardRatio => ("training", "backward_ratio"),
            Self::Unmodelled => ("hardware", "unmodelled_gib"),
            Self::ToHost => ("hardware", "d2h_gbps"),
            Self::ToDevice => ("hardware", "h2d_gbps"),
        }
    }

    /// Its key.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.place().1
    }

    /// Its dotted path.
    #[must_use]
    pub fn path(self) -> String {
        let (group, key) = self.place();
        format!("{group}.{key}")
    }

    /// Its smallest and largest value, by the table of knobs.
    #[must_use]
    pub fn range(self) -> (f64, f64) {
        let (group, key) = self.place();
        match knob::find(group, key).map(|knob| knob.kind) {
            Some(Kind::Float { min, max }) => (min, max),
            _ => unreachable!("{key} is a number in the table of knobs"),
        }
    }
}

/// A value for every knob of [`Knob::ALL`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knobs([f64; 5]);

impl Knobs {
    /// The value of one.
    #[must_use]
    pub const fn get(&self, knob: Knob) -> f64 {
        self.0[knob as usize]
    }

    /// With another value of one, brought into its range.
    #[must_use]
    pub fn with(mut self, knob: Knob, value: f64) -> Self {
        let (min, max) = knob.range();
        self.0[knob as usize] = value.clamp(min, max);
        self
    }
}

/// What one number comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// The number.
    pub number: Number,
    /// The model's, with the knobs as they were.
    pub before: f64,
    /// The model's, with those fitted.
    pub after: f64,
}

impl Residual {
    /// How far the model's number is from the measured one afterwards, as a share of it.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.after / self.number.given - 1.0
    }
}

/// All that calibrating returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The knobs as the scenario has them.
    pub before: Knobs,
    /// The knobs fitted; those left alone as before.
    pub after: Knobs,
    /// Which were fitted.
    pub fitted: Vec<Knob>,
    /// Which were left alone, because no number that was given determines them.
    pub left: Vec<Knob>,
    /// Which of the fitted stopped at an end of their range.
    pub bound: Vec<Knob>,
    /// Per number, in the order of the documentation.
    pub residuals: Vec<Residual>,
    /// What is to be said about it.
    pub notes: Vec<Note>,
}

/// Fits the free knobs of a request to the numbers of its `measured` group.
///
/// # Errors
/// As [`Scenario::read`]; a number that cannot be one, none at all, or two that contradict each other.
pub fn calibrate(request: &Value) -> Result<(Calibration, Notes), Error> {
    let mut scenario = request.clone();
    let group = scenario.as_object_mut().and_then(|object| object.remove("measured"));
    let (own, mut notes) = Scenario::read(&scenario)?;
    let measured = Measured::read(group.as_ref(), &mut notes)?;
    let bench = Bench::of(scenario, &own, measured, &mut notes)?;
    bench.contradiction()?;
    let mut calibration = fit::fit(&bench);
    if own.asks_for_best() {
        calibration.notes.push(Note::BestHeld);
    }
    Ok((calibration, notes))
}

/// The answer of the door.
#[must_use]
pub fn json(calibration: &Calibration, notes: &Notes) -> Value {
    let values = |knobs: &[Knob], of: &Knobs| -> Map<String, Value> {
        knobs.iter().map(|&knob| (knob.name().to_owned(), of.get(knob).into())).collect()
    };
    let names = |knobs: &[Knob]| knobs.iter().map(|knob| knob.name()).collect::<Vec<_>>();
    let residual = |residual: &Residual| {
        json!({
            "what": residual.number.what,
            "measured": residual.number.given,
            "model_before": residual.before,
            "model_after": residual.after,
            "difference": residual.difference(),
        })
    };
    let note = |note: &Note| json!({"code": note.code(), "about": note.about(), "message": note.to_string()});
    let Calibration { before, after, fitted, left, bound, residuals, notes: said } = calibration;
    json!({
        "v": 1,
        "fitted": values(fitted, after),
        "before": values(&Knob::ALL, before),
        "left": names(left),
        "bound": names(bound),
        "residuals": residuals.iter().map(residual).collect::<Vec<_>>(),
        "notes": said.iter().map(note).collect::<Vec<_>>(),
        "ignored": notes.ignored,
        "clamped": notes.clamped,
    })
}

/// The scenario under the policies of its runs, ready to be evaluated with any knobs.
struct Bench {
    measured: Measured,
    /// Requests by [`Run`]; none where no number needs it.
    requests: [Option<Value>; 3],
    before: Knobs,
    /// Tokens of a step.
    tokens: f64,
    /// Memory that a run may use.
    memory: Bytes,
}

impl Bench {
    fn of(
        mut request: Value,
        own: &Scenario,
        measured: Measured,
        notes: &mut Notes,
    ) -> Result<Self, Error> {
        let value = |knob: Knob| {
            let (group, key) = knob.place();
            let value = notes.settings.get(group).and_then(|group| group.get(key));
            value.and_then(Value::as_f64).unwrap_or_else(|| unreachable!("{key} is in force"))
        };
        let before = Knobs(Knob::ALL.map(value));
        let chain = &own.chain;
        let tokens = chain.samples.saturating_mul(chain.accumulation).saturating_mul(chain.seq);
        if own.asks_for_best() {
            request["policy"] = json!(super::search::best(own));
        }
        let mut requests = [Some(request), None, None];
        for (run, policy, key) in [
            (Run::Other, &measured.other, "measured.policy"),
            (Run::Offload, &measured.offload, "measured.offload_policy"),
        ] {
            if measured.numbers.iter().any(|number| number.run == run) {
                requests[run as usize] = Some(under(requests[0].as_ref(), policy, key, notes)?);
            }
        }
        Ok(Self {
            measured,
            requests,
            before,
            tokens: Bytes(tokens).as_f64(),
            memory: own.limits.memory,
        })
    }

    /// Peak and step of a run; none where the knobs make it longer or larger than is counted.
    fn summary(&self, run: Run, knobs: &Knobs) -> Option<Summary> {
        let mut request = self.requests[run as usize].clone()?;
        for knob in Knob::ALL {
            let (group, key) = knob.place();
            request[group][key] = knobs.get(knob).into();
        }
        let (scenario, _) = Scenario::read(&request).ok()?;
        let plan = evaluate::plan(&scenario, &scenario.policy);
        Some(evaluate::summarize(&scenario, &plan))
    }

    /// The step that was measured of a run, s.
    fn step(&self, run: Run) -> Option<f64> {
        self.measured.step(run, self.tokens)
    }

    /// How far a run's step is from the measured one, as a share of it; infinite where it is longer than is counted.
    fn error(&self, run: Run, knobs: &Knobs) -> f64 {
        match (self.summary(run, knobs), self.step(run)) {
            (Some(summary), Some(step)) => summary.step.secs() / step - 1.0,
            (None, _) => f64::INFINITY,
            (_, None) => 0.0,
        }
    }

    fn kind(&self, run: Run) -> Option<PolicyKind> {
        let policy = self.requests[run as usize].as_ref()?.get("policy");
        let kind = policy.and_then(|policy| policy.get("kind")).and_then(Value::as_str);
        kind.map_or(Some(PolicyKind::Keep), PolicyKind::parse)
    }

    /// Refuses numbers of which no knobs could make sense: a step that recomputes is longer than one that keeps everything,
    /// and its peak is no larger where the model's is not.
    fn contradiction(&self) -> Result<(), Error> {
        use super::accepted::Accepted;
        let recomputes = |run: Run| {
            let recomputing =
                [PolicyKind::Checkpoint, PolicyKind::Recompute, PolicyKind::Selective];
            self.kind(run).is_some_and(|kind| recomputing.contains(&kind))
        };
        let keeps = |run: Run| self.kind(run) == Some(PolicyKind::Keep);
        let more_is_other = keeps(Run::Own) && recomputes(Run::Other);
        let more_is_own = recomputes(Run::Own) && keeps(Run::Other);
        if more_is_own == more_is_other {
            return Ok(());
        }
        let (Some(own), Some(other)) =
            (self.summary(Run::Own, &self.before), self.summary(Run::Other, &self.before))
        else {
            return Ok(());
        };
        let of_other = |peak: bool| {
            let mut numbers = self.measured.numbers.iter();
            numbers.find(|number| number.run == Run::Other && number.quantity.is_peak() == peak)
        };
        if let (Some(number), Some(plain), Some(step)) =
            (of_other(false), self.step(Run::Own), self.step(Run::Other))
            && own.recompute != other.recompute
        {
            if more_is_other && step <= plain {
                return Err(number.unfit(Accepted::StepAbove(plain)));
            }
            if !more_is_other && step >= plain {
                return Err(number.unfit(Accepted::StepBelow(plain)));
            }
        }
        let mut peaks = self.measured.peaks();
        let plain = peaks.find(|(number, _)| number.run == Run::Own).map(|(_, peak)| peak);
        let number = of_other(true);
        if let (Some(number), Some(plain), Some(peak)) =
            (number, plain, number.and_then(Number::peak))
        {
            if more_is_other && other.peak <= own.peak && peak > plain {
                return Err(number.unfit(Accepted::PeakAtMost(plain.gib())));
            }
            if !more_is_other && own.peak <= other.peak && peak < plain {
                return Err(number.unfit(Accepted::PeakAtLeast(plain.gib())));
            }
        }
        Ok(())
    }
}

/// The request under another policy, read once so that what is wrong with it is named by its own key.
fn under(
    request: Option<&Value>,
    policy: &Value,
    key: &str,
    notes: &mut Notes,
) -> Result<Value, Error> {
    let mut request = request.cloned().unwrap_or_default();
    request["policy"] = policy.clone();
    let renamed = |path: &str| match path.strip_prefix("policy") {
        Some(rest) => format!("{key}{rest}"),
        None => path.to_owned(),
    };
    let (scenario, tolerated) = Scenario::read(&request).map_err(|mut error| {
        if let Error::Unfit { path, .. } | Error::Missing { path, .. } = &mut error {
            *path = renamed(path);
        }
        error
    })?;
    if scenario.asks_for_best() {
        request["policy"] = json!(super::search::best(&scenario));
    }
    let of_policy = |path: &String| path.starts_with("policy");
    notes
        .ignored
        .extend(tolerated.ignored.iter().filter(|path| of_policy(path)).map(|path| renamed(path)));
    let clamped = tolerated.clamped.into_iter().filter(|clamped| of_policy(&clamped.path));
    notes.clamped.extend(clamped.map(|clamped| {
        let path = renamed(&clamped.path);
        super::error::Clamped { path, ..clamped }
    }));
    Ok(request)
}
