//! Model states: bytes a parameter times parameters, shared over data-parallel ranks by ZeRO (Rajbhandari et al. 2020).

use super::expr::{Expr, Line, Name, Unit, Words, bytes, count, float, number, symbol, word};
use super::source::Work;
use super::{Asked, Derivation, Tolerance, words_of};
use crate::engine::units::Bytes;
use crate::engine::workload::states::{FrozenDtype, OffloadStates, Parameters};
use crate::scene::ledger::Band;
use crate::words;

/// Trained parameters on this device.
pub fn trained(asked: Asked, here: Parameters) -> Expr {
    let training = &asked.scenario.training;
    let (name, words): (_, Words) = match training.lora_rank {
        Some(_) => ("N_LoRA", words::explain_sym_lora),
        None => ("N", words::explain_sym_params),
    };
    count(name, words, training.trained(here))
}

/// All parameters on this device.
pub fn here(asked: Asked) -> Option<Parameters> {
    let (stage, parts) = asked.model()?.here(&asked.scenario.training);
    let mut here = parts.block.times(stage.blocks.len() as u64);
    if stage.first {
        here = here + parts.embedding;
    }
    if stage.last {
        here = here + parts.head;
    }
    Some(here)
}

/// Shared over data-parallel ranks from a ZeRO stage on.
pub fn sharded(asked: Asked, bytes: Expr, stage: u64) -> Expr {
    let training = &asked.scenario.training;
    let dp = asked.set("dp", words::explain_sym_dp, training.dp, ("training", "dp"));
    if training.zero >= stage { bytes.shared(dp) } else { bytes }
}

/// One category of the states in full; none where a request gave its size.
fn full(asked: Asked, band: Band) -> Option<(Expr, Vec<Line>)> {
    let here = here(asked)?;
    let training = &asked.scenario.training;
    let (width, away) = (&training.bytes, training.offload_states);
    let each = |bytes: f64, words: Words| word(words, bytes, Unit::Bytes);
    let all = trained(asked, here);
    let (bytes, stage, on_host) = match band {
        Band::Weights => {
            let own = all * each(width.weights, words::explain_width_weight);
            let lora = training.lora_rank.is_some();
            let sum = if lora { own + base(asked, here) } else { own };
            (sum, 3, away == OffloadStates::All)
        }
        Band::Gradients => {
            let bytes = all * each(width.gradients, words::explain_width_gradient);
            (bytes, 2, away != OffloadStates::None)
        }
        Band::Optimizer => {
            let master = each(width.master, words::explain_width_master);
            let moments = each(width.optimizer, words::explain_width_moments);
            (all * Expr::sum(vec![moments, master]), 1, away != OffloadStates::None)
        }
        _ => return None,
    };
    if on_host {
        return Some((self::bytes(words::explain_on_host, Bytes::ZERO), Vec::new()));
    }
    Some((sharded(asked, bytes, stage), lines(asked, here)?))
}

/// Bytes of a frozen base: scales of quantized weights among them.
fn base(asked: Asked, here: Parameters) -> Expr {
    let training = &asked.scenario.training;
    let weights = count("N_base", words::explain_sym_linear, here.linear);
    let width = match training.frozen_dtype {
        FrozenDtype::Bf16 => 2.0,
        FrozenDtype::Int8 => 1.0,
        FrozenDtype::Nf4 => 0.5 + 4.0 / 64.0,
        FrozenDtype::Nf4Double => 0.5 + 1.0 / 64.0 + 4.0 / (64.0 * 256.0),
    };
    let mut base = weights * word(words::explain_width_base, width, Unit::Ratio);
    if training.frozen_dtype == FrozenDtype::Int8 {
        base = base + number(4) * count("rows", words::explain_sym_rows, here.rows);
    }
    let other = count("N_rest", words::explain_sym_other, here.other);
    base + other * word(words::explain_width_weight, training.bytes.weights, Unit::Bytes)
}

/// How many parameters there are here.
fn lines(asked: Asked, here: Parameters) -> Option<Vec<Line>> {
    let training = &asked.scenario.training;
    let (stage, parts) = asked.model()?.here(training);
    let blocks = || {
        let blocks = stage.blocks.len() as u64;
        if training.pp == 1 {
            asked.set("L", words::explain_sym_layers, blocks, ("workload", "layers"))
        } else {
            count("L", words::explain_sym_blocks_here, blocks)
        }
    };
    let linear = blocks() * count("P", words::explain_sym_block_params, parts.block.linear);
    let ends = here.other - parts.block.other * stage.blocks.len() as u64;
    let rest = Expr::sum(vec![
        blocks() * count("P_norm", words::explain_sym_norms, parts.block.other),
        count("P_ends", words::explain_sym_ends, ends),
    ]);
    let line =
        |name, value: u64, expr| Line::new(Name::Symbol(name), Unit::Count, float(value), expr);
    let mut lines = Vec::new();
    if let Some(rank) = training.lora_rank {
        let unit = count("P_1", words::explain_sym_lora_unit, parts.block.lora_unit);
        let rank = asked.set("r", words::explain_sym_rank, rank, ("training", "lora_rank"));
        lines.push(line("N_LoRA", training.trained(here), blocks() * unit * rank));
        lines.push(line("N_base", here.linear, linear));
        lines.push(line("N_rest", here.other, rest));
    } else {
        lines.push(line("N", here.linear + here.other, Expr::sum(vec![linear, rest])));
    }
    lines.push(line("P", parts.block.linear, block(asked, parts.block.linear)?));
    Some(lines)
}

/// Weights and biases of a block's linear layers on this device.
fn block(asked: Asked, all: u64) -> Option<Expr> {
    let (model, training) = (asked.model()?, &asked.scenario.training);
    let set = |symbol, words, value, key| asked.set(symbol, words, value, ("workload", key));
    let t = || asked.set("t", words::explain_sym_tp, training.tp, ("training", "tp"));
    let h = || set("h", words::explain_sym_hidden, model.hidden, "hidden");
    let d = || set("d", words::explain_sym_head_dim, model.head_dim, "head_dim");
    let queries = (set("a", words::explain_sym_heads, model.heads, "heads") * d()).shared(t());
    let keys = set("kv", words::explain_sym_kv, model.kv_heads, "kv_heads").shared(t()) * d();
    let width = set("f", words::explain_sym_ffn, model.ffn, "ffn").shared(t());
    let mlp = number(if model.gated_mlp { 3 } else { 2 });
    let sum = number(2) * h() * queries + number(2) * h() * keys + mlp * h() * width;
    let biases = float(all) - sum.value();
    if biases <= 0.0 {
        return Some(sum);
    }
    Some(sum + symbol("P_bias", words::explain_sym_bias, biases, Unit::Count))
}

/// A category of the states.
pub fn explain(asked: Asked, band: Band, value: Bytes, name: Name) -> Derivation {
    let given = symbol_of(band);
    let (expr, rest) = full(asked, band).unwrap_or_else(|| {
        let leaf = symbol(given.0, given.1, value.as_f64(), Unit::Bytes);
        (leaf.from(super::source::Source::Setting), Vec::new())
    });
    let mut lines = vec![Line::new(name, Unit::Bytes, value.as_f64(), expr).rounded(2)];
    lines.extend(rest);
    let derivation =
        Derivation::of(Tolerance::Exact, lines).noting(&[words::explain_note_states_only]);
    if asked.model().is_some() { derivation.after(&[Work::Rajbhandari]) } else { derivation }
}

fn symbol_of(band: Band) -> (&'static str, Words) {
    match band {
        Band::Gradients => ("G", words::chart_band_gradients),
        Band::Optimizer => ("O", words::chart_band_optimizer),
        _ => ("W", words::chart_band_weights),
    }
}

/// The gradients in full, as lines of their own.
pub fn gradients(asked: Asked) -> Vec<Line> {
    let value = asked.scenario.chain.fixed.gradients.as_f64();
    full(asked, Band::Gradients).map_or_else(Vec::new, |(expr, rest)| {
        let name = words_of(words::explain_gradients_full);
        let mut lines = vec![Line::new(name, Unit::Bytes, value, expr).rounded(1)];
        lines.extend(rest);
        lines
    })
}
