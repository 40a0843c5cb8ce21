//! A second opinion on what a schedule takes: segments within segments carried out one call at a time, every storage counted by
//! who still refers to it, as an interpreter would. It shares nothing with the compiler but the chain.

use galley::engine::chain::{Chain, Layer, Storage};
use galley::engine::nested::Nested;

/// What carrying out a schedule took.
#[derive(Default)]
pub struct Machine<'a> {
    layers: &'a [Layer],
    segments: &'a [Nested],
    reentrant: bool,
    live: i64,
    /// The most bytes at once, the optimizer step's included.
    pub peak: i64,
    /// Time of all forwards, ns.
    pub forwards: u64,
    /// Forwards per layer.
    pub runs: Vec<u64>,
}

/// References to each storage that a call has made, by the layer that reads it.
type Made = Vec<u32>;

pub fn run<'a>(chain: &'a Chain, segments: &'a [Nested], reentrant: bool) -> Machine<'a> {
    let layers = &chain.layers;
    let n = layers.len();
    let mut machine =
        Machine { layers, segments, reentrant, runs: vec![0; n], ..Machine::default() };
    machine.call(0, n, 0, true);
    machine.take(int(chain.optimizer_scratch.0));
    machine.give(int(chain.optimizer_scratch.0));
    let gradients: u64 = layers.iter().map(|layer| layer.gradients.0).sum();
    machine.give(int(gradients));
    assert_eq!(machine.live, 0, "what is taken is given back");
    machine
}

fn int(bytes: u64) -> i64 {
    i64::try_from(bytes).expect("small")
}

impl Machine<'_> {
    fn take(&mut self, bytes: i64) {
        self.live += bytes;
        self.peak = self.peak.max(self.live);
    }

    fn give(&mut self, bytes: i64) {
        self.live -= bytes;
    }

    /// Bytes between the layer before `k` and `k`.
    fn boundary(&self, k: usize) -> i64 {
        let last = || self.layers[k - 1].output;
        int(self.layers.get(k).map_or_else(last, |layer| layer.boundary).0)
    }

    fn inner(&self, k: usize) -> i64 {
        let inner = self.layers[k].saved.iter().filter(|t| t.storage == Storage::Inner);
        inner.map(|t| int(t.bytes.0)).sum()
    }

    fn release(&mut self, made: &mut Made, k: usize, start: usize) {
        if k > start {
            made[k] -= 1;
            if made[k] == 0 {
                self.give(self.boundary(k));
            }
        }
    }

    /// The outermost segment at depth `depth` (so many are around it) that holds layer `k`.
    fn segment(&self, k: usize, depth: usize) -> Option<Nested> {
        let mut around: Vec<Nested> =
            self.segments.iter().copied().filter(|s| (s.start..s.end).contains(&k)).collect();
        around.sort_by_key(|s| std::cmp::Reverse(s.end - s.start));
        around.get(depth).copied()
    }

    /// Forward of `start..end` from its input, then its backward; `depth` segments are around it.
    fn call(&mut self, start: usize, end: usize, depth: usize, first: bool) {
        let mut made: Made = vec![0; end + 1];
        for k in start..end {
            let layer = &self.layers[k];
            let plain = self.segment(k, depth).is_none();
            let own = plain && layer.saves(Storage::Output);
            let next = k + 1;
            made[next] = 1 + u32::from(own);
            if next < end {
                let begins = self.segment(next, depth).is_some_and(|s| s.start == next);
                let plain = self.segment(next, depth).is_none();
                let saved = plain && self.layers[next].saves(Storage::Input);
                made[next] += u32::from(begins || saved);
            } else if self.reentrant && !first {
                made[next] += 1;
            }
            let scratch = int(layer.forward_scratch.0);
            let inner = if plain { self.inner(k) } else { 0 };
            let casts = if first { int(layer.weight_casts.0) } else { 0 };
            self.take(self.boundary(next) + scratch + inner + casts);
            self.give(scratch);
            self.forwards += layer.forward.0;
            self.runs[k] += 1;
            self.release(&mut made, k, start);
        }
        self.release(&mut made, end, start);
        let mut at = end;
        while at > start {
            let k = at - 1;
            if let Some(Nested { start: from, end: to }) = self.segment(k, depth) {
                self.call(from, to, depth + 1, false);
                self.release(&mut made, from, start);
                at = from;
                continue;
            }
            let layer = &self.layers[k];
            let scratch = int(layer.backward_scratch.0);
            self.take(scratch);
            self.give(scratch - int(layer.gradients.0));
            self.give(self.inner(k) + int(layer.weight_casts.0));
            if layer.saves(Storage::Input) {
                self.release(&mut made, k, start);
            }
            if layer.saves(Storage::Output) {
                self.release(&mut made, at, start);
            }
            at = k;
        }
        if self.reentrant && !first {
            self.release(&mut made, end, start);
        }
    }
}
