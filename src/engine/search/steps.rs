//! Falling step functions from bytes to time: what a dynamic programme's tables are. Each is a list of steps, bytes rising, time
//! falling; below the first nothing is possible.

/// From this many bytes on, this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes; negative where a run of layers frees more than it takes.
    pub bytes: i64,
    /// Time, ns.
    pub time: u64,
}

/// A step function with so many bytes more at each step.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The function.
    pub steps: &'a [Step],
    /// Bytes to add.
    pub more: i64,
}

/// What costs nothing: the end of a chain.
pub const FREE: View = View { steps: &[Step { bytes: i64::MIN / 4, time: 0 }], more: 0 };

impl View<'_> {
    /// The time with `bytes`; none where they are too few.
    #[must_use]
    pub fn at(&self, bytes: i64) -> Option<u64> {
        let below = self.steps.partition_point(|step| step.bytes + self.more <= bytes);
        below.checked_sub(1).map(|last| self.steps[last].time)
    }
}

/// Both at once into `steps`: `time` more, possible from `need` bytes on.
pub fn sum(a: View, b: View, time: u64, need: i64, steps: &mut Vec<Step>) {
    steps.clear();
    let (Some(first), Some(other)) = (a.steps.first(), b.steps.first()) else { return };
    let mut bytes = (first.bytes + a.more).max(other.bytes + b.more).max(need);
    let (mut x, mut y) = (0, 0);
    loop {
        let next = |view: View, at: &mut usize| {
            while view.steps.get(*at + 1).is_some_and(|step| step.bytes + view.more <= bytes) {
                *at += 1;
            }
            view.steps.get(*at + 1).map_or(i64::MAX, |step| step.bytes + view.more)
        };
        let then = next(a, &mut x).min(next(b, &mut y));
        let both = a.steps[x].time.saturating_add(b.steps[y].time).saturating_add(time);
        if steps.last().is_none_or(|last: &Step| both < last.time) {
            steps.push(Step { bytes, time: both });
        }
        if then == i64::MAX {
            return;
        }
        bytes = then;
    }
}

/// The better of two into `steps`.
pub fn least<'a>(mut a: &'a [Step], mut b: &'a [Step], steps: &mut Vec<Step>) {
    steps.clear();
    loop {
        let from = match (a, b) {
            ([x, ..], [y, ..]) if (x.bytes, x.time) <= (y.bytes, y.time) => &mut a,
            ([], []) => return,
            (_, []) => &mut a,
            _ => &mut b,
        };
        let step = from[0];
        *from = &from[1..];
        if steps.last().is_none_or(|last| step.time < last.time) {
            steps.push(step);
        }
    }
}

/// The same with so many bytes more.
#[must_use]
pub fn shifted(steps: &[Step], more: i64) -> Vec<Step> {
    steps.iter().map(|step| Step { bytes: step.bytes + more, ..*step }).collect()
}

/// The steps up to `most` bytes (the first in any case), at most about `count`: of those in one of as many equal stretches of bytes
/// the last, so that between two of them memory is rounded up.
#[must_use]
pub fn thinned(mut steps: Vec<Step>, most: i64, count: usize) -> Vec<Step> {
    let within = steps.partition_point(|step| step.bytes <= most).max(1);
    steps.truncate(within);
    if steps.len() <= count {
        return steps;
    }
    let (first, last) = (steps[0].bytes, steps[steps.len() - 1].bytes);
    let stretch = (last - first) / i64::try_from(count).unwrap_or(1) + 1;
    let cell = |step: &Step| (step.bytes - first) / stretch;
    let mut kept = vec![steps[0]];
    for pair in steps.windows(2) {
        if cell(&pair[0]) != cell(&pair[1]) && pair[0] != steps[0] {
            kept.push(pair[0]);
        }
    }
    kept.push(steps[steps.len() - 1]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(list: &[(i64, u64)]) -> Vec<Step> {
        list.iter().map(|&(bytes, time)| Step { bytes, time }).collect()
    }

    #[test]
    fn sums_and_the_better_of_two() {
        let (a, b) = (steps(&[(0, 9), (4, 5), (6, 1)]), steps(&[(3, 8), (5, 2)]));
        let view = |steps, more| View { steps, more };
        let sum = |a, b, time, need| {
            let mut steps = steps(&[(0, 0)]);
            super::sum(a, b, time, need, &mut steps);
            steps
        };
        let least = |a: &[Step], b: &[Step]| {
            let mut steps = Vec::new();
            super::least(a, b, &mut steps);
            steps
        };
        assert_eq!(sum(view(&a, 0), view(&b, 0), 1, 0), steps(&[(3, 18), (4, 14), (5, 8), (6, 4)]));
        assert_eq!(sum(view(&a, 2), FREE, 0, 7), steps(&[(7, 5), (8, 1)]));
        assert_eq!(least(&a, &b), steps(&[(0, 9), (3, 8), (4, 5), (5, 2), (6, 1)]));
        assert_eq!(view(&a, 1).at(0), None);
        assert_eq!(view(&a, 1).at(6), Some(5));
    }

    #[test]
    fn a_thinned_one_is_never_better() {
        let many: Vec<Step> =
            (0..1000).zip(0..).map(|(i, t)| Step { bytes: 7 * i, time: 5000 - t }).collect();
        let few = thinned(many.clone(), 5000, 20);
        assert!(few.len() <= 22 && few[0] == many[0], "{}", few.len());
        assert!(few.iter().all(|step| many.contains(step) && step.bytes <= 5000));
        assert_eq!(thinned(many.clone(), -5, 20), [many[0]]);
        assert_eq!(thinned(many[..9].to_vec(), 5000, 20), many[..9]);
    }
}
