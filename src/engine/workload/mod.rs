//! What describes the model, lowered to one [`Chain`]. Each kind has its own room; none knows policies.

mod block;
mod gather;
pub mod huggingface;
pub mod lesson;
pub mod parameters;
pub mod profile;
pub mod states;
pub mod transformer;

pub use block::{Work, WorkKind};

use super::accepted::Accepted;
use super::chain::Chain;
use super::error::{Error, Notes};
use super::hardware::Hardware;
use super::preset;
use super::read::Group;
use lesson::Lesson;
use profile::Profile;
use serde_json::{Map, Value};
use states::Training;
use transformer::Transformer;

/// A model, described in one of three ways (a Hugging Face config becomes a transformer).
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// Sizes by formula.
    Transformer(Transformer),
    /// Uniform layers.
    Lesson(Lesson),
    /// Measured layers.
    Profile(Profile),
}

impl Workload {
    /// Reads the `workload` group.
    ///
    /// # Errors
    /// An [`Error`] that names the key.
    pub fn read(given: Option<&Value>, notes: &mut Notes) -> Result<Self, Error> {
        let kind = given.and_then(|object| object.get("kind")).filter(|kind| !kind.is_null());
        match kind.map(|kind| kind.as_str().unwrap_or_default()) {
            None | Some("transformer") => {
                let base =
                    preset::merge("workload", given, preset::models(), preset::DEFAULT_MODEL)?;
                Transformer::read(&mut Group::new("workload", &base, given, notes)?)
                    .map(Self::Transformer)
            }
            Some("huggingface") => {
                let config = given.and_then(|object| object.get("config"));
                let (base, unheeded) = huggingface::transformer_from_config(config)?;
                notes.ignored.extend(unheeded);
                Transformer::read(&mut Group::new("workload", &base, given, notes)?)
                    .map(Self::Transformer)
            }
            Some("lesson") => Lesson::read(&mut Group::new("workload", &Map::new(), given, notes)?)
                .map(Self::Lesson),
            Some("profile") => {
                Profile::read(&mut Group::new("workload", &Map::new(), given, notes)?)
                    .map(Self::Profile)
            }
            Some(_) => Err(Error::unfit(
                "workload.kind",
                kind.unwrap_or(&Value::Null),
                Accepted::OneOf(
                    ["transformer", "huggingface", "lesson", "profile"].map(str::to_owned).to_vec(),
                ),
            )),
        }
    }

    /// Lowers to a chain on one device of `hardware`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when sizes or times leave the range that is counted.
    pub fn lower(&self, training: &Training, hardware: &Hardware) -> Result<Chain, Error> {
        let chain = match self {
            Self::Transformer(model) => model.lower(training, hardware),
            Self::Lesson(lesson) => lesson.lower(hardware),
            Self::Profile(profile) => profile.lower(hardware),
        };
        within_limits(&chain)?;
        Ok(chain)
    }
}

/// Refuses chains whose sums would leave 2^60 bytes or nanoseconds: a step's worst case is every saved byte
/// twice and every layer's forward run again.
fn within_limits(chain: &Chain) -> Result<(), Error> {
    use super::units::{Bytes, LIMIT, Nanos};
    let sizes = chain.layers.iter().map(|layer| {
        u128::from(layer.saved_bytes().0)
            + u128::from(layer.boundary.0)
            + u128::from(layer.output.0)
            + u128::from(layer.forward_scratch.0)
            + u128::from(layer.backward_scratch.0)
    });
    let held = u128::from(chain.pipeline.all(Bytes(1)).0 + 1);
    let states = u128::from(chain.fixed.total().0) + u128::from(chain.host_states.0);
    let bytes = sizes.sum::<u128>() * held + states;
    let times = chain
        .layers
        .iter()
        .map(|layer| 2 * u128::from(layer.forward.0) + u128::from(layer.backward.0));
    let repeats = u128::from(chain.in_step(Nanos(1)).0);
    let nanos = times.sum::<u128>() * repeats + u128::from(chain.optimizer.0);
    let limit = u128::from(LIMIT);
    if bytes >= limit {
        return Err(too_large(
            "memory",
            format!("{:.1e} bytes", approximate(bytes)),
            "1.2e18 bytes",
        ));
    }
    if nanos >= limit {
        return Err(too_large("time", format!("{:.1e} s", approximate(nanos) / 1e9), "1.2e9 s"));
    }
    Ok(())
}

fn too_large(path: &str, given: String, accepted: &str) -> Error {
    Error::TooLarge { path: path.to_owned(), given, accepted: accepted.to_owned() }
}

#[expect(clippy::cast_precision_loss, reason = "for a message")]
fn approximate(number: u128) -> f64 {
    number as f64
}
