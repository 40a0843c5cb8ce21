//! Offloading beside recomputing, layer by layer. Principal type [`Ratio`]. Its law: at most [`MOST_COLUMNS`] columns; more
//! layers than that share columns with their neighbours, and a column says how many it stands for.

use super::scale::{self, Scale};
use super::{Fate, Rect, Tick, float, index, px};
use crate::engine::chain::{Chain, LayerKind};
use crate::engine::outcome::Outcome;
use crate::engine::sort;
use std::fmt::Write;
use std::ops::Range;

/// Columns beyond this many are shared.
pub const MOST_COLUMNS: usize = 100;
/// The narrowest column in which two bars can be told apart.
const LEAST: f64 = 7.0;
const NARROW: f64 = 600.0;

/// One layer, or several neighbours of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Which layers.
    pub layers: Range<usize>,
    /// Left edge.
    pub x: f64,
    /// Width.
    pub w: f64,
    /// Mean cost of offloading, seconds, exposed part included.
    pub offload: f64,
    /// Of that, what the window does not hide.
    pub exposed: f64,
    /// Mean cost of recomputing, seconds.
    pub recompute: f64,
    /// Mean benefit ratio.
    pub benefit: Option<f64>,
    /// It is higher than the axis shows.
    pub clipped: bool,
}

/// A run of layers with one fate.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What happens to them.
    pub fate: Fate,
    /// Where.
    pub rect: Rect,
}

/// The picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// Width of the picture.
    pub width: f64,
    /// Height of the picture.
    pub height: f64,
    /// Where the costs are.
    pub costs: Rect,
    /// Where the benefit ratios are.
    pub benefits: Rect,
    /// Bars are too narrow for patterns: left and right tell them apart.
    pub fine: bool,
    /// Columns from the first layer to the last.
    pub columns: Vec<Column>,
    /// Copies, one path.
    pub offload: String,
    /// The exposed part of copies, one path.
    pub exposed: String,
    /// Recomputation, one path.
    pub recompute: String,
    /// Small triangles over columns that are higher than the axis shows.
    pub clipped: String,
    /// What was decided.
    pub fates: Vec<Run>,
    /// Benefit ratios at or above the threshold: dots.
    pub worthwhile: String,
    /// Benefit ratios below it: rings.
    pub poor: String,
    /// The threshold.
    pub threshold: f64,
    /// Of the costs.
    pub cost_ticks: Vec<Tick>,
    /// Of the ratios.
    pub benefit_ticks: Vec<Tick>,
    /// Of the layers: their numbers from 1.
    pub layer_ticks: Vec<Tick>,
}

impl Ratio {
    /// Places the layers.
    #[must_use]
    pub fn of(outcome: &Outcome, chain: &Chain, threshold: f64, width: f64) -> Self {
        let width = if width.is_finite() { width.max(160.0) } else { 160.0 };
        let (left, right) = if width < NARROW { (46.0, 8.0) } else { (64.0, 16.0) };
        let costs = Rect { x: left, y: 24.0, w: width - left - right, h: 130.0 };
        let strip = Rect { y: costs.bottom() + 6.0, h: 14.0, ..costs };
        let benefits = Rect { y: strip.bottom() + 46.0, h: 64.0, ..costs };
        let columns = columns(outcome, chain, &costs);
        let cost = Scale::new((0.0, highest_cost(&columns)), (costs.bottom(), costs.y));
        let most = highest_benefit(&columns, threshold);
        let benefit = Scale::new((0.0, most), (benefits.bottom(), benefits.y));
        let columns = marked(columns, cost.domain().1);
        let dots = |good: bool| dots(&columns, &benefit, threshold, good);
        Self {
            width,
            height: benefits.bottom() + 24.0,
            offload: bars(&columns, &cost, 0, |column| (0.0, column.offload - column.exposed)),
            exposed: bars(&columns, &cost, 0, |column| {
                (column.offload - column.exposed, column.offload)
            }),
            recompute: bars(&columns, &cost, 1, |column| (0.0, column.recompute)),
            clipped: arrows(&columns, costs.y),
            fates: fates(outcome, &columns, &strip),
            worthwhile: dots(true),
            poor: dots(false),
            threshold: px(benefit.held(threshold)),
            cost_ticks: ticks(&cost, 3, scale::time_texts),
            benefit_ticks: ticks(&benefit, 2, plain_texts),
            layer_ticks: layer_ticks(&columns),
            fine: columns.first().is_some_and(|column| column.w < 12.0),
            columns,
            costs,
            benefits,
        }
    }

    /// The column of a layer.
    #[must_use]
    pub fn column_of(&self, layer: usize) -> Option<usize> {
        self.columns.iter().position(|column| column.layers.contains(&layer))
    }

    /// The layer at a pixel: the first of its column.
    #[must_use]
    pub fn layer_at(&self, x: f64) -> Option<usize> {
        self.columns
            .iter()
            .find(|column| (column.x..=column.x + column.w).contains(&x))
            .map(|column| column.layers.start)
    }
}

/// What happened to a layer.
#[must_use]
pub fn fate(outcome: &Outcome, layer: usize) -> Fate {
    match outcome.layer_action(layer) {
        Some(action) => Fate::All(action),
        None if outcome.layers[layer].actions.is_empty() => Fate::Nothing,
        None => Fate::Mixed,
    }
}

/// Neighbours of one kind share columns when there are too many.
fn groups(chain: &Chain, most: usize) -> Vec<Range<usize>> {
    let layers = chain.layers.len();
    let size = layers.div_ceil(most.max(1)).max(1);
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut kind: Option<LayerKind> = None;
    for (i, layer) in chain.layers.iter().enumerate() {
        match out.last_mut() {
            Some(last) if last.len() < size && kind == Some(layer.kind) => last.end = i + 1,
            _ => out.push(i..i + 1),
        }
        kind = Some(layer.kind);
    }
    out
}

fn columns(outcome: &Outcome, chain: &Chain, plot: &Rect) -> Vec<Column> {
    let most = index(plot.w / LEAST).clamp(8, MOST_COLUMNS) - 4;
    let groups = groups(chain, most);
    let pitch = (plot.w / float(groups.len().max(1))).min(40.0);
    groups
        .into_iter()
        .enumerate()
        .map(|(i, layers)| {
            let own = &outcome.layers[layers.clone()];
            let count = float(own.len());
            let mean = |of: &dyn Fn(usize) -> f64| (0..own.len()).map(of).sum::<f64>() / count;
            let ratios: Vec<f64> = own.iter().filter_map(|layer| layer.benefit_ratio).collect();
            Column {
                layers,
                x: px(plot.x + pitch * float(i)),
                w: px(pitch),
                offload: mean(&|k| own[k].choice.offload_cost().secs()),
                exposed: mean(&|k| {
                    own[k].choice.offload_cost().saturating_sub(own[k].choice.round_trip).secs()
                }),
                recompute: mean(&|k| own[k].choice.recompute.secs()),
                benefit: (!ratios.is_empty())
                    .then(|| ratios.iter().sum::<f64>() / float(ratios.len())),
                clipped: false,
            }
        })
        .collect()
}

/// The axis shows nine tenths of the columns whole: one head with huge logits must not flatten every block.
fn highest_cost(columns: &[Column]) -> f64 {
    let all = columns.iter().map(|column| column.offload.max(column.recompute));
    1.1 * most_of(&all.collect::<Vec<_>>())
}

fn highest_benefit(columns: &[Column], threshold: f64) -> f64 {
    let all = columns.iter().filter_map(|column| column.benefit);
    1.15 * most_of(&all.collect::<Vec<_>>()).max(1.2 * threshold)
}

/// The largest value, or three times the value at nine tenths if that is less.
fn most_of(values: &[f64]) -> f64 {
    let order = sort::order(values.len(), |i| (sort::float(values[i]), 0, 0));
    let values: Vec<f64> = order.into_iter().map(|i| values[i]).collect();
    let Some(&largest) = values.last() else {
        return 0.0;
    };
    let usual = values[(values.len() * 9 / 10).min(values.len() - 1).saturating_sub(1)];
    if usual > 0.0 { largest.min(1.6 * usual) } else { largest }
}

fn marked(columns: Vec<Column>, most: f64) -> Vec<Column> {
    let mark =
        |column: Column| Column { clipped: column.offload.max(column.recompute) > most, ..column };
    columns.into_iter().map(mark).collect()
}

/// Bars at the left (0) or right (1) half of each column.
fn bars(
    columns: &[Column],
    scale: &Scale,
    half: usize,
    of: impl Fn(&Column) -> (f64, f64),
) -> String {
    let mut path = String::new();
    for column in columns {
        let (from, to) = of(column);
        let gap = if column.w > 12.0 { 0.14 * column.w } else { 0.5 };
        let w = px((column.w - 2.0 * gap) / 2.0 - 0.5);
        let x = px(column.x + gap + float(half) * (w + 1.0));
        let (bottom, top) = (px(scale.held(from)), px(scale.held(to)));
        if to > from && bottom > top {
            write!(path, "M{x} {bottom}V{top}h{w}V{bottom}z").expect("a string can be written");
        }
    }
    path
}

fn arrows(columns: &[Column], top: f64) -> String {
    let mut path = String::new();
    for column in columns.iter().filter(|column| column.clipped) {
        let x = px(column.x + column.w / 2.0);
        write!(path, "M{x} {}l4 5h-8z", px(top - 7.0)).expect("a string can be written");
    }
    path
}

fn fates(outcome: &Outcome, columns: &[Column], strip: &Rect) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in columns {
        let first = fate(outcome, column.layers.start);
        let same = column.layers.clone().all(|layer| fate(outcome, layer) == first);
        let fate = if same { first } else { Fate::Mixed };
        match runs.last_mut() {
            Some(run) if run.fate == fate => run.rect.w = px(column.x + column.w - run.rect.x),
            _ => runs.push(Run { fate, rect: Rect { x: column.x, w: column.w, ..*strip } }),
        }
    }
    runs
}

fn dots(columns: &[Column], scale: &Scale, threshold: f64, good: bool) -> String {
    let mut path = String::new();
    for column in columns {
        if let Some(benefit) = column.benefit.filter(|&benefit| (benefit >= threshold) == good) {
            let (x, y) = (px(column.x + column.w / 2.0), px(scale.held(benefit)));
            write!(path, "M{x} {y}h0").expect("a string can be written");
        }
    }
    path
}

fn ticks(scale: &Scale, count: usize, texts: fn(&[f64]) -> Vec<String>) -> Vec<Tick> {
    let values = scale::nice(scale.domain(), count);
    let texts = texts(&values);
    let ticks = values.into_iter().zip(texts);
    ticks.map(|(value, text)| Tick { at: px(scale.x_from_value(value)), text }).collect()
}

fn plain_texts(values: &[f64]) -> Vec<String> {
    values.iter().map(|value| super::format::plain(*value, 2)).collect()
}

/// Every so many columns, the number of the first layer, as people count.
fn layer_ticks(columns: &[Column]) -> Vec<Tick> {
    let Some(first) = columns.first() else {
        return Vec::new();
    };
    let every = index((34.0 / first.w.max(0.1)).ceil()).max(1);
    columns
        .iter()
        .step_by(every)
        .map(|column| Tick {
            at: px(column.x + column.w / 2.0),
            text: (column.layers.start + 1).to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::evaluate::evaluate_text;

    fn picture(text: &str, width: f64) -> Ratio {
        let (scenario, _, outcome) = evaluate_text(text).expect("a sound request");
        Ratio::of(&outcome, &scenario.chain, scenario.policy.threshold, width)
    }

    #[test]
    fn many_layers_share_columns() {
        for layers in [1, 2, 24, 128, 1000] {
            let text = format!(r#"{{"v":1,"workload":{{"kind":"lesson","layers":{layers}}}}}"#);
            for width in [343.0, 900.0, 1500.0] {
                let ratio = picture(&text, width);
                assert!(ratio.columns.len() <= MOST_COLUMNS, "{layers} {width}");
                assert_eq!(
                    ratio.columns.iter().map(|column| column.layers.len()).sum::<usize>(),
                    layers
                );
                let last = ratio.columns.last().expect("a column");
                assert!(last.x + last.w <= width);
                for layer in 0..layers {
                    let column = ratio.column_of(layer).expect("every layer has one");
                    assert!(ratio.columns[column].layers.contains(&layer));
                }
            }
        }
    }

    #[test]
    fn a_pixel_finds_its_layer() {
        let ratio = picture(r#"{"v":1,"workload":{"kind":"lesson","layers":24}}"#, 900.0);
        for column in &ratio.columns {
            assert_eq!(ratio.layer_at(column.x + column.w / 2.0), Some(column.layers.start));
        }
        assert_eq!(ratio.layer_at(-5.0), None);
    }

    #[test]
    fn one_huge_layer_does_not_flatten_the_rest() {
        assert!((most_of(&[1.0; 10]) - 1.0).abs() < 1e-9);
        let mut values = vec![1.0; 20];
        values.push(100.0);
        assert!(most_of(&values) < 4.0);
        assert!(most_of(&[]).abs() < 1e-9);
    }
}
