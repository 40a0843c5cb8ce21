//! All ways to make a run of equal layers again that are worth it, with as many recomputations as there are in rotor (Beaumont et al. 2019) or Revolve (Griewank
//! and Walther 2000), but beside copies that come back. A pass over a run is a row of layers that keep their bytes and of parts that keep only what they
//! begin with, to be run again later; the last ones are reversed first, beside what is kept before them.
//!
//! While a run is reversed no new copy is asked for, so that a way matters in two numbers alone, with time turned round: how long it takes, and how
//! long after the copies that are under way it ends at least, where its operations leave them no room. Ways that another one is no worse than in both are
//! dropped.

use super::kind::Kind;
use crate::engine::nested::Nested;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// One way. Times are ns.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// How long it takes.
    pub time: u64,
    /// Its end, after that of all copies under way at its start: mostly negative.
    pub after: i64,
    /// Bytes that are free beside its first forward.
    pub spare: i64,
    /// Every layer keeps its bytes: each runs again once.
    pub once: bool,
    /// How many layers are dropped first (0: the first one keeps its bytes), and which of the ways of these, and of the rest.
    part: usize,
    own: usize,
    rest: usize,
}

impl Way {
    const NOTHING: Self =
        Self { time: 0, after: i64::MIN, spare: i64::MAX, once: true, part: 0, own: 0, rest: 0 };

    /// Then the other one.
    fn then(self, other: Self) -> Self {
        let after = self.after.saturating_add_unsigned(other.time).max(other.after);
        Self { time: self.time + other.time, after, ..other }
    }

    /// The end, where it begins at `now` and copies are under way until `busy`.
    pub fn end(&self, now: u64, busy: u64) -> u64 {
        (now + self.time).max(busy.saturating_add_signed(self.after))
    }
}

/// How many layers, the room for them, and whether what the first one reads is kept.
type Part = (usize, i64, bool);

/// Pairs of ways that are looked at in all, at most.
const WORK: u64 = 10_000_000;

/// The ways of runs of equal layers.
pub struct Again {
    pub kind: Kind,
    pub unit: i64,
    pub boundary: i64,
    /// What a forward and a backward need: the layer's own bytes and what it reads among them.
    pub needs: (i64, i64),
    /// How long they take.
    pub times: (u64, u64),
    /// Copies back, of a unit and of a boundary, as bytes and time.
    pub copies: [(i64, u64); 2],
    /// Ways that take longer are of no use.
    pub longest: u64,
    /// Copies under way follow one another without a pause. Else only an operation with no room for any of them waits for them.
    pub evenly: bool,
    known: RefCell<BTreeMap<Part, Rc<[Way]>>>,
    /// Pairs of ways that may still be looked at.
    left: Cell<u64>,
}

impl Again {
    /// `known` is empty at first.
    pub fn new(
        kind: Kind,
        (unit, boundary): (i64, i64),
        needs: (i64, i64),
        times: (u64, u64),
        copies: [(i64, u64); 2],
        longest: u64,
        evenly: bool,
    ) -> Self {
        let (known, left) = (RefCell::default(), Cell::new(WORK));
        Self { kind, unit, boundary, needs, times, copies, longest, evenly, known, left }
    }

    /// The ways to reverse a run of `layers` in `room`, what it begins with aside, the quickest first.
    pub fn ways(&self, layers: usize, room: i64) -> Rc<[Way]> {
        self.solve(layers, room, true)
    }

    /// Whether there was more to look at than there may be: then ways are missing.
    pub fn is_too_much(&self) -> bool {
        self.left.get() == 0
    }

    fn solve(&self, layers: usize, room: i64, begun: bool) -> Rc<[Way]> {
        if layers == 0 {
            return Rc::new([Way::NOTHING]);
        }
        if room < 0 || self.is_too_much() {
            return Rc::new([]);
        }
        let key = (layers, room, begun);
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        let mut all: Vec<Way> = Vec::new();
        // What a part makes is no part's beginning where it is kept for the layer itself; a part as long as the run that it is in would not end.
        let parts = match self.kind {
            Kind::Output if !begun => 0..1,
            Kind::Input => 1..layers.max(2),
            Kind::Inner if !begun => 0..layers + 1,
            Kind::Output | Kind::Inner => 0..layers,
        };
        for part in parts {
            self.first(layers, room, begun, part, &mut all);
        }
        let ways: Rc<[Way]> = best(all).into();
        self.known.borrow_mut().insert(key, Rc::clone(&ways));
        ways
    }

    /// The ways where the first `part` layers are dropped.
    fn first(&self, layers: usize, room: i64, begun: bool, part: usize, all: &mut Vec<Way>) {
        let Some(split) = self.split(room, begun, part) else { return };
        let keeps = split.own.is_none();
        let own = match split.own {
            Some(room) => self.solve(part, room, true),
            None => self.operation(split.room, split.needs.1, self.times.1).into_iter().collect(),
        };
        if own.is_empty() {
            return;
        }
        // The forwards, the last one first.
        let count = part.max(1);
        let mut forwards = Way::NOTHING;
        for i in (0..count).rev() {
            let need = if i == 0 { split.needs.0 } else { split.passes };
            let Some(one) = self.operation(split.room, need, self.times.0) else { return };
            forwards = forwards.then(one);
        }
        let rest = self.solve(layers - count, split.rest, split.begun);
        let pairs = (rest.len() * own.len() + count) as u64;
        self.left.set(self.left.get().saturating_sub(pairs));
        for (j, after) in rest.iter().enumerate() {
            for (i, before) in own.iter().enumerate() {
                let time = before.time + after.time + forwards.time;
                if time > self.longest {
                    // The others take longer.
                    break;
                }
                let way = before.then(*after).then(forwards);
                let part = if keeps { 0 } else { part };
                let once = keeps && after.once;
                all.push(Way { once, part, own: i, rest: j, ..way });
            }
        }
    }

    /// One operation; none where it lacks the room.
    fn operation(&self, room: i64, need: i64, time: u64) -> Option<Way> {
        let spare = room - need.max(0);
        if spare < 0 {
            return None;
        }
        // Copies that it may run beside: those that have no room otherwise must be over.
        let beside = if !self.evenly {
            if spare < self.copies[0].0 { 0 } else { u64::MAX >> 2 }
        } else if self.copies[0] == self.copies[1] {
            let (bytes, time) = self.copies[0];
            u64::try_from(spare / bytes).unwrap_or(0).saturating_mul(time)
        } else {
            self.mixed(spare)
        };
        let after = 0_i64.saturating_sub_unsigned(beside).saturating_add_unsigned(time);
        Some(Way { time, after, spare, ..Way::NOTHING })
    }

    /// The longest that copies of two sizes take which fit into `spare` bytes together.
    fn mixed(&self, spare: i64) -> u64 {
        const MOST: i64 = 64;
        let [(unit, time), (boundary, other)] = self.copies;
        let most = spare / unit.max(1);
        if most > MOST {
            return share(spare, unit, time).max(share(spare, boundary, other));
        }
        let whole = |count: i64| u64::try_from(count).unwrap_or(0);
        let with = |count: i64| {
            let rest = if boundary > 0 { (spare - count * unit) / boundary } else { 0 };
            whole(count).saturating_mul(time).saturating_add(whole(rest).saturating_mul(other))
        };
        (0..=most).map(with).max().unwrap_or(0)
    }

    /// What a run's beginning leaves; none where it cannot begin like that.
    fn split(&self, room: i64, begun: bool, part: usize) -> Option<Split> {
        let (forward, backward) = self.needs;
        let (unit, boundary) = (self.unit, self.boundary);
        let split = match self.kind {
            Kind::Output if part == 0 => {
                let reads = if begun { 0 } else { unit };
                Split {
                    room,
                    own: None,
                    rest: room - unit,
                    begun: true,
                    needs: (forward + reads, backward),
                    passes: 0,
                }
            }
            Kind::Output => Split {
                room,
                own: Some(room),
                rest: room,
                begun: false,
                needs: (forward, 0),
                passes: forward + unit,
            },
            // What the rest begins with stays.
            Kind::Input => {
                let own = (part > 1).then_some(room);
                let needs = (forward - unit, backward - unit);
                Split { room, own, rest: room - unit, begun: true, needs, passes: forward }
            }
            Kind::Inner if part == 0 => {
                let reads = if begun { boundary } else { 0 };
                Split {
                    room,
                    own: None,
                    rest: room - unit,
                    begun: false,
                    needs: (forward - reads, backward),
                    passes: 0,
                }
            }
            Kind::Inner => {
                let room = if begun { room } else { room - boundary };
                let needs = (forward - unit - boundary, 0);
                Split {
                    room,
                    own: Some(room),
                    rest: room,
                    begun: false,
                    needs,
                    passes: forward - unit,
                }
            }
        };
        (split.room >= 0).then_some(split)
    }

    /// The parts that are dropped again of the layers from `first` on, outer before inner.
    pub fn parts(&self, first: usize, layers: usize, room: i64, way: usize) -> Vec<Nested> {
        let mut parts = Vec::new();
        self.trace(first, layers, room, true, way, &mut parts);
        parts
    }

    fn trace(
        &self,
        first: usize,
        layers: usize,
        room: i64,
        begun: bool,
        way: usize,
        all: &mut Vec<Nested>,
    ) {
        let ways = self.solve(layers, room, begun);
        let Some(way) = ways.get(way).filter(|_| layers > 0) else { return };
        let count = way.part.max(1);
        let part = if self.kind == Kind::Input { count } else { way.part };
        let Some(split) = self.split(room, begun, part) else { return };
        if let Some(room) = split.own {
            all.push(Nested { start: first, end: first + count });
            self.trace(first, count, room, true, way.own, all);
        }
        self.trace(first + count, layers - count, split.rest, split.begun, way.rest, all);
    }
}

/// How a run begins.
struct Split {
    room: i64,
    /// The room in which the dropped layers are reversed later; none where the first layer keeps its bytes.
    own: Option<i64>,
    /// The room of the layers after these, and whether what the first of them reads is kept.
    rest: i64,
    begun: bool,
    /// What the first layer's forward and backward need, and the forwards of others that are dropped.
    needs: (i64, i64),
    passes: i64,
}

/// The time that copies of `bytes` each take in `time` of which `spare` bytes fit, in shares.
pub fn share(spare: i64, bytes: i64, time: u64) -> u64 {
    if bytes <= 0 {
        return 0;
    }
    let share = i128::from(spare) * i128::from(time) / i128::from(bytes) + 1;
    u64::try_from(share).unwrap_or(u64::MAX >> 1)
}

/// Those that none is better than, the quickest first.
fn best(mut all: Vec<Way>) -> Vec<Way> {
    all.sort_by_key(|way| (way.time, way.after, -way.spare));
    let mut best: Vec<Way> = Vec::new();
    for way in all {
        // Where what is free at the start is more, it may be worth it still.
        if !best.iter().any(|other| other.after <= way.after && other.spare >= way.spare) {
            best.push(way);
        }
    }
    best
}
