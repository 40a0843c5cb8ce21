//! How right the engine is: figures that others published or measured, run through this very engine and compared. PURE. The cases are
//! data (`static/accuracy/cases.json`, built from `tests/vectors` by `tests/accuracy`), read by the page, the command line and the
//! tests alike. [`Book`] holds them, [`run::evaluate`] turns one into [`Row`]s, [`summary::of`] sums rows up by group.

pub mod case;
pub mod expression;
pub mod report;
pub mod run;
pub mod summary;
pub mod text;

pub use case::{Book, Case};
pub use run::Row;
