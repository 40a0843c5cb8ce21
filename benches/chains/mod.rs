//! Chains that are timed, and how.

use galley::engine::Bytes;
use galley::engine::search::additive::{Instance, Layer};
use std::time::Instant;

/// Memory and host as shares of all bytes, and hidden time as a share of their way over the link.
pub const SHARES: [(f64, f64, f64); 6] = [
    (0.02, 0.3, 0.5),
    (0.15, 0.1, 0.5),
    (0.15, 0.6, 0.9),
    (0.4, 0.3, 0.3),
    (0.55, 0.1, 0.4),
    (0.7, 0.3, 0.05),
];

/// A block.
pub const DENSE: Layer = Layer { size: 570_425_344, residual: 16_777_216, recompute_s: 14.5e-3 };

/// Embedding, blocks, head.
pub fn ends(blocks: Vec<Layer>) -> Vec<Layer> {
    let first = Layer { size: 33_554_432, residual: 0, recompute_s: 0.2e-3 };
    let last = Layer { size: 1_048_576_000, residual: 33_554_432, recompute_s: 9.0e-3 };
    std::iter::once(first).chain(blocks).chain([last]).collect()
}

/// With links as one card has them; the host's memory and the compute that hides copies grow with the layers.
pub fn transformer(layers: Vec<Layer>) -> Instance {
    let n = layers.len() as u64;
    Instance {
        layers,
        link_s: 2.0 / 25e9,
        ssd_s: 1.0 / 5e9 + 1.0 / 6e9,
        hidden_s: 3.9 * Bytes(n).as_f64() / 96.0,
        memory: 0,
        host: 20_000_000_000 * n / 96,
        ssd: None,
    }
}

/// `n` layers of `kinds` kinds, about as in solver.json.
pub fn random(n: usize, kinds: usize, (memory, host, hidden): (f64, f64, f64)) -> Instance {
    let mut state = n as u64 * 1000 + kinds as u64;
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Bytes(state >> 11).as_f64() / 9_007_199_254_740_992.0
    };
    let mut kind = || {
        let size = 4e7 + 5e8 * uniform();
        let residual = size * (0.04 + 0.06 * uniform());
        Layer {
            size: Bytes::from_f64(size).0,
            residual: Bytes::from_f64(residual).0,
            recompute_s: size / 1.5e10 * (0.5 + uniform()),
        }
    };
    let table: Vec<Layer> = (0..kinds).map(|_| kind()).collect();
    let layers: Vec<Layer> = (0..n).map(|i| table[i % kinds]).collect();
    let total = Bytes(layers.iter().map(|layer| layer.size).sum()).as_f64();
    let link_s = 2.0 / 24e9;
    Instance {
        layers,
        link_s,
        ssd_s: 1.0 / 5e9 + 1.0 / 3e9,
        hidden_s: hidden * total * link_s,
        memory: Bytes::from_f64(memory * total).0,
        host: Bytes::from_f64(host * total).0,
        ssd: None,
    }
}

/// The least time of up to 15 runs within about a quarter of a second, but of `least` runs where these take no longer than ten; s.
pub fn best_of<T>(least: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let (start, mut best, mut runs) = (Instant::now(), f64::INFINITY, 0);
    loop {
        let began = Instant::now();
        let result = run();
        best = best.min(began.elapsed().as_secs_f64());
        runs += 1;
        let enough = if runs < least { 10.0 } else { 0.25 };
        if runs >= 15 || start.elapsed().as_secs_f64() > enough {
            return (best, result);
        }
    }
}
