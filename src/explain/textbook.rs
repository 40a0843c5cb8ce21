//! The closed formulas of docs/model.md section 1 with their values.

use super::expr::{Expr, Line, Unit, Words, bytes, count, float, number, symbol, time, word};
use super::source::{Source, Work};
use super::{Asked, Derivation, Subject, Textbook, Tolerance, words_of};
use crate::engine::plan::even_split;
use crate::engine::policy::PolicyKind;
use crate::engine::search::revolve;
use crate::engine::units::{BytesPerSec, Nanos};
use crate::engine::workload::Workload;
use crate::engine::workload::lesson::Lesson;
use crate::words;

pub fn explain(asked: Asked, what: Textbook) -> Option<Derivation> {
    let lesson = &asked.outcome.lesson;
    let line = |name: Words, unit, value, expr| Line::new(words_of(name), unit, value, expr);
    let ratio = |name: Words, value| word(name, value, Unit::Share);
    let single = match what {
        Textbook::Peak => peak(asked),
        Textbook::Step => return Some(step(asked)),
        Textbook::Boundaries => boundaries(asked),
        Textbook::MemoryRatio => {
            let new =
                bytes(words::verdict_peak, asked.outcome.peak.row.total()).about(Subject::Peak);
            let old = bytes(words::explain_plain_peak, asked.outcome.plain_peak)
                .about(Subject::PlainPeak);
            let old_is = asked.outcome.plain_peak.0;
            let expr = number(1) - if old_is == 0 { new / number(1) } else { new / old };
            line(words::explain_memory_ratio, Unit::Share, lesson.memory_ratio, expr)
        }
        Textbook::CostRatio => {
            let step = time(words::verdict_step, asked.outcome.step).about(Subject::Step);
            let plain =
                time(words::explain_plain_step, asked.outcome.plain_step).about(Subject::PlainStep);
            let expr = if asked.outcome.plain_step == Nanos::ZERO {
                number(0)
            } else {
                step / plain - number(1)
            };
            line(words::explain_cost_ratio, Unit::Share, lesson.cost_ratio, expr)
        }
        Textbook::Benefit => {
            let expr = ratio(words::explain_memory_ratio, lesson.memory_ratio)
                .about(Subject::Textbook(Textbook::MemoryRatio))
                / ratio(words::explain_cost_ratio, lesson.cost_ratio)
                    .about(Subject::Textbook(Textbook::CostRatio));
            line(words::chart_ratio_benefit_short, Unit::Ratio, lesson.benefit_ratio?, expr)
        }
        _ => return worked(asked, what),
    };
    let works: &[Work] = if what == Textbook::Boundaries { &[Work::Chen] } else { &[] };
    Some(Derivation::of(Tolerance::Formula, vec![single]).after(works))
}

fn k(asked: Asked) -> Expr {
    let blocks = asked.scenario.chain.blocks().count() as u64;
    let policy = &asked.outcome.policy;
    let split = policy.segments.clone().unwrap_or_else(|| even_split(blocks, policy.k));
    count("K", words::explain_sym_k, split.len() as u64).from(Source::Setting)
}

fn beta(asked: Asked) -> Expr {
    symbol("β", words::explain_sym_beta, asked.outcome.policy.beta, Unit::Ratio)
        .from(Source::Setting)
}

fn activations(asked: Asked) -> Expr {
    let bytes = asked.outcome.lesson.activation_bytes.as_f64();
    symbol("A", words::explain_activations, bytes, Unit::Bytes).from(Source::Simulation)
}

fn base(asked: Asked) -> Expr {
    symbol("base", words::explain_sym_base, asked.outcome.lesson.base_bytes.as_f64(), Unit::Bytes)
        .from(Source::Simulation)
}

fn peak(asked: Asked) -> Line {
    let (expr, roundings) = match asked.outcome.policy.kind {
        PolicyKind::Checkpoint => (base(asked) + activations(asked) / k(asked), 1),
        PolicyKind::Recompute | PolicyKind::Offload | PolicyKind::OffloadBoundaries => {
            (base(asked), 0)
        }
        PolicyKind::Mix => (base(asked) + beta(asked) * activations(asked) / k(asked), 2),
        PolicyKind::Binomial => {
            let slots = count("s", words::explain_sym_slots, binomial(asked).0);
            (base(asked) + slots.from(Source::Setting) * boundary(asked) + layer(asked), 0)
        }
        _ => (base(asked) + activations(asked), 0),
    };
    let value = asked.outcome.lesson.peak_bytes.as_f64();
    Line::new(words_of(words::verdict_peak), Unit::Bytes, value, expr).rounded(roundings)
}

fn forward(asked: Asked) -> Expr {
    let chain = &asked.scenario.chain;
    let value = chain.in_step(chain.forward());
    symbol("F", words::explain_sym_forward, value.secs(), Unit::Seconds).from(Source::Simulation)
}

fn compute(asked: Asked) -> Expr {
    symbol("C", words::explain_plain_step, asked.outcome.plain_step.secs(), Unit::Seconds)
        .about(Subject::PlainStep)
}

/// All activations out and back.
fn transfer(asked: Asked) -> (Expr, Line) {
    let chain = &asked.scenario.chain;
    let all = chain.activation_bytes();
    let hardware = &asked.scenario.hardware;
    let whole = |rate: BytesPerSec| chain.in_step(rate.time(all)).secs();
    let value = whole(hardware.d2h) + whole(hardware.h2d);
    let leaf = symbol("T", words::explain_sym_transfer, value, Unit::Seconds);
    let one = moved(asked) / asked.out() + moved(asked) / asked.back();
    let line = Line::new(super::expr::Name::Symbol("T"), Unit::Seconds, value, asked.in_step(one));
    (leaf, line.rounded(4 * (chain.accumulation + asked.scenario.training.pp)))
}

/// Activations of the micro-batch that is shown.
fn moved(asked: Asked) -> Expr {
    let bytes = asked.scenario.chain.activation_bytes().as_f64();
    symbol("D", words::explain_activations, bytes, Unit::Bytes).from(Source::Simulation)
}

fn step(asked: Asked) -> Derivation {
    let (t, line) = transfer(asked);
    let mut lines = Vec::new();
    let again = || forward(asked) * (k(asked) - number(1)) / k(asked);
    let expr = match asked.outcome.policy.kind {
        PolicyKind::Checkpoint => compute(asked) + again(),
        PolicyKind::Recompute => compute(asked) + forward(asked),
        PolicyKind::Binomial => {
            let again = count("n", words::explain_sym_again, binomial(asked).1);
            let blocks = asked.scenario.chain.blocks().count().max(1) as u64;
            let blocks = count("L", words::explain_sym_layers, blocks);
            compute(asked) + forward(asked) * again / blocks
        }
        PolicyKind::Offload => {
            lines.push(line);
            compute(asked).max(t)
        }
        PolicyKind::OffloadBoundaries => {
            let chain = &asked.scenario.chain;
            let boundary =
                chain.blocks().map(|i| chain.layers[i].boundary).max().unwrap_or_default();
            let all = boundary.times(chain.blocks().count() as u64);
            let share = bytes(words::explain_boundaries, all) / moved(asked);
            lines.push(line);
            let share = if chain.activation_bytes().0 == 0 {
                bytes(words::explain_boundaries, all)
            } else {
                share
            };
            (compute(asked) + forward(asked)).max(share * t)
        }
        PolicyKind::Mix => {
            lines.push(line);
            (compute(asked) + beta(asked) * again()).max((number(1) - beta(asked)) * t)
        }
        _ => compute(asked),
    };
    let value = asked.outcome.lesson.step_s;
    lines.insert(0, Line::new(words_of(words::verdict_step), Unit::Seconds, value, expr));
    Derivation::of(Tolerance::Formula, lines)
}

/// Slots in use, and blocks that run again.
fn binomial(asked: Asked) -> (u64, u64) {
    let blocks = asked.scenario.chain.blocks().count() as u64;
    revolve::forwards(blocks, &asked.outcome.policy)
}

/// The largest boundary of a block.
fn boundary(asked: Asked) -> Expr {
    let chain = &asked.scenario.chain;
    let most = chain.blocks().map(|i| chain.layers[i].boundary).max().unwrap_or_default();
    symbol("c", words::explain_sym_boundary, most.as_f64(), Unit::Bytes)
}

/// The most that a block keeps.
fn layer(asked: Asked) -> Expr {
    let chain = &asked.scenario.chain;
    let most = chain.blocks().map(|i| chain.layers[i].saved_bytes()).max().unwrap_or_default();
    symbol("a", words::explain_layer_saved, most.as_f64(), Unit::Bytes)
}

fn boundaries(asked: Asked) -> Line {
    let chain = &asked.scenario.chain;
    let blocks = chain.blocks().count() as u64;
    let policy = &asked.outcome.policy;
    let split = policy.segments.clone().unwrap_or_else(|| even_split(blocks, policy.k));
    let longest = split.iter().copied().max().unwrap_or(0);
    let expr = base(asked)
        + k(asked) * boundary(asked)
        + count("⌈L/K⌉", words::explain_sym_longest, longest) * layer(asked);
    let value = asked.outcome.lesson.k_segments_with_boundaries_bytes.as_f64();
    Line::new(words_of(words::verdict_peak), Unit::Bytes, value, expr)
}

/// The worked programs of a lesson.
fn worked(asked: Asked, what: Textbook) -> Option<Derivation> {
    let Workload::Lesson(lesson) = &asked.scenario.workload else { return None };
    let gbps = lesson.bandwidth_gbps.unwrap_or(asked.scenario.hardware.d2h.0 / 1e9);
    let (name, unit, value, expr) = match what {
        Textbook::Strategy(row, column) => strategy(asked, lesson, gbps, (row, column))?,
        _ => epoch(asked, lesson, gbps, what)?,
    };
    let line = Line::new(words_of(name), unit, value, expr);
    Some(Derivation::of(Tolerance::Formula, vec![line]))
}

fn link(gbps: f64) -> Expr {
    symbol("B", words::explain_sym_link, gbps, Unit::Ratio).from(Source::Setting)
}

fn size(lesson: &Lesson) -> Expr {
    symbol("a", words::explain_sym_act, lesson.act_gb, Unit::Ratio).from(Source::Setting)
}

fn layers(lesson: &Lesson) -> Expr {
    count("L", words::explain_sym_layers, lesson.layers).from(Source::Setting)
}

type Explained = (Words, Unit, f64, Expr);

fn epoch(asked: Asked, lesson: &Lesson, gbps: f64, what: Textbook) -> Option<Explained> {
    let epoch = asked.outcome.lesson.epoch?;
    let seconds = |words, value| word(words, value, Unit::Seconds);
    let compute = || {
        layers(lesson)
            * symbol("t", words::explain_sym_layer_time, lesson.layer_s, Unit::Seconds)
                .from(Source::Setting)
    };
    let trip = || {
        seconds(words::chart_ratio_trip, epoch.round_trip_s)
            .about(Subject::Textbook(Textbook::EpochTrip))
    };
    let visible = || {
        seconds(words::explain_exposed, epoch.visible_s)
            .about(Subject::Textbook(Textbook::EpochVisible))
    };
    Some(match what {
        Textbook::EpochTrip => {
            let offloads = count("n", words::explain_sym_offloads, epoch.offload_count);
            let expr = offloads * size(lesson) * number(2) / link(gbps);
            (words::chart_ratio_trip, Unit::Seconds, epoch.round_trip_s, expr)
        }
        Textbook::EpochVisible => {
            let expr = (trip() - compute() / number(2)).max(number(0));
            (words::explain_exposed, Unit::Seconds, epoch.visible_s, expr)
        }
        Textbook::Epoch => {
            (words::textbook_epoch, Unit::Seconds, epoch.epoch_s, compute() + visible())
        }
        Textbook::Slowdown => {
            let whole = seconds(words::textbook_epoch, epoch.epoch_s)
                .about(Subject::Textbook(Textbook::Epoch));
            let expr =
                if epoch.epoch_s > 0.0 { visible() / whole * number(100) } else { number(0) };
            (words::explain_slowdown, Unit::Ratio, epoch.slowdown_percent, expr)
        }
        _ => return None,
    })
}

fn strategy(
    asked: Asked,
    lesson: &Lesson,
    gbps: f64,
    (row, column): (usize, usize),
) -> Option<Explained> {
    let table = asked.outcome.lesson.strategies.as_ref()?;
    let own = [table.full_activation, table.gradient_checkpoint, table.activation_offload];
    let own = own.get(row)?;
    let all = || layers(lesson) * size(lesson);
    let base = || {
        symbol("base", words::explain_sym_base, lesson.base_gb, Unit::Ratio).from(Source::Setting)
    };
    let k = || {
        symbol("K", words::explain_sym_k, float(asked.outcome.policy.k), Unit::Count)
            .from(Source::Setting)
    };
    let forward = lesson.forward_cost_s.unwrap_or(float(lesson.layers) * lesson.layer_s);
    let forward =
        || symbol("F", words::explain_sym_forward, forward, Unit::Ratio).from(Source::Setting);
    let lambda = || {
        symbol("λ", words::explain_sym_lambda, asked.scenario.weights.memory, Unit::Ratio)
            .from(Source::Setting)
    };
    Some(match column {
        0 => {
            let expr = match row {
                0 => base() + all(),
                1 => base() + all() / k(),
                _ => base(),
            };
            (words::textbook_strategy_memory, Unit::Ratio, own.mem_gb, expr)
        }
        1 => {
            let expr = if row == 1 { forward() * (k() - number(1)) / k() } else { number(0) };
            (words::textbook_strategy_compute, Unit::Ratio, own.extra_compute_s, expr)
        }
        2 => {
            let expr = if row == 2 { all() / link(gbps) } else { number(0) };
            (words::textbook_strategy_transfer, Unit::Ratio, own.extra_time_s, expr)
        }
        3 => {
            let at = |words, value, column| {
                word(words, value, Unit::Ratio)
                    .about(Subject::Textbook(Textbook::Strategy(row, column)))
            };
            let memory = at(words::textbook_strategy_memory, own.mem_gb, 0);
            let compute = at(words::textbook_strategy_compute, own.extra_compute_s, 1);
            let transfer = at(words::textbook_strategy_transfer, own.extra_time_s, 2);
            let expr = lambda() * memory + (number(1) - lambda()) * (compute + transfer);
            (words::textbook_strategy_cost, Unit::Ratio, own.total_cost, expr)
        }
        _ => return None,
    })
}
