//! How a label goes on: forward and backward of a step, and what it comes to in the end.

use super::kind::{Kind, Uniform};
use super::label::{Label, Step, Unit};

impl Uniform {
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
            for (i, way) in ways.iter().enumerate() {
                let unlike = self.is_input(step) || self.drives();
                let ends = if way.once && unlike {
                    self.once(next, now, layers, free)
                } else {
                    Some((way.end(now, busy), way.spare))
                };
                let Some((time, spare)) = ends else { continue };
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
