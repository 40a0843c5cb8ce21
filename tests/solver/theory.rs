//! Two results of the literature: binomial checkpointing, and the bound by a fractional knapsack.

use super::{number, rows, vector, whole};
use galley::engine::search::bound::{self, Layer};
use galley::engine::search::revolve::{advances, split};

#[test]
fn binomial_schedules_come_out() {
    let revolve = vector("revolve");
    assert_eq!(rows(&revolve, "rows").len(), 48);
    for row in rows(&revolve, "rows") {
        let int = |key| u32::try_from(whole(row, key)).expect("small");
        let advance = advances(int("l"), int("c")).expect("a slot");
        assert_eq!(
            (advance, advance + whole(row, "l")),
            (whole(row, "advance"), whole(row, "total")),
            "{row}"
        );
    }
}

/// The closed form against the recurrence: advance to a place, hold it, reverse what is behind it, then what is before it.
#[test]
fn the_closed_form_is_the_dynamic_programme() {
    const MOST: usize = 60;
    let mut cost = vec![vec![0_u64; 9]; MOST + 1];
    for steps in 2..=MOST {
        cost[steps][1] = (steps * (steps - 1) / 2) as u64;
        for slots in 2..=8 {
            let at = |at: usize| at as u64 + cost[steps - at][slots - 1] + cost[at][slots];
            cost[steps][slots] = (1..steps).map(at).min().expect("a place");
        }
    }
    for steps in 0..=MOST {
        for slots in 1..=8 {
            let (l, c) =
                (u32::try_from(steps).expect("small"), u32::try_from(slots).expect("small"));
            assert_eq!(advances(l, c), Some(cost[steps][slots]), "{l} steps, {c} slots");
            if let Some(at) = split(l, c) {
                let behind = cost[steps - at as usize][slots - 1];
                assert_eq!(u64::from(at) + behind + cost[at as usize][slots], cost[steps][slots]);
            } else {
                assert!(steps < 2 || slots < 2, "{l} steps, {c} slots: no place");
            }
        }
    }
    assert_eq!((advances(5, 0), advances(1, 0)), (None, Some(0)));
    assert_eq!(advances(u32::MAX, 1), Some(u64::from(u32::MAX) * (u64::from(u32::MAX) - 1) / 2));
    assert_eq!(advances(u32::MAX, u32::MAX), Some(u64::from(u32::MAX) - 1));
}

#[test]
fn the_published_bound_comes_out() {
    let published = vector("published");
    let layers = [Layer { forward: 1.0, backward: 2.0, stash: 34.0, boundary: 2.0 }; 32];
    for row in rows(&published["bound"], "rows") {
        for (memory, time) in rows(row, "M").iter().zip(rows(row, "T")) {
            let (memory, time) = (memory.as_f64().expect("M"), time.as_f64().expect("T"));
            let bound = bound::step(&layers, memory, number(row, "B"));
            assert!((bound - time).abs() <= 5.000_1e-4, "{bound} against {time} at {memory}");
        }
    }
}

/// What the formula says, looked for on a grid of x: the greedy choice is its minimum. And where nothing helps, nothing does.
#[test]
fn the_bound_is_the_least_over_all_shares() {
    let layer = |forward, stash, boundary| Layer { forward, backward: 1.0, stash, boundary };
    let layers = [layer(1.0, 30.0, 2.0), layer(2.0, 20.0, 5.0), layer(0.5, 9.0, 8.0)];
    for rate in [0.1, 3.0, 9.0, 20.0] {
        for memory in [0.0, 10.0, 30.0, 59.0] {
            let mut least = f64::INFINITY;
            for code in 0..21_u32.pow(3) {
                let x = [code % 21, code / 21 % 21, code / 441].map(|n| f64::from(n) / 20.0);
                let shares = layers.iter().zip(x);
                let added: f64 = shares.clone().map(|(layer, x)| x * layer.forward).sum();
                let freed: f64 = shares.map(|(layer, x)| x * (layer.stash - layer.boundary)).sum();
                least = f64::min(
                    least,
                    6.5 + added + (59.0 - memory - freed - rate * 3.5).max(0.0) / rate,
                );
            }
            let bound = bound::step(&layers, memory, rate);
            assert!(
                bound <= least + 1e-9 && least <= bound + 0.06 * (1.0 + 30.0 / rate),
                "{bound}, {least}"
            );
        }
    }
    assert!(bound::step(&layers, 0.0, 0.0).is_infinite());
    assert_eq!(bound::step(&layers, 59.0, 0.0).to_bits(), 6.5_f64.to_bits());
}
