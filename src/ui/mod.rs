//! The page: Yew only. Props in, marks out; it computes neither physics nor geometry. `store` is the one state; only `clock` asks
//! for animation frames, only `location` touches history, only `embed` posts messages to
//! the host, only `planner` and `importer` have workers, only `details` is a program of its own (and `hosted` its place in the page).

mod accuracy;
mod app;
pub mod best;
mod caveats;
pub mod chart;
mod clock;
pub mod control;
pub mod details;
mod drop;
mod embed;
pub mod explain;
mod folded;
mod header;
pub mod helps;
mod hosted;
mod importer;
mod importing;
mod inverse;
mod location;
mod marks;
mod media;
mod misfit;
pub mod notice;
pub mod planner;
pub mod searching;
mod shared;
mod stage;
pub mod store;
pub mod textbook;
mod times;
pub mod verdict;
pub mod why;
mod width;
mod worker;

pub use app::App;
pub use shared::Shared;
