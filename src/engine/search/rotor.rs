//! The least recomputation within a memory limit, without copies, for any chain: the dynamic programme of Beaumont, Eyraud-Dubois,
//! Herrmann, Joly and Shilova 2019 (Optimal checkpointing for heterogeneous chains, INRIA RR-9302; `rotor`), over schedules
//! that run layer i saving what it keeps, or run layers i..k without saving, reverse what is behind them, and then i..k from its
//! input. Its memory is that of `program`, so its plans take the bytes that it says.
//!
//! A table is a falling step function, from bytes to the time of all forwards: exact, where the paper divides memory into slots. One
//! that has more than [`Rotor::of`]'s number of steps is thinned, its memory rounded up: a plan never takes more than the limit.
//! Runs of equal layers share their tables.

use super::steps::{FREE, Step, View, least, shifted, sum, thinned};
use crate::engine::chain::{Chain, Layer, LayerKind, Storage};
use crate::engine::nested::Nested;
use crate::engine::plan::Plan;
use crate::engine::policy::{Action, Policy, PolicyKind};
use crate::engine::program::Program;
use crate::engine::scenario::Scenario;
use crate::engine::simulate;
use crate::engine::units::{Bytes, Nanos};

/// The longest chain that is planned.
pub const MOST_LAYERS: usize = 256;

/// Steps that a table may have: fewer where there is more to compute, 32 at least.
const MOST_STEPS: usize = 1024;

/// Splits that are compared in all, about: where layers are many and different, fewer ends of segments are.
const MOST_SPLITS: usize = 40_000;

/// Steps of tables that are added or compared in all, about.
const WORK: usize = 2_000_000;

/// A layer in bytes and nanoseconds.
#[derive(Clone, Copy, PartialEq)]
struct Link {
    forward: u64,
    input: i64,
    output: i64,
    inner: i64,
    forward_scratch: i64,
    backward_scratch: i64,
    gradients: i64,
    casts: i64,
    saves_input: bool,
    saves_output: bool,
    block: bool,
}

/// What reversing a run of layers takes, by the room for it: with its input held by others, or made just before and held only where
/// something here needs it (none where that is the first layer itself, for then it is the same with that much less room).
struct Table {
    held: Vec<Step>,
    fresh: Option<Vec<Step>>,
}

/// Layers `i..j`; in the first forward, which goes through to the end, or in backward.
#[derive(Clone, Copy)]
struct Run {
    i: usize,
    j: usize,
    first: bool,
}

/// How a run begins.
#[derive(Clone, Copy)]
enum Choice {
    Plain,
    Segment(usize),
}

/// All tables of a chain.
pub struct Rotor {
    links: Vec<Link>,
    reentrant: bool,
    /// Segments end at layers of which this is a divisor, and where the blocks end.
    stride: usize,
    /// Forward time of the layers before each.
    forwards: Vec<u64>,
    /// Cast weights of layers before each.
    casts: Vec<i64>,
    /// Bytes that are there in backward, whatever is saved, when the layers from here on are reversed.
    standing: Vec<i64>,
    /// Tables of runs of blocks by content: equal ones have one number.
    numbers: Vec<Vec<usize>>,
    inner: Vec<Table>,
    /// Tables of the first forward, by first layer.
    whole: Vec<Table>,
}

impl Rotor {
    /// The tables of `chain`, as far as `room` bytes for activations and transients go. `reentrant` segments hold their output;
    /// it is counted twice while it is made.
    #[must_use]
    pub fn of(chain: &Chain, reentrant: bool, room: Bytes) -> Self {
        let n = chain.layers.len();
        let links: Vec<Link> = (0..n).map(|i| link(chain, i)).collect();
        let mut rotor = Self {
            reentrant,
            stride: 1,
            forwards: running(0, links.iter().map(|link| link.forward)),
            casts: running(0, links.iter().map(|link| link.casts)),
            standing: running(
                links.iter().map(|link| link.gradients).sum(),
                links.iter().map(|link| link.casts - link.gradients),
            ),
            numbers: Vec::new(),
            inner: Vec::new(),
            whole: Vec::new(),
            links,
        };
        let work = |runs: &[Run]| runs.iter().map(|run| run.j - run.i).sum::<usize>() + n * n;
        let mut runs = rotor.number();
        while work(&runs) / (rotor.stride * rotor.stride) > MOST_SPLITS {
            rotor.stride += 1;
        }
        if rotor.stride > 1 {
            runs = rotor.number();
        }
        let steps = (WORK * rotor.stride / work(&runs)).clamp(32, MOST_STEPS);
        let room = signed(room);
        let lowest = rotor.standing.iter().copied().min().unwrap_or(0);
        for run in runs {
            let table = rotor.table(run);
            rotor.inner.push(cut(table, room.saturating_sub(lowest), steps));
        }
        for i in (0..n).rev() {
            let table = rotor.table(Run { i, j: n, first: true });
            rotor.whole.insert(0, cut(table, room, steps));
        }
        rotor
    }

    /// Room and time of all forwards of each plan that no other is better than in both, by rising room.
    pub fn front(&self) -> impl Iterator<Item = (Bytes, Nanos)> {
        let plans = self.whole.first().map_or(&[][..], |table| &table.held);
        plans.iter().map(|step| (Bytes(step.bytes.max(0).unsigned_abs()), Nanos(step.time)))
    }

    /// The least room that any plan takes.
    #[must_use]
    pub fn least(&self) -> Bytes {
        self.front().next().map_or(Bytes::ZERO, |(bytes, _)| bytes)
    }

    /// The segments of the fastest plan within `room`; of one that takes the least where none is.
    #[must_use]
    pub fn segments(&self, room: Bytes) -> Vec<Nested> {
        let mut segments = Vec::new();
        let whole = Run { i: 0, j: self.links.len(), first: true };
        self.trace(whole, true, signed(room.max(self.least())), &mut segments);
        segments
    }

    /// Whether a segment may end before layer `j`.
    fn ends_at(&self, j: usize) -> bool {
        j.is_multiple_of(self.stride) || self.links.get(j).is_none_or(|link| !link.block)
    }

    /// Numbers runs of blocks by content, shorter ones first; one of each kind. Others are never run again. Where segments do not
    /// end everywhere, equal ones differ in where they do.
    fn number(&mut self) -> Vec<Run> {
        let n = self.links.len();
        let shared = self.stride == 1;
        let kind = |i: usize| self.links.iter().position(|link| shared && *link == self.links[i]);
        let kinds: Vec<usize> = (0..n).map(|i| kind(i).unwrap_or(i)).collect();
        let mut runs = Vec::new();
        let mut numbers: Vec<Vec<usize>> = vec![Vec::new(); n];
        for length in 1..=n {
            let mut seen: Vec<((usize, usize), usize)> = Vec::new();
            for (i, own) in numbers.iter_mut().enumerate().take(n - length + 1) {
                let j = i + length;
                if own.len() + 1 < length || !self.links[j - 1].block {
                    continue;
                }
                let key = (own.last().copied().unwrap_or(0), kinds[j - 1]);
                let mut known = seen.iter().filter(|_| shared);
                let known = known.find(|(other, _)| *other == key).map(|(_, number)| *number);
                own.push(known.unwrap_or(runs.len()));
                if known.is_none() && self.ends_at(j) {
                    seen.push((key, runs.len()));
                    runs.push(Run { i, j, first: false });
                }
            }
        }
        self.numbers = numbers;
        runs
    }

    fn get(&self, run: Run) -> &Table {
        if run.first {
            // From the last layer on.
            &self.whole[self.whole.len() + run.i - self.links.len()]
        } else {
            &self.inner[self.numbers[run.i][run.j - run.i - 1]]
        }
    }

    fn held(&self, run: Run) -> View<'_> {
        if run.i == run.j { FREE } else { View { steps: &self.get(run).held, more: 0 } }
    }

    fn fresh(&self, run: Run) -> View<'_> {
        if run.i == run.j {
            return FREE;
        }
        let table = self.get(run);
        match &table.fresh {
            Some(steps) => View { steps, more: 0 },
            None => View { steps: &table.held, more: self.links[run.i].input },
        }
    }

    /// Bytes that a run's room does not count: those that are there in backward, whatever is saved.
    fn base(&self, run: Run) -> i64 {
        if run.first { 0 } else { self.standing[run.j] }
    }

    /// Cast weights that come with layer `i` in the first forward.
    fn cast(&self, run: Run, i: usize) -> i64 {
        if run.first { self.casts[i + 1] } else { 0 }
    }

    /// The first layer plainly: what it keeps, what its forward and backward take, its input aside, and the rest.
    fn plain(&self, run: Run) -> (i64, i64, i64, View<'_>) {
        let link = &self.links[run.i];
        let kept = link.inner + if link.saves_output { link.output } else { 0 };
        let forward = link.inner + link.output + link.forward_scratch + self.cast(run, run.i);
        let backward = kept + link.backward_scratch + self.standing[run.i + 1] - self.base(run);
        let rest = Run { i: run.i + 1, ..run };
        let rest = if link.saves_output { self.held(rest) } else { self.fresh(rest) };
        (kept, forward, backward, rest)
    }

    /// Where a segment that begins a run may end, and what running it without saving takes, its input aside.
    fn ends(&self, run: Run) -> impl Iterator<Item = (usize, i64)> {
        let mut most = i64::MIN;
        let last = if run.first { run.j } else { run.j - 1 };
        (run.i..last)
            .take_while(|&k| self.links[k].block)
            .map(move |k| {
                let link = &self.links[k];
                let read = if k > run.i { link.input } else { 0 };
                most = most.max(read + link.output + link.forward_scratch + self.cast(run, k));
                (k + 1, most)
            })
            .filter(|&(at, _)| self.ends_at(at))
    }

    /// What is behind a segment, and the segment from its input.
    fn halves(&self, run: Run, at: usize) -> (View<'_>, View<'_>) {
        let behind = self.fresh(Run { i: at, ..run });
        let mut again = self.held(Run { j: at, first: false, ..run });
        again.more += self.standing[at] - self.base(run);
        if self.reentrant {
            again.more += self.links[at - 1].output;
        }
        (behind, again)
    }

    fn table(&self, run: Run) -> Table {
        let link = &self.links[run.i];
        let (mut segments, mut both, mut better) = (Vec::new(), Vec::new(), Vec::new());
        for (at, need) in self.ends(run) {
            let (behind, again) = self.halves(run, at);
            let time = self.forwards[at].saturating_sub(self.forwards[run.i]);
            sum(behind, again, time, need, &mut both);
            least(&segments, &both, &mut better);
            std::mem::swap(&mut segments, &mut better);
        }
        let (kept, forward, backward, rest) = self.plain(run);
        let mut with_plain = |segments: &[Step], input: i64| {
            let need = (forward + input).max(backward);
            sum(View { more: rest.more + kept, ..rest }, FREE, link.forward, need, &mut both);
            let mut table = Vec::new();
            least(segments, &both, &mut table);
            table
        };
        let fresh =
            (!link.saves_input).then(|| with_plain(&shifted(&segments, link.input), link.input));
        Table { held: with_plain(&segments, 0), fresh }
    }

    /// Follows the best choices for `run` within `room`.
    fn trace(&self, mut run: Run, mut held: bool, mut room: i64, segments: &mut Vec<Nested>) {
        while run.i < run.j {
            let link = &self.links[run.i];
            let input = if held { 0 } else { link.input };
            let saved = if link.saves_input { input } else { 0 };
            let (kept, forward, backward, rest) = self.plain(run);
            let mut best = (u64::MAX, Choice::Plain);
            if (forward + input).max(backward + saved) <= room {
                let rest = rest.at(room - kept - saved);
                best.0 = rest.map_or(u64::MAX, |time| time.saturating_add(link.forward));
            }
            let room_beside = room - input;
            for (at, _) in self.ends(run).filter(|(_, need)| *need <= room_beside) {
                let (behind, again) = self.halves(run, at);
                let (Some(behind), Some(again)) = (behind.at(room_beside), again.at(room_beside))
                else {
                    continue;
                };
                let time = self.forwards[at].saturating_sub(self.forwards[run.i]);
                let time = time.saturating_add(behind).saturating_add(again);
                if time < best.0 {
                    best = (time, Choice::Segment(at));
                }
            }
            match best.1 {
                Choice::Plain => {
                    room -= kept + saved;
                    held = link.saves_output;
                    run.i += 1;
                }
                Choice::Segment(at) => {
                    segments.push(Nested { start: run.i, end: at });
                    let inside = Run { j: at, first: false, ..run };
                    let mut beside = room_beside - (self.standing[at] - self.base(run));
                    if self.reentrant {
                        beside -= self.links[at - 1].output;
                    }
                    self.trace(inside, true, beside, segments);
                    room = room_beside;
                    held = false;
                    run.i = at;
                }
            }
        }
    }
}

/// The policy that asks for it, where the chain is short enough.
#[must_use]
pub fn policy(scenario: &Scenario) -> Option<Policy> {
    let short = scenario.chain.layers.len() <= MOST_LAYERS;
    short.then(|| Policy {
        kind: PolicyKind::Rotor,
        plan: None,
        segments: None,
        ..scenario.policy.clone()
    })
}

/// The fastest plan without copies within the scenario's memory limit; one that takes the least where none is. On a pipeline, what is kept
/// after forward counts once more for each other micro-batch in flight: then the most generous of the rotor's plans that fits.
#[must_use]
pub fn plan(scenario: &Scenario, policy: &Policy) -> Plan {
    let chain = &scenario.chain;
    let room = scenario.limits.memory.saturating_sub(chain.standing().total());
    let mut rotor = Rotor::of(chain, policy.reentrant, room);
    let least = rotor.least();
    if least > room {
        // Of those that take the least the fastest: tables that go that far.
        rotor = Rotor::of(chain, policy.reentrant, least);
    }
    let of = |room: Bytes| {
        let mut plan = Plan::uniform(chain, policy, Action::Keep);
        plan.nest(&rotor.segments(room));
        plan.measure(chain);
        plan
    };
    if chain.pipeline.is_alone() {
        return of(room);
    }
    let rooms: Vec<Bytes> = rotor.front().map(|(bytes, _)| bytes).collect();
    let fits = |room: &Bytes| {
        let program = Program::of(chain, &of(*room));
        let others = chain.pipeline.others(program.resident_after_forward());
        simulate::need(&program) + others
            <= scenario.limits.memory.saturating_sub(chain.standing().total())
    };
    let within = rooms.partition_point(fits);
    of(rooms.get(within.saturating_sub(1)).copied().unwrap_or(room))
}

fn link(chain: &Chain, i: usize) -> Link {
    let layer: &Layer = &chain.layers[i];
    let inner = layer.saved.iter().filter(|tensor| tensor.storage == Storage::Inner);
    let output = chain.layers.get(i + 1).map_or(layer.output, |next| next.boundary);
    Link {
        forward: layer.forward.0,
        // The chain's input is the caller's.
        input: if i == 0 { 0 } else { signed(layer.boundary) },
        output: signed(output),
        inner: signed(inner.map(|tensor| tensor.bytes).sum()),
        forward_scratch: signed(layer.forward_scratch),
        backward_scratch: signed(layer.backward_scratch),
        gradients: signed(layer.gradients),
        casts: signed(layer.weight_casts),
        saves_input: layer.saves(Storage::Input),
        saves_output: layer.saves(Storage::Output),
        block: layer.kind == LayerKind::Block,
    }
}

/// At most 2^50, so that a chain's worth of them can be added.
fn signed(bytes: Bytes) -> i64 {
    i64::try_from(bytes.0).unwrap_or(i64::MAX).min(i64::MAX / 8192)
}

/// Sums up to each place, from `start` on.
fn running<T: Copy + std::ops::Add<Output = T>>(start: T, each: impl Iterator<Item = T>) -> Vec<T> {
    let mut sums = vec![start];
    for one in each {
        sums.push(sums[sums.len() - 1] + one);
    }
    sums
}

fn cut(table: Table, room: i64, steps: usize) -> Table {
    let cut = |list: Vec<Step>| thinned(list, room, steps);
    Table { held: cut(table.held), fresh: table.fresh.map(cut) }
}
