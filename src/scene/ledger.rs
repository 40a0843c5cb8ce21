//! Memory over time as stacked areas. Principal types [`Ledger`] (the picture) and [`Counter`] (one instant of it, as a bar).
//! Its laws: bands are stacked in the order of [`BANDS`], every column of pixels keeps its maximum, and time is where the
//! timeline has it.

use super::measured;
use super::scale::{self, Scale};
use super::time::{TimeAxis, Window};
use super::{Rect, Tick, float, index, px, text_width};
use crate::engine::ledger::{Row, Step};
use crate::engine::outcome::Outcome;
use crate::engine::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// A category of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Band {
    /// Weights.
    Weights,
    /// Gradients.
    Gradients,
    /// Optimizer states.
    Optimizer,
    /// What the user reserves.
    Unmodelled,
    /// Saved for backward.
    Activations,
    /// Being copied.
    InFlight,
    /// Transient.
    Workspace,
}

/// From the bottom up: what never moves below what does (gradients may grow during backward).
pub const BANDS: [Band; 7] = [
    Band::Weights,
    Band::Optimizer,
    Band::Unmodelled,
    Band::Gradients,
    Band::Activations,
    Band::InFlight,
    Band::Workspace,
];

impl Band {
    /// The name of its colour and pattern.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::Gradients => "gradients",
            Self::Optimizer => "optimizer",
            Self::Unmodelled => "unmodelled",
            Self::Activations => "activations",
            Self::InFlight => "in-flight",
            Self::Workspace => "workspace",
        }
    }

    /// Its bytes in a row.
    #[must_use]
    pub const fn bytes(self, row: &Row) -> Bytes {
        match self {
            Self::Weights => row.weights,
            Self::Gradients => row.gradients,
            Self::Optimizer => row.optimizer,
            Self::Unmodelled => row.unmodelled,
            Self::Activations => row.activations,
            Self::InFlight => row.in_flight,
            Self::Workspace => row.workspace,
        }
    }
}

/// One category's area.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// Which.
    pub band: Band,
    /// Its outline.
    pub path: String,
}

/// Where a band is named.
#[derive(Clone, Debug, PartialEq)]
pub struct BandLabel {
    /// Which.
    pub band: Band,
    /// Left end of the text inside the band, or of the text at the right.
    pub x: f64,
    /// Middle of the line of text.
    pub y: f64,
    /// Where a leader starts: the band's right end. None for a label inside.
    pub leader: Option<(f64, f64)>,
}

/// The summit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeakMark {
    /// Across.
    pub x: f64,
    /// Down.
    pub y: f64,
    /// The text is to the left of the mark, not to the right.
    pub leftward: bool,
}

/// The line of the card's capacity, or of the budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Down.
    pub y: f64,
    /// It is above what is shown.
    pub beyond: bool,
}

/// Bytes that the picture starts above, in focus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Below {
    /// How much is left out below.
    pub bytes: Bytes,
    /// Where the break is.
    pub y: f64,
}

/// The picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// The axis it shares with the timeline.
    pub axis: TimeAxis,
    /// Height of the picture.
    pub height: f64,
    /// The plot.
    pub plot: Rect,
    /// Bytes to pixels.
    pub scale: Scale,
    /// Areas from the bottom up, those with bytes only.
    pub areas: Vec<Area>,
    /// The outline of the total.
    pub outline: String,
    /// What is above the capacity; empty if nothing is.
    pub overflow: String,
    /// What was measured, as a line; empty if nothing was.
    pub measured: String,
    /// Capacity.
    pub capacity: Capacity,
    /// Peak, if it is in the window.
    pub peak: Option<PeakMark>,
    /// What focus leaves out.
    pub below: Option<Below>,
    /// Bands that are drawn for themselves, above what focus leaves out.
    pub apart: Vec<Band>,
    /// Names of bands; the others belong in a legend.
    pub labels: Vec<BandLabel>,
    /// Of the bytes.
    pub bytes_ticks: Vec<Tick>,
    /// Of the time.
    pub time_ticks: Vec<Tick>,
}

/// What a picture is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Width of the picture.
    pub width: f64,
    /// Part of the step.
    pub window: Window,
    /// Begin just below what never moves, so that activations can be seen.
    pub focus: bool,
}

/// A column's state: where, and how high each band reaches (bytes, cumulated).
struct Column {
    x: f64,
    tops: [f64; 7],
}

impl Ledger {
    /// Places the ledger; `names` are the bands' names, for what fits where. `measured` is on the same time axis.
    #[must_use]
    pub fn of(
        outcome: &Outcome,
        measured: &[(Nanos, Bytes)],
        view: View,
        names: &[String; 7],
    ) -> Self {
        let axis = TimeAxis::new(view.width, view.window);
        let plot = Rect {
            x: axis.left,
            y: 22.0,
            w: axis.plot(),
            h: if axis.is_narrow() { 190.0 } else { 196.0 },
        };
        let columns = columns(&outcome.ledger, &axis);
        let measured = measured::line(measured, &axis);
        let highest = measured.iter().map(|point| point.1).fold(0.0, f64::max);
        let (domain, below) = domain(outcome, &columns, highest, view.focus);
        let foot = if below.is_some() { 26.0 } else { 0.0 };
        let scale = Scale::new(domain, (plot.bottom() - foot, plot.y));
        let present: Vec<usize> = (0..7).filter(|&b| is_present(&columns, b)).collect();
        // What is squeezed into the foot is named there, as one.
        let foot_top = below.map_or(0.0, Bytes::as_f64);
        let apart: Vec<usize> = present
            .iter()
            .copied()
            .filter(|&b| columns.iter().any(|c| c.tops[b] > foot_top && thickness(c, b) > 0.0))
            .collect();
        let draw = Draw { plot, scale, foot, right: axis.right };
        let bytes_ticks = draw.ticks(if axis.is_narrow() { 4 } else { 5 });
        Self {
            height: plot.bottom() + 24.0,
            areas: present
                .iter()
                .map(|&b| Area { band: BANDS[b], path: draw.area(&columns, b) })
                .collect(),
            outline: draw.line(&columns),
            overflow: draw.overflow(&columns, outcome.memory.as_f64()),
            measured: measured::path(&measured, |bytes| draw.y(bytes)),
            capacity: Capacity {
                y: px(scale.held(outcome.memory.as_f64())),
                beyond: !scale.contains(outcome.memory.as_f64()),
            },
            peak: peak(outcome, &axis, &scale),
            below: below.map(|bytes| Below { bytes, y: plot.bottom() - foot }),
            labels: draw.labels(&columns, &apart, names, axis.is_narrow()),
            apart: apart.iter().map(|&b| BANDS[b]).collect(),
            bytes_ticks,
            time_ticks: axis.ticks(),
            plot,
            scale,
            axis,
        }
    }

    /// Where the capacity's label stands, away from the peak, where the playhead rests: its pixel, and whether it ends there.
    #[must_use]
    pub fn capacity_label(&self) -> (f64, bool) {
        const NEAR: f64 = 28.0;
        let middle = self.plot.x + self.plot.w / 2.0;
        let near = |y: f64| (y - self.capacity.y).abs() < NEAR;
        let inside = || self.labels.iter().filter(|label| label.leader.is_none() && near(label.y));
        let peak = self.peak.filter(|peak| self.capacity.beyond || near(peak.y));
        let right_taken =
            peak.is_some_and(|peak| peak.x > middle) || inside().any(|label| label.x > middle);
        let left_taken =
            peak.is_some_and(|peak| peak.x <= middle) || inside().any(|label| label.x <= middle);
        let left = right_taken && !left_taken;
        if left { (self.plot.x + 4.0, false) } else { (self.plot.right() - 4.0, true) }
    }

    /// The bands that are named in the picture by no label.
    pub fn unnamed(&self) -> impl Iterator<Item = Band> + '_ {
        self.apart
            .iter()
            .copied()
            .filter(|band| self.labels.iter().all(|label| label.band != *band))
    }
}

/// What is there at an instant.
#[must_use]
pub fn row_at(outcome: &Outcome, at: Nanos) -> Row {
    let after = outcome.ledger.partition_point(|step| step.at <= at);
    after.checked_sub(1).map_or(outcome.standing, |i| outcome.ledger[i].row)
}

fn tops(row: &Row) -> [f64; 7] {
    let mut sum = 0.0;
    BANDS.map(|band| {
        sum += band.bytes(row).as_f64();
        sum
    })
}

/// The steps of the window, at most two for each column of pixels: its largest total, and what it ends with.
fn columns(steps: &[Step], axis: &TimeAxis) -> Vec<Column> {
    let window = axis.window;
    let first = steps.partition_point(|step| step.at <= window.start).saturating_sub(1);
    let mut out: Vec<Column> = Vec::new();
    let mut cell = usize::MAX;
    let mut pair = 0;
    for step in steps[first.min(steps.len())..].iter().take_while(|step| step.at <= window.end) {
        let x = axis.x_from_time(step.at.max(window.start));
        let column = Column { x, tops: tops(&step.row) };
        if index(x) != cell {
            (cell, pair) = (index(x), 1);
            out.push(column);
        } else if pair == 1 {
            pair = 2;
            out.push(column);
        } else {
            keep_largest(&mut out, column);
        }
    }
    if let Some(last) = out.last() {
        let tops = last.tops;
        out.push(Column { x: axis.right, tops });
    }
    out
}

/// Of the column's two columns and a third, the largest and the last stay.
fn keep_largest(out: &mut [Column], column: Column) {
    let last = out.len() - 1;
    if out[last].tops[6] > out[last - 1].tops[6] {
        out.swap(last - 1, last);
        out[last - 1].x = out[last - 1].x.min(out[last].x);
    }
    out[last] = column;
}

fn is_present(columns: &[Column], band: usize) -> bool {
    columns.iter().any(|column| thickness(column, band) > 0.0)
}

fn thickness(column: &Column, band: usize) -> f64 {
    column.tops[band] - band.checked_sub(1).map_or(0.0, |below| column.tops[below])
}

/// From 0 to the higher of capacity and summit; in focus from just below what never moves to the summit, and to the
/// capacity if that is near.
fn domain(
    outcome: &Outcome,
    columns: &[Column],
    measured: f64,
    focus: bool,
) -> ((f64, f64), Option<Bytes>) {
    let summit = columns.iter().map(|column| column.tops[6]).fold(measured, f64::max);
    let memory = outcome.memory.as_f64();
    let still = outcome.standing.total().as_f64();
    if focus && still > 0.0 && summit > still {
        let range = summit - still;
        let top = if memory > summit && memory - still < 1.6 * range { memory } else { summit };
        return ((still, top + 0.06 * (top - still)), Some(outcome.standing.total()));
    }
    ((0.0, 1.02 * summit.max(memory)), None)
}

fn peak(outcome: &Outcome, axis: &TimeAxis, scale: &Scale) -> Option<PeakMark> {
    axis.window.contains(outcome.peak.at).then(|| {
        let x = axis.x_from_time(outcome.peak.at);
        PeakMark {
            x: px(x),
            y: px(scale.held(outcome.peak.row.total().as_f64())),
            leftward: x > axis.left + 0.6 * axis.plot(),
        }
    })
}

/// What drawing needs.
struct Draw {
    plot: Rect,
    scale: Scale,
    foot: f64,
    right: f64,
}

impl Draw {
    /// The pixel of so many bytes; in focus, what never moves is squeezed into the foot.
    fn y(&self, bytes: f64) -> f64 {
        let (low, _) = self.scale.domain();
        if self.foot > 0.0 && bytes < low {
            return px(self.plot.bottom() - self.foot * bytes / low.max(1.0));
        }
        px(self.scale.held(bytes))
    }

    fn ticks(&self, count: usize) -> Vec<Tick> {
        let values = scale::binary(self.scale.domain(), count);
        let texts = scale::byte_texts(&values);
        let ticks = values.into_iter().zip(texts);
        ticks.map(|(value, text)| Tick { at: self.y(value), text }).collect()
    }

    /// Steps from left to right at the height that `of` says, equal neighbours as one.
    fn steps(&self, columns: &[Column], of: impl Fn(&Column) -> f64) -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for column in columns {
            let (x, y) = (px(column.x), self.y(of(column)));
            if points.last().is_none_or(|last| (last.1 - y).abs() > 0.01) {
                points.push((x, y));
            }
        }
        points
    }

    fn line(&self, columns: &[Column]) -> String {
        let mut path = String::new();
        forth(&mut path, &self.steps(columns, |column| column.tops[6]), self.right);
        path
    }

    fn area(&self, columns: &[Column], band: usize) -> String {
        let upper = self.steps(columns, |column| column.tops[band]);
        let lower = match band.checked_sub(1) {
            Some(below) => self.steps(columns, |column| column.tops[below]),
            None => vec![(px(self.plot.x), px(self.plot.bottom()))],
        };
        closed(&upper, &lower, self.right)
    }

    fn overflow(&self, columns: &[Column], memory: f64) -> String {
        if columns.iter().all(|column| column.tops[6] <= memory) {
            return String::new();
        }
        let upper = self.steps(columns, |column| column.tops[6].max(memory));
        closed(&upper, &[(px(self.plot.x), self.y(memory))], self.right)
    }

    /// Names inside bands that are high and long enough, the others at the right, pushed apart, where there is room.
    fn labels(
        &self,
        columns: &[Column],
        present: &[usize],
        names: &[String; 7],
        narrow: bool,
    ) -> Vec<BandLabel> {
        let mut labels = Vec::new();
        let mut outside = Vec::new();
        for &band in present {
            match self.inside(columns, band, &names[band]) {
                Some((x, y)) => labels.push(BandLabel { band: BANDS[band], x, y, leader: None }),
                None => outside.push(band),
            }
        }
        if !narrow {
            labels.extend(self.outside(columns, &outside));
        }
        labels
    }

    /// The first stretch in which the band is 15 px high for as long as its name is.
    fn inside(&self, columns: &[Column], band: usize, name: &str) -> Option<(f64, f64)> {
        const LEAST: f64 = 15.0;
        let need = text_width(name, 12.0) + 16.0;
        let edges = |column: &Column| {
            let below = band.checked_sub(1).map_or(0.0, |below| column.tops[below]);
            (self.y(column.tops[band]), self.y(below))
        };
        let mut stretch: Option<(f64, f64, f64)> = None;
        let mut best: Option<(f64, f64, f64)> = None;
        for pair in columns.windows(2) {
            let (top, bottom) = edges(&pair[0]);
            let (from, high, low) = stretch
                .map_or((pair[0].x, top, bottom), |(from, high, low)| {
                    (from, high.max(top), low.min(bottom))
                });
            stretch = if low - high >= LEAST {
                if pair[1].x - from >= need && best.is_none_or(|(_, h, l)| low - high >= l - h) {
                    best = Some((from, high, low));
                }
                Some((from, high, low))
            } else if bottom - top >= LEAST {
                Some((pair[0].x, top, bottom))
            } else {
                None
            };
        }
        best.map(|(from, high, low)| (px(from + 8.0), px(f64::midpoint(high, low))))
    }

    fn outside(&self, columns: &[Column], bands: &[usize]) -> Vec<BandLabel> {
        const LINE: f64 = 15.0;
        let Some(widest) = columns.last() else {
            return Vec::new();
        };
        let middle = |band: usize| {
            let below = band.checked_sub(1).map_or(0.0, |below| widest.tops[below]);
            f64::midpoint(self.y(widest.tops[band]), self.y(below))
        };
        let mut at = self.plot.bottom() - 4.0 + LINE;
        let mut labels: Vec<BandLabel> = bands
            .iter()
            .map(|&band| {
                let y = middle(band);
                at = (at - LINE).min(y);
                BandLabel {
                    band: BANDS[band],
                    x: self.right + 20.0,
                    y: px(at),
                    leader: Some((self.right, px(y))),
                }
            })
            .collect();
        let over = labels.last().map_or(0.0, |label| (self.plot.y + 6.0 - label.y).max(0.0));
        for label in &mut labels {
            label.y = px(label.y + over);
        }
        labels
    }
}

fn forth(path: &mut String, points: &[(f64, f64)], right: f64) {
    for (i, (x, y)) in points.iter().enumerate() {
        match i {
            0 => write!(path, "M{x} {y}"),
            _ => write!(path, "H{x}V{y}"),
        }
        .expect("a string can be written");
    }
    if !points.is_empty() {
        write!(path, "H{}", px(right)).expect("a string can be written");
    }
}

/// Between an upper and a lower line of steps.
fn closed(upper: &[(f64, f64)], lower: &[(f64, f64)], right: f64) -> String {
    let mut path = String::new();
    forth(&mut path, upper, right);
    for (x, y) in lower.iter().rev() {
        write!(path, "V{y}H{x}").expect("a string can be written");
    }
    path.push('Z');
    path
}

/// A part of the counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Which.
    pub band: Band,
    /// How much.
    pub bytes: Bytes,
    /// Where.
    pub rect: Rect,
}

/// The counter: memory at one instant as one long bar against the capacity.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// Width of the picture.
    pub width: f64,
    /// Height of the picture.
    pub height: f64,
    /// The empty counter: the capacity.
    pub frame: Rect,
    /// From left to right, the ones with bytes only.
    pub parts: Vec<Part>,
    /// What hangs over the edge.
    pub overflow: Option<Rect>,
    /// Where the peak reaches.
    pub peak: f64,
    /// All bytes.
    pub total: Bytes,
}

/// The counter at an instant.
#[must_use]
pub fn bar(outcome: &Outcome, at: Nanos, width: f64) -> Counter {
    let width = if width.is_finite() { width.max(160.0) } else { 160.0 };
    let row = row_at(outcome, at);
    let (memory, peak) = (outcome.memory.as_f64(), outcome.peak.row.total().as_f64());
    let (top, h) = (6.0, 44.0);
    let scale = Scale::new((0.0, memory.max(peak)), (0.5, width - 0.5));
    let x = |bytes: f64| px(scale.held(bytes));
    let rect = |from: f64, to: f64| Rect { x: x(from), y: top, w: px(x(to) - x(from)), h };
    let mut sum = 0.0;
    let parts = BANDS.map(|band| {
        let bytes = band.bytes(&row);
        let from = sum;
        sum += bytes.as_f64();
        Part { band, bytes, rect: rect(from, sum) }
    });
    Counter {
        width,
        height: top + h + 6.0,
        frame: rect(0.0, memory),
        parts: parts.into_iter().filter(|part| part.bytes > Bytes::ZERO).collect(),
        overflow: (sum > memory).then(|| rect(memory, sum)),
        peak: x(peak),
        total: row.total(),
    }
}

/// At most `most` steps of the ledger for a table: the first, the last, and those of the largest totals between.
#[must_use]
pub fn table(outcome: &Outcome, most: usize) -> Vec<Step> {
    let steps = &outcome.ledger;
    if steps.len() <= most {
        return steps.clone();
    }
    let stride = float(steps.len()) / float(most.max(1));
    (0..most)
        .filter_map(|i| {
            let from = index(float(i) * stride);
            let to = index(float(i + 1) * stride).min(steps.len());
            steps[from..to].iter().max_by_key(|step| step.row.total()).copied()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::evaluate::evaluate_text;

    fn names() -> [String; 7] {
        BANDS.map(|band| band.class().to_owned())
    }

    fn picture(text: &str, width: f64, focus: bool) -> (Outcome, Ledger) {
        let (_, _, outcome) = evaluate_text(text).expect("a sound request");
        let window = Window::whole(&outcome);
        let ledger = Ledger::of(&outcome, &[], View { width, window, focus }, &names());
        (outcome, ledger)
    }

    const MANY: &str = r#"{"v":1,"workload":{"preset":"llama-3-70b"},"hardware":{"preset":"h100-80g"},
        "training":{"lora_rank":16},"policy":{"kind":"offload","granularity":"tensor"}}"#;
    const KEEP: &str = r#"{"v":1,"workload":{"preset":"llama-2-7b"},"training":{"lora_rank":16}}"#;

    #[test]
    fn columns_keep_their_maximum() {
        let (_, _, outcome) = evaluate_text(MANY).expect("a sound request");
        let axis = TimeAxis::new(343.0, Window::whole(&outcome));
        let columns = columns(&outcome.ledger, &axis);
        let summit = columns.iter().map(|column| column.tops[6]).fold(0.0, f64::max);
        assert_eq!(Bytes::from_f64(summit), outcome.peak.row.total());
        assert!(columns.len() <= 2 * 343);
        assert!(columns.windows(2).all(|pair| pair[0].x <= pair[1].x));
    }

    #[test]
    fn overflow_only_above_capacity() {
        let (outcome, ledger) = picture(MANY, 900.0, false);
        assert_eq!(ledger.overflow.is_empty(), outcome.peak.row.total() <= outcome.memory);
        let (outcome, ledger) = picture(KEEP, 900.0, false);
        assert_eq!(ledger.overflow.is_empty(), outcome.peak.row.total() <= outcome.memory);
    }

    #[test]
    fn focus_says_what_it_leaves_out() {
        let (outcome, ledger) = picture(KEEP, 900.0, true);
        assert_eq!(ledger.below.map(|below| below.bytes), Some(outcome.standing.total()));
        assert!(picture(KEEP, 900.0, false).1.below.is_none());
    }

    #[test]
    fn the_counter_adds_up() {
        let (outcome, _) = picture(KEEP, 900.0, false);
        let counter = bar(&outcome, outcome.peak.at, 900.0);
        assert_eq!(counter.total, outcome.peak.row.total());
        assert_eq!(counter.parts.iter().map(|part| part.bytes).sum::<Bytes>(), counter.total);
        assert_eq!(row_at(&outcome, Nanos::ZERO), outcome.ledger[0].row);
    }

    #[test]
    fn tables_are_capped_and_keep_the_peak() {
        let (_, _, outcome) = evaluate_text(MANY).expect("a sound request");
        let rows = table(&outcome, 40);
        assert!(rows.len() <= 40);
        let most = rows.iter().map(|step| step.row.total()).max();
        assert_eq!(most, Some(outcome.peak.row.total()));
    }
}
