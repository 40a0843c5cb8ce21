//! The panel of knobs: the four that matter most first, then five more, then everything.

use super::{Choice, Slider};
use crate::engine::Scenario;
use crate::engine::policy::{Action, Policy, PolicyKind, SLOTS};
use crate::engine::workload::Workload;
use crate::scene::slider::{Marks, Range};
use crate::ui::Shared;
use crate::ui::best::Best;
use crate::ui::chart::Evaluated;
use crate::ui::folded::Folded;
use crate::ui::marks::marks;
use crate::ui::store::Msg;
use crate::words::{self, Locale};
use yew::prelude::*;

/// What the panel turns.
pub struct Props {
    /// The scenario in force.
    pub evaluated: Shared<Evaluated>,
    /// The request in force, as text.
    pub request: Shared<String>,
    /// The plan shown, where the request does not say it.
    pub shown: Option<Shared<Policy>>,
    /// What is known of the plan shown, where the best one is asked for.
    pub best: Option<Best>,
    /// Somebody is dragging.
    pub turning: bool,
    /// The least bandwidth at which the plan in use never waits, GB/s, once it is known.
    pub least: Option<f64>,
    /// The language.
    pub locale: Locale,
    /// Told of every turn.
    pub send: Callback<Msg>,
}

/// One knob of the panel.
struct Knob {
    id: &'static str,
    words: fn(Locale) -> &'static str,
    about: fn(Locale) -> &'static str,
    unit: &'static str,
    value: f64,
    range: Range,
    /// Paths it sets.
    paths: &'static [&'static str],
    /// The policies that use it, and the one it switches to under another.
    used_by: Option<(&'static [PolicyKind], PolicyKind)>,
}

/// What a knob has unless it says otherwise.
const BLANK: Knob = Knob {
    id: "",
    words: words::knob_batch,
    about: words::knob_batch_about,
    unit: "",
    value: 0.0,
    range: linear(0.0, 1.0, 1.0),
    paths: &[],
    used_by: None,
};

/// The panel.
pub fn panel(props: &Props) -> Html {
    let Props { evaluated, request, shown, best, turning, least, locale, send } = props;
    let policy = &evaluated.scenario.policy;
    let (first, second) = knobs(evaluated);
    let slider = |knob: Knob| {
        let marks = (knob.id == BANDWIDTH).then(|| marks(evaluated, *least, knob.range, *locale));
        slider(&knob, policy.kind, marks.flatten(), *locale, send)
    };
    let folded = |kind: &'static str, class: &'static str, title: &'static str| {
        html! { <Folded {kind} {class} title={html! { {title} }} request={request.clone()} shown={shown.clone()} busy={*turning} locale={*locale} send={send.clone()} /> }
    };
    html! {
        <div class="panel">
            { policy_menu(policy, best.as_ref(), *locale, send) }
            <div class="knobs first">{ for first.into_iter().map(slider) }</div>
            <div class="knobs second">{ for second.into_iter().map(slider) }</div>
            { folded("inverse", "expert inverse", words::inverse_title(*locale)) }
            { folded("settings", "expert", words::app_settings(*locale)) }
            { folded("fit", "expert calibrate", words::calibrate_title(*locale)) }
        </div>
    }
}

fn policy_menu(policy: &Policy, best: Option<&Best>, locale: Locale, send: &Callback<Msg>) -> Html {
    // A list is no menu's to make.
    let shown =
        PolicyKind::ALL.iter().filter(|&&kind| kind == policy.kind || kind != PolicyKind::Plan);
    let entries = shown
        .map(|&kind| (kind.name().into(), kind_words(kind, locale).into()))
        .collect::<Vec<_>>();
    let onchoose =
        send.reform(|name: String| Msg::Commit(vec![("policy.kind".into(), name.into())]));
    let media = [Action::Host, Action::Ssd]
        .map(|medium| (medium.name().into(), medium_words(medium, locale).into()));
    let onmedium =
        send.reform(|name: String| Msg::Commit(vec![("policy.medium".into(), name.into())]));
    html! {
        <div class="menus">
            <Choice id="policy" label={words::knob_policy(locale)} {entries} value={policy.kind.name()} {onchoose} />
            if let Some(best) = best {
                <p class={classes!("best-known", best.stale.then_some("aged"))} role="status" aria-busy={(!best.done).to_string()}>{best.sentence(locale)}</p>
            }
            <Choice id="medium" label={words::knob_medium(locale)} entries={media.to_vec()} value={policy.medium.name()} onchoose={onmedium} />
        </div>
    }
}

/// The slider with marks.
const BANDWIDTH: &str = "bandwidth";

fn slider(
    knob: &Knob,
    kind: PolicyKind,
    marks: Option<Marks>,
    locale: Locale,
    send: &Callback<Msg>,
) -> Html {
    let idle = knob.used_by.is_some_and(|(kinds, _)| !kinds.contains(&kind));
    let switch = knob.used_by.filter(|_| idle).map(|(_, to)| to);
    html! {
        <Slider key={knob.id} id={knob.id} label={(knob.words)(locale)} about={(knob.about)(locale)} unit={knob.unit}
            value={knob.value} range={knob.range} paths={knob.paths} {switch} {marks} send={send.clone()} />
    }
}

const SEGMENTED: &[PolicyKind] = &[PolicyKind::Checkpoint, PolicyKind::Mix];

/// The knobs shown first, and the others.
fn knobs(evaluated: &Evaluated) -> (Vec<Knob>, Vec<Knob>) {
    let scenario = &evaluated.scenario;
    let (mut first, mut second) = workload_knobs(&scenario.workload);
    first.extend(plan_knobs(scenario));
    second.extend(limit_knobs(scenario));
    second.extend(pipeline_knobs(scenario));
    (first, second)
}

/// Where there is a pipeline: which stage is shown, and how many model chunks each has.
fn pipeline_knobs(scenario: &Scenario) -> Vec<Knob> {
    let (Workload::Transformer(model), training) = (&scenario.workload, &scenario.training) else {
        return Vec::new();
    };
    let mut knobs = Vec::new();
    if training.pp > 1 {
        knobs.push(Knob {
            id: "stage",
            words: words::knob_stage,
            about: words::knob_stage_about,
            value: number(training.stage),
            range: linear(1.0, number(training.pp), 1.0),
            paths: &["training.stage"],
            ..BLANK
        });
        let chunks = model.layers / training.pp;
        if chunks > 1 {
            knobs.push(Knob {
                id: "virtual-stages",
                words: words::knob_virtual_stages,
                about: words::knob_virtual_stages_about,
                value: number(training.virtual_stages),
                range: linear(1.0, number(chunks), 1.0),
                paths: &["training.virtual_stages"],
                ..BLANK
            });
        }
    }
    knobs
}

fn workload_knobs(workload: &Workload) -> (Vec<Knob>, Vec<Knob>) {
    match workload {
        Workload::Transformer(model) => (
            vec![Knob {
                id: "batch",
                words: words::knob_batch,
                about: words::knob_batch_about,
                value: number(model.batch),
                range: linear(1.0, 64.0, 1.0),
                paths: &["workload.batch"],
                ..BLANK
            }],
            vec![Knob {
                id: "seq",
                words: words::knob_seq,
                about: words::knob_seq_about,
                value: number(model.seq),
                range: Range::Powers { min: 7, max: 17 },
                paths: &["workload.seq"],
                ..BLANK
            }],
        ),
        Workload::Lesson(lesson) => (
            vec![Knob {
                id: "act",
                words: words::knob_act_gb,
                about: words::knob_act_gb_about,
                unit: "GB",
                value: lesson.act_gb,
                range: linear(0.1, 10.0, 0.1),
                paths: &["workload.act_gb"],
                ..BLANK
            }],
            vec![
                Knob {
                    id: "layers",
                    words: words::knob_layers,
                    about: words::knob_layers_about,
                    value: number(lesson.layers),
                    range: linear(1.0, 200.0, 1.0),
                    paths: &["workload.layers"],
                    ..BLANK
                },
                Knob {
                    id: "layer-s",
                    words: words::knob_layer_s,
                    about: words::knob_layer_s_about,
                    unit: "s",
                    value: lesson.layer_s,
                    range: linear(0.01, 2.0, 0.01),
                    paths: &["workload.layer_s"],
                    ..BLANK
                },
            ],
        ),
        Workload::Profile(_) => (Vec::new(), Vec::new()),
    }
}

fn plan_knobs(scenario: &Scenario) -> Vec<Knob> {
    let policy = &scenario.policy;
    let blocks = count(scenario.chain.blocks().count());
    let slots = Knob {
        id: "slots",
        words: words::knob_slots,
        about: words::knob_slots_about,
        value: number(policy.slots.unwrap_or(SLOTS)),
        range: linear(1.0, blocks.max(2.0), 1.0),
        paths: &["policy.slots"],
        ..BLANK
    };
    let mut knobs = vec![
        Knob {
            id: "k",
            words: words::knob_k,
            about: words::knob_k_about,
            value: number(policy.k),
            range: linear(1.0, blocks.max(2.0), 1.0),
            paths: &["policy.k"],
            used_by: Some((SEGMENTED, PolicyKind::Checkpoint)),
            ..BLANK
        },
        Knob {
            id: "beta",
            words: words::knob_beta,
            about: words::knob_beta_about,
            value: policy.beta,
            range: linear(0.0, 1.0, 0.01),
            paths: &["policy.beta"],
            used_by: Some((&[PolicyKind::Mix], PolicyKind::Mix)),
            ..BLANK
        },
        Knob {
            id: BANDWIDTH,
            words: words::knob_bandwidth,
            about: words::knob_bandwidth_about,
            unit: "GB/s",
            // Of the link, before cards share it: that is what turning it sets.
            value: scenario.hardware.d2h.0 / 1e9 * number(scenario.hardware.cards_per_link),
            range: Range::Log { min: 1.0, max: 500.0, steps: 200 },
            paths: &["hardware.d2h_gbps", "hardware.h2d_gbps"],
            ..BLANK
        },
    ];
    if policy.kind == PolicyKind::Binomial {
        knobs[0] = slots;
    }
    knobs
}

fn limit_knobs(scenario: &Scenario) -> [Knob; 4] {
    let policy = &scenario.policy;
    [
        Knob {
            id: "limit",
            words: words::knob_limit,
            about: words::knob_limit_about,
            unit: "GiB",
            value: scenario.limits.memory.gib(),
            range: linear(1.0, scenario.hardware.memory.gib().max(2.0), 0.25),
            paths: &["limits.memory_gib"],
            ..BLANK
        },
        Knob {
            id: "prefetch",
            words: words::knob_prefetch,
            about: words::knob_prefetch_about,
            value: number(policy.prefetch_layers),
            range: linear(0.0, 8.0, 1.0),
            paths: &["policy.prefetch_layers"],
            ..BLANK
        },
        Knob {
            id: "epsilon",
            words: words::knob_epsilon,
            about: words::knob_epsilon_about,
            unit: "ms",
            value: policy.epsilon_ms,
            range: linear(0.0, 50.0, 0.5),
            paths: &["policy.epsilon_ms"],
            used_by: Some((&[PolicyKind::Rule], PolicyKind::Rule)),
        },
        Knob {
            id: "lambda",
            words: words::knob_lambda,
            about: words::knob_lambda_about,
            value: scenario.weights.memory,
            range: linear(0.0, 1.0, 0.05),
            paths: &["weights.memory", "weights.compute", "weights.transfer"],
            ..BLANK
        },
    ]
}

const fn linear(min: f64, max: f64, step: f64) -> Range {
    Range::Linear { min, max, step }
}

#[expect(clippy::cast_precision_loss, reason = "a slider's value")]
fn number(n: u64) -> f64 {
    n as f64
}

#[expect(clippy::cast_precision_loss, reason = "a slider's value")]
fn count(n: usize) -> f64 {
    n as f64
}

/// A policy's name in words.
#[must_use]
pub fn kind_words(kind: PolicyKind, locale: Locale) -> &'static str {
    match kind {
        PolicyKind::Keep => words::choice_keep(locale),
        PolicyKind::Checkpoint => words::choice_checkpoint(locale),
        PolicyKind::Recompute => words::choice_recompute(locale),
        PolicyKind::Offload => words::choice_offload(locale),
        PolicyKind::OffloadBoundaries => words::choice_offload_boundaries(locale),
        PolicyKind::Mix => words::choice_mix(locale),
        PolicyKind::Selective => words::choice_selective(locale),
        PolicyKind::Rule => words::choice_rule(locale),
        PolicyKind::Binomial => words::choice_binomial(locale),
        PolicyKind::Rotor => words::choice_rotor(locale),
        PolicyKind::Plan => words::choice_plan(locale),
        PolicyKind::Best => words::choice_best(locale),
    }
}

fn medium_words(medium: Action, locale: Locale) -> &'static str {
    match medium {
        Action::Ssd => words::choice_ssd(locale),
        _ => words::choice_host(locale),
    }
}
