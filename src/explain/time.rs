//! Times: each operation is max(FLOP / (peak × efficiency), bytes / bandwidth), the step their sum and the waiting between.

use super::expr::{Expr, Line, Name, Unit, Words, count, number, symbol, time, word};
use super::source::{Source, Work};
use super::{Asked, Derivation, Subject, Sum, Tolerance, by_kind, kind_words, words_of};
use crate::engine::chain::LayerKind;
use crate::engine::evaluate;
use crate::engine::program::OpKind;
use crate::engine::units::{Bytes, Nanos};
use crate::engine::workload::states::OffloadStates;
use crate::engine::workload::{self, WorkKind};
use crate::words;

pub fn explain(asked: Asked, subject: Subject) -> Option<Derivation> {
    let lines = match subject {
        Subject::Step => step(asked),
        Subject::PlainStep => vec![plain(asked)],
        Subject::Throughput => vec![throughput(asked)?],
        Subject::Overhead => vec![overhead(asked)?, plain(asked)],
        Subject::Sum(sum) => of(asked, sum),
        _ => return None,
    };
    let derivation = Derivation::of(Tolerance::Time, lines);
    let notes: &[Words] = match subject {
        Subject::Sum(Sum::Hidden | Sum::Exposed | Sum::Stall) => &[words::explain_note_timeline],
        Subject::Sum(Sum::Out | Sum::Back) => &[words::explain_note_link],
        Subject::Sum(Sum::Optimizer) => &[words::explain_note_optimizer],
        _ => &[words::explain_note_efficiency],
    };
    let works: &[Work] = match subject {
        Subject::Sum(Sum::Forward | Sum::Backward | Sum::Recompute) => &[Work::Roofline],
        _ => &[],
    };
    Some(derivation.noting(notes).after(works))
}

/// What a time is called.
#[must_use]
pub fn sum_words(sum: Sum) -> Words {
    match sum {
        Sum::Forward => words::chart_kind_forward,
        Sum::Backward => words::chart_kind_backward,
        Sum::Recompute => words::chart_kind_recompute,
        Sum::Optimizer => words::chart_kind_optimizer,
        Sum::Out => words::chart_kind_offload,
        Sum::Back => words::chart_kind_prefetch,
        Sum::Hidden => words::explain_hidden,
        Sum::Exposed => words::explain_exposed,
        Sum::Stall => words::explain_stall,
    }
}

/// A time of one micro-batch (the optimizer step's of the step).
#[must_use]
pub fn sum_value(asked: Asked, sum: Sum) -> Nanos {
    let times = &asked.outcome.times;
    match sum {
        Sum::Forward => times.forward,
        Sum::Backward => times.backward,
        Sum::Recompute => times.recompute,
        Sum::Optimizer => asked.scenario.chain.optimizer,
        Sum::Out => times.d2h,
        Sum::Back => times.h2d,
        Sum::Hidden => times.hidden,
        Sum::Exposed => times.exposed,
        Sum::Stall => times.stall,
    }
}

fn leaf(asked: Asked, sum: Sum) -> Expr {
    time(sum_words(sum), sum_value(asked, sum)).about(Subject::Sum(sum))
}

fn line(name: Words, value: f64, unit: Unit, expr: Expr) -> Line {
    Line::new(words_of(name), unit, value, expr)
}

fn step(asked: Asked) -> Vec<Line> {
    let outcome = asked.outcome;
    let parts = [Sum::Forward, Sum::Recompute, Sum::Backward, Sum::Stall];
    let micro = Expr::sum(parts.map(|sum| leaf(asked, sum)).to_vec());
    let optimizer = leaf(asked, Sum::Optimizer);
    if asked.slots().is_none() {
        let expr = Expr::sum(vec![micro, optimizer]);
        return vec![line(words::verdict_step, outcome.step.secs(), Unit::Seconds, expr)];
    }
    let each = time(words::explain_micro, outcome.micro);
    vec![
        line(
            words::verdict_step,
            outcome.step.secs(),
            Unit::Seconds,
            Expr::sum(vec![asked.in_step(each), optimizer]),
        )
        .rounded(1),
        line(words::explain_micro, outcome.micro.secs(), Unit::Seconds, micro),
    ]
}

fn plain(asked: Asked) -> Line {
    let chain = &asked.scenario.chain;
    // Where copies slow compute down, the plan's own sums are another matter.
    let own = |sum, value| {
        let plain = time(sum_words(sum), value);
        if sum_value(asked, sum) == value { plain.about(Subject::Sum(sum)) } else { plain }
    };
    let micro =
        Expr::sum(vec![own(Sum::Forward, chain.forward()), own(Sum::Backward, chain.backward())]);
    let expr = Expr::sum(vec![asked.in_step(micro), leaf(asked, Sum::Optimizer)]);
    line(words::explain_plain_step, asked.outcome.plain_step.secs(), Unit::Seconds, expr).rounded(1)
}

fn step_leaf(asked: Asked) -> Expr {
    time(words::verdict_step, asked.outcome.step).about(Subject::Step)
}

fn throughput(asked: Asked) -> Option<Line> {
    let chain = &asked.scenario.chain;
    let samples = chain.samples.saturating_mul(chain.accumulation);
    let tokens = chain.seq > 1;
    let (all, name): (u64, Words) = if tokens {
        (samples.saturating_mul(chain.seq), words::explain_tokens)
    } else {
        (samples, words::explain_samples)
    };
    let rate = asked.outcome.per_second(all);
    let dp = asked.scenario.training.dp;
    let mut factors = vec![
        asked.set("b", words::explain_sym_batch, chain.samples / dp.max(1), ("workload", "batch")),
        asked.set("dp", words::explain_sym_dp, dp, ("training", "dp")),
        asked.set(
            "m",
            words::explain_sym_accumulation,
            chain.accumulation,
            ("workload", "accumulation"),
        ),
    ];
    if asked.model().is_none() {
        // A lesson or profile knows no data parallelism.
        factors = vec![
            asked.set("b", words::explain_sym_batch, chain.samples, ("workload", "batch")),
            factors.remove(2),
        ];
    }
    if tokens {
        factors.push(asked.set("s", words::explain_sym_seq, chain.seq, ("workload", "seq")));
    }
    let mut product = factors.remove(0);
    for factor in factors.into_iter().filter(|factor| factor.value() > 1.0) {
        product = product * factor;
    }
    rate.is_finite().then(|| line(name, rate, Unit::PerSecond, product / step_leaf(asked)))
}

fn overhead(asked: Asked) -> Option<Line> {
    let outcome = asked.outcome;
    let plain = time(words::explain_plain_step, outcome.plain_step).about(Subject::PlainStep);
    let expr = step_leaf(asked) / plain - number(1);
    (outcome.plain_step > Nanos::ZERO)
        .then(|| line(words::verdict_overhead, outcome.overhead(), Unit::Change, expr))
}

/// The operations of one kind that ran, by kind of layer.
fn run(asked: Asked, kind: OpKind) -> Expr {
    let (run, _) = evaluate::rerun(asked.scenario, asked.outcome);
    let layers = &asked.scenario.chain.layers;
    let own = run.program.ops.iter().filter(|op| op.kind == kind);
    by_kind(&own.map(|op| (layers[op.layer].kind, op.duration)).collect::<Vec<_>>())
}

fn of(asked: Asked, sum: Sum) -> Vec<Line> {
    let simulated = |words, value| time(words, value).from(Source::Simulation);
    let times = &asked.outcome.times;
    let mut more = Vec::new();
    let (expr, roundings) = match sum {
        Sum::Forward => {
            more = forwards(asked);
            (run(asked, OpKind::Forward), 0)
        }
        Sum::Backward => {
            more = backward(asked).into_iter().collect();
            (run(asked, OpKind::Backward), 0)
        }
        Sum::Recompute => {
            more = forwards(asked).into_iter().take(1).collect();
            (run(asked, OpKind::Recompute), 0)
        }
        Sum::Optimizer => (optimizer(asked), 3),
        Sum::Out | Sum::Back => copies(asked, sum),
        Sum::Hidden => {
            let copies = leaf(asked, Sum::Out) + leaf(asked, Sum::Back);
            (copies - leaf(asked, Sum::Exposed), 0)
        }
        Sum::Exposed => (simulated(words::explain_exposed, times.exposed), 0),
        Sum::Stall => {
            let room = simulated(words::chart_kind_stall_room, times.stall_room);
            let copy = simulated(words::chart_kind_stall_copy, times.stall - times.stall_room);
            (Expr::sum(vec![copy, room]), 0)
        }
    };
    let value = sum_value(asked, sum).secs();
    let mut lines = vec![line(sum_words(sum), value, Unit::Seconds, expr).rounded(roundings)];
    lines.extend(more);
    lines
}

/// Forward of each kind of layer, the blocks first, from its operations.
fn forwards(asked: Asked) -> Vec<Line> {
    let kinds = [LayerKind::Block, LayerKind::Head, LayerKind::Embedding];
    kinds.into_iter().flat_map(|kind| forward_of(asked, kind)).collect()
}

/// Forward of one kind of layer: operations that compute bounds by their FLOP, those that memory bounds by their bytes.
pub fn forward_of(asked: Asked, kind: LayerKind) -> Vec<Line> {
    let (Some(model), Some(layer)) =
        (asked.model(), asked.scenario.chain.layers.iter().find(|layer| layer.kind == kind))
    else {
        return Vec::new();
    };
    let hardware = &asked.scenario.hardware;
    let work = model.work(kind, &asked.scenario.training, hardware);
    let bound = |one: &workload::Work| hardware.compute.time(one.flops) >= one.time;
    let mut terms = Vec::new();
    for (kind, symbol_of, words) in [
        (WorkKind::Linear, "F_lin", words::explain_sym_linear_flops as Words),
        (WorkKind::Attention, "F_att", words::explain_sym_attention_flops),
    ] {
        let own = work.iter().filter(|one| one.kind == kind && bound(one));
        let flops: f64 = own.map(|one| one.flops).sum();
        if flops > 0.0 {
            terms.push(symbol(symbol_of, words, flops, Unit::Flops) / compute(asked));
        }
    }
    let moved: f64 = work.iter().filter(|one| !bound(one)).map(|one| one.moved.as_f64()).sum();
    if moved > 0.0 {
        terms.push(symbol("D", words::explain_sym_traffic, moved, Unit::Bytes) / asked.hbm());
    }
    let roundings = float_count(work.len());
    let mut all = Expr::sum(terms);
    if work.iter().map(|one| one.time).sum::<Nanos>() < layer.forward {
        all = all.max(time(words::explain_fetched, layer.forward).from(Source::Simulation));
    }
    let name = words_of(kind_words(kind));
    let mut lines =
        vec![Line::new(name, Unit::Seconds, layer.forward.secs(), all).rounded(roundings)];
    lines.extend(flops(asked, kind, &work, bound));
    lines
}

const fn float_count(count: usize) -> u64 {
    count as u64
}

/// Peak times efficiency.
fn compute(asked: Asked) -> Expr {
    let setting = |key: &str| {
        let group = asked.settings.get("hardware");
        group.and_then(|group| group.get(key)?.as_f64()).unwrap_or(f64::NAN)
    };
    let peak = symbol("R", words::explain_sym_peak, setting("tflops") * 1e12, Unit::FlopRate)
        .from(asked.source("hardware", "tflops"));
    let share = symbol("η", words::explain_sym_efficiency, setting("efficiency"), Unit::Share)
        .from(asked.source("hardware", "efficiency"));
    peak * share
}

/// FLOP of a kind of layer, in its shapes: 2 per weight and token, 4·b·s²·a·d for attention.
fn flops(
    asked: Asked,
    kind: LayerKind,
    work: &[workload::Work],
    bound: impl Fn(&workload::Work) -> bool,
) -> Vec<Line> {
    let Some(model) = asked.model() else { return Vec::new() };
    let model = &model.copied(&asked.scenario.training);
    let set = |symbol, words, value, key| asked.set(symbol, words, value, ("workload", key));
    let b = || set("b", words::explain_sym_batch, model.batch, "batch");
    let s = || set("s", words::explain_sym_seq, model.seq, "seq");
    let tp = asked.scenario.training.tp;
    let over = |flops: Expr| match tp {
        1 => flops,
        _ => flops / asked.set("t", words::explain_sym_tp, tp, ("training", "tp")),
    };
    let mut lines = Vec::new();
    let mut add = |kind: WorkKind, name, expr: Expr| {
        let own = work.iter().filter(|one| one.kind == kind);
        if own.clone().all(&bound) && own.clone().next().is_some() {
            let value = own.map(|one| one.flops).sum();
            lines.push(Line::new(Name::Symbol(name), Unit::Flops, value, over(expr)));
        }
    };
    let weights = match kind {
        LayerKind::Block => count("P_w", words::explain_sym_block_weights, model.block_weights()),
        _ => {
            set("v", words::explain_sym_vocab, model.vocab, "vocab")
                * set("h", words::explain_sym_hidden, model.hidden, "hidden")
        }
    };
    add(WorkKind::Linear, "F_lin", number(2) * b() * s() * weights);
    let heads = set("a", words::explain_sym_heads, model.heads, "heads")
        * set("d", words::explain_sym_head_dim, model.head_dim, "head_dim");
    add(WorkKind::Attention, "F_att", number(4) * b() * s() * s() * heads);
    lines
}

/// Backward of a block: twice its forward, less the gradients of frozen weights.
fn backward(asked: Asked) -> Option<Line> {
    let model = asked.model()?;
    let (scenario, training) = (asked.scenario, &asked.scenario.training);
    let block = scenario.chain.layers.iter().find(|layer| layer.kind == LayerKind::Block)?;
    let ratio = symbol("ρ", words::explain_sym_ratio, training.backward_ratio, Unit::Ratio)
        .from(asked.source("training", "backward_ratio"));
    let work = model.work(LayerKind::Block, training, &scenario.hardware);
    let forward: Nanos = work.iter().map(|one| one.time).sum();
    let whole = ratio.clone() * time(words::explain_block_forward, forward);
    let linear: Nanos =
        work.iter().filter(|one| one.kind == WorkKind::Linear).map(|one| one.time).sum();
    let expr = if training.lora_rank.is_some() {
        (whole - ratio / number(2) * time(words::explain_frozen, linear)).max(number(0))
    } else {
        whole
    };
    let sent = Nanos::from_secs(expr.value()) + Nanos(1) < block.backward;
    let expr = if sent {
        expr.max(time(words::explain_fetched, block.backward).from(Source::Simulation))
    } else {
        expr
    };
    Some(
        Line::new(
            words_of(kind_words(LayerKind::Block)),
            Unit::Seconds,
            block.backward.secs(),
            expr,
        )
        .rounded(1),
    )
}

/// Gradients read, master copy and moments read and written, weights written (and read, where there is no master copy).
fn optimizer(asked: Asked) -> Expr {
    let training = &asked.scenario.training;
    let Some(here) = super::states::here(asked) else {
        return time(words::chart_kind_optimizer, asked.scenario.chain.optimizer);
    };
    let width = &training.bytes;
    let each = |bytes: f64, words: Words| word(words, bytes, Unit::Bytes);
    let gradient = each(width.gradients, words::explain_width_gradient);
    let weight = each(width.weights, words::explain_width_weight);
    let master = each(width.master, words::explain_width_master);
    let moments = each(width.optimizer, words::explain_width_moments);
    let twice = Expr::sum(vec![moments, master]);
    let mut traffic = vec![gradient];
    if twice.value() > 0.0 {
        traffic.push(number(2) * twice);
    }
    traffic.push(if width.master > 0.0 { weight } else { number(2) * weight });
    let all = || super::states::trained(asked, here);
    let shared = |bytes| super::states::sharded(asked, bytes, 1);
    let bytes = shared(all() * Expr::sum(traffic));
    if training.offload_states == OffloadStates::None {
        return bytes / asked.hbm();
    }
    let hardware = &asked.scenario.hardware;
    let rate = symbol("B_host", words::explain_sym_host, hardware.host_rate.0, Unit::Rate);
    let on_host = bytes / rate.from(asked.source("hardware", "host_gbps"));
    if training.offload_states == OffloadStates::All {
        return on_host;
    }
    // New weights travel back.
    let updated = shared(all() * each(width.weights, words::explain_width_weight));
    let share = hardware.link_efficiency.of(Bytes::from_f64(updated.value()));
    on_host + updated / super::reached(asked.back(), share) + asked.overhead()
}

/// Bytes over what the link reaches with copies of their size, and the fixed cost of each.
fn copies(asked: Asked, sum: Sum) -> (Expr, u64) {
    let (run, _) = evaluate::rerun(asked.scenario, asked.outcome);
    let hardware = &asked.scenario.hardware;
    let mut reached: Vec<(f64, Bytes)> = Vec::new();
    for copy in &run.program.offloads {
        let share = hardware.link_efficiency.of(copy.bytes);
        match reached.iter_mut().find(|one| one.0.total_cmp(&share).is_eq()) {
            Some(one) => one.1 += copy.bytes,
            None => reached.push((share, copy.bytes)),
        }
    }
    let mut terms: Vec<Expr> = reached
        .into_iter()
        .map(|(share, bytes)| {
            let link = if sum == Sum::Out { asked.out() } else { asked.back() };
            super::expr::bytes(words::explain_moved, bytes) / super::reached(link, share)
        })
        .collect();
    let copies = float_count(run.copies.len());
    terms.push(count("n", words::explain_sym_copies, copies) * asked.fixed(sum == Sum::Out));
    (Expr::sum(terms), 2 * copies + 1)
}
