//! Numbers as people read them. Three significant digits, IEC sizes (GiB), SI rates (GB/s), a no-break space before the
//! unit, a narrow one between thousands. Its law: never "NaN" or "inf"; what is no number is a dash.

use crate::engine::units::{Bytes, Nanos};

/// Stands for what is no number.
pub const NONE: &str = "–";
/// Between a number and its unit.
const GAP: char = '\u{a0}';
/// Between thousands.
const THIN: char = '\u{202f}';
const MINUS: char = '\u{2212}';

const IEC: [(&str, f64); 7] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("PiB", 1_125_899_906_842_624.0),
    ("EiB", 1_152_921_504_606_846_976.0),
];
const SI: [(&str, f64); 7] =
    [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15), ("E", 1e18)];
const SHORT: [(&str, f64); 5] = [("", 1.0), ("K", 1e3), ("M", 1e6), ("B", 1e9), ("T", 1e12)];
const TIME: [(&str, f64); 4] = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// "12.3 GiB", "512 MiB", "0 B".
#[must_use]
pub fn bytes(size: Bytes) -> String {
    let value = size.as_f64();
    let (unit, scale) = unit_of(&IEC, value);
    if unit == "B" {
        return format!("{}{GAP}B", size.0);
    }
    format!("{}{GAP}{unit}", digits(value / scale))
}

/// A difference of sizes with its sign: "+1.20 GiB", "−512 MiB", "0 B".
#[must_use]
pub fn bytes_difference(from: Bytes, to: Bytes) -> String {
    if to >= from {
        let sign = if to == from { "" } else { "+" };
        format!("{sign}{}", bytes(to - from))
    } else {
        format!("{MINUS}{}", bytes(from - to))
    }
}

/// "1.23 s", "45.6 ms", "12.0 µs", "0 s".
#[must_use]
pub fn time(time: Nanos) -> String {
    seconds(time.secs())
}

/// As [`time`], of seconds.
#[must_use]
pub fn seconds(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if value == 0.0 {
        return format!("0{GAP}s");
    }
    let (unit, scale) = unit_of(&TIME, value.abs());
    let number = if unit == "ns" { thousands(value / scale) } else { digits(value / scale) };
    format!("{number}{GAP}{unit}")
}

/// "25 GB/s", "2.04 TB/s": trailing zeros go.
#[must_use]
pub fn rate(bytes_per_second: f64) -> String {
    with_unit(bytes_per_second, &SI, "B/s")
}

/// "312 TFLOP/s".
#[must_use]
pub fn flops(per_second: f64) -> String {
    with_unit(per_second, &SI, "FLOP/s")
}

/// "4.12 TFLOP".
#[must_use]
pub fn operations(count: f64) -> String {
    with_unit(count, &SI, "FLOP")
}

/// "6.74 B" (billion), "125 M", "512".
#[must_use]
pub fn count(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let (unit, scale) = unit_of(&SHORT, value.abs());
    if unit.is_empty() {
        return thousands(value);
    }
    format!("{}{GAP}{unit}", digits(value / scale))
}

/// "2 844 /s" without its noun: whole numbers with thin separators, three digits below a hundred, down to a millionth.
#[must_use]
pub fn per_second(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    match value.abs() {
        size if size >= 100.0 => thousands(value),
        // Two decimals would leave one digit or none.
        size if size > 0.0 && size < 0.1 => {
            let decimals = [0.01, 0.001, 0.000_1].iter().filter(|&&step| size < step).count();
            signed(value, 4 + decimals)
        }
        _ => digits(value),
    }
}

/// "170 000": a count, to the last.
#[must_use]
pub fn whole(count: u64) -> String {
    grouped(&count.to_string())
}

/// A percentage that is not below the share: a small one to the hundredth.
#[must_use]
pub fn percent_at_most(share: f64) -> String {
    let percent = 100.0 * share;
    let parts = if percent < 1.0 { 100.0 } else { 10.0 };
    format!("{}{GAP}%", plain((percent * parts - 1e-9).ceil() / parts, 2))
}

/// A share with its sign: "+13.2 %", "−4.0 %", "0 %".
#[must_use]
pub fn percent_change(share: f64) -> String {
    if !share.is_finite() {
        return NONE.to_owned();
    }
    let sign = if share > 0.0 { "+" } else { "" };
    let text = percent(share);
    if text.starts_with('0') && !text.contains(['1', '2', '3', '4', '5', '6', '7', '8', '9']) {
        return text;
    }
    format!("{sign}{text}")
}

/// A share: "13.2 %", "100 %".
#[must_use]
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return NONE.to_owned();
    }
    let value = share * 100.0;
    let text =
        if value.abs() >= 99.95 || value == 0.0 { thousands(value) } else { signed(value, 1) };
    format!("{text}{GAP}%")
}

/// A plain ratio: "2.57", "0.10", "1 234".
#[must_use]
pub fn ratio(value: f64) -> String {
    if value.is_finite() { digits(value) } else { NONE.to_owned() }
}

/// A number without trailing zeros, at most that many decimals: what ticks say.
#[must_use]
pub fn plain(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let text = signed(value, decimals);
    if text.contains('.') && value.abs() < 1000.0 {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        thousands(value)
    }
}

/// The IEC unit that suits a size, and its bytes.
#[must_use]
pub fn byte_unit(size: f64) -> (&'static str, f64) {
    unit_of(&IEC, size)
}

/// The time unit that suits a number of seconds, and its seconds.
#[must_use]
pub fn time_unit(seconds: f64) -> (&'static str, f64) {
    unit_of(&TIME, seconds)
}

/// The largest unit that `value` reaches, once rounded to three digits; the smallest below that.
fn unit_of<const N: usize>(units: &[(&'static str, f64); N], value: f64) -> (&'static str, f64) {
    let reached = |scale: f64| value >= 0.9995 * scale;
    *units.iter().rev().find(|(_, scale)| reached(*scale)).unwrap_or(&units[0])
}

fn with_unit<const N: usize>(value: f64, units: &[(&'static str, f64); N], noun: &str) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let (unit, scale) = unit_of(units, value.abs());
    let text = digits(value / scale);
    let number =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{number}{GAP}{unit}{noun}")
}

/// Three significant digits.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size < 9.995 => signed(value, 2),
        size if size < 99.95 => signed(value, 1),
        _ => thousands(value),
    }
}

fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let zero = !text.contains(|c: char| ('1'..='9').contains(&c));
    if value < 0.0 && !zero { format!("{MINUS}{text}") } else { text }
}

/// Whole, with thin spaces from five digits on and in four.
#[must_use]
pub fn thousands(value: f64) -> String {
    let text = format!("{:.0}", value.abs());
    let sign = if value < 0.0 && text != "0" { MINUS.to_string() } else { String::new() };
    sign + &grouped(&text)
}

fn grouped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for (i, digit) in text.chars().enumerate() {
        if i > 0 && (text.len() - i).is_multiple_of(3) {
            out.push(THIN);
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spaces of every width as plain ones.
    fn flat(text: &str) -> String {
        text.replace([GAP, THIN], " ")
    }

    #[test]
    fn sizes() {
        for (size, text) in [
            (0.0, "0 B"),
            (512.0, "512 B"),
            (1023.0, "1023 B"),
            (1024.0, "1.00 KiB"),
            (536_870_912.0, "512 MiB"),
            (13_207_024_435.2, "12.3 GiB"),
            (85_899_345_920.0, "80.0 GiB"),
            (10.0 * 1_073_741_824.0 - 1.0, "10.0 GiB"),
            (1000.0 * 1_073_741_824.0, "1 000 GiB"),
            (1_099_511_627_776.0, "1.00 TiB"),
        ] {
            assert_eq!(flat(&bytes(Bytes::from_f64(size))), text);
        }
        assert_eq!(flat(&bytes_difference(Bytes(0), Bytes::from_gib(1.2))), "+1.20 GiB");
        assert_eq!(flat(&bytes_difference(Bytes::from_gib(1.2), Bytes(0))), "−1.20 GiB");
        assert_eq!(flat(&bytes_difference(Bytes(7), Bytes(7))), "0 B");
    }

    #[test]
    fn times() {
        for (nanos, text) in [
            (0, "0 s"),
            (7, "7 ns"),
            (12_000, "12.0 µs"),
            (45_600_000, "45.6 ms"),
            (999_960_000, "1.00 s"),
            (1_230_000_000, "1.23 s"),
            (1_234_000_000_000, "1 234 s"),
        ] {
            assert_eq!(flat(&time(Nanos(nanos))), text);
        }
    }

    #[test]
    fn rates_counts_and_shares() {
        assert_eq!(flat(&rate(25e9)), "25 GB/s");
        assert_eq!(flat(&rate(2.039e12)), "2.04 TB/s");
        assert_eq!(flat(&rate(100e9)), "100 GB/s");
        assert_eq!(flat(&flops(312e12)), "312 TFLOP/s");
        assert_eq!(flat(&operations(4.12e12)), "4.12 TFLOP");
        assert_eq!(flat(&count(6.738e9)), "6.74 B");
        assert_eq!(flat(&count(512.0)), "512");
        assert_eq!(flat(&whole(1_234_567)), "1 234 567");
        assert_eq!(flat(&per_second(12_345.6)), "12 346");
        assert_eq!(flat(&per_second(0.694)), "0.69");
        assert_eq!(flat(&per_second(0.002_257)), "0.00226");
        assert_eq!(flat(&per_second(0.043_2)), "0.0432");
        assert_eq!(flat(&percent_change(0.132)), "+13.2 %");
        assert_eq!(flat(&percent_change(-0.04)), "−4.0 %");
        assert_eq!(flat(&percent_change(0.0)), "0 %");
        assert_eq!(flat(&percent_change(0.0001)), "0.0 %");
        assert_eq!(flat(&percent_change(12.0)), "+1 200 %");
        assert_eq!(flat(&plain(0.5, 3)), "0.5");
        assert_eq!(flat(&plain(80.0, 3)), "80");
        assert_eq!(flat(&plain(1280.0, 3)), "1 280");
    }

    #[test]
    fn no_number_is_a_dash() {
        for text in [
            seconds(f64::NAN),
            rate(f64::INFINITY),
            count(f64::NAN),
            percent(f64::NAN),
            percent_change(f64::INFINITY),
            ratio(f64::NAN),
            plain(f64::NEG_INFINITY, 3),
            per_second(f64::NAN),
        ] {
            assert_eq!(text, NONE);
        }
    }
}
