//! The additive cost model, solved exactly: per layer keep, recompute, offload to host or to SSD, at least
//! Σ recomputation + what the copies take beyond the compute that hides them (docs/model.md, section 4). Principal type
//! [`Instance`]; its law: a [`Solution`] that says `optimal` is within [`Instance::tolerance`] of the least objective there is, and
//! `bound_s` never exceeds that least objective. It knows nothing of streams, windows or positions in time: that is the
//! simulation's.

mod fill;
mod front;
mod knapsack;
mod pack;
mod read;
mod recompute;
mod solve;
mod subset;

pub use front::{Front, Point, front};
pub use knapsack::{Kept, Knapsack};
pub use read::{answer, front_answer};
pub use solve::Solution;

use crate::engine::policy::Action;
use crate::engine::units::Bytes;

/// Most layers (or tensors of a knapsack) that are read.
pub const MOST_LAYERS: usize = 10_000;

/// One layer as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// What it keeps for backward, bytes.
    pub size: u64,
    /// What stays when it is recomputed, bytes.
    pub residual: u64,
    /// What recomputing it takes, s.
    pub recompute_s: f64,
}

/// A chain, its links and its limits. Sizes sum to at most 2^60 bytes; times and rates are finite and not negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The layers.
    pub layers: Vec<Layer>,
    /// Time on the host link per offloaded byte, both ways: 2 / bandwidth, s.
    pub link_s: f64,
    /// Time on the SSD per byte that goes there, both ways: 1 / write + 1 / read, s.
    pub ssd_s: f64,
    /// Compute that hides copies, s.
    pub hidden_s: f64,
    /// Device memory for kept layers and residuals, bytes.
    pub memory: u64,
    /// Host memory, bytes.
    pub host: u64,
    /// SSD space, bytes; none where it is not limited.
    pub ssd: Option<u64>,
}

/// What a list of actions comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Kept layers and residuals.
    pub memory: Bytes,
    /// Offloaded to host.
    pub host: Bytes,
    /// Offloaded to SSD.
    pub ssd: Bytes,
    /// Σ recomputation, s.
    pub recompute_s: f64,
    /// Time on the host link, s: SSD traffic crosses it too.
    pub link_s: f64,
    /// Time on the SSD, s.
    pub ssd_s: f64,
    /// What of the longer of both is not hidden, s.
    pub exposed_s: f64,
    /// Recomputation and exposed time, s.
    pub objective_s: f64,
    /// Within memory, host and SSD.
    pub fits: bool,
}

impl Instance {
    /// What `actions` come to, one per layer.
    #[must_use]
    pub fn cost(&self, actions: &[Action]) -> Cost {
        let (mut memory, mut host, mut ssd, mut recompute_s) = (0, 0, 0, 0.0);
        for (layer, action) in self.layers.iter().zip(actions) {
            match action {
                Action::Keep => memory += layer.size,
                Action::Recompute => {
                    memory += layer.residual;
                    recompute_s += layer.recompute_s;
                }
                Action::Host => host += layer.size,
                Action::Ssd => ssd += layer.size,
            }
        }
        let (link_s, ssd_s) = (float(host + ssd) * self.link_s, float(ssd) * self.ssd_s);
        let exposed_s = self.exposed(host + ssd, ssd);
        Cost {
            memory: Bytes(memory),
            host: Bytes(host),
            ssd: Bytes(ssd),
            recompute_s,
            link_s,
            ssd_s,
            exposed_s,
            objective_s: recompute_s + exposed_s,
            fits: memory <= self.memory
                && host <= self.host
                && self.ssd.is_none_or(|limit| ssd <= limit),
        }
    }

    /// max(0, max(`t_link`, `t_ssd`) − hidden), s, for that many bytes over the link, of which `ssd` to the SSD.
    fn exposed(&self, link: u64, ssd: u64) -> f64 {
        let busy = (float(link) * self.link_s).max(float(ssd) * self.ssd_s);
        (busy - self.hidden_s).max(0.0)
    }

    /// More than any plan costs, s.
    fn worst(&self) -> f64 {
        let total = float(self.layers.iter().map(|layer| layer.size).sum());
        let work: f64 = self.layers.iter().map(|layer| layer.recompute_s).sum();
        (work + total * (self.link_s + self.ssd_s)) * (1.0 + 1e-9)
    }

    /// Differences of objectives at or below this count as none: 1e-12 of the objective, and what the sums themselves round.
    #[must_use]
    pub fn tolerance(&self, objective_s: f64) -> f64 {
        let total = float(self.layers.iter().map(|layer| layer.size).sum());
        let work: f64 = self.layers.iter().map(|layer| layer.recompute_s).sum();
        let scale = work + self.hidden_s + total * self.link_s;
        let relative = if objective_s.is_finite() { 1e-12 * objective_s } else { 0.0 };
        relative + 1e-15 * scale
    }

    /// The least objective, with its certificate.
    #[must_use]
    pub fn solve(&self) -> Solution {
        solve::solve(self, solve::WORK)
    }

    /// The same with at most about `work` elementary steps: what is found by then, and how far it can be from the optimum.
    #[must_use]
    pub fn solve_within(&self, work: u64) -> Solution {
        solve::solve(self, work)
    }
}

/// Equal layers are interchangeable: what counts is how many of a kind take each action.
#[derive(Clone, Debug)]
struct Kind {
    layer: Layer,
    members: Vec<usize>,
}

impl Kind {
    fn count(&self) -> u32 {
        u32::try_from(self.members.len()).unwrap_or(u32::MAX)
    }
}

/// The kinds, in order of size.
fn kinds(layers: &[Layer]) -> Vec<Kind> {
    let key = |i: usize| (layers[i].size, layers[i].residual, layers[i].recompute_s.to_bits());
    let mut order: Vec<usize> = (0..layers.len()).collect();
    order.sort_by_key(|&i| (key(i), i));
    let mut kinds: Vec<Kind> = Vec::new();
    for i in order {
        match kinds.last_mut() {
            Some(kind) if key(kind.members[0]) == key(i) => kind.members.push(i),
            _ => kinds.push(Kind { layer: layers[i], members: vec![i] }),
        }
    }
    kinds
}

/// How many of one kind go where; the rest stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    recompute: u32,
    host: u32,
    ssd: u32,
}

/// One action per layer. Of equal layers the earliest are offloaded and the last stay: in a real step their windows are long.
fn actions(kinds: &[Kind], counts: &[Counts], layers: usize) -> Vec<Action> {
    let mut actions = vec![Action::Keep; layers];
    for (kind, counts) in kinds.iter().zip(counts) {
        let order = [
            (Action::Ssd, counts.ssd),
            (Action::Host, counts.host),
            (Action::Recompute, counts.recompute),
        ];
        let order = order.iter().flat_map(|&(action, n)| (0..n).map(move |_| action));
        for (&layer, action) in kind.members.iter().zip(order) {
            actions[layer] = action;
        }
    }
    actions
}

#[expect(
    clippy::cast_precision_loss,
    reason = "exact below 2^53; beyond that, rounding is in the tolerance"
)]
const fn float(bytes: u64) -> f64 {
    bytes as f64
}
