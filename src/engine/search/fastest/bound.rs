//! What no plan is below. At the start of an operation, what earlier layers hold is still on the device, was recomputed away, or has left
//! over the link since the first of it was made; and what has left comes back after that operation, before the backward that
//! needs it. So for every layer i and every plan in which earlier layers drop `f` bytes for `ρ` of recomputation,
//!
//! T ≥ max(max(F₍<ᵢ₎, φ + O/B_out) + Σ₍≥ᵢ₎ f + Σ₍>ᵢ₎ b, φ + O′/B_out) + bᵢ + max(B₍<ᵢ₎ + ρ, O′/B_back + β),
//!
//! with O and O′ the bytes beyond the room at layer i's forward and backward less f, φ the end of the first forward that leaves anything, and β the
//! backward that the last bytes back are for. The least over (ρ, f) is a fractional knapsack, on the concave hull of each layer's ways to
//! recompute; the greatest over i is the bound. Where all layers are alike and cannot be divided, it is taken over whole layers.

use super::table::Row;
use crate::engine::evaluate;
use crate::engine::hardware::Hardware;
use crate::engine::scenario::Scenario;
use crate::engine::units::{Bytes, Nanos};

/// How many layers' cuts are looked at: those that lack most.
const CUTS: usize = 64;

/// What no plan that fits is below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// One micro-batch; none where no plan fits at all.
    pub micro: Option<Nanos>,
    /// Bytes that leave over the link where it is reached: where to look for plans first.
    pub offloaded: u64,
}

/// The room for activations and transients, if the states leave any.
#[must_use]
pub fn room(scenario: &Scenario) -> Option<u64> {
    let standing = scenario.chain.standing().total();
    (standing <= scenario.limits.memory).then(|| (scenario.limits.memory - standing).0)
}

/// The bound of a scenario.
#[must_use]
pub fn bound(scenario: &Scenario, rows: &[Row]) -> Bound {
    let Some(room) = room(scenario) else { return Bound { micro: None, offloaded: 0 } };
    let hardware = evaluate::share_of_host(scenario);
    let compute: u64 = rows.iter().map(|row| row.forward + row.backward).sum();
    let mut best = Bound { micro: Some(Nanos(compute)), offloaded: 0 };
    let hull = hull(rows);
    for cut in cuts(rows, room) {
        let found = if let Some(atom) = atom(rows, cut.layer) {
            cut.whole(&atom, &hardware)
        } else {
            cut.fractional(&hull, &hardware)
        };
        let Some((micro, offloaded)) = found else { return Bound { micro: None, offloaded: 0 } };
        if (Some(micro), offloaded) > (best.micro, best.offloaded) {
            best = Bound { micro: Some(micro), offloaded };
        }
    }
    best
}

/// One piece of a layer's hull.
struct Piece {
    layer: usize,
    time: f64,
    freed: f64,
}

/// All pieces, cheapest bytes first.
fn hull(rows: &[Row]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (layer, row) in rows.iter().enumerate() {
        let mut last = (0, 0);
        for (time, freed) in row.hull() {
            pieces.push(Piece { layer, time: float(time - last.0), freed: float(freed - last.1) });
            last = (time, freed);
        }
    }
    pieces.sort_by(|a, b| (a.time * b.freed).total_cmp(&(b.time * a.freed)));
    pieces
}

/// What lacks at one layer, and what surrounds it.
struct Cut {
    layer: usize,
    /// Bytes beyond the room at its forward, with all earlier layers kept.
    forward_over: u64,
    /// The same at its backward.
    backward_over: u64,
    /// Forward time before it.
    ahead: u64,
    /// From the start of its forward to the start of its backward.
    between: u64,
    /// Its backward.
    own: u64,
    /// Backward time after its own.
    behind: u64,
    /// When the first bytes can leave.
    first: u64,
    /// What runs after the last bytes are back.
    last: u64,
    /// What earlier layers hold.
    held: u64,
    /// Copies there can be.
    copies: f64,
}

/// The cuts that lack most.
fn cuts(rows: &[Row], room: u64) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let (mut held, mut ahead, mut behind, mut storages) = (0, 0, 0, 0);
    let mut ends: Option<(u64, u64)> = None;
    let total: u64 = rows.iter().map(|row| row.forward + row.backward).sum();
    for (layer, row) in rows.iter().enumerate() {
        let (first, last) = ends.unwrap_or((ahead, behind));
        let forward_over = (held + row.forward_need).saturating_sub(room);
        let backward_over = (held + row.backward_need).saturating_sub(room);
        if forward_over.max(backward_over) > 0 {
            let between = total - ahead - behind - row.backward;
            let copies = float(storages);
            cuts.push(Cut {
                layer,
                forward_over,
                backward_over,
                ahead,
                between,
                own: row.backward,
                behind,
                first,
                last,
                held,
                copies,
            });
        }
        held += row.held;
        storages += row.storages;
        ahead += row.forward;
        behind += row.backward;
        if row.held > 0 && ends.is_none() {
            ends = Some((ahead, behind));
        }
    }
    if cuts.len() > CUTS {
        cuts.sort_by_key(|cut| std::cmp::Reverse(cut.forward_over.max(cut.backward_over)));
        cuts.truncate(CUTS);
    }
    cuts
}

/// A layer that all before a cut are like, and that is recomputed, offloaded or kept as a whole.
struct Atom {
    bytes: u64,
    /// Of its recomputation; none where that frees nothing.
    time: Option<u64>,
    count: u64,
}

fn atom(rows: &[Row], layer: usize) -> Option<Atom> {
    let mut alike: Option<Atom> = None;
    for row in rows[..layer].iter().filter(|row| row.held > 0) {
        if row.storages != 1 {
            return None;
        }
        let hull = row.hull();
        let time = match hull.as_slice() {
            [] => None,
            &[(time, freed)] if freed == row.held => Some(time),
            _ => return None,
        };
        match &mut alike {
            None => alike = Some(Atom { bytes: row.held, time, count: 1 }),
            Some(atom) if (atom.bytes, atom.time) == (row.held, time) => atom.count += 1,
            Some(_) => return None,
        }
    }
    alike
}

impl Cut {
    /// The least time over whole layers, and the bytes that leave there; none where nothing helps.
    fn whole(&self, atom: &Atom, hardware: &Hardware) -> Option<(Nanos, u64)> {
        let room = hardware.host.0.saturating_add(hardware.ssd.0);
        let (out, back) =
            (hardware.copy_out(Bytes(atom.bytes)).0, hardware.copy_back(Bytes(atom.bytes)).0);
        let most = if atom.time.is_some() { atom.count } else { 0 };
        (0..=most)
            .filter_map(|again| {
                let spent = atom.time.unwrap_or(0) * again;
                let over = |over: u64| over.saturating_sub(again * atom.bytes).div_ceil(atom.bytes);
                let (away, home) = (over(self.forward_over), over(self.backward_over));
                let moved = away.max(home);
                if moved + again > atom.count || moved * atom.bytes > room {
                    return None;
                }
                let leave = |n: u64| if n > 0 { self.first + n * out } else { 0 };
                let behind = if home > 0 { self.last + home * back } else { 0 };
                let turn = (self.ahead.max(leave(away)) + self.between).max(leave(home));
                let time = turn + self.own + (self.behind + spent).max(behind);
                Some((Nanos(time), moved * atom.bytes))
            })
            .min()
    }

    /// The least time over shares of layers.
    fn fractional(&self, hull: &[Piece], hardware: &Hardware) -> Option<(Nanos, u64)> {
        let room = float(hardware.host.0.saturating_add(hardware.ssd.0));
        let (away, home) = (float(self.forward_over), float(self.backward_over));
        let efficiency = hardware.link_efficiency.of(Bytes(u64::MAX));
        let (out, back) =
            (1e9 / (hardware.d2h.0 * efficiency), 1e9 / (hardware.h2d.0 * efficiency));
        let (ahead, behind) = (float(self.ahead), float(self.behind));
        let (first, last) = (float(self.first), float(self.last));
        let (between, own) = (float(self.between), float(self.own));
        let least = away.max(home) - room.min(float(self.held));
        let time = |spent: f64, freed: f64| {
            let (over, under) = ((away - freed).max(0.0), (home - freed).max(0.0));
            let leave = |bytes: f64| if bytes > 0.0 { first + bytes * out } else { 0.0 };
            let back = if under > 0.0 { last + under * back } else { 0.0 };
            let turn = (ahead.max(leave(over)) + between).max(leave(under));
            // Each copy's time is rounded to a nanosecond.
            let slack = if over + under > 0.0 { 2.0 * self.copies } else { 0.0 };
            let least = ahead + between + own + behind + spent;
            (turn + own + (behind + spent).max(back) - slack).max(least)
        };
        let mut best: Option<(f64, f64)> = None;
        let mut offer = |spent: f64, freed: f64| {
            if freed + 0.5 >= least {
                let time = time(spent, freed);
                if best.is_none_or(|best| time < best.0) {
                    best = Some((time, (away.max(home) - freed).max(0.0)));
                }
            }
        };
        let (mut spent, mut freed) = (0.0, 0.0);
        offer(spent, freed);
        for piece in hull.iter().filter(|piece| piece.layer < self.layer) {
            // Within a piece the time is convex with these bends; a share of 0 or 1 is an end.
            let slope = piece.time / piece.freed;
            let hidden = (last + home * back - behind - spent + slope * freed) / (slope + back);
            let level = home - (ahead + between - first) / out;
            for bend in [away - (ahead - first) / out, level, away, home, hidden, least] {
                let share = (bend - freed) / piece.freed;
                if share > 0.0 && share < 1.0 {
                    offer(spent + share * piece.time, bend);
                }
            }
            spent += piece.time;
            freed += piece.freed;
            offer(spent, freed);
            if freed >= away.max(home) {
                break;
            }
        }
        best.map(|(time, moved)| (Nanos(whole(time)), whole(moved)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "bytes and nanoseconds below 2^53, or a limit")]
const fn float(n: u64) -> f64 {
    n as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
const fn whole(x: f64) -> u64 {
    x as u64
}
