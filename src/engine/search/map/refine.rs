//! Closer than the family: each cell's own search, begun with what won beside it, until its plan is near what no plan is below. In rounds, so that
//! all cells have had a little before one has much; what they take together is limited by the chain, never by a clock.

use super::axes::{COLUMNS, ROWS};
use super::cell::Cell;
use super::columns::Columns;
use super::levels::{place, queue};
use crate::engine::chain::Chain;
use crate::engine::policy::{Policy, PolicyKind};
use crate::engine::search::fastest::Search;
use crate::engine::sort;
use crate::engine::units::Bytes;

/// A cell is left alone once no plan can be faster by more than this share.
pub const CLOSE: f64 = 0.005;
/// Pieces of all cells together, times what a chain has of layers and saved tensors: about a second natively.
const PIECES: usize = 16_000_000;
/// Chains smaller than this take less, those larger than that longer.
const SMALL: usize = 50;
const LARGE: usize = 700;
/// Pieces that an amount takes beside one for each layer: the ways to cut and issue its copies.
const WAYS: usize = 10;

/// The coarsest cells, the only ones of the first round: from them plans spread.
const COARSE: usize = 16;

/// Once through the cells.
struct Round {
    /// How many amounts of its search a cell may have had by its end, in halves.
    halves: usize,
    /// What is nearer to its bound is left alone.
    close: f64,
}

/// A first look at few cells; their plans in all; then more where the gap is widest, a look at what may not be quite the best, and ever more.
const ROUNDS: [Round; 7] = [
    Round { halves: 3, close: CLOSE },
    Round { halves: 0, close: CLOSE },
    Round { halves: 3, close: CLOSE },
    Round { halves: 12, close: CLOSE },
    Round { halves: 3, close: 0.0 },
    Round { halves: 48, close: CLOSE },
    Round { halves: 192, close: CLOSE },
];

/// A cell's search, put down between rounds.
struct Under {
    search: Search,
    pieces: usize,
    /// Neighbours' plans that were tried.
    tried: Vec<Policy>,
}

/// The cell at hand.
struct Open {
    at: usize,
    under: Under,
    /// Neighbours' plans to be tried.
    beside: Vec<Policy>,
}

/// All cells' searches.
pub struct Refine {
    cells: Vec<Option<Under>>,
    /// Cells of this round, the last first.
    queue: Vec<usize>,
    round: usize,
    open: Option<Open>,
    left: usize,
    /// Of one amount.
    amount: usize,
}

impl Refine {
    /// Nothing has begun.
    pub fn new(chain: &Chain) -> Self {
        let size: usize = chain.layers.iter().map(|layer| 1 + layer.saved.len()).sum();
        Self {
            cells: (0..COLUMNS * ROWS).map(|_| None).collect(),
            queue: every().split_off(COLUMNS * ROWS - COARSE),
            round: 0,
            open: None,
            left: PIECES / size.clamp(SMALL, LARGE),
            amount: chain.layers.len() + WAYS,
        }
    }

    /// One piece of work; false once nothing is left.
    pub fn piece(&mut self, cells: &mut [Option<Cell>], columns: &Columns) -> bool {
        if let Some(mut open) = self.open.take() {
            if self.further(&mut open) {
                self.open = Some(open);
            } else {
                self.close(open, cells, columns);
            }
        } else if let Some(at) = self.queue.pop() {
            self.open = self.begin(at, cells, columns);
        } else if self.round + 1 < ROUNDS.len() {
            self.round += 1;
            self.queue = if self.round == 1 { every() } else { self.worst_last(cells) };
        } else {
            self.cells.clear();
            return false;
        }
        true
    }

    const fn now(&self) -> &'static Round {
        &ROUNDS[self.round]
    }

    /// Takes a cell in hand; none where nothing is to be done.
    fn begin(&mut self, at: usize, cells: &mut [Option<Cell>], columns: &Columns) -> Option<Open> {
        let cell = cells[at].as_mut()?;
        let under = if cell.searched {
            self.cells[at].take()?
        } else {
            let there = columns.scenario(at % COLUMNS, Bytes::from_gib(cell.memory_gib));
            let own = cell.winner.as_ref().map(|winner| &winner.policy);
            let search = Search::beside(&there, own);
            cell.take(&search, columns.all());
            Under { search, pieces: 0, tried: Vec::new() }
        };
        let mut beside = beside(at, cells);
        beside.retain(|policy| !under.tried.contains(policy));
        Some(Open { at, under, beside })
    }

    /// A plan from beside, or a piece of the search; false when this cell has had its share.
    fn further(&mut self, open: &mut Open) -> bool {
        let Open { under, beside, .. } = open;
        if self.left == 0 || under.search.is_within(self.now().close) {
            return false;
        }
        if let Some(policy) = beside.pop() {
            under.search.borrow(&policy);
            under.tried.push(policy);
        } else if 2 * under.pieces < self.now().halves * self.amount {
            under.pieces += 1;
            if !under.search.advance(1) {
                return false;
            }
        } else {
            return false;
        }
        self.left -= 1;
        true
    }

    fn close(&mut self, open: Open, cells: &mut [Option<Cell>], columns: &Columns) {
        let Open { at, under, .. } = open;
        if let Some(cell) = cells[at].as_mut() {
            cell.take(&under.search, columns.all());
        }
        // Where not even the least plans run, and what won beside it does not, none is likely to.
        let runs = under.search.found().summary.runs || under.pieces == 0;
        self.cells[at] = (runs && !under.search.is_within(0.0)).then_some(under);
    }

    /// Those that may not be the best yet, the furthest from its bound the last, for it is next.
    fn worst_last(&self, cells: &[Option<Cell>]) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.cells.len()).collect();
        left.retain(|&at| self.cells[at].is_some());
        let gap = |at: usize| cells[at].as_ref().and_then(Cell::gap).unwrap_or(f64::INFINITY);
        sort::sorted(&left, |&at| (sort::float(gap(at)), 0, 0))
    }
}

/// All cells, the coarse ones the last, for they are next.
fn every() -> Vec<usize> {
    queue().into_iter().map(|(column, row)| place(column, row)).collect()
}

/// The lists that won in the nearest cells left, right, below and above: plans of the family were all run in this one.
fn beside(at: usize, cells: &[Option<Cell>]) -> Vec<Policy> {
    let (column, row) = (at % COLUMNS, at / COLUMNS);
    let won = |column: usize, row: usize| {
        let policy = &cells[place(column, row)].as_ref()?.winner.as_ref()?.policy;
        (policy.kind == PolicyKind::Plan).then(|| policy.clone())
    };
    let near = [
        (0..column).rev().find_map(|column| won(column, row)),
        (column + 1..COLUMNS).find_map(|column| won(column, row)),
        (0..row).rev().find_map(|row| won(column, row)),
        (row + 1..ROWS).find_map(|row| won(column, row)),
    ];
    let mut all: Vec<Policy> = Vec::new();
    for policy in near.into_iter().flatten() {
        if !all.contains(&policy) {
            all.push(policy);
        }
    }
    all
}
