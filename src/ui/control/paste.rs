//! A box for somebody's own files: a config.json, a profile, a scenario, a trace; chosen, dropped or pasted. What does not read is said, and
//! stays in the box.

use crate::ui::drop::chosen;
use crate::ui::importer::Incoming;
use crate::words::{self, Locale};
use web_sys::{HtmlInputElement, HtmlTextAreaElement};
use yew::prelude::*;

/// Whom the box tells.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The language.
    pub locale: Locale,
    /// Why the last text was refused.
    pub problem: Option<AttrValue>,
    /// The text or file is to be used.
    pub ontake: Callback<Incoming>,
    /// The box is to close.
    pub onclose: Callback<()>,
}

/// The box.
#[component]
pub fn Paste(props: &Props) -> Html {
    let node = use_node_ref();
    let locale = props.locale;
    {
        let node = node.clone();
        use_effect_with((), move |()| {
            if let Some(area) = node.cast::<HtmlTextAreaElement>() {
                // A box that cannot take the focus can still be clicked.
                let _unfocused = area.focus();
            }
        });
    }
    let onuse = {
        let (node, ontake) = (node.clone(), props.ontake.clone());
        Callback::from(move |_| {
            if let Some(area) = node.cast::<HtmlTextAreaElement>() {
                ontake.emit(Incoming::Text(area.value()));
            }
        })
    };
    let onfile = {
        let ontake = props.ontake.clone();
        Callback::from(move |event: Event| {
            let input = event.target_unchecked_into::<HtmlInputElement>();
            if let Some(incoming) = input.files().and_then(|files| chosen(&files)) {
                ontake.emit(incoming);
            }
            // Or choosing the same file again, once it is mended, would be no change.
            input.set_value("");
        })
    };
    let onclose = props.onclose.reform(|_| ());
    let onkeydown = {
        let onclose = props.onclose.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Escape" {
                onclose.emit(());
            }
        })
    };
    html! {
        <section class="paste" aria-labelledby="paste-title" {onkeydown}>
            <h2 id="paste-title">{words::paste_title(locale)}</h2>
            <p id="paste-help">{words::paste_help(locale)}</p>
            <textarea ref={node} rows="8" spellcheck="false" aria-label={words::paste_label(locale)}
                aria-describedby="paste-help" aria-invalid={props.problem.is_some().to_string()} />
            if let Some(problem) = &props.problem {
                <p class="problem" role="alert">{problem}</p>
            }
            <p class="buttons">
                <label class="file">{words::import_choose(locale)}
                    <input type="file" accept=".json,application/json" onchange={onfile} aria-describedby="paste-help" /></label>
                <button class="primary" onclick={onuse}>{words::paste_use(locale)}</button>
                <button onclick={onclose}>{words::paste_close(locale)}</button>
            </p>
        </section>
    }
}
