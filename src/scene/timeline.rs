//! What ran when, as rows of bars. Principal type [`Timeline`]. Its laws: at most [`MOST_BARS`] bars at any scale (runs too
//! short to see are drawn as one, shares of time kept), and no stall is ever merged away: all stalls of a kind are one
//! path on top, each at least [`LEAST_STALL`] px wide. It knows spans, not why they are there.

use super::time::{TimeAxis, Window};
use super::{Tick, px, text_width};
use crate::engine::chain::Chain;
use crate::engine::outcome::Outcome;
use crate::engine::trace::{Span, SpanKind, Track};
use crate::engine::units::Nanos;
use std::fmt::Write;

/// Bars beyond this many are merged.
pub const MOST_BARS: usize = 280;
/// Width of the shortest stall.
pub const LEAST_STALL: f64 = 1.5;
/// Size of labels.
const TEXT: f64 = 11.0;

/// A row: one track.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which.
    pub track: Track,
    /// Upper edge.
    pub y: f64,
    /// Height.
    pub h: f64,
    /// Time it is busy in the window, stalls not counted.
    pub busy: Nanos,
    /// Of the window.
    pub share: f64,
}

/// One span, or several that are too short to see.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its colour and pattern.
    pub kind: SpanKind,
    /// Which track.
    pub track: Track,
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
    /// The layer's name, where it fits.
    pub label: Option<String>,
}

/// All stalls of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Stalls {
    /// Waiting for room or for a copy.
    pub kind: SpanKind,
    /// Rectangles.
    pub path: String,
    /// How many there are in the window.
    pub count: usize,
    /// How long they take there.
    pub time: Nanos,
}

/// The picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The axis it shares with the ledger.
    pub axis: TimeAxis,
    /// Height of the picture.
    pub height: f64,
    /// Where rows end and the numbers of the axis begin.
    pub bottom: f64,
    /// The tracks in use.
    pub rows: Vec<Row>,
    /// Bars, in drawing order.
    pub bars: Vec<Bar>,
    /// Stalls, drawn on top.
    pub stalls: Vec<Stalls>,
    /// Of the time axis.
    pub ticks: Vec<Tick>,
}

/// The name of a span's colour and pattern.
#[must_use]
pub const fn class(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Forward => "forward",
        SpanKind::Recompute => "recompute",
        SpanKind::Backward => "backward",
        SpanKind::Optimizer => "optimizer",
        SpanKind::StallRoom => "stall-room",
        SpanKind::StallCopy => "stall-copy",
        SpanKind::Offload => "offload",
        SpanKind::Prefetch => "prefetch",
        SpanKind::SsdWrite => "ssd-write",
        SpanKind::SsdRead => "ssd-read",
    }
}

/// Whether compute waits.
#[must_use]
pub const fn is_stall(kind: SpanKind) -> bool {
    matches!(kind, SpanKind::StallRoom | SpanKind::StallCopy)
}

impl Timeline {
    /// Places the spans of `window` on `width` pixels.
    #[must_use]
    pub fn of(outcome: &Outcome, chain: &Chain, width: f64, window: Window) -> Self {
        let axis = TimeAxis::new(width, window);
        let shown: Vec<&Span> = outcome
            .spans
            .iter()
            .filter(|span| span.start < window.end && span.end > window.start)
            .collect();
        let rows = rows(&shown, outcome, &axis);
        let bottom = rows.last().map_or(8.0, |row| row.y + row.h) + 6.0;
        Self {
            height: bottom + 20.0,
            bottom,
            bars: bars(&shown, chain, &rows, &axis),
            stalls: stalls(&shown, &rows, &axis),
            ticks: axis.ticks(),
            rows,
            axis,
        }
    }

    /// The bars of each kind as one path: a hundred rectangles cost a drag several times what one path does.
    #[must_use]
    pub fn paths(&self) -> Vec<(SpanKind, String)> {
        let mut paths: Vec<(SpanKind, String)> = Vec::new();
        for Bar { kind, x, y, w, h, .. } in &self.bars {
            let at = paths.iter().position(|(one, _)| one == kind).unwrap_or_else(|| {
                paths.push((*kind, String::new()));
                paths.len() - 1
            });
            write!(paths[at].1, "M{x} {y}h{w}v{h}h-{w}z").expect("a string can be written");
        }
        paths
    }

    /// The span nearest to a pixel: in its row, at that instant, or within 3 px; stalls first.
    #[must_use]
    pub fn hit(&self, outcome: &Outcome, x: f64, y: f64) -> Option<usize> {
        let row = self.rows.iter().find(|row| (row.y - 3.0..=row.y + row.h + 3.0).contains(&y))?;
        let distance = |span: &Span| {
            let (from, to) = (self.axis.x_from_time(span.start), self.axis.x_from_time(span.end));
            (from - x).max(x - to).max(0.0)
        };
        let shown = |span: &Span| {
            span.track == row.track
                && span.start < self.axis.window.end
                && span.end > self.axis.window.start
        };
        (0..outcome.spans.len())
            .filter(|&i| shown(&outcome.spans[i]) && distance(&outcome.spans[i]) <= 3.0)
            .min_by(|&a, &b| {
                let rank = |i: usize| {
                    let span = &outcome.spans[i];
                    let near = distance(span);
                    if is_stall(span.kind) && near <= LEAST_STALL { -1.0 } else { near }
                };
                rank(a).total_cmp(&rank(b))
            })
    }
}

fn rows(shown: &[&Span], outcome: &Outcome, axis: &TimeAxis) -> Vec<Row> {
    let uses_ssd = outcome.spans.iter().any(|span| span.track == Track::Ssd);
    let tracks =
        [(Track::Compute, 30.0), (Track::D2h, 18.0), (Track::H2d, 18.0), (Track::Ssd, 18.0)];
    let mut y = 14.0;
    tracks
        .into_iter()
        .filter(|(track, _)| *track != Track::Ssd || uses_ssd)
        .map(|(track, h)| {
            let busy = shown
                .iter()
                .filter(|span| span.track == track && !is_stall(span.kind))
                .map(|span| clipped(span, axis.window))
                .sum::<Nanos>();
            let row = Row {
                track,
                y,
                h,
                busy,
                share: busy.secs() / axis.window.length().secs().max(1e-12),
            };
            y += h + 6.0;
            row
        })
        .collect()
}

fn clipped(span: &Span, window: Window) -> Nanos {
    let end = span.end.min(window.end);
    end.saturating_sub(span.start.max(window.start))
}

/// A stretch of a row under construction.
struct Piece<'a> {
    first: &'a Span,
    kind: SpanKind,
    from: f64,
    to: f64,
    count: usize,
}

/// The track that shows most is coarsened first, until all fit; compute is worth three of the others.
fn bars(shown: &[&Span], chain: &Chain, rows: &[Row], axis: &TimeAxis) -> Vec<Bar> {
    let worth = |row: &Row| if row.track == Track::Compute { 3 } else { 1 };
    let mut least = vec![1.5; rows.len()];
    let at = |i: usize, least: f64| pieces(shown, rows[i].track, axis, least);
    let mut placed: Vec<Vec<Piece>> = (0..rows.len()).map(|i| at(i, least[i])).collect();
    while placed.iter().map(Vec::len).sum::<usize>() > MOST_BARS {
        let fullest = (0..rows.len()).max_by_key(|&i| placed[i].len() / worth(&rows[i]));
        let Some(i) = fullest else {
            break;
        };
        least[i] *= 1.5;
        placed[i] = at(i, least[i]);
    }
    let with_rows = rows.iter().zip(placed);
    let all = with_rows.flat_map(|(row, own)| own.into_iter().map(move |piece| (row, piece)));
    evened(named(all.collect(), chain))
}

/// Spans at least `least` wide by themselves; the shorter ones between them gathered until they are that wide, each
/// kind in proportion to its time.
fn pieces<'a>(shown: &[&'a Span], track: Track, axis: &TimeAxis, least: f64) -> Vec<Piece<'a>> {
    let mut out: Vec<Piece> = Vec::new();
    let mut crumbs: Vec<Piece> = Vec::new();
    for span in shown.iter().filter(|span| span.track == track && !is_stall(span.kind)) {
        let (from, to) = (axis.x_from_time(span.start), axis.x_from_time(span.end));
        let piece = Piece { first: span, kind: span.kind, from, to, count: 1 };
        let apart = crumbs.last().is_some_and(|last: &Piece| from - last.to > least);
        let wide = crumbs.first().is_some_and(|first| from - first.from >= least);
        if apart || wide || to - from >= least {
            flush(&mut crumbs, &mut out);
        }
        if to - from >= least {
            out.push(piece);
        } else {
            crumbs.push(piece);
        }
    }
    flush(&mut crumbs, &mut out);
    out
}

fn flush<'a>(crumbs: &mut Vec<Piece<'a>>, out: &mut Vec<Piece<'a>>) {
    let (Some(first), Some(last)) = (crumbs.first(), crumbs.last()) else {
        return;
    };
    let (mut at, end) = (first.from, last.to);
    let busy: f64 = crumbs.iter().map(|crumb| crumb.to - crumb.from).sum();
    let mut kinds: Vec<SpanKind> = Vec::new();
    for crumb in crumbs.iter() {
        if !kinds.contains(&crumb.kind) {
            kinds.push(crumb.kind);
        }
    }
    for kind in kinds {
        let of_kind = || crumbs.iter().filter(|crumb| crumb.kind == kind);
        let own: f64 = of_kind().map(|crumb| crumb.to - crumb.from).sum();
        let to = at + (end - at).min((end - first.from) * own / busy.max(1e-9));
        let head = of_kind().next().map_or(first.first, |crumb| crumb.first);
        match out.last_mut() {
            // A run of one kind goes on, so that alternating crumbs alone make more marks.
            Some(previous)
                if previous.count > 1 && previous.kind == kind && at - previous.to < 0.5 =>
            {
                previous.to = to;
                previous.count += of_kind().count();
            }
            _ => {
                out.push(Piece {
                    first: head,
                    kind,
                    from: at,
                    to,
                    count: of_kind().count().max(2),
                });
            }
        }
        at = to;
    }
    crumbs.clear();
}

fn named(placed: Vec<(&Row, Piece)>, chain: &Chain) -> Vec<Bar> {
    let bar = |(row, piece): (&Row, Piece)| {
        let (x, w) = (px(piece.from), px((piece.to - piece.from).max(0.5)));
        Bar {
            label: label(piece.first, chain, w, row.h).filter(|_| piece.count == 1),
            kind: piece.kind,
            track: row.track,
            x,
            y: row.y,
            w,
            h: row.h,
        }
    };
    placed.into_iter().map(bar).collect()
}

/// The number of the layer where it has one, else its name; nothing where it does not fit.
fn label(span: &Span, chain: &Chain, width: f64, height: f64) -> Option<String> {
    if span.kind == SpanKind::Optimizer || height < TEXT + 4.0 {
        return None;
    }
    let name = &chain.layers.get(span.layer)?.name;
    let number = name.rsplit(' ').next().filter(|end| end.parse::<u32>().is_ok());
    let text = number.unwrap_or(name);
    (text_width(text, TEXT) + 6.0 <= width).then(|| text.to_owned())
}

/// All or nothing: numbers that stop where a second digit begins look like a mistake.
fn evened(mut bars: Vec<Bar>) -> Vec<Bar> {
    let count = |kind, labelled| {
        let of_kind = bars.iter().filter(|bar| bar.kind == kind && bar.label.is_some() >= labelled);
        of_kind.count()
    };
    let mut sparse: Vec<SpanKind> = Vec::new();
    for bar in bars.iter().filter(|bar| bar.label.is_some()) {
        if !sparse.contains(&bar.kind) && 10 * count(bar.kind, true) < 8 * count(bar.kind, false) {
            sparse.push(bar.kind);
        }
    }
    for bar in &mut bars {
        if sparse.contains(&bar.kind) {
            bar.label = None;
        }
    }
    bars
}

fn stalls(shown: &[&Span], rows: &[Row], axis: &TimeAxis) -> Vec<Stalls> {
    let Some(row) = rows.iter().find(|row| row.track == Track::Compute) else {
        return Vec::new();
    };
    [SpanKind::StallRoom, SpanKind::StallCopy]
        .into_iter()
        .filter_map(|kind| {
            let of_kind: Vec<&&Span> = shown.iter().filter(|span| span.kind == kind).collect();
            let time = of_kind.iter().map(|span| clipped(span, axis.window)).sum();
            let boxes = of_kind.iter().map(|span| {
                let from = axis.x_from_time(span.start);
                let width = (axis.x_from_time(span.end) - from).max(LEAST_STALL);
                (from.min(axis.right - width), width)
            });
            let path = boxes_path(boxes, row);
            (!of_kind.is_empty()).then_some(Stalls { kind, path, count: of_kind.len(), time })
        })
        .collect()
}

/// Rectangles as one path; those that touch become one.
fn boxes_path(boxes: impl Iterator<Item = (f64, f64)>, row: &Row) -> String {
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (from, width) in boxes {
        match merged.last_mut() {
            Some(last) if from - (last.0 + last.1) < 0.3 => {
                last.1 = (from + width - last.0).max(last.1);
            }
            _ => merged.push((from, width)),
        }
    }
    let mut path = String::new();
    for (from, width) in merged {
        let (x, w) = (px(from), px(width));
        write!(path, "M{x} {}h{w}v{}h-{w}z", row.y, row.h).expect("a string can be written");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::evaluate::evaluate_text;

    const MANY: &str = r#"{"v":1,"detail":true,"workload":{"kind":"transformer","preset":"llama-3-70b"},
        "hardware":{"preset":"h100-80g"},"training":{"lora_rank":16},
        "policy":{"kind":"offload","granularity":"tensor"}}"#;
    const LESSON: &str = r#"{"v":1,"workload":{"kind":"lesson"},"policy":{"kind":"offload"}}"#;

    #[test]
    fn never_more_bars_than_can_be_diffed() {
        for text in [MANY, LESSON] {
            let (scenario, _, outcome) = evaluate_text(text).expect("a sound request");
            for width in [160.0, 343.0, 900.0, 2400.0] {
                let whole = Window::whole(&outcome);
                for window in [whole, whole.zoomed(Nanos(0), 40.0, whole)] {
                    let timeline = Timeline::of(&outcome, &scenario.chain, width, window);
                    assert!(timeline.bars.len() <= MOST_BARS);
                    for bar in &timeline.bars {
                        assert!(bar.x >= timeline.axis.left - 0.1);
                        assert!(bar.x + bar.w <= timeline.axis.right + 0.7);
                    }
                }
            }
        }
    }

    #[test]
    fn stalls_are_counted_whole() {
        let (scenario, _, outcome) = evaluate_text(MANY).expect("a sound request");
        let timeline = Timeline::of(&outcome, &scenario.chain, 343.0, Window::whole(&outcome));
        let time: Nanos = timeline.stalls.iter().map(|stall| stall.time).sum();
        assert_eq!(time, outcome.times.stall);
    }

    #[test]
    fn a_bar_is_where_its_span_is() {
        let (scenario, _, outcome) = evaluate_text(LESSON).expect("a sound request");
        let timeline = Timeline::of(&outcome, &scenario.chain, 900.0, Window::whole(&outcome));
        let bar = &timeline.bars[3];
        let hit = timeline.hit(&outcome, bar.x + bar.w / 2.0, bar.y + 2.0).expect("a span");
        assert_eq!(outcome.spans[hit].kind, bar.kind);
        assert!(timeline.hit(&outcome, bar.x, 999.0).is_none());
    }
}
