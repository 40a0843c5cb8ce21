//! The time axis that the ledger, the timeline and the playhead share, aligned to the pixel. Principal types [`Window`] and
//! [`TimeAxis`]; their law: the same width and window give the same pixels, whoever asks.

use super::scale::{self, Scale};
use super::{Tick, px};
use crate::engine::outcome::Outcome;
use crate::engine::units::Nanos;

/// Below this width a chart has no room for labels at its right.
pub const NARROW: f64 = 600.0;

/// What part of the step is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// From.
    pub start: Nanos,
    /// To.
    pub end: Nanos,
}

impl Window {
    /// One micro-batch and the optimizer step, whole.
    #[must_use]
    pub fn whole(outcome: &Outcome) -> Self {
        let last = outcome.spans.iter().map(|span| span.end).max();
        Self { start: Nanos::ZERO, end: last.unwrap_or(outcome.micro).max(outcome.micro) }
    }

    /// How long it is.
    #[must_use]
    pub fn length(&self) -> Nanos {
        self.end.saturating_sub(self.start)
    }

    /// Whether an instant is in it.
    #[must_use]
    pub fn contains(&self, at: Nanos) -> bool {
        (self.start..=self.end).contains(&at)
    }

    /// The nearest instant that is in it.
    #[must_use]
    pub fn held(&self, at: Nanos) -> Nanos {
        at.clamp(self.start, self.end.max(self.start))
    }

    /// Magnified by `factor` about an instant, inside `whole`; never shorter than a thousandth of it.
    #[must_use]
    pub fn zoomed(&self, about: Nanos, factor: f64, whole: Self) -> Self {
        let all = whole.length().secs();
        let length = (self.length().secs() / factor.max(1e-3)).clamp(all / 1e3, all);
        let about = self.held(about).secs();
        let share = (about - self.start.secs()) / self.length().secs().max(1e-12);
        Self::placed(about - share * length, length, whole)
    }

    /// Moved by a share of its own length, inside `whole`.
    #[must_use]
    pub fn panned(&self, share: f64, whole: Self) -> Self {
        let length = self.length().secs();
        Self::placed(self.start.secs() + share * length, length, whole)
    }

    fn placed(start: f64, length: f64, whole: Self) -> Self {
        let last = (whole.end.secs() - length).max(whole.start.secs());
        let start = start.clamp(whole.start.secs(), last);
        Self {
            start: Nanos::from_secs(start),
            end: Nanos::from_secs(start + length).min(whole.end),
        }
    }
}

/// The horizontal axis of a width and a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeAxis {
    /// Width of the whole picture.
    pub width: f64,
    /// Where time begins.
    pub left: f64,
    /// Where time ends.
    pub right: f64,
    /// What is shown.
    pub window: Window,
    scale: Scale,
}

impl TimeAxis {
    /// The margins depend on the width alone.
    #[must_use]
    pub fn new(width: f64, window: Window) -> Self {
        let width = if width.is_finite() { width.max(160.0) } else { 160.0 };
        let (left, margin) = if width < NARROW { (60.0, 10.0) } else { (72.0, 132.0) };
        let right = width - margin;
        let domain = (window.start.secs(), window.end.secs());
        Self { width, left, right, window, scale: Scale::new(domain, (left, right)) }
    }

    /// Whether there is no room for labels at the right.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        self.width < NARROW
    }

    /// Pixels of the plot.
    #[must_use]
    pub fn plot(&self) -> f64 {
        self.right - self.left
    }

    /// The pixel of an instant, held inside the plot.
    #[must_use]
    pub fn x_from_time(&self, at: Nanos) -> f64 {
        self.scale.held(at.secs())
    }

    /// The instant at a pixel, held inside the window.
    #[must_use]
    pub fn time_from_x(&self, x: f64) -> Nanos {
        self.window.held(Nanos::from_secs(self.scale.value_from_x(x.clamp(self.left, self.right))))
    }

    /// Round instants.
    #[must_use]
    pub fn ticks(&self) -> Vec<Tick> {
        let count = super::index(self.plot() / 90.0).clamp(2, 10);
        let values = scale::nice(self.scale.domain(), count);
        let texts = scale::time_texts(&values);
        values
            .into_iter()
            .zip(texts)
            .map(|(value, text)| Tick { at: px(self.scale.x_from_value(value)), text })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Window = Window { start: Nanos(0), end: Nanos(1_000_000_000) };

    #[test]
    fn inverse_to_the_nanosecond_of_a_pixel() {
        for width in [343.0, 900.0, 1500.0] {
            let axis = TimeAxis::new(width, WHOLE);
            for n in [0, 1, 333_333_333, 1_000_000_000] {
                let back = axis.time_from_x(axis.x_from_time(Nanos(n)));
                assert!(back.0.abs_diff(n) <= 1, "{width} {n} {back:?}");
            }
        }
    }

    #[test]
    fn an_empty_window_is_safe() {
        let axis = TimeAxis::new(f64::NAN, Window::default());
        assert!(axis.x_from_time(Nanos(5)).is_finite());
        assert_eq!(axis.time_from_x(80.0), Nanos::ZERO);
    }

    #[test]
    fn zoom_stays_inside() {
        let near = WHOLE.zoomed(Nanos(900_000_000), 4.0, WHOLE);
        assert_eq!(near.length(), Nanos(250_000_000));
        assert!(near.contains(Nanos(900_000_000)));
        assert_eq!(near.panned(9.0, WHOLE).end, WHOLE.end);
        assert_eq!(near.zoomed(Nanos(0), 1e-9, WHOLE), WHOLE);
        let least = WHOLE.zoomed(Nanos(0), 1e12, WHOLE);
        assert_eq!(least.length(), Nanos(1_000_000));
    }
}
