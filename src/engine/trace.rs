//! What ran when: spans on every track, stalls with what each waited for, and how much of the copies compute
//! hid. Its law: hidden + exposed = transfer.

use super::chain::Chain;
use super::program::OpKind;
use super::simulate::{Interval, Run};
use super::sort::sorted;
use super::units::{Bytes, Nanos};
use serde::Serialize;

/// A row of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Track {
    /// The compute stream.
    Compute,
    /// Device to host.
    D2h,
    /// Host to device.
    H2d,
    /// The SSD behind the host.
    Ssd,
}

/// What a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanKind {
    /// A layer's forward.
    Forward,
    /// A layer's forward again.
    Recompute,
    /// A layer's backward.
    Backward,
    /// The optimizer step.
    Optimizer,
    /// Compute idle, waiting for room.
    StallRoom,
    /// Compute idle, waiting for a copy.
    StallCopy,
    /// A copy out.
    Offload,
    /// A copy back.
    Prefetch,
    /// A write to SSD.
    SsdWrite,
    /// A read from SSD.
    SsdRead,
}

/// One operation on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Which track.
    pub track: Track,
    /// What.
    pub kind: SpanKind,
    /// Whose layer.
    pub layer: usize,
    /// Which of its saved tensors, for copies cut per tensor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor: Option<usize>,
    /// Start, ns.
    pub start: Nanos,
    /// End, ns.
    pub end: Nanos,
    /// Bytes moved, 0 for compute.
    pub bytes: Bytes,
}

/// Every span of a run, by track and start.
#[must_use]
pub fn spans(run: &Run) -> Vec<Span> {
    let mut spans = Vec::with_capacity(2 * run.ops.len() + 2 * run.copies.len());
    for (op, time) in run.program.ops.iter().zip(&run.ops) {
        let mut add = |kind, start, end| {
            if end > start {
                let (track, layer, bytes) = (Track::Compute, op.layer, Bytes::ZERO);
                spans.push(Span { track, kind, layer, tensor: None, start, end, bytes });
            }
        };
        let idle = time.start - time.room - time.copy;
        add(SpanKind::StallRoom, idle, idle + time.room);
        add(SpanKind::StallCopy, idle + time.room, time.start);
        let kind = match op.kind {
            OpKind::Forward => SpanKind::Forward,
            OpKind::Recompute => SpanKind::Recompute,
            OpKind::Backward => SpanKind::Backward,
            OpKind::Optimizer => SpanKind::Optimizer,
        };
        add(kind, time.start, time.end);
    }
    for (copy, time) in run.program.offloads.iter().zip(&run.copies) {
        let mut add = |track, kind, at: Option<Interval>| {
            if let Some(Interval { start, end }) = at.filter(|at| at.end > at.start) {
                let (layer, tensor, bytes) = (copy.layer, copy.tensor, copy.bytes);
                spans.push(Span { track, kind, layer, tensor, start, end, bytes });
            }
        };
        add(Track::D2h, SpanKind::Offload, Some(time.out));
        add(Track::Ssd, SpanKind::SsdWrite, time.write);
        add(Track::Ssd, SpanKind::SsdRead, time.read);
        add(Track::H2d, SpanKind::Prefetch, Some(time.back));
    }
    sorted(&spans, |span| (span.track as u64, span.start.0, span.end.0))
}

/// Sums over one micro-batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// First forwards.
    pub forward: Nanos,
    /// Backwards.
    pub backward: Nanos,
    /// Forwards again.
    pub recompute: Nanos,
    /// Compute idle.
    pub stall: Nanos,
    /// Of that, waiting for room.
    pub stall_room: Nanos,
    /// Copies out.
    pub d2h: Nanos,
    /// Copies back.
    pub h2d: Nanos,
    /// Of the copies, beside running compute.
    pub hidden: Nanos,
    /// Of the copies, beside idle compute.
    pub exposed: Nanos,
}

/// Adds up a run.
#[must_use]
pub fn times(run: &Run) -> Times {
    let mut times = Times::default();
    let mut idle: Vec<Interval> = Vec::new();
    for (op, time) in run.program.ops.iter().zip(&run.ops) {
        let waited = time.room + time.copy;
        times.stall += waited;
        times.stall_room += time.room;
        if waited > Nanos::ZERO {
            idle.push(Interval { start: time.start - waited, end: time.start });
        }
        match op.kind {
            OpKind::Forward => times.forward += op.duration,
            OpKind::Recompute => times.recompute += op.duration,
            OpKind::Backward => times.backward += op.duration,
            OpKind::Optimizer => {}
        }
    }
    let outs = run.copies.iter().map(|copy| copy.out);
    let backs: Vec<Interval> = run.copies.iter().map(|copy| copy.back).collect();
    let backs = sorted(&backs, |interval| (interval.start.0, 0, 0));
    times.d2h = run.copies.iter().map(|copy| copy.out.end - copy.out.start).sum();
    times.h2d = backs.iter().map(|copy| copy.end - copy.start).sum();
    times.exposed = shared(outs, &idle) + shared(backs.iter().copied(), &idle);
    times.hidden = times.d2h + times.h2d - times.exposed;
    times
}

/// Time that two ordered lists of disjoint intervals have in common.
fn shared(a: impl Iterator<Item = Interval>, b: &[Interval]) -> Nanos {
    let mut total = Nanos::ZERO;
    let mut from = 0;
    for one in a {
        while from < b.len() && b[from].end <= one.start {
            from += 1;
        }
        for other in b[from..].iter().take_while(|other| other.start < one.end) {
            total += one.end.min(other.end).saturating_sub(one.start.max(other.start));
        }
    }
    total
}

/// Per layer, the compute time lost waiting for its own copies.
#[must_use]
pub fn waits(run: &Run, chain: &Chain) -> Vec<Nanos> {
    let mut waits = vec![Nanos::ZERO; chain.layers.len()];
    for time in &run.ops {
        if let Some(i) = time.waited_for {
            waits[run.program.offloads[i].layer] += time.copy;
        }
    }
    for (op, time) in run.program.ops.iter().zip(&run.ops) {
        waits[op.layer] += time.room;
    }
    waits
}
