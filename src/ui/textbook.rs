//! The textbook beside the truth: what closed formulas say of the same scenario, what the simulation says, and what the
//! formula leaves out.

use crate::engine::lesson::{Strategies, Strategy};
use crate::engine::policy::PolicyKind;
use crate::engine::units::Nanos;
use crate::engine::workload::Workload;
use crate::engine::workload::transformer::Block;
use crate::scene::format;
use crate::ui::Shared;
use crate::ui::chart::Evaluated;
use crate::words::{self, Locale};
use yew::prelude::*;

/// What the table is about.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// The language.
    pub locale: Locale,
}

type Words = fn(Locale) -> &'static str;

/// Formula and note of peak and step under a policy.
fn formulas(kind: PolicyKind) -> [(Words, Words); 2] {
    match kind {
        PolicyKind::Checkpoint => [
            (words::textbook_peak_k, words::textbook_note_k),
            (words::textbook_step_k, words::textbook_note_step_k),
        ],
        PolicyKind::Recompute => [
            (words::textbook_peak_recompute, words::textbook_note_recompute),
            (words::textbook_step_recompute, words::textbook_note_step_k),
        ],
        PolicyKind::OffloadBoundaries => [
            (words::textbook_peak_recompute, words::textbook_note_recompute),
            (words::textbook_step_recompute, words::textbook_note_step_overlap),
        ],
        PolicyKind::Offload => [
            (words::textbook_peak_recompute, words::textbook_note_offload),
            (words::textbook_step_overlap, words::textbook_note_step_overlap),
        ],
        PolicyKind::Mix => [
            (words::textbook_peak_mix, words::textbook_note_mix),
            (words::textbook_step_mix, words::textbook_note_step_overlap),
        ],
        PolicyKind::Keep => [
            (words::textbook_peak_keep, words::textbook_note_keep),
            (words::textbook_step_plain, words::textbook_note_step_plain),
        ],
        PolicyKind::Selective | PolicyKind::Rule | PolicyKind::Plan | PolicyKind::Best => [
            (words::textbook_peak_keep, words::textbook_note_none),
            (words::textbook_step_plain, words::textbook_note_none),
        ],
    }
}

/// The table.
#[component]
pub fn Textbook(props: &Props) -> Html {
    let Props { evaluated, locale } = props;
    let (outcome, locale) = (&evaluated.outcome, *locale);
    let lesson = &outcome.lesson;
    let [peak, step] = formulas(outcome.policy.kind);
    let mut rows = vec![
        (peak.0, format::bytes(lesson.peak_bytes), format::bytes(outcome.peak.row.total()), peak.1),
        (step.0, format::time(Nanos::from_secs(lesson.step_s)), format::time(outcome.step), step.1),
    ];
    if outcome.policy.kind == PolicyKind::Checkpoint {
        let bytes = format::bytes(lesson.k_segments_with_boundaries_bytes);
        let peak = format::bytes(outcome.peak.row.total());
        rows.push((words::textbook_boundaries, bytes, peak, words::textbook_note_boundaries));
    }
    let gpt = matches!(&evaluated.scenario.workload, Workload::Transformer(model) if model.block == Block::Gpt);
    if let Some(closed) =
        lesson.closed.as_ref().filter(|_| gpt && evaluated.scenario.training.stage == 1)
    {
        let (says, held) = (closed.first_stage_activation_bytes, closed.blocks_held_bytes);
        let (says, held) = (format::bytes(says), format::bytes(held));
        rows.push((words::textbook_activations, says, held, words::textbook_note_activations));
    }
    html! {
        <div class="textbook">
            <div class="scroll" tabindex="0" role="region" aria-label={words::app_view_textbook(locale)}>
            <table class="formulas">
                <thead><tr>
                    <th scope="col">{words::textbook_formula(locale)}</th>
                    <th scope="col" class="num">{words::textbook_says(locale)}</th>
                    <th scope="col" class="num">{words::textbook_simulated(locale)}</th>
                    <th scope="col">{words::textbook_leaves_out(locale)}</th>
                </tr></thead>
                <tbody>{ for rows.into_iter().map(|(formula, says, simulated, note)| html! {
                    <tr>
                        <th scope="row" class="formula">{formula(locale)}</th>
                        <td class="num" data-name={words::textbook_says(locale)}>{says}</td>
                        <td class="num" data-name={words::textbook_simulated(locale)}>{simulated}</td><td class="leaves-out">{note(locale)}</td>
                    </tr>
                }) }</tbody>
            </table>
            </div>
            if outcome.policy.kind != PolicyKind::Keep { <p>{ratio(evaluated, locale)}</p> }
            { worked(evaluated, locale) }
            <p class="quiet">{words::textbook_reference(locale)}</p>
        </div>
    }
}

fn ratio(evaluated: &Evaluated, locale: Locale) -> String {
    let lesson = &evaluated.outcome.lesson;
    let memory = format::percent(lesson.memory_ratio);
    let memory = memory.trim_start_matches('+');
    match lesson.benefit_ratio {
        Some(ratio) => words::textbook_ratio(
            locale,
            format::percent(lesson.cost_ratio).trim_start_matches('+'),
            memory,
            &format::ratio(ratio),
            &format::ratio(evaluated.outcome.policy.threshold),
        ),
        None => words::textbook_ratio_free(locale, memory),
    }
}

fn worked(evaluated: &Evaluated, locale: Locale) -> Html {
    let lesson = &evaluated.outcome.lesson;
    let epoch = lesson.epoch.map(|epoch| {
        words::textbook_epoch_says(
            locale,
            &epoch.offload_count.to_string(),
            &format::ratio(epoch.epoch_s),
            &format::ratio(epoch.slowdown_percent),
            &format::ratio(epoch.round_trip_s),
            &format::ratio(epoch.visible_s),
        )
    });
    html! {
        <>
            if let Some(says) = epoch {
                <h3>{words::textbook_epoch(locale)}</h3>
                <p>{says}{" "}<span class="quiet">{words::textbook_epoch_note(locale)}</span></p>
            }
            if let Some(table) = &lesson.strategies {
                <h3>{words::textbook_strategies(locale)}</h3>
                { strategies(table, locale) }
                <p class="quiet">{words::textbook_strategies_note(locale)}</p>
            }
        </>
    }
}

fn strategies(table: &Strategies, locale: Locale) -> Html {
    let rows: [(&str, Words, Strategy); 3] = [
        ("full_activation", words::textbook_strategy_full, table.full_activation),
        ("gradient_checkpoint", words::textbook_strategy_checkpoint, table.gradient_checkpoint),
        ("activation_offload", words::textbook_strategy_offload, table.activation_offload),
    ];
    let row = |(name, words_of, row): (&str, Words, Strategy)| {
        let best = name == table.best;
        html! {
            <tr class={classes!(best.then_some("best"))}>
                <th scope="row">{words_of(locale)}{ if best { format!(" · {}", words::textbook_strategy_best(locale)) } else { String::new() } }</th>
                <td class="num">{format::ratio(row.mem_gb)}</td>
                <td class="num">{format::ratio(row.extra_compute_s)}</td>
                <td class="num">{format::ratio(row.extra_time_s)}</td>
                <td class="num">{format::ratio(row.total_cost)}</td>
            </tr>
        }
    };
    html! {
        <div class="scroll" tabindex="0" role="region" aria-label={words::textbook_strategies(locale)}>
        <table>
            <thead><tr>
                <td></td>
                <th scope="col" class="num">{words::textbook_strategy_memory(locale)}</th>
                <th scope="col" class="num">{words::textbook_strategy_compute(locale)}</th>
                <th scope="col" class="num">{words::textbook_strategy_transfer(locale)}</th>
                <th scope="col" class="num">{words::textbook_strategy_cost(locale)}</th>
            </tr></thead>
            <tbody>{ for rows.into_iter().map(row) }</tbody>
        </table>
        </div>
    }
}
