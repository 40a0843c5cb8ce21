//! Plans in which offloaded layers and recomputed runs alternate: where the room holds few layers, a run of one length between two copies lets
//! the link keep up (cf. the alternation that pacing makes in the programme, which weighs sums and not single copies).

use crate::engine::chain::Chain;
use crate::engine::plan::Plan;
use crate::engine::policy::Action;

/// Longest run of recomputed layers between two plain ones.
const RUN: usize = 6;
/// Most layers at the end that stay plain.
const TAIL: usize = 12;

/// How a chain alternates: its first layers plain, then runs of a length between single plain layers, the last ones plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternation {
    first: usize,
    run: usize,
    tail: usize,
}

/// All that a chain has.
pub fn all(layers: usize) -> Vec<Alternation> {
    let mut all = Vec::new();
    for run in 1..=RUN {
        for tail in 0..=TAIL {
            for first in 0..=run.min(2) {
                if first + run + tail <= layers {
                    all.push(Alternation { first, run, tail });
                }
            }
        }
    }
    all
}

impl Alternation {
    /// The plan, with nothing offloaded yet; each run is one segment.
    pub fn plan(self, chain: &Chain, base: &Plan) -> Plan {
        let mut plan = base.clone();
        let end = chain.layers.len() - self.tail;
        let mut at = self.first;
        while at < end {
            let stop = (at + self.run).min(end);
            // A layer that holds nothing has nothing to be dropped.
            if chain.layers[at..stop].iter().any(|layer| !layer.saved.is_empty()) {
                plan.recompute(at, stop, Action::Keep);
            }
            at = stop + 1;
        }
        plan.lengths =
            plan.segments.iter().map(|segment| (segment.end - segment.start) as u64).collect();
        plan
    }
}
