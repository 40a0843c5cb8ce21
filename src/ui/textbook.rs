//! The textbook beside the truth: what closed formulas say of the same scenario, what the simulation says, and what the
//! formula leaves out.

use crate::engine::lesson::{Strategies, Strategy};
use crate::engine::policy::PolicyKind;
use crate::engine::units::Nanos;
use crate::engine::workload::Workload;
use crate::engine::workload::transformer::Block;
use crate::explain::{Subject, Textbook as Formula};
use crate::scene::format;
use crate::ui::chart::Evaluated;
use crate::ui::explain::{Number, mark, marked};
use crate::words::{self, Locale};
use yew::prelude::*;

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
        PolicyKind::Binomial => [
            (words::textbook_peak_binomial, words::textbook_note_binomial),
            (words::textbook_step_binomial, words::textbook_note_step_k),
        ],
        PolicyKind::Selective
        | PolicyKind::Rule
        | PolicyKind::Rotor
        | PolicyKind::Plan
        | PolicyKind::Best => [
            (words::textbook_peak_keep, words::textbook_note_none),
            (words::textbook_step_plain, words::textbook_note_none),
        ],
    }
}

/// The table.
pub fn textbook(evaluated: &Evaluated, locale: Locale) -> Html {
    let outcome = &evaluated.outcome;
    let lesson = &outcome.lesson;
    let [peak, step] = formulas(outcome.policy.kind);
    let number = |subject, name: &'static str, value: String| html! { <Number {subject} {name} {value} {locale} /> };
    let peak_words = words::verdict_peak(locale);
    let says_peak = |what, bytes| number(Subject::Textbook(what), peak_words, format::bytes(bytes));
    let simulated = || number(Subject::Peak, peak_words, format::bytes(outcome.peak.row.total()));
    let step_words = words::verdict_step(locale);
    let says_step = format::time(Nanos::from_secs(lesson.step_s));
    let mut rows = vec![
        (peak.0, says_peak(Formula::Peak, lesson.peak_bytes), simulated(), peak.1),
        (
            step.0,
            number(Subject::Textbook(Formula::Step), step_words, says_step),
            number(Subject::Step, step_words, format::time(outcome.step)),
            step.1,
        ),
    ];
    if outcome.policy.kind == PolicyKind::Checkpoint {
        let says = says_peak(Formula::Boundaries, lesson.k_segments_with_boundaries_bytes);
        rows.push((words::textbook_boundaries, says, simulated(), words::textbook_note_boundaries));
    }
    let gpt = matches!(&evaluated.scenario.workload, Workload::Transformer(model) if model.block == Block::Gpt);
    if let Some(closed) =
        lesson.closed.as_ref().filter(|_| gpt && evaluated.scenario.training.stage == 1)
    {
        let (says, held) = (closed.first_stage_activation_bytes, closed.blocks_held_bytes);
        let (says, held) = (html! { {format::bytes(says)} }, html! { {format::bytes(held)} });
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
            if outcome.policy.kind != PolicyKind::Keep { <p>{marked(&ratio(evaluated, locale), &ratio_numbers(locale), locale)}</p> }
            { worked(evaluated, locale) }
            <p class="quiet">{words::textbook_reference(locale)}</p>
        </div>
    }
}

fn ratio(evaluated: &Evaluated, locale: Locale) -> String {
    let lesson = &evaluated.outcome.lesson;
    let memory = format::percent(lesson.memory_ratio);
    let memory = &mark(0, memory.trim_start_matches('+'));
    match lesson.benefit_ratio {
        Some(ratio) => words::textbook_ratio(
            locale,
            &mark(1, format::percent(lesson.cost_ratio).trim_start_matches('+')),
            memory,
            &mark(2, &format::ratio(ratio)),
            &format::ratio(evaluated.outcome.policy.threshold),
        ),
        None => words::textbook_ratio_free(locale, memory),
    }
}

fn ratio_numbers(locale: Locale) -> [(Subject, &'static str); 3] {
    [
        (Subject::Textbook(Formula::MemoryRatio), words::explain_memory_ratio(locale)),
        (Subject::Textbook(Formula::CostRatio), words::explain_cost_ratio(locale)),
        (Subject::Textbook(Formula::Benefit), words::chart_ratio_benefit_short(locale)),
    ]
}

fn epoch_numbers(locale: Locale) -> [(Subject, &'static str); 4] {
    [
        (Subject::Textbook(Formula::Epoch), words::textbook_epoch(locale)),
        (Subject::Textbook(Formula::Slowdown), words::explain_slowdown(locale)),
        (Subject::Textbook(Formula::EpochTrip), words::chart_ratio_trip(locale)),
        (Subject::Textbook(Formula::EpochVisible), words::explain_exposed(locale)),
    ]
}

fn worked(evaluated: &Evaluated, locale: Locale) -> Html {
    let lesson = &evaluated.outcome.lesson;
    let epoch = lesson.epoch.map(|epoch| {
        words::textbook_epoch_says(
            locale,
            &epoch.offload_count.to_string(),
            &mark(0, &format::ratio(epoch.epoch_s)),
            &mark(1, &format::ratio(epoch.slowdown_percent)),
            &mark(2, &format::ratio(epoch.round_trip_s)),
            &mark(3, &format::ratio(epoch.visible_s)),
        )
    });
    html! {
        <>
            if let Some(says) = epoch {
                <h3>{words::textbook_epoch(locale)}</h3>
                <p>{marked(&says, &epoch_numbers(locale), locale)}{" "}<span class="quiet">{words::textbook_epoch_note(locale)}</span></p>
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
    let heads: [Words; 4] = [
        words::textbook_strategy_memory,
        words::textbook_strategy_compute,
        words::textbook_strategy_transfer,
        words::textbook_strategy_cost,
    ];
    let row = |(i, (name, words_of, row)): (usize, (&str, Words, Strategy))| {
        let best = name == table.best;
        let values = [row.mem_gb, row.extra_compute_s, row.extra_time_s, row.total_cost];
        let cell = |(j, value): (usize, f64)| {
            let subject = Subject::Textbook(Formula::Strategy(i, j));
            html! { <td class="num"><Number {subject} name={heads[j](locale)} value={format::ratio(value)} {locale} /></td> }
        };
        html! {
            <tr class={classes!(best.then_some("best"))}>
                <th scope="row">{words_of(locale)}{ if best { format!(" · {}", words::textbook_strategy_best(locale)) } else { String::new() } }</th>
                { for values.into_iter().enumerate().map(cell) }
            </tr>
        }
    };
    html! {
        <div class="scroll" tabindex="0" role="region" aria-label={words::textbook_strategies(locale)}>
        <table>
            <thead><tr>
                <td></td>
                { for heads.iter().map(|head| html! { <th scope="col" class="num">{head(locale)}</th> }) }
            </tr></thead>
            <tbody>{ for rows.into_iter().enumerate().map(row) }</tbody>
        </table>
        </div>
    }
}
