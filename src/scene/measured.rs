//! A measured curve as a line over the ledger. Principal functions [`line()`] and [`path`]; their law: every column of pixels keeps its
//! lowest and highest point, and no column has more than four.

use super::time::TimeAxis;
use super::{index, px};
use crate::engine::units::{Bytes, Nanos};

/// Pixels across and bytes, from left to right: of each column of pixels the first, lowest, highest and last.
#[must_use]
pub fn line(points: &[(Nanos, Bytes)], axis: &TimeAxis) -> Vec<(f64, f64)> {
    let window = axis.window;
    let first = points.partition_point(|point| point.0 <= window.start).saturating_sub(1);
    let end = points.partition_point(|point| point.0 <= window.end);
    let placed: Vec<(f64, f64)> = points[first.min(end)..end]
        .iter()
        .map(|(at, bytes)| (axis.x_from_time((*at).max(window.start)), bytes.as_f64()))
        .collect();
    let mut line = Vec::new();
    for column in placed.chunk_by(|a, b| index(a.0) == index(b.0)) {
        let extreme = |better: fn(f64, f64) -> bool| {
            let other =
                |best: usize, i: usize| if better(column[i].1, column[best].1) { i } else { best };
            (0..column.len()).fold(0, other)
        };
        let (low, high) = (extreme(|a, b| a < b), extreme(|a, b| a > b));
        let mut last = None;
        for i in [0, low.min(high), low.max(high), column.len() - 1] {
            if last != Some(i) {
                line.push(column[i]);
            }
            last = Some(i);
        }
    }
    // A level holds until the next point: beyond the window, to its edge.
    if let Some(&(_, bytes)) = line.last().filter(|_| end < points.len()) {
        line.push((axis.right, bytes));
    }
    line
}

/// The line as steps, where `y` places bytes.
#[must_use]
pub fn path(line: &[(f64, f64)], y: impl Fn(f64) -> f64) -> String {
    let step = |(i, &(x, bytes)): (usize, &(f64, f64))| {
        let (x, y) = (px(x), px(y(bytes)));
        if i == 0 { format!("M{x} {y}") } else { format!("H{x}V{y}") }
    };
    line.iter().enumerate().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::time::Window;

    fn axis(start: u64, end: u64) -> TimeAxis {
        TimeAxis::new(343.0, Window { start: Nanos(start), end: Nanos(end) })
    }

    #[test]
    fn columns_keep_their_extremes() {
        let points: Vec<(Nanos, Bytes)> = (0..100_000)
            .map(|i| (Nanos(i), Bytes(if i == 31_415 { 99 } else { 10 + i % 7 })))
            .collect();
        let line = line(&points, &axis(0, 100_000));
        assert!(line.len() <= 4 * 343, "{}", line.len());
        assert!(line.iter().any(|point| point.1 > 98.0));
        assert!(line.is_sorted_by_key(|point| point.0));
    }

    #[test]
    fn a_window_begins_and_ends_at_the_level_that_is_there() {
        let points = [(Nanos(0), Bytes(1)), (Nanos(50), Bytes(2)), (Nanos(100), Bytes(3))];
        let part = axis(10, 90);
        assert_eq!(
            path(&line(&points, &part), |bytes| bytes),
            format!("M{} 1H{}V2H{}V2", part.left, px(part.x_from_time(Nanos(50))), part.right)
        );
        assert_eq!(path(&line(&[], &part), |bytes| bytes), "");
        assert_eq!(
            line(&points, &axis(200, 300)).len(),
            1,
            "beyond its end there is its last level"
        );
    }
}
