//! A menu of named values.

use web_sys::HtmlSelectElement;
use yew::prelude::*;

/// What a menu shows and whom it tells.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// Unique in the page.
    pub id: AttrValue,
    /// Its name.
    pub label: AttrValue,
    /// Value and words of each entry.
    pub entries: Vec<(AttrValue, AttrValue)>,
    /// The value in force.
    pub value: AttrValue,
    /// Another was chosen.
    pub onchoose: Callback<String>,
}

/// A labelled menu.
#[component]
pub fn Choice(props: &Props) -> Html {
    // Once a reader has picked an entry, attributes no longer move a menu: what is in force is written into it.
    let node = use_node_ref();
    {
        let node = node.clone();
        let shown = props.value.clone();
        use_effect(move || {
            if let Some(menu) = node.cast::<HtmlSelectElement>()
                && menu.value() != *shown
            {
                menu.set_value(&shown);
            }
        });
    }
    let onchange = {
        let onchoose = props.onchoose.clone();
        Callback::from(move |event: Event| {
            onchoose.emit(event.target_unchecked_into::<HtmlSelectElement>().value());
        })
    };
    let option = |(value, words): &(AttrValue, AttrValue)| {
        html! { <option key={value.to_string()} value={value.clone()} selected={*value == props.value}>{words}</option> }
    };
    html! {
        <div class="choice">
            <label for={props.id.clone()}>{&props.label}</label>
            <select ref={node} id={props.id.clone()} {onchange}>{ for props.entries.iter().map(option) }</select>
        </div>
    }
}
