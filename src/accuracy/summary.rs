//! Rows summed up by group.

use super::Book;
use super::run::Row;

/// A group in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Figures compared.
    pub rows: usize,
    /// Figures that come out.
    pub hold: usize,
    /// Sum of |difference| as a share, of those that have one.
    sum: f64,
    /// How many have one.
    shares: usize,
    /// The share that is farthest from 0, with its sign.
    pub worst: f64,
}

impl Summary {
    /// Mean of |difference| as a share of what is expected; none where no row has one.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
    pub fn mean(&self) -> Option<f64> {
        (self.shares > 0).then(|| self.sum / self.shares as f64)
    }

    fn add(&mut self, row: &Row) {
        self.rows += 1;
        self.hold += usize::from(row.holds);
        if let Some(share) = row.share {
            self.sum += share.abs();
            self.shares += 1;
            if share.abs() > self.worst.abs() {
                self.worst = share;
            }
        }
    }
}

/// One summary for each group of `book`.
#[must_use]
pub fn of(book: &Book, rows: &[Row]) -> Vec<Summary> {
    let mut summaries = vec![Summary::default(); book.groups.len()];
    for row in rows {
        summaries[row.case.0].add(row);
    }
    summaries
}
