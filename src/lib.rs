//! Galley: where GPU memory goes in training, what making room costs, and which plan is best.
//!
//! Three layers, arrows never back: [`engine`] computes, [`scene`] places, `ui` (behind the feature of that name) paints.
//! Between the reader and the engine stand [`request`] and [`link`], which edit and carry a scenario.
//!
//! ```
//! use galley::engine::policy::{Policy, PolicyKind};
//! use galley::engine::{Plan, Scenario, evaluate};
//!
//! // A scenario: 24 uniform layers of 2 GB, 0.1 s forward each, on a card of 24 GiB.
//! let text = r#"{"v": 1, "workload": {"kind": "lesson", "layers": 24, "act_gb": 2, "layer_s": 0.1}}"#;
//! let (scenario, notes) = Scenario::parse(text)?;
//! assert!(notes.clamped.is_empty());
//!
//! // A plan for it: four segments, each run again before its backward.
//! let policy = Policy { k: 4, ..Policy::new(PolicyKind::Checkpoint) };
//! let plan = Plan::of(&policy, &scenario.chain, &scenario.hardware);
//!
//! // The step, simulated: three boundaries stay, and one segment of six layers is recomputed at a time.
//! let outcome = evaluate::evaluate_plan(&scenario, policy, plan);
//! assert_eq!(outcome.peak.row.total().0, (3 + 6) * 2_000_000_000);
//! assert!(outcome.fits && outcome.times.recompute.secs() > 2.39);
//! # Ok::<(), galley::engine::Error>(())
//! ```

pub mod accuracy;
pub mod engine;
pub mod explain;
pub mod import;
pub mod link;
#[cfg(feature = "reader")]
mod reader;
pub mod request;
pub mod scene;
#[cfg(feature = "ui")]
pub mod ui;
pub mod words;
