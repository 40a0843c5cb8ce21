//! What no plan is below. At the start of an operation, what earlier layers hold is still on the device, was recomputed away, or has left
//! over the link since the first of it was made; and what has left comes back after that operation, before the backward that
//! needs it. So for every layer i and every plan in which earlier layers drop `f` bytes for `ρ` of recomputation,
//!
//! T ≥ max(max(F₍<ᵢ₎, φ + O/B_out) + Σ₍≥ᵢ₎ f + Σ₍>ᵢ₎ b, φ + O′/B_out) + bᵢ + max(B₍<ᵢ₎ + ρ, O′/B_back + β),
//!
//! with O and O′ the bytes beyond the room at layer i's forward and backward less f, φ the end of the first forward that leaves anything, and β the
//! backward that the last bytes back are for. The least over (ρ, f) is a fractional knapsack, on the concave hull of each layer's ways to
//! recompute; the greatest over i is the bound. Where all layers are alike and cannot be divided, it is taken over whole layers.

use super::path::{self, Path};
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
    let cuts = cuts(rows, room);
    if cuts.is_empty() {
        return best;
    }
    let atom = atom(rows, rows.len());
    let cost = Cost::new(&hardware, atom.as_ref());
    let path = path::path(rows, room, &cost);
    if let Some(atom) = atom {
        return whole_layers(rows, &cuts, &atom, path, &hardware);
    }
    let hull = hull(rows);
    for cut in cuts {
        let atom = self::atom(rows, cut.layer);
        let one = |(spent, own): (u64, u64)| {
            let cut = Cut { forward_over: cut.forward_over.saturating_sub(own), ..cut };
            match &atom {
                Some(atom) => cut.whole(atom, spent, &hardware),
                None => cut.fractional(&hull, spent, &hardware),
            }
        };
        let found = own(&rows[cut.layer]).into_iter().filter_map(one).min();
        let Some((micro, offloaded)) = found else { return Bound { micro: None, offloaded: 0 } };
        let micro =
            if hardware.ssd > Bytes::ZERO { micro.max(cut.drive(&hull, &hardware)) } else { micro };
        if (Some(micro), offloaded) > (best.micro, best.offloaded) {
            best = Bound { micro: Some(micro), offloaded };
        }
    }
    if let Some(path) = path {
        let stretched = stretched(rows, &hull, path, &cost);
        best.micro = best.micro.max(Some(stretched));
    }
    best
}

/// What copies take, ns: by whole units where all layers are alike.
pub struct Cost {
    unit: Option<u64>,
    out: f64,
    back: f64,
}

impl Cost {
    fn new(hardware: &Hardware, atom: Option<&Atom>) -> Self {
        if let Some(Atom { bytes, .. }) = atom {
            let size = Bytes(*bytes);
            let (out, back) = (hardware.copy_out(size), hardware.copy_back(size));
            return Self { unit: Some(*bytes), out: float(out.0), back: float(back.0) };
        }
        let efficiency = hardware.link_efficiency.of(Bytes(u64::MAX));
        let time = |rate: f64| 1e9 / (rate * efficiency);
        Self { unit: None, out: time(hardware.d2h.0), back: time(hardware.h2d.0) }
    }

    fn units(&self, bytes: u64) -> f64 {
        float(self.unit.map_or(bytes, |unit| bytes.div_ceil(unit)))
    }

    /// Of so many bytes on their way out.
    #[must_use]
    pub fn out(&self, bytes: u64) -> f64 {
        self.units(bytes) * self.out
    }

    /// Of so many bytes on their way back.
    #[must_use]
    pub fn back(&self, bytes: u64) -> f64 {
        self.units(bytes) * self.back
    }
}

/// The bound where all layers are alike and whole: over every number of recomputed layers, the greatest of the cuts and of the chain of waits.
fn whole_layers(
    rows: &[Row],
    cuts: &[Cut],
    atom: &Atom,
    path: Option<Path>,
    hardware: &Hardware,
) -> Bound {
    let cost = Cost::new(hardware, Some(atom));
    let sum = |time: fn(&Row) -> u64| rows.iter().map(time).sum::<u64>();
    let (forward, backward) = (sum(|row| row.forward), sum(|row| row.backward));
    let most = if atom.time.is_some() { atom.count + 1 } else { 0 };
    let one = |again: u64| {
        let freed = again.saturating_sub(atom.lost).min(atom.count);
        let spent = atom.time.unwrap_or(0) * again;
        let mut least = Nanos(forward + backward + spent);
        let mut moved = 0;
        for cut in cuts {
            let (time, away) = cut.at(atom, freed, spent, hardware)?;
            least = least.max(time);
            moved = moved.max(away);
        }
        if let Some(path) = path {
            let ahead = path.ahead(float(freed) * cost.out);
            let ahead = whole(ahead).max(forward);
            let behind = whole(path.back - float(freed) * cost.back).max(backward + spent);
            least = least.max(Nanos(ahead + behind));
        }
        Some((least, moved))
    };
    let best = (0..=most).filter_map(one).min();
    best.map_or(Bound { micro: None, offloaded: 0 }, |(micro, offloaded)| Bound {
        micro: Some(micro),
        offloaded,
    })
}

/// The chain of waits, shortened by what is best recomputed.
fn stretched(rows: &[Row], hull: &[Piece], path: Path, cost: &Cost) -> Nanos {
    let sum = |time: fn(&Row) -> u64| float(rows.iter().map(time).sum());
    let (forward, backward) = (sum(|row| row.forward), sum(|row| row.backward));
    let slack = float(2 * rows.iter().map(|row| row.storages).sum::<u64>());
    let time = |spent: f64, freed: f64| {
        let ahead = (path.ahead(freed * cost.out) - slack).max(forward);
        let behind = (path.back - freed * cost.back - slack).max(backward + spent);
        ahead + behind
    };
    let (mut spent, mut freed) = (0.0, 0.0);
    let mut best = time(spent, freed);
    for piece in hull {
        let slope = piece.time / piece.freed;
        // Where forward waits no more, and where recomputation hides what backward waits.
        let first = (path.out - slack - forward) / cost.out;
        let sooner = (path.whole - slack - forward) / (2.0 * cost.out);
        let both = (path.whole - path.out) / cost.out;
        let second = (path.back - slack - backward - spent + slope * freed) / (slope + cost.back);
        for bend in [first, sooner, both, second] {
            let share = (bend - freed) / piece.freed;
            if share > 0.0 && share < 1.0 {
                best = best.min(time(spent + share * piece.time, bend));
            }
        }
        spent += piece.time;
        freed += piece.freed;
        best = best.min(time(spent, freed));
    }
    Nanos(whole(best))
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

/// What a layer may lack at its own forward, for its own recomputation: time, and bytes that it does not hold yet. Single tensors count in shares, for
/// the price of those before.
fn own(row: &Row) -> Vec<(u64, u64)> {
    let mut all = vec![(0, 0)];
    for (time, freed) in row.hull() {
        if time < row.forward {
            if let Some(last) = all.last_mut() {
                last.1 = freed;
            }
            all.push((time, freed));
        }
    }
    all.push((row.forward, row.own()));
    all
}

/// What lacks at one layer, and what surrounds it.
#[derive(Clone, Copy)]
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
            let read = rows.get(layer + 1).map_or(0, |next| next.forward);
            let wait = if row.late == row.held { read } else { 0 };
            ends = Some((ahead + wait, behind));
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
    /// Recomputed layers that free nothing at least: a segment keeps the input of its first.
    lost: u64,
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
            None => {
                let lost = u64::from(row.input == row.held);
                alike = Some(Atom { bytes: row.held, time, count: 1, lost });
            }
            Some(atom) if (atom.bytes, atom.time) == (row.held, time) => {
                atom.count += 1;
                atom.lost = atom.lost.min(u64::from(row.input == row.held));
            }
            Some(_) => return None,
        }
    }
    alike
}

impl Cut {
    /// The least time over whole layers, and the bytes that leave there; none where nothing helps.
    fn whole(&self, atom: &Atom, before: u64, hardware: &Hardware) -> Option<(Nanos, u64)> {
        let most = if atom.time.is_some() { atom.count } else { 0 };
        (0..=most)
            .filter_map(|again| {
                let spent = before + atom.time.unwrap_or(0) * again;
                self.at(atom, again, spent, hardware)
            })
            .min()
    }

    /// The least time where so many layers are freed at that price, and the bytes that leave; none where it cannot be.
    fn at(&self, atom: &Atom, freed: u64, spent: u64, hardware: &Hardware) -> Option<(Nanos, u64)> {
        let room = hardware.host.0.saturating_add(hardware.ssd.0);
        let (out, back) =
            (hardware.copy_out(Bytes(atom.bytes)).0, hardware.copy_back(Bytes(atom.bytes)).0);
        let over = |over: u64| over.saturating_sub(freed * atom.bytes).div_ceil(atom.bytes);
        let (away, home) = (over(self.forward_over), over(self.backward_over));
        let moved = away.max(home);
        if moved * atom.bytes > self.held.min(room) {
            return None;
        }
        let leave = |n: u64| if n > 0 { self.first + n * out } else { 0 };
        let behind = if home > 0 { self.last + home * back } else { 0 };
        let turn = (self.ahead.max(leave(away)) + self.between).max(leave(home));
        let time = turn + self.own + (self.behind + spent).max(behind);
        let driven = self.driven(moved * atom.bytes, hardware).unwrap_or(0);
        Some((Nanos(time.max(driven)), moved * atom.bytes))
    }

    /// The least time where so many bytes leave, of which the host has no room for some: the drive reads once it has written all of them. None where it has.
    fn driven(&self, moved: u64, hardware: &Hardware) -> Option<u64> {
        let driven = Bytes(moved.checked_sub(hardware.host.0)?);
        let time =
            hardware.ssd_write.time(driven).0.saturating_add(hardware.ssd_read.time(driven).0);
        (driven > Bytes::ZERO).then(|| (self.first + self.last).saturating_add(time))
    }

    /// The least of that over shares of layers that are recomputed.
    fn drive(&self, hull: &[Piece], hardware: &Hardware) -> Nanos {
        let compute = float(self.ahead + self.between + self.own + self.behind);
        let rate = float(
            hardware.ssd_write.time(Bytes(1 << 30)).0 + hardware.ssd_read.time(Bytes(1 << 30)).0,
        ) / float(1 << 30);
        let over = float(self.backward_over) - float(hardware.host.0);
        let ends = float(self.first + self.last);
        let time = |spent: f64, freed: f64| {
            let driven = over - freed;
            let slack = 2.0 * self.copies;
            (compute + spent).max(if driven > 0.0 { ends + driven * rate - slack } else { 0.0 })
        };
        let (mut spent, mut freed) = (0.0, 0.0);
        let mut best = time(spent, freed);
        for piece in hull.iter().filter(|piece| piece.layer < self.layer) {
            let slope = piece.time / piece.freed;
            // Where recomputation takes as long, and where nothing is left for the drive.
            let level = (ends + over * rate - 2.0 * self.copies - compute - spent + slope * freed)
                / (slope + rate);
            for bend in [level, over] {
                let share = (bend - freed) / piece.freed;
                if share > 0.0 && share < 1.0 {
                    best = best.min(time(spent + share * piece.time, bend));
                }
            }
            spent += piece.time;
            freed += piece.freed;
            best = best.min(time(spent, freed));
        }
        Nanos(whole(best))
    }

    /// The least time over shares of layers.
    fn fractional(&self, hull: &[Piece], before: u64, hardware: &Hardware) -> Option<(Nanos, u64)> {
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
        let (mut spent, mut freed) = (float(before), 0.0);
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
pub(super) const fn float(n: u64) -> f64 {
    n as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
const fn whole(x: f64) -> u64 {
    x as u64
}
