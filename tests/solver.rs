//! The additive model's optimum: against instances with proved optima, brute force over all four actions, a mixed-integer programme, and its
//! own laws. Native only: the engine is the same in wasm (tests/parity.rs).

#![cfg(not(target_arch = "wasm32"))]

#[path = "solver/doors.rs"]
mod doors;
#[path = "solver/front.rs"]
mod front;
#[path = "solver/instance.rs"]
mod instance;
#[path = "solver/knapsack.rs"]
mod knapsack;
#[path = "solver/oracle.rs"]
mod oracle;
#[path = "solver/theory.rs"]
mod theory;

use galley::engine::Bytes;
use galley::engine::search::additive::{Instance, Layer, Solution};
use instance::{instance, number, rows, sizes, times, whole};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::LazyLock;

static SOLVER: LazyLock<Value> = LazyLock::new(|| vector("solver"));

fn vector(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// A share of that many bytes.
fn part(total: u64, share: f64) -> u64 {
    Bytes::from_f64((Bytes(total).as_f64() * share).floor()).0
}

/// Equal to 1e-9 of the second, or both infinite.
fn close(found: f64, best: f64) -> bool {
    (found - best).abs() <= 1e-9 * best + 1e-12 || found.is_infinite() && best.is_infinite()
}

/// The plan is one of the instance, costs what it says, and the certificate is consistent.
#[track_caller]
fn consistent(instance: &Instance, solution: &Solution) {
    let Some(actions) = &solution.actions else {
        assert!(solution.objective_s.is_infinite());
        return;
    };
    assert_eq!(actions.len(), instance.layers.len());
    let cost = instance.cost(actions);
    assert!(cost.fits, "{cost:?}");
    assert_eq!(cost.objective_s.to_bits(), solution.objective_s.to_bits());
    assert!(solution.bound_s <= solution.objective_s);
    assert!((0.0..=1.0).contains(&solution.gap()));
    assert!(!solution.optimal || solution.gap() == 0.0);
}

/// Every instance is solved to proved optimality, also the one that HiGHS left open after 240 s.
#[test]
fn instances_are_proved_optimal() {
    let rows = rows(&SOLVER, "four_choice");
    assert_eq!(rows.len(), 18);
    let mut open = 0;
    for row in rows {
        let (id, instance) = (&row["id"], instance(row));
        let solution = instance.solve();
        consistent(&instance, &solution);
        assert!(solution.optimal, "{id}: gap {}", solution.gap());
        let best = number(&row["other"], "best_known_objective_s");
        let proved = row["other"]["optimal_to_1e-9"] == true;
        let difference = solution.objective_s - best;
        assert!(difference <= 1e-9 * best, "{id}: {} is worse than {best}", solution.objective_s);
        assert!(!proved || difference.abs() <= 1e-9 * best, "{id}: below a proved optimum");
        let bound = number(&row["highs"], "dual_bound_s");
        assert!(solution.objective_s >= bound - 1e-9 * bound, "{id}: below the dual bound");
        open += usize::from(!proved);
    }
    assert_eq!(open, 1, "instances that others left open");
}

/// With little work allowed the answer is a plan all the same, and the gap is honest.
#[test]
fn a_stopped_search_says_how_far_it_may_be() {
    for row in rows(&SOLVER, "four_choice") {
        let instance = instance(row);
        let best = instance.solve();
        for work in [0, 100, 10_000, 1_000_000] {
            let stopped = instance.solve_within(work);
            consistent(&instance, &stopped);
            assert!(stopped.objective_s >= best.objective_s * (1.0 - 1e-12), "{}", row["id"]);
            assert!(stopped.bound_s <= best.objective_s * (1.0 + 1e-12), "{}: {work}", row["id"]);
        }
    }
}

/// Chains that leave much undecided: nothing costs time, all cost the same per byte, thousands of layers. They end, with a plan.
#[test]
fn hard_shapes_end() {
    let chain = |n: u64, each: fn(u64) -> (u64, f64)| {
        let layers: Vec<Layer> = (0..n)
            .map(each)
            .map(|(size, recompute_s)| Layer { size, residual: size / 20, recompute_s })
            .collect();
        let total: u64 = layers.iter().map(|layer| layer.size).sum();
        let (link_s, ssd_s) = (1e-10, 5e-10);
        let hidden_s = Bytes(total).as_f64() * link_s / 3.0;
        Instance { layers, link_s, ssd_s, hidden_s, memory: total / 4, host: total / 5, ssd: None }
    };
    let shapes = [
        chain(60, |i| (1 + i * i * 7919, 0.0)),
        chain(60, |i| (20 * (1 + i * i), Bytes(1 + i * i).as_f64() * 1.9e-9)),
        chain(10_000, |i| (1_000_003 + i * 7919 % 100_003, Bytes(i % 97).as_f64() * 1e-6)),
        chain(10_000, |_| (1_000_003, 1e-4)),
        chain(40, |i| (1 << i, 1e-3)),
        chain(1, |_| (0, 0.0)),
        chain(0, |_| (1, 1.0)),
    ];
    for (i, instance) in shapes.iter().enumerate() {
        let solution = instance.solve_within(500_000);
        consistent(instance, &solution);
        assert!(solution.actions.is_some(), "shape {i}");
        assert!(solution.gap() < 0.05, "shape {i}: gap {}", solution.gap());
    }
}

fn layer(most: u64) -> impl Strategy<Value = Layer> {
    (0..=most, 0..=most / 3, 0..200_u32).prop_map(|(size, residual, ms)| Layer {
        size,
        residual,
        recompute_s: f64::from(ms) / 1e3,
    })
}

/// Instances with ties, equal layers, layers of nothing, residuals beyond their layer, limits from nothing to everything.
fn any_instance(layers: usize) -> impl Strategy<Value = Instance> {
    let sizes = prop_oneof![Just(6_u64), Just(40), Just(1_000_000_007)];
    let list = sizes.prop_flat_map(move |most| proptest::collection::vec(layer(most), 1..=layers));
    let share = || prop_oneof![Just(0.0), Just(1.0), 0.0..1.2];
    let rate = || prop_oneof![Just(0.1), Just(1.0), 0.01..10.0];
    (list, share(), share(), share(), rate(), rate(), proptest::option::weighted(0.3, share()))
        .prop_map(|(layers, memory, host, hidden, link, ssd, limit)| {
            let total: u64 = layers.iter().map(|layer| layer.size).sum();
            let unit = 1.0 / Bytes(total.max(1)).as_f64();
            let part = |share: f64| part(total, share);
            Instance {
                link_s: link * unit,
                ssd_s: ssd * unit,
                hidden_s: hidden * link.max(ssd),
                memory: part(memory),
                host: part(host),
                ssd: limit.map(part),
                layers,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// The optimum over all 4^n plans.
    #[test]
    fn brute_force_agrees(instance in any_instance(7)) {
        let solution = instance.solve();
        consistent(&instance, &solution);
        prop_assert!(solution.optimal);
        let best = oracle::brute_force(&instance);
        prop_assert_eq!(solution.actions.is_some(), best.is_finite());
        prop_assert!(close(solution.objective_s, best), "{} against {best}", solution.objective_s);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// The same with ten layers: a million plans each.
    #[test]
    fn brute_force_agrees_on_ten(instance in any_instance(10)) {
        let (solution, best) = (instance.solve(), oracle::brute_force(&instance));
        prop_assert!(solution.optimal);
        prop_assert!(close(solution.objective_s, best), "{} against {best}", solution.objective_s);
    }

    /// A mixed-integer programme of the same model, solved by another program.
    #[test]
    fn a_mixed_integer_programme_agrees(instance in any_instance(14)) {
        let solution = instance.solve();
        consistent(&instance, &solution);
        prop_assert!(solution.optimal);
        if let Some(best) = oracle::milp(&instance) {
            let tolerance = 1e-6 * (best + instance.hidden_s + 1e-3);
            prop_assert!((solution.objective_s - best).abs() <= tolerance, "{} against {best}", solution.objective_s);
        } else {
            prop_assert!(solution.actions.is_none());
        }
    }
}
