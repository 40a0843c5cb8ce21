//! Every explanation comes to the number that it explains: the printed formula, evaluated, is the engine's answer, for every
//! preset, policy and card, and for scenarios from a fixed seed.

#[path = "parity/mod.rs"]
#[expect(dead_code, reason = "outcomes are of no interest here")]
mod scenarios;

use galley::engine::outcome::Outcome;
use galley::engine::scenario::Scenario;
use galley::engine::units::{Bytes, Nanos};
use galley::engine::{evaluate, preset};
use galley::explain::alive::{self, When};
use galley::explain::expr::{Line, Unit};
use galley::explain::source::Source;
use galley::explain::{Asked, Cost, Derivation, Subject, Sum, Textbook, Tolerance, explain};
use galley::scene::ledger::BANDS;
use serde_json::{Map, Value, json};

struct Case {
    text: String,
    scenario: Scenario,
    outcome: Outcome,
    settings: Map<String, Value>,
}

fn case(request: &Value) -> Option<Case> {
    let (scenario, notes) = Scenario::read(request).ok()?;
    let outcome = evaluate::evaluate(&scenario);
    Some(Case { text: request.to_string(), scenario, outcome, settings: notes.settings })
}

impl Case {
    fn asked(&self) -> Asked<'_> {
        Asked { scenario: &self.scenario, outcome: &self.outcome, settings: &self.settings }
    }

    /// Every number that the page may ask about.
    fn subjects(&self) -> Vec<Subject> {
        let [peak, _, other, _] = self.whens();
        let mut all = vec![
            Subject::Peak,
            Subject::Capacity,
            Subject::Headroom,
            Subject::Missing,
            Subject::Unmoved,
            Subject::PlainPeak,
            Subject::HostPeak,
            Subject::Step,
            Subject::PlainStep,
            Subject::Throughput,
            Subject::Overhead,
        ];
        for when in [peak, other] {
            all.extend(BANDS.map(|band| Subject::Band(band, when)));
            all.extend([Subject::Total(when), Subject::Free(when)]);
        }
        all.extend(Sum::ALL.map(Subject::Sum));
        for i in self.layers() {
            all.push(Subject::LayerSaved(i));
            let tensors = self.scenario.chain.layers[i].saved.len();
            all.extend((0..tensors).map(|t| Subject::Saved(i, t)));
            let costs = [
                Cost::Offload,
                Cost::RoundTrip,
                Cost::Exposed,
                Cost::Window,
                Cost::Recompute,
                Cost::Wait,
                Cost::Benefit,
            ];
            all.extend(costs.map(|cost| Subject::Cost(i, cost)));
        }
        all.extend(TEXTBOOK.map(Subject::Textbook));
        let cells =
            (0..3).flat_map(|row| (0..4).map(move |column| Textbook::Strategy(row, column)));
        all.extend(cells.map(Subject::Textbook));
        all
    }

    fn whens(&self) -> [When; 4] {
        let end = self.outcome.micro.0;
        let at = |share: u64| When::At(Nanos(end / 97 * share));
        [When::Peak, When::At(self.outcome.peak.at), at(31), at(60)]
    }

    /// The first, one in the middle and the last.
    fn layers(&self) -> Vec<usize> {
        let count = self.scenario.chain.layers.len();
        let mut layers = vec![0, count / 2, count - 1];
        layers.dedup();
        layers
    }

    /// The number that the page shows.
    fn shown(&self, subject: Subject) -> Option<f64> {
        let outcome = &self.outcome;
        let chain = &self.scenario.chain;
        let row = |when| match when {
            When::Peak => outcome.peak.row,
            When::At(at) => galley::scene::ledger::row_at(outcome, at),
        };
        let bytes = |bytes: Bytes| Some(bytes.as_f64());
        let secs = |time: Nanos| Some(time.secs());
        let times = &outcome.times;
        match subject {
            Subject::Peak => bytes(outcome.peak.row.total()),
            Subject::Capacity => bytes(outcome.memory),
            Subject::Headroom => Some(outcome.memory.as_f64() - outcome.peak.row.total().as_f64())
                .filter(|free| *free >= 0.0),
            Subject::Missing => outcome.out_of_memory.as_ref().and_then(|stop| bytes(stop.missing)),
            Subject::Band(band, when) => bytes(band.bytes(&row(when))),
            Subject::Total(when) => bytes(row(when).total()),
            Subject::Free(when) => {
                Some((outcome.memory.as_f64() - row(when).total().as_f64()).abs())
            }
            Subject::Unmoved => outcome.peak_unmoved.and_then(bytes),
            Subject::PlainPeak => bytes(outcome.plain_peak),
            Subject::HostPeak => bytes(outcome.host_peak),
            Subject::Step => secs(outcome.step),
            Subject::PlainStep => secs(outcome.plain_step),
            Subject::Throughput => {
                let samples = chain.samples * chain.accumulation * chain.seq;
                Some(outcome.per_second(samples)).filter(|rate| rate.is_finite())
            }
            Subject::Overhead => (outcome.plain_step > Nanos::ZERO).then(|| outcome.overhead()),
            Subject::Sum(sum) => secs(match sum {
                Sum::Forward => times.forward,
                Sum::Backward => times.backward,
                Sum::Recompute => times.recompute,
                Sum::Optimizer => chain.optimizer,
                Sum::Out => times.d2h,
                Sum::Back => times.h2d,
                Sum::Hidden => times.hidden,
                Sum::Exposed => times.exposed,
                Sum::Stall => times.stall,
            }),
            Subject::LayerSaved(i) => bytes(chain.layers[i].saved_bytes()),
            Subject::Saved(i, t) => bytes(chain.layers[i].saved[t].bytes),
            Subject::Cost(i, cost) => {
                let own = &outcome.layers[i];
                match cost {
                    Cost::Offload => secs(own.choice.offload_cost()),
                    Cost::RoundTrip => secs(own.choice.round_trip),
                    Cost::Exposed => secs(own.choice.offload_cost() - own.choice.round_trip),
                    Cost::Window => secs(own.choice.window),
                    Cost::Recompute => secs(own.choice.recompute),
                    Cost::Wait => secs(own.wait),
                    Cost::Benefit => own.benefit_ratio,
                }
            }
            Subject::Textbook(what) => self.textbook(what),
        }
    }

    fn textbook(&self, what: Textbook) -> Option<f64> {
        let lesson = &self.outcome.lesson;
        let epoch = lesson.epoch;
        match what {
            Textbook::Peak => Some(lesson.peak_bytes.as_f64()),
            Textbook::Step => Some(lesson.step_s),
            Textbook::Boundaries => Some(lesson.k_segments_with_boundaries_bytes.as_f64()),
            Textbook::MemoryRatio => Some(lesson.memory_ratio),
            Textbook::CostRatio => Some(lesson.cost_ratio),
            Textbook::Benefit => lesson.benefit_ratio,
            Textbook::EpochTrip => epoch.map(|epoch| epoch.round_trip_s),
            Textbook::EpochVisible => epoch.map(|epoch| epoch.visible_s),
            Textbook::Epoch => epoch.map(|epoch| epoch.epoch_s),
            Textbook::Slowdown => epoch.map(|epoch| epoch.slowdown_percent),
            Textbook::Strategy(row, column) => lesson.strategies.as_ref().map(|table| {
                let row =
                    [table.full_activation, table.gradient_checkpoint, table.activation_offload]
                        [row];
                [row.mem_gb, row.extra_compute_s, row.extra_time_s, row.total_cost][column]
            }),
        }
    }

    fn check(&self) {
        for subject in self.subjects() {
            let shown = self.shown(subject);
            let derived = explain(self.asked(), subject);
            assert_eq!(derived.is_some(), shown.is_some(), "{subject:?}: {}", self.text);
            let (Some(derived), Some(shown)) = (derived, shown) else { continue };
            let first = &derived.lines[0];
            assert!(
                first.value.to_bits() == shown.to_bits(),
                "{subject:?}: {} for {shown}: {}",
                first.value,
                self.text
            );
            for line in &derived.lines {
                self.holds(subject, line);
            }
        }
    }

    /// A line comes to its number, and not because it was left away.
    fn holds(&self, subject: Subject, line: &Line) {
        assert!(
            line.holds(),
            "{subject:?}: {} for {}: {}",
            line.expr.value(),
            line.value,
            self.text
        );
        let mut leaves = Vec::new();
        line.expr.leaves(&mut leaves);
        let lone = matches!(leaves[..], [leaf] if leaf.source == Source::Simulation && leaf.about.is_none());
        let simulated = matches!(
            subject,
            Subject::Missing
                | Subject::HostPeak
                | Subject::Sum(Sum::Exposed | Sum::Stall)
                | Subject::Cost(_, Cost::Wait)
                | Subject::Textbook(Textbook::Peak)
        );
        assert!(!lone || simulated, "{subject:?} has lost its formula: {}", self.text);
    }
}

const TEXTBOOK: [Textbook; 10] = [
    Textbook::Peak,
    Textbook::Step,
    Textbook::Boundaries,
    Textbook::MemoryRatio,
    Textbook::CostRatio,
    Textbook::Benefit,
    Textbook::EpochTrip,
    Textbook::EpochVisible,
    Textbook::Epoch,
    Textbook::Slowdown,
];

#[test]
fn every_preset_and_policy_explains_itself() {
    let cards: Vec<&str> = preset::names(preset::cards()).collect();
    for (i, model) in preset::names(preset::models()).enumerate() {
        for (j, kind) in [
            "keep",
            "checkpoint",
            "recompute",
            "offload",
            "offload-boundaries",
            "mix",
            "selective",
            "rule",
            "binomial",
            "rotor",
        ]
        .into_iter()
        .enumerate()
        {
            let card = cards[(i * 10 + j) % cards.len()];
            let request = json!({"workload": {"preset": model}, "hardware": {"preset": card}, "policy": {"kind": kind, "k": 4, "slots": 3}});
            case(&request).expect("presets are sound").check();
        }
    }
}

#[test]
fn every_kind_of_training_explains_itself() {
    let trainings = [
        json!({"lora_rank": 16}),
        json!({"lora_rank": 8, "frozen_dtype": "nf4", "optimizer": "adamw-8bit"}),
        json!({"lora_rank": 8, "frozen_dtype": "int8"}),
        json!({"dtype": "fp32", "optimizer": "sgd"}),
        json!({"dtype": "bf16-autocast"}),
        json!({"dtype": "bf16", "optimizer": "sgd-momentum", "grad_dtype": "fp32"}),
        json!({"zero": 3, "dp": 8}),
        json!({"zero": 2, "dp": 3, "tp": 2}),
        json!({"tp": 4, "sp": true}),
        json!({"tp": 4, "pp": 4}),
        json!({"pp": 2, "zero": 1, "dp": 4, "stage": 2}),
        json!({"zero": 3, "dp": 4, "offload_states": "all"}),
        json!({"zero": 2, "dp": 4, "offload_states": "optimizer"}),
        json!({"backward_ratio": 1.5, "grad_buffer": "static"}),
    ];
    for (i, training) in trainings.iter().enumerate() {
        for workload in [
            json!({"preset": "gpt2", "attention": "eager", "accumulation": 4}),
            json!({"preset": "llama-2-7b", "batch": 3, "loss_chunks": 4}),
            json!({"preset": "llama-3-8b", "implementation": "eager", "attention_mask": true}),
            json!({"block": "bert", "layers": 6, "hidden": 256, "heads": 4, "backend": "cpu", "batch": 2}),
        ] {
            let kind = ["mix", "offload", "checkpoint"][i % 3];
            let request = json!({"workload": workload, "training": training, "hardware": {"preset": "a100-80g", "unmodelled_gib": 1.5, "cards_per_link": 2},
                "policy": {"kind": kind, "granularity": if i % 2 == 0 { "layer" } else { "tensor" }, "medium": if i % 4 == 0 { "ssd" } else { "host" }}});
            case(&request).unwrap_or_else(|| panic!("{request}")).check();
        }
    }
}

#[test]
fn scenarios_from_a_seed_explain_themselves() {
    let requests = scenarios::requests();
    let cases = requests.iter().filter_map(|text| case(&serde_json::from_str(text).ok()?));
    let count = cases.inspect(Case::check).count();
    assert!(count > 150, "{count} of {} requests are sound", requests.len());
}

/// The groups of what is alive add up to the ledger, category by category, at the peak and elsewhere.
#[test]
fn who_is_alive_adds_up() {
    for policy in ["keep", "checkpoint", "offload", "mix", "rule", "selective", "binomial", "rotor"]
    {
        let case = case(&json!({"workload": {"preset": "llama-2-7b"}, "training": {"lora_rank": 16}, "policy": {"kind": policy}})).expect("sound");
        for when in case.whens() {
            let alive = alive::parts(&case.scenario, &case.outcome, when);
            let total: Bytes = alive.parts.iter().map(|part| part.row.total()).sum();
            assert_eq!(total + case.outcome.standing.total() + alive.background, alive.row.total());
        }
    }
}

fn derived(request: &Value, subject: Subject) -> Derivation {
    let case = case(request).expect("sound");
    explain(case.asked(), subject).expect("a number of this scenario")
}

/// The published closed form stands beside what is kept, with the terms that it drops; where it does not apply it is away.
#[test]
fn the_published_form_is_named_with_what_it_drops() {
    let gpt = |training: Value, attention: &str| {
        let request =
            json!({"workload": {"preset": "gpt2", "attention": attention}, "training": training});
        derived(&request, Subject::LayerSaved(3))
    };
    let eager = gpt(json!({}), "eager");
    assert_eq!((eager.lines.len(), eager.notes.len()), (2, 1), "34 + 5as/h");
    assert_eq!(gpt(json!({"tp": 4}), "eager").lines.len(), 2, "10 + 24/t + 5as/(ht)");
    assert_eq!(gpt(json!({}), "flash").lines.len(), 2, "34");
    assert_eq!(gpt(json!({"dtype": "fp32"}), "eager").lines.len(), 1, "of 16 bit alone");
    let llama = json!({"workload": {"preset": "llama-2-7b"}});
    assert_eq!(derived(&llama, Subject::LayerSaved(3)).lines.len(), 1);
}

/// A figure cites its preset until the reader changes it.
#[test]
fn a_figure_says_whose_it_is() {
    let link = |request: &Value| {
        let derived = derived(request, Subject::Sum(Sum::Out));
        let mut leaves = Vec::new();
        derived.lines[0].expr.leaves(&mut leaves);
        leaves.iter().find(|leaf| leaf.unit == Unit::Rate).expect("a link").source
    };
    let policy = json!({"kind": "offload"});
    let own = json!({"hardware": {"preset": "rtx-4090"}, "policy": policy});
    assert!(
        matches!(link(&own), Source::Preset(text) if text.contains("25 GB/s")),
        "{:?}",
        link(&own)
    );
    let changed = json!({"hardware": {"preset": "rtx-4090", "d2h_gbps": 12}, "policy": policy});
    assert_eq!(link(&changed), Source::Setting);
    assert_eq!(link(&json!({"hardware": {"memory_gib": 24}, "policy": policy})), Source::Setting);
}

#[test]
fn what_a_number_is_worth_follows_from_what_it_is() {
    let request = json!({"policy": {"kind": "mix"}});
    for (subject, tolerance) in [
        (Subject::Saved(1, 0), Tolerance::Exact),
        (Subject::Peak, Tolerance::Peak),
        (Subject::Step, Tolerance::Time),
        (Subject::Capacity, Tolerance::Given),
        (Subject::Textbook(Textbook::Peak), Tolerance::Formula),
    ] {
        assert_eq!(derived(&request, subject).tolerance, tolerance, "{subject:?}");
    }
}

/// A wrong formula would be seen: the check is no tautology.
#[test]
fn a_formula_that_drifts_is_caught() {
    let mut derived = derived(&json!({"policy": {"kind": "mix"}}), Subject::Peak);
    let line = derived.lines.remove(0);
    assert!(line.holds());
    let more = Line { value: line.value + 1.0, ..line.clone() };
    assert!(!more.holds(), "a byte more");
    let mut leaves = Vec::new();
    let checked = more.checked();
    checked.expr.leaves(&mut leaves);
    assert!(matches!(leaves[..], [leaf] if leaf.source == Source::Simulation));
}
