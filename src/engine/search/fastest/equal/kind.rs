//! Equal layers: which of their bytes stay, and what each operation needs beside.

use super::again::Again;
use super::label::{Step, Unit};
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
    pub unit: i64,
    pub boundary: i64,
    pub forward: u64,
    pub backward: u64,
    /// What each forward and backward needs beside what earlier layers hold.
    pub needs: Vec<(i64, i64)>,
    /// Time of a unit's copy out and back, and of a boundary's; none where nothing can leave.
    pub copies: Option<[(u64, u64); 2]>,
    /// Bytes that the host has room for.
    pub host: i64,
    /// The drive behind it, where the host may be too small for all.
    pub drive: Option<Speeds>,
}

/// Of a drive: its bytes, and the time of a unit's write and read.
pub struct Speeds {
    pub bytes: i64,
    pub write: u64,
    pub read: u64,
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
    pub fn is_input(&self, step: Step) -> bool {
        self.kind == Kind::Inner && step.again > 0 && self.boundary != self.unit
    }

    /// What a run's operations have beside `kept` and their own: what it begins with.
    pub fn base(&self, step: Step, at: usize) -> i64 {
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

    /// Whether there is a drive to be reckoned with.
    pub const fn drives(&self) -> bool {
        self.drive.is_some()
    }
}
