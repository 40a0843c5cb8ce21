//! The map: over link rate and memory limit, which plan is fastest, and what kind of plan that is. Principal type [`Map`]; its law: a cell's
//! step is that of its plan, no longer than any of the family's there, and its bound is below every plan's. The cell that the scenario is in
//! stands for the scenario itself, with the fastest plan that the whole search finds. Anytime: [`Map::advance`] does a little, coarse cells first.
//!
//! First each cell has the best of the family: a picture soon. Then it is searched (`refine`), for there are faster plans than those.
//!
//! Most plans are never run in most cells. A plan's need of memory depends on no rate, and of two steps the one over the faster link is never
//! the longer (as `simulate` has it); so one run with room for everything bounds a plan in every cell at that rate and below.

mod axes;
mod cell;
mod columns;
mod levels;
mod member;
mod refine;

pub use axes::{Axes, COLUMNS, ROWS};
pub use cell::{Cell, Known, Winner};
pub use member::{Moved, Strategy};
pub use refine::CLOSE;

use super::fastest::Search;
use crate::engine::evaluate;
use crate::engine::hardware::Hardware;
use crate::engine::outcome::Summary;
use crate::engine::scenario::Scenario;
use crate::engine::sort;
use crate::engine::units::Bytes;
use columns::{Columns, Key};
use levels::{LEVELS, place, queue};
use refine::Refine;

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
    /// What comes after the family.
    refine: Refine,
    /// The scenario's own cell.
    own: Own,
}

/// The cell that stands for the scenario itself, in place of the one that it is in.
enum Own {
    /// Not looked for yet.
    Waits,
    Sought(Box<Search>),
    Found(Box<Cell>),
    /// The scenario is off the map.
    Off,
}

impl Map {
    /// Starts; nothing is known yet.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let plain = evaluate::plain(scenario);
        let axes = Axes::of(&scenario.chain, plain.peak, scenario.hardware.link_gbps());
        let mut map = Self {
            columns: Columns::new(scenario, &axes, plain.step),
            axes,
            plain,
            cells: vec![None; COLUMNS * ROWS],
            won: vec![None; COLUMNS * ROWS],
            queue: queue(),
            open: None,
            refine: Refine::new(&scenario.chain),
            own: Own::Waits,
            scenario: scenario.clone(),
        };
        map.moved_to(scenario);
        map
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
        match &self.own {
            Own::Found(cell) if self.here() == Some((column, row)) => Some(cell),
            _ => self.cells[place(column, row)].as_ref(),
        }
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
        self.scenario = scenario.clone();
        self.own = if self.here().is_some() { Own::Waits } else { Own::Off };
    }

    /// Whether every cell is known; any may still be the family's best, until its search is done.
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
            } else if !self.seek() && !self.refine.piece(&mut self.cells, &self.columns) {
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
        });
        self.won[place(column, row)] = open.best.map(|best| best.2);
        self.cells[place(column, row)] = Some(Cell {
            link_gbps: self.axes.link_gbps(column),
            memory_gib: self.axes.memory_gib(row),
            winner,
            plain: self.columns.plain(column),
            bound: None,
            searched: false,
        });
    }

    /// A piece of the search for the scenario's own plan; false once that is found.
    fn seek(&mut self) -> bool {
        self.own = match std::mem::replace(&mut self.own, Own::Off) {
            Own::Waits => Own::Sought(Box::new(Search::new(&self.scenario))),
            Own::Sought(mut search) => {
                if search.advance(1) {
                    Own::Sought(search)
                } else {
                    self.arrive(&search)
                }
            }
            done => {
                self.own = done;
                return false;
            }
        };
        true
    }

    fn arrive(&self, search: &Search) -> Own {
        let Scenario { hardware, limits, .. } = &self.scenario;
        let (link_gbps, memory_gib) = (hardware.link_gbps(), limits.memory.gib());
        let plain = self.plain.step;
        let mut cell =
            Cell { link_gbps, memory_gib, winner: None, plain, bound: None, searched: true };
        cell.take(search, self.columns.all());
        Own::Found(Box::new(cell))
    }
}

/// The whole map.
#[must_use]
pub fn map(scenario: &Scenario) -> Map {
    let mut map = Map::new(scenario);
    while map.advance(usize::MAX) {}
    map
}
