//! Which layers are recomputed. With kept and host bytes as if they could be filled to the byte, a set R of recomputed layers costs
//! r(R) + φ(y), where y = Σ (size − residual) over R and φ falls convexly in y. [`Dual`] bounds that from below by two multipliers
//! (λ per byte of y, μ per byte of residual); [`Dual::sets`] lists every set within a gap of the bound, kinds whose choice is least
//! settled first, partial sets cut by the bound. Its law: no set within the gap is missing.

use super::fill::{Effort, Wanted, fill};
use super::subset::{Stock, Work};
use super::{Instance, Kind, float};
use crate::engine::units::Bytes;

/// φ, and the limits it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Relaxed<'a> {
    instance: &'a Instance,
    /// Σ size.
    pub total: u64,
}

impl<'a> Relaxed<'a> {
    pub fn of(instance: &'a Instance) -> Self {
        Self { instance, total: instance.layers.iter().map(|layer| layer.size).sum() }
    }

    /// Exposed time when recomputation frees `y` bytes, s.
    fn exposed(&self, y: f64) -> f64 {
        let link = float(self.total) - float(self.instance.memory) - y;
        let ssd = link - float(self.instance.host);
        // A byte of slack for rounding: where it matters the packing decides.
        if self.instance.ssd.is_some_and(|limit| ssd > float(limit) + 1.0) {
            return f64::INFINITY;
        }
        let busy = (link * self.instance.link_s).max(ssd * self.instance.ssd_s);
        (busy - self.instance.hidden_s).max(0.0)
    }

    /// Where φ bends, between 0 and `most`.
    fn bends(&self, most: f64) -> Vec<f64> {
        let Instance { link_s, ssd_s, hidden_s, .. } = *self.instance;
        let over = float(self.total) - float(self.instance.memory);
        let host = float(self.instance.host);
        let mut bends = vec![
            over - hidden_s / link_s,
            over - host - hidden_s / ssd_s,
            over - ssd_s * host / (ssd_s - link_s),
        ];
        bends.extend(self.instance.ssd.map(|limit| over - host - float(limit)));
        bends.retain(|bend| bend.is_finite() && (0.0..=most).contains(bend));
        bends.extend([0.0, most]);
        bends
    }
}

/// One kind in the relaxed problem.
#[derive(Clone, Copy, Debug)]
struct Choice {
    kind: usize,
    count: u32,
    /// Bytes that recomputing one frees.
    freed: u64,
    residual: u64,
    seconds: f64,
}

/// A lower bound and what it takes to list the sets near it.
pub struct Dual<'a> {
    relaxed: Relaxed<'a>,
    choices: Vec<Choice>,
    bends: Vec<f64>,
    lambda: f64,
    mu: f64,
    /// min over y of φ(y) + λ·y.
    floor: f64,
    /// The bound, s.
    pub bound: f64,
}

impl<'a> Dual<'a> {
    /// The largest bound that two multipliers give.
    pub fn of(relaxed: Relaxed<'a>, kinds: &[Kind]) -> Self {
        let choices: Vec<Choice> = kinds
            .iter()
            .enumerate()
            // Recomputing what leaves as much as it had frees nothing: keeping it is never worse.
            .filter(|(_, kind)| kind.layer.size > kind.layer.residual)
            .map(|(i, kind)| Choice {
                kind: i,
                count: kind.count(),
                freed: kind.layer.size - kind.layer.residual,
                residual: kind.layer.residual,
                seconds: kind.layer.recompute_s,
            })
            .collect();
        let most: f64 = choices.iter().map(|c| float(c.freed) * f64::from(c.count)).sum();
        let bends = relaxed.bends(most);
        let mut dual =
            Self { relaxed, choices, bends, lambda: 0.0, mu: 0.0, floor: 0.0, bound: 0.0 };
        dual.set(0.0);
        if dual.bound.is_finite()
            && dual.residual_of_base(true) > u128::from(relaxed.instance.memory)
        {
            dual.weigh_residuals();
        }
        dual
    }

    /// Seconds that recomputing one of `choice` costs beyond what it saves at the multipliers.
    fn reduced(&self, choice: &Choice) -> f64 {
        self.price(choice) - self.lambda * float(choice.freed)
    }

    fn price(&self, choice: &Choice) -> f64 {
        choice.seconds + self.mu * float(choice.residual)
    }

    /// The best λ for that μ: the bound is concave in λ and bends at ratios and slopes alone.
    fn set(&mut self, mu: f64) {
        self.mu = mu;
        let Instance { link_s, ssd_s, .. } = *self.relaxed.instance;
        let ratios = self.choices.iter().map(|choice| self.price(choice) / float(choice.freed));
        let mut lambdas: Vec<f64> = ratios.chain([0.0, link_s, ssd_s]).collect();
        lambdas.sort_by(f64::total_cmp);
        let (mut low, mut high) = (0, lambdas.len() - 1);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.bound_at(lambdas[middle]).0 < self.bound_at(lambdas[middle + 1]).0 {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.lambda = lambdas[low];
        (self.bound, self.floor) = self.bound_at(self.lambda);
    }

    fn bound_at(&self, lambda: f64) -> (f64, f64) {
        let gains: f64 = self
            .choices
            .iter()
            .map(|choice| {
                f64::from(choice.count)
                    * (self.price(choice) - lambda * float(choice.freed)).min(0.0)
            })
            .sum();
        let at = |&y: &f64| self.relaxed.exposed(y) + lambda * y;
        let floor = self.bends.iter().map(at).fold(f64::INFINITY, f64::min);
        (gains + floor - self.mu * float(self.relaxed.instance.memory), floor)
    }

    /// Residuals of what the multipliers would recompute, with or without the undecided kinds.
    fn residual_of_base(&self, undecided: bool) -> u128 {
        let taken = |choice: &&Choice| self.takes(choice, undecided);
        let residual = |choice: &Choice| u128::from(choice.residual) * u128::from(choice.count);
        self.choices.iter().filter(taken).map(residual).sum()
    }

    /// Residuals must fit too: the best μ, by ternary search on a concave function. Whatever it stops at is a bound.
    fn weigh_residuals(&mut self) {
        let best = |dual: &mut Self, mu: f64| {
            dual.set(mu);
            dual.bound
        };
        let (mut low, mut high) = (0.0, self.relaxed.instance.link_s.max(1e-15));
        while best(self, 2.0 * high) > best(self, high) && high < 1.0 {
            high *= 2.0;
        }
        high *= 2.0;
        for _ in 0..80 {
            let third = (high - low) / 3.0;
            if best(self, low + third) < best(self, high - third) {
                low += third;
            } else {
                high -= third;
            }
        }
        let middle = f64::midpoint(low, high);
        if best(self, 0.0) < best(self, middle) {
            return;
        }
        self.set(0.0);
    }

    /// The least of φ(y + Δ) + λ·(y + Δ) + `ratio`·|Δ| above its floor: what is still to be paid when every further kind costs at
    /// least `ratio` per byte that it moves y.
    fn rest(&self, y: u64, ratio: f64) -> f64 {
        let y = float(y);
        let here = self.relaxed.exposed(y) + self.lambda * y;
        let at = |&bend: &f64| {
            self.relaxed.exposed(bend) + self.lambda * bend + ratio * (bend - y).abs()
        };
        self.bends.iter().map(at).fold(here, f64::min) - self.floor
    }

    /// What is still to be paid, at least, when every further kind costs at least `per` per byte that it moves y, and per byte that
    /// it moves the residuals.
    fn open(&self, state: &State, per: (f64, f64)) -> f64 {
        let freed = self.rest(state.freed, per.0);
        if self.mu <= 0.0 && state.residual <= self.relaxed.instance.memory {
            return freed;
        }
        let memory = self.relaxed.instance.memory;
        let residual = |per: f64| {
            if state.residual > memory {
                let over = float(state.residual - memory);
                if per.is_finite() { over * per } else { f64::INFINITY }
            } else {
                float(memory - state.residual) * self.mu.min(per)
            }
        };
        // Both are moved by the same kinds: each alone, or each at half the price.
        let both = self.rest(state.freed, 0.5 * per.0) + residual(0.5 * per.1);
        freed.max(residual(per.1)).max(both)
    }

    /// What the multipliers recompute, with or without the undecided kinds, as counts of each of `kinds` kinds.
    pub fn base(&self, kinds: usize, undecided: bool) -> Vec<u32> {
        let mut counts = vec![0; kinds];
        for choice in self.choices.iter().filter(|choice| self.takes(choice, undecided)) {
            counts[choice.kind] = choice.count;
        }
        counts
    }

    /// The base, and of the undecided kinds as many as free what is missing where φ + λ·y is least.
    pub fn rounded(&self, kinds: usize, work: &mut Work) -> Vec<u32> {
        let mut counts = self.base(kinds, false);
        let sure = |choice: &&Choice| counts[choice.kind] > 0;
        let freed: u64 =
            self.choices.iter().filter(sure).map(|c| c.freed * u64::from(c.count)).sum();
        let open = |choice: &&Choice| counts[choice.kind] == 0 && self.takes(choice, true);
        let open: Vec<&Choice> = self.choices.iter().filter(open).collect();
        let cost = |y: f64| self.relaxed.exposed(y) + self.lambda * y;
        let least = self.bends.iter().copied().min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
        let cap = Bytes::from_f64(least.unwrap_or(0.0)).0.saturating_sub(freed);
        let stock: Vec<Stock> =
            open.iter().map(|c| Stock { size: c.freed, count: c.count }).collect();
        let wanted = Wanted { floor: 0, cap, enough: cap, effort: Effort::Good };
        for (choice, n) in open.iter().zip(fill(&stock, wanted, work).counts) {
            counts[choice.kind] = n;
        }
        counts
    }

    /// Kinds whose reduced cost is nothing but rounding are undecided.
    fn takes(&self, choice: &Choice, undecided: bool) -> bool {
        let (reduced, rounding) = (self.reduced(choice), 1e-13 * self.price(choice));
        reduced < -rounding || undecided && reduced <= rounding
    }

    fn settled(&self, choice: &Choice) -> u32 {
        if self.reduced(choice) < 0.0 { choice.count } else { 0 }
    }

    /// The sets that cost at most `gap` more than the bound, least first: all of them, or some good ones where they are too many.
    pub fn sets(&self, gap: f64, work: &mut Work) -> Sets {
        let mut open: Vec<(f64, f64, &Choice)> = self
            .choices
            .iter()
            .map(|choice| (self.reduced(choice).abs(), choice))
            .map(|(cost, choice)| (cost / float(choice.freed), cost, choice))
            .filter(|(_, cost, _)| *cost <= gap)
            .collect();
        open.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.kind.cmp(&b.2.kind)));
        let sum = |bytes: fn(&Choice) -> u64| {
            self.choices.iter().map(|choice| bytes(choice) * u64::from(self.settled(choice))).sum()
        };
        // Per byte of residual, the least that this kind and those after it cost.
        let mut least = vec![f64::INFINITY; open.len() + 1];
        for (i, &(_, cost, choice)) in open.iter().enumerate().rev() {
            let per =
                if choice.residual > 0 { cost / float(choice.residual) } else { least[i + 1] };
            least[i] = least[i + 1].min(per);
        }
        let root =
            State { dev: 0.0, freed: sum(|c| c.freed), residual: sum(|c| c.residual), step: 0 };
        let mut steps = vec![Step { before: 0, kind: usize::MAX, count: 0 }];
        let mut states = vec![root];
        let mut complete = true;
        for (i, &(_, cost, choice)) in open.iter().enumerate() {
            let per = (open.get(i + 1).map_or(f64::INFINITY, |next| next.0), least[i + 1]);
            let settled = self.settled(choice);
            let (before, mut looks) = (states.len(), states.len());
            for s in 0..before {
                if states.len() > 4 * MOST_STATES {
                    complete = false;
                    break;
                }
                let state = states[s];
                for n in 1..=choice.count {
                    let dev = state.dev + f64::from(n) * cost;
                    if dev > gap {
                        break;
                    }
                    let count = if settled == 0 { n } else { settled - n };
                    let moved = |bytes: u64, each: u64| {
                        let all = each * u64::from(n);
                        if settled == 0 { bytes + all } else { bytes - all }
                    };
                    let freed = moved(state.freed, choice.freed);
                    let residual = moved(state.residual, choice.residual);
                    let step = u32::try_from(steps.len()).unwrap_or(u32::MAX);
                    let next = State { dev, freed, residual, step };
                    looks += 1;
                    if dev + self.open(&next, per) > gap {
                        continue;
                    }
                    steps.push(Step { before: state.step, kind: choice.kind, count });
                    states.push(next);
                }
            }
            states.retain(|state| state.dev + self.open(state, per) <= gap);
            if states.len() > MOST_STATES
                || steps.len() > 4 * MOST_STATES
                || !work.take(LOOK * looks)
            {
                complete = false;
                states = self.few(&states, per);
            }
        }
        let memory = self.relaxed.instance.memory;
        states.retain(|state| state.residual <= memory);
        let mut list: Vec<(f64, u32)> =
            states.iter().map(|state| (self.value(state), state.step)).collect();
        list.retain(|set| set.0 <= self.bound + gap);
        list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let base = self.choices.iter().map(|choice| (choice.kind, self.settled(choice))).collect();
        Sets { base, steps, list, complete }
    }

    /// The least costly of `states`.
    fn few(&self, states: &[State], per: (f64, f64)) -> Vec<State> {
        let cost = |state: &State| state.dev + self.open(state, per);
        let mut costs: Vec<(f64, State)> =
            states.iter().map(|state| (cost(state), *state)).collect();
        costs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.step.cmp(&b.1.step)));
        costs.truncate(FEW_STATES);
        costs.into_iter().map(|(_, state)| state).collect()
    }

    /// r(R) + φ(y), from the bound up.
    fn value(&self, state: &State) -> f64 {
        let slack = float(self.relaxed.instance.memory - state.residual);
        self.bound + state.dev + self.rest(state.freed, f64::INFINITY) + self.mu * slack
    }
}

/// Elementary steps that one look at a partial set takes.
const LOOK: usize = 12;
/// Partial sets that are held at once, and how many of them go on where they were more.
const MOST_STATES: usize = 1 << 20;
const FEW_STATES: usize = 1 << 9;

#[derive(Clone, Copy)]
struct State {
    dev: f64,
    freed: u64,
    residual: u64,
    step: u32,
}

struct Step {
    before: u32,
    kind: usize,
    count: u32,
}

/// Sets of recomputed layers, as counts per kind.
pub struct Sets {
    base: Vec<(usize, u32)>,
    steps: Vec<Step>,
    /// What each costs at least, s, ascending, and where it is.
    pub list: Vec<(f64, u32)>,
    /// None within the gap is missing.
    pub complete: bool,
}

impl Sets {
    /// How many of each of `kinds` kinds are recomputed.
    pub fn counts(&self, at: u32, kinds: usize) -> Vec<u32> {
        let mut counts = vec![0; kinds];
        for &(kind, count) in &self.base {
            counts[kind] = count;
        }
        let mut at = at;
        while at != 0 {
            let step = &self.steps[at as usize];
            counts[step.kind] = step.count;
            at = step.before;
        }
        counts
    }
}
