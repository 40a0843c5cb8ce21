//! Every plan of a small chain that decides layer by layer: kept, offloaded to host or SSD, or recomputed with any neighbours from a boundary
//! that is kept or offloaded. Where each layer holds one storage these are all plans that run a layer again at most once. Branches that
//! do not fit, or whose recomputation or copies alone are no faster than the best plan, are left out.

use super::table::Row;
use crate::engine::chain::Chain;
use crate::engine::hardware::Hardware;
use crate::engine::plan::{LayerPlan, Plan};
use crate::engine::policy::Action;
use crate::engine::units::{Bytes, Nanos};

/// Chains of more layers are not enumerated.
const LAYERS: usize = 10;

/// What can become of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// It runs plainly, what it holds under this action.
    Plain(Action),
    /// A segment starts with it, the boundary under this action.
    Starts(Action),
    /// It continues the segment of the layer before.
    Continues,
}

const FATES: [Fate; 7] = [
    Fate::Plain(Action::Keep),
    Fate::Plain(Action::Host),
    Fate::Plain(Action::Ssd),
    Fate::Continues,
    Fate::Starts(Action::Keep),
    Fate::Starts(Action::Host),
    Fate::Starts(Action::Ssd),
];

/// The plans, one after another.
pub struct Small {
    /// Of the first layers, as places in [`FATES`].
    fates: Vec<usize>,
    layers: usize,
    /// Offloading to host and SSD is possible.
    media: [bool; 2],
    /// For activations and transients.
    room: u64,
    /// They are all plans that run a layer again at most once.
    pub all: bool,
    over: bool,
}

impl Small {
    /// None for chains that are too long.
    pub fn new(rows: &[Row], hardware: &Hardware, room: u64) -> Option<Self> {
        let media = [hardware.host > Bytes::ZERO, hardware.ssd > Bytes::ZERO];
        let layers = rows.len();
        let all = rows.iter().all(|row| row.storages <= 1);
        (layers <= LAYERS).then(|| Self { fates: vec![0], layers, media, room, all, over: false })
    }

    /// The next plan whose compute alone is below `micro`; none when all have been there.
    pub fn next(
        &mut self,
        chain: &Chain,
        rows: &[Row],
        base: &Plan,
        (hardware, micro): (&Hardware, Nanos),
    ) -> Option<Plan> {
        while !self.over {
            if !self.allowed(rows, hardware, micro) {
                self.step();
            } else if self.fates.len() < self.layers {
                self.fates.push(0);
            } else {
                let plan = self.plan(chain, base);
                self.step();
                return Some(plan);
            }
        }
        None
    }

    /// To the next fate of the last layer, or of the one before it.
    fn step(&mut self) {
        while let Some(last) = self.fates.last_mut() {
            *last += 1;
            if *last < FATES.len() {
                return;
            }
            self.fates.pop();
        }
        self.over = true;
    }

    /// Whether the last fate can be, and the layers so far leave time for the others.
    fn allowed(&self, rows: &[Row], hardware: &Hardware, micro: Nanos) -> bool {
        let last = self.fates.len() - 1;
        let row = &rows[last];
        let possible = |medium, bytes: u64| match medium {
            Action::Host => self.media[0] && bytes > 0,
            Action::Ssd => self.media[1] && bytes > 0,
            _ => true,
        };
        let can_be = match FATES[self.fates[last]] {
            Fate::Plain(action) => possible(action, row.held),
            Fate::Starts(action) => possible(action, row.boundary),
            Fate::Continues => last > 0 && !matches!(FATES[self.fates[last - 1]], Fate::Plain(_)),
        };
        if !can_be {
            return false;
        }
        // What the layers before keep, what has to come back once the turn is there, and what runs again.
        let (mut kept, mut back, mut again) = (0, Nanos::ZERO, 0);
        for (at, &fate) in self.fates.iter().enumerate() {
            let (row, fate) = (&rows[at], FATES[fate]);
            let before = at.checked_sub(1).map(|i| (rows[i].late, FATES[self.fates[i]]));
            // The storage between two layers is decided by both: it stays where either wants it to.
            let shared = match (before, fate) {
                (Some((late, Fate::Plain(first))), Fate::Starts(second)) if late > 0 => {
                    let stays = first == Action::Keep || second == Action::Keep;
                    (late, if stays { Action::Keep } else { first })
                }
                (Some((late, Fate::Plain(action))), _) => (late, action),
                (_, Fate::Starts(boundary)) => (row.boundary, boundary),
                _ => (0, Action::Keep),
            };
            let own = match fate {
                // An input that is saved may stay for the layer before too.
                Fate::Plain(action) => (row.held - row.late - row.input, action),
                _ => (0, Action::Keep),
            };
            if shared.1 == Action::Keep {
                kept += shared.0;
            }
            if at == last
                && kept + row.forward_need.max(row.backward_need) - own_input(row, fate) > self.room
            {
                return false;
            }
            for (bytes, action) in [shared, own] {
                if action != Action::Keep && bytes > 0 {
                    back += hardware.copy_back(Bytes(bytes));
                }
            }
            if own.1 == Action::Keep {
                kept += own.0;
            }
            again += if matches!(fate, Fate::Plain(_)) { 0 } else { row.forward };
        }
        let forward: u64 = rows.iter().map(|row| row.forward).sum();
        let backward: u64 = rows.iter().map(|row| row.backward).sum();
        forward + (backward + again).max(back.0) < micro.0
    }

    fn plan(&self, chain: &Chain, base: &Plan) -> Plan {
        let mut plan = base.clone();
        plan.segments.clear();
        let mut segments: Vec<(usize, usize, Action)> = Vec::new();
        for (i, &fate) in self.fates.iter().enumerate() {
            match (FATES[fate], segments.last_mut()) {
                (Fate::Continues, Some(segment)) => segment.1 = i + 1,
                (Fate::Starts(boundary), _) => segments.push((i, i + 1, boundary)),
                (Fate::Plain(action), _) => {
                    plan.layers[i] = LayerPlan::Plain(vec![action; chain.layers[i].saved.len()]);
                }
                (Fate::Continues, None) => {}
            }
        }
        for (start, end, boundary) in segments {
            plan.recompute(start, end, boundary);
        }
        plan.lengths =
            plan.segments.iter().map(|segment| (segment.end - segment.start) as u64).collect();
        plan
    }
}

/// Of what a layer needs, its input, where that is counted as the boundary too.
const fn own_input(row: &Row, fate: Fate) -> u64 {
    match fate {
        Fate::Starts(Action::Keep) => row.input,
        _ => 0,
    }
}
