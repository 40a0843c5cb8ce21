//! From values to pixels and back. Principal type [`Scale`]; its law: `value_from_x` undoes `x_from_value`, and no domain,
//! however degenerate, gives anything but finite pixels.

use super::format;

/// A linear map from a domain of values to a range of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    domain: (f64, f64),
    range: (f64, f64),
}

impl Scale {
    /// Maps `domain` to `range`; an empty, reversed or infinite domain is widened to one that is neither.
    #[must_use]
    pub fn new(domain: (f64, f64), range: (f64, f64)) -> Self {
        Self { domain: sound(domain), range: (finite(range.0), finite(range.1)) }
    }

    /// The pixel of a value, outside the range where the value is outside the domain.
    #[must_use]
    pub fn x_from_value(&self, value: f64) -> f64 {
        let (d0, d1) = self.domain;
        let (r0, r1) = self.range;
        let share = (finite(value) - d0) / (d1 - d0);
        r0 + share * (r1 - r0)
    }

    /// As [`Scale::x_from_value`], held inside the range.
    #[must_use]
    pub fn held(&self, value: f64) -> f64 {
        let (low, high) = ordered(self.range);
        self.x_from_value(value).clamp(low, high)
    }

    /// The value at a pixel.
    #[must_use]
    pub fn value_from_x(&self, x: f64) -> f64 {
        let (d0, d1) = self.domain;
        let (r0, r1) = self.range;
        if (r1 - r0).abs() < 1e-9 {
            return d0;
        }
        d0 + (finite(x) - r0) / (r1 - r0) * (d1 - d0)
    }

    /// The domain in use.
    #[must_use]
    pub const fn domain(&self) -> (f64, f64) {
        self.domain
    }

    /// The range in use.
    #[must_use]
    pub const fn range(&self) -> (f64, f64) {
        self.range
    }

    /// Whether a value is inside the domain.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.domain.0..=self.domain.1).contains(&value)
    }
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

fn ordered((a, b): (f64, f64)) -> (f64, f64) {
    if a <= b { (a, b) } else { (b, a) }
}

fn sound((low, high): (f64, f64)) -> (f64, f64) {
    let (low, high) = ordered((finite(low), finite(high)));
    let least = (low.abs().max(high.abs()) * 1e-9).max(1e-12);
    if high - low > least {
        (low, high)
    } else if high == 0.0 && low == 0.0 {
        (0.0, 1.0)
    } else {
        (low, low + low.abs().max(1e-9))
    }
}

/// Round values (1, 2 or 5 times a power of ten) inside a domain, about `count` of them, never more than twice that.
#[must_use]
pub fn nice(domain: (f64, f64), count: usize) -> Vec<f64> {
    let (low, high) = sound(domain);
    let rough = (high - low) / super::float(count.max(1));
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(10.0 * power);
    multiples(low, high, step, 2 * count.max(1) + 2)
}

/// Powers of two of bytes inside a domain, at most `count`: 1, 2, 4, 8, 16 … GiB.
#[must_use]
pub fn binary(domain: (f64, f64), count: usize) -> Vec<f64> {
    let (low, high) = sound(domain);
    let rough = ((high - low) / super::float(count.max(1))).max(1.0);
    let step = power_of_two((rough.log2() - 1e-9).ceil());
    multiples(low, high, step, 2 * count.max(1) + 2)
}

fn multiples(low: f64, high: f64, step: f64, most: usize) -> Vec<f64> {
    let first = (low / step - 1e-9).ceil();
    (0..most)
        .map(|i| (first + super::float(i)) * step)
        .take_while(|value| *value <= high + step * 1e-9)
        .collect()
}

/// What sizes on one axis say: all in the unit of the largest, which alone names it.
#[must_use]
pub fn byte_texts(values: &[f64]) -> Vec<String> {
    let most = values.iter().copied().fold(0.0, f64::max);
    let (unit, scale) = format::byte_unit(most);
    texts(values, unit, scale)
}

/// What times on one axis say: all in the unit of the largest, which alone names it.
#[must_use]
pub fn time_texts(values: &[f64]) -> Vec<String> {
    let most = values.iter().copied().fold(0.0, f64::max);
    let (unit, scale) = format::time_unit(most);
    texts(values, unit, scale)
}

fn texts(values: &[f64], unit: &str, scale: f64) -> Vec<String> {
    let last = values.len().saturating_sub(1);
    let step = match values {
        [first, second, ..] => (second - first) / scale,
        _ => 1e-3,
    };
    let decimals = super::index((-step.log10() - 1e-9).ceil() + binary_digits(step)).min(9);
    values
        .iter()
        .enumerate()
        .map(|(i, value)| {
            let number = format::plain(value / scale, decimals);
            if i == last { format!("{number}\u{a0}{unit}") } else { number }
        })
        .collect()
}

/// Halves, quarters and eighths need more decimals than tenths.
fn binary_digits(step: f64) -> f64 {
    if step < 1.0 && (1.0 / step).log2().fract() == 0.0 {
        (1.0 / step).log2() - (-step.log10() - 1e-9).ceil()
    } else {
        0.0
    }
}

/// 2 to a whole power, exactly. (`exp2` brings a table of 4 kB for those that are not whole.)
#[must_use]
pub fn power_of_two(exponent: f64) -> f64 {
    let (mut power, mut left) = (1.0, exponent.abs());
    while left >= 1.0 {
        power *= 2.0;
        left -= 1.0;
    }
    if exponent < 0.0 { 1.0 / power } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: f64 = 1_073_741_824.0;

    #[test]
    fn inverse() {
        for domain in [(0.0, 1.0), (13.5, 14.5), (0.0, 8.0e10), (-3.0, 1e18)] {
            for range in [(44.0, 335.0), (240.0, 8.0)] {
                let scale = Scale::new(domain, range);
                for i in 0..=10 {
                    let value = domain.0 + (domain.1 - domain.0) * f64::from(i) / 10.0;
                    let back = scale.value_from_x(scale.x_from_value(value));
                    assert!((back - value).abs() <= 1e-9 * (domain.1 - domain.0));
                }
            }
        }
    }

    #[test]
    fn degenerate_domains_stay_finite() {
        for domain in [
            (0.0, 0.0),
            (5.0, 5.0),
            (9.0, 1.0),
            (f64::NAN, f64::NAN),
            (0.0, f64::INFINITY),
            (f64::NEG_INFINITY, 3.0),
        ] {
            for range in [(0.0, 100.0), (50.0, 50.0), (f64::NAN, 1.0)] {
                let scale = Scale::new(domain, range);
                for value in [0.0, 5.0, f64::NAN, f64::INFINITY, 1e300] {
                    assert!(scale.held(value).is_finite(), "{domain:?} {range:?} {value}");
                    assert!(scale.value_from_x(value).is_finite());
                }
            }
            assert!(nice(domain, 5).len() < 13);
            assert!(binary(domain, 5).len() < 13);
        }
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(nice((0.0, 1.44), 5), [0.0, 0.5, 1.0]);
        assert_eq!(nice((0.0, 10.0), 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let gib: Vec<f64> = binary((0.0, 80.0 * GIB), 6).iter().map(|b| b / GIB).collect();
        assert_eq!(gib, [0.0, 16.0, 32.0, 48.0, 64.0, 80.0]);
        let gib: Vec<f64> = binary((13.0 * GIB, 15.0 * GIB), 4).iter().map(|b| b / GIB).collect();
        assert_eq!(gib, [13.0, 13.5, 14.0, 14.5, 15.0]);
    }

    #[test]
    fn the_last_tick_names_the_unit() {
        assert_eq!(byte_texts(&[0.0, 16.0 * GIB, 32.0 * GIB]), ["0", "16", "32\u{a0}GiB"]);
        assert_eq!(time_texts(&[0.0, 0.5, 1.0]), ["0", "0.5", "1\u{a0}s"]);
        assert_eq!(time_texts(&[0.0, 0.02, 0.04]), ["0", "20", "40\u{a0}ms"]);
        assert_eq!(time_texts(&[1.2342, 1.2344, 1.2346]), ["1.2342", "1.2344", "1.2346\u{a0}s"]);
        assert_eq!(
            byte_texts(&[0.0, 0.125 * GIB, 0.25 * GIB].map(|b| b * 8.0)),
            ["0", "1", "2\u{a0}GiB"]
        );
        assert_eq!(
            byte_texts(&[1.0 * GIB, 1.125 * GIB, 1.25 * GIB]),
            ["1", "1.125", "1.25\u{a0}GiB"]
        );
    }
}
