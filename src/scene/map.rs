//! The map of winning plans: link rate across by powers of ten, memory limit up. Principal type [`Map`]; its law: every cell is in exactly
//! one area, and a pixel inside the plot finds the cell that is drawn there.

use super::scale::{self, Scale};
use super::{Rect, Tick, float, index, px, text_width};
use crate::engine::search::map::{COLUMNS, Cell, Known, ROWS, Strategy};
use crate::engine::units::Bytes;
use std::fmt::Write;

/// Steps at most this much longer than keeping everything are inside the line.
pub const NEARLY_FREE: f64 = 0.1;
/// Height of letters in areas.
const LETTERS: f64 = 12.0;

/// Cells with one kind of winner.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// The kind; none where nothing runs.
    pub strategy: Option<Strategy>,
    /// All its cells, as one path.
    pub path: String,
    /// Where its name goes: the middle and the width of its largest rectangle.
    pub name: (f64, f64, f64),
}

impl Area {
    /// The name of its colour and pattern.
    #[must_use]
    pub const fn class(&self) -> &'static str {
        class(self.strategy)
    }

    /// Whether its name has room inside.
    #[must_use]
    pub fn has_room(&self, name: &str) -> bool {
        text_width(name, LETTERS) + 8.0 < self.name.2
    }
}

/// The name of a kind's colour and pattern.
#[must_use]
pub const fn class(strategy: Option<Strategy>) -> &'static str {
    match strategy {
        Some(Strategy::Keep) => "keep",
        Some(Strategy::Recompute) => "recompute",
        Some(Strategy::Offload) => "offload",
        Some(Strategy::Mixture) => "mixed",
        None => "infeasible",
    }
}

/// Where the scenario is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Pixels across.
    pub x: f64,
    /// Pixels down.
    pub y: f64,
    /// It is beyond the axes, and this is the nearest point on them.
    pub outside: bool,
}

/// The map, placed.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// Width of the picture.
    pub width: f64,
    /// Height of the picture.
    pub height: f64,
    /// Where the cells are.
    pub plot: Rect,
    /// Kinds of winner, in the order of [`Strategy::ALL`], what does not fit last.
    pub areas: Vec<Area>,
    /// Around steps that are nearly as short as keeping everything.
    pub nearly_free: String,
    /// Link rates.
    pub across: Vec<Tick>,
    /// Memory limits.
    pub up: Vec<Tick>,
    /// The scenario.
    pub mark: Mark,
    cell: (f64, f64),
}

impl Map {
    /// Places what is `known`, with the scenario at a rate out (GB/s) and a memory limit.
    #[must_use]
    pub fn of(known: &Known, here: (f64, Bytes), width: f64) -> Self {
        let width = if width.is_finite() { width.clamp(220.0, 760.0) } else { 220.0 };
        let left = 58.0;
        // Whole pixels, or the areas would show their seams.
        let across = ((width - left - 12.0) / float(COLUMNS)).floor();
        let down = (across * 0.8).round().clamp(15.0, 20.0);
        let plot = Rect { x: left, y: 22.0, w: across * float(COLUMNS), h: down * float(ROWS) };
        let cell = (across, down);
        let mut map = Self {
            width,
            height: plot.bottom() + 40.0,
            plot,
            areas: Vec::new(),
            nearly_free: String::new(),
            across: rates(known, plot),
            up: limits(known, plot),
            mark: mark(known, here, plot),
            cell,
        };
        let kinds = Strategy::ALL.iter().map(|&strategy| Some(strategy)).chain([None]);
        map.areas = kinds.filter_map(|strategy| map.area(known, strategy)).collect();
        map.nearly_free = map.border(|column, row| {
            known
                .cell(column, row)
                .and_then(Cell::overhead)
                .is_some_and(|overhead| overhead <= NEARLY_FREE)
        });
        map
    }

    /// The place of a cell.
    #[must_use]
    pub fn rect(&self, column: usize, row: usize) -> Rect {
        let (w, h) = self.cell;
        let x = self.plot.x + w * float(column);
        Rect { x, y: self.plot.bottom() - h * float(row + 1), w, h }
    }

    /// The column and row at a pixel.
    #[must_use]
    pub fn at(&self, x: f64, y: f64) -> Option<(usize, usize)> {
        if !self.plot.contains(x, y) {
            return None;
        }
        let column = index((x - self.plot.x) / self.cell.0).min(COLUMNS - 1);
        let row = index((self.plot.bottom() - y) / self.cell.1).min(ROWS - 1);
        Some((column, row))
    }

    fn area(&self, known: &Known, strategy: Option<Strategy>) -> Option<Area> {
        let inside =
            |column: usize, row: usize| known.cell(column, row).map(kind) == Some(strategy);
        let mut path = String::new();
        let mut largest = (0, Rect::default());
        // Per column, how many cells from this row down are inside.
        let mut tall = [0; COLUMNS];
        for row in 0..ROWS {
            let mut column = 0;
            while column < COLUMNS {
                let end = (column..COLUMNS).find(|&i| !inside(i, row)).unwrap_or(COLUMNS);
                if end > column {
                    let (from, to) = (self.rect(column, row), self.rect(end - 1, row));
                    write!(path, "M{} {}H{}v{}H{}z", from.x, from.y, to.right(), from.h, from.x)
                        .expect("a string can be written");
                }
                column = end + 1;
            }
            for (column, tall) in tall.iter_mut().enumerate() {
                *tall = if inside(column, row) { *tall + 1 } else { 0 };
            }
            for first in 0..COLUMNS {
                let mut least = ROWS;
                for (last, &tall) in tall.iter().enumerate().skip(first) {
                    least = least.min(tall);
                    let cells = least * (last + 1 - first);
                    if cells > largest.0 {
                        let (upper, lower) =
                            (self.rect(first, row), self.rect(last, row + 1 - least));
                        let (w, h) = (lower.right() - upper.x, lower.bottom() - upper.y);
                        largest = (cells, Rect { w, h, ..upper });
                    }
                }
            }
        }
        let (cells, rect) = largest;
        let name = (px(rect.x + rect.w / 2.0), px(rect.y + rect.h / 2.0), rect.w);
        (cells > 0).then_some(Area { strategy, path, name })
    }

    /// The line around cells that are inside.
    fn border(&self, inside: impl Fn(usize, usize) -> bool) -> String {
        let mut path = String::new();
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                let Rect { x, y, w, h } = self.rect(column, row);
                if column + 1 < COLUMNS && inside(column, row) != inside(column + 1, row) {
                    write!(path, "M{} {y}v{h}", x + w).expect("a string can be written");
                }
                if row + 1 < ROWS && inside(column, row) != inside(column, row + 1) {
                    write!(path, "M{x} {y}h{w}").expect("a string can be written");
                }
            }
        }
        path
    }
}

fn kind(cell: &Cell) -> Option<Strategy> {
    cell.winner.as_ref().map(|winner| winner.moved.strategy())
}

fn decades(known: &Known) -> (f64, f64) {
    let first = known.axes.first_gbps.log10();
    (first, first + float(COLUMNS) / 8.0)
}

/// Powers of ten, and where there is room, three times those.
fn rates(known: &Known, plot: Rect) -> Vec<Tick> {
    let (first, last) = decades(known);
    let scale = Scale::new((first, last), (plot.x, plot.right()));
    let between: &[f64] = if plot.w > 350.0 { &[1.0, 3.0] } else { &[1.0] };
    let mut values: Vec<f64> = Vec::new();
    for decade in 0..COLUMNS / 8 {
        let power = 10_f64.powf(first + float(decade));
        values.extend(between.iter().map(|factor| power * factor));
    }
    values.push(10_f64.powf(last));
    let text = |value: f64| super::format::plain(value, 3);
    values
        .into_iter()
        .map(|value| Tick { at: px(scale.x_from_value(value.log10())), text: text(value) })
        .collect()
}

fn bytes_scale(known: &Known, plot: Rect) -> Scale {
    let axes = &known.axes;
    let bytes = |gib: f64| Bytes::from_gib(gib).as_f64();
    let domain = (bytes(axes.first_gib), bytes(axes.first_gib + axes.row_gib * float(ROWS)));
    Scale::new(domain, (plot.bottom(), plot.y))
}

fn limits(known: &Known, plot: Rect) -> Vec<Tick> {
    let scale = bytes_scale(known, plot);
    let values = scale::binary(scale.domain(), 5);
    let texts = scale::byte_texts(&values);
    let ticks = values.into_iter().zip(texts);
    ticks.map(|(value, text)| Tick { at: px(scale.x_from_value(value)), text }).collect()
}

fn mark(known: &Known, (rate, memory): (f64, Bytes), plot: Rect) -> Mark {
    let across = Scale::new(decades(known), (plot.x, plot.right()));
    let up = bytes_scale(known, plot);
    let (x, y) = (across.x_from_value(rate.max(1e-9).log10()), up.x_from_value(memory.as_f64()));
    let held = (x.clamp(plot.x, plot.right()), y.clamp(plot.y, plot.bottom()));
    let outside = (held.0 - x).abs() > 0.5 || (held.1 - y).abs() > 0.5;
    Mark { x: px(held.0), y: px(held.1), outside }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Scenario;
    use crate::engine::search::map;

    fn known(text: &str) -> Known {
        let (scenario, _) = Scenario::parse(text).expect("a sound request");
        map::map(&scenario).known()
    }

    #[test]
    fn every_cell_is_in_one_area_and_found_by_its_pixels() {
        let known = known(r#"{"v":1,"workload":{"kind":"lesson","layers":6}}"#);
        for width in [220.0, 343.0, 560.0, 1500.0, f64::NAN] {
            let map = Map::of(&known, (25.0, Bytes::from_gib(4.0)), width);
            let corners: Vec<usize> =
                map.areas.iter().map(|area| area.path.matches('M').count()).collect();
            assert!(corners.iter().all(|&count| count > 0), "{corners:?}");
            let covered: f64 = map.areas.iter().map(|area| area_of(&area.path)).sum();
            assert!((covered - map.plot.w * map.plot.h).abs() < 1e-6, "{width}: {covered}");
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    let Rect { x, y, w, h } = map.rect(column, row);
                    assert_eq!(map.at(x + w / 2.0, y + h / 2.0), Some((column, row)));
                    assert!(map.plot.contains(x, y) && map.plot.contains(x + w, y + h));
                }
            }
            assert_eq!(map.at(map.plot.x - 1.0, map.plot.y), None);
        }
    }

    /// Of a path of upright rectangles, as they are written.
    fn area_of(path: &str) -> f64 {
        let number = |text: &str| text.parse::<f64>().expect("a number");
        path.split('z')
            .filter(|one| !one.is_empty())
            .map(|one| {
                let parts: Vec<&str> = one.split(['M', ' ', 'H', 'v']).collect();
                (number(parts[3]) - number(parts[1])) * number(parts[4])
            })
            .sum()
    }

    #[test]
    fn what_is_off_the_map_is_marked_at_its_edge() {
        let known = known(r#"{"v":1,"workload":{"kind":"lesson","layers":6}}"#);
        let mark = |rate, gib| Map::of(&known, (rate, Bytes::from_gib(gib)), 500.0).mark;
        assert!(mark(25.0, 1e5).outside && mark(1e6, 8.0).outside);
        let inside = known.axes.memory_gib(7);
        let map = Map::of(&known, (known.axes.link_gbps(9).0, Bytes::from_gib(inside)), 500.0);
        assert!(!map.mark.outside);
        assert_eq!(map.at(map.mark.x, map.mark.y), Some((9, 7)), "a sample is in its own cell");
    }
}
