//! Plans as dots, peak memory across and step time up, both smaller is better. Principal type [`Pareto`]; its laws: a
//! point that is shown can be found again from its pixel, and the domain moves only when it is asked to
//! ([`Domain`] is an argument, so that it can be locked while a reader drags).

use super::scale::{self, Scale};
use super::{Rect, Tick, float, index, px};
use crate::engine::outcome::Summary;
use crate::engine::policy::{Policy, PolicyKind};
use crate::engine::scenario::{Limits, Weights};
use crate::engine::search::front::Front;
use crate::engine::search::knee;
use crate::engine::sort;
use crate::engine::units::{Bytes, Nanos};
use std::collections::HashSet;
use std::fmt::Write;

/// Below this width margins are small.
const NARROW: f64 = 600.0;
/// Side of what a finger can grab.
const TOUCH: f64 = 44.0;

/// What kind of plan a dot is: its colour and its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Everything stays.
    Keep,
    /// Activation checkpointing in any form.
    Recompute,
    /// Offloading in any form.
    Offload,
    /// Both.
    Mix,
    /// By rule, by list.
    Other,
}

/// Every family, in the order of a legend.
pub const FAMILIES: [Family; 5] =
    [Family::Keep, Family::Recompute, Family::Offload, Family::Mix, Family::Other];

impl Family {
    /// The family of a policy.
    #[must_use]
    pub const fn of(policy: &Policy) -> Self {
        match policy.kind {
            PolicyKind::Keep => Self::Keep,
            PolicyKind::Checkpoint
            | PolicyKind::Recompute
            | PolicyKind::Selective
            | PolicyKind::Binomial
            | PolicyKind::Rotor => Self::Recompute,
            PolicyKind::Offload => Self::Offload,
            PolicyKind::Mix | PolicyKind::OffloadBoundaries => Self::Mix,
            PolicyKind::Rule | PolicyKind::Plan | PolicyKind::Best => Self::Other,
        }
    }

    /// The name of its colour.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Recompute => "recompute",
            Self::Offload => "offload",
            Self::Mix => "mixed",
            Self::Other => "other",
        }
    }

    /// Its shape about a point, as a piece of a path.
    #[must_use]
    pub fn shape(self, x: f64, y: f64, r: f64) -> String {
        let polygon = |corners: &[(f64, f64)]| {
            let mut path = String::new();
            for (i, (dx, dy)) in corners.iter().enumerate() {
                let pen = if i == 0 { 'M' } else { 'L' };
                write!(path, "{pen}{} {}", px(x + r * dx), px(y + r * dy))
                    .expect("a string can be written");
            }
            path + "Z"
        };
        match self {
            Self::Keep => {
                let (left, d) = (px(x - r), px(2.0 * r));
                format!("M{left} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z", px(y))
            }
            Self::Recompute => polygon(&[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)]),
            Self::Offload => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Self::Mix => polygon(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
            Self::Other => polygon(&[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)]),
        }
    }
}

/// What the axes show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Peak, bytes.
    pub peak: (f64, f64),
    /// Step, seconds.
    pub step: (f64, f64),
}

impl Domain {
    /// Every point's peak, and the limit if it is near; steps up to half more than the slowest plan that matters
    /// (on the front, the current one, keep-everything's). Slower ones are counted, not shown.
    #[must_use]
    pub fn of(front: &Front, limits: &Limits, current: Option<&Summary>) -> Self {
        let points = front.points.iter().map(|point| &point.summary).chain(current);
        let (mut peaks, mut steps) = (Reach::default(), Reach::default());
        let mut matters = front.plain.step.secs();
        for summary in points {
            peaks.add(summary.peak.as_f64());
            steps.add(summary.step.secs());
        }
        for point in front.points.iter().filter(|point| point.on_front) {
            matters = matters.max(point.summary.step.secs());
        }
        if let Some(current) = current {
            matters = matters.max(current.step.secs());
        }
        let memory = limits.memory.as_f64();
        if memory <= 1.6 * peaks.high {
            peaks.add(memory);
        }
        let least = steps.low.min(matters);
        steps.high = steps.high.min(matters + 0.5 * (matters - least).max(0.05 * matters));
        if let Some(limit) = limits.step.map(Nanos::secs).filter(|&s| s <= 1.6 * steps.high) {
            steps.add(limit);
        }
        Self { peak: peaks.padded(0.06), step: steps.padded(0.08) }
    }
}

/// The least and the most of some values.
struct Reach {
    low: f64,
    high: f64,
}

impl Default for Reach {
    fn default() -> Self {
        Self { low: f64::INFINITY, high: 0.0 }
    }
}

impl Reach {
    fn add(&mut self, value: f64) {
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    fn padded(&self, share: f64) -> (f64, f64) {
        if !self.low.is_finite() {
            return (0.0, 1.0);
        }
        let pad = share * (self.high - self.low).max(0.04 * self.high);
        ((self.low - pad).max(0.0), self.high + pad)
    }
}

/// Dots of one family.
#[derive(Clone, Debug, PartialEq)]
pub struct Dots {
    /// Which.
    pub family: Family,
    /// Within the limits.
    pub fits: bool,
    /// On the front: shapes; others are round dots, `M x y h0` each.
    pub on_front: bool,
    /// All of them.
    pub path: String,
}

/// A limit: its line and what can be grabbed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Where the line is, held inside the plot.
    pub at: f64,
    /// It is beyond what the axis shows.
    pub beyond: bool,
    /// What can be grabbed.
    pub handle: Rect,
    /// What does not fit.
    pub shade: Rect,
}

/// What is drawn beside the points.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Memory and step limits.
    pub limits: &'a Limits,
    /// λ.
    pub weights: &'a Weights,
    /// The plan in use.
    pub current: Option<&'a Summary>,
    /// The fastest plan found, and the step that no plan is below.
    pub found: Option<(&'a Summary, Option<Nanos>)>,
    /// What the axes show.
    pub domain: Domain,
    /// Width of the picture.
    pub width: f64,
}

/// The picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Pareto {
    /// Width of the picture.
    pub width: f64,
    /// Height of the picture.
    pub height: f64,
    /// The plot.
    pub plot: Rect,
    /// Bytes to pixels.
    pub peak: Scale,
    /// Seconds to pixels.
    pub step: Scale,
    /// Dots, dominated ones first.
    pub dots: Vec<Dots>,
    /// The front, as a staircase: what a plan on it promises.
    pub line: String,
    /// Where each point of the front's family is; none above the frame.
    pub places: Vec<Option<(f64, f64)>>,
    /// Points on the front by peak, one of equal ones: what arrow keys walk along.
    pub order: Vec<usize>,
    /// How many are slower than the axis shows.
    pub above: usize,
    /// The memory limit.
    pub memory: Limit,
    /// The step limit.
    pub slowest: Option<Limit>,
    /// The plan in use.
    pub current: Option<(f64, f64)>,
    /// The fastest plan found.
    pub found: Option<(f64, f64)>,
    /// The step that no plan is below, where the axis shows it.
    pub bound: Option<f64>,
    /// The optimum under λ.
    pub best: Option<(f64, f64)>,
    /// Which it is.
    pub best_index: Option<usize>,
    /// The knee of the front, as an index.
    pub knee: Option<usize>,
    /// Plans that cost the same as the optimum.
    pub iso: Option<[f64; 4]>,
    /// Of the peak.
    pub peak_ticks: Vec<Tick>,
    /// Of the step.
    pub step_ticks: Vec<Tick>,
}

impl Pareto {
    /// Places a front.
    #[must_use]
    pub fn of(front: &Front, ask: &Ask) -> Self {
        let width = if ask.width.is_finite() { ask.width.max(160.0) } else { 160.0 };
        let narrow = width < NARROW;
        let (left, right) = if narrow { (46.0, 14.0) } else { (64.0, 24.0) };
        let plot = Rect {
            x: left,
            y: 48.0,
            w: width - left - right,
            h: (0.5 * width).clamp(230.0, 380.0),
        };
        let peak = Scale::new(ask.domain.peak, (plot.x, plot.right()));
        let step = Scale::new(ask.domain.step, (plot.bottom(), plot.y));
        let place = |summary: &Summary| {
            let inside = step.contains(summary.step.secs());
            inside
                .then(|| (px(peak.held(summary.peak.as_f64())), px(step.held(summary.step.secs()))))
        };
        let held = |summary: &Summary| {
            (px(peak.held(summary.peak.as_f64())), px(step.held(summary.step.secs())))
        };
        let places: Vec<_> = front.points.iter().map(|point| place(&point.summary)).collect();
        let order = order(front);
        let best_index = front.best();
        let best = best_index.and_then(|i| places[i]);
        let memory = memory_limit(ask.limits, &peak, &plot);
        Self {
            width,
            height: plot.bottom() + 44.0,
            dots: dots(front, &places),
            line: line(&order, &places, &plot),
            above: places.iter().filter(|place| place.is_none()).count(),
            memory,
            slowest: ask.limits.step.map(|limit| step_limit(limit, &step, &plot, &memory)),
            knee: knee::of(front, &order),
            current: ask.current.map(held),
            found: ask.found.filter(|(found, _)| found.runs).map(|(found, _)| held(found)),
            bound: ask
                .found
                .and_then(|(_, bound)| Some(bound?.secs()))
                .filter(|&bound| step.contains(bound))
                .map(|bound| px(step.x_from_value(bound))),
            iso: best_index.filter(|_| best.is_some()).and_then(|i| {
                iso(&front.points[i].summary, &front.plain, ask.weights, &peak, &step)
            }),
            peak_ticks: peak_ticks(&peak, &plot),
            step_ticks: step_ticks(&step, &plot),
            best,
            best_index,
            places,
            order,
            peak,
            step,
            plot,
        }
    }

    /// The point nearest to a pixel, within `reach` pixels; of near ones, one on the front.
    #[must_use]
    pub fn nearest(&self, front: &Front, x: f64, y: f64, reach: f64) -> Option<usize> {
        let distance = |i: usize| {
            let (px, py) = self.places[i]?;
            let favour = if front.points[i].on_front { 4.0 } else { 0.0 };
            Some((px - x).hypot(py - y) - favour)
        };
        (0..self.places.len())
            .filter_map(|i| distance(i).map(|near| (i, near)))
            .filter(|(_, near)| *near <= reach)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(i, _)| i)
    }

    /// The budget that a pixel means, whole MiB, within `card`.
    #[must_use]
    pub fn memory_from_x(&self, x: f64, card: Bytes) -> Bytes {
        const MIB: f64 = 1_048_576.0;
        let held = x.clamp(self.plot.x, self.plot.right());
        let mib = (self.peak.value_from_x(held) / MIB).round();
        Bytes::from_f64(mib * MIB).min(card)
    }

    /// The longest step that a pixel means.
    #[must_use]
    pub fn step_from_y(&self, y: f64) -> Nanos {
        let held = y.clamp(self.plot.y, self.plot.bottom());
        Nanos::from_secs(self.step.value_from_x(held))
    }
}

/// What one press of an arrow key moves the budget by: a 64th of the card, in whole MiB.
#[must_use]
pub fn memory_stride(card: Bytes) -> Bytes {
    Bytes((card.0 / 64).next_multiple_of(1 << 20).max(1 << 20))
}

fn order(front: &Front) -> Vec<usize> {
    let on_front: Vec<usize> =
        (0..front.points.len()).filter(|&i| front.points[i].on_front).collect();
    let key = |i: usize| (front.points[i].summary.peak, front.points[i].summary.step);
    let mut order = sort::sorted(&on_front, |&i| (key(i).0.0, key(i).1.0, 0));
    order.dedup_by_key(|i| key(*i));
    order
}

fn dots(front: &Front, places: &[Option<(f64, f64)>]) -> Vec<Dots> {
    let mut out = Vec::new();
    for on_front in [false, true] {
        for fits in [false, true] {
            for family in FAMILIES {
                let mut seen = HashSet::new();
                let mut path = String::new();
                let of_family = front.points.iter().zip(places).filter(|(point, _)| {
                    point.on_front == on_front
                        && point.summary.fits == fits
                        && Family::of(&point.policy) == family
                });
                for (x, y) in of_family.filter_map(|(_, place)| *place) {
                    if seen.insert((index(10.0 * x), index(10.0 * y))) {
                        path += &dot(family, on_front, x, y);
                    }
                }
                if !path.is_empty() {
                    out.push(Dots { family, fits, on_front, path });
                }
            }
        }
    }
    out
}

fn dot(family: Family, on_front: bool, x: f64, y: f64) -> String {
    if on_front { family.shape(x, y, 5.0) } else { format!("M{x} {y}h0") }
}

fn line(order: &[usize], places: &[Option<(f64, f64)>], plot: &Rect) -> String {
    let mut path = String::new();
    for (x, y) in order.iter().filter_map(|&i| places[i]) {
        if path.is_empty() {
            write!(path, "M{x} {}V{y}", px(plot.y))
        } else {
            write!(path, "H{x}V{y}")
        }
        .expect("a string can be written");
    }
    if !path.is_empty() {
        write!(path, "H{}", px(plot.right())).expect("a string can be written");
    }
    path
}

fn memory_limit(limits: &Limits, peak: &Scale, plot: &Rect) -> Limit {
    let value = limits.memory.as_f64();
    let at = px(peak.held(value));
    Limit {
        at,
        beyond: !peak.contains(value),
        handle: Rect { x: at - TOUCH / 2.0, y: 4.0, w: TOUCH, h: TOUCH },
        shade: Rect { x: at, y: plot.y, w: px(plot.right() - at), h: plot.h },
    }
}

/// Its shade ends where the budget's begins: what is infeasible twice is not darker.
fn step_limit(limit: Nanos, step: &Scale, plot: &Rect, memory: &Limit) -> Limit {
    let at = px(step.held(limit.secs()));
    Limit {
        at,
        beyond: !step.contains(limit.secs()),
        handle: Rect { x: plot.right() - TOUCH + 12.0, y: at - TOUCH / 2.0, w: TOUCH, h: TOUCH },
        shade: Rect { x: plot.x, y: plot.y, w: px(memory.at - plot.x), h: px(at - plot.y) },
    }
}

/// Where `λ_m`·peak/plain peak + λ·(step/plain step − 1) is what it is at the optimum, inside the plot. Equal cost is a line only where
/// recomputing and waiting keep a proportion: that of the optimum, so that λ is the mean of their two weights by how much the optimum has of
/// each, and the plain mean where it has neither. None when time and memory both weigh nothing.
fn iso(
    best: &Summary,
    plain: &Summary,
    weights: &Weights,
    peak: &Scale,
    step: &Scale,
) -> Option<[f64; 4]> {
    let (again, waiting) = (best.recompute.secs(), best.stall.secs());
    let weight = if again + waiting > 0.0 {
        (weights.compute * again + weights.transfer * waiting) / (again + waiting)
    } else {
        f64::midpoint(weights.compute, weights.transfer)
    };
    let of_time = weight / plain.step.secs().max(1e-9);
    let of_memory = weights.memory / plain.peak.as_f64().max(1.0);
    let (x, y) = (peak.x_from_value(best.peak.as_f64()), step.x_from_value(best.step.secs()));
    let (x0, x1) = peak.range();
    let (y1, y0) = step.range();
    if of_time <= 0.0 && of_memory <= 0.0 {
        return None;
    }
    // Pixels per unit turn the two weights into a direction.
    let per_byte = (x1 - x0) / (peak.domain().1 - peak.domain().0);
    let per_second = (y1 - y0) / (step.domain().1 - step.domain().0);
    let (dx, dy) = (of_time * per_byte, of_memory * per_second);
    let length = dx.hypot(dy);
    let (dx, dy) = (dx / length, dy / length);
    let reach = |room: f64, pace: f64| if pace.abs() < 1e-12 { f64::INFINITY } else { room / pace };
    let back = reach(x - x0, dx).min(reach(y - y0, dy)).max(0.0);
    let forth = reach(x1 - x, dx).min(reach(y1 - y, dy)).max(0.0);
    let ends = [x - back * dx, y - back * dy, x + forth * dx, y + forth * dy];
    ends.iter().all(|end| end.is_finite()).then(|| ends.map(px))
}

fn peak_ticks(peak: &Scale, plot: &Rect) -> Vec<Tick> {
    let values = scale::binary(peak.domain(), index(plot.w / 80.0).clamp(2, 10));
    let texts = scale::byte_texts(&values);
    let ticks = values.into_iter().zip(texts);
    ticks.map(|(value, text)| Tick { at: px(peak.x_from_value(value)), text }).collect()
}

fn step_ticks(step: &Scale, plot: &Rect) -> Vec<Tick> {
    let values = scale::nice(step.domain(), index(plot.h / 56.0).clamp(2, 8));
    let texts = scale::time_texts(&values);
    let ticks = values.into_iter().zip(texts);
    ticks.map(|(value, text)| Tick { at: px(step.x_from_value(value)), text }).collect()
}

/// The front's knee, as an index into its points.
#[must_use]
pub fn knee(front: &Front) -> Option<usize> {
    knee::of(front, &order(front))
}

/// The front's points for a table, by peak: at most `most`, evenly taken, the ends and the knee always.
#[must_use]
pub fn table(front: &Front, most: usize) -> Vec<usize> {
    let order = order(front);
    if order.len() <= most || most < 3 {
        return order.into_iter().take(most.max(1)).collect();
    }
    let pace = float(order.len() - 1) / float(most - 1);
    let mut places: Vec<usize> = (0..most).map(|i| index((float(i) * pace).round())).collect();
    let knee = knee::of(front, &order).and_then(|knee| order.iter().position(|&i| i == knee));
    if let Some(knee) = knee.filter(|knee| !places.contains(knee)) {
        // In place of its neighbour, which is no end.
        let after = places.iter().position(|&place| place > knee).unwrap_or(most - 1);
        places[after.min(most - 2)] = knee;
    }
    places.into_iter().map(|place| order[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::scenario::Scenario;
    use crate::engine::search::front::objective;

    fn front(text: &str) -> (Scenario, Front) {
        let (scenario, _) = Scenario::parse(text).expect("a sound request");
        let front = Front::of(&scenario);
        (scenario, front)
    }

    fn picture(scenario: &Scenario, front: &Front, width: f64) -> Pareto {
        let current = front.points.first().map(|point| &point.summary);
        let domain = Domain::of(front, &scenario.limits, current);
        let ask = Ask {
            limits: &scenario.limits,
            weights: &scenario.weights,
            current,
            found: None,
            domain,
            width,
        };
        Pareto::of(front, &ask)
    }

    const LLAMA: &str = r#"{"v":1,"workload":{"preset":"llama-2-7b"},"hardware":{"preset":"a100-80g"},
        "training":{"lora_rank":16},"limits":{"memory_gib":24,"step_s":2}}"#;

    #[test]
    fn a_shown_point_is_found_again() {
        let (scenario, front) = front(LLAMA);
        for width in [343.0, 900.0, 1500.0] {
            let scene = picture(&scenario, &front, width);
            for (i, place) in scene.places.iter().enumerate() {
                if let Some((x, y)) = place {
                    let found = scene.nearest(&front, *x, *y, 12.0).expect("it is there");
                    let (fx, fy) = scene.places[found].expect("shown");
                    assert!((fx - x).hypot(fy - y) <= 4.0, "{i} {found}");
                }
            }
            for &i in &scene.order {
                assert!(scene.places[i].is_some(), "the whole front is shown");
            }
        }
    }

    #[test]
    fn limits_invert() {
        let (scenario, front) = front(LLAMA);
        let scene = picture(&scenario, &front, 900.0);
        let back = scene.memory_from_x(scene.memory.at, scenario.hardware.memory);
        assert!(back.0.abs_diff(scenario.limits.memory.0) < 1 << 26);
        let card = Bytes::from_gib(20.0);
        assert!(scene.memory_from_x(f64::INFINITY, card) <= card);
    }

    #[test]
    fn an_empty_front_is_safe() {
        let (scenario, mut front) = front(LLAMA);
        front.points.clear();
        let domain = Domain::of(&front, &scenario.limits, None);
        let ask = Ask {
            limits: &scenario.limits,
            weights: &scenario.weights,
            current: None,
            found: None,
            domain,
            width: 343.0,
        };
        let scene = Pareto::of(&front, &ask);
        assert!(scene.order.is_empty() && scene.iso.is_none() && scene.line.is_empty());
        assert!(table(&front, 20).is_empty());
    }

    #[test]
    fn the_cost_line_passes_the_star() {
        let (scenario, front) = front(LLAMA);
        let scene = picture(&scenario, &front, 900.0);
        let (x, y) = scene.best.expect("a best plan");
        let [x0, y0, x1, y1] = scene.iso.expect("a line");
        let cross = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0);
        assert!(cross.abs() / (x1 - x0).hypot(y1 - y0) < 0.5);
    }

    /// Along the line the cost is one: of plans that recompute and wait in the proportion that the best one does.
    #[test]
    fn the_cost_is_the_same_along_the_line() {
        let (scenario, mut front) = front(LLAMA);
        let weights = Weights { memory: 0.2, compute: 0.7, transfer: 0.1 };
        front.weights = weights;
        let domain = Domain::of(&front, &scenario.limits, None);
        let ask = Ask {
            limits: &scenario.limits,
            weights: &weights,
            current: None,
            found: None,
            domain,
            width: 900.0,
        };
        let scene = Pareto::of(&front, &ask);
        let best = front.points[scene.best_index.expect("a best plan")].summary;
        let [x0, y0, x1, y1] = scene.iso.expect("a line");
        // As `objective`, in floats: below keep-everything's step the line goes on where no plan is.
        let own = best.recompute.secs() + best.stall.secs();
        let per_second = (weights.compute * best.recompute.secs()
            + weights.transfer * best.stall.secs())
            / own.max(1e-9);
        let cost = |x: f64, y: f64| {
            let added = scene.step.value_from_x(y) - front.plain.step.secs();
            weights.memory * scene.peak.value_from_x(x) / front.plain.peak.as_f64()
                + per_second * added / front.plain.step.secs()
        };
        let at_best = objective(&best, &front.plain, &weights);
        let (one, other) = (cost(x0, y0), cost(x1, y1));
        assert!(own > 0.0, "{best:?}");
        assert!((one - other).abs() < 0.005 * one, "{one} {other}");
        assert!((one - at_best).abs() < 0.005 * one, "{one} {at_best}");
    }

    #[test]
    fn the_knee_is_on_the_front_and_not_at_its_ends() {
        let (scenario, front) = front(LLAMA);
        let scene = picture(&scenario, &front, 900.0);
        let at = scene.order.iter().position(|&i| Some(i) == scene.knee).expect("on the front");
        assert!(at > 0 && at + 1 < scene.order.len());
    }

    #[test]
    fn weights_of_nothing_are_safe() {
        let (scenario, front) = front(LLAMA);
        let none = Weights { memory: 0.0, compute: 0.0, transfer: 0.0 };
        for weights in [none, Weights { memory: 1.0, ..none }, Weights { compute: 1.0, ..none }] {
            let domain = Domain::of(&front, &scenario.limits, None);
            let ask = Ask {
                limits: &scenario.limits,
                weights: &weights,
                current: None,
                found: None,
                domain,
                width: 900.0,
            };
            let scene = Pareto::of(&front, &ask);
            assert_eq!(scene.iso.is_some(), weights != none);
        }
    }
}
