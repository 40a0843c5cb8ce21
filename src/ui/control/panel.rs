//! The panel of knobs: the four that matter most first, then five more, then everything.

use super::expert::Expert;
use super::{Choice, Slider};
use crate::engine::policy::{Action, Policy, PolicyKind};
use crate::engine::workload::Workload;
use crate::scene::slider::Range;
use crate::ui::Shared;
use crate::ui::chart::Evaluated;
use crate::ui::store::Msg;
use crate::words::{self, Locale};
use yew::prelude::*;

/// What the panel turns.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario in force.
    pub evaluated: Shared<Evaluated>,
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

/// The panel.
#[component]
pub fn Panel(props: &Props) -> Html {
    let Props { evaluated, locale, send } = props;
    let policy = &evaluated.scenario.policy;
    let (first, second) = knobs(evaluated);
    let slider = |knob: Knob| slider(&knob, policy.kind, *locale, send);
    html! {
        <div class="panel">
            { policy_menu(policy, *locale, send) }
            <div class="knobs first">{ for first.into_iter().map(slider) }</div>
            <div class="knobs second">{ for second.into_iter().map(slider) }</div>
            <Expert evaluated={evaluated.clone()} locale={*locale} send={send.clone()} />
        </div>
    }
}

fn policy_menu(policy: &Policy, locale: Locale, send: &Callback<Msg>) -> Html {
    // A list is no menu's to make, and `best` would search at every turn: the button beside the front asks for it once.
    let shown = PolicyKind::ALL.iter().filter(|&&kind| {
        kind == policy.kind || !matches!(kind, PolicyKind::Plan | PolicyKind::Best)
    });
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
            <Choice id="medium" label={words::knob_medium(locale)} entries={media.to_vec()} value={policy.medium.name()} onchoose={onmedium} />
        </div>
    }
}

fn slider(knob: &Knob, kind: PolicyKind, locale: Locale, send: &Callback<Msg>) -> Html {
    let idle = knob.used_by.is_some_and(|(kinds, _)| !kinds.contains(&kind));
    let switch = knob.used_by.filter(|_| idle).map(|(_, to)| to);
    html! {
        <Slider key={knob.id} id={knob.id} label={(knob.words)(locale)} about={(knob.about)(locale)} unit={knob.unit}
            value={knob.value} range={knob.range} paths={knob.paths} {switch} send={send.clone()} />
    }
}

const SEGMENTED: &[PolicyKind] = &[PolicyKind::Checkpoint, PolicyKind::Mix];

fn knobs(evaluated: &Evaluated) -> (Vec<Knob>, Vec<Knob>) {
    let scenario = &evaluated.scenario;
    let (policy, hardware) = (&scenario.policy, &scenario.hardware);
    let blocks = count(scenario.chain.blocks().count());
    let knob = |id, words, about, unit, value, range, paths| Knob {
        id,
        words,
        about,
        unit,
        value,
        range,
        paths,
        used_by: None,
    };
    let linear = |min, max, step| Range::Linear { min, max, step };
    let mut first = vec![
        Knob {
            used_by: Some((SEGMENTED, PolicyKind::Checkpoint)),
            ..knob(
                "k",
                words::knob_k,
                words::knob_k_about,
                "",
                number(policy.k),
                linear(1.0, blocks.max(2.0), 1.0),
                &["policy.k"],
            )
        },
        Knob {
            used_by: Some((&[PolicyKind::Mix], PolicyKind::Mix)),
            ..knob(
                "beta",
                words::knob_beta,
                words::knob_beta_about,
                "",
                policy.beta,
                linear(0.0, 1.0, 0.01),
                &["policy.beta"],
            )
        },
        knob(
            "bandwidth",
            words::knob_bandwidth,
            words::knob_bandwidth_about,
            "GB/s",
            hardware.d2h.0 / 1e9,
            Range::Log { min: 1.0, max: 500.0, steps: 200 },
            &["hardware.d2h_gbps", "hardware.h2d_gbps"],
        ),
    ];
    let card = hardware.memory.gib();
    let mut second = vec![
        knob(
            "limit",
            words::knob_limit,
            words::knob_limit_about,
            "GiB",
            scenario.limits.memory.gib(),
            linear(1.0, card.max(2.0), 0.25),
            &["limits.memory_gib"],
        ),
        knob(
            "prefetch",
            words::knob_prefetch,
            words::knob_prefetch_about,
            "",
            number(policy.prefetch_layers),
            linear(0.0, 8.0, 1.0),
            &["policy.prefetch_layers"],
        ),
        Knob {
            used_by: Some((&[PolicyKind::Rule], PolicyKind::Rule)),
            ..knob(
                "epsilon",
                words::knob_epsilon,
                words::knob_epsilon_about,
                "ms",
                policy.epsilon_ms,
                linear(0.0, 50.0, 0.5),
                &["policy.epsilon_ms"],
            )
        },
        knob(
            "lambda",
            words::knob_lambda,
            words::knob_lambda_about,
            "",
            scenario.weights.memory,
            linear(0.0, 1.0, 0.05),
            &["weights.memory", "weights.compute", "weights.transfer"],
        ),
    ];
    match &scenario.workload {
        Workload::Transformer(model) => {
            first.insert(
                0,
                knob(
                    "batch",
                    words::knob_batch,
                    words::knob_batch_about,
                    "",
                    number(model.batch),
                    linear(1.0, 64.0, 1.0),
                    &["workload.batch"],
                ),
            );
            second.insert(
                0,
                knob(
                    "seq",
                    words::knob_seq,
                    words::knob_seq_about,
                    "",
                    number(model.seq),
                    Range::Powers { min: 7, max: 17 },
                    &["workload.seq"],
                ),
            );
        }
        Workload::Lesson(lesson) => {
            first.insert(
                0,
                knob(
                    "act",
                    words::knob_act_gb,
                    words::knob_act_gb,
                    "GB",
                    lesson.act_gb,
                    linear(0.1, 10.0, 0.1),
                    &["workload.act_gb"],
                ),
            );
            second.insert(
                0,
                knob(
                    "layer-s",
                    words::knob_layer_s,
                    words::knob_layer_s,
                    "s",
                    lesson.layer_s,
                    linear(0.01, 2.0, 0.01),
                    &["workload.layer_s"],
                ),
            );
            second.insert(
                0,
                knob(
                    "layers",
                    words::knob_layers,
                    words::knob_layers,
                    "",
                    number(lesson.layers),
                    linear(1.0, 200.0, 1.0),
                    &["workload.layers"],
                ),
            );
        }
        Workload::Profile(_) => {}
    }
    (first, second)
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
