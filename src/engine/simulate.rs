//! One training step in time. Principal type [`Run`].
//!
//! Streams are in order; so is memory: room is given in the order of the program (each operation, then the prefetches it
//! issues), and an allocation waits until enough has been freed. Where a prefetch is issued depends on
//! program order and sizes alone. So every event's time is a maximum and sum of earlier ones, which gives the law that
//! more bandwidth never slows a fixed plan; and a step runs out of memory exactly when an operation does not fit
//! with every copy before it finished.

use super::chain::Chain;
use super::hardware::Hardware;
use super::plan::Plan;
use super::policy::Action;
use super::program::{Offload, OpKind, Program};
use super::sort;
use super::stream::{Frees, Stream};
use super::units::{Bytes, Nanos};

/// When an operation ran and what it waited for before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpTime {
    /// Start.
    pub start: Nanos,
    /// End.
    pub end: Nanos,
    /// Waited for room, just before the start of waiting for copies.
    pub room: Nanos,
    /// Waited for its own bytes to come back.
    pub copy: Nanos,
    /// The offload it last waited for.
    pub waited_for: Option<usize>,
}

/// From when to when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Start.
    pub start: Nanos,
    /// End.
    pub end: Nanos,
}

/// When one offload's copies ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyTime {
    /// Device to host.
    pub out: Interval,
    /// Host to SSD, if any.
    pub write: Option<Interval>,
    /// SSD to host, if any.
    pub read: Option<Interval>,
    /// Host to device.
    pub back: Interval,
    /// The operation whose start issues the copy back.
    pub issued: usize,
    /// Where it went in the end (host memory may have overflowed to SSD).
    pub medium: Option<Action>,
}

/// Why a step cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The device: operation `op` lacks `missing` bytes with every copy finished.
    Device {
        /// Index into the program.
        op: usize,
        /// How much is missing.
        missing: Bytes,
    },
    /// Host memory and SSD are full.
    Host {
        /// How much more host memory would do; where what the plan sends to the SSD is too much for it, how much more of that.
        missing: Bytes,
    },
}

/// A program, run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What ran.
    pub program: Program,
    /// When each operation ran.
    pub ops: Vec<OpTime>,
    /// When each offload's copies ran.
    pub copies: Vec<CopyTime>,
    /// The offloads in the order of coming back.
    pub returns: Vec<usize>,
    /// End of the micro-batch's backward.
    pub micro_end: Nanos,
    /// Host bytes that hold tensors, SSD staging aside.
    pub host_peak: Bytes,
    /// SSD bytes.
    pub ssd_peak: Bytes,
}

impl Run {
    /// Compute time that keeping everything would not need: forwards run again, and waiting.
    #[must_use]
    pub fn added(&self) -> (Nanos, Nanos) {
        let again = self
            .program
            .ops
            .iter()
            .filter(|op| op.kind == OpKind::Recompute)
            .map(|op| op.duration)
            .sum();
        let waited = self.ops.iter().map(|time| time.room + time.copy).sum();
        (again, waited)
    }
}

/// Runs `plan` with `room` bytes for activations and transients.
///
/// # Errors
/// [`Refusal`] when no order of waiting makes it fit.
pub fn simulate(
    chain: &Chain,
    plan: &Plan,
    hardware: &Hardware,
    room: Bytes,
) -> Result<Run, Refusal> {
    run(Program::of(chain, plan), plan.prefetch, hardware, room).map_err(|(refusal, _)| refusal)
}

/// Runs a compiled program.
///
/// # Errors
/// As [`simulate`]; the program is given back.
pub fn run(
    program: Program,
    prefetch: usize,
    hardware: &Hardware,
    room: Bytes,
) -> Result<Run, (Refusal, Program)> {
    let (places, issue) = match admit(&program, prefetch, hardware, room) {
        Ok(admitted) => admitted,
        Err(refusal) => return Err((refusal, program)),
    };
    let program = if hardware.copies_use_hbm { charged(program, hardware) } else { program };
    let (ops, copies) =
        Clockwork::new(&program, hardware, room, &places, &issue).run(&program, &places);
    let micro_end = ops.len().checked_sub(2).map_or(Nanos::ZERO, |last| ops[last].end);
    let returns = issue.into_iter().map(|(_, i)| i).collect();
    let (host_peak, ssd_peak) = (places.host, places.ssd);
    Ok(Run { program, ops, copies, returns, micro_end, host_peak, ssd_peak })
}

/// Copies take their bytes of memory bandwidth from the operation that they run beside at the earliest (out) or at the
/// latest (back): which one is a matter of the program, not of times, so that a faster part never slows a fixed plan. It
/// bounds the cost from above, for an operation that computes more than it reads does not feel them.
fn charged(mut program: Program, hardware: &Hardware) -> Program {
    for copy in &program.offloads {
        let time = hardware.hbm.time(copy.bytes);
        for op in [copy.after + 1, copy.before.saturating_sub(1)] {
            if let Some(op) = program.ops.get_mut(op) {
                op.duration += time;
            }
        }
    }
    program
}

/// Where every offload goes, and where its copy back is issued.
fn admit(
    program: &Program,
    prefetch: usize,
    hardware: &Hardware,
    room: Bytes,
) -> Result<(Places, Vec<(usize, usize)>), Refusal> {
    let demand = demand(program);
    if let Some((op, need)) = demand.iter().enumerate().find(|(_, need)| **need > room.0) {
        return Err(Refusal::Device { op, missing: Bytes(need - room.0) });
    }
    let places = place(&program.offloads, hardware)?;
    Ok((places, issue(program, prefetch, demand, room)))
}

/// The least room that a program runs in.
#[must_use]
pub fn need(program: &Program) -> Bytes {
    Bytes(demand(program).into_iter().max().unwrap_or(0))
}

/// The bytes of a program that are on the device while operation `op` runs, every copy out before it finished.
#[must_use]
pub fn needed_at(program: &Program, op: usize) -> Bytes {
    Bytes(demand(program)[op])
}

/// Bytes that must be on the device while each operation runs, every copy out before it finished.
pub(crate) fn demand(program: &Program) -> Vec<u64> {
    let n = program.ops.len();
    let mut change = vec![0_i128; n + 1];
    for copy in &program.offloads {
        change[copy.after + 1] -= i128::from(copy.bytes.0);
        change[copy.before] += i128::from(copy.bytes.0);
    }
    let mut live = 0_i128;
    let mut demand = Vec::with_capacity(n);
    for (op, change) in program.ops.iter().zip(change) {
        live += change + i128::from(op.taken().0);
        demand.push(u64::try_from(live).unwrap_or(0));
        live -= i128::from(op.returned().0);
    }
    demand
}

/// Where each offload goes, and the sums.
struct Places {
    media: Vec<Action>,
    host: Bytes,
    ssd: Bytes,
    staging: Bytes,
}

/// Host memory is finite: what overflows goes to SSD, what overflows that is refused. A staging buffer of the largest
/// SSD copy stays free in host memory.
fn place(offloads: &[Offload], hardware: &Hardware) -> Result<Places, Refusal> {
    let total =
        |medium| offloads.iter().filter(|c| c.medium == medium).map(|c| c.bytes).sum::<Bytes>();
    let (mut host, mut ssd) = (total(Action::Host), total(Action::Ssd));
    let mut media: Vec<Action> = offloads.iter().map(|copy| copy.medium).collect();
    let mut staging = Bytes::ZERO;
    let mut stage = |bytes: Bytes, host: Bytes| {
        staging = staging.max(bytes);
        host + staging
    };
    let mut needed = offloads
        .iter()
        .filter(|c| c.medium == Action::Ssd)
        .map(|c| stage(c.bytes, host))
        .last()
        .unwrap_or(host);
    let asked = ssd;
    // The least host memory that would do, of all lengths of overflow that the drive has room for.
    let mut enough = (ssd <= hardware.ssd).then_some(needed);
    // The latest to leave are the first back: they are the ones that would queue longest behind an SSD, so the
    // earliest overflow.
    for (i, copy) in offloads.iter().enumerate().filter(|(_, copy)| copy.medium == Action::Host) {
        if needed <= hardware.host {
            break;
        }
        host -= copy.bytes;
        ssd += copy.bytes;
        media[i] = Action::Ssd;
        needed = stage(copy.bytes, host);
        if ssd <= hardware.ssd {
            enough = Some(enough.map_or(needed, |enough| enough.min(needed)));
        }
    }
    if needed > hardware.host || ssd > hardware.ssd {
        // What the plan itself sends to the drive needs room there, whatever the host has.
        let missing = enough.map_or(asked.saturating_sub(hardware.ssd), |enough| {
            enough.saturating_sub(hardware.host)
        });
        return Err(Refusal::Host { missing });
    }
    let staging = if ssd == Bytes::ZERO { Bytes::ZERO } else { hardware.host.saturating_sub(host) };
    Ok(Places { media, host, ssd, staging })
}

/// Copies back in the order of their need, and the operation whose start issues each: `prefetch` layers ahead of
/// its use at the earliest, and no earlier than leaves every operation between its room.
fn issue(
    program: &Program,
    prefetch: usize,
    mut demand: Vec<u64>,
    room: Bytes,
) -> Vec<(usize, usize)> {
    // What leaves last is needed first: nearly in order from the start.
    let last = program.offloads.len().saturating_sub(1);
    let order = sort::order(program.offloads.len(), |i| {
        let copy = &program.offloads[last - i];
        (copy.before as u64, !(copy.after as u64), (last - i) as u64)
    });
    let layers = program.backward_starts.len();
    let mut earliest = program.turn;
    let mut issue = Vec::with_capacity(program.offloads.len());
    for i in order.into_iter().map(|i| last - i) {
        let copy = &program.offloads[i];
        let user = program.ops[copy.before].layer;
        let ahead = user.saturating_add(prefetch);
        let from = if ahead >= layers { program.turn } else { program.backward_starts[ahead] };
        let from = from.min(copy.before).max(earliest).max((copy.after + 1).min(copy.before));
        let mut at = copy.before;
        while at > from && demand[at - 1].saturating_add(copy.bytes.0) <= room.0 {
            at -= 1;
            demand[at] += copy.bytes.0;
        }
        earliest = at;
        issue.push((at, i));
    }
    issue
}

/// The streams and the memory queue, stepped through the program once.
struct Clockwork<'a> {
    hardware: &'a Hardware,
    issue: &'a [(usize, usize)],
    next_issue: usize,
    memory: Frees,
    staging: Frees,
    d2h: Stream,
    h2d: Stream,
    ssd: Stream,
    copies: Vec<CopyTime>,
    /// Per operation, when the last copy back that it needs is there, and which that is.
    arrivals: Vec<(Nanos, Option<usize>)>,
}

impl<'a> Clockwork<'a> {
    fn new(
        program: &Program,
        hardware: &'a Hardware,
        room: Bytes,
        places: &Places,
        issue: &'a [(usize, usize)],
    ) -> Self {
        Self {
            hardware,
            issue,
            next_issue: 0,
            memory: Frees::new(room),
            staging: Frees::new(places.staging),
            d2h: Stream::default(),
            h2d: Stream::default(),
            ssd: Stream::default(),
            copies: vec![CopyTime::default(); program.offloads.len()],
            arrivals: vec![(Nanos::ZERO, None); program.ops.len()],
        }
    }

    fn run(mut self, program: &Program, places: &Places) -> (Vec<OpTime>, Vec<CopyTime>) {
        let mut ops = Vec::with_capacity(program.ops.len());
        let mut free_at = Nanos::ZERO;
        let mut leaving = 0;
        for (p, op) in program.ops.iter().enumerate() {
            self.issue_until(program, places, p, free_at, true);
            let back = self.arrivals[p];
            let room = self.memory.take(op.taken()).max(free_at);
            let start = room.max(back.0);
            let end = start + op.duration;
            ops.push(OpTime {
                start,
                end,
                room: room - free_at,
                copy: start - room,
                waited_for: back.1,
            });
            self.issue_until(program, places, p, start, false);
            self.memory.give(end, op.returned());
            while program.offloads.get(leaving).is_some_and(|copy| copy.after == p) {
                self.leave(leaving, &program.offloads[leaving], places.media[leaving], end);
                leaving += 1;
            }
            free_at = end;
        }
        (ops, self.copies)
    }

    /// Issues the copies back that operation `p` issues: those it needs itself before it (`needed`), the others
    /// once it has started.
    fn issue_until(
        &mut self,
        program: &Program,
        places: &Places,
        p: usize,
        now: Nanos,
        needed: bool,
    ) {
        while let Some(&(at, i)) = self.issue.get(self.next_issue) {
            let copy = &program.offloads[i];
            if at > p || (needed && copy.before > p) {
                break;
            }
            self.back(i, copy, places.media[i], at, now);
            self.next_issue += 1;
        }
    }

    fn leave(&mut self, i: usize, copy: &Offload, medium: Action, now: Nanos) {
        let ready = match medium {
            Action::Ssd => self.staging.take(copy.bytes).max(now),
            _ => now,
        };
        let time = self.hardware.copy_out(copy.bytes);
        let out = self.d2h.run(ready, time);
        if !self.hardware.duplex {
            self.h2d = self.d2h;
        }
        self.memory.give_copy(out.end, copy.bytes);
        self.copies[i].out = out;
        self.copies[i].medium = Some(medium);
        if medium == Action::Ssd {
            let write = self.ssd.run(out.end, self.hardware.ssd_write.time(copy.bytes));
            self.staging.give(write.end, copy.bytes);
            self.copies[i].write = Some(write);
        }
    }

    fn back(&mut self, i: usize, copy: &Offload, medium: Action, at: usize, now: Nanos) {
        let mut ready = self.memory.take(copy.bytes).max(now).max(self.copies[i].out.end);
        if medium == Action::Ssd {
            let written = self.copies[i].write.map_or(now, |write| write.end);
            let read = self.ssd.run(now.max(written), self.hardware.ssd_read.time(copy.bytes));
            self.copies[i].read = Some(read);
            ready = ready.max(read.end);
        }
        let time = self.hardware.copy_back(copy.bytes);
        let back = self.h2d.run(ready, time);
        if !self.hardware.duplex {
            self.d2h = self.h2d;
        }
        self.copies[i].back = back;
        // In order: the last one is the latest.
        self.arrivals[copy.before] = (back.end, Some(i));
        self.copies[i].issued = at;
    }
}
