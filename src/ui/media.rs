//! What the reader's system asks for, followed when it changes.

use gloo::events::EventListener;
use web_sys::window;
use yew::prelude::*;

/// Whether a media query holds.
#[hook]
pub fn use_media(query: &'static str) -> bool {
    let holds = use_state_eq(|| ask(query));
    {
        let holds = holds.setter();
        use_effect_with((), move |()| {
            let list = window().and_then(|window| window.match_media(query).ok().flatten());
            let listener = list
                .map(|list| EventListener::new(&list, "change", move |_| holds.set(ask(query))));
            move || drop(listener)
        });
    }
    *holds
}

fn ask(query: &str) -> bool {
    window()
        .and_then(|window| window.match_media(query).ok().flatten())
        .is_some_and(|list| list.matches())
}
