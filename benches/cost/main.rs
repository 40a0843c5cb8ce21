//! What an answer costs as layers grow from 12 to 1,000: prints two tables and draws docs/cost.svg. About seven minutes.
//! `cargo bench --no-default-features --bench cost`

#[path = "../chains/mod.rs"]
mod chains;
mod plot;

use chains::{DENSE, SHARES, ends, random, transformer};
use galley::engine::search::additive::{Instance, front};
use galley::engine::search::fastest::{Found, Search, fastest};
use galley::engine::{Scenario, evaluate};
use plot::Line;
use serde_json::{Value, json};
use std::hint::black_box;

const LAYERS: [u32; 8] = [12, 24, 48, 96, 192, 384, 700, 1000];

/// The link of the simulated model, GB/s each way: one that hides nearly all copies, and one that is the bottleneck.
const LINKS: [f64; 2] = [10.0, 5.0];

/// How far above the bound an answer may be to count as certified.
const CLOSE: f64 = 0.02;

/// All times of one number of layers, s.
struct Row {
    layers: u32,
    additive: Additive,
    plans: [Planned; 2],
    evaluation: f64,
}

struct Additive {
    front: f64,
    optimum: f64,
    /// Of the six chains whose layers all differ: the median, the slowest that was proved, how many were not, and how far these may be
    /// from the optimum at most.
    different: f64,
    proved: f64,
    unproved: usize,
    gap: f64,
}

struct Planned {
    /// To an answer that is certified; none where there never is one.
    certified: Option<f64>,
    end: f64,
    found: Found,
}

fn main() {
    let rows: Vec<Row> = LAYERS
        .iter()
        .map(|&layers| {
            let plans = LINKS.map(|gbps| planned(&scenario(layers, gbps)));
            let best = scenario(layers, LINKS[0]).with_policy(plans[0].found.policy.clone());
            let (evaluation, _) = best_of(|| evaluate::evaluate(black_box(&best)));
            let additive = additive(layers);
            eprintln!("{layers} layers are done");
            Row { layers, additive, plans, evaluation }
        })
        .collect();
    tables(&rows);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cost.svg");
    let note =
        "Open circles: not all six chains of different layers are proved within the limit of work.";
    let drawn = plot::svg(&lines(&rows), note).expect("a text can be written to");
    std::fs::write(path, drawn).unwrap_or_else(|error| panic!("{path}: {error}"));
}

/// The least of a few runs, s.
fn best_of<T>(run: impl FnMut() -> T) -> (f64, T) {
    chains::best_of(3, run)
}

/// Few kinds: embedding, equal blocks, head, with room for a third of the bytes. Different layers: six pairs of limits.
fn additive(n: u32) -> Additive {
    let few = transformer(ends(vec![DENSE; n as usize - 2]));
    let total: u64 = few.layers.iter().map(|layer| layer.size).sum();
    let limited = Instance { memory: total / 3, ..few.clone() };
    let (front, all) = best_of(|| front(black_box(&few)));
    let (optimum, best) = best_of(|| black_box(&limited).solve());
    assert!(all.exact && best.optimal, "{n} layers of three kinds are solved");
    let solved = SHARES.map(|shares| {
        let instance = random(n as usize, n as usize, shares);
        let (seconds, solution) = best_of(|| black_box(&instance).solve());
        (seconds, solution.optimal, solution.gap())
    });
    let mut times = solved.map(|(seconds, _, _)| seconds);
    times.sort_by(f64::total_cmp);
    let proved = || solved.iter().filter(|(_, proved, _)| *proved);
    Additive {
        front,
        optimum,
        different: f64::midpoint(times[2], times[3]),
        proved: proved().map(|(seconds, _, _)| *seconds).fold(0.0, f64::max),
        unproved: solved.len() - proved().count(),
        gap: solved.iter().map(|(_, _, gap)| *gap).fold(0.0, f64::max),
    }
}

/// So many blocks of Llama-2-7B and their tensors, with memory for a third of what they keep above the states.
fn scenario(layers: u32, gbps: f64) -> Scenario {
    let mut request = json!({
        "workload": {"preset": "llama-2-7b", "layers": layers}, "training": {"lora_rank": 16},
        "hardware": {"preset": "rtx-4090", "memory_gib": 1e6, "host_gib": 1e6, "d2h_gbps": gbps, "h2d_gbps": gbps},
    });
    let read = |request: &Value| {
        Scenario::read(request).unwrap_or_else(|error| panic!("{error}: {request}")).0
    };
    let plain = read(&request);
    let (all, kept) = (evaluate::plain(&plain).peak, plain.chain.activation_bytes());
    request["limits"] = json!({"memory_gib": all.gib() - kept.gib() * 2.0 / 3.0});
    read(&request)
}

fn planned(scenario: &Scenario) -> Planned {
    let close = |found: &Found| found.gap().is_some_and(|gap| gap <= CLOSE);
    let (end, found) = best_of(|| fastest(black_box(scenario)));
    let certified = close(&found).then(|| {
        let first = || {
            let mut search = Search::new(black_box(scenario));
            while !close(search.found()) && search.advance(1) {}
            search
        };
        best_of(first).0
    });
    Planned { certified, end, found }
}

fn lines(rows: &[Row]) -> [Line; 6] {
    let line = |name, color, time: fn(&Row) -> Option<f64>| {
        let mut line = Line::new(name, color);
        let points = rows.iter().filter_map(|row| Some((row.layers, time(row)?)));
        line.points.extend(points);
        line
    };
    let mut different =
        line("additive optimum, all different", 'c', |row| Some(row.additive.different));
    let unproved = rows.iter().filter(|row| row.additive.unproved > 0);
    different.open.extend(unproved.map(|row| row.layers));
    [
        line("fastest plan, to the end", 'a', |row| Some(row.plans[0].end)),
        line("fastest plan, certified within 2 %", 'a', |row| row.plans[0].certified).dashed(),
        line("additive front, three kinds", 'b', |row| Some(row.additive.front)),
        line("additive optimum, three kinds", 'b', |row| Some(row.additive.optimum)).dashed(),
        different,
        line("one evaluation", 'd', |row| Some(row.evaluation)),
    ]
}

fn tables(rows: &[Row]) {
    println!(
        "| layers | front, three kinds | optimum, three kinds | optimum, all different: median | slowest proved | of six not proved | one evaluation |\n\
         | --- | --- | --- | --- | --- | --- | --- |"
    );
    for Row { layers, additive, evaluation, .. } in rows {
        let Additive { front, optimum, different, proved, unproved, gap } = additive;
        let [front, optimum, different, proved, evaluation] =
            [front, optimum, different, proved, evaluation].map(|&seconds| ms(seconds));
        let open = if *unproved > 0 { format!("{unproved}, gap {gap:.0e}") } else { "0".into() };
        println!(
            "| {layers} | {front} | {optimum} | {different} | {proved} | {open} | {evaluation} |"
        );
    }
    println!(
        "\n| layers | {0} GB/s: certified | to the end | plans | gap | {1} GB/s: certified | to the end | plans | gap |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        LINKS[0], LINKS[1]
    );
    for Row { layers, plans, .. } in rows {
        let cells = plans.each_ref().map(|Planned { certified, end, found }| {
            let certified = certified.map_or_else(|| "never".to_owned(), ms);
            let gap = found.gap().map_or(f64::NAN, |gap| 100.0 * gap);
            format!("{certified} | {} | {} | {gap:.2} %", ms(*end), found.searched)
        });
        println!("| {layers} | {} |", cells.join(" | "));
    }
}

/// Milliseconds with two or three digits that count.
fn ms(seconds: f64) -> String {
    let ms = 1e3 * seconds;
    match ms {
        ..0.1 => format!("{ms:.4}"),
        ..1.0 => format!("{ms:.3}"),
        ..10.0 => format!("{ms:.2}"),
        ..100.0 => format!("{ms:.1}"),
        _ => format!("{ms:.0}"),
    }
}
