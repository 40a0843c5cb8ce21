//! Geometry: outcome and viewport in, marks out. PURE: no Yew, no web-sys; it computes no physics.
//!
//! Everything is placed for SVG: it is crisp at any pixel ratio, reachable by keyboard and screen reader, and rendered
//! natively in tests. A cloud of hundreds of points is one path of round-capped dots (`M x y h0`) per class, so that what
//! a drag diffs stays under about 300 nodes. Lengths are CSS pixels, rounded to a tenth.

pub mod format;
pub mod ledger;
pub mod map;
pub mod measured;
pub mod pareto;
pub mod ratio;
pub mod scale;
pub mod slider;
pub mod time;
pub mod timeline;

use crate::engine::policy::Action;

/// An upright rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// Right edge.
    #[must_use]
    pub fn right(&self) -> f64 {
        self.x + self.w
    }

    /// Lower edge.
    #[must_use]
    pub fn bottom(&self) -> f64 {
        self.y + self.h
    }

    /// Whether a point is inside or on the edge.
    #[must_use]
    pub fn contains(&self, x: f64, y: f64) -> bool {
        (self.x..=self.right()).contains(&x) && (self.y..=self.bottom()).contains(&y)
    }
}

/// A tick of an axis: where, and what it says.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Pixels along the axis.
    pub at: f64,
    /// The number, with its unit where the axis says it once.
    pub text: String,
}

/// What happened to a layer as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Every saved tensor under this action.
    All(Action),
    /// Some under one, some under another.
    Mixed,
    /// It saves nothing.
    Nothing,
}

impl Fate {
    /// The name of its colour and pattern.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::All(Action::Keep) => "keep",
            Self::All(Action::Recompute) => "recompute",
            Self::All(Action::Host) => "offload",
            Self::All(Action::Ssd) => "ssd",
            Self::Mixed => "mixed",
            Self::Nothing => "nothing",
        }
    }
}

/// Rounds to a tenth of a pixel; what is no number is 0.
#[must_use]
pub fn px(value: f64) -> f64 {
    if value.is_finite() { (value * 10.0).round() / 10.0 } else { 0.0 }
}

/// About how wide a text is set at `size` px: Chinese characters are square, the rest about half.
#[must_use]
pub fn text_width(text: &str, size: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            '\u{2e80}'..='\u{ffef}' => 1.0,
            '\u{a0}' | '\u{202f}' | ' ' | '.' | ',' | 'i' | 'l' => 0.3,
            'M' | 'G' | 'W' | 'm' | 'w' | '%' => 0.82,
            _ => 0.57,
        })
        .sum();
    ems * size
}

/// Index from a non-negative float: a cell, a bucket, a column.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturating by definition"
)]
pub(crate) fn index(value: f64) -> usize {
    value.max(0.0) as usize
}

/// A count as a float.
#[expect(clippy::cast_precision_loss, reason = "counts of marks are small")]
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_numbers() {
        for (value, pixel) in [(1.26, 1.3), (f64::NAN, 0.0), (f64::INFINITY, 0.0)] {
            assert!((px(value) - pixel).abs() < 1e-9);
        }
    }

    #[test]
    fn chinese_is_wider() {
        assert!(text_width("停顿", 12.0) > text_width("ab", 12.0));
    }
}
