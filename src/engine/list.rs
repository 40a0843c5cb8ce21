//! Plans as lists: what kind `plan` of a policy says, an action per layer or tensor, and how its recomputed layers are grouped into segments.

use super::accepted::Accepted;
use super::chain::Chain;
use super::error::Error;
use super::nested;
use super::plan::{LayerPlan, Plan};
use super::policy::{Action, Policy, PolicyKind};

impl Plan {
    /// One entry per layer (or per block), or one per tensor; the length tells which and was checked before.
    pub(super) fn explicit(chain: &Chain, policy: &Policy) -> Self {
        let list = policy.plan.as_deref().unwrap_or_default();
        let mut plan = Self::uniform(chain, policy, Action::Keep);
        let blocks: Vec<usize> = chain.blocks().collect();
        if list.len() == blocks.len() {
            plan.assign(chain, blocks.into_iter().zip(list.iter().copied()));
        } else if list.len() == chain.layers.len() {
            plan.assign(chain, list.iter().copied().enumerate());
        } else {
            let mut rest = list.iter().copied();
            for (layer, entry) in chain.layers.iter().zip(&mut plan.layers) {
                *entry = LayerPlan::Plain(rest.by_ref().take(layer.saved.len()).collect());
            }
            plan.gather_recomputed();
        }
        if let Some(lengths) = &policy.segments {
            plan.regroup(lengths, policy.boundaries.as_deref());
        } else if let Some(boundaries) = &policy.boundaries {
            for (segment, &boundary) in plan.segments.iter_mut().zip(boundaries) {
                segment.boundary = boundary;
            }
        }
        plan.nested = nested::parts(policy);
        plan
    }

    /// Recomputed layers as segments of these lengths, in order. Lengths for another number of layers change nothing: requests with such were
    /// refused before.
    fn regroup(&mut self, lengths: &[u64], boundaries: Option<&[Action]>) {
        let layers: Vec<usize> = self.segments.iter().map(|segment| segment.start).collect();
        if lengths.iter().sum::<u64>() != layers.len() as u64 {
            return;
        }
        self.segments.clear();
        let mut at = 0;
        for (i, &length) in lengths.iter().enumerate() {
            let next = at + usize::try_from(length).unwrap_or(usize::MAX);
            let boundary = boundaries.and_then(|list| list.get(i)).copied().unwrap_or(Action::Keep);
            self.recompute(layers[at], layers[next - 1] + 1, boundary);
            at = next;
        }
        self.lengths = lengths.to_vec();
    }

    /// The plan as a policy of kind `plan`: one action per layer where each has but one, otherwise one per tensor, with the lengths and
    /// boundaries of its segments.
    #[must_use]
    pub fn to_policy(&self, chain: &Chain, base: &Policy) -> Policy {
        let one = |entry: &LayerPlan| match entry {
            LayerPlan::Segment(_) => Some(Action::Recompute),
            LayerPlan::Plain(actions) => {
                let first = actions.first().copied().unwrap_or(Action::Keep);
                actions.iter().all(|&action| action == first).then_some(first)
            }
        };
        let list = self.layers.iter().map(one).collect::<Option<Vec<_>>>().unwrap_or_else(|| {
            let tensors = chain.layers.iter().zip(&self.layers).map(|(layer, entry)| match entry {
                LayerPlan::Plain(actions) => actions.clone(),
                LayerPlan::Segment(_) => vec![Action::Recompute; layer.saved.len()],
            });
            tensors.flatten().collect()
        });
        let some = !self.segments.is_empty();
        let lengths = self.segments.iter().map(|segment| (segment.end - segment.start) as u64);
        let boundaries = self.segments.iter().map(|segment| segment.boundary);
        Policy {
            granularity: self.granularity,
            prefetch_layers: self.prefetch as u64,
            reentrant: self.reentrant,
            segments: some.then(|| lengths.collect()),
            boundaries: some.then(|| boundaries.collect()),
            plan: Some(list),
            nested: (!self.nested.is_empty()).then(|| nested::pairs(&self.nested)),
            min_offload_bytes: 0,
            ..Policy { kind: PolicyKind::Plan, ..base.clone() }
        }
    }

    /// The segments of a list: as many layers as it recomputes, none across a layer that it does not.
    pub(super) fn fit_segments(policy: &Policy, chain: &Chain) -> Result<(), Error> {
        let alone = Policy { segments: None, boundaries: None, nested: None, ..policy.clone() };
        let layers: Vec<usize> =
            Self::explicit(chain, &alone).segments.iter().map(|segment| segment.start).collect();
        let mut count = layers.len();
        if let Some(lengths) = &policy.segments {
            let unfit = |accepted| Error::Unfit {
                path: "policy.segments".into(),
                given: format!("{lengths:?}"),
                accepted,
            };
            let total: u64 = lengths.iter().fold(0, |sum, &n| sum.saturating_add(n));
            if total != layers.len() as u64 {
                return Err(unfit(Accepted::SumTo(layers.len() as u64)));
            }
            let mut rest = layers.as_slice();
            for &length in lengths {
                let (run, after) = rest.split_at(usize::try_from(length).unwrap_or(usize::MAX));
                if run[run.len() - 1] - run[0] + 1 != run.len() {
                    return Err(unfit(Accepted::Runs));
                }
                rest = after;
            }
            count = lengths.len();
        }
        let grouped = Policy { boundaries: None, nested: None, ..policy.clone() };
        Self::explicit(chain, &grouped).fit_parts(policy)?;
        match &policy.boundaries {
            Some(list) if list.len() != count => Err(Error::Unfit {
                path: "policy.boundaries".into(),
                given: format!("a list of {}", list.len()),
                accepted: Accepted::Boundaries(count),
            }),
            _ => Ok(()),
        }
    }
}
