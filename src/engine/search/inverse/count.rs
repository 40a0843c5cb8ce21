//! The largest micro-batch, or sequence, that fits.

use super::bisect::Bisection;
use super::trial::{Trial, Tried, Until};
use crate::engine::scenario::Scenario;
use crate::engine::workload::Workload;
use serde_json::Value;

/// Sequences are multiples of this where they are chosen freely: the tiles of matrix units and of attention kernels.
pub const GRANULE: u64 = 128;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Sequences in a micro-batch on one device.
    Batch,
    /// Tokens in a sequence.
    Sequence,
}

impl Counted {
    /// Its path in a request.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Batch => "workload.batch",
            Self::Sequence => "workload.seq",
        }
    }

    /// The value of a workload; none where the workload's sizes do not come from it.
    #[must_use]
    pub const fn of(self, workload: &Workload) -> Option<u64> {
        match (self, workload) {
            (Self::Batch, Workload::Transformer(model)) => Some(model.batch),
            (Self::Batch, Workload::Lesson(lesson)) => Some(lesson.batch),
            (Self::Sequence, Workload::Transformer(model)) => Some(model.seq),
            _ => None,
        }
    }

    /// The request's scenario with another value: read anew, since defaults follow it. None where it is refused: sizes or times leave what is
    /// counted (2^60).
    #[must_use]
    pub fn set(self, request: &Value, value: u64) -> Option<Scenario> {
        let mut request = request.clone();
        let (group, key) = match self {
            Self::Batch => ("workload", "batch"),
            Self::Sequence => ("workload", "seq"),
        };
        request[group][key] = value.into();
        Scenario::read(&request).ok().map(|read| read.0)
    }

    /// The largest that can be asked for: what the key takes, or the rows of a table of learned positions that does not grow with the sequence.
    fn most(self, request: &Value, scenario: &Scenario) -> u64 {
        const BATCH: u64 = 1 << 16;
        const SEQ: u64 = 1 << 24;
        let rows = |scenario: &Scenario| match &scenario.workload {
            Workload::Transformer(model) => model.learned_positions,
            _ => 0,
        };
        let own = rows(scenario);
        match self {
            Self::Batch => BATCH,
            Self::Sequence if own > 0 => {
                let longer = self.set(request, own + 1).map_or(own, |longer| rows(&longer));
                if longer > own { SEQ } else { own }
            }
            Self::Sequence => SEQ,
        }
    }
}

/// A value that was tried; what came of it is none where it leaves what is counted.
pub type At = (u64, Option<Tried>);

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Largest {
    /// What is counted.
    pub counted: Counted,
    /// The value in force.
    pub own: u64,
    /// The largest that fits; none where 1 does not.
    pub found: Option<At>,
    /// The largest multiple of [`GRANULE`] that fits, of a sequence; under the best plan only such are tried.
    pub round: Option<u64>,
    /// The one tried next after `found`, which does not fit; none where `found` is the largest that can be asked for.
    pub next: Option<At>,
    /// The largest that can be asked for.
    pub most: u64,
    /// All that was tried, in order, and whether it fits.
    pub tried: Vec<(u64, bool)>,
}

/// The hunt for it.
pub struct Hunt {
    request: Value,
    best: bool,
    bisection: Bisection,
    trial: Option<(u64, Option<Trial>)>,
    /// A search to the end found what one that stopped had not: from then on all go to the end, or the hunt would creep on from edge to edge.
    thorough: bool,
    answer: Largest,
}

impl Hunt {
    /// Starts at the value in force.
    #[must_use]
    pub fn new(request: &Value, scenario: &Scenario, counted: Counted, best: bool) -> Self {
        let most = counted.most(request, scenario);
        let own = counted.of(&scenario.workload).unwrap_or(1);
        let unit = if counted == Counted::Sequence && most >= GRANULE { GRANULE } else { 1 };
        let answer =
            Largest { counted, own, found: None, round: None, next: None, most, tried: Vec::new() };
        let mut hunt = Self {
            request: request.clone(),
            best,
            bisection: Bisection { unit, ..Bisection::to(most) },
            trial: None,
            thorough: false,
            answer,
        };
        // From where the reader is, a few steps lead to where it ends.
        hunt.start((own / unit * unit).clamp(unit, most), Until::Fits);
        hunt
    }

    fn start(&mut self, at: u64, until: Until) {
        let until = if self.thorough { Until::Best } else { until };
        let scenario = self.answer.counted.set(&self.request, at);
        let trial = scenario.map(|scenario| Trial::new(&scenario, self.best, until));
        self.trial = Some((at, trial));
    }

    /// What is to be tried next; at the end both sides of the edge are searched to the end.
    fn go_on(&mut self) {
        if self.bisection.next().is_none() && self.bisection.unit > 1 {
            self.answer.round = Some(self.bisection.low).filter(|&round| round > 0);
            if !self.best {
                self.bisection.unit = 1;
            }
        }
        if let Some(at) = self.bisection.next() {
            return self.start(at, Until::Fits);
        }
        let incomplete = |at: &&At| at.1.as_ref().is_some_and(|tried| !tried.complete);
        let Largest { found, next, .. } = &self.answer;
        let left = [next, found].into_iter().flatten().find(incomplete).map(|at| at.0);
        if let Some(at) = left {
            self.start(at, Until::Best);
        }
    }

    /// Runs about `plans` more plans; false once the answer is there.
    pub fn advance(&mut self, plans: usize) -> bool {
        let Some((at, trial)) = &mut self.trial else { return false };
        let at = *at;
        let tried = match trial {
            None => None,
            Some(trial) => match trial.advance(plans) {
                None => return true,
                Some(tried) => Some(tried.clone()),
            },
        };
        let fits = tried.as_ref().is_some_and(|tried| tried.summary.fits);
        match self.answer.tried.iter_mut().find(|tried| tried.0 == at) {
            Some(before) => {
                self.thorough |= fits && !before.1;
                before.1 = fits;
            }
            None => self.answer.tried.push((at, fits)),
        }
        self.bisection.told(at, fits);
        if self.bisection.high.is_none() {
            self.answer.next = None;
        }
        if fits && self.bisection.low == at {
            self.answer.found = Some((at, tried));
        } else if self.bisection.high == Some(at) {
            self.answer.next = Some((at, tried));
        }
        self.trial = None;
        self.go_on();
        self.trial.is_some()
    }

    /// The answer so far.
    #[must_use]
    pub const fn answer(&self) -> &Largest {
        &self.answer
    }
}
