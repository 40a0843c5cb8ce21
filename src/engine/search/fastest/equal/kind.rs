//! Equal layers: which of their bytes stay, and what each operation needs beside.

use super::again::Again;
use super::label::{Label, Often, Step, Unit};
use crate::engine::hardware::Hardware;
use crate::engine::search::fastest::table::Row;
use crate::engine::units::Bytes;

/// Which bytes a layer keeps for its backward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What it makes for the next layer: a run that is made again begins with what the layer before it keeps.
    Output,
    /// What the layer before made: a run begins with what its first layer keeps.
    Input,
    /// Its own: a run keeps its first layer's input instead.
    Inner,
}

impl Kind {
    /// The steps that can follow the first `at` layers, runs of layers in these ways.
    pub fn steps(self, at: usize, layers: usize, ways: &[Often]) -> Vec<Step> {
        let rest = layers - at;
        let plain: &[Unit] = if self == Self::Input && at == 0 {
            &[Unit::Again]
        } else {
            &[Unit::Stays, Unit::Leaves]
        };
        let (from, most): (&[Unit], usize) = match (self, at) {
            (Self::Inner, 0) => (&[Unit::Again], rest),
            (Self::Inner, _) => (plain, rest),
            _ => (plain, rest - 1),
        };
        let mut steps: Vec<Step> =
            plain.iter().map(|&unit| Step { unit, again: 0, often: Often::Once }).collect();
        let mut runs = |unit: Unit, most: usize| {
            for again in 1..=most {
                steps.extend(ways.iter().map(|&often| Step { unit, again, often }));
            }
        };
        from.iter().for_each(|&unit| runs(unit, most));
        if self == Self::Output && at == 0 {
            runs(Unit::Again, rest);
        }
        steps
    }
}

/// The chain: sizes in bytes, times in ns.
pub struct Uniform {
    pub kind: Kind,
    pub layers: usize,
    /// How often layers of a run run again: at least, and where every one needs what the largest does.
    pub again: [Again; 2],
    pub room: i64,
    /// What a layer holds, and what a run keeps in its place.
    unit: i64,
    boundary: i64,
    forward: u64,
    backward: u64,
    /// What each forward and backward needs beside what earlier layers hold, the least over all that hold something too.
    needs: Vec<(i64, i64)>,
    least: (i64, i64),
    /// Time of a unit's copy out and back, and of a boundary's; none where nothing can leave.
    copies: Option<[(u64, u64); 2]>,
    /// Bytes that host and drive have room for.
    beyond: i64,
}

impl Uniform {
    /// None where layers are not alike.
    pub fn of(rows: &[Row], hardware: &Hardware, room: u64) -> Option<Self> {
        let last = rows.last()?;
        let inner = |row: &Row| row.input == 0 && row.late == 0;
        let kind = match rows {
            [first, .., _] if first.held == 0 => Kind::Input,
            [first, ..] if first.late > 0 => Kind::Output,
            _ => Kind::Inner,
        };
        let unit = last.held;
        let same = |(i, row): (usize, &Row)| {
            let shape = match kind {
                Kind::Output => row.input == 0 && (row.late == unit || i + 1 == rows.len()),
                Kind::Input => row.late == 0 && (i == 0 || row.input == unit),
                Kind::Inner => inner(row),
            };
            let holds = row.held == unit && row.storages == 1 || kind == Kind::Input && i == 0;
            let times = (row.forward, row.backward) == (last.forward, last.backward);
            let boundary = i == 0 || row.boundary == last.boundary;
            shape && holds && times && boundary && row.partials.is_empty()
        };
        if unit == 0 || !rows.iter().enumerate().all(same) {
            return None;
        }
        let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        let needs: Vec<(i64, i64)> =
            rows.iter().map(|row| (signed(row.forward_need), signed(row.backward_need))).collect();
        // The first layer has no input.
        let own = &needs[usize::from(kind != Kind::Output && needs.len() > 1)..];
        let least = (own.iter().map(|need| need.0).min()?, own.iter().map(|need| need.1).min()?);
        let beyond = hardware.host.0.saturating_add(hardware.ssd.0);
        let time = |bytes| (hardware.copy_out(Bytes(bytes)).0, hardware.copy_back(Bytes(bytes)).0);
        let shared = kind != Kind::Inner;
        let boundary = signed(if shared { unit } else { last.boundary });
        let most = (own.iter().map(|need| need.0).max()?, own.iter().map(|need| need.1).max()?);
        Some(Self {
            kind,
            layers: rows.len(),
            again: [least, most].map(|needs| Again::new(kind, (signed(unit), boundary), needs)),
            room: signed(room),
            unit: signed(unit),
            boundary,
            forward: last.forward,
            backward: last.backward,
            needs,
            least,
            copies: (beyond > 0)
                .then(|| [time(unit), time(if shared { unit } else { last.boundary })]),
            beyond: signed(beyond),
        })
    }

    /// What a step holds from forward to backward.
    pub fn held(&self, step: Step) -> i64 {
        if self.is_input(step) { self.boundary } else { self.unit }
    }

    /// Whether that is a run's input of another size.
    fn is_input(&self, step: Step) -> bool {
        self.kind == Kind::Inner && step.again > 0 && self.boundary != self.unit
    }

    /// What a run's operations have beside `kept` and their own: what it begins with.
    fn base(&self, step: Step, at: usize) -> i64 {
        match (self.kind, step.unit) {
            (_, Unit::Again) => 0,
            (Kind::Inner, _) if at == 0 => 0,
            _ => self.held(step),
        }
    }

    /// The bytes that a run has for its operations.
    pub fn free(&self, step: Step, at: usize, kept: i64) -> i64 {
        self.room - kept - self.base(step, at)
    }

    /// The time from which at most `spare` bytes of what a link has to move until `end` are left; its last copies are of these `sizes`.
    fn when(&self, now: u64, end: u64, sizes: u64, spare: i64, out: bool) -> Option<u64> {
        if spare < 0 {
            return None;
        }
        if end <= now {
            return Some(now);
        }
        let copies = self.copies.unwrap_or_default();
        let time = |at: usize| if out { copies[at].0 } else { copies[at].1 };
        let mut left = 0_u64;
        if self.kind == Kind::Inner {
            let (mut spare, mut sizes, mut known) = (spare, sizes, u64::BITS);
            while end.saturating_sub(left) > now {
                if known == 0 {
                    // Of those before, only how much one moves in a time at most.
                    left += Self::share(time(0), self.unit, spare).max(Self::share(
                        time(1),
                        self.boundary,
                        spare,
                    ));
                    break;
                }
                known -= 1;
                let at = usize::from(sizes & 1 == 1);
                spare -= if at == 0 { self.unit } else { self.boundary };
                if spare < 0 {
                    break;
                }
                left += time(at).max(1);
                sizes >>= 1;
            }
        } else {
            left = u64::try_from(spare / self.unit).unwrap_or(0).saturating_mul(time(0));
        }
        Some(now.max(end.saturating_sub(left)))
    }

    /// The time that `spare` bytes take in copies of `bytes` each that take `time`.
    fn share(time: u64, bytes: i64, spare: i64) -> u64 {
        if bytes <= 0 {
            return 0;
        }
        let share = i128::from(spare) * i128::from(time) / i128::from(bytes) + 1;
        u64::try_from(share).unwrap_or(u64::MAX >> 1)
    }

    /// The label after a step; none where an operation lacks the room.
    pub fn after(&self, label: &Label, at: usize, step: Step) -> Option<Label> {
        let mut next = Label { step, ..*label };
        let end = at + step.layers(self.kind);
        let bytes = if step.unit == Unit::Again { 0 } else { self.held(step) };
        let size = usize::from(self.is_input(step));
        if step.unit == Unit::Leaves {
            // What the last layer makes is needed at once.
            if end == self.layers && step.again == 0 {
                return None;
            }
            next.away += bytes;
            if next.away > self.beyond {
                return None;
            }
        }
        let copy = self.copies.map(|copies| copies[size]).filter(|_| step.unit == Unit::Leaves);
        if step.unit == Unit::Leaves && copy.is_none() {
            return None;
        }
        self.forwards(&mut next, (at, end), bytes, copy.map(|copy| copy.0))?;
        self.backwards(&mut next, (at, end), label.kept, copy.map(|copy| copy.1))?;
        Some(next)
    }

    /// The step's forwards: what it keeps stays from its first on.
    fn forwards(
        &self,
        next: &mut Label,
        (at, end): (usize, usize),
        bytes: i64,
        copy: Option<u64>,
    ) -> Option<()> {
        let step = next.step;
        let size = u64::from(self.is_input(step));
        for i in at..end {
            // What a layer reads is there, whatever becomes of it.
            let reads = if self.kind == Kind::Output && i > 0 && next.before != Unit::Stays {
                self.unit
            } else {
                0
            };
            // Nor does a layer of a run hold bytes of its own yet.
            let later = if self.kind == Kind::Inner && step.again > 0 { self.unit } else { 0 };
            let spare = self.room - next.kept - (self.needs[i].0 - later).max(0) - reads;
            next.forward.0 =
                self.when(next.forward.0, next.forward.1, next.sizes.0, spare, true)?
                    + self.forward;
            let leaves = match self.kind {
                Kind::Output if next.before == Unit::Leaves => {
                    self.copies.map(|copies| copies[0].0)
                }
                Kind::Input | Kind::Inner if i == at => copy,
                _ => None,
            };
            if let Some(time) = leaves {
                next.forward.1 = next.forward.1.max(next.forward.0) + time;
                next.sizes.0 = next.sizes.0 << 1 | size;
            }
            next.before = Unit::Again;
            if i == at {
                if self.kind == Kind::Output {
                    next.before = step.unit;
                }
                if step.unit == Unit::Stays {
                    next.kept += bytes;
                }
            }
        }
        next.forward.1 = next.forward.1.max(next.forward.0);
        next.sizes.0 = self.under_way(next.forward.0, next.forward.1, next.sizes.0, true);
        if self.kind != Kind::Output {
            next.before = Unit::Stays;
        }
        Some(())
    }

    /// The step's part of backward, from its end.
    fn backwards(
        &self,
        next: &mut Label,
        (at, end): (usize, usize),
        kept: i64,
        copy: Option<u64>,
    ) -> Option<()> {
        let step = next.step;
        let mut time = next.backward.0;
        let (busy, sizes) = (next.backward.1, next.sizes.1);
        let mut op = |held: i64, takes: u64| {
            let spare = self.room - kept - held;
            time = self.when(time, busy, sizes, spare, false)? + takes;
            Some(spare)
        };
        let base = self.base(step, at);
        let plain = self.kind == Kind::Output && step.unit != Unit::Again || step.again == 0;
        let first = at + usize::from(plain);
        let mut spare = 0;
        if plain {
            spare = op(self.needs[at].1, self.backward)?;
        }
        if first < end {
            // Bytes of the run before a layer, its own aside.
            let before = |i: usize| {
                let units = match self.kind {
                    Kind::Input if at == 0 => (i - first).saturating_sub(1),
                    _ => i - first,
                };
                let base = if self.kind == Kind::Input { 0 } else { base };
                base + self.unit * i64::try_from(units).unwrap_or(0)
            };
            if let Often::Slots(slots) = step.often {
                let most = self.free(step, at, kept);
                let operations = self.again[1].exactly(end - first, slots, most)?;
                for one in operations.iter().rev() {
                    let (forward, backward) = self.needs[first + one.layer];
                    let units = one.held.units + usize::from(one.passing.1);
                    let (base, units) = match self.kind {
                        Kind::Input if at == 0 => (0, units.saturating_sub(1)),
                        Kind::Input => (0, units),
                        _ => (base, units),
                    };
                    let size = |bytes: i64, count: usize| bytes * i64::try_from(count).unwrap_or(0);
                    let mut held =
                        base + size(self.unit, units) + size(self.boundary, one.held.boundaries);
                    if self.kind == Kind::Inner && !one.backward {
                        held -= if one.passing.0 { self.unit } else { 0 };
                        held -= if one.layer == 0 && at > 0 { self.boundary } else { 0 };
                    }
                    let (need, takes) = if one.backward {
                        (backward, self.backward)
                    } else {
                        (forward, self.forward)
                    };
                    spare = op(held + need, takes)?;
                }
            } else if step.often == Often::Any {
                // Where inner forwards lie is open: here they come last, so that no wait is longer. The first pass over the run is where it is.
                let inner = self.forwards_again(step, at, kept)? - (end - first) as u64;
                op(before(first) + self.needs[first].1.min(self.least.1), inner * self.forward)?;
                for i in first..end {
                    op(before(first) + self.needs[i].1, self.backward)?;
                }
                let need = |i: usize| {
                    let input = match self.kind {
                        // What it reads, or what the run begins with, beside its own.
                        Kind::Output if i > first => self.unit,
                        Kind::Input if i > first && at > 0 => self.unit,
                        Kind::Inner if i == first && at > 0 => -self.unit - self.boundary,
                        Kind::Inner => -self.unit,
                        _ => 0,
                    };
                    before(first) + (self.needs[i].0 + input).max(0)
                };
                for i in (first..end).rev() {
                    spare = op(need(i), self.forward)?;
                }
                // All forwards but the run's first layer's wait for the copies that they have no room beside, wherever they lie.
                if let Some(least) = (first + 1..end).map(need).min() {
                    let shortest = 1 + u64::from(self.kind == Kind::Input);
                    let of_first = (1..)
                        .take_while(|n| n * (2 * shortest + n - 1) / 2 <= inner)
                        .count() as u64;
                    let others = inner - of_first + (end - first) as u64;
                    let from = self.when(0, busy, sizes, self.room - kept - least, false)?;
                    time = time.max(from + others * self.forward);
                }
            } else {
                for i in first..end {
                    op(before(i) + self.needs[i].1, self.backward)?;
                }
                for i in (first..end).rev() {
                    let input = if self.kind == Kind::Inner && i == first && at > 0 {
                        self.boundary
                    } else {
                        0
                    };
                    spare = op(before(i) + (self.needs[i].0 - input).max(0), self.forward)?;
                }
            }
            // What it begins with may still be leaving itself.
            if step.unit == Unit::Leaves {
                spare += base;
            }
        }
        next.spare = spare;
        next.backward.0 = time;
        next.backward.1 = busy.max(time);
        if let Some(copy) = copy {
            next.backward.1 += copy;
            next.sizes.1 = next.sizes.1 << 1 | u64::from(self.is_input(step));
        }
        next.sizes.1 = self.under_way(time, next.backward.1, next.sizes.1, false);
        Some(())
    }

    /// Forwards of a run some of whose layers run more often.
    fn forwards_again(&self, step: Step, at: usize, kept: i64) -> Option<u64> {
        let layers = step.layers(self.kind)
            - usize::from(self.kind == Kind::Output && step.unit != Unit::Again);
        if layers == 1 {
            return None;
        }
        let count = self.again[0].least(layers, self.free(step, at, kept))?;
        Some(count.max(layers as u64 + 1))
    }

    /// No plan that goes on from here is shorter.
    pub fn least(&self, label: &Label, at: usize) -> u64 {
        label.sum() + (self.layers - at) as u64 * (self.forward + self.backward)
    }

    /// Of the copies that are under way at `now`, which are of another size.
    fn under_way(&self, now: u64, end: u64, sizes: u64, out: bool) -> u64 {
        let copies = self.copies.unwrap_or_default();
        let (mut left, mut count) = (end, 0);
        while left > now && count < u64::BITS {
            let copy = copies[usize::from(sizes >> count & 1 == 1)];
            left = left.saturating_sub(if out { copy.0 } else { copy.1 }.max(1));
            count += 1;
        }
        if count < u64::BITS { sizes & ((1 << count) - 1) } else { sizes }
    }

    /// A micro-batch that ends here.
    pub fn whole(&self, label: &Label) -> Option<u64> {
        let (forward, out) = label.forward;
        let (backward, back) = label.backward;
        let turn = self.when(forward, out, label.sizes.0, label.spare, true)?;
        // Copies come back once forward is over, the last to leave first.
        let both = if back > backward && out > forward { out + back } else { 0 };
        Some((turn + backward).max(forward + back).max(both))
    }
}
