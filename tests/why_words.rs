//! Why, in words: each tensor's sentence has its own numbers, the peak's answer names who is there, and every change has a name.
#![cfg(all(feature = "ui", not(target_arch = "wasm32")))]

use galley::engine::evaluate::evaluate;
use galley::engine::outcome::Reason;
use galley::engine::scenario::Scenario;
use galley::engine::why::change::{What, ladder};
use galley::engine::why::decision::{Unit, Weighing};
use galley::engine::why::nearest::nearest;
use galley::engine::why::peak::summit;
use galley::engine::why::trial::Trial;
use galley::engine::{Action, Bytes, Nanos};
use galley::scene::format;
use galley::ui::chart::Evaluated;
use galley::ui::why::{change, said, sentence, sentences};
use galley::words::Locale;
use serde_json::{Value, json};

const BOTH: [Locale; 2] = [Locale::En, Locale::Zh];

fn evaluated(request: &Value) -> Evaluated {
    let (scenario, notes) = Scenario::read(request).expect("a sound request");
    Evaluated { outcome: evaluate(&scenario), scenario, notes }
}

fn requests() -> Vec<Value> {
    let model = json!({"workload": {"preset": "llama-2-7b", "layers": 6}, "training": {"lora_rank": 16},
        "hardware": {"preset": "rtx-4090"}});
    let policies = [
        json!({"kind": "keep"}),
        json!({"kind": "mix", "k": 2, "beta": 0.5}),
        json!({"kind": "offload", "granularity": "tensor"}),
        json!({"kind": "rule", "granularity": "tensor"}),
        json!({"kind": "offload-boundaries"}),
        json!({"kind": "selective"}),
    ];
    let with = |policy: &Value| {
        let mut request = model.clone();
        request["policy"] = policy.clone();
        request
    };
    let mut all: Vec<Value> = policies.iter().map(with).collect();
    all.push(json!({"workload": {"kind": "lesson"}, "policy": {"kind": "offload"}}));
    all.push(json!({"workload": {"preset": "gpt2", "batch": 64}, "policy": {"kind": "keep"}}));
    all
}

#[test]
fn a_sentence_has_its_own_numbers() {
    let mut seen = Vec::new();
    for request in requests() {
        let all = evaluated(&request);
        let weighing = Weighing::of(&all.scenario, &all.outcome);
        for layer in 0..all.outcome.layers.len() {
            for (t, one) in weighing.layer(layer).into_iter().enumerate() {
                for locale in BOTH {
                    let said = sentence(&all, layer, t, locale).expect("a tensor");
                    let place = format!("{request}: {one:?}: {said}");
                    assert!(!said.contains("–") && !said.contains('{'), "{place}");
                    let has = |time: Nanos| said.contains(&format::time(time));
                    match one.reason {
                        Reason::NothingSaved => {}
                        Reason::RecomputeCheaper => {
                            assert!(
                                has(one.choice.recompute) && has(one.choice.offload_cost()),
                                "{place}"
                            );
                        }
                        Reason::WindowTooShort if one.choice.window == Nanos::ZERO => {}
                        Reason::OffloadHidden | Reason::WindowTooShort => {
                            assert!(
                                has(one.choice.round_trip) && has(one.choice.window),
                                "{place}"
                            );
                            let queue = one.choice.queue;
                            assert!(queue == Nanos::ZERO || has(queue), "{place}");
                        }
                    }
                    if one.unit == Unit::Layer {
                        let bytes = all.scenario.chain.layers[layer].saved_bytes();
                        assert!(said.contains(&format::bytes(bytes)), "{place}");
                    }
                }
                seen.push((one.action, one.reason, one.unit));
            }
        }
    }
    for action in [Action::Keep, Action::Recompute, Action::Host] {
        assert!(seen.iter().any(|one| one.0 == action), "{action:?}");
    }
    for reason in [Reason::OffloadHidden, Reason::WindowTooShort, Reason::RecomputeCheaper] {
        assert!(seen.iter().any(|one| one.1 == reason), "{reason:?}");
    }
    assert!(seen.iter().any(|one| one.2 == Unit::Layer));
}

#[test]
fn there_is_no_sentence_for_what_is_not_there() {
    let all = evaluated(&json!({"workload": {"preset": "gpt2"}}));
    assert_eq!(sentence(&all, 99, 0, Locale::En), None);
    assert_eq!(sentence(&all, 1, 99, Locale::En), None);
}

#[test]
fn the_peaks_answer_names_instant_operation_holders_and_what_is_away() {
    let request = json!({"workload": {"preset": "gpt2", "batch": 8, "seq": 1024}, "hardware": {"preset": "a100-80g"},
        "policy": {"kind": "offload-boundaries"}});
    let all = evaluated(&request);
    let found = summit(&all.scenario, &all.outcome);
    let english = sentences(&all.scenario, &all.outcome, Locale::En).join(" ");
    let chinese = sentences(&all.scenario, &all.outcome, Locale::Zh).join(" ");
    for said in [&english, &chinese] {
        assert!(
            said.contains(&format::time(found.at)) && said.contains(&format::bytes(found.freed)),
            "{said}"
        );
    }
    assert!(english.contains("backward of head and loss"), "{english}");
    assert!(english.contains("Optimizer states"), "{english}");
    let keep = evaluated(&json!({"workload": {"preset": "gpt2"}, "policy": {"kind": "keep"}}));
    assert_eq!(sentences(&keep.scenario, &keep.outcome, Locale::En).len(), 2, "nothing was freed");
}

#[test]
fn how_many_changes_there_are_is_said() {
    let of = |count: usize, missing: u64, host: bool| {
        let request =
            json!({"workload": {"preset": "gpt2", "batch": 48}, "policy": {"kind": "keep"}});
        let (scenario, _) = Scenario::read(&request).expect("a sound request");
        let mut found = nearest(request, scenario);
        found.changes.truncate(count);
        (found.missing, found.host) = (Bytes(missing << 30), host);
        found
    };
    let said_of = |count, missing, host| BOTH.map(|locale| said(&of(count, missing, host), locale));
    let [three, _] = said_of(3, 5, false);
    let lack = format::bytes(Bytes(5 << 30));
    assert!(three.starts_with(&format!("{lack} are missing. Each")), "{three}");
    let mut all: Vec<[String; 2]> = (0..4).map(|count| said_of(count, 5, false)).collect();
    all.extend([said_of(3, 5, true), said_of(3, 0, false)]);
    for (i, one) in all.iter().enumerate() {
        assert!(one.iter().all(|text| !text.contains('{')), "{one:?}");
        assert!(!all[..i].iter().any(|other| other[0] == one[0] || other[1] == one[1]), "{one:?}");
    }
    let [one, chinese] = said_of(1, 5, false);
    assert!(
        one.contains("One thing makes it fit") && chinese.contains("只有一种改动"),
        "{one} {chinese}"
    );
}

#[test]
fn every_change_has_a_name() {
    let requests = [
        json!({"workload": {"preset": "llama-2-7b", "batch": 4, "attention": "eager"},
            "training": {"dp": 8, "tp": 2, "grad_dtype": "fp32"}, "limits": {"memory_gib": 20}, "policy": {"kind": "checkpoint", "k": 4}}),
        json!({"workload": {"preset": "llama-2-7b"}, "training": {"lora_rank": 16}, "policy": {"kind": "offload"},
            "hardware": {"preset": "rtx-4090", "host_gib": 2, "ssd_gib": 0}}),
    ];
    let mut named = Vec::new();
    for request in requests {
        let all = evaluated(&request);
        for &what in What::ALL {
            for change_of in ladder(what, &request, &all.scenario, &all.outcome) {
                let Some(trial) = Trial::of(change_of, &request) else { continue };
                let names = BOTH.map(|locale| change(&trial, locale));
                let wrong =
                    |name: &String| name.is_empty() || name.contains(" 0") || name.contains('{');
                assert!(!names.iter().any(wrong), "{what:?}: {names:?}");
                assert!(trial.peak > Bytes::ZERO);
                named.push(what);
            }
        }
    }
    for &what in What::ALL {
        assert!(named.contains(&what), "{what:?} was not tried");
    }
}
