//! A chain as the search sees it: what each layer holds for backward, what each operation needs beside what earlier layers
//! hold, and what recomputing frees at which price. All from the compiled program that keeps everything.

use crate::engine::chain::{Chain, Storage};
use crate::engine::plan::Plan;
use crate::engine::program::Program;
use crate::engine::simulate;
use crate::engine::units::{Bytes, Nanos};

/// One way to drop some of a layer's own tensors, the layer itself running plainly.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    /// Which of its saved tensors are made again.
    pub tensors: Vec<usize>,
    /// Bytes freed between forward and backward.
    pub freed: u64,
    /// Time of making them again, at most the layer's forward.
    pub time: u64,
}

/// One layer, in bytes and nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it holds for backward; a storage shared by two layers is the later one's where that saves it.
    pub held: u64,
    /// Of that, its input.
    pub input: u64,
    /// Of that, its output, which the next layer still reads: it cannot leave before that one's forward has run.
    pub late: u64,
    /// In how many storages.
    pub storages: u64,
    /// What it keeps in its place as the first layer of a segment; 0 for the chain's own input.
    pub boundary: u64,
    /// What its forward needs beside what earlier layers hold.
    pub forward_need: u64,
    /// The same of its backward.
    pub backward_need: u64,
    /// Forward time.
    pub forward: u64,
    /// Backward time.
    pub backward: u64,
    /// Its output, which a reentrant segment that ends here holds.
    pub output: u64,
    /// Ways to drop some of its tensors, by rising time, each with the best ratio that is left; none as dear as its forward,
    /// and something always stays.
    pub partials: Vec<Partial>,
    /// Time and bytes of all its own tensors where one of them has to stay: no choice of the others frees more in less than shares of this and of `partials` do.
    pub nearly: Option<(u64, u64)>,
}

impl Row {
    /// Of what it holds, what its own forward can do without where it is recomputed: what it neither reads nor hands on.
    #[must_use]
    pub const fn own(&self) -> u64 {
        self.held.saturating_sub(self.input + self.late)
    }

    /// Pairs (time, freed) of the concave hull over all ways to recompute, the layer as a whole the last; (0, 0) is left out.
    #[must_use]
    pub fn hull(&self) -> Vec<(u64, u64)> {
        let mut hull: Vec<(u64, u64)> = Vec::new();
        let all = self.partials.iter().map(|partial| (partial.time, partial.freed));
        let nearly = self.nearly.filter(|&(time, _)| time < self.forward);
        for (time, freed) in all.chain(nearly).chain([(self.forward, self.held)]) {
            if freed == 0 || hull.last().is_some_and(|last| freed <= last.1) {
                continue;
            }
            while let Some(&(t1, f1)) = hull.last() {
                let (t0, f0) = hull.len().checked_sub(2).map_or((0, 0), |i| hull[i]);
                // The middle point is below the line from the one before to the new one.
                let below = u128::from(f1 - f0) * u128::from(time - t0)
                    <= u128::from(freed - f0) * u128::from(t1 - t0);
                if !below {
                    break;
                }
                hull.pop();
            }
            hull.push((time, freed));
        }
        hull
    }
}

/// The rows of a chain.
#[must_use]
pub fn rows(chain: &Chain) -> Vec<Row> {
    let program = Program::of(chain, &Plan::keep(chain));
    let demand = simulate::demand(&program);
    let n = chain.layers.len();
    let mut before = 0;
    (0..n)
        .map(|i| {
            let layer = &chain.layers[i];
            let of = |storage| -> u64 {
                let tensors = layer.saved.iter().filter(|tensor| tensor.storage == storage);
                tensors.map(|tensor| tensor.bytes.0).sum()
            };
            let input = if i > 0 && layer.saves(Storage::Input) { layer.boundary.0 } else { 0 };
            let by_next = i + 1 < n && chain.layers[i + 1].saves(Storage::Input);
            let output = if by_next { 0 } else { of_output(chain, i) };
            let held = of(Storage::Inner) + input + output;
            let inner = layer
                .saved
                .iter()
                .filter(|tensor| tensor.storage == Storage::Inner && tensor.bytes > Bytes::ZERO);
            let shared = [input, output].into_iter().filter(|&bytes| bytes > 0);
            let (partials, nearly) = partials(chain, i);
            let row = Row {
                held,
                input,
                late: if i + 1 < n { output } else { 0 },
                storages: (inner.count() + shared.count()) as u64,
                boundary: if i > 0 { layer.boundary.0 } else { 0 },
                forward_need: demand[i].saturating_sub(before),
                backward_need: demand[2 * n - 1 - i].saturating_sub(before),
                forward: layer.forward.0,
                backward: layer.backward.0,
                output: layer.output.0,
                partials,
                nearly,
            };
            before += held;
            row
        })
        .collect()
}

fn of_output(chain: &Chain, i: usize) -> u64 {
    if !chain.layers[i].saves(Storage::Output) {
        return 0;
    }
    chain.layers.get(i + 1).map_or(chain.layers[i].output.0, |next| next.boundary.0)
}

/// The layer's own tensors by what a freed byte costs, cheapest first, one more with each step; where those are all that it saves, all of them but the
/// smallest last, and time and bytes of all.
fn partials(chain: &Chain, i: usize) -> (Vec<Partial>, Option<(u64, u64)>) {
    let layer = &chain.layers[i];
    let mut own: Vec<(usize, Bytes, Nanos)> = Vec::new();
    for (t, tensor) in layer.saved.iter().enumerate() {
        if tensor.storage == Storage::Inner && tensor.bytes > Bytes::ZERO {
            own.push((t, tensor.bytes, tensor.recompute));
        }
    }
    own.sort_by(|a, b| {
        let left = u128::from(a.2.0) * u128::from(b.1.0);
        left.cmp(&(u128::from(b.2.0) * u128::from(a.1.0))).then(a.0.cmp(&b.0))
    });
    let mut partials: Vec<Partial> = Vec::new();
    let (mut tensors, mut freed, mut time) = (Vec::new(), 0, 0);
    for &(t, bytes, recompute) in &own {
        tensors.push(t);
        freed += bytes.0;
        time += recompute.0;
        if tensors.len() == layer.saved.len() {
            let Some(&(stays, bytes, recompute)) = own.iter().min_by_key(|one| one.1) else {
                break;
            };
            let others = Partial {
                tensors: tensors.iter().copied().filter(|&other| other != stays).collect(),
                freed: freed - bytes.0,
                time: time - recompute.0,
            };
            let better = partials.last().is_none_or(|last| others.freed > last.freed);
            if tensors.len() > 1 && others.time < layer.forward.0 && better {
                partials.retain(|partial| partial.time < others.time);
                partials.push(others);
            }
            return (partials, (tensors.len() > 1).then_some((time, freed)));
        }
        if time >= layer.forward.0 {
            break;
        }
        partials.push(Partial { tensors: tensors.clone(), freed, time });
    }
    (partials, None)
}
