//! Binomial checkpointing of a uniform chain (Griewank and Walther 2000, algorithm 799): how often forward steps run when only
//! `slots` states can be held, the input among them. Exact, in closed form.

/// Forward steps that run to reverse a chain of `steps` with `slots` held states, each step's last run (just before its backward) not
/// counted. With r the least number such that C(slots + r, slots) ≥ steps: r·steps − C(slots + r, slots + 1). None without a slot.
#[must_use]
pub fn advances(steps: u32, slots: u32) -> Option<u64> {
    let steps = u64::from(steps);
    match slots {
        _ if steps <= 1 => return Some(0),
        0 => return None,
        1 => return Some(steps * (steps - 1) / 2),
        _ => {}
    }
    // More slots than steps are of no use.
    let slots = u64::from(slots).min(steps);
    let mut repeats: u64 = 0;
    // C(slots + r, slots) and C(slots + r, slots + 1), from r = 0 on.
    let (mut reach, mut below): (u128, u128) = (1, 0);
    while reach < u128::from(steps) {
        repeats += 1;
        below += reach;
        reach = reach * u128::from(slots + repeats) / u128::from(repeats);
    }
    u64::try_from(u128::from(repeats) * u128::from(steps) - below).ok()
}

/// Where to put the next state: advance so many steps, hold the state there, reverse what is behind it with one slot less, then what
/// is before it. At least 1, less than `steps`; none where there is nothing to split.
#[must_use]
pub fn split(steps: u32, slots: u32) -> Option<u32> {
    if steps < 2 || slots < 2 {
        return None;
    }
    let whole = advances(steps, slots)?;
    // The cost of a split is convex in its place: the first that reaches the optimum.
    let cost =
        |at: u32| Some(u64::from(at) + advances(steps - at, slots - 1)? + advances(at, slots)?);
    let (mut low, mut high) = (1, steps - 1);
    while low < high {
        let middle = u32::midpoint(low, high);
        let (here, next) = (cost(middle)?, cost(middle + 1)?);
        if here == whole || here <= next { high = middle } else { low = middle + 1 }
    }
    (cost(low)? == whole).then_some(low)
}
