//! Galley: where GPU memory goes in training, what making room costs, and which plan is best.
//!
//! Three layers, arrows never back: [`engine`] computes, [`scene`] places, `ui` (behind the feature of that name) paints.
pub mod engine;
pub mod link;
pub mod request;
pub mod scene;
#[cfg(feature = "ui")]
pub mod ui;
pub mod words;
