//! Schedules that run layers more than once more: against an interpreter, all schedules of short chains, and the numbers of
//! vectors/revolve.json, simulated.

#[path = "nested/machine.rs"]
mod machine;

use galley::engine::chain::{Chain, LayerKind};
use galley::engine::nested::Nested;
use galley::engine::policy::{Policy, PolicyKind};
use galley::engine::program::{OpKind, Program};
use galley::engine::search::fastest;
use galley::engine::search::rotor::Rotor;
use galley::engine::{Action, Bytes, Outcome, Plan, Scenario, evaluate, simulate};
use machine::Machine;
use proptest::prelude::*;
use serde_json::{Value, json};

fn scenario(request: &Value) -> Scenario {
    Scenario::read(request).unwrap_or_else(|error| panic!("{error}: {request}")).0
}

/// Layers with every feature: scratch, gradients that grow, storages kept by either neighbour, sizes and times that tie.
fn any_layer() -> impl Strategy<Value = Value> {
    let size = || prop_oneof![Just(0_u32), Just(6), 0..20_u32];
    let flags = (any::<bool>(), prop::bool::weighted(0.2));
    (0..5_u32, (size(), size(), size(), size(), 0..4_u32), flags, size()).prop_map(
        |(forward, (boundary, inner, front, back, gradients), (input, output), more)| {
            json!({
                "forward_s": f64::from(forward) * 1e-9, "input_bytes": boundary, "saves_input": input, "saves_output": output,
                "saved": [{"bytes": inner}, {"bytes": more}], "forward_scratch_bytes": front, "backward_scratch_bytes": back,
                "gradient_bytes": gradients,
            })
        },
    )
}

/// A chain of up to `most` layers, some of them no blocks.
fn any_chain(most: usize) -> impl Strategy<Value = Chain> {
    let kinds = (prop::bool::weighted(0.3), prop::bool::weighted(0.5), prop::bool::weighted(0.3));
    (prop::collection::vec(any_layer(), 1..=most), kinds, 0..9_u32).prop_map(
        |(mut layers, (embedding, head, equal), optimizer)| {
            if equal {
                let one = layers[0].clone();
                layers.fill(one);
            }
            let last = layers.len() - 1;
            if embedding {
                layers[0]["kind"] = "embedding".into();
            }
            if head {
                layers[last]["kind"] = "head".into();
            }
            scenario(&json!({"workload": {
                "kind": "profile", "layers": layers, "optimizer_scratch_bytes": optimizer,
            }}))
            .chain
        },
    )
}

/// Chains with cast weights come from transformers alone.
fn autocast(layers: u32) -> Chain {
    let workload = json!({
        "block": "gpt", "layers": layers, "hidden": 64, "heads": 2, "seq": 32, "batch": 2, "vocab": 100,
    });
    scenario(&json!({"workload": workload, "training": {"dtype": "bf16-autocast"}})).chain
}

fn nested(chain: &Chain, segments: &[Nested], reentrant: bool) -> Plan {
    let mut plan = Plan { reentrant, ..Plan::keep(chain) };
    plan.nest(segments);
    plan
}

/// Every schedule of layers `i..j`: a plain layer and the rest, or a segment of blocks, its inside, and the rest.
fn schedules(chain: &Chain, i: usize, j: usize, first: bool) -> Vec<Vec<Nested>> {
    if i == j {
        return vec![Vec::new()];
    }
    let mut all = schedules(chain, i + 1, j, first);
    // All of a segment is no segment within it.
    for at in i + 1..=if first { j } else { j - 1 } {
        if chain.layers[at - 1].kind != LayerKind::Block {
            break;
        }
        for rest in schedules(chain, at, j, first) {
            for inside in schedules(chain, i, at, false) {
                all.push([&[Nested { start: i, end: at }][..], &inside, &rest].concat());
            }
        }
    }
    all
}

fn recomputed(program: &Program) -> u64 {
    let again = program.ops.iter().filter(|op| op.kind == OpKind::Recompute);
    again.map(|op| op.duration.0).sum()
}

/// The compiled program takes what the interpreter takes, and runs as often.
fn agrees(chain: &Chain, segments: &[Nested], reentrant: bool) -> (Bytes, u64) {
    let program = Program::of(chain, &nested(chain, segments, reentrant));
    let Machine { peak, forwards, runs, .. } = machine::run(chain, segments, reentrant);
    let need = simulate::need(&program);
    assert_eq!(i64::try_from(need.0), Ok(peak), "{segments:?}");
    let first = chain.forward().0;
    assert_eq!(recomputed(&program), forwards - first);
    for (i, &runs) in runs.iter().enumerate() {
        let ops = program.ops.iter().filter(|op| op.layer == i);
        let again = ops.filter(|op| op.kind == OpKind::Recompute).count() as u64;
        assert_eq!(again + 1, runs);
        assert_eq!(program.ops[i].kind, OpKind::Forward);
        let start = program.backward_starts[i];
        assert!(start >= program.turn && program.ops[start].layer == i);
    }
    assert_eq!(program.turn, chain.layers.len());
    (need, forwards)
}

/// Of all schedules none is faster within the bytes that it takes, and the plan is within them.
fn is_optimal(chain: &Chain) {
    let all: Vec<(Bytes, u64)> = schedules(chain, 0, chain.layers.len(), true)
        .iter()
        .map(|segments| agrees(chain, segments, false))
        .collect();
    let rotor = Rotor::of(chain, false, Bytes(1 << 40));
    for &(room, _) in &all {
        let within = all.iter().filter(|plan| plan.0 <= room);
        let best = within.map(|plan| plan.1).min().expect("itself");
        let (need, time) = agrees(chain, &rotor.segments(room), false);
        assert!(need <= room, "{need:?} over {room:?}");
        assert_eq!(time, best, "within {room:?}");
    }
    let least = all.iter().map(|plan| plan.0).min().expect("one");
    // Where nothing fits: the least.
    assert_eq!(agrees(chain, &rotor.segments(Bytes::ZERO), false).0, least);
    // The front is made of such plans, each in the least room for it; the optimizer step takes what it takes.
    let optimizer = chain.grown() + chain.optimizer_scratch;
    for (room, time) in rotor.front() {
        let found = agrees(chain, &rotor.segments(room), false);
        assert_eq!(found, (room.max(optimizer), time.0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_schedule_of_a_short_chain_is_better(chain in any_chain(5)) {
        is_optimal(&chain);
    }

    #[test]
    fn reentrant_schedules_are_carried_out_alike(chain in any_chain(4)) {
        for segments in schedules(&chain, 0, chain.layers.len(), true) {
            agrees(&chain, &segments, true);
        }
        let rotor = Rotor::of(&chain, true, Bytes(1 << 40));
        for (room, time) in rotor.front() {
            let (need, found) = agrees(&chain, &rotor.segments(room), true);
            prop_assert_eq!(found, time.0);
            let optimizer = chain.grown() + chain.optimizer_scratch;
            prop_assert!(need <= room.max(optimizer));
        }
    }

    /// The bound of `plan` holds for schedules that recompute several times too, and one that alone fits is a fit.
    #[test]
    fn the_bound_holds_for_every_schedule(chain in any_chain(5), part in 0..8_u64) {
        let all: Vec<(Bytes, u64)> = schedules(&chain, 0, chain.layers.len(), true)
            .iter()
            .map(|segments| agrees(&chain, segments, false))
            .collect();
        let least = all.iter().map(|plan| plan.0).min().expect("one");
        let mut scenario = scenario(&json!({"hardware": {"host_gib": 0, "ssd_gib": 0}}));
        let room = Bytes(least.0 + part);
        scenario.limits.memory = chain.standing().total() + room;
        scenario.chain = chain;
        let fitting = all.iter().filter(|plan| plan.0 <= room).map(|plan| plan.1).min().expect("the least");
        let step = fitting + scenario.chain.backward().0 + scenario.chain.optimizer.0;
        let found = fastest::fastest(&scenario);
        // Where a schedule fits, one is found; without copies the fastest of them.
        prop_assert!(found.summary.runs && found.summary.step.0 <= step, "{:?} over {}", found.summary, step);
        let bound = found.bound;
        prop_assert!(bound.is_some_and(|bound| bound.0 <= step), "{:?} over {}", bound, step);
    }

    /// One level of segments is a flat plan: the same operations with the same bytes.
    #[test]
    fn one_level_is_a_flat_plan(chain in any_chain(9), k in 1..9_u64, last_plain: bool, reentrant: bool) {
        let policy = Policy {
            kind: PolicyKind::Checkpoint, k, reentrant, last_segment_plain: last_plain, ..Policy::new(PolicyKind::Keep)
        };
        let hardware = scenario(&json!({})).hardware;
        let flat = Plan::of(&policy, &chain, &hardware);
        let of = |s: &galley::engine::plan::Segment| Nested { start: s.start, end: s.end };
        let segments: Vec<Nested> = flat.segments.iter().map(of).collect();
        let again = nested(&chain, &segments, reentrant);
        let (a, b) = (Program::of(&chain, &flat), Program::of(&chain, &again));
        prop_assert_eq!(format!("{:?}", a.ops), format!("{:?}", b.ops));
        agrees(&chain, &segments, reentrant);
        // As many slots as blocks: every block is a segment.
        let every = Policy { kind: PolicyKind::Recompute, ..policy.clone() };
        let slots = Some(chain.blocks().count() as u64);
        let binomial = Policy { kind: PolicyKind::Binomial, slots, ..policy };
        let [a, b] = [every, binomial].map(|policy| Program::of(&chain, &Plan::of(&policy, &chain, &hardware)));
        prop_assert_eq!(format!("{:?}", a.ops), format!("{:?}", b.ops));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_schedule_of_six_layers_is_better(chain in any_chain(6)) {
        is_optimal(&chain);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    /// Long chains of different layers are planned with fewer ends of segments: still within the limit.
    #[test]
    fn long_chains_stay_within_the_limit(layers in prop::collection::vec(any_layer(), 70..100), part in 1..12_u64) {
        let chain = scenario(&json!({"workload": {"kind": "profile", "layers": layers}})).chain;
        let most = simulate::need(&Program::of(&chain, &Plan::keep(&chain)));
        let room = Bytes(most.0 * part / 12);
        let rotor = Rotor::of(&chain, false, room);
        let need = agrees(&chain, &rotor.segments(room), false).0;
        prop_assert!(need <= room.max(rotor.least()).max(chain.grown() + chain.optimizer_scratch));
    }
}

#[test]
fn cast_weights_are_planned_for() {
    is_optimal(&autocast(2));
    is_optimal(&autocast(3));
}

/// A uniform chain of a lesson's kind: a boundary of a byte a layer.
fn uniform(layers: u64) -> Value {
    let layer =
        json!({"forward_s": 1e-3, "input_bytes": 1, "saves_input": true, "saved": [{"bytes": 5}]});
    json!({"kind": "profile", "layers": vec![layer; usize::try_from(layers).expect("few")]})
}

fn evaluated(request: &Value) -> Outcome {
    evaluate::evaluate(&scenario(request))
}

fn binomial(workload: &Value, slots: u64, last_plain: bool) -> Value {
    json!({
        "workload": workload, "policy": {"kind": "binomial", "slots": slots, "last_segment_plain": last_plain},
    })
}

/// Forwards that run again, one by one, are the published counts.
#[test]
fn revolve_comes_out_of_the_simulation() {
    let path = format!("{}/tests/vectors/revolve.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let rows = file["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 48);
    for row in rows {
        let int = |key: &str| row[key].as_u64().unwrap_or_else(|| panic!("{key} in {row}"));
        let (steps, slots) = (int("l"), int("c"));
        let outcome = evaluated(&binomial(&uniform(steps), slots, true));
        let again = outcome.times.recompute.0 / 1_000_000;
        assert_eq!(again, int("advance"), "{row}");
        assert_eq!(outcome.plan.recomputed_layers() as u64, int("advance"), "{row}");
        assert_eq!((outcome.times.forward.0 / 1_000_000) + again, int("total"), "{row}");
        // The chain's input is the caller's; one boundary more is that of the layer that saves. Outputs are transient.
        let held = slots.min(steps) - 1;
        assert!(outcome.peak.saved.0 <= held + 5 + 1, "{row}: {:?}", outcome.peak.saved);
        // The last layer too: one more.
        let all = evaluated(&binomial(&uniform(steps), slots, false));
        assert_eq!(all.plan.recomputed_layers() as u64, int("advance") + 1, "{row}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// The ledger returns to its static level, the step is compute and no less, more slots never take less memory or more time.
    #[test]
    fn laws_hold(layers in prop::collection::vec(any_layer(), 2..20), equal: bool, head: bool) {
        let mut layers = layers;
        if equal {
            let one = layers[0].clone();
            layers.fill(one);
        }
        if head {
            layers.push(json!({"kind": "head", "forward_s": 1e-9, "input_bytes": 3, "saved": [{"bytes": 9}]}));
        }
        let blocks = layers.len() as u64 - u64::from(head);
        let workload = json!({"kind": "profile", "layers": layers});
        let mut before: Option<Outcome> = None;
        for slots in 1..=blocks {
            let request = binomial(&workload, slots, false);
            let (scenario, outcome) = (scenario(&request), evaluated(&request));
            let ledger = &outcome.ledger;
            let rest = galley::engine::ledger::Row::from(&scenario.chain.standing());
            prop_assert_eq!(ledger.last().map(|step| step.row), Some(rest));
            let chain = &scenario.chain;
            prop_assert_eq!(outcome.step, chain.forward() + chain.backward() + outcome.times.recompute);
            prop_assert_eq!(outcome.plan.lengths.iter().sum::<u64>(), blocks);
            let again: usize = (0..chain.layers.len())
                .map(|i| if outcome.layer_action(i) == Some(Action::Recompute) { outcome.plan.repeats(i) } else { 0 })
                .sum();
            prop_assert!(again <= outcome.plan.recomputed_layers());
            if let Some(before) = before.filter(|_| equal && !head) {
                prop_assert!(before.plan.recomputed_layers() >= outcome.plan.recomputed_layers());
                prop_assert!(before.resident_after_forward <= outcome.resident_after_forward);
            }
            before = Some(outcome);
        }
    }

    /// More memory never makes the rotor's plan slower, and what it takes is within the limit.
    #[test]
    fn more_memory_is_never_slower(chain in any_chain(24)) {
        let rotor = Rotor::of(&chain, false, Bytes(1 << 40));
        let most = simulate::need(&Program::of(&chain, &Plan::keep(&chain)));
        let mut before = u64::MAX;
        for part in 1..=12 {
            let room = Bytes(most.0 * part / 12);
            let program = Program::of(&chain, &nested(&chain, &rotor.segments(room), false));
            let (need, time) = (simulate::need(&program), recomputed(&program));
            let least = rotor.front().next().expect("a plan").0.max(chain.grown() + chain.optimizer_scratch);
            prop_assert!(need <= room.max(least));
            prop_assert!(time <= before);
            before = time;
        }
        prop_assert_eq!(before, 0);
    }
}

/// A schedule that would run for ever gets more slots, and says so; a chain that is too long to plan is refused by name.
#[test]
fn long_chains_are_answered() {
    let notes = |request: &Value| {
        Scenario::read(request).map(|(scenario, notes)| (scenario.policy.slots, notes.clamped))
    };
    let (slots, clamped) = notes(&binomial(&uniform(3000), 1, false)).expect("it reads");
    assert_eq!(slots, Some(2));
    assert_eq!(
        (clamped.len(), &*clamped[0].path, &clamped[0].given),
        (1, "policy.slots", &json!(1))
    );
    let outcome = evaluated(&binomial(&uniform(3000), 2, true));
    assert!((100_000..200_000).contains(&outcome.plan.recomputed_layers()));
    let (slots, clamped) = notes(&binomial(&uniform(3), 7, false)).expect("it reads");
    assert_eq!((slots, clamped.len()), (Some(3), 1));
    let rotor = |layers: u64| json!({"workload": uniform(layers), "policy": {"kind": "rotor"}});
    assert!(notes(&rotor(256)).is_ok());
    let error = notes(&rotor(257)).expect_err("too long").to_string();
    assert!(error.contains("workload.layers") && error.contains("256"), "{error}");
}

/// What the rotor finds within a limit is what the page is told: it fits, and no flat plan that fits is faster.
#[test]
fn the_rotor_is_no_slower_than_flat_plans() {
    for (seq, limit) in [(4096, 16.0), (16384, 20.0), (16384, 22.5), (16384, 24.0)] {
        let request = |policy: Value| {
            json!({"workload": {"preset": "llama-2-7b", "seq": seq}, "training": {"lora_rank": 16},
                "hardware": {"preset": "rtx-4090"}, "limits": {"memory_gib": limit}, "policy": policy})
        };
        let rotor = evaluated(&request(json!({"kind": "rotor"})));
        assert!(rotor.fits, "{seq} {limit}");
        assert_eq!(rotor.plan.lengths.iter().sum::<u64>(), 32);
        for k in 1..=32 {
            for plain in [false, true] {
                let flat = evaluated(&request(
                    json!({"kind": "checkpoint", "k": k, "last_segment_plain": plain}),
                ));
                assert!(!flat.fits || flat.step >= rotor.step, "{seq} {limit} {k}");
            }
        }
    }
}

/// On a pipeline's first stages other micro-batches hold what is kept, and the plan fits with them.
#[test]
fn the_rotor_leaves_room_for_micro_batches_in_flight() {
    for (stage, limit) in [(1, 30.0), (2, 30.0), (4, 28.0)] {
        let request = json!({"workload": {"preset": "llama-2-7b", "accumulation": 8}, "training": {"pp": 4, "stage": stage},
            "hardware": {"preset": "h100-80g"}, "limits": {"memory_gib": limit}, "policy": {"kind": "rotor"}});
        let outcome = evaluated(&request);
        assert!(outcome.fits, "stage {stage}: {:?}", outcome.peak);
    }
}
