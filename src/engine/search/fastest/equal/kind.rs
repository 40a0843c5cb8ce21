//! Equal layers: which of their bytes stay, and what each operation needs beside.

use super::again::{Again, share};
use super::label::{Label, Step, Unit, push};
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
    /// The steps that can follow the first `at` layers, runs in whichever way.
    pub fn steps(self, at: usize, layers: usize, drives: bool) -> Vec<Step> {
        let rest = layers - at;
        let plain: &[Unit] = if self == Self::Input && at == 0 {
            &[Unit::Again]
        } else if drives {
            &[Unit::Stays, Unit::Leaves, Unit::Drives]
        } else {
            &[Unit::Stays, Unit::Leaves]
        };
        let (from, most): (&[Unit], usize) = match (self, at) {
            (Self::Inner, 0) => (&[Unit::Again], rest),
            (Self::Inner, _) => (plain, rest),
            _ => (plain, rest - 1),
        };
        let mut steps: Vec<Step> =
            plain.iter().map(|&unit| Step { unit, again: 0, way: 0 }).collect();
        let mut runs = |unit: Unit, most: usize| {
            for again in 1..=most {
                steps.push(Step { unit, again, way: 0 });
            }
        };
        for &unit in from {
            runs(unit, most);
        }
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
    /// The ways to make runs again.
    pub again: Again,
    pub room: i64,
    /// What a layer holds, and what a run keeps in its place.
    unit: i64,
    boundary: i64,
    forward: u64,
    backward: u64,
    /// What each forward and backward needs beside what earlier layers hold.
    needs: Vec<(i64, i64)>,
    /// Time of a unit's copy out and back, and of a boundary's; none where nothing can leave.
    copies: Option<[(u64, u64); 2]>,
    /// Bytes that the host has room for.
    host: i64,
    /// The drive behind it, where the host may be too small for all.
    drive: Option<Speeds>,
}

/// Of a drive: its bytes, and the time of a unit's write and read.
struct Speeds {
    bytes: i64,
    write: u64,
    read: u64,
}

impl Uniform {
    /// None where layers are not alike. Micro-batches of `limit` ns or more are of no use. Runs that are made again need at each layer what the least of all layers
    /// does, or `surely` what any does.
    pub fn of(
        rows: &[Row],
        hardware: &Hardware,
        room: u64,
        limit: u64,
        surely: bool,
    ) -> Option<Self> {
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
        let range = |of: fn(&(i64, i64)) -> i64| {
            let all = own.iter().map(of);
            if surely { all.max() } else { all.min() }
        };
        let typical = (range(|need| need.0)?, range(|need| need.1)?);
        let all = signed(unit).saturating_mul(i64::try_from(rows.len()).unwrap_or(i64::MAX));
        let host = signed(hardware.host.0);
        // A copy to the drive passes through the host.
        let drives =
            kind != Kind::Inner && hardware.ssd.0 > 0 && (signed(unit)..all).contains(&host);
        let drive = drives.then(|| Speeds {
            bytes: signed(hardware.ssd.0),
            write: hardware.ssd_write.time(Bytes(unit)).0,
            read: hardware.ssd_read.time(Bytes(unit)).0,
        });
        let time = |bytes| (hardware.copy_out(Bytes(bytes)).0, hardware.copy_back(Bytes(bytes)).0);
        let shared = kind != Kind::Inner;
        let boundary = signed(if shared { unit } else { last.boundary });
        let copies = [time(unit), time(if shared { unit } else { last.boundary })];
        let again = Again::new(
            kind,
            (signed(unit), boundary),
            typical,
            (last.forward, last.backward),
            [(signed(unit), copies[0].1), (boundary, copies[1].1)],
            limit.saturating_sub(rows.len() as u64 * last.forward),
            drive.is_none(),
        );
        Some(Self {
            kind,
            layers: rows.len(),
            again,
            room: signed(room),
            unit: signed(unit),
            boundary,
            forward: last.forward,
            backward: last.backward,
            needs,
            copies: (host > 0).then_some(copies),
            host: if kind == Kind::Inner && host > 0 {
                // Drives are left out there: what they hold counts as the host's.
                host.saturating_add(signed(hardware.ssd.0))
            } else {
                host
            },
            drive,
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
                    let [one, other] = [(self.unit, 0), (self.boundary, 1)]
                        .map(|(bytes, at)| share(spare, bytes, time(at)));
                    left += one.max(other);
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

    /// Whether there is a drive to be reckoned with.
    pub const fn drives(&self) -> bool {
        self.drive.is_some()
    }

    /// The time from which so few copies out or back (`ends`) are left that they fit into `spare` bytes.
    fn fewer(&self, now: u64, ends: &[u64], spare: i64) -> Option<u64> {
        let fit = usize::try_from(spare / self.unit).ok().filter(|_| spare >= 0)?;
        Some(now.max(ends.get(fit).copied().unwrap_or(0)))
    }

    /// When forward goes on with `spare` bytes beside its next operation.
    fn forward_from(&self, label: &Label, spare: i64) -> Option<u64> {
        if self.drives() {
            return self.fewer(label.forward.0, &label.drive.out, spare);
        }
        self.when(label.forward.0, label.forward.1, label.sizes.0, spare, true)
    }

    /// The same of backward at `now`.
    fn backward_from(&self, label: &Label, now: u64, spare: i64) -> Option<u64> {
        if self.drives() {
            return self.fewer(now, &label.drive.back, spare);
        }
        self.when(now, label.backward.1, label.sizes.1, spare, false)
    }

    /// A unit leaves once forward is where it is.
    fn leave(&self, label: &mut Label, unit: Unit, time: u64, size: u64) {
        let mut ready = label.forward.0.max(label.forward.1);
        if let (Some(drive), Unit::Drives) = (&self.drive, unit) {
            // It waits until the host has room for it beside what stays there and what is not written yet.
            let staging = usize::try_from((self.host - label.away) / self.unit).unwrap_or(0).max(1);
            ready = ready.max(label.drive.writes.get(staging - 1).copied().unwrap_or(0));
            let end = (ready + time).max(label.drive.writes[0]) + drive.write;
            push(&mut label.drive.writes, end);
        }
        label.forward.1 = ready + time;
        label.sizes.0 = label.sizes.0 << 1 | size;
        if self.drives() {
            push(&mut label.drive.out, label.forward.1);
        }
    }

    /// A unit comes back before what has been reckoned of backward so far.
    fn come_back(&self, label: &mut Label, unit: Unit, time: u64, size: u64) {
        label.backward.1 += time;
        label.sizes.1 = label.sizes.1 << 1 | size;
        if let Some(drive) = &self.drive {
            let mut end = label.backward.1;
            if unit == Unit::Drives {
                label.drive.read = label.drive.read.max(end) + drive.read;
                end = label.drive.read;
            }
            // It is asked for after those that are needed sooner.
            let end = end.max(label.drive.back[0]);
            push(&mut label.drive.back, end);
        }
    }

    /// The label after a step; none where an operation lacks the room.
    pub fn after(&self, label: &Label, at: usize, step: Step) -> Option<Label> {
        let mut next = Label { step, ..*label };
        let end = at + step.layers(self.kind);
        let bytes = if step.unit == Unit::Again { 0 } else { self.held(step) };
        let size = usize::from(self.is_input(step));
        if step.unit.is_away() {
            // What the last layer makes is needed at once.
            if end == self.layers && step.again == 0 {
                return None;
            }
            if step.unit == Unit::Leaves {
                next.away += bytes;
            } else {
                next.drive.bytes += bytes;
            }
            let staging = if next.drive.bytes > 0 { self.unit } else { 0 };
            let drive = self.drive.as_ref().map_or(0, |drive| drive.bytes);
            if next.away + staging > self.host || next.drive.bytes > drive {
                return None;
            }
        }
        let copy = self.copies.map(|copies| copies[size]).filter(|_| step.unit.is_away());
        if step.unit.is_away() && copy.is_none() {
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
            next.forward.0 = self.forward_from(next, spare)? + self.forward;
            let (unit, leaves) = match self.kind {
                Kind::Output if next.before.is_away() => {
                    (next.before, self.copies.map(|copies| copies[0].0))
                }
                Kind::Input | Kind::Inner if i == at => (step.unit, copy),
                _ => (step.unit, None),
            };
            if let Some(time) = leaves {
                self.leave(next, unit, time, size);
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

    /// The step's part of backward, from its end, a run in the way that is the best after the label.
    fn backwards(
        &self,
        next: &mut Label,
        (at, end): (usize, usize),
        kept: i64,
        copy: Option<u64>,
    ) -> Option<()> {
        let step = next.step;
        // Where a drive is behind the host, the last copy back begins with its read.
        let busy = if self.drives() { next.drive.back[0] } else { next.backward.1 };
        let mut now = next.backward.0;
        let plain = self.kind == Kind::Output && step.unit != Unit::Again || step.again == 0;
        let mut spare = 0;
        if plain {
            spare = self.room - kept - self.needs[at].1;
            now = self.backward_from(next, now, spare)? + self.backward;
        }
        let layers = end - at - usize::from(plain);
        let mut best: Option<(u64, Label)> = None;
        let mut offer = |way: usize, time: u64, spare: i64| {
            let mut label = Label { spare, ..*next };
            label.step.way = way;
            label.backward = (time, next.backward.1.max(time));
            if let Some(copy) = copy {
                self.come_back(&mut label, step.unit, copy, u64::from(self.is_input(step)));
            }
            label.sizes.1 = self.under_way(time, label.backward.1, label.sizes.1, false);
            let key = if end == self.layers { self.whole(&label) } else { Some(time) };
            if let Some(key) = key.filter(|&key| best.is_none_or(|best| key < best.0)) {
                best = Some((key, label));
            }
        };
        if layers == 0 {
            offer(0, now, spare);
        } else {
            let free = self.free(step, at, kept);
            let base = self.base(step, at);
            // What a run begins with may still be leaving itself.
            let leaving = if step.unit.is_away() { base } else { 0 };
            let ways = self.again.ways(layers, free);
            let once = layers as u64 * (self.forward + self.backward);
            for (i, way) in ways.iter().enumerate() {
                let (time, spare) = if (self.is_input(step) || self.drives()) && way.time == once {
                    self.once(next, now, layers, free)?
                } else {
                    (way.end(now, busy), way.spare)
                };
                offer(i, time, spare + leaving);
            }
        }
        *next = best?.1;
        Some(())
    }

    /// The end of layers that each run again once in the room `free`, beside copies that are not all alike, and what is free at the first.
    fn once(&self, label: &Label, now: u64, layers: usize, free: i64) -> Option<(u64, i64)> {
        let input = if self.kind == Kind::Input { self.unit } else { 0 };
        let (forward, backward) = (self.again.needs.0 - input, self.again.needs.1 - input);
        let (mut time, mut spare) = (now, 0);
        let held = |i: usize| self.unit * i64::try_from(i).unwrap_or(0);
        for i in 0..layers {
            time = self.backward_from(label, time, free - held(i) - backward)? + self.backward;
        }
        for i in (0..layers).rev() {
            let reads = if i == 0 && self.kind == Kind::Inner { self.boundary } else { 0 };
            spare = free - held(i) - (forward - reads).max(0);
            time = self.backward_from(label, time, spare)? + self.forward;
        }
        Some((time, spare))
    }

    /// What a label has cost so far: its time, and what it leaves less of to others, at five eighths of what making a layer again takes (tried: from none to all of it). Links and drives that are behind
    /// count too.
    pub fn cost(&self, label: &Label) -> u64 {
        let units = |bytes: i64| u64::try_from(bytes / self.unit).unwrap_or(0);
        let scarce = units(label.kept) + if self.drives() { units(label.away) } else { 0 };
        let behind =
            label.drive.writes[0].saturating_sub(label.forward.1).saturating_sub(self.forward);
        label.sum() + scarce * self.forward * 5 / 8 + behind
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
        let turn = self.forward_from(label, label.spare)?;
        // Copies come back once forward is over, the last to leave first.
        let both = if back > backward && out > forward { out + back } else { 0 };
        // The drive reads once it has written.
        let drive = &label.drive;
        let read = if drive.bytes > 0 { forward.max(drive.writes[0]) + drive.read } else { 0 };
        Some((turn + backward).max(forward + back).max(both).max(read))
    }
}
