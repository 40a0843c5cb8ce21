//! One unknown at a time: the root of an increasing function, the least of a sum of squares. Deterministic, with IEEE
//! operations alone, and never more than [`MOST`] calls.

/// Most calls of the function that is solved.
const MOST: usize = 60;
/// A relative error below this is none: steps are whole nanoseconds.
const NONE: f64 = 1e-9;

/// Where a function crosses zero, and whether it does so inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Root {
    /// The argument.
    pub at: f64,
    /// Zero lies beyond an end: the argument is that end.
    pub beyond: bool,
}

/// The root of an increasing `error` between `low` and `high` by the Illinois variant of false position, which is exact at once
/// where the function is a line, as steps nearly are. Infinite errors are halved away.
pub fn root(mut low: f64, mut high: f64, error: &dyn Fn(f64) -> f64) -> Root {
    let (mut below, mut above) = (error(low), error(high));
    if below >= -NONE {
        return Root { at: low, beyond: below > NONE };
    }
    if above <= NONE {
        return Root { at: high, beyond: above < -NONE };
    }
    // Which end stayed in the last round: an end that stays twice has its error halved, so that both ends move in.
    let mut stayed = 0_i8;
    for _ in 0..MOST {
        let secant = (low * above - high * below) / (above - below);
        let at = if secant > low && secant < high { secant } else { f64::midpoint(low, high) };
        let here = error(at);
        if here.abs() <= NONE || high - low <= NONE * high {
            return Root { at, beyond: false };
        }
        if here > 0.0 {
            (high, above) = (at, here);
            below *= if stayed < 0 { 0.5 } else { 1.0 };
            stayed = -1;
        } else {
            (low, below) = (at, here);
            above *= if stayed > 0 { 0.5 } else { 1.0 };
            stayed = 1;
        }
    }
    Root { at: f64::midpoint(low, high), beyond: false }
}

/// The argument of the least `cost` between `low` and `high`, by golden section: for a cost that falls, then rises.
pub fn least(mut low: f64, mut high: f64, cost: &dyn Fn(f64) -> f64) -> f64 {
    /// The golden section, (√5 − 1) / 2.
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let ends = [low, high];
    let inner = |low: f64, high: f64| (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut left, mut right) = inner(low, high);
    let (mut at_left, mut at_right) = (cost(left), cost(right));
    for _ in 0..MOST {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = inner(low, high).0;
            at_left = cost(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = inner(low, high).1;
            at_right = cost(right);
        }
    }
    // A least cost at an end is only approached from within.
    let middle = f64::midpoint(low, high);
    ends.into_iter().fold(middle, |best, end| if cost(end) < cost(best) { end } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_line_is_solved_at_once_and_a_bent_one_soon() {
        let calls = Cell::new(0);
        let count = |error: f64| {
            calls.set(calls.get() + 1);
            error
        };
        let line = root(1.0, 100.0, &|x| count(3.0 * x - 7.0));
        assert!((line.at - 7.0 / 3.0).abs() < 1e-9 && !line.beyond && calls.get() < 5);
        calls.set(0);
        let bent = root(1.0, 100.0, &|x| count((2.0 * x).max(x + 5.0) / 40.0 - 1.0));
        assert!((bent.at - 20.0).abs() < 1e-6 && calls.get() < 20, "{bent:?} {}", calls.get());
    }

    #[test]
    fn a_root_beyond_an_end_is_that_end() {
        assert_eq!(root(1.0, 2.0, &|x| x), Root { at: 1.0, beyond: true });
        assert_eq!(root(1.0, 2.0, &|x| x - 3.0), Root { at: 2.0, beyond: true });
        assert_eq!(root(1.0, 2.0, &|x| x - 2.0), Root { at: 2.0, beyond: false });
    }

    #[test]
    fn errors_without_end_are_halved_away() {
        let found = root(1.0, 100.0, &|x| if x > 30.0 { f64::INFINITY } else { x - 12.0 });
        assert!((found.at - 12.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn the_least_is_found_inside_and_at_an_end() {
        assert!((least(0.0, 10.0, &|x| (x - 3.0) * (x - 3.0)) - 3.0).abs() < 1e-6);
        assert!((least(5.0, 10.0, &|x| (x - 3.0) * (x - 3.0)) - 5.0).abs() < f64::EPSILON);
    }
}
