//! Which knobs the numbers determine, and their values. Steps first (efficiency and backward ratio together), then the link, then
//! memory; round after round where offloading ties them to each other.

use super::measured::Run;
use super::note::Note;
use super::solve::{least, root};
use super::{Bench, Calibration, Knob, Knobs, Residual};
use crate::engine::units::Bytes;

/// Most rounds. One is enough unless copies, memory and compute wait for each other.
const MOST_ROUNDS: usize = 6;
/// Relative errors that are none.
const NONE: f64 = 1e-9;
/// From here on an end of a range has cost accuracy: beyond what six digits of a knob lose.
const FELT: f64 = 5e-5;
/// From here on a difference is worth a sentence.
const WORTH_SAYING: f64 = 0.01;

/// What the measured steps without offloading tell.
enum Steps {
    Nothing,
    /// One unknown, from one run or the compromise of two.
    Efficiency(Vec<Run>),
    /// Two, from a run that recomputes less and one that recomputes more.
    Both {
        less: Run,
        more: Run,
    },
}

/// Fits what is determined.
pub fn fit(bench: &Bench) -> Calibration {
    let mut fitted = Vec::new();
    let mut notes = Vec::new();
    let steps = steps(bench, &mut fitted, &mut notes);
    let link = link_moves(bench, &mut notes);
    let memory = bench.measured.peaks().next().is_some();
    if memory {
        fitted.push(Knob::Unmodelled);
    } else {
        notes.push(Note::Undetermined(Knob::Unmodelled));
    }
    let mut knobs = bench.before;
    let mut linked = false;
    for _ in 0..MOST_ROUNDS {
        knobs = fit_steps(bench, &steps, knobs);
        let of_steps = [Run::Own, Run::Other].map(|run| bench.error(run, &knobs));
        if link {
            (knobs, linked) = fit_link(bench, knobs);
        }
        let of_link = bench.error(Run::Offload, &knobs);
        if memory {
            knobs = knobs.with(Knob::Unmodelled, unmodelled(bench, &knobs));
        }
        let after = [Run::Own, Run::Other, Run::Offload].map(|run| bench.error(run, &knobs));
        let same = |a: f64, b: f64| (a - b).abs() <= NONE || !(a - b).is_finite();
        if same(after[0], of_steps[0]) && same(after[1], of_steps[1]) && same(after[2], of_link) {
            break;
        }
    }
    if linked {
        fitted.extend([Knob::ToHost, Knob::ToDevice]);
    } else if link {
        notes.extend([Knob::ToHost, Knob::ToDevice].map(Note::Hidden));
    }
    for &knob in &fitted {
        knobs = knobs.with(knob, six_digits(knobs.get(knob)));
    }
    report(bench, knobs, fitted, notes)
}

/// Decides what the steps determine; says why not.
fn steps(bench: &Bench, fitted: &mut Vec<Knob>, notes: &mut Vec<Note>) -> Steps {
    let (efficiency, ratio) = (Knob::Efficiency, Knob::BackwardRatio);
    let runs: Vec<Run> =
        [Run::Own, Run::Other].into_iter().filter(|&run| bench.step(run).is_some()).collect();
    if runs.is_empty() {
        notes.extend([efficiency, ratio].map(Note::Undetermined));
        return Steps::Nothing;
    }
    if !moves(bench, &runs, efficiency) {
        notes.extend([efficiency, ratio].map(Note::NoEffect));
        return Steps::Nothing;
    }
    fitted.push(efficiency);
    let recompute = |run: Run| bench.summary(run, &bench.before).map(|summary| summary.recompute);
    if runs.len() < 2 || recompute(Run::Own) == recompute(Run::Other) {
        notes.push(Note::Undetermined(ratio));
        return Steps::Efficiency(runs);
    }
    fitted.push(ratio);
    if recompute(Run::Own) < recompute(Run::Other) {
        Steps::Both { less: Run::Own, more: Run::Other }
    } else {
        Steps::Both { less: Run::Other, more: Run::Own }
    }
}

/// Whether a run's step depends on a knob at all.
fn moves(bench: &Bench, runs: &[Run], knob: Knob) -> bool {
    let (min, max) = knob.range();
    let step = |run: Run, value: f64| {
        bench.summary(run, &bench.before.with(knob, value)).map(|summary| summary.step)
    };
    runs.iter().any(|&run| step(run, min) != step(run, max))
}

/// Whether the step that offloads depends on the link; says so if not, or if there is none.
fn link_moves(bench: &Bench, notes: &mut Vec<Note>) -> bool {
    let links = [Knob::ToHost, Knob::ToDevice];
    if bench.step(Run::Offload).is_none() {
        notes.extend(links.map(Note::Undetermined));
        return false;
    }
    let (slowest, fastest) = scales(&bench.before);
    let step = |scale: f64| {
        let summary = bench.summary(Run::Offload, &scaled(&bench.before, scale));
        summary.map(|summary| summary.step)
    };
    let moves = step(slowest) != step(fastest);
    if !moves {
        notes.extend(links.map(Note::NoEffect));
    }
    moves
}

/// Efficiency as its inverse, in which steps are nearly lines.
fn at(knobs: &Knobs, inverse: f64) -> Knobs {
    knobs.with(Knob::Efficiency, 1.0 / inverse)
}

fn inverses() -> (f64, f64) {
    let (min, max) = Knob::Efficiency.range();
    (1.0 / max, 1.0 / min)
}

fn fit_steps(bench: &Bench, steps: &Steps, knobs: Knobs) -> Knobs {
    let (fast, slow) = inverses();
    match steps {
        Steps::Nothing => knobs,
        Steps::Efficiency(runs) => match runs[..] {
            [run] => at(&knobs, root(fast, slow, &|x| bench.error(run, &at(&knobs, x))).at),
            _ => at(&knobs, least(fast, slow, &|x| cost(bench, runs, &at(&knobs, x)))),
        },
        &Steps::Both { less, more } => fit_both(bench, less, more, &knobs),
    }
}

/// Two unknowns: for every efficiency the ratio that makes the one step right, and of those the efficiency that makes the other
/// right. Where that leaves a range, the best on the range's edge.
fn fit_both(bench: &Bench, less: Run, more: Run, knobs: &Knobs) -> Knobs {
    let (fast, slow) = inverses();
    let (low, high) = Knob::BackwardRatio.range();
    let ratio = |knobs: &Knobs| {
        let found = root(low, high, &|r| bench.error(less, &knobs.with(Knob::BackwardRatio, r)));
        (knobs.with(Knob::BackwardRatio, found.at), found.beyond)
    };
    let found = root(fast, slow, &|x| bench.error(more, &ratio(&at(knobs, x)).0));
    let (inside, beyond) = ratio(&at(knobs, found.at));
    if !found.beyond && !beyond {
        return inside;
    }
    let runs = [less, more];
    let of = |knobs: &Knobs| cost(bench, &runs, knobs);
    let ratios = [low, high].map(|r| {
        let edge = knobs.with(Knob::BackwardRatio, r);
        at(&edge, least(fast, slow, &|x| of(&at(&edge, x))))
    });
    let efficiencies = [fast, slow].map(|x| {
        let edge = at(knobs, x);
        let best = least(low, high, &|r| of(&edge.with(Knob::BackwardRatio, r)));
        edge.with(Knob::BackwardRatio, best)
    });
    ratios
        .into_iter()
        .chain(efficiencies)
        .fold(inside, |best, edge| if of(&edge) < of(&best) { edge } else { best })
}

/// Σ of squared relative errors of the steps of `runs`.
fn cost(bench: &Bench, runs: &[Run], knobs: &Knobs) -> f64 {
    runs.iter().map(|&run| bench.error(run, knobs)).map(|error| error * error).sum()
}

/// Both directions of the link by one factor: one number cannot tell them apart.
fn scaled(knobs: &Knobs, scale: f64) -> Knobs {
    let links = [Knob::ToHost, Knob::ToDevice];
    links.iter().fold(*knobs, |knobs, &knob| knobs.with(knob, knobs.get(knob) * scale))
}

/// The factors between which both directions stay in range.
fn scales(knobs: &Knobs) -> (f64, f64) {
    let links = [Knob::ToHost, Knob::ToDevice];
    let slowest = links.map(|knob| knob.range().0 / knobs.get(knob));
    let fastest = links.map(|knob| knob.range().1 / knobs.get(knob));
    (slowest[0].max(slowest[1]), fastest[0].min(fastest[1]))
}

/// The factor of the link, and whether the step tells it: not where even the fastest link is too slow, or hides its copies.
fn fit_link(bench: &Bench, knobs: Knobs) -> (Knobs, bool) {
    let (slowest, fastest) = scales(&knobs);
    let fast = 1.0 / fastest;
    let at = |inverse: f64| scaled(&knobs, 1.0 / inverse);
    let found = root(fast, 1.0 / slowest, &|inverse| bench.error(Run::Offload, &at(inverse)));
    if found.at > fast { (at(found.at), true) } else { (knobs, false) }
}

/// Memory that is not modelled, GiB: the least squares of the peaks' relative errors, where each peak is a modelled one and
/// this. In range as far as [`Knobs::with`] has it, which is never negative.
fn unmodelled(bench: &Bench, knobs: &Knobs) -> f64 {
    let now = knobs.get(Knob::Unmodelled);
    let (mut sum, mut squares) = (0.0, 0.0);
    for (number, peak) in bench.measured.peaks() {
        let Some(summary) = bench.summary(number.run, knobs) else { continue };
        let (measured, modelled) = (peak.gib(), summary.peak.gib() - now);
        sum += (measured - modelled) / (measured * measured);
        squares += 1.0 / (measured * measured);
    }
    if squares > 0.0 { sum / squares } else { now }
}

/// Six significant digits: more than any measurement has, fewer than the rounding to nanoseconds would spoil.
fn six_digits(value: f64) -> f64 {
    let mut scale = 1.0;
    while value * scale < 1e5 && scale < 1e15 {
        scale *= 10.0;
    }
    (value * scale).round() / scale
}

/// The residuals, the ends that were felt, and what is to be said.
fn report(bench: &Bench, after: Knobs, fitted: Vec<Knob>, mut notes: Vec<Note>) -> Calibration {
    let mut residuals = Vec::new();
    let mut unfit = Vec::new();
    for &number in &bench.measured.numbers {
        let model = |knobs: &Knobs| bench.summary(number.run, knobs);
        let (Some(before), Some(fit)) = (model(&bench.before), model(&after)) else { continue };
        let of = |summary| number.quantity.of(summary, bench.tokens);
        let residual = Residual { number, before: of(&before), after: of(&fit) };
        if fit.peak > bench.memory && !unfit.contains(&number.run) {
            unfit.push(number.run);
            notes.push(Note::DoesNotFit(number, bench.memory));
        }
        let modelled = fit.peak.saturating_sub(Bytes::from_gib(after.get(Knob::Unmodelled)));
        let below =
            number.peak().is_some_and(|peak| peak < modelled && residual.difference() > FELT);
        if below {
            notes.push(Note::PeakBelow(number, modelled));
        } else if residual.difference().abs() > WORTH_SAYING {
            notes.push(Note::Unexplained(number, residual.difference()));
        }
        residuals.push(residual);
    }
    // A knob stands at an end for nothing only where all that it is fitted to comes out.
    let off = |knob: Knob| {
        residuals.iter().any(|residual| {
            let number = &residual.number;
            let concerned = match knob {
                Knob::Unmodelled => number.quantity.is_peak(),
                Knob::ToHost | Knob::ToDevice => number.run == Run::Offload,
                Knob::Efficiency | Knob::BackwardRatio => {
                    !number.quantity.is_peak() && number.run != Run::Offload
                }
            };
            concerned && residual.difference().abs() > FELT
        })
    };
    let at_end = |knob: Knob| {
        let (min, max) = knob.range();
        let value = after.get(knob);
        value <= min || value >= max
    };
    let bound = fitted.iter().copied().filter(|&knob| at_end(knob) && off(knob)).collect();
    let left = Knob::ALL.into_iter().filter(|knob| !fitted.contains(knob)).collect();
    Calibration { before: bench.before, after, fitted, left, bound, residuals, notes }
}
