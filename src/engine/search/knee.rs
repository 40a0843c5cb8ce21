//! The knee of a front: where giving up more memory stops buying much time, and the other way round. Satopää, Albrecht, Irwin and
//! Raghavan 2011 ("Finding a kneedle in a haystack"), without smoothing and without a sensitivity: both axes are brought to [0, 1], linearly,
//! as they are drawn, and the knee is the point farthest below the straight line between the ends.

use super::front::Front;

/// The point of largest distance below the chord, of points by ascending x; the first of equal ones. None where fewer than three differ, where
/// one axis has no extent, or where no point is below the chord.
#[must_use]
pub fn knee(points: &[(f64, f64)]) -> Option<usize> {
    let (&(x0, y0), &(x1, y1)) = (points.first()?, points.last()?);
    let (width, height) = (x1 - x0, y0 - y1);
    if !(width > 0.0 && height > 0.0) {
        return None;
    }
    let below = |(x, y): (f64, f64)| 1.0 - (x - x0) / width - (y - y1) / height;
    let mut found = None;
    // What rounding alone makes is no knee.
    let mut most = 1e-9;
    for (i, &point) in points.iter().enumerate() {
        let distance = below(point);
        if distance > most {
            (found, most) = (Some(i), distance);
        }
    }
    found
}

/// The knee of a front, as an index into its points; `order` are those on it by ascending peak.
#[must_use]
pub fn of(front: &Front, order: &[usize]) -> Option<usize> {
    let at = |i: &usize| {
        let summary = &front.points[*i].summary;
        (summary.peak.as_f64(), summary.step.secs())
    };
    let points: Vec<_> = order.iter().map(at).collect();
    knee(&points).map(|i| order[i])
}
