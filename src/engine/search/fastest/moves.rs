//! Small changes of what a plan recomputes, to be tried by the simulator: where along the layers a tensor's fate changes, it changes one
//! layer earlier or later; segments grow, shrink, split and join.

use crate::engine::chain::{Chain, Storage};
use crate::engine::plan::{LayerPlan, Plan, Segment};
use crate::engine::policy::Action;

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A tensor of a plain layer is kept instead of made again, or the other way round.
    Turn(usize, usize),
    /// Everything of a layer is kept, which was made again, or the other way round; a layer of a segment leaves it at its end.
    Layer(usize),
    /// The segment of a layer is cut before it.
    Cut(usize),
    /// The segment that ends before a layer and the one that starts there become one.
    Join(usize),
}

/// All of them, in the order of layers.
pub fn moves(chain: &Chain, plan: &Plan) -> Vec<Move> {
    let mut moves = Vec::new();
    let again = |i: usize, t: usize| match plan.layers.get(i) {
        Some(LayerPlan::Plain(actions)) => actions.get(t).map(|&a| a == Action::Recompute),
        _ => None,
    };
    for (i, layer) in chain.layers.iter().enumerate() {
        let edge = |other: Option<usize>| {
            other.is_none_or(|j| j >= chain.layers.len() || kind(plan, j) != kind(plan, i))
        };
        match &plan.layers[i] {
            LayerPlan::Plain(_) => {
                for (t, tensor) in layer.saved.iter().enumerate() {
                    let here = again(i, t);
                    let differs = [i.checked_sub(1), Some(i + 1)]
                        .into_iter()
                        .any(|j| j.and_then(|j| again(j, t)) != here);
                    if tensor.storage == Storage::Inner && tensor.bytes.0 > 0 && differs {
                        moves.push(Move::Turn(i, t));
                    }
                }
                if edge(i.checked_sub(1)) || edge(Some(i + 1)) {
                    moves.push(Move::Layer(i));
                }
            }
            &LayerPlan::Segment(at) => {
                let Segment { start, end, .. } = plan.segments[at];
                if i == start || i + 1 == end {
                    moves.push(Move::Layer(i));
                }
                if i > start {
                    moves.push(Move::Cut(i));
                } else if i > 0 && matches!(plan.layers[i - 1], LayerPlan::Segment(_)) {
                    moves.push(Move::Join(i));
                }
            }
        }
    }
    moves
}

/// Whether a layer is recomputed as a whole.
fn kind(plan: &Plan, i: usize) -> bool {
    matches!(plan.layers[i], LayerPlan::Segment(_))
}

/// The plan after a move; none where it changes nothing that can be.
pub fn moved(chain: &Chain, plan: &Plan, change: Move) -> Option<Plan> {
    let mut next = plan.clone();
    match change {
        Move::Turn(i, t) => {
            let LayerPlan::Plain(actions) = &mut next.layers[i] else { return None };
            actions[t] = match actions[t] {
                Action::Recompute => Action::Keep,
                _ => Action::Recompute,
            };
            if actions.iter().all(|&action| action == Action::Recompute) {
                return None;
            }
        }
        Move::Layer(i) => match plan.layers[i] {
            LayerPlan::Plain(ref actions) => {
                if actions.is_empty() {
                    return None;
                }
                next.segments.push(Segment { start: i, end: i + 1, boundary: Action::Keep });
            }
            LayerPlan::Segment(at) => {
                let segment = &mut next.segments[at];
                if i == segment.start { segment.start += 1 } else { segment.end -= 1 }
            }
        },
        Move::Cut(i) => {
            let LayerPlan::Segment(at) = plan.layers[i] else { return None };
            let end = std::mem::replace(&mut next.segments[at].end, i);
            next.segments.push(Segment { start: i, end, boundary: Action::Keep });
        }
        Move::Join(i) => {
            let (LayerPlan::Segment(before), LayerPlan::Segment(at)) =
                (&plan.layers[i - 1], &plan.layers[i])
            else {
                return None;
            };
            next.segments[*before].end = plan.segments[*at].end;
            next.segments[*at].end = next.segments[*at].start;
        }
    }
    Some(settled(chain, next))
}

/// Segments in order, empty ones gone, layers that know theirs; a layer that left its segment keeps everything.
fn settled(chain: &Chain, mut plan: Plan) -> Plan {
    let mut segments: Vec<Segment> = std::mem::take(&mut plan.segments);
    segments.retain(|segment| segment.start < segment.end);
    segments.sort_by_key(|segment| segment.start);
    let inside =
        |i: usize| segments.iter().any(|segment| (segment.start..segment.end).contains(&i));
    let left: Vec<usize> = (0..plan.layers.len())
        .filter(|&i| matches!(plan.layers[i], LayerPlan::Segment(_)) && !inside(i))
        .collect();
    for i in left {
        plan.layers[i] = LayerPlan::Plain(vec![Action::Keep; chain.layers[i].saved.len()]);
    }
    for segment in segments {
        plan.recompute(segment.start, segment.end, segment.boundary);
    }
    plan.lengths =
        plan.segments.iter().map(|segment| (segment.end - segment.start) as u64).collect();
    plan
}
