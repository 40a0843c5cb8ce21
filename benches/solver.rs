//! How long the exact solvers take. A table of the instances of tests/vectors/solver.json, of fronts, and of hard chains:
//! `cargo bench --no-default-features --bench solver`; one JSON object a line with `-- --json`, which benches/solvers.py reads.

mod chains;

use chains::{DENSE, SHARES, ends, random, transformer};
use galley::engine::Bytes;
use galley::engine::search::additive::{Instance, Knapsack, Layer, front};
use serde_json::{Value, json};
use std::hint::black_box;

fn main() {
    let as_json = std::env::args().any(|arg| arg == "--json");
    let print = |row: Value| {
        if as_json {
            println!("{row}");
        } else {
            let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
            println!(
                "{:12} {:28} {:10.4} ms  value {:<22} optimal {} gap {:e}",
                text("kind"),
                text("id"),
                1e3 * number("solve_s"),
                number("value"),
                row["optimal"],
                number("gap")
            );
        }
    };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/solver.json");
    let vectors: Value = std::fs::read_to_string(path)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_else(|| panic!("{path} cannot be read"));
    for row in rows(&vectors, "four_choice") {
        print(timed("four_choice", &text(row, "id"), &instance(row)));
    }
    for case in rows(&vectors, "knapsack") {
        let id = text(case, "instance");
        let row = rows(&vectors, "knapsack_instances").iter().find(|row| row["id"] == *id);
        let row = row.unwrap_or_else(|| panic!("no {id}"));
        let knapsack = Knapsack {
            sizes: sizes(row, "size_bytes"),
            runtimes: times(row, "runtime_s"),
            budget: whole(case, "budget_bytes"),
        };
        let (solve_s, kept) = best_of(|| black_box(&knapsack).solve());
        let budget = knapsack.budget;
        print(
            json!({"kind": "knapsack", "id": format!("{id}/{budget}"), "instance": id, "budget_bytes": budget,
            "n": row["n"], "solve_s": solve_s, "value": kept.saved_s, "optimal": kept.optimal}),
        );
    }
    for (id, instance) in transformers() {
        let (solve_s, front) = best_of(|| front(black_box(&instance)));
        print(json!({"kind": "front", "id": id, "n": instance.layers.len(), "solve_s": solve_s,
            "value": front.points.len(), "optimal": front.exact}));
    }
    for (id, instance) in hard() {
        print(timed("hard", id, &instance));
    }
    for (n, kinds) in [(96, 1), (96, 2), (96, 4), (96, 8), (96, 16), (1000, 4)] {
        for shares in SHARES {
            let id = format!("n{n} kinds{kinds} {shares:?}");
            print(timed("kinds", &id, &random(n, kinds, shares)));
        }
    }
}

fn timed(kind: &str, id: &str, instance: &Instance) -> Value {
    let (solve_s, solution) = best_of(|| black_box(instance).solve());
    json!({"kind": kind, "id": id, "n": instance.layers.len(), "solve_s": solve_s, "value": solution.objective_s,
        "optimal": solution.optimal, "gap": solution.gap()})
}

fn best_of<T>(run: impl FnMut() -> T) -> (f64, T) {
    chains::best_of(1, run)
}

/// A block that is narrower than the others.
const WIDE: Layer = Layer { size: 436_207_616, residual: 16_777_216, recompute_s: 11.0e-3 };

/// 96 layers in few kinds.
fn transformers() -> Vec<(&'static str, Instance)> {
    let mixed = |i: usize| if i.is_multiple_of(2) { DENSE } else { WIDE };
    vec![
        ("96 equal", transformer(vec![DENSE; 96])),
        ("embedding, 94 equal, head", transformer(ends(vec![DENSE; 94]))),
        ("48 and 48", transformer((0..96).map(mixed).collect())),
        (
            "embedding, 70 and 24, head",
            transformer(ends((0..94).map(|i| if i % 4 == 3 { WIDE } else { DENSE }).collect())),
        ),
    ]
}

/// Shapes that leave much undecided: how long until an answer, and how good it is.
fn hard() -> Vec<(&'static str, Instance)> {
    let base = random(60, 60, (0.3, 0.2, 0.4));
    let with = |n: usize, change: fn(usize, &Layer) -> Layer| {
        let mut instance = random(n, n, (0.3, 0.2, 0.4));
        let layers = instance.layers.iter().enumerate();
        instance.layers = layers.map(|(i, layer)| change(i, layer)).collect();
        instance
    };
    vec![
        ("60 without times", with(60, |_, layer| Layer { recompute_s: 0.0, ..*layer })),
        ("60 in proportion", {
            let time = |layer: &Layer| Bytes(layer.size - layer.residual).as_f64() / 1e11;
            let layers = base.layers.iter().map(|l| Layer { recompute_s: time(l), ..*l }).collect();
            Instance { layers, hidden_s: 0.0, ..base.clone() }
        }),
        ("10000 different", random(10_000, 10_000, (0.3, 0.2, 0.4))),
        ("10000 different, tight", random(10_000, 10_000, (0.01, 0.2, 0.4))),
        ("10000 of 7 kinds", random(10_000, 7, (0.3, 0.2, 0.4))),
        (
            "40 powers of two",
            with(40, |i, layer| Layer { size: 1 << i, residual: 1 << i >> 4, ..*layer }),
        ),
        ("60 even sizes, odd limit", {
            let layers =
                base.layers.iter().map(|l| Layer { size: l.size & !0xFFF, ..*l }).collect();
            Instance { layers, memory: base.memory | 1, ..base.clone() }
        }),
    ]
}

fn instance(row: &Value) -> Instance {
    let (size, residual) = (sizes(row, "size_bytes"), sizes(row, "recompute_residual_bytes"));
    let seconds = times(row, "recompute_s");
    let layer = |i: usize| Layer { size: size[i], residual: residual[i], recompute_s: seconds[i] };
    let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("no {key}"));
    Instance {
        layers: (0..size.len()).map(layer).collect(),
        link_s: 2.0 / number("cpu_link_bandwidth_bytes_per_s"),
        ssd_s: 1.0 / number("ssd_write_bandwidth_bytes_per_s")
            + 1.0 / number("ssd_read_bandwidth_bytes_per_s"),
        hidden_s: number("hidden_s"),
        memory: whole(row, "memory_limit_bytes"),
        host: whole(row, "host_limit_bytes"),
        ssd: None,
    }
}

fn rows<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no {key}"))
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("no {key}")).to_owned()
}

fn whole(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no {key}"))
}

fn sizes(value: &Value, key: &str) -> Vec<u64> {
    rows(value, key).iter().filter_map(Value::as_u64).collect()
}

fn times(value: &Value, key: &str) -> Vec<f64> {
    rows(value, key).iter().filter_map(Value::as_f64).collect()
}
