//! The axes of the map: link rates by powers of ten, memory evenly from the model states to what keeping everything needs. Samples are
//! decimal numbers of few digits, so that a request can say each of them exactly.

use crate::engine::chain::Chain;
use crate::engine::units::Bytes;

/// Columns: link rates.
pub const COLUMNS: usize = 24;
/// Rows: memory limits.
pub const ROWS: usize = 16;

/// Columns per power of ten.
const PER_DECADE: usize = 8;
/// In the middle, by ratio, of each eighth of a power of ten: 10^((2i + 1)/16), rounded.
const MIDDLES: [f64; PER_DECADE] = [1.15, 1.54, 2.05, 2.74, 3.65, 4.87, 6.49, 8.66];
/// Where each begins: 10^(i/8).
const EDGES: [f64; PER_DECADE] = [
    1.0,
    1.333_521_432_163_324,
    1.778_279_410_038_923,
    2.371_373_705_661_655,
    3.162_277_660_168_379,
    4.216_965_034_285_823,
    5.623_413_251_903_491,
    7.498_942_093_324_558,
];

/// What the columns and rows stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct Axes {
    /// The rate where the first column begins, GB/s: a power of ten. The last ends at a thousand times that.
    pub first_gbps: f64,
    /// The memory where the first row begins, GiB.
    pub first_gib: f64,
    /// The height of a row, GiB.
    pub row_gib: f64,
    /// Rate back over rate out: what the scenario has.
    pub back: f64,
    /// Half a row is so many of these, which a GiB is a whole number of (or which is a whole number of GiB).
    half_rows: (f64, f64),
    /// Smallest decimal step, GiB, as its inverse where it is below 1.
    inverse: f64,
}

impl Axes {
    /// Three powers of ten of GB/s from 1 up, or those that `rates` (out and back, GB/s) are in; from the states of `chain` to `most`, which
    /// the middle of the last row reaches.
    #[must_use]
    pub fn of(chain: &Chain, most: Bytes, rates: (f64, f64)) -> Self {
        let mut first_gbps = 1.0;
        while rates.0 < first_gbps && first_gbps > 1e-3 {
            first_gbps /= 10.0;
        }
        while rates.0 >= 1e3 * first_gbps && first_gbps < 1e3 {
            first_gbps *= 10.0;
        }
        let states = chain.standing().total().gib();
        let rows = float(ROWS) - 0.5;
        let rough = ((most.gib() - states) / rows).max(LEAST_ROW);
        // Rows of at least five decimal steps.
        let mut inverse = 1000.0;
        while inverse * rough >= 50.0 && inverse > 1e-6 {
            inverse /= 10.0;
        }
        let start = (states * inverse).floor();
        let height =
            ((most.gib() * inverse - start) / rows).ceil().max((LEAST_ROW * inverse).ceil());
        Self {
            first_gbps,
            first_gib: start / inverse,
            row_gib: height / inverse,
            back: rates.1 / rates.0,
            half_rows: (2.0 * start, height),
            inverse: 2.0 * inverse,
        }
    }

    /// The rates of a column out and back, GB/s.
    #[must_use]
    pub fn link_gbps(&self, column: usize) -> (f64, f64) {
        let rate = self.decade(column) * MIDDLES[column % PER_DECADE];
        // A decimal again where the power of ten is below 1.
        let rate = (rate * 1e6).round() / 1e6;
        (rate, rate * self.back)
    }

    /// Where a column begins, GB/s; that of [`COLUMNS`] is where the last ends.
    #[must_use]
    pub fn edge_gbps(&self, column: usize) -> f64 {
        self.decade(column) * EDGES[column % PER_DECADE]
    }

    fn decade(&self, column: usize) -> f64 {
        (0..column / PER_DECADE).fold(self.first_gbps, |rate, _| rate * 10.0)
    }

    /// The memory limit of a row, GiB.
    #[must_use]
    pub fn memory_gib(&self, row: usize) -> f64 {
        let (start, height) = self.half_rows;
        (start + float(2 * row + 1) * height) / self.inverse
    }

    /// The column and row that a rate out (GB/s) and a memory limit are in.
    #[must_use]
    pub fn cell(&self, out: f64, memory: Bytes) -> Option<(usize, usize)> {
        let column = (0..COLUMNS)
            .find(|&column| (self.edge_gbps(column)..self.edge_gbps(column + 1)).contains(&out))?;
        let row = (memory.gib() - self.first_gib) / self.row_gib;
        let row = (0..ROWS).find(|&i| (float(i)..float(i + 1)).contains(&row))?;
        Some((column, row))
    }
}

/// Lowest row, GiB: two of the smallest steps of a limit.
const LEAST_ROW: f64 = 0.002;

#[expect(clippy::cast_precision_loss, reason = "counts of rows are small")]
const fn float(count: usize) -> f64 {
    count as f64
}
