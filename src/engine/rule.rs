//! The per-tensor rule of docs/model.md section 1: the cheaper of offloading and recomputing, if its window allows, else keep.
//! A tensor's window runs from its layer's forward to its backward on a compute stream that never waits; the
//! copies before it in the queue count.

use super::chain::{Chain, LayerKind};
use super::hardware::Hardware;
use super::outcome::Reason;
use super::plan::{LayerPlan, Plan};
use super::policy::{Action, Granularity, Policy};
use super::units::{Bytes, Nanos};
use serde::Serialize;

/// The two costs of one layer or tensor and the window they are held against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Time from the end of its forward to the start of its backward.
    pub window: Nanos,
    /// Copy out and back.
    pub round_trip: Nanos,
    /// Copies queued before it.
    pub queue: Nanos,
    /// Making it again.
    pub recompute: Nanos,
}

/// What making it again costs where that is not possible: a storage that two layers share is no layer's to make.
pub const NEVER: Nanos = Nanos(u64::MAX >> 4);

impl Choice {
    /// What the numbers say, of something that has a size, under a safety margin ε.
    #[must_use]
    pub fn reason(&self, epsilon: Nanos) -> Reason {
        if self.recompute <= self.offload_cost() && self.recompute < self.window {
            Reason::RecomputeCheaper
        } else if self.window_allows(epsilon) {
            Reason::OffloadHidden
        } else {
            Reason::WindowTooShort
        }
    }

    /// t_next − t_now > D/B + ε, out and back and behind the queue.
    #[must_use]
    pub fn window_allows(&self, epsilon: Nanos) -> bool {
        self.window > self.queue + self.round_trip + epsilon
    }

    /// T_offload + T_wait: the copies, and what of them the window does not hide.
    #[must_use]
    pub fn offload_cost(&self) -> Nanos {
        self.round_trip + (self.queue + self.round_trip).saturating_sub(self.window)
    }
}

/// Copy time out and back of one tensor over the host link (and the SSD behind it).
#[must_use]
pub fn round_trip(hardware: &Hardware, bytes: Bytes, medium: Action) -> Nanos {
    let host = hardware.copy_out(bytes) + hardware.copy_back(bytes);
    let fixed = hardware.copy_out(Bytes::ZERO) + hardware.copy_back(Bytes::ZERO);
    let ssd = match medium {
        Action::Ssd => hardware.ssd_write.time(bytes) + hardware.ssd_read.time(bytes) + fixed,
        _ => Nanos::ZERO,
    };
    host.max(ssd)
}

/// Per layer, the time from the end of its forward to the start of its backward on an unhindered compute stream.
#[must_use]
pub fn windows(chain: &Chain) -> Vec<Nanos> {
    let mut after = Nanos::ZERO;
    let mut windows: Vec<Nanos> = chain
        .layers
        .iter()
        .rev()
        .map(|layer| {
            let window = after;
            after += layer.forward + layer.backward;
            window
        })
        .collect();
    windows.reverse();
    windows
}

/// The plan of `rule`: layers in forward order, each seeing the copies queued before it.
#[must_use]
pub fn plan(chain: &Chain, policy: &Policy, hardware: &Hardware) -> Plan {
    let mut plan = Plan::uniform(chain, policy, Action::Keep);
    let mut busy = Nanos::ZERO;
    let mut now = Nanos::ZERO;
    for (i, window) in windows(chain).into_iter().enumerate() {
        let layer = &chain.layers[i];
        now += layer.forward;
        if layer.kind != LayerKind::Block {
            continue;
        }
        let mut decide = |bytes: Bytes, recompute: Nanos| {
            let round_trip = round_trip(hardware, bytes, policy.medium);
            let choice = Choice { window, round_trip, queue: busy.saturating_sub(now), recompute };
            let action = decide(&choice, policy);
            if action == policy.medium {
                busy = busy.max(now) + hardware.copy_out(bytes);
            }
            action
        };
        match policy.granularity {
            Granularity::Layer => {
                let action = decide(layer.saved_bytes(), layer.forward);
                plan.assign(chain, std::iter::once((i, action)));
            }
            Granularity::Tensor => {
                let actions = layer.saved.iter().map(|tensor| match tensor.storage {
                    // A boundary is never made again by itself.
                    super::chain::Storage::Inner => decide(tensor.bytes, tensor.recompute),
                    _ => decide(tensor.bytes, NEVER),
                });
                plan.layers[i] = LayerPlan::Plain(actions.collect());
            }
        }
    }
    // Where nothing of a layer stays, there is nothing to make a tensor from: it runs again from its boundary.
    plan.gather_recomputed();
    plan
}

fn decide(choice: &Choice, policy: &Policy) -> Action {
    match choice.reason(policy.epsilon()) {
        Reason::RecomputeCheaper => Action::Recompute,
        Reason::OffloadHidden => policy.medium,
        Reason::WindowTooShort | Reason::NothingSaved => Action::Keep,
    }
}
