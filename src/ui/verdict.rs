//! The verdict in words, on top, always: fits or not and by how much, how much slower than keeping everything, what binds, and
//! what to change first. Four figures beside it.

use crate::engine::Scenario;
use crate::engine::chain::{Chain, LayerKind};
use crate::engine::outcome::{Binding, Operation, Outcome};
use crate::engine::policy::PolicyKind;
use crate::engine::preset;
use crate::engine::program::OpKind;
use crate::engine::units::{Bytes, Nanos};
use crate::engine::why::nearest::missing;
use crate::engine::workload::Workload;
use crate::engine::workload::states::{FrozenDtype, Training};
use crate::explain::{Subject, Sum, Tolerance};
use crate::scene::format;
use crate::ui::chart::{Evaluated, layer_name};
use crate::ui::explain::{Number, mark, marked, within};
use crate::words::{self, Locale};
use serde_json::Value;
use yew::prelude::*;

/// The verdict.
pub fn verdict(evaluated: &Evaluated, locale: Locale) -> Html {
    let outcome = &evaluated.outcome;
    let state = if outcome.fits { "fits" } else { "fails" };
    html! {
        <section class={classes!("verdict", state)} aria-label={words::verdict_label(locale)}>
            <div class="said" role="status">
                <p class="headline">{marked(&headline(&evaluated.scenario, outcome, locale), &numbers(locale), locale)}</p>
                <p class="rest">{ for rest(evaluated, locale).into_iter().map(|text| html! { <span>{marked(&text, &numbers(locale), locale)}{" "}</span> }) }</p>
            </div>
            <dl class="figures">{ for figures(evaluated, locale) }</dl>
        </section>
    }
}

/// The numbers that sentences hold, by the place of their marks.
fn numbers(locale: Locale) -> [(Subject, &'static str); 7] {
    [
        (Subject::Headroom, words::explain_headroom(locale)),
        (Subject::Missing, words::explain_missing(locale)),
        (Subject::Step, words::verdict_step(locale)),
        (Subject::Overhead, words::verdict_overhead(locale)),
        (Subject::PlainPeak, words::explain_plain_peak(locale)),
        (Subject::Sum(Sum::Stall), words::explain_stall(locale)),
        (Subject::Unmoved, words::why_freed(locale)),
    ]
}

const HEADROOM: u32 = 0;
const MISSING: u32 = 1;
const STEP: u32 = 2;
const OVERHEAD: u32 = 3;
const PLAIN_PEAK: u32 = 4;
const STALL: u32 = 5;
const UNMOVED: u32 = 6;

/// How close to expect the step: closer once the card's efficiency is no longer the preset's.
fn step_within(evaluated: &Evaluated) -> Tolerance {
    let card = evaluated.notes.settings.get("hardware");
    let given = |key: &str| card.and_then(|card| card.get(key));
    let preset = given("preset").and_then(Value::as_str);
    let preset = preset.and_then(|id| preset::find(preset::cards(), id));
    let own = preset.and_then(|preset| preset.get("efficiency")).and_then(Value::as_f64);
    if own.is_some() && own == given("efficiency").and_then(Value::as_f64) {
        Tolerance::PresetTime
    } else {
        Tolerance::Time
    }
}

/// Three figures, each over a smaller one.
fn figures(evaluated: &Evaluated, locale: Locale) -> [Html; 3] {
    let Evaluated { scenario, outcome, .. } = evaluated;
    let peak = outcome.peak.row.total();
    let number = |subject, name: &'static str, value: String| html! { <Number {subject} {name} {value} {locale} /> };
    let figure = |subject,
                  name: &'static str,
                  value: String,
                  note: Html,
                  tolerance: Option<Tolerance>| {
        let within = tolerance.map(|one| html! { <span class="within">{"±"}{within(one)}</span> });
        html! { <div><dt>{name}{" "}{within}</dt><dd>{number(subject, name, value)}</dd><dd class="note">{note}</dd></div> }
    };
    let chain = &scenario.chain;
    let samples = chain.samples.saturating_mul(chain.accumulation);
    let tokens = chain.seq > 1;
    let rate = if tokens { samples.saturating_mul(chain.seq) } else { samples };
    let (sentence, name) = if tokens {
        (words::verdict_tokens as fn(Locale, &str) -> String, words::explain_tokens(locale))
    } else {
        (words::verdict_samples as fn(Locale, &str) -> String, words::explain_samples(locale))
    };
    let through = sentence(locale, &mark(0, &format::per_second(outcome.per_second(rate))));
    let limit = words::verdict_of(locale, &mark(0, &format::bytes(outcome.memory)));
    let host = words::verdict_host_memory(locale);
    let on_host = (outcome.host_peak + outcome.ssd_peak > Bytes::ZERO).then(|| {
        html! { <>{host}{" "}{number(Subject::HostPeak, host, format::bytes(outcome.host_peak))}</> }
    });
    [
        figure(
            Subject::Peak,
            words::verdict_peak(locale),
            format::bytes(peak),
            marked(&limit, &[(Subject::Capacity, words::explain_capacity(locale))], locale),
            Some(Tolerance::Peak),
        ),
        figure(
            Subject::Step,
            words::verdict_step(locale),
            format::time(outcome.step),
            marked(&through, &[(Subject::Throughput, name)], locale),
            Some(step_within(evaluated)),
        ),
        figure(
            Subject::Overhead,
            words::verdict_overhead(locale),
            format::percent_change(outcome.overhead()),
            on_host.unwrap_or_default(),
            None,
        ),
    ]
}

fn headline(scenario: &Scenario, outcome: &Outcome, locale: Locale) -> String {
    let Some(stop) = &outcome.out_of_memory else {
        if outcome.fits {
            let free = outcome.memory.saturating_sub(outcome.peak.row.total());
            return words::verdict_fits(locale, &mark(HEADROOM, &format::bytes(free)));
        }
        let limit = scenario.limits.step.map(format::time).unwrap_or_default();
        return words::verdict_slow(locale, &limit, &mark(STEP, &format::time(outcome.step)));
    };
    // The same lack as under the verdict: for the whole step.
    let lack = format::bytes(missing(outcome));
    match &stop.operation {
        Operation::States => {
            // Gradients that only grow during backward are states too.
            let states = outcome.fixed.total().saturating_sub(outcome.memory);
            let states = if states > Bytes::ZERO { format::bytes(states) } else { lack.clone() };
            words::verdict_states(locale, &lack, &states)
        }
        Operation::Host => words::verdict_host(locale, &mark(MISSING, &lack)),
        Operation::Op(kind, layer) => {
            words::verdict_memory(locale, &lack, &operation(&scenario.chain, *kind, *layer, locale))
        }
    }
}

/// What an operation is called.
#[must_use]
pub fn operation(chain: &Chain, kind: OpKind, layer: usize, locale: Locale) -> String {
    let layer = layer_name(locale, &chain.layers[layer].name);
    match kind {
        OpKind::Forward => words::verdict_op_forward(locale, &layer),
        OpKind::Recompute => words::verdict_op_recompute(locale, &layer),
        OpKind::Backward => words::verdict_op_backward(locale, &layer),
        OpKind::Optimizer => words::verdict_op_optimizer(locale).to_owned(),
    }
}

fn rest(evaluated: &Evaluated, locale: Locale) -> Vec<String> {
    let outcome = &evaluated.outcome;
    let mut said = Vec::new();
    if outcome.policy.kind != PolicyKind::Keep {
        said.push(cost(outcome, locale));
    }
    if outcome.plain_peak > outcome.memory && outcome.fits {
        let need = mark(PLAIN_PEAK, &format::bytes(outcome.plain_peak));
        said.push(words::verdict_keep_would_not_fit(locale, &need));
    }
    said.push(binds(outcome, locale));
    if let Some(freed) = outcome.peak_unmoved {
        said.push(words::verdict_peak_unmoved(locale, &mark(UNMOVED, &format::bytes(freed))));
    }
    said.extend(drive_life(evaluated, locale));
    said.push(first(evaluated, locale).to_owned());
    said
}

/// What the SSD takes, and how long it lasts so.
fn drive_life(evaluated: &Evaluated, locale: Locale) -> Option<String> {
    const SOON: f64 = 10.0;
    let endurance = evaluated.scenario.hardware.ssd_endurance;
    let days = evaluated.outcome.ssd_life_days(endurance)?;
    Some(words::verdict_drive(
        locale,
        &format::bytes(evaluated.outcome.ssd_written),
        &format::plain(days, usize::from(days < SOON)),
        &format::plain(endurance / 1e12, 1),
    ))
}

fn cost(outcome: &Outcome, locale: Locale) -> String {
    const AS_FAST: f64 = 0.000_5;
    if outcome.overhead() < AS_FAST {
        words::verdict_as_fast(locale).to_owned()
    } else {
        let share = format::percent(outcome.overhead());
        words::verdict_slower(locale, &mark(OVERHEAD, share.trim_start_matches('+')))
    }
}

fn binds(outcome: &Outcome, locale: Locale) -> String {
    let times = &outcome.times;
    let stall = mark(STALL, &format::time(times.stall));
    match outcome.binding {
        Binding::Host => words::verdict_binds_host(locale).to_owned(),
        Binding::Memory if times.stall_room > Nanos::ZERO => {
            words::verdict_binds_room(locale, &stall)
        }
        Binding::Memory => words::verdict_binds_memory(locale).to_owned(),
        Binding::Link => words::verdict_binds_link(locale, &stall),
        Binding::Compute if outcome.bytes_moved > Bytes::ZERO => {
            words::verdict_binds_compute(locale).to_owned()
        }
        Binding::Compute => words::verdict_binds_compute_alone(locale).to_owned(),
    }
}

/// Whether a layer is the head of a transformer whose loss runs over all tokens at once.
fn whole_logits(scenario: &Scenario, layer: usize) -> bool {
    scenario.chain.layers[layer].kind == LayerKind::Head
        && matches!(&scenario.workload, Workload::Transformer(model) if model.loss_chunks == 1)
}

/// Whether there is no smaller batch.
fn one_sequence(scenario: &Scenario) -> bool {
    !matches!(&scenario.workload, Workload::Transformer(model) if model.batch > 1)
}

/// What to change first where states alone are too large: nothing that is on already.
fn states_first(scenario: &Scenario, locale: Locale) -> &'static str {
    let Training { lora_rank, frozen_dtype, .. } = &scenario.training;
    match (lora_rank, frozen_dtype) {
        (None, _) => words::verdict_try_states(locale),
        (Some(_), FrozenDtype::Bf16 | FrozenDtype::Int8) => words::verdict_try_states_base(locale),
        (Some(_), _) => words::verdict_try_states_shard(locale),
    }
}

/// What to change first.
fn first(evaluated: &Evaluated, locale: Locale) -> &'static str {
    let outcome = &evaluated.outcome;
    match outcome.out_of_memory.as_ref().map(|stop| &stop.operation) {
        Some(Operation::States) => states_first(&evaluated.scenario, locale),
        Some(Operation::Host) => words::verdict_try_host(locale),
        Some(Operation::Op(_, layer)) if whole_logits(&evaluated.scenario, *layer) => {
            words::verdict_try_chunks(locale)
        }
        Some(Operation::Op(..)) => {
            let one = one_sequence(&evaluated.scenario);
            match (evaluated.scenario.asks_for_best(), one) {
                (true, true) => words::best_try_shorter(locale),
                (true, false) => words::best_try_batch(locale),
                (false, true) => words::verdict_try_room_states(locale),
                (false, false) => words::verdict_try_plan(locale),
            }
        }
        None if evaluated.scenario.asks_for_best() && outcome.overhead() > 0.0 => {
            words::best_try(locale)
        }
        None if outcome.policy.kind != PolicyKind::Keep
            && outcome.plain_peak <= outcome.memory
            && outcome.overhead() > 0.0 =>
        {
            words::verdict_try_keep(locale)
        }
        None => match outcome.binding {
            Binding::Link => words::verdict_try_link(locale),
            Binding::Memory => words::verdict_try_room(locale),
            _ if outcome.times.recompute > Nanos::ZERO => words::verdict_try_compute(locale),
            _ => words::verdict_try_none(locale),
        },
    }
}
