//! How copies that must follow one another stretch a step. What a layer holds cannot leave before its forward has run, and must have left before a
//! later operation that lacks the room; on the way back it cannot return before that operation, and must be back before its own backward. So
//! between the ends of two operations the link moves at least what the second one lacks less what could have left before the first one.
//! Times along the longest chain of such waits are a bound for plans that recompute nothing; each recomputed byte shortens it by its own
//! copies at most, wherever it is. Only at its own layer's forward it is missing once more: where that needs it, it shortens the chain by twice its copies.

use super::bound::Cost;
use super::table::Row;

/// Layers up to which chains of waits are followed: the work is in the square of it.
const MOST: usize = 256;

/// The longest chains, ns: to the start of the first backward, and from there to the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Forward, without what layers could do without at their own forward.
    pub out: f64,
    /// Forward with that.
    pub whole: f64,
    /// Backward.
    pub back: f64,
}

impl Path {
    /// Forward where what is recomputed would take so long to leave.
    pub fn ahead(&self, spared: f64) -> f64 {
        (self.out - spared).max(self.whole - 2.0 * spared)
    }
}

/// The chains of waits in `room`; none for chains that are too long to follow.
pub fn path(rows: &[Row], room: u64, cost: &Cost) -> Option<Path> {
    if rows.len() > MOST {
        return None;
    }
    let n = rows.len();
    let mut before = vec![0_u64];
    for row in rows {
        before.push(before[before.len() - 1] + row.held);
    }
    // What may have left when a forward ends: not its own layer's, nor what its own layer has just read.
    let left = |k: usize| before[k] - k.checked_sub(1).map_or(0, |i| rows[i].late);
    let over = |i: usize, need: u64| (before[i] + need).saturating_sub(room);
    let wait = |ends: &[f64], lacks: u64, i: usize| {
        (0..i).fold(0.0, |latest: f64, k| match lacks.saturating_sub(left(k)) {
            0 => latest,
            bytes => latest.max(ends[k] + cost.out(bytes)),
        })
    };
    let out = |own: bool| {
        // When each forward ends.
        let mut ends: Vec<f64> = Vec::with_capacity(n);
        for (i, row) in rows.iter().enumerate() {
            let need = row.forward_need.saturating_sub(if own { 0 } else { row.own() });
            let start = ends.last().copied().unwrap_or(0.0).max(wait(&ends, over(i, need), i));
            ends.push(start + super::bound::float(row.forward));
        }
        let last = n - 1;
        ends[last].max(wait(&ends, over(last, rows[last].backward_need), last))
    };
    // When each backward ends, from the start of the first.
    let mut done = vec![0.0; n];
    for i in (0..n).rev() {
        let ready = done.get(i + 1).copied().unwrap_or(0.0);
        let start = (i + 1..n).fold(ready, |latest: f64, k| {
            match over(k, rows[k].backward_need).saturating_sub(before[i]) {
                0 => latest,
                bytes => latest.max(done[k] + cost.back(bytes)),
            }
        });
        done[i] = start + super::bound::float(rows[i].backward);
    }
    Some(Path { out: out(false), whole: out(true), back: done[0] })
}
