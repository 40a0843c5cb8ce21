//! In which order cells come: coarse ones first, which stand for others until those are known.

use super::axes::{COLUMNS, ROWS};

/// Where a cell is among all, row by row.
pub const fn place(column: usize, row: usize) -> usize {
    row * COLUMNS + column
}

/// A coarser map: one cell stands for so many columns and rows.
pub struct Level {
    columns: usize,
    rows: usize,
    /// Which of them.
    column: usize,
    row: usize,
}

impl Level {
    /// The cell that stands for this one.
    pub const fn stands_for(&self, column: usize, row: usize) -> (usize, usize) {
        let (first, lowest) = (column / self.columns * self.columns, row / self.rows * self.rows);
        (first + self.column, lowest + self.row)
    }
}

/// 4 × 4, 8 × 8, all; cells of the first are cells of the second.
pub const LEVELS: [Level; 3] = [
    Level { columns: 6, rows: 4, column: 4, row: 1 },
    Level { columns: 3, rows: 2, column: 1, row: 1 },
    Level { columns: 1, rows: 1, column: 0, row: 0 },
];

/// All cells, to be taken from the end: coarse ones first, among those the fast links, which bound the slower ones.
pub fn queue() -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::with_capacity(COLUMNS * ROWS);
    for level in &LEVELS {
        for column in (0..COLUMNS).rev() {
            for row in 0..ROWS {
                let own = level.stands_for(column, row) == (column, row);
                if own && !all.contains(&(column, row)) {
                    all.push((column, row));
                }
            }
        }
    }
    all.reverse();
    all
}
