//! The map: over link rate and memory limit, which plan is fastest, and what kind of plan that is. Principal type [`Map`]; its law:
//! a cell's step is the least that `summarize` gives any plan of the family that runs there. The cell that the scenario is in stands for the
//! scenario itself, with the fastest plan that the search finds. Anytime: [`Map::advance`] does a little, coarse cells first.
//!
//! Most plans are never run in most cells. A plan's need of memory depends on no rate, and of two steps the one over the faster link is never
//! the longer (as `simulate` has it); so one run with room for everything bounds a plan in every cell at that rate and below.

mod axes;
mod columns;
mod member;

pub use axes::{Axes, COLUMNS, ROWS};
pub use member::{Moved, Strategy};

use super::fastest::Search;
use crate::engine::evaluate;
use crate::engine::hardware::Hardware;
use crate::engine::outcome::Summary;
use crate::engine::plan::Plan;
use crate::engine::policy::Policy;
use crate::engine::program::Program;
use crate::engine::scenario::Scenario;
use crate::engine::sort;
use crate::engine::units::{Bytes, Nanos};
use columns::{Columns, Key};

/// The fastest plan of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Winner {
    /// What it is called.
    pub policy: Policy,
    /// Its step.
    pub step: Nanos,
    /// What becomes of the bytes.
    pub moved: Moved,
    /// It is the fastest that the search finds, and no plan is below this; of other cells it is the best of the family.
    pub bound: Option<Nanos>,
}

/// A cell: where it is, and what wins there.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Rates out and back, GB/s.
    pub link_gbps: (f64, f64),
    /// Memory limit, GiB.
    pub memory_gib: f64,
    /// The fastest plan; none where nothing runs.
    pub winner: Option<Winner>,
    /// The step of keep-everything there, on a card that is large enough.
    pub plain: Nanos,
}

impl Cell {
    /// How much longer the winner's step is than keep-everything's, as a share; none where that takes no time or nothing wins.
    #[must_use]
    pub fn overhead(&self) -> Option<f64> {
        let (step, plain) = (self.winner.as_ref()?.step.secs(), self.plain.secs());
        (plain > 0.0).then(|| step / plain - 1.0)
    }
}

/// What is known of a map at some moment: what is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// What columns and rows stand for.
    pub axes: Axes,
    /// Keep-everything on a card that is large enough.
    pub plain: Summary,
    /// How many plans the family has.
    pub family: usize,
    /// Row by row, the least memory first; a cell that is not known yet is the one that stands for it.
    pub cells: Vec<Option<Cell>>,
}

impl Known {
    /// The cell.
    #[must_use]
    pub fn cell(&self, column: usize, row: usize) -> Option<&Cell> {
        self.cells.get(place(column, row))?.as_ref()
    }
}

/// A cell under way.
struct Open {
    at: (usize, usize),
    limit: Bytes,
    candidates: Vec<usize>,
    next: usize,
    best: Option<Key>,
    /// Nothing is left beside the candidates.
    all: bool,
}

/// The map.
pub struct Map {
    scenario: Scenario,
    axes: Axes,
    plain: Summary,
    columns: Columns,
    cells: Vec<Option<Cell>>,
    /// Places in the family of what won.
    won: Vec<Option<usize>>,
    /// Cells to come, the last first.
    queue: Vec<(usize, usize)>,
    open: Option<Open>,
    /// The scenario's own cell, as long as it is not found; its search, once it has begun.
    own: Option<((usize, usize), Option<Search>)>,
}

impl Map {
    /// Starts; nothing is known yet.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let plain = evaluate::plain(scenario);
        let axes = Axes::of(&scenario.chain, plain.peak, scenario.hardware.link_gbps());
        let own = axes.cell(scenario.hardware.link_gbps().0, scenario.limits.memory);
        Self {
            columns: Columns::new(scenario, &axes, plain.step),
            axes,
            plain,
            cells: vec![None; COLUMNS * ROWS],
            won: vec![None; COLUMNS * ROWS],
            queue: queue(),
            open: None,
            own: own.map(|at| (at, None)),
            scenario: scenario.clone(),
        }
    }

    /// What is known by now.
    #[must_use]
    pub fn known(&self) -> Known {
        let cells = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (column, row)));
        Known {
            axes: self.axes.clone(),
            plain: self.plain,
            family: self.columns.family().len(),
            cells: cells.map(|(column, row)| self.shown(column, row).cloned()).collect(),
        }
    }

    /// The cell, once it is known.
    #[must_use]
    pub fn cell(&self, column: usize, row: usize) -> Option<&Cell> {
        self.cells[place(column, row)].as_ref()
    }

    /// The cell, or the one that stands for its neighbourhood until it is known.
    #[must_use]
    fn shown(&self, column: usize, row: usize) -> Option<&Cell> {
        LEVELS.iter().rev().find_map(|level| {
            let (column, row) = level.stands_for(column, row);
            self.cell(column, row)
        })
    }

    /// The column and row that the scenario is in, if it is on the map.
    #[must_use]
    pub fn here(&self) -> Option<(usize, usize)> {
        let (out, _) = self.scenario.hardware.link_gbps();
        self.axes.cell(out, self.scenario.limits.memory)
    }

    /// Whether the cells of `scenario` are the same: it differs in link rate, memory limit and longest step alone, and is in the same
    /// three powers of ten.
    #[must_use]
    pub fn covers(&self, scenario: &Scenario) -> bool {
        let at = |one: &Scenario| {
            let hardware = one.hardware.on_link(1.0, self.axes.back);
            let hardware = Hardware { memory: Bytes::ZERO, ..hardware };
            Scenario { hardware, limits: self.scenario.limits, ..one.clone() }
        };
        let axes = Axes::of(&scenario.chain, self.plain.peak, scenario.hardware.link_gbps());
        axes == self.axes && at(scenario) == at(&self.scenario)
    }

    /// The same map for a scenario that it covers: only the scenario's own cell is to be found anew.
    pub fn moved_to(&mut self, scenario: &Scenario) {
        let before = self.here();
        self.scenario = scenario.clone();
        // The cell that was the scenario's own is one like the others again.
        if let Some(at) = before.filter(|&at| self.cells[place(at.0, at.1)].is_some()) {
            self.queue.push(at);
        }
        self.own = self.here().map(|at| (at, None));
    }

    /// Whether every cell is known; the scenario's own may still be the family's best, until its search is done.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.columns.is_compiled() && self.queue.is_empty() && self.open.is_none()
    }

    /// Compiles or runs about so many plans; false once nothing is left to do.
    pub fn advance(&mut self, plans: usize) -> bool {
        for _ in 0..plans {
            if !self.columns.is_compiled() {
                self.columns.compile();
            } else if let Some(open) = self.open.take() {
                self.further(open);
            } else if let Some(at) = self.queue.pop() {
                if self.columns.is_ready(at.0) {
                    self.open = Some(self.begin(at));
                } else {
                    self.columns.prepare(at.0);
                    self.queue.push(at);
                }
            } else if let Some((at, search)) = self.own.take() {
                let mut search = search.unwrap_or_else(|| Search::new(&self.scenario));
                if search.advance(1) {
                    self.own = Some((at, Some(search)));
                } else {
                    self.arrive(at, &search);
                }
            } else {
                return false;
            }
        }
        true
    }

    /// A cell's first candidates: what wins beside it.
    fn begin(&self, at: (usize, usize)) -> Open {
        let limit = Bytes::from_gib(self.axes.memory_gib(at.1));
        let candidates = self.beside(at);
        Open { at, limit, candidates, next: 0, best: None, all: false }
    }

    /// All others that may be faster, in the order of their bounds.
    fn widen(&self, open: &mut Open) {
        let column = open.at.0;
        let may = |&i: &usize| {
            self.columns.has_room(column, i, open.limit)
                && !open.candidates.contains(&i)
                && open.best.is_none_or(|best| self.columns.least(column, i) < best)
        };
        let others: Vec<usize> = (0..self.columns.family().len()).filter(may).collect();
        let order = sort::order(others.len(), |n| {
            let (step, moved, _) = self.columns.least(column, others[n]);
            (step.0, moved.0, 0)
        });
        open.candidates = order.into_iter().map(|n| others[n]).collect();
        (open.next, open.all) = (0, true);
    }

    /// What won in the nearest known cells left, right, below and above.
    fn beside(&self, (column, row): (usize, usize)) -> Vec<usize> {
        let won = |column: usize, row: usize| self.won[place(column, row)];
        [
            (0..column).rev().find_map(|column| won(column, row)),
            (column + 1..COLUMNS).find_map(|column| won(column, row)),
            (0..row).rev().find_map(|row| won(column, row)),
            (row + 1..ROWS).find_map(|row| won(column, row)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// One more candidate.
    fn further(&mut self, mut open: Open) {
        let column = open.at.0;
        loop {
            let Some(&i) = open.candidates.get(open.next) else {
                if open.all {
                    self.close(&open);
                    return;
                }
                self.widen(&mut open);
                continue;
            };
            open.next += 1;
            let may = |map: &Self| open.best.is_none_or(|best| map.columns.least(column, i) < best);
            if !may(self) {
                continue;
            }
            let has_room = self.columns.has_room(column, i, open.limit);
            if has_room
                && self.columns.tighten(column, i)
                && may(self)
                && let Some(step) = self.columns.run(column, i, open.limit)
            {
                let (_, moved, _) = self.columns.least(column, i);
                let key = (step, moved, i);
                open.best = Some(open.best.map_or(key, |best| best.min(key)));
            }
            self.open = Some(open);
            return;
        }
    }

    fn close(&mut self, open: &Open) {
        let (column, row) = open.at;
        let winner = open.best.map(|(step, _, i)| Winner {
            policy: self.columns.family()[i].clone(),
            step,
            moved: self.columns.moved(column, i),
            bound: None,
        });
        self.won[place(column, row)] = open.best.map(|best| best.2);
        self.cells[place(column, row)] = Some(Cell {
            link_gbps: self.axes.link_gbps(column),
            memory_gib: self.axes.memory_gib(row),
            winner,
            plain: self.columns.plain(column),
        });
    }

    /// The scenario's own cell, once the search is done.
    fn arrive(&mut self, (column, row): (usize, usize), search: &Search) {
        let (found, Scenario { chain, hardware, limits, .. }) = (search.found(), &self.scenario);
        let program = Program::of(chain, &Plan::of(&found.policy, chain, hardware));
        let winner = Winner {
            policy: found.policy.clone(),
            step: found.summary.step,
            moved: Moved::of(&program, self.columns.all()),
            bound: found.bound,
        };
        self.cells[place(column, row)] = Some(Cell {
            link_gbps: hardware.link_gbps(),
            memory_gib: limits.memory.gib(),
            winner: found.summary.runs.then_some(winner),
            plain: self.plain.step,
        });
    }
}

/// The whole map.
#[must_use]
pub fn map(scenario: &Scenario) -> Map {
    let mut map = Map::new(scenario);
    while map.advance(usize::MAX) {}
    map
}

const fn place(column: usize, row: usize) -> usize {
    row * COLUMNS + column
}

/// A coarser map: one cell stands for so many columns and rows.
struct Level {
    columns: usize,
    rows: usize,
    /// Which of them.
    column: usize,
    row: usize,
}

impl Level {
    /// The cell that stands for this one.
    const fn stands_for(&self, column: usize, row: usize) -> (usize, usize) {
        let (first, lowest) = (column / self.columns * self.columns, row / self.rows * self.rows);
        (first + self.column, lowest + self.row)
    }
}

/// 4 × 4, 8 × 8, all; cells of the first are cells of the second.
const LEVELS: [Level; 3] = [
    Level { columns: 6, rows: 4, column: 4, row: 1 },
    Level { columns: 3, rows: 2, column: 1, row: 1 },
    Level { columns: 1, rows: 1, column: 0, row: 0 },
];

/// All cells, to be taken from the end: coarse ones first, among those the fast links, which bound the slower ones.
fn queue() -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::with_capacity(COLUMNS * ROWS);
    for level in &LEVELS {
        for column in (0..COLUMNS).rev() {
            for row in 0..ROWS {
                let own = level.stands_for(column, row) == (column, row);
                if own && !all.contains(&(column, row)) {
                    all.push((column, row));
                }
            }
        }
    }
    all.reverse();
    all
}
