//! Equal layers: which of their bytes stay, and what each operation needs beside.

use super::again::Again;
use super::label::{Label, Step, Unit};
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
    /// The steps that can follow the first `at` layers.
    pub fn steps(self, at: usize, layers: usize) -> Vec<Step> {
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
            plain.iter().map(|&unit| Step { unit, again: 0, nested: false }).collect();
        let mut runs = |unit: Unit, most: usize| {
            for again in 1..=most {
                steps.extend([false, true].map(|nested| Step { unit, again, nested }));
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
    /// How often parts run again.
    pub again: Again,
    room: i64,
    /// What a layer holds, and what a run keeps in its place.
    unit: i64,
    boundary: i64,
    forward: u64,
    backward: u64,
    /// What each forward and backward needs beside what earlier layers hold, the least over all of them too.
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
        let least =
            (needs.iter().map(|need| need.0).min()?, needs.iter().map(|need| need.1).min()?);
        let beyond = hardware.host.0.saturating_add(hardware.ssd.0);
        let time = |bytes| (hardware.copy_out(Bytes(bytes)).0, hardware.copy_back(Bytes(bytes)).0);
        let slots = usize::try_from(room / unit).unwrap_or(usize::MAX);
        let shared = kind != Kind::Inner;
        Some(Self {
            kind,
            layers: rows.len(),
            again: Again::new(
                if shared { rows.len() } else { 0 },
                slots,
                u64::from(kind == Kind::Input),
            ),
            room: signed(room),
            unit: signed(unit),
            boundary: signed(if shared { unit } else { last.boundary }),
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
        if self.kind == Kind::Inner && step.again > 0 { self.boundary } else { self.unit }
    }

    /// What a run's operations have beside `kept` and their own: what it begins with.
    fn base(&self, step: Step, at: usize) -> i64 {
        match (self.kind, step.unit) {
            (_, Unit::Again) => 0,
            (Kind::Inner, _) if at == 0 => 0,
            _ => self.held(step),
        }
    }

    /// How many units a run can have at once, each operation's own among them.
    pub fn units(&self, step: Step, at: usize, kept: i64) -> usize {
        let scratch = (self.least.1 - self.unit).max(0);
        let free = self.room - kept - self.base(step, at) - scratch;
        usize::try_from(free / self.unit).unwrap_or(0)
    }

    /// The time from which at most `spare` bytes of what a link has to move until `end` are left.
    fn when(&self, now: u64, end: u64, spare: i64, out: bool) -> Option<u64> {
        if spare < 0 {
            return None;
        }
        if end <= now {
            return Some(now);
        }
        let copies = self.copies.unwrap_or_default();
        let time = |at: usize| if out { copies[at].0 } else { copies[at].1 };
        let left = if self.kind == Kind::Inner {
            // Of two sizes, so that shares of copies count.
            let share = |time: u64, bytes: i64| {
                if bytes > 0 {
                    i128::from(spare) * i128::from(time) / i128::from(bytes) + 1
                } else {
                    0
                }
            };
            let most = share(time(0), self.unit).max(share(time(1), self.boundary));
            u64::try_from(most).unwrap_or(u64::MAX)
        } else {
            u64::try_from(spare / self.unit).unwrap_or(0).saturating_mul(time(0))
        };
        Some(now.max(end.saturating_sub(left)))
    }

    /// The label after a step; none where an operation lacks the room.
    pub fn after(&self, label: &Label, at: usize, step: Step) -> Option<Label> {
        let mut next = Label { step, ..*label };
        let end = at + step.layers(self.kind);
        let bytes = if step.unit == Unit::Again { 0 } else { self.held(step) };
        let size = usize::from(self.kind == Kind::Inner && step.again > 0);
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
        for i in at..end {
            // What a layer reads is there, whatever becomes of it.
            let reads = if self.kind == Kind::Output && i > 0 && next.before != Unit::Stays {
                self.unit
            } else {
                0
            };
            let spare = self.room - next.kept - self.needs[i].0 - reads;
            next.forward.0 = self.when(next.forward.0, next.forward.1, spare, true)? + self.forward;
            let leaves = match self.kind {
                Kind::Output if next.before == Unit::Leaves => {
                    self.copies.map(|copies| copies[0].0)
                }
                Kind::Input | Kind::Inner if i == at => copy,
                _ => None,
            };
            if let Some(time) = leaves {
                next.forward.1 = next.forward.1.max(next.forward.0) + time;
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
        let busy = next.backward.1;
        let mut op = |held: i64, takes: u64| {
            let spare = self.room - kept - held;
            time = self.when(time, busy, spare, false)? + takes;
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
            if step.nested {
                let count = self.forwards_again(step, at, kept)?;
                op(before(first) + self.least.1, count * self.forward)?;
                for i in first..end {
                    op(before(first) + self.needs[i].1, self.backward)?;
                }
                let input = if self.kind == Kind::Inner { self.boundary } else { 0 };
                spare = self.room
                    - kept
                    - before(first)
                    - self.least.1.min(self.least.0 - input).max(0);
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
        }
        Some(())
    }

    /// Forwards of a run some of whose layers run more often.
    fn forwards_again(&self, step: Step, at: usize, kept: i64) -> Option<u64> {
        if self.kind == Kind::Inner {
            return Some(step.again as u64 + 1);
        }
        let slots = self.units(step, at, kept).min(step.again - 1);
        self.again.least(slots, step.again)
    }

    /// No plan that goes on from here is shorter.
    pub fn least(&self, label: &Label, at: usize) -> u64 {
        label.sum() + (self.layers - at) as u64 * (self.forward + self.backward)
    }

    /// A micro-batch that ends here.
    pub fn whole(&self, label: &Label) -> Option<u64> {
        let (forward, out) = label.forward;
        let (backward, back) = label.backward;
        let turn = self.when(forward, out, label.spare, true)?;
        // Copies come back once forward is over, the last to leave first.
        let both = if back > backward && out > forward { out + back } else { 0 };
        Some((turn + backward).max(forward + back).max(both))
    }
}
