//! Plans that recompute some layers more than once: segments within segments. A flat plan has none; `program` compiles both.

use super::accepted::Accepted;
use super::chain::Chain;
use super::error::{Clamped, Error, Notes};
use super::plan::{LayerPlan, Plan, Segment};
use super::policy::{Action, Policy, PolicyKind, SLOTS};
use super::search::{revolve, rotor};
use super::sort::sorted;

/// The most blocks that a binomial schedule runs again: slots are raised until it does not run more.
const MOST_AGAIN: u64 = 200_000;

/// A part of a segment (or of another such part) that is dropped again when that runs again, and then run once more from its
/// own boundary, which stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nested {
    /// First layer.
    pub start: usize,
    /// One past the last layer.
    pub end: usize,
}

/// The parts that a policy of kind `plan` has, outer before inner, in order, each once.
pub(crate) fn parts(policy: &Policy) -> Vec<Nested> {
    let whole = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let pairs = policy.nested.as_deref().unwrap_or_default();
    let parts: Vec<Nested> =
        pairs.iter().map(|&[start, end]| Nested { start: whole(start), end: whole(end) }).collect();
    let mut parts = sorted(&parts, |part| (part.start as u64, !(part.end as u64), 0));
    parts.dedup();
    parts
}

/// The same as a request has them.
pub(crate) fn pairs(parts: &[Nested]) -> Vec<[u64; 2]> {
    parts.iter().map(|part| [part.start as u64, part.end as u64]).collect()
}

impl Plan {
    /// Boundaries in slots, by the optimal schedule of a uniform chain.
    pub(crate) fn binomial(chain: &Chain, policy: &Policy) -> Self {
        let blocks: Vec<usize> = chain.blocks().collect();
        let slots = policy.slots.unwrap_or(SLOTS);
        let mut plan = Self::uniform(chain, policy, Action::Keep);
        plan.nest(&revolve::segments(&blocks, slots, policy.last_segment_plain));
        plan.measure(chain);
        plan
    }

    /// How often the forward of a layer in a segment runs again.
    #[must_use]
    pub fn repeats(&self, layer: usize) -> usize {
        1 + self.nested.iter().filter(|inner| (inner.start..inner.end).contains(&layer)).count()
    }

    /// The parts of the segment `start..end`.
    pub(crate) fn within(&self, start: usize, end: usize) -> &[Nested] {
        let from = self.nested.partition_point(|inner| inner.start < start);
        let inside = &self.nested[from..];
        &inside[..inside.partition_point(|inner| inner.start < end)]
    }

    /// Recomputes these runs of layers from their boundaries, those inside another one once more for each that they are in. Any
    /// two lie one in the other or apart, and the plan has no segments yet.
    pub fn nest(&mut self, segments: &[Nested]) {
        let mut sorted = sorted(segments, |one| (one.start as u64, !(one.end as u64), 0));
        sorted.dedup();
        let mut outer = 0;
        for one in sorted {
            if one.start >= outer {
                outer = one.end;
                self.recompute(one.start, one.end, Action::Keep);
            } else {
                self.nested.push(one);
            }
        }
    }

    /// Whether the parts that `policy` has lie in this plan's segments.
    pub(crate) fn fit_parts(&self, policy: &Policy) -> Result<(), Error> {
        let Some(pairs) = &policy.nested else { return Ok(()) };
        let parts = parts(policy);
        let inside = |part: &Nested| {
            let holds = |segment: &Segment| {
                segment.start <= part.start
                    && part.end <= segment.end
                    && part.end - part.start < segment.end - segment.start
            };
            self.segments.iter().any(holds)
        };
        // Sorted by start, the longer first: each lies in the last one that is still open, or after it.
        let mut open: Vec<usize> = Vec::new();
        let mut nested = true;
        for part in &parts {
            while open.last().is_some_and(|&end| end <= part.start) {
                open.pop();
            }
            nested &= open.last().is_none_or(|&end| part.end <= end);
            open.push(part.end);
        }
        let total: u64 = parts.iter().map(|part| (part.end - part.start) as u64).sum();
        if parts.len() == pairs.len() && total <= MOST_AGAIN && nested && parts.iter().all(inside) {
            return Ok(());
        }
        Err(Error::Unfit {
            path: "policy.nested".into(),
            given: match pairs.as_slice() {
                [first, .., last] if pairs.len() > 8 => {
                    format!("{} parts from {first:?} to {last:?}", pairs.len())
                }
                all => format!("{all:?}"),
            },
            accepted: Accepted::Parts,
        })
    }

    /// Takes down how many blocks each segment has, and each run of plain ones.
    pub(crate) fn measure(&mut self, chain: &Chain) {
        let segment = |i: &usize| match self.layers[*i] {
            LayerPlan::Segment(at) => Some(at),
            LayerPlan::Plain(_) => None,
        };
        let blocks: Vec<usize> = chain.blocks().collect();
        let runs = blocks.chunk_by(|a, b| segment(a) == segment(b));
        self.lengths = runs.map(|run| run.len() as u64).collect();
    }

    /// Brings slots into what `chain` allows: at most its blocks, and enough for a schedule that ends.
    ///
    /// # Errors
    /// [`Error::Unfit`] for a chain that is too long for `rotor`.
    pub(crate) fn fit_nested(
        policy: &mut Policy,
        chain: &Chain,
        notes: &mut Notes,
    ) -> Result<(), Error> {
        let blocks = chain.blocks().count() as u64;
        if policy.kind == PolicyKind::Binomial {
            let given = policy.slots.unwrap_or(SLOTS);
            let used = revolve::enough(blocks, given.min(blocks.max(1)), MOST_AGAIN);
            if policy.slots.is_some() && given != used {
                let (given, used) = (given.into(), used.into());
                notes.clamped.push(Clamped { path: "policy.slots".into(), given, used });
            }
            policy.slots = Some(used);
        }
        if policy.kind == PolicyKind::Rotor && chain.layers.len() > rotor::MOST_LAYERS {
            return Err(Error::Unfit {
                path: "workload.layers".into(),
                given: format!("{} layers under policy rotor", chain.layers.len()),
                accepted: Accepted::Layers(rotor::MOST_LAYERS),
            });
        }
        Ok(())
    }
}
