//! A plan compiled for the simulator: operations of the compute stream in order, the bytes each takes and gives back,
//! and the copies between them. Its law: bytes taken equal bytes given back. It knows no clock.
//!
//! Lifetimes follow what PyTorch was measured to do (checkpoint_peaks.json): an output lives until its reader has
//! run; a boundary until its segment's backward is done; what a segment saves is there from its second forward
//! on; a reentrant segment holds its output during its backward too.

mod again;

use super::chain::{Chain, Storage};
use super::plan::{LayerPlan, Plan, Segment};
use super::policy::{Action, Granularity};
use super::sort::sorted;
use super::units::{Bytes, Nanos};
use again::{Again, Pass};
use serde::Serialize;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OpKind {
    /// A layer's forward.
    Forward,
    /// A layer's forward (or part of it) once more.
    Recompute,
    /// A layer's backward.
    Backward,
    /// The optimizer step.
    Optimizer,
}

/// One operation of the compute stream, with the bytes it needs at its start and frees at its end.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// For which layer.
    pub layer: usize,
    /// How long it runs.
    pub duration: Nanos,
    /// Saved activations that appear with it.
    pub keeps: Bytes,
    /// Saved activations that go with its end.
    pub drops: Bytes,
    /// Transient bytes that appear with it.
    pub takes: Bytes,
    /// Transient bytes that go with its end.
    pub gives: Bytes,
    /// Of those and the dropped, gradients of weights that stay until the optimizer step.
    pub grows: Bytes,
    /// Gradients that go with its end.
    pub sheds: Bytes,
}

impl Op {
    /// An operation that takes no bytes yet.
    const fn new(kind: OpKind, layer: usize, duration: Nanos) -> Self {
        let none = Bytes::ZERO;
        Self {
            kind,
            layer,
            duration,
            keeps: none,
            drops: none,
            takes: none,
            gives: none,
            grows: none,
            sheds: none,
        }
    }

    /// Bytes that appear with its start.
    #[must_use]
    pub fn taken(&self) -> Bytes {
        self.keeps + self.takes
    }

    /// Bytes that are free at its end. Gradients that stay were among its transient bytes.
    #[must_use]
    pub fn returned(&self) -> Bytes {
        (self.drops + self.gives + self.sheds).saturating_sub(self.grows)
    }
}

/// Bytes that leave the device after one operation and are back before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offload {
    /// Whose tensor.
    pub layer: usize,
    /// Which of the layer's saved tensors, where copies are cut so.
    pub tensor: Option<usize>,
    /// How much.
    pub bytes: Bytes,
    /// Where to.
    pub medium: Action,
    /// The copy out may start when this operation ends.
    pub after: usize,
    /// The copy back must have ended when this operation starts.
    pub before: usize,
    /// The bytes are dropped when this operation ends.
    pub last: usize,
}

/// The compute stream and its copies.
#[derive(Clone, Debug)]
pub struct Program {
    /// In order of running.
    pub ops: Vec<Op>,
    /// In order of leaving.
    pub offloads: Vec<Offload>,
    /// First operation of each layer's backward (its recomputation, if any).
    pub backward_starts: Vec<usize>,
    /// First operation of the backward pass.
    pub turn: usize,
}

struct Compiler<'a> {
    chain: &'a Chain,
    plan: &'a Plan,
    at: Again,
    ops: Vec<Op>,
    offloads: Vec<Offload>,
}

impl Program {
    /// Compiles `plan` for `chain`.
    #[must_use]
    pub fn of(chain: &Chain, plan: &Plan) -> Self {
        let (ops, at) = order(chain, plan);
        let mut compiler = Compiler { chain, plan, at, ops, offloads: Vec::new() };
        for i in 0..chain.layers.len() {
            compiler.scratch(i);
            compiler.inner(i);
            compiler.output(i);
        }
        let passes: Vec<Pass> = std::mem::take(&mut compiler.at.passes);
        for pass in &passes {
            compiler.pass(pass);
        }
        let last = compiler.ops.len() - 1;
        compiler.borrow(chain.optimizer_scratch, last, last);
        let Compiler { at, ops, offloads, .. } = compiler;
        let mut offloads = sorted(&offloads, |copy| {
            let tensor = copy.tensor.map_or(0, |tensor| tensor as u64 + 1);
            (copy.after as u64, copy.layer as u64, tensor)
        });
        if plan.granularity == Granularity::Layer {
            offloads = merged(offloads);
        }
        let backward_starts = at
            .backward
            .iter()
            .zip(&at.first)
            .map(|(&b, again)| again.unwrap_or(b).min(b))
            .collect();
        Self { ops, offloads, backward_starts, turn: chain.layers.len() }
    }

    /// Saved bytes on the device when forward is over and every copy out is finished.
    #[must_use]
    pub fn resident_after_forward(&self) -> Bytes {
        let forward = &self.ops[..self.turn];
        let kept: Bytes = forward.iter().map(|op| op.keeps).sum();
        let dropped: Bytes = forward.iter().map(|op| op.drops).sum();
        let gone: Bytes =
            self.offloads.iter().filter(|copy| copy.after < self.turn).map(|copy| copy.bytes).sum();
        kept.saturating_sub(dropped).saturating_sub(gone)
    }
}

/// The order on the compute stream: forward, then backward in reverse with each segment run again before its
/// own, then the optimizer. A layer's forward is the operation of its own number.
fn order(chain: &Chain, plan: &Plan) -> (Vec<Op>, Again) {
    let n = chain.layers.len();
    let mut ops = Vec::with_capacity(3 * n + 1);
    let mut at = Again::new(n);
    for (i, layer) in chain.layers.iter().enumerate() {
        ops.push(Op::new(OpKind::Forward, i, layer.forward));
    }
    let mut next = n;
    while next > 0 {
        let i = next - 1;
        next = i;
        match &plan.layers[i] {
            LayerPlan::Segment(segment) => {
                let Segment { start, end, .. } = plan.segments[*segment];
                at.reverse(chain, &mut ops, (start, end), plan.within(start, end));
                next = start;
            }
            LayerPlan::Plain(actions) => {
                let layer = &chain.layers[i];
                let again = layer.saved.iter().zip(actions);
                let mut dropped = again
                    .filter(|(tensor, action)| {
                        **action == Action::Recompute && tensor.storage == Storage::Inner
                    })
                    .peekable();
                if dropped.peek().is_some() {
                    let time: Nanos = dropped.map(|(tensor, _)| tensor.recompute).sum();
                    at.note(i, ops.len());
                    ops.push(Op::new(OpKind::Recompute, i, time.min(layer.forward)));
                }
                at.backward[i] = ops.len();
                ops.push(Op::new(OpKind::Backward, i, layer.backward));
            }
        }
    }
    ops.push(Op::new(OpKind::Optimizer, n - 1, chain.optimizer));
    (ops, at)
}

/// One copy where several tensors leave, return and go at the same operations.
fn merged(offloads: Vec<Offload>) -> Vec<Offload> {
    let mut merged: Vec<Offload> = Vec::new();
    for copy in offloads {
        let key = |c: &Offload| (c.after, c.before, c.last, c.medium, c.layer);
        match merged
            .iter_mut()
            .rev()
            .take_while(|c| c.after == copy.after)
            .find(|c| key(c) == key(&copy))
        {
            Some(same) => same.bytes += copy.bytes,
            None => merged.push(Offload { tensor: None, ..copy }),
        }
    }
    merged
}

impl Compiler<'_> {
    /// Saved bytes from the start of operation `from` to the end of operation `to`.
    fn hold(&mut self, bytes: Bytes, from: usize, to: usize) {
        self.ops[from].keeps += bytes;
        self.ops[to].drops += bytes;
    }

    /// Transient bytes over the same kind of interval.
    fn borrow(&mut self, bytes: Bytes, from: usize, to: usize) {
        self.ops[from].takes += bytes;
        self.ops[to].gives += bytes;
    }

    fn offload(&mut self, from: usize, copy: Offload) {
        self.ops[from].keeps += copy.bytes;
        self.ops[copy.last].drops += copy.bytes;
        self.offloads.push(copy);
    }

    fn scratch(&mut self, i: usize) {
        let layer = &self.chain.layers[i];
        let (forward, backward) = (layer.forward_scratch, layer.backward_scratch);
        self.borrow(forward, i, i);
        self.borrow(backward, self.at.backward[i], self.at.backward[i]);
        self.borrow(layer.weight_casts, i, self.at.backward[i]);
        let optimizer = self.ops.len() - 1;
        self.ops[self.at.backward[i]].grows += layer.gradients;
        self.ops[optimizer].sheds += layer.gradients;
    }

    /// The storage behind layer `i`: the next one's input.
    fn boundary_bytes(&self, i: usize) -> Bytes {
        let layers = &self.chain.layers;
        layers.get(i + 1).map_or(layers[i].output, |next| next.boundary)
    }

    /// The layer's own storages.
    fn inner(&mut self, i: usize) {
        let (forward, backward) = (i, self.at.backward[i]);
        let before = self.at.saving[i].unwrap_or(backward);
        let layer = &self.chain.layers[i];
        for (t, tensor) in
            layer.saved.iter().enumerate().filter(|(_, tensor)| tensor.storage == Storage::Inner)
        {
            match self.plan.action(i, t, tensor.storage) {
                Action::Keep => self.hold(tensor.bytes, forward, backward),
                Action::Recompute => {
                    if matches!(self.plan.layers[i], LayerPlan::Plain(_)) {
                        self.borrow(tensor.bytes, forward, forward);
                    }
                    self.hold(tensor.bytes, before, backward);
                }
                medium @ (Action::Host | Action::Ssd) => self.offload(
                    forward,
                    Offload {
                        layer: i,
                        tensor: Some(t),
                        bytes: tensor.bytes,
                        medium,
                        after: forward,
                        before,
                        last: backward,
                    },
                ),
            }
        }
    }

    /// The storage between layer `i` and the next: who keeps it, from when, until when.
    fn output(&mut self, i: usize) {
        let next = (i + 1 < self.chain.layers.len()).then_some(i + 1);
        let bytes = self.boundary_bytes(i);
        let made = i;
        let read = next.unwrap_or(made);
        let savers = self.savers(i, next);
        if savers.is_empty() {
            // The chain's output counts as saved when its layer runs plainly: the loss is still to read it.
            if next.is_none() && matches!(self.plan.layers[i], LayerPlan::Plain(_)) {
                self.hold(bytes, made, read);
            } else {
                self.borrow(bytes, made, read);
            }
        } else {
            self.boundary(i, next, bytes, &savers, (made, read));
        }
    }

    /// Who keeps the storage behind layer `i` through the turn: action, first and last use in backward.
    fn savers(&self, i: usize, next: Option<usize>) -> Vec<(Action, usize, usize)> {
        let mut savers = Vec::new();
        if let Some(j) = next {
            let backward = self.at.backward[j];
            match &self.plan.layers[j] {
                LayerPlan::Plain(_) => {
                    savers.extend(
                        self.saved_as(j, Storage::Input).map(|action| (action, backward, backward)),
                    );
                }
                LayerPlan::Segment(at) if self.plan.segments[*at].start == j => {
                    let again = self.at.first[j].unwrap_or(backward);
                    savers.push((self.plan.segments[*at].boundary, again, backward));
                }
                LayerPlan::Segment(_) => {}
            }
        }
        if matches!(self.plan.layers[i], LayerPlan::Plain(_)) {
            let backward = self.at.backward[i];
            savers.extend(
                self.saved_as(i, Storage::Output).map(|action| (action, backward, backward)),
            );
        }
        savers
    }

    fn saved_as(&self, layer: usize, storage: Storage) -> Option<Action> {
        let t =
            self.chain.layers[layer].saved.iter().position(|tensor| tensor.storage == storage)?;
        // A shared storage cannot be made again by one of its keepers alone: it stays.
        match self.plan.action(layer, t, storage) {
            Action::Recompute => Some(Action::Keep),
            action => Some(action),
        }
    }

    fn boundary(
        &mut self,
        i: usize,
        next: Option<usize>,
        bytes: Bytes,
        savers: &[(Action, usize, usize)],
        (made, read): (usize, usize),
    ) {
        let before = savers.iter().map(|saver| saver.1).min().unwrap_or(read);
        let last = savers.iter().map(|saver| saver.2).max().unwrap_or(read);
        let kept = savers.iter().any(|saver| saver.0 == Action::Keep);
        if kept {
            self.hold(bytes, made, last);
            return;
        }
        let tensor = |layer: usize, storage| {
            self.chain.layers[layer].saved.iter().position(|t| t.storage == storage)
        };
        let (layer, t) = match next {
            Some(j) if savers.len() > 1 || !self.chain.layers[i].saves(Storage::Output) => {
                (j, tensor(j, Storage::Input))
            }
            _ => (i, tensor(i, Storage::Output)),
        };
        let copy =
            Offload { layer, tensor: t, bytes, medium: savers[0].0, after: read, before, last };
        self.offload(made, copy);
    }
}
