//! Memory over time as measured. Principal type [`Series`]; its laws: it holds a bounded number of points, and whatever it lets
//! go of is neither the first, the last, the lowest nor the highest of its stretch of time.

use super::error::Problem;
use super::value::Budget;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;

/// Points held while reading: 2 MB.
const HELD: usize = 1 << 17;
/// Seconds beyond which a time is taken for a mistake: thirty thousand years.
const LATEST: f64 = 1e12;

/// Points in time, thinned as they come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Seconds and bytes.
    points: Vec<(f64, f64)>,
    /// How many there were.
    pub seen: u64,
}

impl Series {
    /// Takes a point, whose size may be below that at the beginning; false where it is none.
    pub fn push(&mut self, seconds: f64, bytes: f64) -> bool {
        if !(seconds.abs() <= LATEST && bytes.abs() <= 1e18) {
            return false;
        }
        if self.points.len() >= HELD {
            self.points = thinned(std::mem::take(&mut self.points), HELD / 2);
        }
        self.points.push((seconds, bytes));
        self.seen += 1;
        true
    }

    /// The smallest and the largest size, 0 among them.
    #[must_use]
    pub fn extremes(&self) -> (f64, f64) {
        let sizes = self.points.iter().map(|point| point.1);
        sizes.fold((0.0, 0.0), |(low, high), size| (size.min(low), size.max(high)))
    }

    /// In order of time, at most `most` of them.
    #[must_use]
    pub fn finish(self, most: usize) -> Vec<(f64, f64)> {
        thinned(self.points, most)
    }
}

/// At most `most` points, in order of time: of each of equal stretches the first, lowest, highest and last.
#[must_use]
pub fn thinned(mut points: Vec<(f64, f64)>, most: usize) -> Vec<(f64, f64)> {
    if !points.is_sorted_by(|a, b| a.0 <= b.0) {
        // Stable: what happened at one instant stays in the order of the file.
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    if points.len() <= most {
        return points;
    }
    let stretches = (most / 4).max(1);
    let (start, end) = (points[0].0, points[points.len() - 1].0);
    let width = (end - start) / as_f64(stretches);
    let stretch = |at: f64| {
        if width > 0.0 { index((at - start) / width).min(stretches - 1) } else { 0 }
    };
    let mut kept = Vec::with_capacity(most);
    for group in points.chunk_by(|a, b| stretch(a.0) == stretch(b.0)) {
        let by = |better: fn(f64, f64) -> bool| {
            (1..group.len())
                .fold(0, |best, i| if better(group[i].1, group[best].1) { i } else { best })
        };
        let (low, high) = (by(|a, b| a < b), by(|a, b| a > b));
        let mut last = None;
        for i in [0, low.min(high), low.max(high), group.len() - 1] {
            if last != Some(i) {
                kept.push(group[i]);
            }
            last = Some(i);
        }
    }
    kept
}

#[expect(clippy::cast_precision_loss, reason = "a count of stretches")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturating by definition"
)]
fn index(value: f64) -> usize {
    value.max(0.0) as usize
}

/// Reads a list of `[seconds, bytes]`.
pub struct Points<'a>(pub &'a Budget);

impl<'de> DeserializeSeed<'de> for Points<'_> {
    type Value = Series;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Series, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Points<'_> {
    type Value = Series;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a list of [seconds, bytes]")
    }

    fn visit_unit<E: Error>(self) -> Result<Series, E> {
        Ok(Series::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Series, A::Error> {
        let mut series = Series::default();
        loop {
            let index = series.seen;
            match list.next_element_seed(Pair { budget: self.0, index })? {
                None => return Ok(series),
                Some((seconds, bytes)) if bytes >= 0.0 && series.push(seconds, bytes) => {}
                Some(_) => return Err(self.0.refuse(Problem::Point.of(index))),
            }
        }
    }
}

struct Pair<'a> {
    budget: &'a Budget,
    index: u64,
}

impl<'de> DeserializeSeed<'de> for Pair<'_> {
    type Value = (f64, f64);
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(f64, f64), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Pair<'_> {
    type Value = (f64, f64);

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("[seconds, bytes]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(f64, f64), A::Error> {
        match (list.next_element()?, list.next_element()?) {
            (Some(seconds), Some(bytes)) => Ok((seconds, bytes)),
            _ => Err(self.budget.refuse(Problem::Point.of(self.index))),
        }
    }
}
