//! What decides for one saved tensor: its window against its round trip, copying against making it again (the rule of
//! docs/model.md section 1), and where that turns. Principal type [`Decision`]; its law: what `turn` names flips the reason
//! just beyond, and not just before. It says what the tensor's own numbers say, whoever decided.

use crate::engine::chain::{SavedTensor, Storage};
use crate::engine::outcome::{Outcome, Reason};
use crate::engine::plan::LayerPlan;
use crate::engine::policy::{Action, Granularity};
use crate::engine::rule::{self, Choice, NEVER};
use crate::engine::scenario::Scenario;
use crate::engine::units::{Bytes, Nanos};
use std::ops::Add;

/// What the numbers are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The tensor alone.
    Tensor,
    /// Its layer: running that again makes all of it.
    Layer,
}

impl Unit {
    /// The code in the JSON.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Layer => "layer",
        }
    }
}

/// Where the reason changes, everything else held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turn {
    /// At this multiple of the link's rate, both directions.
    Link(f64),
    /// At this time of making it again.
    Recompute(Nanos),
}

/// One saved tensor's numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// What the plan does to it.
    pub action: Action,
    /// Its size.
    pub bytes: Bytes,
    /// What the choice is of.
    pub unit: Unit,
    /// Window, round trip, the copies before it, making it again ([`NEVER`] where that cannot be alone).
    pub choice: Choice,
    /// What they say.
    pub reason: Reason,
    /// What would change the reason; none where no link from a thousandth to a thousand times this one does, nor the time of making it
    /// again.
    pub turn: Option<Turn>,
    /// Where the window is too short: the last layer of its kind before this one whose window is long enough.
    pub until: Option<usize>,
}

impl Decision {
    /// The time of making it again, where that can be.
    #[must_use]
    pub fn recompute(&self) -> Option<Nanos> {
        Some(self.choice.recompute).filter(|&time| time < NEVER)
    }
}

/// The numbers of a plan that all its decisions are made of.
pub struct Weighing<'a> {
    scenario: &'a Scenario,
    outcome: &'a Outcome,
    windows: Vec<Nanos>,
    queue: Queue,
}

impl<'a> Weighing<'a> {
    /// Of an evaluated plan.
    #[must_use]
    pub fn of(scenario: &'a Scenario, outcome: &'a Outcome) -> Self {
        let windows = rule::windows(&scenario.chain);
        Self { scenario, outcome, windows, queue: Queue::of(scenario, outcome) }
    }

    /// The decisions of a layer, tensor by tensor.
    #[must_use]
    pub fn layer(&self, i: usize) -> Vec<Decision> {
        let saved = &self.scenario.chain.layers[i].saved;
        // Copies that are cut per tensor queue behind those of the same layer; others leave with them.
        let mut before = self.queue.before[i];
        let one = |(t, tensor): (usize, &SavedTensor)| {
            let decision = self.tensor(i, t, tensor, before);
            let away = decision.bytes > Bytes::ZERO
                && matches!(decision.action, Action::Host | Action::Ssd);
            if away && self.outcome.plan.granularity == Granularity::Tensor {
                before += 1;
            }
            decision
        };
        saved.iter().enumerate().map(one).collect()
    }

    fn tensor(&self, i: usize, t: usize, tensor: &SavedTensor, before: usize) -> Decision {
        let Self { scenario, outcome, .. } = self;
        let action = outcome.layers[i].actions[t];
        let policy = &outcome.policy;
        let medium =
            if matches!(action, Action::Host | Action::Ssd) { action } else { policy.medium };
        let inner = tensor.storage == Storage::Inner;
        let again = action == Action::Recompute;
        let (unit, bytes, recompute) = match &outcome.plan.layers[i] {
            LayerPlan::Segment(_) if again => {
                let layer = &scenario.chain.layers[i];
                (Unit::Layer, layer.saved_bytes(), layer.forward)
            }
            _ => (Unit::Tensor, tensor.bytes, if inner { tensor.recompute } else { NEVER }),
        };
        let queue = self.queue.after(before, i);
        let round_trip = rule::round_trip(&scenario.hardware, bytes, medium);
        let choice = Choice { window: self.windows[i], round_trip, queue, recompute };
        let epsilon = policy.epsilon();
        let reason =
            if tensor.bytes == Bytes::ZERO { Reason::NothingSaved } else { choice.reason(epsilon) };
        let link = self.turn_of_link(i, before, bytes, medium, &choice, reason);
        let turn = link.map(Turn::Link).or_else(|| turn_of_recompute(&choice, reason));
        let too_short = reason == Reason::WindowTooShort;
        let until = too_short.then(|| self.until(i, round_trip + epsilon)).flatten();
        Decision { action, bytes: tensor.bytes, unit, choice, reason, turn, until }
    }

    /// The last layer before `i` of the same kind whose window lets `needed` through behind its queue.
    fn until(&self, i: usize, needed: Nanos) -> Option<usize> {
        let layers = &self.scenario.chain.layers;
        let fits = |&j: &usize| {
            let queue = self.queue.after(self.queue.before[j], j);
            layers[j].kind == layers[i].kind && self.windows[j] > queue + needed
        };
        (0..i).rev().find(fits)
    }

    /// The multiple of the link's rate at which the reason changes: upwards where the window is too short or making it again
    /// is cheaper, downwards where the copies hide.
    ///
    /// With x the rate now over the rate then, every time here is the largest of some lines in x that do not fall: the round trip is
    /// m·x + g (or the drive's own time), the queue the largest, over the copy k that its busy period begins with, of what k and those
    /// after it take less what has passed since k could start. The largest of rising lines reaches a limit where the first of them does.
    fn turn_of_link(
        &self,
        i: usize,
        before: usize,
        bytes: Bytes,
        medium: Action,
        choice: &Choice,
        reason: Reason,
    ) -> Option<f64> {
        const FARTHEST: f64 = 1e3;
        let (window, recompute) = (choice.window.secs(), choice.recompute.secs());
        let trips = self.trips(bytes, medium);
        let limit = window - self.outcome.policy.epsilon().secs();
        let (mut hidden, mut cheaper) = (f64::INFINITY, f64::INFINITY);
        for trip in trips {
            cheaper = cheaper.min(trip.reaches(recompute));
            for queue in self.queue.lines(before, i) {
                let late = queue + trip;
                hidden = hidden.min(late.reaches(limit));
                // The round trip, and what of it the window does not hide.
                cheaper = cheaper.min((late + trip).reaches(recompute + window));
            }
        }
        if choice.recompute >= choice.window {
            cheaper = f64::INFINITY;
        }
        let x = match reason {
            Reason::RecomputeCheaper => cheaper,
            Reason::WindowTooShort => hidden,
            Reason::OffloadHidden => hidden.min(cheaper),
            Reason::NothingSaved => return None,
        };
        let factor = 1.0 / x;
        (x > 0.0 && (1.0 / FARTHEST..=FARTHEST).contains(&factor)).then_some(factor)
    }

    /// What a round trip takes, as lines in x; the same line twice where no drive is behind the host.
    fn trips(&self, bytes: Bytes, medium: Action) -> [Line; 2] {
        let hardware = &self.scenario.hardware;
        let fixed = hardware.copy_out(Bytes::ZERO) + hardware.copy_back(Bytes::ZERO);
        let all = hardware.copy_out(bytes) + hardware.copy_back(bytes);
        let link = Line { moving: (all - fixed).secs(), fixed: fixed.secs() };
        let drive = hardware.ssd_write.time(bytes) + hardware.ssd_read.time(bytes) + fixed;
        match medium {
            Action::Ssd => [link, Line { moving: 0.0, fixed: drive.secs() }],
            _ => [link, link],
        }
    }
}

/// The time of making it again at which the reason changes: to "cheaper" at or below it, from it above.
fn turn_of_recompute(choice: &Choice, reason: Reason) -> Option<Turn> {
    let at = choice.offload_cost().min(choice.window.saturating_sub(Nanos(1)));
    let possible = choice.recompute < NEVER && reason != Reason::NothingSaved;
    (possible && at > Nanos::ZERO).then_some(Turn::Recompute(at))
}

/// Seconds that depend on the link: `moving` in inverse proportion to its rate, `fixed` whatever it is.
#[derive(Clone, Copy)]
struct Line {
    moving: f64,
    fixed: f64,
}

impl Add for Line {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { moving: self.moving + other.moving, fixed: self.fixed + other.fixed }
    }
}

impl Line {
    /// Where it comes to `limit`, in the rate now over the rate then; 0 where it is there on any link.
    fn reaches(self, limit: f64) -> f64 {
        if self.moving > 0.0 {
            ((limit - self.fixed) / self.moving).max(0.0)
        } else if self.fixed >= limit {
            0.0
        } else {
            f64::INFINITY
        }
    }
}

/// The copies out that a plan makes, in the order of the rule: each may start when its layer's forward ends and the one
/// before is over.
struct Queue {
    copies: Vec<Copied>,
    /// When the link is free after that many copies.
    free: Vec<Nanos>,
    /// Per layer: the copies of those before it, and when its forward ends.
    before: Vec<usize>,
    ends: Vec<Nanos>,
}

#[derive(Clone, Copy)]
struct Copied {
    ready: Nanos,
    time: Line,
}

impl Queue {
    fn of(scenario: &Scenario, outcome: &Outcome) -> Self {
        let hardware = &scenario.hardware;
        let (mut copies, mut free) = (Vec::new(), vec![Nanos::ZERO]);
        let (mut before, mut ends) = (Vec::new(), Vec::new());
        let (mut now, mut busy) = (Nanos::ZERO, Nanos::ZERO);
        for (layer, own) in scenario.chain.layers.iter().zip(&outcome.layers) {
            now += layer.forward;
            before.push(copies.len());
            ends.push(now);
            let away = layer.saved.iter().zip(&own.actions);
            let away = away.filter(|(_, action)| matches!(action, Action::Host | Action::Ssd));
            let sizes: Vec<Bytes> = match outcome.plan.granularity {
                Granularity::Tensor => away.map(|(tensor, _)| tensor.bytes).collect(),
                Granularity::Layer => vec![away.map(|(tensor, _)| tensor.bytes).sum()],
            };
            for bytes in sizes.into_iter().filter(|&bytes| bytes > Bytes::ZERO) {
                let (time, fixed) = (hardware.copy_out(bytes), hardware.copy_out(Bytes::ZERO));
                let time = (time, Line { moving: (time - fixed).secs(), fixed: fixed.secs() });
                busy = busy.max(now) + time.0;
                copies.push(Copied { ready: now, time: time.1 });
                free.push(busy);
            }
        }
        Self { copies, free, before, ends }
    }

    /// How long layer `i`'s next copy waits behind the first `count`.
    fn after(&self, count: usize, i: usize) -> Nanos {
        self.free[count].saturating_sub(self.ends[i])
    }

    /// The same as lines, of which the largest counts.
    fn lines(&self, count: usize, i: usize) -> impl Iterator<Item = Line> + '_ {
        let now = self.ends[i].secs();
        let mut sum = Line { moving: 0.0, fixed: 0.0 };
        let busy = self.copies[..count].iter().rev().map(move |copy| {
            sum = sum + copy.time;
            Line { fixed: sum.fixed + copy.ready.secs() - now, ..sum }
        });
        busy.chain(std::iter::once(Line { moving: 0.0, fixed: 0.0 }))
    }
}
