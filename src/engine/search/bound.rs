//! A lower bound of the step under a memory budget, by a fractional knapsack: of a chain that stashes `a` bytes a layer, the bytes
//! beyond the budget leave over the link while forward runs, or their layer is recomputed, or the step stalls. Recomputation is
//! worth it while f / (a − c) < 1 / B.

/// One layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Forward time f, s.
    pub forward: f64,
    /// Backward time b, s.
    pub backward: f64,
    /// Bytes kept for backward, a.
    pub stash: f64,
    /// Bytes that stay when it is recomputed, c.
    pub boundary: f64,
}

/// Σ (f + b) + min over x in \[0, 1\] of Σ x·f + max(0, S − M − Σ x·(a − c) − B·Σ f) / B: time in the unit of f, for `memory` M bytes
/// and a link of `rate` B bytes per unit of time each way. No step is faster, in any model where copies out of the device end
/// before backward begins or stall it. Infinite where nothing helps: no link, and too little to recompute.
#[must_use]
pub fn step(layers: &[Layer], memory: f64, rate: f64) -> f64 {
    let compute: f64 = layers.iter().map(|layer| layer.forward + layer.backward).sum();
    let forward: f64 = layers.iter().map(|layer| layer.forward).sum();
    let stash: f64 = layers.iter().map(|layer| layer.stash).sum();
    let mut over = stash - memory - rate * forward;
    let mut cheap: Vec<(f64, f64)> = layers
        .iter()
        .map(|layer| (layer.forward, layer.stash - layer.boundary))
        .filter(|&(forward, freed)| freed > 0.0 && forward * rate < freed)
        .collect();
    cheap.sort_by(|a, b| (a.0 * b.1).total_cmp(&(b.0 * a.1)));
    let mut added = 0.0;
    for (forward, freed) in cheap {
        if over <= 0.0 {
            break;
        }
        let share = (over / freed).min(1.0);
        added += share * forward;
        over -= share * freed;
    }
    compute + added + if over > 0.0 { over / rate } else { 0.0 }
}
