//! What happens to every saved tensor. Principal type [`Plan`]: per layer, either the actions of its tensors or the
//! segment that recomputes it. It knows the chain, not the clock (`rule` alone compares times).

use super::accepted::Accepted;
use super::chain::{Chain, Storage};
use super::error::{Clamped, Error, Notes};
use super::hardware::Hardware;
use super::nested::Nested;
use super::policy::{Action, Granularity, Policy, PolicyKind};
use super::rule;
use super::units::Bytes;

/// A run of layers that is recomputed as one from its boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First layer.
    pub start: usize,
    /// One past the last layer.
    pub end: usize,
    /// What happens to the boundary between forward and backward.
    pub boundary: Action,
}

/// What happens in one layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerPlan {
    /// Each saved tensor has its own action.
    Plain(Vec<Action>),
    /// All of it is recomputed within this segment.
    Segment(usize),
}

/// The policy of every saved tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Per layer of the chain.
    pub layers: Vec<LayerPlan>,
    /// The segments, in order.
    pub segments: Vec<Segment>,
    /// Parts of segments that run more than once more, in order, outer before inner: none in a flat plan.
    pub nested: Vec<Nested>,
    /// Layer counts of all segments over the blocks, the plain ones included: what the reader asked for.
    pub lengths: Vec<u64>,
    /// A segment's output is held during its backward.
    pub reentrant: bool,
    /// Layers ahead of use that a prefetch is issued.
    pub prefetch: usize,
    /// How copies are cut.
    pub granularity: Granularity,
}

impl Plan {
    /// Keep everything.
    #[must_use]
    pub fn keep(chain: &Chain) -> Self {
        Self::uniform(chain, &Policy::new(PolicyKind::Keep), Action::Keep)
    }

    /// The plan that a policy means for a chain. `best` is the search's to resolve, and `rotor` takes a memory limit
    /// ([`evaluate::plan`](super::evaluate::plan)): here they keep.
    #[must_use]
    pub fn of(policy: &Policy, chain: &Chain, hardware: &Hardware) -> Self {
        let mut plan = match policy.kind {
            PolicyKind::Keep | PolicyKind::Best | PolicyKind::Rotor => {
                Self::uniform(chain, policy, Action::Keep)
            }
            PolicyKind::Offload => Self::uniform(chain, policy, policy.medium),
            PolicyKind::Checkpoint => Self::checkpoint(chain, policy),
            PolicyKind::Recompute => Self::every_layer(chain, policy, Action::Keep),
            PolicyKind::OffloadBoundaries => Self::every_layer(chain, policy, policy.medium),
            PolicyKind::Mix => Self::mix(chain, policy),
            PolicyKind::Selective => Self::selective(chain, policy),
            PolicyKind::Binomial => Self::binomial(chain, policy),
            PolicyKind::Rule => rule::plan(chain, policy, hardware),
            PolicyKind::Plan => return Self::explicit(chain, policy),
        };
        plan.keep_small(chain, Bytes(policy.min_offload_bytes));
        plan
    }

    /// Tensors below `least` stay instead of being offloaded.
    fn keep_small(&mut self, chain: &Chain, least: Bytes) {
        let settle = |action: &mut Action, bytes: Bytes| {
            if matches!(action, Action::Host | Action::Ssd) && bytes < least {
                *action = Action::Keep;
            }
        };
        for (layer, entry) in chain.layers.iter().zip(&mut self.layers) {
            if let LayerPlan::Plain(actions) = entry {
                for (tensor, action) in layer.saved.iter().zip(actions) {
                    settle(action, tensor.bytes);
                }
            }
        }
        for segment in &mut self.segments {
            settle(&mut segment.boundary, chain.layers[segment.start].boundary);
        }
    }

    /// Every tensor under one action.
    pub(crate) fn uniform(chain: &Chain, policy: &Policy, action: Action) -> Self {
        Self {
            layers: chain
                .layers
                .iter()
                .map(|layer| LayerPlan::Plain(vec![action; layer.saved.len()]))
                .collect(),
            segments: Vec::new(),
            nested: Vec::new(),
            lengths: Vec::new(),
            reentrant: policy.reentrant,
            prefetch: usize::try_from(policy.prefetch_layers).unwrap_or(usize::MAX),
            granularity: policy.granularity,
        }
    }

    /// Recomputes layers `start..end` as one segment.
    pub(crate) fn recompute(&mut self, start: usize, end: usize, boundary: Action) {
        for layer in &mut self.layers[start..end] {
            *layer = LayerPlan::Segment(self.segments.len());
        }
        self.segments.push(Segment { start, end, boundary });
    }

    /// Cuts `blocks` into segments of `lengths` and recomputes all but a plain last one.
    fn cut(&mut self, blocks: &[usize], lengths: &[u64], last_plain: bool, boundary: Action) {
        let mut at = 0;
        for (i, &length) in lengths.iter().enumerate() {
            let next = at + usize::try_from(length).unwrap_or(usize::MAX);
            if !(last_plain && i + 1 == lengths.len()) {
                self.recompute(blocks[at], blocks[next - 1] + 1, boundary);
            }
            at = next;
        }
        self.lengths = lengths.to_vec();
    }

    fn checkpoint(chain: &Chain, policy: &Policy) -> Self {
        let blocks: Vec<usize> = chain.blocks().collect();
        let lengths =
            policy.segments.clone().unwrap_or_else(|| even_split(blocks.len() as u64, policy.k));
        let mut plan = Self::uniform(chain, policy, Action::Keep);
        plan.cut(&blocks, &lengths, policy.last_segment_plain, Action::Keep);
        plan
    }

    fn every_layer(chain: &Chain, policy: &Policy, boundary: Action) -> Self {
        let blocks: Vec<usize> = chain.blocks().collect();
        let mut plan = Self::uniform(chain, policy, Action::Keep);
        plan.cut(&blocks, &vec![1; blocks.len()], policy.last_segment_plain, boundary);
        plan
    }

    /// The first layers have the longest windows, so they are offloaded; the last share β is checkpointed.
    fn mix(chain: &Chain, policy: &Policy) -> Self {
        let blocks: Vec<usize> = chain.blocks().collect();
        let checkpointed = round_share(policy.beta, blocks.len());
        let (offloaded, rest) = blocks.split_at(blocks.len() - checkpointed);
        let mut plan = Self::uniform(chain, policy, Action::Keep);
        for &i in offloaded {
            plan.layers[i] = LayerPlan::Plain(vec![policy.medium; chain.layers[i].saved.len()]);
        }
        if !rest.is_empty() {
            let lengths = even_split(rest.len() as u64, policy.k);
            plan.cut(rest, &lengths, policy.last_segment_plain, Action::Keep);
        }
        plan
    }

    fn selective(chain: &Chain, policy: &Policy) -> Self {
        let mut plan = Self::uniform(chain, policy, Action::Keep);
        for (layer, entry) in chain.layers.iter().zip(&mut plan.layers) {
            let action = |core| {
                if core { Action::Recompute } else { Action::Keep }
            };
            *entry = LayerPlan::Plain(
                layer.saved.iter().map(|tensor| action(tensor.attention_core)).collect(),
            );
        }
        plan
    }

    /// Gives whole layers an action; a recomputed layer is a segment of its own.
    pub(crate) fn assign(&mut self, chain: &Chain, actions: impl Iterator<Item = (usize, Action)>) {
        for (i, action) in actions {
            if action == Action::Recompute {
                self.recompute(i, i + 1, Action::Keep);
            } else {
                self.layers[i] = LayerPlan::Plain(vec![action; chain.layers[i].saved.len()]);
            }
        }
    }

    /// A layer all of whose tensors are recomputed is a segment of its own.
    pub(crate) fn gather_recomputed(&mut self) {
        for i in 0..self.layers.len() {
            let all = matches!(&self.layers[i], LayerPlan::Plain(actions)
                if !actions.is_empty() && actions.iter().all(|&action| action == Action::Recompute));
            if all {
                self.recompute(i, i + 1, Action::Keep);
            }
        }
    }

    /// The action of a layer's tensor: what the table of the page shows.
    #[must_use]
    pub fn action(&self, layer: usize, tensor: usize, storage: Storage) -> Action {
        match &self.layers[layer] {
            LayerPlan::Plain(actions) => actions[tensor],
            LayerPlan::Segment(at) => {
                let segment = self.segments[*at];
                if storage == Storage::Input && segment.start == layer {
                    segment.boundary
                } else {
                    Action::Recompute
                }
            }
        }
    }

    /// The same, with what a neighbour does to a storage that both keep: it stays where either wants it to.
    #[must_use]
    pub fn effective(
        &self,
        chain: &Chain,
        layer: usize,
        tensor: usize,
        storage: Storage,
    ) -> Action {
        let own = self.action(layer, tensor, storage);
        let other = match storage {
            Storage::Inner => None,
            Storage::Input => {
                layer.checked_sub(1).and_then(|i| self.claim(chain, i, Storage::Output))
            }
            Storage::Output => Some(layer + 1)
                .filter(|&i| i < chain.layers.len())
                .and_then(|i| self.claim(chain, i, Storage::Input)),
        };
        match (own, other) {
            (Action::Host | Action::Ssd, Some(Action::Keep)) => Action::Keep,
            _ => own,
        }
    }

    /// What a layer wants of a storage that it shares, if it keeps it through the turn.
    fn claim(&self, chain: &Chain, layer: usize, storage: Storage) -> Option<Action> {
        match &self.layers[layer] {
            LayerPlan::Segment(at) => {
                let segment = self.segments[*at];
                (storage == Storage::Input && segment.start == layer).then_some(segment.boundary)
            }
            LayerPlan::Plain(actions) => {
                let at = chain.layers[layer]
                    .saved
                    .iter()
                    .position(|tensor| tensor.storage == storage)?;
                // A shared storage cannot be made again by one of its keepers alone.
                Some(if actions[at] == Action::Recompute { Action::Keep } else { actions[at] })
            }
        }
    }

    /// The same plan with everything kept that it offloads.
    #[must_use]
    pub fn without_offload(&self) -> Self {
        let keep = |action: &Action| match action {
            Action::Host | Action::Ssd => Action::Keep,
            other => *other,
        };
        let mut plan = self.clone();
        for layer in &mut plan.layers {
            if let LayerPlan::Plain(actions) = layer {
                *actions = actions.iter().map(keep).collect();
            }
        }
        for segment in &mut plan.segments {
            segment.boundary = keep(&segment.boundary);
        }
        plan
    }

    /// How many layer forwards run again.
    #[must_use]
    pub fn recomputed_layers(&self) -> usize {
        let flat: usize = self.segments.iter().map(|segment| segment.end - segment.start).sum();
        flat + self.nested.iter().map(|inner| inner.end - inner.start).sum::<usize>()
    }

    /// Brings `policy` into what `chain` allows: K and slots at most the blocks, slots enough for a schedule that ends, explicit
    /// lists of a length that fits.
    ///
    /// # Errors
    /// [`Error::Unfit`] for lists that match no reading, and for a chain that is too long to plan.
    pub fn fit_policy(policy: &mut Policy, chain: &Chain, notes: &mut Notes) -> Result<(), Error> {
        let count = chain.blocks().count();
        let blocks = count as u64;
        if policy.k > blocks.max(1) {
            let (given, used) = (policy.k.into(), blocks.max(1).into());
            notes.clamped.push(Clamped { path: "policy.k".into(), given, used });
            policy.k = blocks.max(1);
        }
        Self::fit_nested(policy, chain, notes)?;
        if let Some(segments) =
            policy.segments.as_ref().filter(|_| policy.kind == PolicyKind::Checkpoint)
        {
            let total: u64 = segments.iter().fold(0, |sum, &n| sum.saturating_add(n));
            if total != blocks {
                return Err(Error::Unfit {
                    path: "policy.segments".into(),
                    given: format!("{segments:?}, which sums to {total}"),
                    accepted: Accepted::SumTo(blocks),
                });
            }
        }
        if let Some(list) = policy.plan.as_ref().filter(|_| policy.kind == PolicyKind::Plan) {
            let layers = chain.layers.len();
            let tensors: usize = chain.layers.iter().map(|layer| layer.saved.len()).sum();
            if ![count, layers, tensors].contains(&list.len()) {
                return Err(Error::Unfit {
                    path: "policy.plan".into(),
                    given: format!("a list of {}", list.len()),
                    accepted: Accepted::Actions { blocks, layers, tensors },
                });
            }
            Self::fit_segments(policy, chain)?;
        }
        Ok(())
    }
}

/// `layers` over `k` as evenly as can be, the longer ones first: 9 over 5 is 2, 2, 2, 2, 1.
#[must_use]
pub fn even_split(layers: u64, k: u64) -> Vec<u64> {
    let k = k.max(1).min(layers);
    (0..k).map(|i| layers / k + u64::from(i < layers % k)).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a layer count"
)]
fn round_share(share: f64, count: usize) -> usize {
    ((share * count as f64).round() as usize).min(count)
}

#[cfg(test)]
mod tests {
    use super::even_split;

    #[test]
    fn splits_are_even() {
        assert_eq!(even_split(9, 5), [2, 2, 2, 2, 1]);
        assert_eq!(even_split(8, 3), [3, 3, 2]);
        assert_eq!(even_split(4, 9), [1, 1, 1, 1]);
        assert_eq!(even_split(4, 1), [4]);
        assert_eq!(even_split(0, 3), [0; 0]);
    }
}
