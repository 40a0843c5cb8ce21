//! Which tensors to save within a budget: the 0/1 knapsack, exactly. A dominance-pruned programme over the core (Pisinger 1997,
//! "minknap"): tensors are decided in order of how close their runtime per byte is to the break-even one, and a partial choice is
//! dropped where another is no heavier and worth no less, or where the bound says that it cannot win.

use super::float;

/// Sizes, runtimes and a budget. Sizes sum to at most 2^60 bytes; runtimes are finite and not negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Knapsack {
    /// Bytes of each tensor.
    pub sizes: Vec<u64>,
    /// What recomputing it takes, s: saved if it is kept.
    pub runtimes: Vec<f64>,
    /// Bytes that may be kept.
    pub budget: u64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Indices of the kept tensors, ascending.
    pub kept: Vec<usize>,
    /// Their runtimes together, s.
    pub saved_s: f64,
    /// No choice saves more than this, s.
    pub bound_s: f64,
    /// `saved_s` is the most there is, to 1e-12 of it.
    pub optimal: bool,
}

/// Partial choices held in all before the search stops with what it has.
const MOST_STEPS: usize = 1 << 22;
/// And how often they are looked at.
const MOST_VISITS: usize = 1 << 28;

#[derive(Clone, Copy)]
struct Tensor {
    index: usize,
    size: u64,
    runtime: f64,
    ratio: f64,
}

#[derive(Clone, Copy)]
struct State {
    size: u64,
    saved: f64,
    step: u32,
}

/// A change of one tensor's choice against the greedy one.
struct Step {
    before: u32,
    index: usize,
}

impl Knapsack {
    /// The set of largest total runtime within the budget.
    #[must_use]
    pub fn solve(&self) -> Kept {
        let mut kept = vec![false; self.sizes.len()];
        let mut tensors = Vec::new();
        for (index, (&size, &runtime)) in self.sizes.iter().zip(&self.runtimes).enumerate() {
            if size == 0 {
                kept[index] = true;
            } else if size <= self.budget && runtime > 0.0 {
                tensors.push(Tensor { index, size, runtime, ratio: runtime / float(size) });
            }
        }
        tensors.sort_by(|a, b| {
            b.ratio.total_cmp(&a.ratio).then(a.size.cmp(&b.size)).then(a.index.cmp(&b.index))
        });
        let bound = Core::of(tensors, self.budget).run(&mut kept);
        let kept: Vec<usize> = (0..kept.len()).filter(|&i| kept[i]).collect();
        // Not sum(): that of nothing is -0.
        let saved_s = kept.iter().fold(0.0, |sum, &i| sum + self.runtimes[i]);
        Kept {
            kept,
            saved_s,
            bound_s: bound.unwrap_or(saved_s).max(saved_s),
            optimal: bound.is_none(),
        }
    }
}

struct Core {
    tensors: Vec<Tensor>,
    budget: u64,
    /// Tensors before this one are kept greedily; it is the first that does not fit.
    pivot: usize,
    size: u64,
    saved: f64,
    best: f64,
    steps: Vec<Step>,
}

impl Core {
    fn of(tensors: Vec<Tensor>, budget: u64) -> Self {
        let grain = tensors.iter().fold(0, |grain, tensor| super::solve::gcd(grain, tensor.size));
        let budget = budget / grain.max(1) * grain;
        let (mut pivot, mut size, mut saved) = (0, 0, 0.0);
        while let Some(tensor) = tensors.get(pivot).filter(|tensor| size + tensor.size <= budget) {
            size += tensor.size;
            saved += tensor.runtime;
            pivot += 1;
        }
        let steps = vec![Step { before: 0, index: usize::MAX }];
        Self { tensors, budget, pivot, size, saved, best: saved, steps }
    }

    /// Marks the best choice; the bound where the search was stopped.
    fn run(mut self, kept: &mut [bool]) -> Option<f64> {
        for tensor in &self.tensors[..self.pivot] {
            kept[tensor.index] = true;
        }
        let mut best_step = 0;
        let extra = self.fill_up();
        let mut best_extra = Some(extra);
        let (mut low, mut high) = (self.pivot, self.pivot);
        let mut states = vec![State { size: self.size, saved: self.saved, step: 0 }];
        let (mut stopped, mut visited) = (None, 0);
        while !states.is_empty() && (low > 0 || high < self.tensors.len()) {
            let add = self.takes_next(low, high);
            let tensor = if add { self.tensors[high] } else { self.tensors[low - 1] };
            if add {
                high += 1;
            } else {
                low -= 1;
            }
            states = self.expand(&states, &tensor, add);
            for state in &states {
                if state.size <= self.budget && state.saved > self.best {
                    self.best = state.saved;
                    best_step = state.step;
                    best_extra = None;
                }
            }
            let floor = self.best * (1.0 + 1e-13);
            states.retain(|state| self.bound(state, low, high) > floor);
            visited += states.len();
            if self.steps.len() > MOST_STEPS || visited > MOST_VISITS {
                let bounds = states.iter().map(|state| self.bound(state, low, high));
                stopped = Some(bounds.fold(self.best, f64::max));
                break;
            }
        }
        for tensor in best_extra.into_iter().flatten() {
            kept[tensor] = true;
        }
        while best_step != 0 {
            let step = &self.steps[best_step as usize];
            kept[step.index] = !kept[step.index];
            best_step = step.before;
        }
        stopped
    }

    /// A first answer: the greedy choice and whatever still fits beside it.
    fn fill_up(&mut self) -> Vec<usize> {
        let mut room = self.budget - self.size;
        let mut extra = Vec::new();
        for tensor in &self.tensors[self.pivot..] {
            if tensor.size <= room {
                room -= tensor.size;
                self.best += tensor.runtime;
                extra.push(tensor.index);
            }
        }
        extra
    }

    /// Whether the nearest undecided tensor is one to add (else one to give up).
    fn takes_next(&self, low: usize, high: usize) -> bool {
        let Some(next) = self.tensors.get(high) else { return false };
        if low == 0 {
            return true;
        }
        let middle = self.tensors[self.pivot.min(self.tensors.len() - 1)].ratio;
        middle - next.ratio <= self.tensors[low - 1].ratio - middle
    }

    /// The states with and without the change, by ascending size, none dominated.
    fn expand(&mut self, states: &[State], tensor: &Tensor, add: bool) -> Vec<State> {
        let changed = |state: &State| {
            if add {
                (state.size + tensor.size, state.saved + tensor.runtime)
            } else {
                (state.size - tensor.size, state.saved - tensor.runtime)
            }
        };
        let mut merged: Vec<State> = Vec::with_capacity(2 * states.len());
        let mut most = f64::NEG_INFINITY;
        let (mut i, mut j) = (0, 0);
        while i < states.len() || j < states.len() {
            let moved = states.get(j).map(changed);
            let first = states.get(i).filter(|state| {
                // At equal size the one worth more comes first.
                moved.is_none_or(|(size, saved)| {
                    state.size < size || state.size == size && state.saved >= saved
                })
            });
            let state = if let Some(&state) = first {
                i += 1;
                state
            } else if let Some((size, saved)) = moved {
                let before = states[j].step;
                j += 1;
                if saved <= most {
                    continue;
                }
                let step = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
                self.steps.push(Step { before, index: tensor.index });
                State { size, saved, step }
            } else {
                break;
            };
            if state.saved > most {
                most = state.saved;
                merged.push(state);
            }
        }
        merged
    }

    /// No choice of the tensors still undecided makes more of `state`.
    fn bound(&self, state: &State, low: usize, high: usize) -> f64 {
        if state.size <= self.budget {
            let ratio = self.tensors.get(high).map_or(0.0, |tensor| tensor.ratio);
            state.saved + float(self.budget - state.size) * ratio
        } else if low > 0 {
            state.saved - float(state.size - self.budget) * self.tensors[low - 1].ratio
        } else {
            f64::NEG_INFINITY
        }
    }
}
