//! Bytes over time, by category. Principal type [`Ledger`]; its laws: rows sum to the total, and the end is the
//! beginning. Entries at one instant count in program order, so that durations of zero are no special case.

use super::chain::Static;
use super::program::Offload;
use super::simulate::{CopyTime, Run};
use super::sort::sorted;
use super::units::{Bytes, Nanos};
use serde::Serialize;

/// What the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Moving {
    /// Saved for backward and usable on the device.
    Activations = 0,
    /// Being copied, and still counted.
    InFlight = 1,
    /// Transient.
    Workspace = 2,
    /// Gradients of weights that grow during backward.
    Gradients = 3,
}

/// Bytes by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Weights.
    pub weights: Bytes,
    /// Gradients.
    pub gradients: Bytes,
    /// Optimizer states.
    pub optimizer: Bytes,
    /// Saved activations.
    pub activations: Bytes,
    /// Being copied.
    pub in_flight: Bytes,
    /// Transient.
    pub workspace: Bytes,
    /// Reserved by the user.
    pub unmodelled: Bytes,
}

impl Row {
    /// Their sum.
    #[must_use]
    pub fn total(&self) -> Bytes {
        self.weights
            + self.gradients
            + self.optimizer
            + self.activations
            + self.in_flight
            + self.workspace
            + self.unmodelled
    }

    fn of(fixed: &Static, background: u64, moving: [u64; 4]) -> Self {
        Self {
            weights: fixed.weights,
            gradients: fixed.gradients + Bytes(moving[3]),
            optimizer: fixed.optimizer,
            activations: Bytes(background + moving[0]),
            in_flight: Bytes(moving[1]),
            workspace: Bytes(moving[2]),
            unmodelled: fixed.unmodelled,
        }
    }
}

impl From<&Static> for Row {
    fn from(fixed: &Static) -> Self {
        Self::of(fixed, 0, [0; 4])
    }
}

/// A step of the ledger: from this instant on, these bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// From when.
    pub at: Nanos,
    /// How much.
    pub row: Row,
}

/// One change, ordered by time, then program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Nanos,
    order: u32,
    place: u32,
    category: u8,
    bytes: i64,
}

impl Entry {
    const fn moment(&self) -> Moment {
        (self.at, self.order, self.place)
    }
}

/// A place between entries: when, in which program order within that instant, and which of the entries there (`u32::MAX`: after
/// all of them). It is the same for every run of a program's operations and copies, whatever their sizes.
pub type Moment = (Nanos, u32, u32);

/// Bytes over one micro-batch.
#[derive(Clone, Debug)]
pub struct Ledger {
    entries: Vec<Entry>,
    fixed: Static,
    background: u64,
}

/// The summit of a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// When.
    pub at: Nanos,
    /// What.
    pub row: Row,
    /// Peak of saved activations alone, copies in flight included.
    pub saved: Bytes,
}

impl Ledger {
    /// The ledger of a run; `background` bytes of other micro-batches' activations stay throughout (1F1B).
    #[must_use]
    pub fn of(run: &Run, fixed: &Static, background: Bytes) -> Self {
        let mut entries = Vec::with_capacity(4 * run.ops.len() + 5 * run.copies.len());
        let mut count = 0;
        for (p, (op, time)) in run.program.ops.iter().zip(&run.ops).enumerate() {
            let mut add = |at, place, category: Moving, bytes: Bytes, sign| {
                push(&mut entries, &mut count, (at, order(p, place)), category, bytes, sign);
            };
            add(time.start, 2, Moving::Activations, op.keeps, 1);
            add(time.start, 2, Moving::Workspace, op.takes, 1);
            add(time.end, 4, Moving::Workspace, op.gives, -1);
            add(time.end, 4, Moving::Activations, op.drops, -1);
            add(time.end, 4, Moving::Gradients, op.sheds, -1);
            add(time.end, 4, Moving::Gradients, op.grows, 1);
        }
        for (copy, time) in run.program.offloads.iter().zip(&run.copies) {
            let out = order(copy.after, 5);
            let back = back_order(copy, time);
            let mut add = |at, order, category, sign| {
                push(&mut entries, &mut count, (at, order), category, copy.bytes, sign);
            };
            add(time.out.start, out, Moving::Activations, -1);
            add(time.out.start, out, Moving::InFlight, 1);
            add(time.out.end, out, Moving::InFlight, -1);
            add(time.back.start, back, Moving::InFlight, 1);
            add(time.back.end, back, Moving::InFlight, -1);
            add(time.back.end, back, Moving::Activations, 1);
        }
        let entries = sorted(&entries, |entry| (entry.at.0, entry.order.into(), 0));
        Self { entries, fixed: *fixed, background: background.0 }
    }

    /// The first instant of the largest total.
    #[must_use]
    pub fn peak(&self) -> Peak {
        let mut moving = [0_i64; 4];
        let mut best = (0_i64, Nanos::ZERO, moving);
        let mut saved = 0;
        for entry in &self.entries {
            moving[usize::from(entry.category)] += entry.bytes;
            let total = moving.iter().sum::<i64>();
            saved = saved.max(moving[0] + moving[1]);
            if total > best.0 {
                best = (total, entry.at, moving);
            }
        }
        Peak { at: best.1, row: self.row(best.2), saved: Bytes(saved.unsigned_abs()) }
    }

    /// As a step function, from 0 on, changes of no bytes left out: one step per instant, and one more where operations
    /// that take no time go higher within it.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let mut moving = [0_i64; 4];
        let mut steps = vec![Step { at: Nanos::ZERO, row: self.row(moving) }];
        for instant in self.entries.chunk_by(|a, b| a.at == b.at) {
            let at = instant[0].at;
            let mut highest = Row::default();
            for entry in instant {
                moving[usize::from(entry.category)] += entry.bytes;
                let row = self.row(moving);
                if row.total() > highest.total() {
                    highest = row;
                }
            }
            if at == Nanos::ZERO {
                steps.clear();
            }
            let row = self.row(moving);
            let before = steps.last().map_or(Bytes::ZERO, |last| last.row.total());
            if highest.total() > row.total().max(before) {
                steps.push(Step { at, row: highest });
            }
            steps.push(Step { at, row });
        }
        steps.dedup_by(|next, last| next.row == last.row);
        steps
    }

    /// What is there when operation `p` has ended, at `instant`: program order counts, not the instant alone, for what
    /// follows it may start at once.
    #[must_use]
    pub fn after(&self, p: usize, instant: Nanos) -> Row {
        self.until((instant, order(p, 5), u32::MAX))
    }

    /// The moment of [`Self::peak`].
    #[must_use]
    pub fn summit(&self) -> Moment {
        let mut total = 0;
        let mut best = (0, (Nanos::ZERO, 0, 0));
        for entry in &self.entries {
            total += entry.bytes;
            if total > best.0 {
                best = (total, entry.moment());
            }
        }
        best.1
    }

    /// The operation that an order within an instant belongs to.
    #[must_use]
    pub const fn operation(order: u32) -> usize {
        (order / 6) as usize
    }

    /// What is there once every change up to `moment` is made.
    #[must_use]
    pub fn until(&self, moment: Moment) -> Row {
        let mut moving = [0_i64; 4];
        for entry in self.entries.iter().take_while(|entry| entry.moment() <= moment) {
            moving[usize::from(entry.category)] += entry.bytes;
        }
        self.row(moving)
    }

    fn row(&self, moving: [i64; 4]) -> Row {
        Row::of(&self.fixed, self.background, moving.map(|bytes| u64::try_from(bytes).unwrap_or(0)))
    }
}

/// The largest total of a run, without its rows: what a search asks of a thousand runs. Compute, copies out and copies
/// back each are in order, so their changes need no sorting.
#[must_use]
pub fn highest(run: &Run, fixed: &Static, background: Bytes) -> Bytes {
    let leaving = run.program.offloads.iter().zip(&run.copies);
    let outs =
        leaving.map(|(copy, time)| ((time.out.end, order(copy.after, 5)), -signed(copy.bytes)));
    let backs = run.returns.iter().map(|&i| {
        let (copy, time) = (&run.program.offloads[i], &run.copies[i]);
        ((time.back.start, back_order(copy, time)), signed(copy.bytes))
    });
    let mut copies = merged(outs, backs).peekable();
    let (mut live, mut highest) = (0, 0);
    for (p, (op, time)) in run.program.ops.iter().zip(&run.ops).enumerate() {
        let (more, less) = (signed(op.taken()), signed(op.returned()));
        for (at, change) in [((time.start, order(p, 2)), more), ((time.end, order(p, 4)), -less)] {
            while let Some((_, copied)) = copies.next_if(|copy| copy.0 < at) {
                live += copied;
                highest = highest.max(live);
            }
            live += change;
            highest = highest.max(live);
        }
    }
    fixed.total() + background + Bytes(highest.unsigned_abs())
}

/// When, in which order within that instant, and by how much.
type Change = ((Nanos, u32), i64);

/// Two ordered lists of changes as one.
fn merged(
    a: impl Iterator<Item = Change>,
    b: impl Iterator<Item = Change>,
) -> impl Iterator<Item = Change> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(first), Some(second)) if second.0 < first.0 => b.next(),
        (Some(_), _) => a.next(),
        (None, _) => b.next(),
    })
}

/// Program order within one instant: before operation `p` (0, 1), its start (2, 3), its end (4), after it (5).
fn order(p: usize, place: u32) -> u32 {
    u32::try_from(p).unwrap_or(u32::MAX / 8) * 6 + place
}

/// A copy back that its user issues itself stands before that operation, another after its issuer's start.
fn back_order(copy: &Offload, time: &CopyTime) -> u32 {
    order(time.issued, if time.issued == copy.before { 1 } else { 3 })
}

fn signed(bytes: Bytes) -> i64 {
    i64::try_from(bytes.0).unwrap_or(i64::MAX)
}

fn push(
    entries: &mut Vec<Entry>,
    count: &mut u32,
    (at, order): (Nanos, u32),
    category: Moving,
    bytes: Bytes,
    sign: i64,
) {
    let place = *count;
    *count += 1;
    if bytes.0 > 0 {
        let bytes = signed(bytes) * sign;
        entries.push(Entry { at, order, place, category: category as u8, bytes });
    }
}
