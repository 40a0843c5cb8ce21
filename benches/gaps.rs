//! How far the fastest plan that is found may be from the best possible: over presets, and over chains of equal layers. Prints two tables; some minutes.
//! `cargo bench --no-default-features --bench gaps`

use galley::engine::evaluate;
use galley::engine::search::fastest::{Found, fastest};
use galley::engine::{Bytes, Scenario};
use serde_json::{Value, json};

/// Model and card, what is trained and how.
fn presets() -> Vec<(&'static str, Value)> {
    let of = |model: &str, card: &str, more: Value, training: Value| {
        let mut workload = more;
        workload["preset"] = json!(model);
        json!({"workload": workload, "training": training, "hardware": {"preset": card}})
    };
    vec![
        ("GPT-2 · RTX 4090", of("gpt2", "rtx-4090", json!({"batch": 16}), json!({}))),
        ("GPT-2 XL · A10G", of("gpt2-xl", "a10g", json!({"batch": 4}), json!({"lora_rank": 16}))),
        (
            "Llama 2 7B, LoRA · RTX 4090",
            of("llama-2-7b", "rtx-4090", json!({}), json!({"lora_rank": 16})),
        ),
        (
            "Llama 3 8B, LoRA · A100 80G",
            of("llama-3-8b", "a100-80g", json!({"seq": 8192}), json!({"lora_rank": 16})),
        ),
        (
            "Llama 3 70B, LoRA · H100 80G",
            of(
                "llama-3-70b",
                "h100-80g",
                json!({}),
                json!({"lora_rank": 16, "frozen_dtype": "nf4"}),
            ),
        ),
    ]
}

/// Shares of what lies between the model states and keeping everything, and links, GB/s (none: the card's own).
const SHARES: [f64; 6] = [0.1, 0.2, 0.35, 0.5, 0.7, 0.9];
const LINKS: [Option<f64>; 4] = [None, Some(8.0), Some(3.0), Some(1.0)];

fn main() {
    println!(
        "Presets: gap at {SHARES:?} of what keeping everything takes beyond the states (- where nothing fits)"
    );
    for (name, request) in presets() {
        for link in LINKS {
            let mut request = request.clone();
            if let Some(gbps) = link {
                (request["hardware"]["d2h_gbps"], request["hardware"]["h2d_gbps"]) =
                    (json!(gbps), json!(gbps));
            }
            let scenario = read(&request);
            let (least, most) =
                (scenario.chain.standing().total(), evaluate::plain(&scenario).peak);
            let one = |share: f64| {
                let room = (most - least).as_f64() * share;
                let limit = least.gib() + room / 1024_f64.powi(3);
                let mut scenario = scenario.clone();
                scenario.limits.memory = Bytes::from_gib(limit);
                shown(&fastest(&scenario))
            };
            let gaps: Vec<String> = SHARES.map(one).to_vec();
            let link = link.map_or("own link".to_owned(), |gbps| format!("{gbps} GB/s"));
            println!("{name:<30} {link:>9}  {}", gaps.join("  "));
        }
    }
    println!(
        "\nEqual layers: random chains of 4 to 24 of them, half with room for at most six, links of 0.5 to 40 GB/s for 1 GB a layer"
    );
    println!(
        "{:<28} {:>5} {:>7} {:>9} {:>9} {:>8}",
        "what a layer keeps", "fit", "proved", "over 1 %", "over 5 %", "largest"
    );
    for kind in ["output", "input", "inner"] {
        equal(kind);
    }
}

fn read(request: &Value) -> Scenario {
    Scenario::read(request).unwrap_or_else(|error| panic!("{error}: {request}")).0
}

fn shown(found: &Found) -> String {
    match found.gap() {
        _ if found.optimal() => "proved ".to_owned(),
        Some(gap) => format!("{:.3} %", gap * 100.0),
        None => "      -".to_owned(),
    }
}

fn equal(kind: &str) {
    let mut dice = Dice(7);
    let (mut fit, mut proved, mut gaps) = (0, 0, Vec::new());
    for _ in 0..400 {
        let found = fastest(&read(&chain(kind, &mut dice)));
        if !found.summary.runs {
            continue;
        }
        fit += 1;
        proved += usize::from(found.optimal());
        gaps.extend(found.gap().filter(|_| !found.optimal()));
    }
    let over = |least: f64| gaps.iter().filter(|&&gap| gap > least).count();
    let largest = gaps.iter().copied().fold(0.0, f64::max) * 100.0;
    let name = match kind {
        "output" => "what it makes (lessons)",
        "input" => "what it is given",
        _ => "bytes of its own",
    };
    println!(
        "{name:<28} {fit:>5} {proved:>7} {:>9} {:>9} {largest:>6.1} %",
        over(0.01),
        over(0.05)
    );
}

fn chain(kind: &str, dice: &mut Dice) -> Value {
    let layers = dice.of(4, 24);
    let held = 1_000_000_000_u64;
    let boundary = if kind == "inner" { held / [10, 4, 2, 1][dice.below(4)] } else { held };
    let tenths =
        if dice.below(2) == 0 { dice.of(15, 10 * layers.min(6)) } else { dice.of(15, 10 * layers) };
    let rate = 0.5 * 1.06_f64.powi(i32::try_from(dice.below(75)).unwrap_or(0));
    let (forward, backward) = (0.1, [0.1, 0.2, 0.3][dice.below(3)]);
    let scratch = ([0, 0, held / 3][dice.below(3)], [0, 0, held / 2][dice.below(3)]);
    let layer = |i: u64| {
        json!({
            "name": format!("layer {i}"), "kind": "block", "forward_s": forward, "backward_s": backward,
            "boundary_bytes": boundary, "input_bytes": boundary, "output_bytes": boundary,
            "saves_input": kind == "input", "saves_output": kind == "output",
            "forward_scratch_bytes": scratch.0, "backward_scratch_bytes": scratch.1,
            "saved": [{"name": if kind == "inner" { "own" } else { kind }, "bytes": held}],
        })
    };
    let layers: Vec<Value> = (0..layers).map(layer).collect();
    json!({
        "workload": {"kind": "profile", "batch": 1, "layers": layers, "static_bytes": {}},
        "hardware": {"memory_gib": 1000, "d2h_gbps": rate, "h2d_gbps": rate, "host_gib": 10000},
        "limits": {"memory_gib": Bytes(tenths * held / 10 + 1).gib()},
    })
}

/// A linear congruence (Knuth's MMIX), the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % sides as u64).unwrap_or(0)
    }

    fn of(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(usize::try_from(most - least + 1).unwrap_or(1)) as u64
    }
}
