//! The page: Yew only. Props in, marks out; it computes neither physics nor geometry.

use yew::prelude::*;

pub mod chart;
mod shared;

pub use shared::Shared;

/// App.
#[function_component]
pub fn App() -> Html {
    html! { <p>{"hello"}</p> }
}
