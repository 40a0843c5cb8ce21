//! The exact front of the additive model over all memory limits at once. Equal layers are interchangeable, so a plan is how many of
//! each kind take each action: for a chain of few kinds all of them can be looked at, cut by dominance as they come. Where the
//! kinds are too many, the optimum at a row of limits stands for the front.

use super::fill::{Effort, Wanted, fill};
use super::pack::most_bytes;
use super::subset::{Stock, Work};
use super::{Counts, Instance, Kind, actions, float, kinds, solve};
use crate::engine::policy::Action;
use crate::engine::units::Bytes;

/// A plan of the front.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// One action per layer.
    pub actions: Vec<Action>,
    /// Kept layers and residuals.
    pub memory: Bytes,
    /// Its objective, s.
    pub objective_s: f64,
}

/// Plans by ascending memory and falling objective.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    /// None is dominated.
    pub points: Vec<Point>,
    /// They are the whole front. Otherwise each is the best plan found at one of a row of limits.
    pub exact: bool,
}

/// Plans that are looked at one by one.
const MOST_PLANS: f64 = 2e7;
/// Limits at which the optimum stands for the front, and the work at each.
const LIMITS: u64 = 32;
const WORK: u64 = 20_000_000;
/// Memory is divided into so many parts, each with the least objective of the parts below it.
const PARTS: usize = 4096;
/// Candidates that are held before the dominated ones are dropped.
const MOST_CANDIDATES: usize = 1 << 18;

/// The front of `instance`, whose memory limit is not looked at.
#[must_use]
pub fn front(instance: &Instance) -> Front {
    let kinds = kinds(&instance.layers);
    let each = |kind: &Kind| {
        let n = f64::from(kind.count());
        if kind.layer.size == 0 { 1.0 } else { (n + 1.0) * (n + 2.0) / 2.0 }
    };
    if kinds.iter().map(each).product::<f64>() > MOST_PLANS {
        return sampled(instance);
    }
    let mut walk = Walk::of(instance, &kinds);
    walk.run();
    let points = walk.found.iter().map(|found| {
        let counts = walk.counts(found);
        let actions = actions(&kinds, &counts, instance.layers.len());
        let cost = instance.cost(&actions);
        Point { actions, memory: cost.memory, objective_s: cost.objective_s }
    });
    Front { points: points.collect(), exact: true }
}

/// The best plans at limits spread evenly from nothing to everything.
fn sampled(instance: &Instance) -> Front {
    let total: u64 = instance.layers.iter().map(|layer| layer.size).sum();
    let mut points: Vec<Point> = Vec::new();
    for n in 0..=LIMITS {
        let memory = total / LIMITS * n + total % LIMITS * n / LIMITS;
        let limited = Instance { memory, ..instance.clone() };
        let Some(actions) = solve::solve(&limited, WORK).actions else { continue };
        let cost = limited.cost(&actions);
        if points.last().is_none_or(|last| cost.objective_s < last.objective_s) {
            points.push(Point { actions, memory: cost.memory, objective_s: cost.objective_s });
        }
    }
    Front { points, exact: false }
}

/// A plan: counts of recomputed and of offloaded layers, each as one number in mixed radix.
#[derive(Clone, Copy)]
struct Found {
    memory: u64,
    objective_s: f64,
    recomputed: usize,
    offloaded: usize,
}

struct Walk<'a> {
    instance: &'a Instance,
    kinds: &'a [Kind],
    /// Kinds by recomputation per byte that it frees, dearest first; those where it frees nothing are not there.
    order: Vec<usize>,
    radix: Vec<usize>,
    total: u64,
    /// For every part of memory the least objective of the plans in lower parts.
    least: Vec<f64>,
    found: Vec<Found>,
    tolerance: f64,
}

impl<'a> Walk<'a> {
    fn of(instance: &'a Instance, kinds: &'a [Kind]) -> Self {
        let mut radix = vec![1];
        for kind in kinds {
            radix.push(radix[radix.len() - 1] * places(kind));
        }
        let mut order: Vec<usize> = (0..kinds.len()).filter(|&i| freed(&kinds[i]) > 0).collect();
        order.sort_by(|&a, &b| ratio(&kinds[b]).total_cmp(&ratio(&kinds[a])));
        Self {
            instance,
            kinds,
            order,
            radix,
            total: instance.layers.iter().map(|layer| layer.size).sum(),
            least: vec![f64::INFINITY; PARTS + 1],
            found: Vec::new(),
            tolerance: instance.tolerance(0.0),
        }
    }

    /// Every choice of offloaded layers, those that come with kinds as they stand first: they are near the front and cut the rest.
    fn run(&mut self) {
        let mut chains = Vec::new();
        let up: Vec<usize> = (0..self.kinds.len()).collect();
        let down = up.iter().rev().copied().collect();
        for order in [up, down] {
            let mut code = 0;
            for kind in order.into_iter().filter(|&kind| self.kinds[kind].layer.size > 0) {
                for _ in 0..self.kinds[kind].members.len() {
                    chains.push(code);
                    code += self.radix[kind];
                }
            }
            chains.push(code);
        }
        for &code in &chains {
            self.offload(code, true);
        }
        for code in 0..self.radix[self.kinds.len()] {
            self.offload(code, false);
        }
        self.prune();
    }

    /// Every choice of recomputed layers beside those offloaded; only the cheapest first ones where that is to be quick.
    fn offload(&mut self, offloaded: usize, quickly: bool) {
        let counts: Vec<u32> =
            (0..self.kinds.len()).map(|kind| self.digit(offloaded, kind)).collect();
        let (mut bytes, mut memory, mut freeable) = (0, 0, 0);
        for (kind, &n) in self.kinds.iter().zip(&counts) {
            bytes += kind.layer.size * u64::from(n);
            memory += kind.layer.size * u64::from(kind.count() - n);
            freeable += freed(kind) * u64::from(kind.count() - n);
        }
        // As if the host could be filled to the byte.
        let most = self.instance.host.min(bytes);
        let at_least = self.exposed(bytes, bytes - most);
        let ratio = self.order.last().map_or(0.0, |&i| ratio(&self.kinds[i]));
        if self.hopeless(memory, freeable, at_least, ratio) {
            return;
        }
        let host: u64 = self
            .hosted(&counts)
            .iter()
            .zip(self.kinds)
            .map(|(&n, kind)| kind.layer.size * u64::from(n))
            .sum();
        let objective_s = self.exposed(bytes, bytes - host);
        let found = Found { memory, objective_s, recomputed: 0, offloaded };
        if quickly {
            self.recompute_cheapest(found, &counts);
        } else {
            self.recompute(self.order.len(), found, &counts, freeable);
        }
    }

    fn recompute_cheapest(&mut self, mut plan: Found, offloaded: &[u32]) {
        self.offer(plan);
        for i in (0..self.order.len()).rev() {
            let at = self.order[i];
            let kind = &self.kinds[at];
            for _ in offloaded[at]..kind.count() {
                plan.memory -= freed(kind);
                plan.objective_s += kind.layer.recompute_s;
                plan.recomputed += self.radix[at];
                self.offer(plan);
            }
        }
    }

    /// Every choice for the first `kinds` of the order, cheapest kinds first; `freeable` bytes can still be freed by them.
    fn recompute(&mut self, kinds: usize, mut plan: Found, offloaded: &[u32], freeable: u64) {
        let Some(next) = kinds.checked_sub(1) else {
            self.offer(plan);
            return;
        };
        let at = self.order[next];
        let kind = &self.kinds[at];
        let count = kind.count() - offloaded[at];
        let rest = freeable - freed(kind) * u64::from(count);
        let dearer = next.checked_sub(1).map_or(0.0, |next| ratio(&self.kinds[self.order[next]]));
        for n in 0..=count {
            if !self.hopeless(plan.memory, rest, plan.objective_s, dearer) {
                self.recompute(next, plan, offloaded, rest);
            }
            if n < count {
                plan.memory -= freed(kind);
                plan.objective_s += kind.layer.recompute_s;
                plan.recomputed += self.radix[at];
            }
        }
    }

    /// Whether every plan that frees up to `rest` of `memory` bytes, at `ratio` seconds a byte or more, is dominated: looked at in
    /// slices, each by its lower end and its least cost.
    fn hopeless(&self, memory: u64, rest: u64, objective_s: f64, ratio: f64) -> bool {
        const SLICES: u64 = 8;
        let slice = rest / SLICES + 1;
        (0..SLICES).all(|i| {
            let low = memory - rest.min(slice * (i + 1));
            objective_s + float(slice * i) * ratio >= self.least[self.part(low)]
        })
    }

    fn exposed(&self, link: u64, ssd: u64) -> f64 {
        let fits = self.instance.ssd.is_none_or(|limit| ssd <= limit);
        if fits { self.instance.exposed(link, ssd) } else { f64::INFINITY }
    }

    /// Who of those offloaded goes to the host: as much as does.
    fn hosted(&self, offloaded: &[u32]) -> Vec<u32> {
        let chosen = self.kinds.iter().zip(offloaded).enumerate();
        let chosen = chosen.filter(|(_, (kind, n))| kind.layer.size > 0 && **n > 0);
        let (places, stock): (Vec<usize>, Vec<Stock>) =
            chosen.map(|(i, (kind, &count))| (i, Stock { size: kind.layer.size, count })).unzip();
        let (cap, Instance { link_s, ssd_s, hidden_s, .. }) = (self.instance.host, self.instance);
        let bytes: u64 = stock.iter().map(|kind| kind.size * u64::from(kind.count)).sum();
        // So much to the SSD takes no longer than the link does anyway.
        let busy = (float(bytes) * link_s).max(*hidden_s);
        let free = most_bytes(busy, *ssd_s).saturating_sub(1);
        let free = free.min(self.instance.ssd.unwrap_or(u64::MAX));
        let enough = bytes.saturating_sub(free);
        let wanted = Wanted { floor: 0, cap, enough, effort: Effort::Exact(usize::MAX) };
        let mut hosted = vec![0; self.kinds.len()];
        for (&place, n) in places.iter().zip(fill(&stock, wanted, &mut Work(u64::MAX)).counts) {
            hosted[place] = n;
        }
        hosted
    }

    fn digit(&self, code: usize, kind: usize) -> u32 {
        let count = code / self.radix[kind] % places(&self.kinds[kind]);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn part(&self, memory: u64) -> usize {
        let share = u128::from(memory) * PARTS as u128 / u128::from(self.total.max(1));
        usize::try_from(share).unwrap_or(PARTS).min(PARTS)
    }

    fn offer(&mut self, plan: Found) {
        let part = self.part(plan.memory);
        // Some plan of a lower part is as good.
        if plan.objective_s >= self.least[part] {
            return;
        }
        for least in &mut self.least[part + 1..] {
            if *least <= plan.objective_s {
                break;
            }
            *least = plan.objective_s;
        }
        self.found.push(plan);
        if self.found.len() >= MOST_CANDIDATES && self.found.len().is_power_of_two() {
            self.prune();
        }
    }

    fn prune(&mut self) {
        self.found.sort_by(|a, b| {
            a.memory
                .cmp(&b.memory)
                .then(a.objective_s.total_cmp(&b.objective_s))
                .then((a.recomputed, a.offloaded).cmp(&(b.recomputed, b.offloaded)))
        });
        let mut last = f64::INFINITY;
        let tolerance = self.tolerance;
        self.found.retain(|found| {
            let better = found.objective_s.is_finite() && found.objective_s < last - tolerance;
            if better {
                last = found.objective_s;
            }
            better
        });
    }

    fn counts(&self, found: &Found) -> Vec<Counts> {
        let digits = |code| (0..self.kinds.len()).map(move |kind| self.digit(code, kind));
        let offloaded: Vec<u32> = digits(found.offloaded).collect();
        let hosted = self.hosted(&offloaded);
        let all = digits(found.recomputed).zip(&offloaded).zip(&hosted);
        all.map(|((recompute, offloaded), &host)| Counts { recompute, host, ssd: offloaded - host })
            .collect()
    }
}

/// How many of a kind can be offloaded, and none; layers of nothing stay.
const fn places(kind: &Kind) -> usize {
    if kind.layer.size == 0 { 1 } else { kind.members.len() + 1 }
}

/// Seconds per byte that recomputing one of a kind frees.
fn ratio(kind: &Kind) -> f64 {
    kind.layer.recompute_s / float(freed(kind))
}

/// Bytes that recomputing one of a kind frees.
const fn freed(kind: &Kind) -> u64 {
    kind.layer.size.saturating_sub(kind.layer.residual)
}
