//! Measured layers, as `tools` or a test import them: bytes and times per layer, nothing derived.

use crate::engine::accepted::Accepted;
use crate::engine::chain::{Chain, Layer, LayerKind, SavedTensor, Static, Storage};
use crate::engine::error::Error;
use crate::engine::hardware::Hardware;
use crate::engine::pipeline::Pipeline;
use crate::engine::read::Group;
use crate::engine::units::{Bytes, Nanos};
use serde_json::{Map, Value};

/// Most layers and tensors that are read.
const MOST_LAYERS: usize = 10_000;
const MOST_TENSORS: usize = 200_000;

/// A measured chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    fixed: Static,
    layers: Vec<Layer>,
    optimizer: Nanos,
    optimizer_scratch: Bytes,
    samples: u64,
    seq: u64,
    accumulation: u64,
}

impl Profile {
    /// Reads the group.
    ///
    /// # Errors
    /// An [`Error`] that names the key.
    pub fn read(group: &mut Group) -> Result<Self, Error> {
        let fixed = match group.value("static_bytes").cloned() {
            None => Static::default(),
            Some(value) => read_static(&value, group)?,
        };
        let list = match group.value("layers").cloned() {
            Some(Value::Array(list)) if (1..=MOST_LAYERS).contains(&list.len()) => list,
            Some(other) => {
                return Err(Error::unfit("workload.layers", &other, Accepted::Layers(MOST_LAYERS)));
            }
            None => {
                return Err(Error::Missing {
                    path: "workload.layers".into(),
                    accepted: Accepted::Layers(MOST_LAYERS),
                });
            }
        };
        let mut layers: Vec<Layer> = Vec::with_capacity(list.len());
        for (i, value) in list.iter().enumerate() {
            let before = layers.last().map(|layer| layer.output);
            layers.push(read_layer(i, value, before, group)?);
        }
        let tensors: usize = layers.iter().map(|layer| layer.saved.len()).sum();
        if tensors > MOST_TENSORS {
            return Err(Error::Unfit {
                path: "workload.layers".into(),
                given: format!("a chain of {tensors} saved tensors"),
                accepted: Accepted::Tensors(MOST_TENSORS),
            });
        }
        let accumulation = group.int("accumulation", 1)?;
        if accumulation > 1 {
            // Over several micro-batches gradients stay.
            for layer in &mut layers {
                layer.gradients = Bytes::ZERO;
            }
        }
        let grown: Bytes = layers.iter().map(|layer| layer.gradients).sum();
        let scratch = group.int("optimizer_scratch_bytes", 0)?;
        Ok(Self {
            fixed: Static { gradients: fixed.gradients.max(grown), ..fixed },
            layers,
            optimizer: Nanos::from_secs(group.float("optimizer_s", 0.0)?),
            optimizer_scratch: Bytes(scratch),
            samples: group.int("batch", 1)?,
            seq: group.int("seq", 1)?,
            accumulation,
        })
    }

    /// The chain as measured.
    #[must_use]
    pub fn lower(&self, hardware: &Hardware) -> Chain {
        Chain {
            fixed: Static { unmodelled: hardware.unmodelled, ..self.fixed },
            host_states: Bytes::ZERO,
            gathered: Bytes::ZERO,
            layers: self.layers.clone(),
            optimizer: self.optimizer,
            optimizer_scratch: self.optimizer_scratch,
            accumulation: self.accumulation,
            pipeline: Pipeline::NONE,
            samples: self.samples,
            seq: self.seq,
            params: 0,
            params_here: 0,
        }
    }
}

fn read_static(value: &Value, group: &mut Group) -> Result<Static, Error> {
    let object = Object::new("workload.static_bytes".into(), value)?;
    let mut fixed = Static::default();
    for key in object.map.keys() {
        match key.as_str() {
            "weights" => fixed.weights = object.bytes(key)?,
            "gradients" => fixed.gradients = object.bytes(key)?,
            "optimizer" => fixed.optimizer = object.bytes(key)?,
            "unmodelled" => fixed.unmodelled = object.bytes(key)?,
            _ => group.ignore(format!("{}.{key}", object.path)),
        }
    }
    Ok(fixed)
}

const LAYER_KEYS: [&str; 13] = [
    "name",
    "kind",
    "forward_s",
    "backward_s",
    "boundary_bytes",
    "forward_scratch_bytes",
    "backward_scratch_bytes",
    "gradient_bytes",
    "input_bytes",
    "output_bytes",
    "saves_input",
    "saves_output",
    "saved",
];

fn read_layer(
    i: usize,
    value: &Value,
    before: Option<Bytes>,
    group: &mut Group,
) -> Result<Layer, Error> {
    let object = Object::new(format!("workload.layers[{i}]"), value)?;
    for key in object.map.keys().filter(|key| !LAYER_KEYS.contains(&key.as_str())) {
        group.ignore(format!("{}.{key}", object.path));
    }
    let input = object.bytes_or("input_bytes", None)?;
    // What the layer before puts out is what this one takes in, unless it says otherwise.
    let boundary =
        object.bytes_or("boundary_bytes", None)?.or(input).or(before).unwrap_or_default();
    let input = input.unwrap_or(boundary);
    let output = object.bytes_or("output_bytes", None)?.unwrap_or(input);
    let forward = object.nanos("forward_s", Nanos::ZERO)?;
    let mut saved = read_saved(&object, forward, group)?;
    let saves_input = object.flag("saves_input")?;
    if saves_input {
        mark_shared(&mut saved, Storage::Input, "input", input);
    }
    if object.flag("saves_output")? {
        mark_shared(&mut saved, Storage::Output, "output", output);
    }
    let gradients = object.bytes_or("gradient_bytes", None)?.unwrap_or_default();
    let scratch = object.bytes_or("backward_scratch_bytes", None)?.unwrap_or_default();
    Ok(Layer {
        name: object.text("name").unwrap_or_else(|| format!("layer {}", i + 1)),
        kind: match object.text("kind").as_deref() {
            Some("embedding") => LayerKind::Embedding,
            Some("head") => LayerKind::Head,
            _ => LayerKind::Block,
        },
        forward,
        backward: object.nanos("backward_s", forward.times(2))?,
        saved,
        boundary: if saves_input { input } else { boundary },
        output,
        forward_scratch: object.bytes_or("forward_scratch_bytes", None)?.unwrap_or_default(),
        // What stays was there while backward ran.
        backward_scratch: scratch.max(gradients),
        weight_casts: Bytes::ZERO,
        gradients,
    })
}

/// What making a tensor again takes is its layer's forward at most, and that where nothing is said: an unknown price is no free one.
fn read_saved(
    layer: &Object,
    forward: Nanos,
    group: &mut Group,
) -> Result<Vec<SavedTensor>, Error> {
    let list = match layer.map.get("saved") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(other) => {
            return Err(Error::unfit(format!("{}.saved", layer.path), other, Accepted::List));
        }
    };
    let read = |(k, value): (usize, &Value)| {
        let object = Object::new(format!("{}.saved[{k}]", layer.path), value)?;
        for key in object
            .map
            .keys()
            .filter(|key| !["name", "bytes", "recompute_s"].contains(&key.as_str()))
        {
            group.ignore(format!("{}.{key}", object.path));
        }
        Ok(SavedTensor {
            name: object.text("name").unwrap_or_else(|| format!("tensor {}", k + 1)).into(),
            bytes: object.bytes("bytes")?,
            recompute: object.nanos("recompute_s", forward)?,
            storage: Storage::Inner,
            attention_core: false,
            origin: None,
        })
    };
    list.iter().enumerate().map(read).collect()
}

/// `saves_input` says that the layer's input is among its saved bytes. It is the tensor of that name, else one
/// of exactly that size, else a part of the first that is large enough; a list that cannot hold it gets it on top.
fn mark_shared(saved: &mut Vec<SavedTensor>, storage: Storage, name: &str, bytes: Bytes) {
    let free = |tensor: &SavedTensor| tensor.storage == Storage::Inner;
    let found = saved
        .iter()
        .position(|tensor| {
            free(tensor) && (*tensor.name == *name || *tensor.name == *format!("layer_{name}"))
        })
        .or_else(|| saved.iter().position(|tensor| free(tensor) && tensor.bytes == bytes));
    if let Some(at) = found {
        saved[at].storage = storage;
        return;
    }
    if let Some(host) = saved.iter_mut().find(|tensor| free(tensor) && tensor.bytes > bytes) {
        host.bytes -= bytes;
    }
    saved.push(SavedTensor {
        name: name.into(),
        bytes,
        recompute: Nanos::ZERO,
        storage,
        attention_core: false,
        origin: None,
    });
}

/// One object of the list, with its path for messages.
struct Object<'a> {
    path: String,
    map: &'a Map<String, Value>,
}

impl<'a> Object<'a> {
    fn new(path: String, value: &'a Value) -> Result<Self, Error> {
        match value {
            Value::Object(map) => Ok(Self { path, map }),
            other => Err(Error::unfit(path, other, Accepted::Object)),
        }
    }

    fn text(&self, key: &str) -> Option<String> {
        self.map.get(key).and_then(Value::as_str).map(str::to_owned)
    }

    fn flag(&self, key: &str) -> Result<bool, Error> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(Error::unfit(format!("{}.{key}", self.path), other, Accepted::Flag)),
        }
    }

    fn number(&self, key: &str, accepted: Accepted) -> Result<Option<f64>, Error> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_f64() {
                Some(number) if number >= 0.0 => Ok(Some(number)),
                _ => Err(Error::unfit(format!("{}.{key}", self.path), value, accepted)),
            },
        }
    }

    fn bytes_or(&self, key: &str, default: Option<Bytes>) -> Result<Option<Bytes>, Error> {
        if let Some(exact) = self.map.get(key).and_then(Value::as_u64) {
            return Ok(Some(Bytes(exact.min(crate::engine::units::LIMIT))));
        }
        Ok(self.number(key, Accepted::Bytes)?.map(Bytes::from_f64).or(default))
    }

    fn bytes(&self, key: &str) -> Result<Bytes, Error> {
        self.bytes_or(key, None)?.ok_or_else(|| Error::Missing {
            path: format!("{}.{key}", self.path),
            accepted: Accepted::Bytes,
        })
    }

    fn nanos(&self, key: &str, default: Nanos) -> Result<Nanos, Error> {
        Ok(self.number(key, Accepted::Seconds)?.map_or(default, Nanos::from_secs))
    }
}
