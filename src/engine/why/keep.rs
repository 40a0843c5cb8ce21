//! What keeping one more tensor would take: the least memory in which the plan runs with that one kept. Nothing else of the plan
//! changes, but that a layer which is kept leaves its segment.

use crate::engine::chain::Chain;
use crate::engine::evaluate;
use crate::engine::outcome::Outcome;
use crate::engine::plan::{LayerPlan, Plan, Segment};
use crate::engine::policy::Action;
use crate::engine::scenario::Scenario;
use crate::engine::units::Bytes;

/// The least memory in which the plan runs with a layer's tensor kept (all of the layer, where it is made again in a
/// segment); none for one that is kept already.
#[must_use]
pub fn memory(
    scenario: &Scenario,
    outcome: &Outcome,
    layer: usize,
    tensor: usize,
) -> Option<Bytes> {
    let action = *outcome.layers.get(layer)?.actions.get(tensor)?;
    let plan = (action != Action::Keep)
        .then(|| keeping(&outcome.plan, &scenario.chain, (layer, tensor), action))?;
    Some(evaluate::least_memory(scenario, &plan))
}

/// The plan with that tensor kept.
#[must_use]
pub fn keeping(
    plan: &Plan,
    chain: &Chain,
    (layer, tensor): (usize, usize),
    action: Action,
) -> Plan {
    let mut plan = plan.clone();
    match &mut plan.layers[layer] {
        LayerPlan::Plain(actions) => actions[tensor] = Action::Keep,
        LayerPlan::Segment(at) => {
            let at = *at;
            if action == Action::Recompute {
                take_out(&mut plan, at, layer);
                plan.layers[layer] =
                    LayerPlan::Plain(vec![Action::Keep; chain.layers[layer].saved.len()]);
            } else {
                // What does not go with the segment is its boundary.
                plan.segments[at].boundary = Action::Keep;
            }
        }
    }
    plan
}

/// Takes a layer out of its segment, which becomes two where it was in the middle.
fn take_out(plan: &mut Plan, at: usize, layer: usize) {
    let Segment { start, end, boundary } = plan.segments[at];
    let parts = [(start, layer, boundary), (layer + 1, end, Action::Keep)];
    let parts = parts.into_iter().filter(|(start, end, _)| start < end);
    let parts: Vec<_> =
        parts.map(|(start, end, boundary)| Segment { start, end, boundary }).collect();
    plan.segments.splice(at..=at, parts);
    let (segments, layers) = (&plan.segments, &mut plan.layers);
    for (i, segment) in segments.iter().enumerate() {
        for entry in &mut layers[segment.start..segment.end] {
            *entry = LayerPlan::Segment(i);
        }
    }
}
