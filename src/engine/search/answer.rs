//! The doors `sensitivity` and `map`: text in, JSON out. Keys as in docs/interface.md.

use super::map::{self, COLUMNS, Cell, Known, ROWS};
use super::sensitivity::{self, Lever, Report, Side};
use crate::engine::door::{Answer, simulated_only};
use crate::engine::error::Notes;
use crate::engine::outcome::Summary;
use crate::engine::scenario::Scenario;
use crate::engine::units::Nanos;
use serde_json::{Value, json};

/// What a GiB, a GB/s and a TFLOP/s would change.
///
/// # Errors
/// As [`Scenario::parse`], and for requests of the additive model.
pub fn sensitivity(text: &str) -> Answer {
    simulated_only(text)?;
    let (scenario, notes) = Scenario::parse(text)?;
    Ok(sensitivity_json(&scenario, &sensitivity::sensitivity(&scenario), &notes))
}

/// Which plan wins over link rate and memory.
///
/// # Errors
/// As `sensitivity`.
pub fn map(text: &str) -> Answer {
    simulated_only(text)?;
    let (scenario, notes) = Scenario::parse(text)?;
    let map = map::map(&scenario);
    Ok(map_json(&map.known(), map.here(), &notes))
}

fn sensitivity_json(scenario: &Scenario, report: &Report, notes: &Notes) -> Value {
    let lever = |(lever, [less, more]): &(Lever, [Option<Side>; 2])| {
        let side = |side: &Option<Side>| side.as_ref().map(|side| side_json(report, side));
        json!({
            "lever": lever.name(),
            "unit": lever.unit(),
            "value": lever.value(scenario),
            "less": side(less),
            "more": side(more),
        })
    };
    json!({
        "v": 1,
        "best": summary_json(&report.now.best, report.now.bound.map(Nanos::secs)),
        "own": own_json(&report.now.own),
        "levers": report.levers.iter().map(lever).collect::<Vec<_>>(),
        "cost_model": "simulated",
        "ignored": notes.ignored,
        "clamped": notes.clamped,
    })
}

fn side_json(report: &Report, side: &Side) -> Value {
    let per_unit = |difference: Option<f64>| difference.map(|difference| difference / side.by);
    let (best, own) = (report.difference(side), report.own_difference(side));
    json!({
        "by": side.by,
        "best": summary_json(&side.best, side.bound.map(Nanos::secs)),
        "difference_s": best,
        "per_unit_s": per_unit(best),
        "within_gap": report.within_gap(side),
        "own": own_json(&side.own),
        "own_difference_s": own,
        "own_per_unit_s": per_unit(own),
    })
}

fn summary_json(summary: &Summary, bound_s: Option<f64>) -> Value {
    json!({
        "runs": summary.runs,
        "step_s": summary.runs.then(|| summary.step.secs()),
        "peak_bytes": summary.peak,
        "bound_s": bound_s,
    })
}

fn own_json(summary: &Summary) -> Value {
    json!({
        "runs": summary.runs,
        "step_s": summary.runs.then(|| summary.step.secs()),
        "peak_bytes": summary.peak,
    })
}

fn map_json(map: &Known, here: Option<(usize, usize)>, notes: &Notes) -> Value {
    let cells = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (column, row)));
    let cells = cells.filter_map(|(column, row)| {
        map.cell(column, row).map(|cell| cell_json(cell, (column, row)))
    });
    json!({
        "v": 1,
        "columns": COLUMNS,
        "rows": ROWS,
        "here": here.map(|(column, row)| json!({"column": column, "row": row})),
        "plain": {"step_s": map.plain.step.secs(), "peak_bytes": map.plain.peak},
        "family": map.family,
        "cells": cells.collect::<Vec<_>>(),
        "cost_model": "simulated",
        "ignored": notes.ignored,
        "clamped": notes.clamped,
    })
}

fn cell_json(cell: &Cell, at: (usize, usize)) -> Value {
    let won = cell.winner.as_ref();
    let shares = won.map(|winner| winner.moved.shares());
    json!({
        "column": at.0,
        "row": at.1,
        "d2h_gbps": cell.link_gbps.0,
        "h2d_gbps": cell.link_gbps.1,
        "memory_gib": cell.memory_gib,
        "fits": won.is_some(),
        "strategy": won.map(|winner| winner.moved.strategy()),
        "recomputed_share": shares.map(|shares| shares.0),
        "offloaded_share": shares.map(|shares| shares.1),
        "step_s": won.map(|winner| winner.step.secs()),
        "overhead": cell.overhead(),
        "best_of": won.map(|_| if cell.searched { "search" } else { "family" }),
        "bound_s": cell.bound.map(Nanos::secs),
        "policy": won.map(|winner| &winner.policy),
    })
}
