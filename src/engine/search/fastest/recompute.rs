//! The least recomputation within a room: a dynamic programme over the layers in forward order, pruned by dominance. Its state is what the
//! layers so far hold; each layer runs plainly, all kept or some of its tensors made again, or is part of a segment of any length. What a
//! layer needs at its forward and backward beside what earlier ones hold is fixed (`table`), so that every state is feasible or not by itself
//! (the peaks of mixed chains of docs/model.md section 3; cf. Beaumont et al. 2019 for the general programme).

use super::table::Row;
use crate::engine::chain::Chain;
use crate::engine::plan::{LayerPlan, Plan};
use crate::engine::policy::Action;
use crate::engine::sort;
use crate::engine::units::{Bytes, Nanos};

/// Layers of a segment at most: longer ones would hold too much while they run again.
const LONGEST: usize = 128;

/// What leaves over the link, as the programme sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaving {
    /// So many bytes of the earliest layers: they are gone.
    pub bytes: u64,
    /// So many bytes for each second of forward, of what has been made before it.
    pub rate: f64,
}

/// A prefix of the chain, decided.
#[derive(Clone, Copy, Debug)]
struct State {
    /// What it holds; below 0 while what leaves over the link is still due.
    held: i64,
    /// Recomputation so far, ns.
    time: u64,
    /// Layer and place of the state that it continues.
    from: (usize, usize),
    /// How.
    step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Start,
    /// Plainly, with this many of the ways to drop its tensors.
    Plain(usize),
    /// As a segment from that layer on.
    Segment,
}

/// What a segment needs, relative to what is held before it: grows as it does.
struct Growing {
    inside: i64,
    need: i64,
    time: u64,
}

/// The programme under way: the plan of least recomputation of which every operation fits in `room` beside what has left. At most `most` states
/// are kept per layer: where there would be more the front is thinned, and the least is no longer sure.
pub struct Programme {
    room: i64,
    leaving: Leaving,
    reentrant: bool,
    states: Vec<States>,
    next: usize,
    work: u64,
}

impl Programme {
    /// Before the first layer.
    pub fn new(rows: &[Row], base: &Plan, room: u64, leaving: Leaving, most: usize) -> Self {
        let mut states: Vec<States> = (0..=rows.len()).map(|_| States::new(most)).collect();
        let held = -signed(leaving.bytes);
        states[0].offer(State { held, time: 0, from: (0, 0), step: Step::Start });
        Self { room: signed(room), leaving, reentrant: base.reentrant, states, next: 0, work: 0 }
    }

    /// Decides one more layer; false when all are.
    pub fn advance(&mut self, rows: &[Row]) -> bool {
        let i = self.next;
        if i == rows.len() {
            return false;
        }
        let here = self.states[i].settle();
        self.plain(i, &rows[i], &here);
        self.segments(i, rows, &here);
        self.states[i].front = here;
        self.next += 1;
        true
    }

    /// States looked at so far: what the time of a programme is proportional to.
    pub const fn work(&self) -> u64 {
        self.work
    }

    /// Layer `i` runs plainly.
    fn plain(&mut self, i: usize, row: &Row, here: &[State]) {
        let need = signed(row.forward_need.max(row.backward_need));
        self.work += (here.len() * (1 + row.partials.len())) as u64;
        for (at, state) in here.iter().enumerate() {
            if state.held.max(0) + need > self.room {
                continue;
            }
            let left = drained(state.held, row.forward, self.leaving.rate);
            let plain = |ways, freed: u64, time| State {
                held: left + signed(row.held) - signed(freed),
                time: state.time + time,
                from: (i, at),
                step: Step::Plain(ways),
            };
            self.states[i + 1].offer(plain(0, 0, 0));
            for (way, partial) in row.partials.iter().enumerate() {
                self.states[i + 1].offer(plain(way + 1, partial.freed, partial.time));
            }
        }
    }

    /// A segment starts with layer `i`.
    fn segments(&mut self, i: usize, rows: &[Row], here: &[State]) {
        let row = &rows[i];
        let least = here.iter().map(|state| state.held.max(0)).min().unwrap_or(0);
        let mut growing = Growing { inside: 0, need: 0, time: 0 };
        for end in i + 1..=rows.len().min(i + LONGEST) {
            let last = &rows[end - 1];
            let first = end - 1 == i;
            // The first layer's input is the boundary; where it saves it, its own need has it already.
            let shared = if first { row.input.min(row.boundary) } else { 0 };
            let before = signed(row.boundary - shared);
            let own = signed(last.forward_need.max(last.backward_need));
            let held = if self.reentrant { signed(last.output) } else { 0 };
            growing.need = growing.need.max(before + growing.inside + own + held);
            growing.inside += signed(last.held - if first { last.input } else { 0 });
            growing.time += last.forward;
            if least + growing.need > self.room {
                break;
            }
            self.work += here.len() as u64;
            for (at, state) in here.iter().enumerate() {
                if state.held.max(0) + growing.need > self.room {
                    continue;
                }
                let left = drained(state.held, growing.time, self.leaving.rate);
                self.states[end].offer(State {
                    held: left + signed(row.boundary),
                    time: state.time + growing.time,
                    from: (i, at),
                    step: Step::Segment,
                });
            }
        }
    }

    /// The plan, once every layer is decided; none where there is none.
    pub fn plan(mut self, chain: &Chain, rows: &[Row], base: &Plan) -> Option<Plan> {
        let best = *self.states[self.next].settle().first()?;
        Some(traced(chain, rows, base, &self.states, best))
    }
}

/// What is left on the device of what was held, after so long.
fn drained(held: i64, nanos: u64, rate: f64) -> i64 {
    if rate > 0.0 && held > 0 {
        let bytes = rate * Nanos(nanos).secs();
        (held - signed(Bytes::from_f64(bytes).0)).max(0)
    } else {
        held
    }
}

/// The states of one prefix: a front of them by rising time, and those that have come since.
struct States {
    front: Vec<State>,
    fresh: Vec<State>,
    most: usize,
}

impl States {
    const fn new(most: usize) -> Self {
        Self { front: Vec::new(), fresh: Vec::new(), most }
    }

    /// Takes a state unless one of the front is as good.
    fn offer(&mut self, state: State) {
        let later = self.front.partition_point(|other| other.time <= state.time);
        if later.checked_sub(1).is_some_and(|i| self.front[i].held <= state.held) {
            return;
        }
        self.fresh.push(state);
        if self.fresh.len() > 2 * self.most {
            self.front = self.settle();
        }
    }

    /// The front of all that came.
    fn settle(&mut self) -> Vec<State> {
        let mut all = std::mem::take(&mut self.front);
        all.append(&mut self.fresh);
        thinned(&all, self.most)
    }
}

/// Those that none other is as good as in both and better in one. Where there are more than `most`: the corners of their convex hull first (a sum
/// of concave trades is never far from one), the others evenly.
fn thinned(states: &[State], most: usize) -> Vec<State> {
    let mut front: Vec<State> = Vec::new();
    let rising = |i: usize| (states[i].time, states[i].held.abs_diff(i64::MIN), 0);
    for i in sort::order(states.len(), rising) {
        let state = states[i];
        if front.last().is_none_or(|last| state.held < last.held) {
            front.push(state);
        }
    }
    if front.len() <= most {
        return front;
    }
    let corners = evenly(&corners(&front), most * 3 / 4);
    let mut kept = vec![false; front.len()];
    for &i in &corners {
        kept[i] = true;
    }
    let others: Vec<usize> = (0..front.len()).filter(|&i| !kept[i]).collect();
    for i in evenly(&others, most - corners.len()) {
        kept[i] = true;
    }
    front.into_iter().zip(kept).filter_map(|(state, kept)| kept.then_some(state)).collect()
}

/// Places of the front's lower convex hull.
fn corners(front: &[State]) -> Vec<usize> {
    let mut hull: Vec<usize> = Vec::new();
    for (i, c) in front.iter().enumerate() {
        while let [.., a, b] = hull[..] {
            let (a, b) = (&front[a], &front[b]);
            let wide = |x: &State, y: &State| i128::from(x.held - y.held);
            let long = |x: &State, y: &State| i128::from(y.time) - i128::from(x.time);
            // Freed a nanosecond from a to b, against from a to c.
            if wide(a, b) * long(a, c) > wide(a, c) * long(a, b) {
                break;
            }
            hull.pop();
        }
        hull.push(i);
    }
    hull
}

/// At most `most` of them, the first and the last among these.
fn evenly(all: &[usize], most: usize) -> Vec<usize> {
    match most {
        _ if all.len() <= most => all.to_vec(),
        0 => Vec::new(),
        1 => vec![all[0]],
        _ => (0..most).map(|i| all[i * (all.len() - 1) / (most - 1)]).collect(),
    }
}

fn traced(chain: &Chain, rows: &[Row], base: &Plan, states: &[States], last: State) -> Plan {
    let mut plan = base.clone();
    let mut segments = Vec::new();
    let (mut state, mut end) = (last, rows.len());
    while state.step != Step::Start {
        let (start, at) = state.from;
        match state.step {
            Step::Segment => segments.push((start, end)),
            Step::Plain(ways) => {
                let mut actions = vec![Action::Keep; chain.layers[start].saved.len()];
                if let Some(partial) = ways.checked_sub(1).map(|way| &rows[start].partials[way]) {
                    for &tensor in &partial.tensors {
                        actions[tensor] = Action::Recompute;
                    }
                }
                plan.layers[start] = LayerPlan::Plain(actions);
            }
            Step::Start => {}
        }
        (state, end) = (states[start].front[at], start);
    }
    plan.segments.clear();
    for (start, end) in segments.into_iter().rev() {
        plan.recompute(start, end, Action::Keep);
    }
    plan.lengths =
        plan.segments.iter().map(|segment| (segment.end - segment.start) as u64).collect();
    plan
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX >> 2)
}
