//! Figures as text, for the page and the table alike: every digit of a whole number, six significant ones of others, for here a
//! difference of one byte counts.

use super::case::{Expected, Within};
use crate::scene::format;

const GAP: char = '\u{a0}';

/// "14 358 528 B", "0.0625 s", "66.84 %"; a dash where there is none.
#[must_use]
pub fn figure(value: Option<f64>, unit: &str) -> String {
    let Some(value) = value else { return format::NONE.to_owned() };
    let number = if value.fract() == 0.0 && value.abs() < 1e15 {
        format::thousands(value)
    } else {
        significant(value)
    };
    with_unit(&number, unit)
}

/// As [`figure`], of a range: "≥ 6.8 GiB", "3.9 to 7.9 GiB" with `to` for the word between.
#[must_use]
pub fn expected(expected: &Expected, unit: &str) -> String {
    match (expected.least.is_finite(), expected.most.is_finite()) {
        (true, true) if expected.least < expected.most => {
            format!("{}…{}", figure(Some(expected.least), ""), figure(Some(expected.most), unit))
        }
        (true, false) => format!("≥{GAP}{}", figure(Some(expected.least), unit)),
        (false, true) => format!("≤{GAP}{}", figure(Some(expected.most), unit)),
        _ => figure(Some(expected.least), unit),
    }
}

/// "0", "+2 048 B (+0.3 %)".
#[must_use]
pub fn difference(difference: Option<f64>, share: Option<f64>, unit: &str) -> String {
    match difference {
        None => format::NONE.to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(by) => {
            let sign = if by > 0.0 { "+" } else { "" };
            let share = share.map(|share| format!(" ({})", percent(share))).unwrap_or_default();
            format!("{sign}{}{share}", figure(Some(by), unit))
        }
    }
}

/// "+0.300 %", "−12.50 %", "0 %"; what is less than a thousandth of a percent says so.
#[must_use]
pub fn percent(share: f64) -> String {
    let size = (share * 100.0).abs();
    let sign = if share > 0.0 { "+" } else { "\u{2212}" };
    let number = match size {
        0.0 => return format!("0{GAP}%"),
        size if size < 0.001 => return format!("<0.001{GAP}%"),
        size if size < 1.0 => format!("{size:.3}"),
        size if size < 100.0 => format!("{size:.2}"),
        size => format!("{size:.0}"),
    };
    format!("{sign}{number}{GAP}%")
}

/// "=" for to the last digit, "± 0.2 GiB", "± 1 %".
#[must_use]
pub fn within(within: Within, unit: &str) -> String {
    match within {
        Within::Exact => "=".to_owned(),
        Within::Absolute(by) => format!("±{GAP}{}", with_unit(&significant(by), unit)),
        Within::Relative(by) => format!("±{GAP}{}{GAP}%", significant(by * 100.0)),
    }
}

fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() { number.to_owned() } else { format!("{number}{GAP}{unit}") }
}

/// Six significant digits, at most twelve decimals, without zeros at the end.
fn significant(value: f64) -> String {
    let size = value.abs();
    let mut decimals = 5;
    let mut at = 1.0;
    while size >= at * 10.0 && decimals > 0 {
        at *= 10.0;
        decimals -= 1;
    }
    while size < at && decimals < 12 {
        at /= 10.0;
        decimals += 1;
    }
    let text = format!("{size:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let sign = if value < 0.0 { "\u{2212}" } else { "" };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_all_their_digits() {
        assert_eq!(figure(Some(14_358_528.0), "B"), "14\u{202f}358\u{202f}528\u{a0}B");
        assert_eq!(figure(Some(-2048.0), "B"), "\u{2212}2\u{202f}048\u{a0}B");
        assert_eq!(figure(None, "B"), "–");
    }

    #[test]
    fn others_have_six() {
        let texts = [
            (0.0625, "0.0625"),
            (66.842_105, "66.8421"),
            (1e-9, "0.000000001"),
            (0.066_666_666_6, "0.0666667"),
            (-0.5, "\u{2212}0.5"),
        ];
        for (value, text) in texts {
            assert_eq!(figure(Some(value), ""), text);
        }
        assert_eq!(figure(Some(123_456.7), "GiB"), "123457\u{a0}GiB");
    }

    #[test]
    fn ranges_and_tolerances() {
        let range = |least, most| expected(&Expected { least, most }, "GiB");
        assert_eq!(range(3.9, 7.9), "3.9…7.9\u{a0}GiB");
        assert_eq!(range(6.8, f64::INFINITY), "≥\u{a0}6.8\u{a0}GiB");
        assert_eq!(range(f64::NEG_INFINITY, 2.0), "≤\u{a0}2\u{a0}GiB");
        assert_eq!(within(Within::Relative(0.0138), "GiB"), "±\u{a0}1.38\u{a0}%");
        assert_eq!(within(Within::Exact, "B"), "=");
        assert_eq!(
            difference(Some(-2.0), Some(-0.02), "B"),
            "\u{2212}2\u{a0}B (\u{2212}2.00\u{a0}%)"
        );
        assert_eq!(percent(0.000_012), "+0.001\u{a0}%");
        assert_eq!(percent(-1e-9), "<0.001\u{a0}%");
    }
}
