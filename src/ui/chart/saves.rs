//! What a layer saves, tensor by tensor, each size with its formula; drawn while it is open.

use super::{Evaluated, name};
use crate::explain::Subject;
use crate::scene::{Fate, format};
use crate::ui::Shared;
use crate::ui::explain::Number;
use crate::words::{self, Locale};
use web_sys::HtmlDetailsElement;
use yew::prelude::*;

/// What the table is about.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// The language.
    pub locale: Locale,
    /// Whose tensors.
    pub layer: usize,
}

/// The folded table.
#[component]
pub fn Saves(props: &Props) -> Html {
    let Props { evaluated, locale, layer } = props;
    let (locale, layer) = (*locale, *layer);
    let open = use_state_eq(|| false);
    let ontoggle = {
        let open = open.setter();
        Callback::from(move |event: Event| {
            open.set(event.target_unchecked_into::<HtmlDetailsElement>().open());
        })
    };
    let own = &evaluated.scenario.chain.layers[layer];
    let total = format::bytes(own.saved_bytes());
    html! {
        <div class="saves">
            <details class="twin" {ontoggle}>
                <summary>{words::explain_saves(locale)}</summary>
                if *open { { table(evaluated, layer, locale) } }
            </details>
            <Number subject={Subject::LayerSaved(layer)} name={words::explain_layer_saved(locale)} value={total} {locale} />
        </div>
    }
}

fn table(evaluated: &Evaluated, layer: usize, locale: Locale) -> Html {
    let own = &evaluated.scenario.chain.layers[layer];
    let actions = &evaluated.outcome.layers[layer].actions;
    let row = |(t, tensor): (usize, &crate::engine::chain::SavedTensor)| {
        let text = name::tensor(locale, &tensor.name);
        let action = actions.get(t).map(|action| name::fate(locale, Fate::All(*action)));
        html! {
            <tr>
                <th scope="row">{text.clone()}</th>
                <td class="num"><Number subject={Subject::Saved(layer, t)} name={text} value={format::bytes(tensor.bytes)} {locale} /></td>
                <td>{action}</td>
            </tr>
        }
    };
    html! {
        <table>
            <thead><tr>
                <th scope="col">{words::explain_tensor(locale)}</th>
                <th scope="col" class="num">{words::chart_bytes(locale)}</th>
                <th scope="col">{words::chart_ratio_decided(locale)}</th>
            </tr></thead>
            <tbody>{ for own.saved.iter().enumerate().map(row) }</tbody>
        </table>
    }
}
