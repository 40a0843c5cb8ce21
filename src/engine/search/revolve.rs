//! Binomial checkpointing of a uniform chain (Griewank and Walther 2000, algorithm 799): how often forward steps run when only
//! `slots` states can be held, the input among them. Exact, in closed form.

use crate::engine::nested::Nested;
use crate::engine::policy::{Policy, SLOTS};

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

/// Slots in use and blocks that run again under a policy of kind `binomial`.
#[must_use]
pub fn forwards(blocks: u64, policy: &Policy) -> (u64, u64) {
    let slots = policy.slots.unwrap_or(SLOTS).min(blocks);
    let few = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let again = advances(few(blocks), few(slots)).unwrap_or(0);
    (slots, again + u64::from(blocks > 0 && !policy.last_segment_plain))
}

/// The optimal schedule of `blocks` (indices of layers, ascending) as segments within segments: each is run without saving, its
/// input held, and run again from there. The blocks after a segment are reversed first, with one slot less; a last block runs
/// plainly, unless it is to be run again like the others (`last_plain` false: one forward more). Without a slot as with one.
#[must_use]
pub fn segments(blocks: &[usize], slots: u64, last_plain: bool) -> Vec<Nested> {
    let mut segments = Vec::new();
    reverse(blocks, u32::try_from(slots).unwrap_or(u32::MAX), &mut segments);
    if let Some(&last) = blocks.last().filter(|_| !last_plain) {
        segments.push(Nested { start: last, end: last + 1 });
    }
    segments
}

fn reverse(mut blocks: &[usize], mut slots: u32, segments: &mut Vec<Nested>) {
    while blocks.len() > 1 {
        let steps = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
        // With the input alone: everything up to the last step, over and over.
        let at = split(steps, slots).map_or(blocks.len() - 1, |at| at as usize);
        let (before, after) = blocks.split_at(at);
        segments.push(Nested { start: before[0], end: before[at - 1] + 1 });
        reverse(before, slots, segments);
        blocks = after;
        slots = slots.saturating_sub(1).max(1);
    }
}

/// The fewest slots, at least `slots`, with which a chain of `steps` is reversed by at most `most` advances.
#[must_use]
pub fn enough(steps: u64, slots: u64, most: u64) -> u64 {
    let few = |slots: &u64| {
        let (steps, slots) = (u32::try_from(steps).ok()?, u32::try_from(*slots).ok()?);
        advances(steps, slots).filter(|&advances| advances <= most)
    };
    (slots..=steps.max(slots)).find(|slots| few(slots).is_some()).unwrap_or(slots)
}
