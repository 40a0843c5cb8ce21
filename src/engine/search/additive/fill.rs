//! Filling a room: the largest sum of a stock up to a cap. Principal function [`fill`]; exact where its lists are short, good where they
//! are not, and it says which.

use super::subset::{Halves, Stock, Work};

/// What [`fill`] found.
#[derive(Debug)]
pub struct Filled {
    /// The sum.
    pub sum: u64,
    /// How many of each kind.
    pub counts: Vec<u32>,
    /// No sum in the window is larger, or this one was enough.
    pub exact: bool,
}

/// What [`fill`] is to find.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Sums below this are of no use.
    pub floor: u64,
    /// Sums above this do not fit.
    pub cap: u64,
    /// A sum of this size is as good as any.
    pub enough: u64,
    /// How hard to look.
    pub effort: Effort,
}

/// How hard to look for the largest sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Whatever fits, largest first.
    Greedy,
    /// Exact where that is short, else the best of some parts.
    Good,
    /// Exact if lists of this length do.
    Exact(usize),
}

/// Longest list where an exact answer is sought at once.
const SHORT: usize = 1 << 13;
/// Longest list where a part is searched: 30 different kinds have about one subset a byte where they have most.
const LONG: usize = 1 << 15;
/// Subsets of a part: what two such lists pair up to.
const OPEN: f64 = 1_073_741_824.0;
/// Elementary steps per kind that a part takes to be drawn.
const STEPS: usize = 8;
/// Parts that are tried where the whole is too much.
const TRIES: u64 = 12;

/// The largest sum of `stock` in the window, or the first found that is enough.
pub fn fill(stock: &[Stock], wanted: Wanted, work: &mut Work) -> Filled {
    let Wanted { floor, cap, effort, .. } = wanted;
    let total: u64 = stock.iter().map(|kind| kind.size * u64::from(kind.count)).sum();
    if total <= cap {
        let counts = stock.iter().map(|kind| kind.count).collect();
        return Filled { sum: total, counts, exact: true };
    }
    let enough = wanted.enough.min(cap);
    let order: Vec<usize> = (0..stock.len()).rev().collect();
    let (sum, counts) = greedy(stock, &order, cap);
    let mut best = Filled { sum, counts, exact: sum >= enough };
    if best.exact || effort == Effort::Greedy {
        return best;
    }
    let all: Vec<usize> = (0..stock.len()).collect();
    let exactly = |best: &mut Filled, limit: usize, work: &mut Work| {
        let window = (floor.max(best.sum + 1), cap);
        let Some(halves) = Halves::of(stock, &all, window, limit, work) else { return };
        if let Some(pair) = halves.largest() {
            halves.counts(pair, &mut best.counts);
            best.sum = pair.0;
        }
        best.exact = true;
    };
    exactly(&mut best, if effort == Effort::Good { SHORT } else { 2 * LONG }, work);
    for seed in 0..TRIES {
        if best.exact || !work.take(STEPS * stock.len()) {
            return best;
        }
        let part = Part::of(stock, cap, seed);
        let window = ((best.sum + 1).saturating_sub(part.sum), cap - part.sum);
        let halves = Halves::of(stock, &part.core, window, 2 * LONG, work);
        let Some(halves) = halves else { break };
        if let Some(pair) = halves.largest() {
            best.sum = part.sum + pair.0;
            best.counts = part.counts;
            halves.counts(pair, &mut best.counts);
            best.exact = best.sum >= enough;
        }
    }
    if let (false, Effort::Exact(limit)) = (best.exact, effort) {
        exactly(&mut best, limit, work);
    }
    best
}

/// Takes what fits, in that order.
fn greedy(stock: &[Stock], order: &[usize], cap: u64) -> (u64, Vec<u32>) {
    let (mut sum, mut counts) = (0, vec![0; stock.len()]);
    for &kind in order {
        let n = ((cap - sum) / stock[kind].size).min(u64::from(stock[kind].count));
        sum += n * stock[kind].size;
        counts[kind] = u32::try_from(n).unwrap_or(stock[kind].count);
    }
    (sum, counts)
}

/// Kinds left open, and what the others contribute.
pub struct Part {
    /// The open kinds.
    pub core: Vec<usize>,
    /// Of the others.
    pub sum: u64,
    /// Of the others; zero for the open ones.
    pub counts: Vec<u32>,
}

impl Part {
    /// As many kinds as two lists hold stay open, drawn by `seed`; the others are filled in until half of the open sum is what is
    /// missing: there the open kinds have most subsets.
    pub fn of(stock: &[Stock], cap: u64, seed: u64) -> Self {
        let order = shuffled(stock.len(), seed);
        let (mut product, mut open, mut total) = (1.0, 0, 0);
        for &kind in &order {
            product *= f64::from(stock[kind].count + 1);
            if product > OPEN {
                break;
            }
            total += stock[kind].size * u64::from(stock[kind].count);
            open += 1;
        }
        let (core, rest) = order.split_at(open);
        let (sum, counts) = greedy(stock, rest, cap.saturating_sub(total / 2));
        Self { core: core.to_vec(), sum, counts }
    }
}

/// The same order for the same seed, everywhere (Fisher and Yates, with Knuth's 64-bit congruence).
fn shuffled(len: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    let mut state = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    for i in (1..len).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let j = usize::try_from((state >> 33) % (i as u64 + 1)).unwrap_or(0);
        order.swap(i, j);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::super::subset::samples::{stock, sums, worth};
    use super::*;

    /// The largest sum that fits, at every effort that says so.
    #[test]
    fn fillings_are_the_largest() {
        for seed in 0..60 {
            let stock = stock(seed, 7);
            let all = sums(&stock);
            for cap in (0..=all[all.len() - 1]).step_by(13) {
                let best = all.iter().rev().find(|sum| **sum <= cap).copied();
                for effort in [Effort::Greedy, Effort::Good, Effort::Exact(4), Effort::Exact(1000)]
                {
                    let wanted = Wanted { floor: 0, cap, enough: cap, effort };
                    let filled = fill(&stock, wanted, &mut Work(u64::MAX));
                    assert_eq!(worth(&stock, &filled.counts), filled.sum);
                    assert!(filled.sum <= cap && (!filled.exact || Some(filled.sum) == best));
                    assert!(filled.exact || effort == Effort::Greedy);
                }
            }
        }
    }

    /// Of many kinds, parts fill a room to the byte; where nothing may be listed, the answer is not called exact.
    #[test]
    fn parts_fill_to_the_byte() {
        let mut state: u64 = 7;
        let sizes = (0..60).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            40_000_000 + (state >> 33) % 500_000_000
        });
        let stock: Vec<Stock> = sizes.map(|size| Stock { size, count: 1 }).collect();
        let cap = 7_123_456_789;
        let wanted = Wanted { floor: 0, cap, enough: cap, effort: Effort::Good };
        let filled = fill(&stock, wanted, &mut Work(u64::MAX));
        assert_eq!((worth(&stock, &filled.counts), filled.exact), (cap, true));
        let filled = fill(&stock, wanted, &mut Work(1));
        assert!(filled.sum < cap && !filled.exact);
    }
}
