//! The smallest steps of one kind of change, or of several together, that do. Principal type [`Narrow`]: asks for one change at a time to
//! be tried and is told what came of it; its law: what it ends at was tried and does.
//!
//! Memory falls along a ladder. So its last step says whether any does, and halving finds the first that does; of several kinds the
//! dearest is narrowed first, with the others as far as they go. A step's time need not fall: where that is limited every step of a
//! single kind is tried in turn.

use super::change::Change;

/// What came of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tried {
    /// It does.
    Fits,
    /// It does not.
    Lacks,
    /// Other settings do not allow it.
    Refused,
}

/// A search for the smallest steps.
pub struct Narrow {
    /// Steps of each kind, the smallest first.
    ladders: Vec<Vec<Change>>,
    /// The step of each kind that is asked about next.
    at: Vec<usize>,
    now: Now,
}

/// Where it is.
enum Now {
    /// Every kind as far as it goes.
    Extreme,
    /// One step after the other.
    InTurn,
    /// Kind `of`: steps below `low` do not do, `high` does.
    Between {
        of: usize,
        low: usize,
        high: usize,
    },
    Done,
}

impl Narrow {
    /// Of these kinds, the dearest first; each step `in_turn` where it is one kind and larger steps need not do more.
    #[must_use]
    pub fn new(ladders: Vec<Vec<Change>>, in_turn: bool) -> Self {
        let empty = ladders.iter().any(Vec::is_empty);
        let in_turn = in_turn && ladders.len() == 1;
        let last = |ladder: &Vec<Change>| if in_turn { 0 } else { ladder.len().saturating_sub(1) };
        let at = ladders.iter().map(last).collect();
        let now = match (empty, in_turn) {
            (true, _) => Now::Done,
            (_, true) => Now::InTurn,
            _ => Now::Extreme,
        };
        Self { ladders, at, now }
    }

    /// What is to be tried next; none once it is over.
    #[must_use]
    pub fn next(&self) -> Option<Change> {
        if matches!(self.now, Now::Done) {
            return None;
        }
        let mut steps = self.ladders.iter().zip(&self.at).map(|(ladder, &at)| &ladder[at]);
        let first = steps.next()?.clone();
        Some(steps.fold(first, Change::and))
    }

    /// What came of it.
    pub fn tell(&mut self, tried: Tried) {
        let fits = tried == Tried::Fits;
        self.now = match self.now {
            Now::Extreme if fits => self.between(0),
            // Of one kind the largest step may be one that other settings do not allow.
            Now::Extreme if tried == Tried::Refused && self.at.len() == 1 && self.at[0] > 0 => {
                self.at[0] -= 1;
                Now::Extreme
            }
            Now::InTurn if !fits && self.at[0] + 1 < self.ladders[0].len() => {
                self.at[0] += 1;
                Now::InTurn
            }
            Now::Between { of, low, .. } if fits => self.halve(of, low, self.at[of]),
            Now::Between { of, high, .. } => self.halve(of, self.at[of] + 1, high),
            _ => Now::Done,
        };
    }

    fn between(&mut self, of: usize) -> Now {
        match self.at.get(of) {
            Some(&high) => self.halve(of, 0, high),
            None => Now::Done,
        }
    }

    fn halve(&mut self, of: usize, low: usize, high: usize) -> Now {
        if low >= high {
            self.at[of] = high;
            return self.between(of + 1);
        }
        self.at[of] = usize::midpoint(low, high);
        Now::Between { of, low, high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::why::change::What;
    use serde_json::{Value, json};

    fn ladder(path: &str, steps: u64) -> Vec<Change> {
        let step = |i: u64| Change {
            what: What::Batch,
            with: Vec::new(),
            set: vec![(path.to_owned(), json!(i))],
        };
        (0..steps).map(step).collect()
    }

    /// Narrows; where it ended and how many were tried.
    fn narrowed(mut narrow: Narrow, fits: impl Fn(&[u64]) -> Tried) -> (Option<Vec<u64>>, usize) {
        let (mut best, mut tried) = (None, 0);
        while let Some(change) = narrow.next() {
            let at: Vec<u64> =
                change.set.iter().filter_map(|(_, value)| Value::as_u64(value)).collect();
            let came = fits(&at);
            if came == Tried::Fits {
                best = Some(at);
            }
            narrow.tell(came);
            tried += 1;
        }
        (best, tried)
    }

    const fn says(fits: bool) -> Tried {
        if fits { Tried::Fits } else { Tried::Lacks }
    }

    #[test]
    fn the_smallest_step_is_found_by_halving() {
        for least in 0..40 {
            let of = || Narrow::new(vec![ladder("x", 32)], false);
            let (found, tried) = narrowed(of(), |at| says(at[0] >= least));
            assert_eq!(found, (least < 32).then(|| vec![least]));
            assert!(tried <= 6, "{least}: {tried}");
        }
        let (found, tried) = narrowed(Narrow::new(vec![Vec::new()], false), |_| Tried::Fits);
        assert_eq!((found, tried), (None, 0));
    }

    #[test]
    fn the_dearest_is_narrowed_first_and_the_last_that_did_is_the_smallest() {
        for (a, b) in [(0, 0), (2, 5), (7, 9), (3, 0)] {
            let of = Narrow::new(vec![ladder("x", 8), ladder("y", 10)], false);
            let (found, _) = narrowed(of, |at| says(at[0] >= a && at[1] >= b));
            assert_eq!(found, Some(vec![a, b]));
        }
        // Either is enough: the dearer one hardly moves, the other as far as it has to.
        let of = Narrow::new(vec![ladder("x", 8), ladder("y", 10)], false);
        assert_eq!(narrowed(of, |at| says(at[0] + at[1] >= 9)).0, Some(vec![0, 9]));
    }

    #[test]
    fn a_refused_last_step_is_left_out_and_steps_in_turn_need_no_order() {
        let of = |in_turn| Narrow::new(vec![ladder("x", 8)], in_turn);
        let refusing = |at: &[u64]| if at[0] > 5 { Tried::Refused } else { says(at[0] >= 4) };
        assert_eq!(narrowed(of(false), refusing).0, Some(vec![4]));
        assert_eq!(narrowed(of(true), |at| says(at[0] == 3)), (Some(vec![3]), 4));
        assert_eq!(narrowed(of(true), |_| Tried::Lacks), (None, 8));
    }
}
