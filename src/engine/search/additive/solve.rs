//! The optimum: sets of recomputed layers in ascending order of their bound, each packed exactly, until no set's bound is below the
//! best plan. The gap within which sets are listed grows until it reaches the best plan: that is the certificate.

use super::pack::{self, Rooms};
use super::recompute::{Dual, Relaxed};
use super::subset::{Stock, Work};
use super::{Counts, Instance, Kind, actions, kinds};
use crate::engine::policy::Action;
use crate::engine::sort;

/// Elementary steps before the search stops with what it has: one or two seconds.
pub const WORK: u64 = 200_000_000;

/// A plan and how good it is known to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// One action per layer; none where no plan within the limits was found.
    pub actions: Option<Vec<Action>>,
    /// Its objective, s; infinite without a plan.
    pub objective_s: f64,
    /// No plan has a smaller objective than this, s; infinite where it is certain that there is no plan.
    pub bound_s: f64,
    /// The objective is the least there is, to [`Instance::tolerance`] (or it is certain that there is no plan).
    pub optimal: bool,
}

impl Solution {
    /// (objective − bound) / objective; 0 where both are 0.
    #[must_use]
    pub fn gap(&self) -> f64 {
        if self.optimal || self.objective_s <= 0.0 {
            return 0.0;
        }
        ((self.objective_s - self.bound_s) / self.objective_s).clamp(0.0, 1.0)
    }
}

struct Search<'a> {
    instance: &'a Instance,
    kinds: Vec<Kind>,
    /// The greatest common divisor of all sizes: no sum is anything but a multiple.
    grain: u64,
    best: f64,
    counts: Option<Vec<Counts>>,
    /// The least value of a set whose packing is not settled.
    unsettled: f64,
    work: Work,
}

pub(super) fn solve(instance: &Instance, work: u64) -> Solution {
    let kinds = kinds(&instance.layers);
    let grain = kinds.iter().fold(0, |grain, kind| gcd(grain, kind.layer.size)).max(1);
    let mut search = Search {
        instance,
        kinds,
        grain,
        best: f64::INFINITY,
        counts: None,
        unsettled: f64::INFINITY,
        work: Work(work),
    };
    let dual = Dual::of(Relaxed::of(instance), &search.kinds);
    let bound = search.run(&dual).min(search.unsettled);
    search.solution(bound.max(dual.bound).max(0.0))
}

impl Search<'_> {
    /// Returns what no plan that was not looked at can be below.
    fn run(&mut self, dual: &Dual) -> f64 {
        self.pack(&vec![0; self.kinds.len()], None);
        let rounded = dual.rounded(self.kinds.len(), &mut self.work);
        let n = self.kinds.len();
        for mut some in [dual.base(n, false), dual.base(n, true), rounded] {
            self.trim(&mut some);
            self.pack(&some, None);
        }
        if dual.bound.is_infinite() {
            return dual.bound;
        }
        let worst = self.instance.worst();
        let mut gap = (self.best.min(worst) - dual.bound).max(0.0) / 4096.0;
        let mut seen = f64::NEG_INFINITY;
        loop {
            let tolerance = self.tolerance();
            let goal = self.best.min(worst);
            let last = dual.bound + gap >= goal - tolerance;
            if last {
                gap = (goal - dual.bound).max(0.0) + tolerance;
            }
            let sets = dual.sets(gap, &mut self.work);
            for &(value, at) in sets.list.iter().filter(|set| set.0 > seen) {
                if value >= self.best - self.tolerance() {
                    break;
                }
                if self.work.0 == 0 {
                    return value;
                }
                let counts = sets.counts(at, self.kinds.len());
                self.pack(&counts, Some(value));
            }
            if !sets.complete {
                return seen;
            }
            seen = dual.bound + gap;
            if last || seen >= self.best - self.tolerance() {
                return self.best;
            }
            gap = 2.0 * gap.max(tolerance);
        }
    }

    /// Recomputes fewer, those that leave most first, until what is left of them fits: a plan to start from.
    fn trim(&self, recomputed: &mut [u32]) {
        let left = |kind: &Kind, n: u32| kind.layer.residual * u64::from(n);
        let mut residual: u64 =
            self.kinds.iter().zip(&*recomputed).map(|(kind, &n)| left(kind, n)).sum();
        for i in sort::order(self.kinds.len(), |i| (!self.kinds[i].layer.residual, 0, 0)) {
            let each = self.kinds[i].layer.residual;
            if residual <= self.instance.memory || each == 0 {
                return;
            }
            let over = (residual - self.instance.memory).div_ceil(each);
            let fewer = recomputed[i].min(u32::try_from(over).unwrap_or(u32::MAX));
            recomputed[i] -= fewer;
            residual -= left(&self.kinds[i], fewer);
        }
    }

    fn tolerance(&self) -> f64 {
        self.instance.tolerance(self.best)
    }

    /// The best plan that recomputes exactly those, which cost at least `value`; a good one where no value is given.
    fn pack(&mut self, recomputed: &[u32], value: Option<f64>) {
        let chosen = || self.kinds.iter().zip(recomputed);
        let sum = |each: fn(&Kind) -> u64| -> u64 {
            chosen().map(|(kind, &n)| each(kind) * u64::from(n)).sum()
        };
        let residual = sum(|kind| kind.layer.residual);
        if residual > self.instance.memory {
            return;
        }
        if let (false, Some(value)) = (self.work.take(16 * self.kinds.len()), value) {
            self.unsettled = self.unsettled.min(value);
            return;
        }
        let seconds: f64 = chosen().map(|(kind, &n)| kind.layer.recompute_s * f64::from(n)).sum();
        let placed: Vec<(usize, Stock)> = chosen()
            .enumerate()
            .filter(|(_, (kind, _))| kind.layer.size > 0)
            .map(|(i, (kind, n))| (i, Stock { size: kind.layer.size, count: kind.count() - n }))
            .filter(|(_, stock)| stock.count > 0)
            .collect();
        let stock: Vec<Stock> = placed.iter().map(|placed| placed.1).collect();
        let total = stock.iter().map(|kind| kind.size * u64::from(kind.count)).sum();
        let whole = |room: u64| room.min(total) / self.grain * self.grain;
        let rooms = Rooms {
            instance: self.instance,
            memory: whole(self.instance.memory - residual),
            host: whole(self.instance.host),
            total,
        };
        let (below, tolerance) = (self.best - seconds, self.tolerance());
        let found = if let Some(value) = value {
            let packed = pack::pack(&rooms, &stock, below, tolerance, &mut self.work);
            if !packed.exact {
                self.unsettled = self.unsettled.min(value.max(seconds + rooms.least()));
            }
            packed.best
        } else {
            pack::pack_quickly(&rooms, &stock, below, &mut self.work)
        };
        let Some(found) = found else {
            return;
        };
        self.best = seconds + found.exposed;
        let mut counts: Vec<Counts> =
            recomputed.iter().map(|&recompute| Counts { recompute, ..Counts::default() }).collect();
        for ((&(i, stock), kept), host) in placed.iter().zip(&found.kept).zip(&found.host) {
            counts[i].host = *host;
            counts[i].ssd = stock.count - kept - host;
        }
        self.counts = Some(counts);
    }

    fn solution(&self, bound: f64) -> Solution {
        let Some(counts) = &self.counts else {
            let optimal = bound.is_infinite();
            return Solution { actions: None, objective_s: f64::INFINITY, bound_s: bound, optimal };
        };
        let actions = actions(&self.kinds, counts, self.instance.layers.len());
        let objective_s = self.instance.cost(&actions).objective_s;
        let optimal = bound >= self.best - 2.0 * self.tolerance();
        let bound_s = if optimal { objective_s } else { bound.min(objective_s) };
        Solution { actions: Some(actions), objective_s, bound_s, optimal }
    }
}

/// The greatest common divisor; of 0 and n, n.
pub(super) const fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
