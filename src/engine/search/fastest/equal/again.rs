//! How often layers must run again where less room is left than they hold: to reverse `units` of them with `slots`, the first `m` run without saving, the
//! last of their outputs stays, the rest is reversed with a slot less, then those before it with all slots. The least over m is the optimum of equal layers
//! (Griewank and Walther 2000 give it in closed form; here with layers that keep their outputs, and with a further run of each part's last layer where
//! inputs are what is kept).

use crate::engine::nested::Nested;

/// Unreachable.
const NEVER: u64 = u64::MAX >> 8;

/// Forwards by slots and units.
pub struct Again {
    /// Beside the units themselves, of each part.
    last: u64,
    /// Per number of slots, per number of units: forwards, and the first unit that stays.
    table: Vec<Vec<(u64, usize)>>,
}

impl Again {
    /// For up to so many units and slots; `last` more forwards for each part.
    pub fn new(units: usize, slots: usize, last: u64) -> Self {
        let mut table: Vec<Vec<(u64, usize)>> = Vec::new();
        for q in 0..=slots.min(units) {
            let mut row = vec![(last, 0)];
            for s in 1..=units {
                let flat = if s <= q { (s as u64 + last, 0) } else { (NEVER, 0) };
                let cut = |m: usize| {
                    let rest = table[q - 1][s - m].0;
                    let inside = if m > 1 { row[m - 1].0 } else { 0 };
                    (m as u64 + rest + inside, m)
                };
                // Running past a layer needs room for its input and its output.
                let from = if q > 1 && s > q { (1..=s).map(cut).min() } else { None };
                row.push(from.map_or(flat, |from| from.min(flat)));
            }
            table.push(row);
        }
        Self { last, table }
    }

    /// The least number of forwards; none where it cannot be done.
    pub fn least(&self, slots: usize, units: usize) -> Option<u64> {
        let row = &self.table[slots.min(self.table.len() - 1)];
        Some(row[units].0).filter(|&count| count < NEVER)
    }

    /// The parts that are dropped again of the layers from `first` on.
    pub fn parts(&self, first: usize, units: usize, slots: usize) -> Vec<Nested> {
        let (mut first, mut units, mut slots) = (first, units, slots.min(self.table.len() - 1));
        let mut parts = Vec::new();
        while units > slots {
            let m = self.table[slots][units].1;
            if m == 0 {
                break;
            }
            if m > 1 {
                let end = first + m - usize::from(self.last == 0);
                parts.push(Nested { start: first, end });
                parts.extend(self.parts(first, m - 1, slots));
            }
            (first, units, slots) = (first + m, units - m, slots - 1);
        }
        parts
    }
}
