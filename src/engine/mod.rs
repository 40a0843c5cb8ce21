//! The engine: what is computed, and by which rule. PURE: no DOM, no clock, no randomness, no words for people.
//!
//! A request ([`scenario::Scenario`]) holds a workload, lowered to a [`chain::Chain`]; a policy becomes a
//! [`plan::Plan`]; [`program`] compiles both, [`simulate`] runs them, [`ledger`] and [`trace`] read the run,
//! [`evaluate`] gathers it in an [`outcome`], [`search`] does so for a family, [`calibrate`] fits knobs to a run, [`why`] says what decided and what would
//! change it, and [`door`] speaks JSON.

pub mod accepted;
pub mod calibrate;
pub mod chain;
pub mod closed;
pub mod door;
pub mod edit;
pub mod error;
pub mod evaluate;
pub mod hardware;
pub mod knob;
pub mod ledger;
pub mod lesson;
mod list;
mod names;
pub mod nested;
pub mod outcome;
pub mod pipeline;
pub mod plan;
pub mod policy;
pub mod preset;
pub mod program;
mod read;
pub mod rule;
pub mod scenario;
pub mod schema;
pub mod search;
pub mod simulate;
pub mod sort;
mod stream;
pub mod trace;
pub mod units;
pub mod why;
pub mod workload;

pub use accepted::Accepted;
pub use error::{Error, Notes};
pub use outcome::Outcome;
pub use plan::Plan;
pub use policy::{Action, Policy, PolicyKind};
pub use scenario::Scenario;
pub use units::{Bytes, Nanos};
