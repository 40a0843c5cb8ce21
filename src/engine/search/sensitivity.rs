//! What would help most: how the fastest step changes with a GiB of memory, a GB/s of the link and a TFLOP/s of compute. Finite
//! differences on each side, for the step is piecewise in all three. Principal type [`Sensitivity`]; its law: whatever a search finds
//! for one of the seven scenarios is tried in all of them, so that more bandwidth or compute never makes the step longer.

use super::fastest::{Found, Search};
use crate::engine::evaluate;
use crate::engine::hardware::Hardware;
use crate::engine::names::names;
use crate::engine::outcome::Summary;
use crate::engine::plan::Plan;
use crate::engine::scenario::Scenario;
use crate::engine::units::{Bytes, FlopsPerSec, Nanos};

names! {
    /// What is turned.
    Lever {
        /// The memory limit, GiB; the card's memory goes with it where it is less.
        Memory = "memory",
        /// Both directions of the link, GB/s each.
        Link = "link",
        /// The peak rate of compute, TFLOP/s, at the same efficiency.
        Compute = "compute",
    }
}

impl Lever {
    /// Its unit.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Memory => "GiB",
            Self::Link => "GB/s",
            Self::Compute => "TFLOP/s",
        }
    }

    /// Where it stands: of the link the rate out.
    #[must_use]
    pub fn value(self, scenario: &Scenario) -> f64 {
        match self {
            Self::Memory => scenario.limits.memory.gib(),
            Self::Link => scenario.hardware.link_gbps().0,
            Self::Compute => scenario.hardware.tflops(),
        }
    }

    /// How far it is turned down and up: one unit, or half of what there is where that is not more than one.
    #[must_use]
    pub fn step(self, scenario: &Scenario) -> f64 {
        let (out, back) = scenario.hardware.link_gbps();
        let least = if self == Self::Link { out.min(back) } else { self.value(scenario) };
        if least > 1.0 { 1.0 } else { least / 2.0 }
    }

    /// The scenario with so much more of it; none where its times would leave what a chain may hold.
    #[must_use]
    pub fn turned(self, scenario: &Scenario, by: f64) -> Option<Scenario> {
        let hardware = &scenario.hardware;
        match self {
            Self::Memory => Some(scenario.within(Bytes::from_gib(self.value(scenario) + by))),
            Self::Link => {
                let (out, back) = hardware.link_gbps();
                scenario.on(hardware.on_link(out + by, back + by))
            }
            Self::Compute => {
                let compute = FlopsPerSec((self.value(scenario) + by) * 1e12 * hardware.efficiency);
                scenario.on(Hardware { compute, ..hardware.clone() })
            }
        }
    }
}

/// A scenario with a lever turned, and what comes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// By how much, in the lever's unit; below 0 where there is less.
    pub by: f64,
    /// The fastest plan's numbers.
    pub best: Summary,
    /// No plan that runs has a shorter step; none where no plan runs at all.
    pub bound: Option<Nanos>,
    /// The numbers of the scenario's own plan, held as it is.
    pub own: Summary,
}

/// The scenario itself, and a lever on each side.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// As it is.
    pub now: Side,
    /// Per lever, less and more of it; none where that is no scenario.
    pub levers: Vec<(Lever, [Option<Side>; 2])>,
}

impl Report {
    /// By how much the fastest step is longer on that side, s; none where it does not run on both.
    #[must_use]
    pub fn difference(&self, side: &Side) -> Option<f64> {
        difference(&self.now.best, &side.best)
    }

    /// The same of the scenario's own plan.
    #[must_use]
    pub fn own_difference(&self, side: &Side) -> Option<f64> {
        difference(&self.now.own, &side.own)
    }

    /// Whether the best possible step may be the same on both sides: the search's gap, on the slower side, is not less than the difference.
    #[must_use]
    pub fn within_gap(&self, side: &Side) -> bool {
        let (now, then) = (&self.now, side);
        let (faster, bound) = if then.best.step < now.best.step {
            (then.best.step, now.bound)
        } else {
            (now.best.step, then.bound)
        };
        then.best.step != now.best.step && bound.is_some_and(|bound| faster >= bound)
    }
}

fn difference(from: &Summary, to: &Summary) -> Option<f64> {
    (from.runs && to.runs).then(|| to.step.secs() - from.step.secs())
}

/// A search on each side, under way.
pub struct Sensitivity {
    scenarios: Vec<Scenario>,
    /// Lever, side and how far, of every scenario but the first.
    turns: Vec<(Lever, usize, f64)>,
    search: Option<Search>,
    found: Vec<Found>,
}

impl Sensitivity {
    /// Starts.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let mut scenarios = vec![scenario.clone()];
        let mut turns = Vec::new();
        for &lever in Lever::ALL {
            let step = lever.step(scenario);
            for (side, by) in [-step, step].into_iter().enumerate() {
                if let Some(turned) = lever.turned(scenario, by) {
                    scenarios.push(turned);
                    turns.push((lever, side, by));
                }
            }
        }
        Self { scenarios, turns, search: None, found: Vec::new() }
    }

    /// Runs about so many plans; false once all searches are done.
    pub fn advance(&mut self, plans: usize) -> bool {
        let Some(scenario) = self.scenarios.get(self.found.len()) else { return false };
        let mut search = self.search.take().unwrap_or_else(|| Search::new(scenario));
        if search.advance(plans) {
            self.search = Some(search);
        } else {
            self.found.push(search.found().clone());
        }
        true
    }

    /// How many searches are done, of how many.
    #[must_use]
    pub fn progress(&self) -> (usize, usize) {
        (self.found.len(), self.scenarios.len())
    }

    /// What came out; none before all searches are done.
    #[must_use]
    pub fn report(&self) -> Option<Report> {
        if self.found.len() < self.scenarios.len() {
            return None;
        }
        // Plans, not policies: a rule would decide otherwise elsewhere.
        let plans: Vec<Plan> = self
            .found
            .iter()
            .zip(&self.scenarios)
            .map(|(found, scenario)| evaluate::plan(scenario, &found.policy))
            .collect();
        let now = &self.scenarios[0];
        let policy = if now.asks_for_best() { &self.found[0].policy } else { &now.policy };
        let own = evaluate::plan(now, policy);
        let side = |i: usize, by: f64| {
            let scenario = &self.scenarios[i];
            let of = |plan: &Plan| evaluate::summarize(scenario, plan);
            let better = |best: Summary, one: Summary| {
                let faster = one.runs && (!best.runs || one.step < best.step);
                if faster { one } else { best }
            };
            let found = &self.found[i];
            let best = plans.iter().map(of).fold(found.summary, better);
            Side { by, best, bound: found.bound.map(|bound| bound.min(best.step)), own: of(&own) }
        };
        let mut levers: Vec<(Lever, [Option<Side>; 2])> =
            Lever::ALL.iter().map(|&lever| (lever, [None, None])).collect();
        for (i, &(lever, at, by)) in self.turns.iter().enumerate() {
            if let Some((_, sides)) = levers.iter_mut().find(|(one, _)| *one == lever) {
                sides[at] = Some(side(i + 1, by));
            }
        }
        Some(Report { now: side(0, 0.0), levers })
    }
}

/// All of it.
#[must_use]
pub fn sensitivity(scenario: &Scenario) -> Report {
    let mut search = Sensitivity::new(scenario);
    loop {
        if let (false, Some(report)) = (search.advance(usize::MAX), search.report()) {
            return report;
        }
    }
}
