//! The views, each a projection of a scene, and its text twin. All are SVG: crisp at any pixel ratio, reachable by keyboard and
//! screen reader, rendered natively in tests; a cloud of dots is one path. What moves with the playhead is a component of its
//! own above the picture, so that the picture is not drawn again.

mod axis;
mod beside;
mod counter;
mod key;
mod ledger;
mod name;
mod pareto;
mod pattern;
mod playhead;
mod ratio;
mod reason;
mod saves;
mod timeline;
mod twin;
mod zoom;

pub use beside::Beside;
pub use counter::counter;
pub use ledger::Ledger;
pub use name::{
    band as band_name, fate as fate_name, layer as layer_name, policy_name, tensor as tensor_name,
};
pub use pareto::Pareto;
pub use ratio::Ratio;
pub use reason::why;
pub use timeline::Timeline;
pub use zoom::{Magnified, zoom};

use crate::engine::error::Notes;
use crate::engine::outcome::Outcome;
use crate::engine::scenario::Scenario;

/// A scenario and what it comes to: what every view shows.
#[derive(Debug)]
pub struct Evaluated {
    /// What was asked.
    pub scenario: Scenario,
    /// What it comes to.
    pub outcome: Outcome,
    /// What was tolerated in the asking.
    pub notes: Notes,
}
