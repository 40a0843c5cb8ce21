//! Who stays and who goes to the host, once it is settled which layers are recomputed. Kept, host and SSD bytes all cost the same
//! per byte, so only two sums matter: the kept, up to the memory left, and the host's, up to its limit. Principal function [`pack`].

use super::fill::{Effort, Filled, Part, Wanted, fill};
use super::subset::{Halves, Stock, Work};
use super::{Instance, float};

/// The rooms to be filled and what it is worth.
#[derive(Clone, Copy, Debug)]
pub struct Rooms<'a> {
    /// Rates and limits.
    pub instance: &'a Instance,
    /// Memory left beside residuals.
    pub memory: u64,
    /// Host memory.
    pub host: u64,
    /// Bytes to be placed.
    pub total: u64,
}

impl Rooms<'_> {
    /// No choice of the kept and of the host's exposes less than this, s.
    pub fn least(&self) -> f64 {
        self.exposed(self.memory, self.host)
    }

    /// Exposed time where so much is kept and so much on the host, s; infinite where the SSD cannot take the rest.
    pub fn exposed(&self, kept: u64, host: u64) -> f64 {
        let link = self.total.saturating_sub(kept);
        let ssd = link.saturating_sub(host);
        if self.instance.ssd.is_some_and(|limit| ssd > limit) {
            return f64::INFINITY;
        }
        self.instance.exposed(link, ssd)
    }

    /// The fewest kept bytes, and the fewest of kept and host together, that can expose less than `below`.
    fn floors(&self, below: f64) -> (u64, u64) {
        let busy = below + self.instance.hidden_s;
        let link = most_bytes(busy, self.instance.link_s);
        let ssd = most_bytes(busy, self.instance.ssd_s).min(self.instance.ssd.unwrap_or(u64::MAX));
        let both = self.total.saturating_sub(ssd);
        (self.total.saturating_sub(link).max(both.saturating_sub(self.host)), both)
    }
}

/// Bytes that take at most that long, rounded up.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturating: what is beyond the range is beyond every size"
)]
pub fn most_bytes(seconds: f64, per_byte: f64) -> u64 {
    if per_byte > 0.0 { ((seconds / per_byte) * (1.0 + 1e-15)).ceil() as u64 } else { u64::MAX }
}

/// A filling.
#[derive(Clone, Debug)]
pub struct Packed {
    /// Exposed time, s.
    pub exposed: f64,
    /// How many of each kind stay.
    pub kept: Vec<u32>,
    /// How many of each kind go to the host.
    pub host: Vec<u32>,
}

/// The best filling below a given exposed time, if there is one.
#[derive(Debug)]
pub struct Outcome {
    /// The best found.
    pub best: Option<Packed>,
    /// No filling is better than that one, or none is below what was asked.
    pub exact: bool,
}

/// Longest lists of an exact search, tried in turn.
const LONG: [usize; 2] = [1 << 17, 1 << 20];
/// Longest lists at first, where parts may already do.
const SHORT: usize = 1 << 15;
/// Parts that are tried before a long exact search.
const TRIES: u64 = 24;
/// Fillings of the memory that are tried in one part.
const DRAWS: usize = 64;

/// The least exposed time below `below` by more than `tolerance`.
pub fn pack(
    rooms: &Rooms,
    stock: &[Stock],
    below: f64,
    tolerance: f64,
    work: &mut Work,
) -> Outcome {
    let mut search = Search { rooms, stock, best: None, below, tolerance };
    let exact = search.run(work) || search.done();
    Outcome { best: search.best, exact }
}

/// A good filling below `below`, quickly.
pub fn pack_quickly(rooms: &Rooms, stock: &[Stock], below: f64, work: &mut Work) -> Option<Packed> {
    let mut search = Search { rooms, stock, best: None, below, tolerance: 0.0 };
    search.keep_greedily(work);
    search.best
}

struct Search<'a> {
    rooms: &'a Rooms<'a>,
    stock: &'a [Stock],
    best: Option<Packed>,
    below: f64,
    tolerance: f64,
}

impl Search<'_> {
    /// Returns whether what it found is certain to be the best.
    fn run(&mut self, work: &mut Work) -> bool {
        if self.done() {
            return true;
        }
        self.keep_greedily(work);
        if self.done() {
            return true;
        }
        let all: Vec<usize> = (0..self.stock.len()).collect();
        if let Some(certain) = self.keep_first(&all, SHORT, work) {
            return certain;
        }
        for seed in 0..TRIES {
            let part = Part::of(self.stock, self.rooms.memory, seed);
            let window = (self.floors().0.saturating_sub(part.sum), self.rooms.memory - part.sum);
            let halves = Halves::of(self.stock, &part.core, window, 2 * SHORT, work);
            let Some(halves) = halves else { break };
            self.walk(&halves, &part, (DRAWS, Effort::Good), work);
            if self.done() {
                return true;
            }
        }
        for limit in LONG {
            let kept = self.keep_first(&all, limit, work);
            if let Some(certain) = kept.or_else(|| self.host_first(&all, limit, work)) {
                return certain;
            }
        }
        false
    }

    /// Nothing better is possible.
    fn done(&self) -> bool {
        self.rooms.least() >= self.below - self.tolerance
    }

    fn floors(&self) -> (u64, u64) {
        self.rooms.floors(self.below)
    }

    fn keep_greedily(&mut self, work: &mut Work) {
        let cap = self.rooms.memory;
        let effort = Effort::Greedy;
        let kept = fill(self.stock, Wanted { floor: 0, cap, enough: cap, effort }, work);
        self.offload(kept.sum, &kept.counts, effort, work);
    }

    /// All fillings of the memory, each with the best use of the host; whether the result is certain. None where the lists are
    /// longer than `limit`.
    fn keep_first(&mut self, all: &[usize], limit: usize, work: &mut Work) -> Option<bool> {
        let window = (self.floors().0, self.rooms.memory);
        let halves = Halves::of(self.stock, all, window, limit, work)?;
        let whole = Part { core: Vec::new(), sum: 0, counts: vec![0; self.stock.len()] };
        Some(self.walk(&halves, &whole, (usize::MAX, Effort::Exact(LONG[1])), work))
    }

    /// Fills the memory in descending order, at most `draws` times, until nothing better can come; whether that is certain.
    fn walk(
        &mut self,
        halves: &Halves,
        part: &Part,
        (draws, effort): (usize, Effort),
        work: &mut Work,
    ) -> bool {
        let mut counts = part.counts.clone();
        let mut certain = true;
        for pair in halves.descending().take(draws) {
            let kept = part.sum + pair.0;
            // Less kept is never better: the rest of the list has no chance.
            if self.rooms.exposed(kept, self.rooms.host) >= self.below - self.tolerance {
                break;
            }
            halves.counts(pair, &mut counts);
            certain &= self.offload(kept, &counts, effort, work);
            if !work.take(8 + 4 * self.stock.len()) {
                return false;
            }
        }
        certain
    }

    /// The best use of the host beside what is kept; whether it is certain.
    fn offload(&mut self, kept: u64, counts: &[u32], effort: Effort, work: &mut Work) -> bool {
        let (_, both) = self.floors();
        let link = self.rooms.total - kept;
        let busy = (float(link) * self.rooms.instance.link_s).max(self.rooms.instance.hidden_s);
        // So much to the SSD takes no longer than the link does anyway.
        let free = most_bytes(busy, self.rooms.instance.ssd_s)
            .saturating_sub(1)
            .min(self.rooms.instance.ssd.unwrap_or(u64::MAX));
        let wanted = Wanted {
            floor: both.saturating_sub(kept),
            cap: self.rooms.host,
            enough: link.saturating_sub(free),
            effort,
        };
        let host = fill(&self.rest(counts), wanted, work);
        self.offer((kept, counts), (host.sum, &host.counts));
        host.exact
    }

    /// All fillings of the host, each with the most that can be kept beside it: where the host is small, its lists are short.
    fn host_first(&mut self, all: &[usize], limit: usize, work: &mut Work) -> Option<bool> {
        let window = (self.floors().1.saturating_sub(self.rooms.memory), self.rooms.host);
        let halves = Halves::of(self.stock, all, window, limit, work)?;
        let mut counts = vec![0; self.stock.len()];
        let mut certain = true;
        for pair in halves.descending() {
            let host = pair.0;
            if self.rooms.exposed(self.rooms.memory, host) >= self.below - self.tolerance {
                break;
            }
            halves.counts(pair, &mut counts);
            let (kept, both) = self.floors();
            let cap = self.rooms.memory;
            let floor = kept.max(both.saturating_sub(host));
            let wanted = Wanted { floor, cap, enough: cap, effort: Effort::Exact(LONG[1]) };
            let Filled { sum, counts: kept, exact } = fill(&self.rest(&counts), wanted, work);
            self.offer((sum, &kept), (host, &counts));
            certain &= exact;
            if !work.take(8 + 4 * self.stock.len()) {
                return Some(false);
            }
        }
        Some(certain)
    }

    /// What is not taken yet.
    fn rest(&self, counts: &[u32]) -> Vec<Stock> {
        let pairs = self.stock.iter().zip(counts);
        pairs.map(|(kind, n)| Stock { count: kind.count - n, ..*kind }).collect()
    }

    /// Takes a filling that is better than the best.
    fn offer(&mut self, (kept, kept_counts): (u64, &[u32]), (host, host_counts): (u64, &[u32])) {
        let exposed = self.rooms.exposed(kept, host);
        if exposed < self.below - self.tolerance {
            self.below = exposed;
            self.best =
                Some(Packed { exposed, kept: kept_counts.to_vec(), host: host_counts.to_vec() });
        }
    }
}
