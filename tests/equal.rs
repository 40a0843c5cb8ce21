//! Chains of equal layers: what is found is attacked by force and by dice, parts that run again more than once among them.

#![cfg(not(target_arch = "wasm32"))]

use galley::engine::outcome::Summary;
use galley::engine::plan::Plan;
use galley::engine::policy::{Action, Policy, PolicyKind};
use galley::engine::search::fastest::{Found, fastest};
use galley::engine::{Bytes, Scenario, evaluate};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

fn config(cases: u32) -> Config {
    let cases = std::env::var("PROPTEST_CASES").map_or(cases, |n| n.parse().expect("a number"));
    Config { cases, failure_persistence: None, ..Config::default() }
}

fn scenario(request: &Value) -> Scenario {
    Scenario::read(request).unwrap_or_else(|error| panic!("{error}: {request}")).0
}

fn summary(scenario: &Scenario, policy: &Policy) -> Summary {
    evaluate::summarize(scenario, &evaluate::plan(scenario, policy))
}

const KINDS: [&str; 3] = ["output", "input", "inner"];

/// Layers that keep what they make, what they are given, or something of their own; sizes in MB, times in ms.
#[derive(Clone, Debug)]
struct Shape {
    kind: &'static str,
    layers: usize,
    held: u64,
    boundary: u64,
    scratch: (u64, u64),
    times: (u32, u32),
}

impl Shape {
    fn request(&self, room: u64, hardware: &Value, training: &Value) -> Value {
        let mb = |n: u64| n * 1_000_000;
        let shared = self.kind != "inner";
        let boundary = mb(if shared { self.held } else { self.boundary });
        let layer = |i: usize| {
            let name = match self.kind {
                "inner" => "own",
                kind => kind,
            };
            json!({
                "name": format!("layer {i}"), "kind": "block",
                "forward_s": f64::from(self.times.0) / 1e3, "backward_s": f64::from(self.times.1) / 1e3,
                "boundary_bytes": boundary, "input_bytes": boundary, "output_bytes": boundary,
                "saves_input": self.kind == "input", "saves_output": self.kind == "output",
                "forward_scratch_bytes": mb(self.scratch.0), "backward_scratch_bytes": mb(self.scratch.1),
                "saved": [{"name": name, "bytes": mb(self.held)}],
            })
        };
        let layers: Vec<Value> = (0..self.layers).map(layer).collect();
        let mut hardware = hardware.clone();
        hardware["memory_gib"] = json!(1000);
        json!({
            "v": 1, "workload": {"kind": "profile", "batch": 1, "layers": layers, "static_bytes": {}},
            "training": training, "hardware": hardware,
            "limits": {"memory_gib": Bytes(mb(room) + 1).gib()},
        })
    }
}

prop_compose! {
    fn any_shape(most: usize)(
        kind in prop::sample::select(&KINDS[..]),
        layers in 2..=most,
        held in prop::sample::select(&[400_u64, 1000, 1000, 1700][..]),
        boundary in prop::sample::select(&[0_u64, 150, 500, 1000, 1300][..]),
        scratch in (prop::sample::select(&[0_u64, 0, 300][..]), prop::sample::select(&[0_u64, 0, 700][..])),
        times in (prop::sample::select(&[0_u32, 50, 100, 100][..]), prop::sample::select(&[0_u32, 50, 100, 200, 310][..])),
    ) -> Shape {
        Shape { kind, layers, held, boundary, scratch, times }
    }
}

prop_compose! {
    fn any_request(most: usize)(
        shape in any_shape(most),
        units in 1_u64..9,
        odd in prop::sample::select(&[0_u64, 0, 130, 777][..]),
        rates in (1..120_u32, 1..120_u32),
        host in prop::sample::select(&[0.0, 1.5, 4.0, 1000.0, 1000.0][..]),
        ssd in prop::sample::select(&[0.0, 1000.0][..]),
        duplex in any::<bool>(),
        hbm in prop::sample::select(&[false, false, true][..]),
        latency in prop::sample::select(&[0, 0, 3000][..]),
        accumulation in prop::sample::select(&[1, 1, 3][..]),
    ) -> Value {
        let room = units * shape.held / 2 + shape.held + odd;
        let hardware = json!({
            "d2h_gbps": f64::from(rates.0) / 4.0, "h2d_gbps": f64::from(rates.1) / 4.0,
            "host_gib": host, "ssd_gib": ssd, "ssd_read_gbps": 6, "ssd_write_gbps": 3, "duplex": duplex,
            "copies_use_hbm": hbm, "copy_overhead_us": latency,
        });
        let mut request = shape.request(room, &hardware, &json!({}));
        request["workload"]["accumulation"] = json!(accumulation);
        request
    }
}

/// A plan from dice: actions, segments, boundaries, and parts of segments that run again once more, in several depths.
fn diced(scenario: &Scenario, dice: &[u8]) -> Policy {
    let mut dice = dice.iter().copied().cycle();
    let mut roll = |sides: usize| usize::from(dice.next().unwrap_or(0)) % sides;
    let layers = scenario.chain.layers.len();
    let actions = [Action::Keep, Action::Host, Action::Host, Action::Ssd];
    let (mut list, mut lengths, mut boundaries, mut nested) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    while list.len() < layers {
        let length = (1 + roll(layers)).min(layers - list.len());
        if roll(2) == 0 {
            list.extend((0..length.min(2)).map(|_| actions[roll(3)]));
            continue;
        }
        parts(list.len(), length, &mut roll, &mut nested);
        list.extend(std::iter::repeat_n(Action::Recompute, length));
        lengths.push(length as u64);
        boundaries.push(actions[roll(4)]);
    }
    list.truncate(layers);
    Policy {
        plan: Some(list),
        segments: Some(lengths),
        boundaries: Some(boundaries),
        nested: (!nested.is_empty()).then_some(nested),
        prefetch_layers: [0, 1, 2, 1000][roll(4)],
        reentrant: scenario.policy.reentrant,
        ..Policy::new(PolicyKind::Plan)
    }
}

fn parts(
    start: usize,
    length: usize,
    roll: &mut impl FnMut(usize) -> usize,
    all: &mut Vec<[u64; 2]>,
) {
    if length < 2 || roll(3) == 0 {
        return;
    }
    let first = 1 + roll(length - 1);
    all.push([start as u64, (start + first) as u64]);
    parts(start, first, roll, all);
    let rest = length - first;
    if rest > 1 && roll(2) == 0 {
        all.push([(start + first) as u64, (start + length) as u64]);
        parts(start + first, rest, roll, all);
    } else {
        parts(start + first, rest, roll, all);
    }
}

fn attack(scenario: &Scenario, found: &Found, policy: &Policy) {
    let given = summary(scenario, policy);
    if given.runs {
        let bound =
            found.bound.unwrap_or_else(|| panic!("no plan fits, and this one does: {policy:?}"));
        assert!(given.step >= bound, "{given:?} is below {found:?}: {policy:?}");
        assert!(
            !found.optimal() || given.step >= found.summary.step,
            "{given:?}, {found:?}: {policy:?}"
        );
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn no_plan_of_equal_layers_is_below_the_bound(
        request in any_request(9),
        dice in prop::collection::vec(any::<u8>(), 400),
    ) {
        let scenario = scenario(&request);
        let found = fastest(&scenario);
        prop_assert_eq!(summary(&scenario, &found.policy), found.summary, "{:?}", found.policy);
        for start in 0..150 {
            attack(&scenario, &found, &diced(&scenario, &dice[start..]));
        }
        for slots in 1..5 {
            let binomial = Policy { slots: Some(slots), ..Policy::new(PolicyKind::Binomial) };
            attack(&scenario, &found, &binomial);
            attack(&scenario, &found, &Policy { last_segment_plain: true, ..binomial });
        }
        attack(&scenario, &found, &Policy::new(PolicyKind::Rotor));
    }

    /// As a request says it, it is the same plan, its parts too.
    #[test]
    fn parts_are_read_as_they_are_written(
        request in any_request(9),
        dice in prop::collection::vec(any::<u8>(), 60),
    ) {
        let scenario = scenario(&request);
        let policy = diced(&scenario, &dice);
        let mut text = request.clone();
        text["policy"] = json!(policy);
        let (read, _) = Scenario::read(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let plan = Plan::of(&read.policy, &scenario.chain, &scenario.hardware);
        let again = plan.to_policy(&scenario.chain, &policy);
        prop_assert_eq!(Plan::of(&again, &scenario.chain, &scenario.hardware), plan);
    }
}

/// What cannot be is refused, and why.
#[test]
fn parts_that_cannot_be_are_refused() {
    let lesson = |nested: Value| {
        json!({"workload": {"kind": "lesson", "layers": 6}, "policy": {"kind": "plan",
            "plan": ["recompute", "recompute", "recompute", "recompute", "host", "keep"], "nested": nested}})
    };
    let read = |nested: Value| {
        Scenario::read(&lesson(nested)).map(|_| ()).map_err(|error| error.to_string())
    };
    // Without `segments`, each layer is one of its own, and has no parts.
    assert!(read(json!([[0, 1]])).is_err_and(|error| error.contains("policy.nested")));
    let with = |nested: Value| {
        let mut request = lesson(nested);
        request["policy"]["segments"] = json!([4]);
        Scenario::read(&request).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(with(json!([[0, 3], [0, 1], [1, 3]])), Ok(()));
    for (nested, named) in [
        (json!([[0, 4]]), "policy.nested"),
        (json!([[0, 2], [1, 3]]), "policy.nested"),
        (json!([[3, 5]]), "policy.nested"),
        (json!([[2, 2]]), "policy.nested[0]"),
        (json!([[0, 2], [1]]), "policy.nested[1]"),
        (json!([[0, -1]]), "policy.nested[0]"),
        (json!("all"), "policy.nested"),
    ] {
        let error = with(nested.clone()).expect_err("it cannot be");
        assert!(error.contains(named), "{nested}: {error}");
    }
}

/// Lessons of several lengths on links of all rates, with room for few layers and for most: every one is proved.
#[test]
fn lessons_are_solved() {
    for layers in [6, 9, 12, 24, 40] {
        for rate in [1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 40.0] {
            for units in [1, 2, 3, 4, 6, layers / 2, layers - 1] {
                let scenario = scenario(&json!({
                    "v": 1, "workload": {"kind": "lesson", "layers": layers, "act_gb": 1, "layer_s": 0.1},
                    "hardware": {"memory_gib": 1000, "d2h_gbps": rate, "h2d_gbps": rate, "host_gib": 1000},
                    "limits": {"memory_gib": (f64::from(units) * 1e9 + 1.0) / 1024_f64.powi(3)},
                }));
                let found = fastest(&scenario);
                let name = format!("{layers} layers, {rate} GB/s, {units} GB: {found:?}");
                // A layer is made beside the one that it is made from.
                let possible = units > 1;
                assert_eq!(
                    (found.summary.runs, found.bound.is_some()),
                    (possible, possible),
                    "{name}"
                );
                assert!(!possible || found.optimal(), "{name}");
            }
        }
    }
}
