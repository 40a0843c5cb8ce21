//! One layer: what it keeps, tensor by tensor, and what offloading or recomputing it would cost.

use super::expr::{Expr, Line, Name, Unit, Words, count, float, named, number, symbol, time};
use super::source::{Source, Work};
use super::time::forward_of;
use super::{Asked, Cost, Derivation, Subject, Tolerance, by_kind, words_of};
use crate::engine::chain::{Layer, LayerKind, SavedTensor};
use crate::engine::evaluate;
use crate::engine::policy::Action;
use crate::engine::units::{Bytes, Nanos};
use crate::engine::workload::transformer::{Attention, Block, Transformer};
use crate::words;

pub fn explain(asked: Asked, subject: Subject) -> Option<Derivation> {
    match subject {
        Subject::Saved(layer, tensor) => saved(asked, layer, tensor),
        Subject::LayerSaved(layer) => all(asked, layer),
        Subject::Cost(layer, cost) => costs(asked, layer, cost),
        _ => None,
    }
}

fn saved(asked: Asked, layer: usize, tensor: usize) -> Option<Derivation> {
    let layer = asked.scenario.chain.layers.get(layer)?;
    let tensor = layer.saved.get(tensor)?;
    let name = Name::Tensor(layer.kind, tensor.name.clone());
    let bytes = tensor.bytes.as_f64();
    let Some(expr) = shape(asked, tensor) else {
        let line = Line::new(
            name.clone(),
            Unit::Bytes,
            bytes,
            named(name, bytes, Unit::Bytes).from(Source::Setting),
        );
        return Some(Derivation::of(Tolerance::Given, vec![line]));
    };
    let line = Line::new(name, Unit::Bytes, bytes, expr);
    Some(Derivation::of(Tolerance::Exact, vec![line]).after(&[Work::Measured, Work::Korthikanti]))
}

/// A tensor's shape times the bytes of its elements, on this device.
#[must_use]
fn shape(asked: Asked, tensor: &SavedTensor) -> Option<Expr> {
    let (model, origin) = (asked.model()?, tensor.origin?);
    let training = &asked.scenario.training;
    let set = |symbol, words, value, key| asked.set(symbol, words, value, ("workload", key));
    let b = || set("b", words::explain_sym_batch, model.batch, "batch");
    let s = || set("s", words::explain_sym_seq, model.seq, "seq");
    let a = || set("a", words::explain_sym_heads, model.heads, "heads");
    let d = || set("d", words::explain_sym_head_dim, model.head_dim, "head_dim");
    let tp = || asked.set("t", words::explain_sym_tp, training.tp, ("training", "tp"));
    // A key-value head is never cut: with more devices than those, each holds one.
    let kv = || set("kv", words::explain_sym_kv, model.kv_heads, "kv_heads").shared(tp());
    let width = || symbol("w", words::explain_sym_width, float(origin.element_bytes), Unit::Bytes);
    let outer = |bytes: Expr| if training.sp { bytes.shared(tp()) } else { bytes };
    let inner = |bytes: Expr| bytes.shared(tp());
    let expr = match origin.shape {
        "1" => width(),
        "b·s" => outer(b() * s() * width()),
        "b·s·h" => {
            outer(b() * s() * set("h", words::explain_sym_hidden, model.hidden, "hidden") * width())
        }
        "b·s·a·d" => inner(b() * s() * a() * d() * width()),
        "b·s·kv·d" => b() * s() * kv() * d() * width(),
        "b·s·(a+kv)·d" => {
            inner(b() * s() * a() * d() * width()) + b() * s() * kv() * d() * width()
        }
        "b·s·(a+kv)" => inner(b() * s() * a() * width()) + b() * s() * kv() * width(),
        "b·s·f" => {
            inner(b() * s() * set("f", words::explain_sym_ffn, model.ffn, "ffn") * width())
        }
        "b·a·s²" => inner(b() * a() * s() * s() * width()),
        "b·s²" => outer(b() * s() * s() * width()),
        "b·a·s" => inner(b() * a() * s() * width()),
        "b·a·⌈s/32⌉·32" => {
            inner(b() * a() * (s() / number(32)).ceil() * number(32) * width())
        }
        "b·s·v" => {
            b() * s()
                * set("v", words::explain_sym_vocab, model.vocab, "vocab").shared(tp())
                * width()
        }
        _ => return None,
    };
    if (expr.value() - tensor.bytes.as_f64()).abs() < 0.5 {
        return Some(expr);
    }
    // A shape that is not quite the one it is named by (labels shifted by one position): elements times bytes.
    let elements = tensor.bytes.0 / origin.element_bytes.max(1);
    Some(count("n", words::explain_sym_elements, elements) * width())
}

/// What a layer keeps, and the published closed form with the terms that it drops.
fn all(asked: Asked, i: usize) -> Option<Derivation> {
    let layer = asked.scenario.chain.layers.get(i)?;
    let tensor = |(t, tensor): (usize, &SavedTensor)| {
        let name = Name::Tensor(layer.kind, tensor.name.clone());
        named(name, tensor.bytes.as_f64(), Unit::Bytes).about(Subject::Saved(i, t))
    };
    let terms: Vec<Expr> = layer.saved.iter().enumerate().map(tensor).collect();
    let (total, name) = (layer.saved_bytes().as_f64(), words_of(words::explain_layer_saved));
    let mut lines = vec![Line::new(name, Unit::Bytes, total, Expr::sum(terms))];
    let mut notes: Vec<Words> = Vec::new();
    if layer.kind == LayerKind::Block
        && let Some(closed) = asked.model().and_then(|model| closed_form(asked, model, layer))
    {
        lines.push(closed);
        notes.push(words::explain_note_dropped);
    }
    let works: &[Work] =
        if asked.model().is_some() { &[Work::Measured, Work::Korthikanti] } else { &[] };
    Some(Derivation::of(Tolerance::Exact, lines).after(works).noting(&notes))
}

/// s·b·h·(34 + 5·a·s/h) and its tensor-parallel kin, where the block is the one that Korthikanti et al. wrote of, plus what their
/// text drops.
fn closed_form(asked: Asked, model: &Transformer, layer: &Layer) -> Option<Line> {
    let training = &asked.scenario.training;
    let theirs = model.block == Block::Gpt
        && model.kv_heads == model.heads
        && model.ffn == 4 * model.hidden
        && model.query_width() == model.hidden
        && model.dropout
        && model.attention_dropout;
    let set = |symbol, words, value, key| asked.set(symbol, words, value, ("workload", key));
    let width = || set("h", words::explain_sym_hidden, model.hidden, "hidden");
    let seq = || set("s", words::explain_sym_seq, model.seq, "seq");
    let degree = || asked.set("t", words::explain_sym_tp, training.tp, ("training", "tp"));
    let heads = set("a", words::explain_sym_heads, model.heads, "heads");
    let parallel = training.tp > 1;
    let mut inside = if parallel { number(10) + number(24) / degree() } else { number(34) };
    if model.attention == Attention::Eager {
        let scores =
            number(5) * heads * seq() / if parallel { width() * degree() } else { width() };
        inside = inside + scores;
    }
    let batch = set("b", words::explain_sym_batch, model.batch, "batch");
    if parallel && training.sp {
        return None;
    }
    let mut terms = vec![seq() * batch * width() * inside];
    let small = ["statistics", "log-sum-exp", "random state"];
    for tensor in
        layer.saved.iter().filter(|tensor| small.iter().any(|name| tensor.name.ends_with(name)))
    {
        let name = Name::Tensor(layer.kind, tensor.name.clone());
        terms.push(named(name, tensor.bytes.as_f64(), Unit::Bytes));
    }
    let expr = Expr::sum(terms);
    let total = layer.saved_bytes().as_f64();
    let line = Line::new(words_of(words::explain_closed_form), Unit::Bytes, total, expr);
    (theirs && line.holds()).then_some(line)
}

fn costs(asked: Asked, i: usize, cost: Cost) -> Option<Derivation> {
    let (scenario, outcome) = (asked.scenario, asked.outcome);
    let (layer, own) = (scenario.chain.layers.get(i)?, outcome.layers.get(i)?);
    let choice = &own.choice;
    let at = |cost| Subject::Cost(i, cost);
    let trip = || time(words::chart_ratio_trip, choice.round_trip).about(at(Cost::RoundTrip));
    let window = || time(words::chart_ratio_window, choice.window).about(at(Cost::Window));
    let beyond = choice.offload_cost().saturating_sub(choice.round_trip);
    let mut more = Vec::new();
    let (name, value, expr, roundings): (Words, Nanos, Expr, u64) = match cost {
        Cost::Offload => (
            words::chart_ratio_offload,
            choice.offload_cost(),
            trip() + time(words::chart_ratio_exposed, beyond).about(at(Cost::Exposed)),
            0,
        ),
        Cost::RoundTrip => (words::chart_ratio_trip, choice.round_trip, round_trip(asked, i), 4),
        Cost::Exposed => {
            (words::chart_ratio_exposed, beyond, (trip() - window()).max(number(0)), 0)
        }
        Cost::Window => {
            let after = scenario.chain.layers.iter().skip(i + 1);
            let whole = after.map(|layer| (layer.kind, layer.forward + layer.backward));
            let expr = by_kind(&whole.collect::<Vec<_>>());
            (words::chart_ratio_window, choice.window, expr, 0)
        }
        Cost::Recompute => {
            more = forward_of(asked, layer.kind);
            let forward = time(words::chart_kind_forward, layer.forward);
            (words::chart_ratio_recompute, choice.recompute, forward, 0)
        }
        Cost::Wait => {
            let leaf = time(words::explain_waited, own.wait).from(Source::Simulation);
            (words::explain_waited, own.wait, leaf, 0)
        }
        Cost::Benefit => {
            let line = benefit(asked, i, own.benefit_ratio?);
            return Some(
                Derivation::of(Tolerance::Time, vec![line]).noting(&[words::explain_note_benefit]),
            );
        }
    };
    let mut lines =
        vec![Line::new(words_of(name), Unit::Seconds, value.secs(), expr).rounded(roundings)];
    lines.extend(more);
    let note: Words = match cost {
        Cost::Recompute => words::explain_note_efficiency,
        Cost::Window => words::explain_note_window,
        _ => words::explain_note_link,
    };
    Some(Derivation::of(Tolerance::Time, lines).noting(&[note]))
}

/// Out and back over the link, or through the SSD where that takes longer.
fn round_trip(asked: Asked, i: usize) -> Expr {
    let hardware = &asked.scenario.hardware;
    let saved = asked.scenario.chain.layers[i].saved_bytes();
    let size = || {
        symbol("D", words::explain_layer_saved, saved.as_f64(), Unit::Bytes)
            .about(Subject::LayerSaved(i))
    };
    let share = hardware.link_efficiency.of(saved);
    let fixed = || asked.fixed(true) + asked.overhead();
    let out = size() / super::reached(asked.out(), share);
    let link = out + size() / super::reached(asked.back(), share) + fixed();
    if asked.outcome.policy.medium != Action::Ssd {
        return link;
    }
    let rate = |name, words, rate, key| {
        symbol(name, words, rate, Unit::Rate).from(asked.source("hardware", key))
    };
    let write = rate("B_w", words::knob_ssd_write, hardware.ssd_write.0, "ssd_write_gbps");
    let read = rate("B_r", words::knob_ssd_read, hardware.ssd_read.0, "ssd_read_gbps");
    link.max(size() / write + size() / read + fixed())
}

/// (freed ÷ activations) ÷ (paid ÷ step of keep-everything).
fn benefit(asked: Asked, i: usize, ratio: f64) -> Line {
    let (scenario, outcome) = (asked.scenario, asked.outcome);
    let choice = &outcome.layers[i].choice;
    let (freed, paid) = evaluate::decided(scenario, &outcome.policy, &outcome.plan, i, choice);
    let bytes = |words, bytes: Bytes| super::expr::bytes(words, bytes);
    let memory = bytes(words::explain_freed, freed)
        / bytes(words::explain_activations, outcome.activation_bytes);
    let plain = time(words::explain_plain_step, outcome.plain_step).about(Subject::PlainStep);
    let cost = time(words::explain_paid, paid) / plain;
    Line::new(words_of(words::chart_ratio_benefit_short), Unit::Ratio, ratio, memory / cost)
}
