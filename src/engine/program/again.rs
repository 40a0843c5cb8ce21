//! Forwards that run again: what a recomputed segment does before its own backward, once for itself and once for each segment
//! within it, and the bytes of each such pass. Lifetimes are those of `program`: a pass is one call of a checkpoint.

use super::{Compiler, Op, OpKind};
use crate::engine::chain::{Chain, Storage};
use crate::engine::nested::Nested;
use crate::engine::units::Bytes;

/// One run of a segment's forward in backward: its layers save, those of segments within it do not.
pub struct Pass {
    start: usize,
    end: usize,
    /// Operation of the first layer; the others follow.
    first: usize,
    /// Segments that this pass runs without saving, in order: their own passes follow it.
    within: Vec<Nested>,
}

impl Pass {
    const fn op(&self, layer: usize) -> usize {
        self.first + layer - self.start
    }

    /// Whether the pass saves what this layer keeps.
    fn saves(&self, layer: usize) -> bool {
        !self.within.iter().any(|inner| (inner.start..inner.end).contains(&layer))
    }

    fn begins(&self, layer: usize) -> bool {
        self.within.iter().any(|inner| inner.start == layer)
    }
}

/// Where the operations of recomputed layers are.
pub struct Again {
    /// First operation that runs a layer (or part of it) again.
    pub first: Vec<Option<usize>>,
    /// The one that saves: the last.
    pub saving: Vec<Option<usize>>,
    /// Backward.
    pub backward: Vec<usize>,
    /// Every pass, in order.
    pub passes: Vec<Pass>,
}

impl Again {
    pub fn new(layers: usize) -> Self {
        Self {
            first: vec![None; layers],
            saving: vec![None; layers],
            backward: vec![0; layers],
            passes: Vec::new(),
        }
    }

    pub fn note(&mut self, layer: usize, op: usize) {
        self.first[layer].get_or_insert(op);
        self.saving[layer] = Some(op);
    }

    /// Runs the segment `start..end` again, then its backward, each of the segments `inner` to it (outer before inner, in
    /// order) just before its own.
    pub fn reverse(
        &mut self,
        chain: &Chain,
        ops: &mut Vec<Op>,
        (start, end): (usize, usize),
        inner: &[Nested],
    ) {
        let first = ops.len();
        for i in start..end {
            self.note(i, ops.len());
            ops.push(Op::new(OpKind::Recompute, i, chain.layers[i].forward));
        }
        let groups: Vec<&[Nested]> = outermost(inner).collect();
        let within = groups.iter().map(|group| group[0]).collect();
        self.passes.push(Pass { start, end, first, within });
        let mut rest = groups.into_iter().rev().peekable();
        let mut at = end;
        while at > start {
            if let Some(group) = rest.next_if(|group| group[0].end == at) {
                let Nested { start, end } = group[0];
                self.reverse(chain, ops, (start, end), &group[1..]);
                at = start;
            } else {
                at -= 1;
                self.backward[at] = ops.len();
                ops.push(Op::new(OpKind::Backward, at, chain.layers[at].backward));
            }
        }
    }
}

/// Each outermost segment with those inside it.
fn outermost(mut segments: &[Nested]) -> impl Iterator<Item = &[Nested]> {
    std::iter::from_fn(move || {
        let end = segments.first()?.end;
        let (group, rest) = segments.split_at(segments.partition_point(|inner| inner.start < end));
        segments = rest;
        Some(group)
    })
}

impl Compiler<'_> {
    /// Transients of a pass, and what it makes between its layers and at its end.
    pub(super) fn pass(&mut self, pass: &Pass) {
        for i in pass.start..pass.end {
            let layer = &self.chain.layers[i];
            let made = pass.op(i);
            self.borrow(layer.forward_scratch, made, made);
            let own = pass.saves(i) && layer.saves(Storage::Output);
            let mut until = own.then(|| self.at.backward[i]);
            let bytes = self.boundary_bytes(i);
            let next = i + 1;
            if next == pass.end {
                if self.plan.reentrant {
                    until = Some(self.at.backward[pass.start]);
                }
                self.keep_or_pass(bytes, made, until, made);
                continue;
            }
            let read = pass.begins(next)
                || pass.saves(next) && self.chain.layers[next].saves(Storage::Input);
            if read {
                until = until.max(Some(self.at.backward[next]));
            }
            self.keep_or_pass(bytes, made, until, pass.op(next));
        }
    }

    /// Saved until `until`, or transient until `read`.
    fn keep_or_pass(&mut self, bytes: Bytes, made: usize, until: Option<usize>, read: usize) {
        match until {
            Some(until) => self.hold(bytes, made, until),
            None => self.borrow(bytes, made, read),
        }
    }
}
