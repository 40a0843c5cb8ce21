//! How often layers must run again where less room is left than they hold, as in Revolve (Griewank and Walther 2000) and rotor (Beaumont et al. 2019), for equal layers
//! and to the byte. A pass over a run is a row of layers that keep their bytes and of parts that keep only what they begin with, to be run again
//! later; the last ones are reversed first, beside what is kept before them.

use super::kind::Kind;
use crate::engine::nested::Nested;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Unreachable.
const NEVER: u64 = u64::MAX >> 8;
/// Runs whose layers run more often than so many times each are made in one way only, for their operations are many.
const OFTEN: u64 = 6;

/// The least forwards of runs of equal layers.
pub struct Again {
    kind: Kind,
    unit: i64,
    boundary: i64,
    /// What a forward and a backward need, the layer's own bytes and what it reads among them as `table` counts them.
    needs: (i64, i64),
    /// By layers, room, and whether what the first one reads is kept.
    known: RefCell<BTreeMap<(usize, i64, bool), Best>>,
    /// By layers and units.
    operations: RefCell<BTreeMap<(usize, usize), Rc<[Operation]>>>,
}

/// Forwards, and how many layers are dropped first (0: the first layer keeps its bytes).
type Best = (u64, usize);

impl Again {
    /// Of layers that hold `unit` bytes each, or `boundary` in place of a part's, and whose forward and backward need so many.
    pub fn new(kind: Kind, (unit, boundary): (i64, i64), needs: (i64, i64)) -> Self {
        Self {
            kind,
            unit,
            boundary,
            needs,
            known: RefCell::default(),
            operations: RefCell::default(),
        }
    }

    /// The least number of forwards that reverse a run of `layers` in `room`, what it begins with aside; none where it cannot be done.
    pub fn least(&self, layers: usize, room: i64) -> Option<u64> {
        Some(self.solve(layers, room, true).0).filter(|&count| count < NEVER)
    }

    /// The room in which `units` layers can keep their bytes at once.
    pub fn room(&self, units: usize) -> i64 {
        let before = i64::try_from(units).unwrap_or(i64::MAX / 4) - 1;
        before.saturating_mul(self.unit).saturating_add(self.keeps(false))
    }

    /// What a layer needs that keeps its bytes, all that it reads counted already where it is the run's first.
    fn keeps(&self, first: bool) -> i64 {
        let (forward, backward) = self.needs;
        match self.kind {
            Kind::Output => forward.max(backward),
            Kind::Input => forward.max(backward) - self.unit,
            Kind::Inner if first => (forward - self.boundary).max(backward),
            Kind::Inner => forward.max(backward),
        }
    }

    /// What a layer needs that is run past; `first` as above.
    fn passes(&self, first: bool) -> i64 {
        let forward = self.needs.0;
        match self.kind {
            Kind::Output if first => forward,
            Kind::Output => forward + self.unit,
            Kind::Input if first => forward - self.unit,
            Kind::Input => forward,
            Kind::Inner if first => forward - self.boundary - self.unit,
            Kind::Inner => forward - self.unit,
        }
    }

    fn solve(&self, layers: usize, room: i64, begun: bool) -> Best {
        if layers == 0 {
            return (0, 0);
        }
        // All at once.
        let before = i64::try_from(layers - 1).unwrap_or(i64::MAX / 4).saturating_mul(self.unit);
        let others = if layers > 1 { self.keeps(false) } else { 0 };
        let first = match self.kind {
            // What it reads passes, and is gone before its backward.
            Kind::Output if !begun => self.passes(false).max(self.needs.1),
            _ => self.keeps(begun),
        };
        if room >= first && room.saturating_sub(before) >= others {
            return (layers as u64, 0);
        }
        if room < self.passes(true) {
            return (NEVER, 0);
        }
        let key = (layers, room, begun);
        if let Some(&best) = self.known.borrow().get(&key) {
            return best;
        }
        let mut best = (NEVER, 0);
        if self.kind != Kind::Input && room >= first {
            let (rest, _) = self.solve(layers - 1, room - self.unit, self.kind == Kind::Output);
            best = (1 + rest, 0);
        }
        for part in self.parts_of(layers, room, begun) {
            // Alone, it keeps its bytes.
            if self.kind == Kind::Input && part == 1 && room < first {
                continue;
            }
            let (count, _) = self.drop(layers, room, begun, part);
            best = best.min((count, part));
        }
        let best = (best.0.min(NEVER), best.1);
        self.known.borrow_mut().insert(key, best);
        best
    }

    /// How many of the first layers may be dropped together.
    fn parts_of(&self, layers: usize, room: i64, begun: bool) -> std::ops::RangeInclusive<usize> {
        // A part as long as the run that it is in would not end, and what a part makes is no part's beginning where it is kept for the layer itself.
        let most = match self.kind {
            Kind::Output if !begun => 0,
            Kind::Inner if !begun => layers,
            _ => layers - 1,
        };
        let most = if room >= self.passes(false) { most } else { most.min(1) };
        1..=most
    }

    /// Forwards where the first `part` layers are dropped, and the room that is left for them.
    fn drop(&self, layers: usize, room: i64, begun: bool, part: usize) -> (u64, i64) {
        let (own, rest) = match self.kind {
            Kind::Output => (room, room),
            // What the rest begins with stays.
            Kind::Input => (room, room - self.unit),
            Kind::Inner if begun => (room, room),
            Kind::Inner => (room - self.boundary, room - self.boundary),
        };
        let after = self.solve(layers - part, rest, self.kind == Kind::Input).0;
        if after >= NEVER {
            return (NEVER, own);
        }
        let again =
            if self.kind == Kind::Input && part == 1 { 0 } else { self.solve(part, own, true).0 };
        (part as u64 + after + again, own)
    }

    /// The parts that are dropped again of the layers from `first` on, outer before inner.
    pub fn parts(&self, mut first: usize, mut layers: usize, mut room: i64) -> Vec<Nested> {
        let (mut parts, mut begun) = (Vec::new(), true);
        while layers > 0 {
            let (count, part) = self.solve(layers, room, begun);
            if count >= NEVER || count == layers as u64 {
                break;
            }
            let own = self.drop(layers, room, begun, part).1;
            if part > 1 || part == 1 && self.kind != Kind::Input {
                parts.push(Nested { start: first, end: first + part });
                parts.extend(self.parts(first, part, own));
            }
            (room, begun) = match self.kind {
                Kind::Output => (room - if part == 0 { self.unit } else { 0 }, part == 0),
                Kind::Input => (room - self.unit, true),
                Kind::Inner => (if part == 0 { room - self.unit } else { own }, false),
            };
            (first, layers) = (first + part.max(1), layers - part.max(1));
        }
        parts
    }

    /// The operations that reverse `layers` with `units` at once of the `most` that there is room for, the first one first, kept for the next time; none where that
    /// cannot be done, nor where fewer or more are as good.
    pub fn exactly(&self, layers: usize, units: usize, most: i64) -> Option<Rc<[Operation]>> {
        let room = self.room(units);
        let more = self.room(units + 1) <= most;
        let count = self.least(layers, room).filter(|_| units < layers && room <= most)?;
        if count > OFTEN * layers as u64 && more {
            return None;
        }
        let mut all = self.operations.borrow_mut();
        let one = all.entry((layers, units));
        Some(one.or_insert_with(|| self.operations(layers, room).into()).clone())
    }

    fn operations(&self, layers: usize, room: i64) -> Vec<Operation> {
        let parts = self.parts(0, layers, room);
        let mut all = Vec::new();
        reverse((0, layers), &parts, Held::default(), self.kind, &mut all);
        all
    }
}

/// One operation of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Of which layer.
    pub layer: usize,
    /// It is its backward.
    pub backward: bool,
    /// What is there beside it and what the run begins with.
    pub held: Held,
    /// Its bytes go again when it is over, and it reads what nothing keeps.
    pub passing: (bool, bool),
}

/// What other layers keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Layers' bytes.
    pub units: usize,
    /// What parts begin with, of other bytes.
    pub boundaries: usize,
}

/// Runs the layers `start..end` again, then their backward.
fn reverse(
    (start, end): (usize, usize),
    parts: &[Nested],
    held: Held,
    kind: Kind,
    all: &mut Vec<Operation>,
) {
    // The outermost parts.
    let mut groups: Vec<&[Nested]> = Vec::new();
    let mut rest = parts;
    while let Some(part) = rest.first() {
        let count = rest.partition_point(|inner| inner.start < part.end);
        groups.push(&rest[..count]);
        rest = &rest[count..];
    }
    let in_part =
        |layer: usize| groups.iter().any(|group| (group[0].start..group[0].end).contains(&layer));
    let begins = |layer: usize| groups.iter().any(|group| group[0].start == layer);
    let mut before = vec![held];
    for layer in start..end {
        let mut now = before[layer - start];
        let goes = in_part(layer);
        if kind == Kind::Inner && begins(layer) && layer > start {
            now.boundaries += 1;
            before[layer - start] = now;
        }
        let passing = (goes, kind == Kind::Output && layer > start && in_part(layer - 1));
        all.push(Operation { layer, backward: false, held: now, passing });
        let keeps = !goes || kind == Kind::Input && begins(layer);
        before.push(Held { units: now.units + usize::from(keeps), ..now });
    }
    let mut at = end;
    while at > start {
        match groups.last() {
            Some(group) if group[0].end == at => {
                let part = group[0];
                reverse((part.start, part.end), &group[1..], before[part.start - start], kind, all);
                at = part.start;
                groups.pop();
            }
            _ => {
                at -= 1;
                let held = before[at - start];
                all.push(Operation { layer: at, backward: true, held, passing: (false, false) });
            }
        }
    }
}
