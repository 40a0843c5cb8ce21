//! Subset sums of bounded multisets: two sorted lists of partial sums, met in the middle (Horowitz and Sahni 1974), the pairs in descending
//! order by a heap. Principal type
//! [`Halves`]: none where a list would be longer than its limit.

use std::collections::BinaryHeap;

/// One size and how many there are of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stock {
    /// Bytes of each; not zero.
    pub size: u64,
    /// How many.
    pub count: u32,
}

/// Elementary steps left.
#[derive(Debug)]
pub struct Work(pub u64);

impl Work {
    /// Takes `steps`; false when there are none left.
    pub fn take(&mut self, steps: usize) -> bool {
        self.0 = self.0.saturating_sub(steps as u64);
        self.0 > 0
    }
}

/// All sums of some kinds of stock up to a cap, ascending, each with its counts as one number in mixed radix.
struct Sums {
    kinds: Vec<usize>,
    list: Vec<(u64, u32)>,
}

impl Sums {
    fn of(
        stock: &[Stock],
        kinds: Vec<usize>,
        cap: u64,
        limit: usize,
        work: &mut Work,
    ) -> Option<Self> {
        let mut list = vec![(0, 0)];
        let mut radix: u32 = 1;
        for &kind in &kinds {
            let Stock { size, count } = stock[kind];
            let base = list.clone();
            for n in 1..=count {
                let Some(more) = size.checked_mul(u64::from(n)).filter(|&more| more <= cap) else {
                    break;
                };
                let code = radix.checked_mul(n)?;
                list = merge(&list, base.iter().map(|&(sum, at)| (sum + more, at + code)), cap);
                if list.len() > limit || !work.take(list.len()) {
                    return None;
                }
            }
            radix = radix.checked_mul(count + 1)?;
        }
        Some(Self { kinds, list })
    }

    fn counts(&self, stock: &[Stock], mut code: u32, counts: &mut [u32]) {
        for &kind in &self.kinds {
            let radix = stock[kind].count + 1;
            counts[kind] = code % radix;
            code /= radix;
        }
    }
}

fn merge(a: &[(u64, u32)], b: impl Iterator<Item = (u64, u32)>, cap: u64) -> Vec<(u64, u32)> {
    let mut merged = Vec::with_capacity(2 * a.len());
    let mut a = a.iter().copied().peekable();
    for item in b.take_while(|item| item.0 <= cap) {
        while let Some(first) = a.next_if(|first| first.0 <= item.0) {
            merged.push(first);
        }
        merged.push(item);
    }
    merged.extend(a);
    merged
}

/// The subsets of some kinds whose sum lies in a window, as pairs of two lists. What is listed is what is taken or, where that is
/// the smaller part of the window, what is left.
pub struct Halves<'a> {
    stock: &'a [Stock],
    left: Sums,
    right: Sums,
    leaves: bool,
    total: u64,
    cap: u64,
    floor: u64,
}

/// A pair: the sum that it takes, and the two places.
type Pair = (u64, usize, usize);

impl<'a> Halves<'a> {
    /// The subsets of the kinds in `chosen` with sums from `floor` to `cap`; none where a list would be longer than `limit` or the
    /// work runs out.
    pub fn of(
        stock: &'a [Stock],
        chosen: &[usize],
        (floor, cap): (u64, u64),
        limit: usize,
        work: &mut Work,
    ) -> Option<Self> {
        let mut order = chosen.to_vec();
        order.sort_by_key(|&kind| (std::cmp::Reverse(stock[kind].count), kind));
        let mut sides = [(1.0, Vec::new()), (1.0, Vec::new())];
        let mut total = 0;
        for kind in order {
            let side = usize::from(sides[1].0 < sides[0].0);
            sides[side].0 *= f64::from(stock[kind].count + 1);
            sides[side].1.push(kind);
            total += stock[kind].size * u64::from(stock[kind].count);
        }
        let cap = cap.min(total);
        let leaves = total.saturating_sub(floor) < cap;
        let most = if leaves { total - floor.min(total) } else { cap };
        let [left, right] = sides.map(|(_, kinds)| kinds);
        let left = Sums::of(stock, left, most, limit, work)?;
        let right = Sums::of(stock, right, most, limit, work)?;
        Some(Self { stock, left, right, leaves, total, cap, floor })
    }

    /// The largest sum in the window for the `i`th entry on the left, given the place that the entry before it had.
    fn best(&self, i: usize, j: &mut usize) -> Option<Pair> {
        let (left, right) = (self.left.list[i].0, &self.right.list);
        let listed = if self.leaves {
            // The least that is left and not below what must be.
            while *j > 0 && left + right[*j - 1].0 >= self.total - self.cap {
                *j -= 1;
            }
            left + right.get(*j)?.0
        } else {
            while left + right[*j].0 > self.cap {
                *j -= 1;
            }
            left + right[*j].0
        };
        let taken = if self.leaves { self.total.checked_sub(listed)? } else { listed };
        (taken >= self.floor).then_some((taken, i, *j))
    }

    /// For each entry on the left its largest sum in the window.
    fn firsts(&self) -> impl Iterator<Item = Pair> + '_ {
        let mut j = if self.leaves { self.right.list.len() } else { self.right.list.len() - 1 };
        (0..self.left.list.len()).filter_map(move |i| self.best(i, &mut j))
    }

    /// The largest sum in the window.
    pub fn largest(&self) -> Option<Pair> {
        self.firsts().max()
    }

    /// All sums in the window, largest first.
    pub fn descending(&self) -> Descending<'_> {
        Descending { halves: self, heap: BinaryHeap::from(self.firsts().collect::<Vec<_>>()) }
    }

    /// Writes the counts of a pair over those of the chosen kinds.
    pub fn counts(&self, pair: Pair, counts: &mut [u32]) {
        self.left.counts(self.stock, self.left.list[pair.1].1, counts);
        self.right.counts(self.stock, self.right.list[pair.2].1, counts);
        if self.leaves {
            for &kind in self.left.kinds.iter().chain(&self.right.kinds) {
                counts[kind] = self.stock[kind].count - counts[kind];
            }
        }
    }
}

/// Pairs in descending order of their sum.
pub struct Descending<'a> {
    halves: &'a Halves<'a>,
    heap: BinaryHeap<Pair>,
}

impl Iterator for Descending<'_> {
    type Item = Pair;

    fn next(&mut self) -> Option<Pair> {
        let pair = self.heap.pop()?;
        let (halves, (_, i, j)) = (self.halves, pair);
        let next = if halves.leaves { j + 1 } else { j.wrapping_sub(1) };
        if let Some(right) = halves.right.list.get(next) {
            let listed = halves.left.list[i].0 + right.0;
            let taken = if halves.leaves { halves.total.checked_sub(listed) } else { Some(listed) };
            if let Some(taken) = taken.filter(|&taken| taken >= halves.floor) {
                self.heap.push((taken, i, next));
            }
        }
        Some(pair)
    }
}

/// Stock and sums for tests.
#[cfg(test)]
pub mod samples {
    use super::Stock;

    pub fn stock(seed: u64, kinds: usize) -> Vec<Stock> {
        let drawn = |n: usize| 1 + (seed * 7919 + n as u64 * 104_729) % 4001 % 60;
        let count = |n: usize| if (n as u64 + seed).is_multiple_of(3) { 3 } else { 1 };
        (0..kinds).map(|n| Stock { size: drawn(n), count: count(n) }).collect()
    }

    /// All sums, with repetitions, ascending.
    pub fn sums(stock: &[Stock]) -> Vec<u64> {
        let mut sums = vec![0];
        for kind in stock {
            let more = |n: u32| kind.size * u64::from(n);
            sums =
                (0..=kind.count).flat_map(|n| sums.iter().map(move |sum| sum + more(n))).collect();
        }
        sums.sort_unstable();
        sums
    }

    pub fn worth(stock: &[Stock], counts: &[u32]) -> u64 {
        assert!(stock.iter().zip(counts).all(|(kind, &n)| n <= kind.count));
        stock.iter().zip(counts).map(|(kind, &n)| kind.size * u64::from(n)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{stock, sums, worth};
    use super::*;

    /// Each subset in a window once, largest first, whether what is taken is listed or what is left.
    #[test]
    fn windows_hold_every_subset() {
        for seed in 0..40 {
            let stock = stock(seed, 6);
            let (all, every) = (sums(&stock), (0..6).collect::<Vec<_>>());
            let total = all[all.len() - 1];
            for (floor, cap) in [
                (0, total),
                (0, total / 3),
                (total / 2, total),
                (total / 3, total / 2),
                (total, total + 9),
                (7, 6),
            ] {
                let halves = Halves::of(&stock, &every, (floor, cap), 1000, &mut Work(u64::MAX))
                    .expect("short lists");
                let mut counts = vec![0; 6];
                let found: Vec<u64> = halves
                    .descending()
                    .inspect(|&pair| {
                        halves.counts(pair, &mut counts);
                        assert_eq!(worth(&stock, &counts), pair.0);
                    })
                    .map(|pair| pair.0)
                    .collect();
                let wanted = all.iter().rev().filter(|sum| (floor..=cap).contains(*sum));
                assert_eq!(
                    found,
                    wanted.copied().collect::<Vec<_>>(),
                    "seed {seed}, {floor} to {cap}"
                );
                assert_eq!(halves.largest().map(|pair| pair.0), found.first().copied());
            }
        }
    }
}
