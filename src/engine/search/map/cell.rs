//! What is known of a cell, and of all of them: what is drawn.

use super::axes::Axes;
use super::levels::place;
use super::member::Moved;
use super::refine::CLOSE;
use crate::engine::evaluate;
use crate::engine::outcome::Summary;
use crate::engine::policy::Policy;
use crate::engine::program::Program;
use crate::engine::search::fastest::Search;
use crate::engine::units::{Bytes, Nanos};

/// The fastest plan of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Winner {
    /// What it is called.
    pub policy: Policy,
    /// Its step.
    pub step: Nanos,
    /// What becomes of the bytes.
    pub moved: Moved,
}

/// A cell: where it is, and what wins there.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Rates out and back, GB/s.
    pub link_gbps: (f64, f64),
    /// Memory limit, GiB.
    pub memory_gib: f64,
    /// The fastest plan that is known; none where none is known that runs.
    pub winner: Option<Winner>,
    /// The step of keep-everything there, on a card that is large enough.
    pub plain: Nanos,
    /// No plan that fits is below this; none where no plan fits, or as long as the winner is the best of the family and no more is known.
    pub bound: Option<Nanos>,
    /// The search has looked at it.
    pub searched: bool,
}

impl Cell {
    /// How much longer than the best possible the winner's step may be, as a share of that; none where that is not known.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let (step, bound) = (self.winner.as_ref()?.step.secs(), self.bound?.secs());
        Some(if bound > 0.0 { (step / bound - 1.0).max(0.0) } else { 0.0 })
    }

    /// How much longer the winner's step is than keep-everything's, as a share; none where that takes no time or nothing wins.
    #[must_use]
    pub fn overhead(&self) -> Option<f64> {
        let (step, plain) = (self.winner.as_ref()?.step.secs(), self.plain.secs());
        (plain > 0.0).then(|| step / plain - 1.0)
    }

    /// Takes what a search of the cell's scenario has found, where keep-everything holds `all` bytes: the bound, and the plan if it is faster.
    pub(super) fn take(&mut self, search: &Search, all: Bytes) {
        let (found, scenario) = (search.found(), search.scenario());
        (self.bound, self.searched) = (found.bound, true);
        let step = found.summary.step;
        if found.summary.runs && self.winner.as_ref().is_none_or(|winner| step < winner.step) {
            let program = Program::of(&scenario.chain, &evaluate::plan(scenario, &found.policy));
            let moved = Moved::of(&program, all);
            self.winner = Some(Winner { policy: found.policy.clone(), step, moved });
        }
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

    /// How close the winners are to the best possible: how many there are, how many of them within [`CLOSE`], and how far any may be from it.
    #[must_use]
    pub fn close(&self) -> (usize, usize, f64) {
        let won = self.cells.iter().flatten().filter(|cell| cell.winner.is_some());
        won.fold((0, 0, 0.0), |(all, close, far), cell| {
            let gap = cell.gap();
            let near = usize::from(gap.is_some_and(|gap| gap <= CLOSE));
            (all + 1, close + near, gap.unwrap_or_default().max(far))
        })
    }
}
