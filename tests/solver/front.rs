//! The front of the additive model: no point dominated, each the optimum at its own limit, none missing.

use super::{Instance, Layer, any_instance, close, oracle, part};
use galley::engine::search::additive::{Front, front};
use proptest::prelude::*;

#[track_caller]
fn consistent(instance: &Instance, front: &Front) {
    for point in &front.points {
        let limited = Instance { memory: point.memory.0, ..instance.clone() };
        let cost = limited.cost(&point.actions);
        assert!(cost.fits, "{cost:?}");
        assert_eq!(cost.memory, point.memory);
        assert_eq!(cost.objective_s.to_bits(), point.objective_s.to_bits());
    }
    let falls = |pair: &[_]| matches!(pair, [a, b] if rises(a, b));
    assert!(front.points.windows(2).all(falls), "one is dominated");
}

fn rises(
    a: &galley::engine::search::additive::Point,
    b: &galley::engine::search::additive::Point,
) -> bool {
    a.memory < b.memory && a.objective_s > b.objective_s
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// At every limit the last point that fits is the optimum over all 4^n plans.
    #[test]
    fn the_front_is_the_optimum_at_every_limit(instance in any_instance(5), share in 0.0..1.1) {
        let front = front(&instance);
        prop_assert!(front.exact);
        consistent(&instance, &front);
        let total: u64 = instance.layers.iter().map(|layer| layer.size).sum();
        let just_below = front.points.iter().flat_map(|p| [p.memory.0, p.memory.0.saturating_sub(1)]);
        for memory in just_below.chain([0, part(total, share)]) {
            let best = oracle::brute_force(&Instance { memory, ..instance.clone() });
            let fitting = front.points.iter().rev().find(|point| point.memory.0 <= memory);
            let found = fitting.map_or(f64::INFINITY, |point| point.objective_s);
            prop_assert!(close(found, best), "{found} against {best} at {memory}");
        }
    }
}

/// An embedding, 94 blocks of two kinds, a head: what a transformer is.
fn transformer() -> Instance {
    let block = |size, ms: f64| Layer { size, residual: 16_777_216, recompute_s: ms / 1e3 };
    let mut layers = vec![Layer { size: 33_554_432, residual: 0, recompute_s: 0.0002 }];
    layers.extend(
        (0..94)
            .map(|i| if i % 4 == 3 { block(436_207_616, 11.0) } else { block(570_425_344, 14.5) }),
    );
    layers.push(Layer { size: 1_048_576_000, residual: 33_554_432, recompute_s: 0.009 });
    Instance {
        layers,
        link_s: 2.0 / 25e9,
        ssd_s: 1.0 / 5e9 + 1.0 / 6e9,
        hidden_s: 3.9,
        memory: 0,
        host: 20_000_000_000,
        ssd: None,
    }
}

/// 96 layers: the front is exact, and the search for one limit comes to the same.
#[test]
fn a_transformers_front_is_exact() {
    let instance = transformer();
    let front = front(&instance);
    assert!(front.exact && front.points.len() > 50, "{} points", front.points.len());
    consistent(&instance, &front);
    assert_eq!(front.points.last().map(|point| point.objective_s), Some(0.0));
    for point in front.points.iter().step_by(7) {
        let solution = Instance { memory: point.memory.0, ..instance.clone() }.solve();
        assert!(solution.optimal, "gap {} at {:?}", solution.gap(), point.memory);
        let difference = (solution.objective_s - point.objective_s).abs();
        assert!(difference <= 1e-9 * point.objective_s + 1e-12);
    }
}

/// With layers all different the optimum at a row of limits stands for it, and it says so.
#[test]
fn a_row_of_limits_is_no_whole_front() {
    let row = &super::rows(&super::SOLVER, "four_choice")[3];
    let instance = super::instance(row);
    let front = front(&instance);
    assert!(!front.exact && front.points.len() > 5);
    consistent(&instance, &front);
}
