//! The ledger's numbers: who is there, how much of each, and what that leaves of the card.

use super::alive::{self, Alive, What, When};
use super::expr::{Expr, Line, Name, Unit, bytes, named, number, symbol};
use super::source::{Source, Work};
use super::{Asked, Derivation, Subject, Tolerance, states, words_of};
use crate::engine::evaluate;
use crate::engine::ledger::Row;
use crate::engine::outcome::Operation;
use crate::engine::policy::{Policy, PolicyKind};
use crate::engine::program::Program;
use crate::engine::units::{Bytes, GIB};
use crate::engine::{Plan, chain::LayerKind};
use crate::scene::ledger::{BANDS, Band, row_at};
use crate::words;

type Words = super::expr::Words;

pub fn explain(asked: Asked, subject: Subject) -> Option<Derivation> {
    let outcome = asked.outcome;
    Some(match subject {
        Subject::Peak => total(asked, When::Peak, words::verdict_peak),
        Subject::Total(when) => total(asked, when, words::chart_total),
        Subject::Band(band, when) => category(asked, band, when),
        Subject::Capacity => capacity(asked),
        Subject::Headroom if outcome.peak.row.total() > outcome.memory => return None,
        Subject::Headroom => explain(asked, Subject::Free(When::Peak))?,
        Subject::Free(when) => {
            let total = row(asked, when).total();
            let memory = outcome.memory;
            if total > memory {
                over(asked, total - memory, when)
            } else {
                left(asked, memory - total, when)
            }
        }
        Subject::Missing => return missing(asked),
        Subject::Unmoved => return unmoved(asked),
        Subject::PlainPeak => plain(asked),
        Subject::HostPeak => host(asked),
        _ => return None,
    })
}

/// The ledger's row as the page shows it.
fn row(asked: Asked, when: When) -> Row {
    match when {
        When::Peak => asked.outcome.peak.row,
        When::At(at) => row_at(asked.outcome, at),
    }
}

/// What a category is called.
#[must_use]
pub fn band_words(band: Band) -> Words {
    match band {
        Band::Weights => words::chart_band_weights,
        Band::Gradients => words::chart_band_gradients,
        Band::Optimizer => words::chart_band_optimizer,
        Band::Unmodelled => words::chart_band_unmodelled,
        Band::Activations => words::chart_band_activations,
        Band::InFlight => words::chart_band_in_flight,
        Band::Workspace => words::chart_band_workspace,
    }
}

fn categories(row: &Row, when: Option<When>) -> Expr {
    let term = |band: Band| {
        let leaf = bytes(band_words(band), band.bytes(row));
        match when {
            Some(when) => leaf.about(Subject::Band(band, when)),
            None => leaf,
        }
    };
    Expr::sum(BANDS.map(term).to_vec())
}

fn total(asked: Asked, when: When, name: Words) -> Derivation {
    let row = row(asked, when);
    let expr = categories(&row, Some(when));
    let line = Line::new(words_of(name), Unit::Bytes, row.total().as_f64(), expr);
    Derivation::of(Tolerance::Peak, vec![line])
        .noting(&[words::explain_note_allocated])
        .after(if when == When::Peak { &[Work::Peaks] } else { &[] })
}

fn category(asked: Asked, band: Band, when: When) -> Derivation {
    let value = band.bytes(&row(asked, when));
    let name = words_of(band_words(band));
    match band {
        Band::Weights | Band::Optimizer => states::explain(asked, band, value, name),
        Band::Gradients if asked.scenario.chain.grown() == Bytes::ZERO => {
            states::explain(asked, band, value, name)
        }
        Band::Unmodelled => {
            let gib = value.as_f64() / GIB;
            let leaf = symbol("u", words::knob_unmodelled, gib, Unit::Count)
                .from(asked.source("hardware", "unmodelled_gib"));
            let expr = leaf * symbol("GiB", words::explain_sym_gib, GIB, Unit::Count);
            let line = Line::new(name, Unit::Bytes, value.as_f64(), expr).rounded(1);
            Derivation::of(Tolerance::Given, vec![line])
        }
        _ => held(asked, band, when, value, name),
    }
}

/// A category as the sum of who is there.
fn held(asked: Asked, band: Band, when: When, value: Bytes, name: Name) -> Derivation {
    let alive = alive::parts(asked.scenario, asked.outcome, when);
    let mut terms: Vec<Expr> = Vec::new();
    for part in &alive.parts {
        let bytes = band.bytes(&part.row);
        if bytes == Bytes::ZERO {
            continue;
        }
        let name = part_name(part.kind, &part.what);
        terms.push(match part.each.filter(|each| bytes.0.is_multiple_of(each.0)) {
            Some(each) if each != bytes => {
                number(bytes.0 / each.0) * named(name, each.as_f64(), Unit::Bytes)
            }
            _ => named(name, bytes.as_f64(), Unit::Bytes),
        });
    }
    if band == Band::Activations {
        terms.extend(background(&alive));
    }
    if band == Band::Gradients {
        terms.push(bytes(words::explain_gradients_standing, asked.outcome.standing.gradients));
    }
    if terms.is_empty() {
        terms.push(bytes(words::explain_nothing, Bytes::ZERO));
    }
    let mut lines = vec![Line::new(name, Unit::Bytes, value.as_f64(), Expr::sum(terms))];
    let (works, notes): (&[Work], &[Words]) = match band {
        Band::Gradients => {
            lines.extend(states::gradients(asked));
            (&[Work::Rajbhandari], &[words::explain_note_states_only, words::explain_note_grown])
        }
        Band::Activations if asked.model().is_some() => {
            (&[Work::Korthikanti, Work::Measured], &[words::explain_note_alive])
        }
        Band::Activations => (&[Work::Peaks], &[words::explain_note_alive]),
        Band::InFlight => (&[], &[words::explain_note_in_flight]),
        _ => (&[], &[words::explain_note_workspace]),
    };
    Derivation::of(Tolerance::Peak, lines).after(works).noting(notes)
}

/// What a group of equals is called.
#[must_use]
pub fn part_name(kind: LayerKind, what: &What) -> Name {
    match what {
        What::Tensor(name) => Name::Tensor(kind, name.clone()),
        What::Boundary => Name::Of(kind, words::explain_part_input),
        What::Output => Name::Of(kind, words::explain_part_output),
        What::ForwardScratch => Name::Of(kind, words::explain_part_forward),
        What::BackwardScratch => Name::Of(kind, words::explain_part_backward),
        What::WeightCasts => Name::Of(kind, words::explain_part_casts),
        What::Gradients => Name::Of(kind, words::chart_band_gradients),
        What::Rest => Name::Words(words::explain_part_rest),
    }
}

/// Activations of the other micro-batches of a pipeline.
fn background(alive: &Alive) -> Option<Expr> {
    let bytes = bytes(words::explain_background, alive.background);
    (alive.background > Bytes::ZERO).then_some(bytes)
}

/// What is there after forward without offloading, less what is there with it.
fn unmoved(asked: Asked) -> Option<Derivation> {
    let (outcome, chain) = (asked.outcome, &asked.scenario.chain);
    let resident = |plan: &Plan| Program::of(chain, plan).resident_after_forward();
    let kept = bytes(words::why_resident_kept, resident(&outcome.plan.without_offload()));
    let now = bytes(words::why_resident_now, resident(&outcome.plan));
    let freed = outcome.peak_unmoved?;
    let line = Line::new(words_of(words::why_freed), Unit::Bytes, freed.as_f64(), kept - now);
    Some(Derivation::of(Tolerance::Peak, vec![line]))
}

fn capacity(asked: Asked) -> Derivation {
    let memory = asked.outcome.memory;
    let own = memory == asked.scenario.hardware.memory;
    let source = if own {
        asked.source("hardware", "memory_gib")
    } else {
        asked.source("limits", "memory_gib")
    };
    let gib =
        symbol("C", words::explain_sym_memory, memory.as_f64() / GIB, Unit::Count).from(source);
    let expr = gib * symbol("GiB", words::explain_sym_gib, GIB, Unit::Count);
    let name = if own { words::explain_capacity } else { words::chart_pareto_limit };
    let line = Line::new(words_of(name), Unit::Bytes, memory.as_f64(), expr).rounded(1);
    Derivation::of(Tolerance::Given, vec![line])
}

fn budget(asked: Asked) -> Expr {
    bytes(words::explain_capacity, asked.outcome.memory).about(Subject::Capacity)
}

fn held_total(asked: Asked, when: When) -> Expr {
    let total = row(asked, when).total();
    match when {
        When::Peak => bytes(words::verdict_peak, total).about(Subject::Peak),
        When::At(_) => bytes(words::chart_total, total).about(Subject::Total(when)),
    }
}

fn left(asked: Asked, free: Bytes, when: When) -> Derivation {
    let expr = budget(asked) - held_total(asked, when);
    let line = Line::new(words_of(words::explain_headroom), Unit::Bytes, free.as_f64(), expr);
    Derivation::of(Tolerance::Peak, vec![line]).noting(&[words::explain_note_allocated])
}

fn over(asked: Asked, more: Bytes, when: When) -> Derivation {
    let expr = held_total(asked, when) - budget(asked);
    let line = Line::new(words_of(words::explain_missing), Unit::Bytes, more.as_f64(), expr);
    Derivation::of(Tolerance::Peak, vec![line])
}

/// Need less budget, where the step stops.
fn missing(asked: Asked) -> Option<Derivation> {
    let (outcome, scenario) = (asked.outcome, asked.scenario);
    let stop = outcome.out_of_memory.as_ref()?;
    let name = words_of(words::explain_missing);
    let value = stop.missing.as_f64();
    if stop.operation == Operation::Host {
        let leaf = bytes(words::explain_missing_host, stop.missing).from(Source::Simulation);
        let line = Line::new(name, Unit::Bytes, value, leaf);
        return Some(Derivation::of(Tolerance::Exact, vec![line]));
    }
    let (run, background) = evaluate::rerun(scenario, outcome);
    let standing = outcome.standing.total();
    let need = stop.missing + outcome.memory;
    let operation = need.saturating_sub(standing + background);
    let states = bytes(words::explain_standing, standing);
    let mut needed = vec![states];
    if background > Bytes::ZERO {
        needed.push(bytes(words::explain_background, background).from(Source::Simulation));
    }
    let first = run.program.ops.first().map(crate::engine::program::Op::taken);
    let words = if stop.operation == Operation::States && first == Some(operation) {
        words::explain_first_operation
    } else {
        words::explain_operation
    };
    needed.push(bytes(words, operation).from(Source::Simulation));
    let line = Line::new(name, Unit::Bytes, value, Expr::sum(needed) - budget(asked));
    Some(Derivation::of(Tolerance::Peak, vec![line]).noting(&[words::explain_note_missing]))
}

/// Keep-everything, run for itself.
fn plain(asked: Asked) -> Derivation {
    let scenario = asked.scenario;
    let policy = Policy::new(PolicyKind::Keep);
    let kept = evaluate::evaluate_plan(scenario, policy, Plan::keep(&scenario.chain));
    let value = asked.outcome.plain_peak.as_f64();
    let expr = categories(&kept.peak.row, None);
    let line = Line::new(words_of(words::explain_plain_peak), Unit::Bytes, value, expr);
    Derivation::of(Tolerance::Peak, vec![line])
}

fn host(asked: Asked) -> Derivation {
    let (outcome, chain) = (asked.outcome, &asked.scenario.chain);
    let name = words_of(words::verdict_host_memory);
    let states = bytes(words::explain_host_states, chain.host_states);
    let tensors = outcome.host_peak.saturating_sub(chain.host_states);
    let held = bytes(words::explain_host_tensors, tensors).from(Source::Simulation);
    let expr = Expr::sum(vec![held, states]);
    let line = Line::new(name, Unit::Bytes, outcome.host_peak.as_f64(), expr);
    Derivation::of(Tolerance::Exact, vec![line]).noting(&[words::explain_note_host])
}
