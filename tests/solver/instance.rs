//! The instances of tests/vectors/solver.json, read.

use galley::engine::search::additive::{Instance, Layer};
use serde_json::Value;

pub fn rows<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no {key}"))
}

pub fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no {key} in {value}"))
}

pub fn whole(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no {key} in {value}"))
}

pub fn sizes(value: &Value, key: &str) -> Vec<u64> {
    rows(value, key).iter().map(|size| size.as_u64().expect("bytes")).collect()
}

pub fn times(value: &Value, key: &str) -> Vec<f64> {
    rows(value, key).iter().map(|time| time.as_f64().expect("seconds")).collect()
}

/// A chain with four choices a layer.
pub fn instance(row: &Value) -> Instance {
    let (size, residual) = (sizes(row, "size_bytes"), sizes(row, "recompute_residual_bytes"));
    let seconds = times(row, "recompute_s");
    let layer = |i: usize| Layer { size: size[i], residual: residual[i], recompute_s: seconds[i] };
    Instance {
        layers: (0..size.len()).map(layer).collect(),
        link_s: 2.0 / number(row, "cpu_link_bandwidth_bytes_per_s"),
        ssd_s: 1.0 / number(row, "ssd_write_bandwidth_bytes_per_s")
            + 1.0 / number(row, "ssd_read_bandwidth_bytes_per_s"),
        hidden_s: number(row, "hidden_s"),
        memory: whole(row, "memory_limit_bytes"),
        host: whole(row, "host_limit_bytes"),
        ssd: None,
    }
}
