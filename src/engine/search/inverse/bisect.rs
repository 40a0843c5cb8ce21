//! The largest whole number that something holds for, by doubling and bisection. Principal type [`Bisection`]; its law: when it ends, what
//! it holds to fits and its neighbour does not, both tried, whether or not what is asked is monotone.

/// Where the largest one may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bisection {
    /// It holds here (0: nothing is known to hold).
    pub low: u64,
    /// It does not hold here, if that was ever so.
    pub high: Option<u64>,
    /// No number beyond this one is tried.
    pub most: u64,
    /// Multiples of this alone are tried.
    pub unit: u64,
}

impl Bisection {
    /// From 1 to `most`.
    #[must_use]
    pub const fn to(most: u64) -> Self {
        Self { low: 0, high: None, most, unit: 1 }
    }

    /// What to try next; none when there is nothing between.
    #[must_use]
    pub fn next(&self) -> Option<u64> {
        let Self { low, high, most, unit } = *self;
        let whole = |n: u64| n / unit * unit;
        let next = match high {
            None => whole(most).min(low.saturating_mul(2).max(unit)),
            Some(high) => whole(low.midpoint(high)).max(whole(low) + unit),
        };
        (next > low && high.is_none_or(|high| next < high)).then_some(whole(next))
    }

    /// Whether it holds at `at`, which may be further than what was asked; where it was thought not to hold before that, that is forgotten.
    pub fn told(&mut self, at: u64, holds: bool) {
        if holds {
            self.low = self.low.max(at);
            self.high = self.high.filter(|&high| high > at);
        } else {
            self.high = Some(self.high.map_or(at, |high| high.min(at)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bisection;

    fn largest(mut bisection: Bisection, holds: impl Fn(u64) -> bool) -> (u64, Option<u64>, u32) {
        let mut tries = 0;
        while let Some(at) = bisection.next() {
            bisection.told(at, holds(at));
            tries += 1;
        }
        (bisection.low, bisection.high, tries)
    }

    #[test]
    fn every_threshold_is_found_with_its_neighbour() {
        for most in [1, 2, 7, 64, 1000] {
            for threshold in 0..=most {
                let (low, high, tries) = largest(Bisection::to(most), |n| n <= threshold);
                assert_eq!(low, threshold);
                assert_eq!(high, (threshold < most).then_some(threshold + 1));
                assert!(tries <= 2 * most.ilog2() + 2, "{threshold} of {most}: {tries}");
            }
        }
    }

    #[test]
    fn of_multiples_alone() {
        for (most, threshold, low, high) in [
            (1000, 700, 640, Some(768)),
            (1000, 50, 0, Some(128)),
            (1000, 1000, 896, None),
            (100, 100, 0, None),
        ] {
            let bisection = Bisection { unit: 128, ..Bisection::to(most) };
            let found = largest(bisection, |n| n <= threshold);
            assert_eq!((found.0, found.1), (low, high), "{threshold} of {most}");
        }
    }

    #[test]
    fn an_end_is_an_edge_even_where_nothing_is_monotone() {
        let holds = |n: u64| n.is_multiple_of(3) || n < 20;
        let (low, high, _) = largest(Bisection::to(500), holds);
        assert!(holds(low) && high == Some(low + 1) && !holds(low + 1));
    }
}
