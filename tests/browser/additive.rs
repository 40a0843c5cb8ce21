//! The additive model's solver in the browser: proved optima come out as they do natively (tests/solver.rs), and a front is the whole front.

use super::instance::{instance, number, rows};
use galley::engine::Bytes;
use galley::engine::search::additive::{Instance, Layer, front};
use serde_json::Value;
use std::collections::BTreeMap;
use wasm_bindgen_test::wasm_bindgen_test;

const VECTORS: &str = include_str!("../vectors/solver.json");

/// All but the one that others left open.
#[wasm_bindgen_test]
fn optima_are_those_that_are_proved() {
    let vectors: Value = serde_json::from_str(VECTORS).expect("JSON");
    let rows = rows(&vectors, "four_choice");
    let proved = || rows.iter().filter(|row| row["other"]["optimal_to_1e-9"] == true);
    assert_eq!((rows.len(), proved().count()), (18, 17));
    for row in proved() {
        let (id, instance) = (&row["id"], instance(row));
        let solution = instance.solve();
        assert!(solution.optimal, "{id}: gap {}", solution.gap());
        let best = number(&row["other"], "best_known_objective_s");
        let difference = (solution.objective_s - best).abs();
        assert!(difference <= 1e-9 * best, "{id}: {} is not {best}", solution.objective_s);
        let cost = instance.cost(solution.actions.as_deref().expect("a plan"));
        assert!(cost.fits && cost.objective_s == solution.objective_s, "{id}: {cost:?}");
    }
}

/// Against every way to share 96 equal layers among the four actions.
#[wasm_bindgen_test]
fn the_front_of_96_equal_layers_is_exact() {
    const LAYERS: u64 = 96;
    let layer = Layer { size: 570_425_344, residual: 16_777_216, recompute_s: 14.5e-3 };
    let instance = Instance {
        layers: vec![layer; 96],
        link_s: 2.0 / 25e9,
        ssd_s: 1.0 / 5e9 + 1.0 / 6e9,
        hidden_s: 3.9,
        memory: 0,
        host: 20_000_000_000,
        ssd: None,
    };
    let seconds = |layers: u64, each: f64| Bytes(layers).as_f64() * each;
    let size_s = |per_byte: f64| Bytes(layer.size).as_f64() * per_byte;
    let mut least: BTreeMap<u64, f64> = BTreeMap::new();
    for recompute in 0..=LAYERS {
        for host in 0..=(LAYERS - recompute).min(instance.host / layer.size) {
            for ssd in 0..=LAYERS - recompute - host {
                let kept = LAYERS - recompute - host - ssd;
                let memory = kept * layer.size + recompute * layer.residual;
                let busy = seconds(host + ssd, size_s(instance.link_s))
                    .max(seconds(ssd, size_s(instance.ssd_s)));
                let objective =
                    seconds(recompute, layer.recompute_s) + (busy - instance.hidden_s).max(0.0);
                let known = least.entry(memory).or_insert(f64::INFINITY);
                *known = known.min(objective);
            }
        }
    }
    let mut expected: Vec<(u64, f64)> = Vec::new();
    for (memory, objective) in least {
        if expected.last().is_none_or(|last| objective < last.1 - 1e-12 * last.1) {
            expected.push((memory, objective));
        }
    }
    let front = front(&instance);
    assert!(front.exact);
    assert_eq!(front.points.len(), expected.len());
    for (point, (memory, objective)) in front.points.iter().zip(expected) {
        assert_eq!(point.memory.0, memory);
        let difference = (point.objective_s - objective).abs();
        assert!(difference <= 1e-9 * objective + 1e-12, "{point:?} is not {objective} s");
    }
}
