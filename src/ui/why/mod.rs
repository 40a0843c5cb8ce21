//! Why a tensor is what it is, what sets the peak, and what makes a scenario fit: drawn by the program `details`. Numbers come from
//! [`crate::engine::why`]; here are their words, and buttons that make a change with one click.

mod fixes;
mod name;
mod summit;
mod tensor;
mod work;

pub use fixes::{Fixes, said};
pub use name::change;
pub use summit::{Highest, sentences};
pub use tensor::{sentence, tensors};

use crate::engine::why::change::{Price, What};
use crate::engine::why::trial::Trial;
use crate::scene::format;
use crate::ui::store::Msg;
use crate::words::{self, Locale};
use yew::prelude::*;

/// Changes as buttons, the first one first.
fn buttons(trials: &[Trial], locale: Locale, stale: bool, send: &Callback<Msg>) -> Html {
    let button = |trial: &Trial| {
        let set = trial.change.set.clone();
        let onclick = send.reform(move |_: MouseEvent| Msg::Commit(set.clone()));
        let (peak, step) = (format::bytes(trial.peak), format::time(trial.step));
        let mut prices: Vec<Price> = trial.change.kinds().map(What::price).collect();
        prices.sort_unstable();
        prices.dedup();
        // The best plan has to be found before it can be taken up.
        let unknown = !trial.complete && trial.change.kinds().any(|what| what == What::Best);
        let taken = prices.into_iter().filter_map(|one| price(one, locale));
        html! {
            <li><button type="button" class="change" disabled={stale || unknown} {onclick}>
                <b>{name::change(trial, locale)}</b>
                <span>{words::why_comes_to(locale, &peak, &step)}{ for taken.map(|text| html! { <>{" · "}{text}</> }) }</span>
            </button></li>
        }
    };
    html! { <ol class="changes">{ for trials.iter().map(button) }</ol> }
}

/// What a change takes beside time.
const fn price(price: Price, locale: Locale) -> Option<&'static str> {
    match price {
        Price::Time => None,
        Price::Machine => Some(words::why_price_machine(locale)),
        Price::Rounding => Some(words::why_price_rounding(locale)),
        Price::Training => Some(words::why_price_training(locale)),
    }
}
