//! What leaves the device, where each operation's demand and the room are known: the earliest tensors first, for their windows are the
//! longest, and no more than needed.

use crate::engine::chain::{Chain, Storage};
use crate::engine::plan::{LayerPlan, Plan};
use crate::engine::policy::{Action, Granularity};
use crate::engine::program::{Offload, Program};
use crate::engine::simulate;

/// `plan` with the fewest of its kept tensors offloaded to `medium`, earliest first, that make every operation fit in `room` beside what other
/// micro-batches of a pipeline hold; with all of them where even that does not.
pub fn earliest(chain: &Chain, plan: &Plan, medium: Action, room: u64) -> Plan {
    let away = Plan { granularity: Granularity::Tensor, ..all(plan, medium) };
    let mut program = Program::of(chain, &away);
    let mut copies = std::mem::take(&mut program.offloads);
    copies.sort_by_key(|copy| (copy.after, copy.layer, copy.tensor));
    let base = simulate::demand(&program);
    let resident = program.resident_after_forward();
    let turn = program.turn;
    let fits = |count: usize| {
        let copies = &copies[..count];
        let gone = copies.iter().filter(|copy| copy.after < turn).map(|copy| copy.bytes).sum();
        let others = chain.pipeline.others(resident.saturating_sub(gone));
        fits(&base, copies, room.saturating_sub(others.0))
    };
    // The least number that fits: each copy only ever lowers a demand.
    let (mut low, mut high) = (0, copies.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        if fits(middle) { high = middle } else { low = middle + 1 }
    }
    with(chain, plan, &copies[..low], medium)
}

fn fits(base: &[u64], copies: &[Offload], room: u64) -> bool {
    let mut change = vec![0_i128; base.len() + 1];
    for copy in copies {
        change[copy.after + 1] -= i128::from(copy.bytes.0);
        change[copy.before] += i128::from(copy.bytes.0);
    }
    let mut off = 0;
    base.iter().zip(change).all(|(&demand, change)| {
        off += change;
        i128::from(demand) + off <= i128::from(room)
    })
}

/// Everything that the plan keeps, offloaded.
fn all(plan: &Plan, medium: Action) -> Plan {
    let mut away = plan.clone();
    let leave = |action: &mut Action| {
        if *action == Action::Keep {
            *action = medium;
        }
    };
    for entry in &mut away.layers {
        if let LayerPlan::Plain(actions) = entry {
            actions.iter_mut().for_each(leave);
        }
    }
    away.segments.iter_mut().for_each(|segment| leave(&mut segment.boundary));
    away
}

/// `plan` with these storages offloaded, whoever of its layers keeps them.
fn with(chain: &Chain, plan: &Plan, copies: &[Offload], medium: Action) -> Plan {
    let mut away = plan.clone();
    for copy in copies {
        let storage = copy.tensor.map(|t| chain.layers[copy.layer].saved[t].storage);
        let boundary_of = match storage {
            Some(Storage::Inner) => None,
            Some(Storage::Output) => Some(copy.layer + 1),
            Some(Storage::Input) | None => Some(copy.layer),
        };
        if let (None, Some(t)) = (boundary_of, copy.tensor) {
            if let LayerPlan::Plain(actions) = &mut away.layers[copy.layer] {
                actions[t] = medium;
            }
        } else if let Some(next) = boundary_of {
            leave(chain, &mut away, next, Storage::Input, medium);
            if let Some(before) = next.checked_sub(1) {
                leave(chain, &mut away, before, Storage::Output, medium);
            }
        }
    }
    away
}

/// One layer's claim on a storage that it shares.
fn leave(chain: &Chain, plan: &mut Plan, layer: usize, storage: Storage, medium: Action) {
    match plan.layers.get_mut(layer) {
        Some(LayerPlan::Plain(actions)) => {
            let at = chain.layers[layer].saved.iter().position(|tensor| tensor.storage == storage);
            if let Some(t) = at {
                actions[t] = medium;
            }
        }
        Some(&mut LayerPlan::Segment(at)) if storage == Storage::Input => {
            let segment = &mut plan.segments[at];
            if segment.start == layer {
                segment.boundary = medium;
            }
        }
        _ => {}
    }
}
