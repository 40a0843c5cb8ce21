//! Where a value stands on a slider. Principal type [`Range`]; its law: `value_from_position` and `position_from_value` are
//! inverses on what the slider can show.

use super::scale::power_of_two;
use std::fmt::Write;

/// How a slider's positions map to values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Equal steps.
    Linear {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Step.
        step: f64,
    },
    /// Equal ratios, rounded to three digits.
    Log {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Positions between them.
        steps: u32,
    },
    /// Powers of two.
    Powers {
        /// Smallest exponent.
        min: u32,
        /// Largest exponent.
        max: u32,
    },
}

/// What stands on a slider's scale: paths whose abscissa is a position, eight high.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// Of many values.
    pub small: String,
    /// Of the one that matters.
    pub tall: String,
    /// What they mean.
    pub text: String,
}

impl Range {
    /// The last position; the first is 0.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of steps")]
    pub fn last(self) -> u32 {
        match self {
            Self::Linear { min, max, step } => ((max - min) / step).round().max(1.0) as u32,
            Self::Log { steps, .. } => steps,
            Self::Powers { min, max } => max - min,
        }
    }

    /// The value at a position.
    #[must_use]
    pub fn value_from_position(self, position: f64) -> f64 {
        let position = position.clamp(0.0, f64::from(self.last()));
        match self {
            Self::Linear { min, max, step } => {
                // Multiples of a step such as 0.01 carry rounding errors that a reader would see.
                let value = (min + position.round() * step).min(max);
                (value * 1e6).round() / 1e6
            }
            Self::Log { min, max, steps } => {
                three_digits(min * (max / min).powf(position / f64::from(steps))).clamp(min, max)
            }
            Self::Powers { min, .. } => power_of_two(f64::from(min) + position.round()),
        }
    }

    /// The nearest position of a value; values beyond the ends stand at them.
    #[must_use]
    pub fn position_from_value(self, value: f64) -> f64 {
        let position = match self {
            Self::Linear { min, step, .. } => (value - min) / step,
            Self::Log { min, max, steps } => {
                (value.max(min) / min).ln() / (max / min).ln() * f64::from(steps)
            }
            Self::Powers { min, .. } => value.max(1.0).log2() - f64::from(min),
        };
        let position = if position.is_finite() { position.round() } else { 0.0 };
        position.clamp(0.0, f64::from(self.last()))
    }

    /// A tick at the position of each value, one of equal ones, from `top` and so long; values beyond the ends have none.
    #[must_use]
    pub fn ticks(self, values: &[f64], (top, length): (u32, u32)) -> String {
        let (first, last) =
            (self.value_from_position(0.0), self.value_from_position(f64::from(self.last())));
        let mut places: Vec<f64> = values
            .iter()
            .filter(|&&value| (first..=last).contains(&value))
            .map(|&value| self.position_from_value(value))
            .collect();
        places.dedup();
        let mut path = String::new();
        for place in places {
            write!(path, "M{place} {top}v{length}").expect("a string can be written");
        }
        path
    }
}

fn three_digits(value: f64) -> f64 {
    let unit = 10_f64.powf((value.abs().max(1e-9).log10()).floor() - 2.0);
    let rounded = (value / unit).round() * unit;
    (rounded * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::Range;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn positions_and_values_are_inverses() {
        let ranges = [
            Range::Linear { min: 1.0, max: 64.0, step: 1.0 },
            Range::Linear { min: 0.0, max: 1.0, step: 0.01 },
            Range::Linear { min: 1.0, max: 23.9, step: 0.1 },
            Range::Log { min: 1.0, max: 500.0, steps: 200 },
            Range::Powers { min: 8, max: 17 },
        ];
        for range in ranges {
            for position in 0..=range.last() {
                let value = range.value_from_position(f64::from(position));
                assert!(
                    near(range.position_from_value(value), f64::from(position)),
                    "{range:?} {value}"
                );
            }
        }
    }

    #[test]
    fn values_beyond_the_ends_stand_at_them() {
        let range = Range::Linear { min: 1.0, max: 64.0, step: 1.0 };
        assert!(near(range.position_from_value(1e9), 63.0));
        assert!(near(range.position_from_value(f64::NAN), 0.0));
        assert!(near(range.value_from_position(-3.0), 1.0));
    }

    #[test]
    fn ticks_stand_where_their_values_are_and_nowhere_else() {
        let range = Range::Log { min: 1.0, max: 500.0, steps: 200 };
        let path = range.ticks(&[0.2, 1.0, 1.001, 22.36, f64::NAN, 500.0, 501.0], (4, 4));
        assert_eq!(path, "M0 4v4M100 4v4M200 4v4");
        assert_eq!(range.ticks(&[], (0, 8)), "");
    }

    #[test]
    fn ends_are_reached() {
        let range = Range::Log { min: 1.0, max: 500.0, steps: 200 };
        assert_eq!(
            (range.value_from_position(0.0), range.value_from_position(200.0)),
            (1.0, 500.0)
        );
    }
}
