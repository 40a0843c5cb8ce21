//! Files dropped anywhere on the page.

use super::importer::Incoming;
use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{DataTransfer, FileList};
use yew::prelude::*;

/// Takes what is dropped; whether a file is held over the page.
#[hook]
pub fn use_drop(take: Callback<Incoming>) -> bool {
    let over = use_state_eq(|| false);
    let setter = over.setter();
    use_effect_with(take, move |take| {
        let listeners = web_sys::window().map(|window| {
            ["dragenter", "dragover", "dragleave", "drop"].map(|name| {
                let (take, over) = (take.clone(), setter.clone());
                let options = EventListenerOptions::enable_prevent_default();
                EventListener::new_with_options(&window, name, options, move |event| {
                    if let Some(event) = event.dyn_ref::<DragEvent>() {
                        dragged(event, &over, &take);
                    }
                })
            })
        });
        move || drop(listeners)
    });
    *over
}

fn dragged(event: &DragEvent, over: &UseStateSetter<bool>, take: &Callback<Incoming>) {
    let Some(data) = event.data_transfer().filter(has_files) else { return };
    // Or the browser would open the file in place of the page.
    event.prevent_default();
    match event.type_().as_str() {
        "dragleave" => {
            // Leaving one element for another is no leaving.
            if event.related_target().is_none() {
                over.set(false);
            }
        }
        "drop" => {
            over.set(false);
            if let Some(incoming) = data.files().and_then(|files| chosen(&files)) {
                take.emit(incoming);
            }
        }
        _ => over.set(true),
    }
}

fn has_files(data: &DataTransfer) -> bool {
    data.types().iter().any(|kind| kind.as_string().is_some_and(|kind| kind == "Files"))
}

/// What a list of files comes to; none when it is empty.
pub fn chosen(files: &FileList) -> Option<Incoming> {
    match files.length() {
        0 => None,
        1 => files.get(0).map(Incoming::File),
        _ => Some(Incoming::Several),
    }
}
