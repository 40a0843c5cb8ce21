//! The head of the page: its name, the menus of models, cards and ways of training, and what concerns the page itself.

use super::control::Choice;
use super::store::{Msg, State};
use crate::engine::preset::{self, Table};
use crate::request::LESSON;
use crate::words::{self, Locale};
use serde_json::{Value, json};
use yew::prelude::*;

/// The button that opens the box to paste into.
pub const PASTE_BUTTON: &str = "paste";

/// What the header shows.
pub struct Props {
    /// The model preset in force, if any.
    pub model: Option<AttrValue>,
    /// The card preset in force, if any.
    pub card: Option<AttrValue>,
    /// The way of training in force.
    pub training: AttrValue,
    /// The language.
    pub locale: Locale,
    /// The theme, if one was chosen.
    pub theme: Option<AttrValue>,
    /// Told of every choice.
    pub send: Callback<Msg>,
    /// The box to paste into is to open or close.
    pub onpaste: Callback<()>,
}

type Words = fn(Locale) -> &'static str;

/// The ways of training that the menu offers: name, words, and the `training` group.
fn trainings() -> [(&'static str, Words, Value); 4] {
    [
        ("full", words::app_full, json!({})),
        ("full-bf16", words::app_full_bf16, json!({"dtype": "bf16", "optimizer": "sgd"})),
        ("lora", words::app_lora, json!({"lora_rank": 16})),
        ("qlora", words::app_qlora, json!({"lora_rank": 16, "frozen_dtype": "nf4"})),
    ]
}

/// The name of the way of training in force: `custom` for what the menu does not offer.
#[must_use]
pub fn training_name(state: &State) -> &'static str {
    let given = state.request.get("training").cloned().unwrap_or_else(|| json!({}));
    trainings().into_iter().find(|(_, _, group)| *group == given).map_or("custom", |row| row.0)
}

/// The entries of a menu: words for what is no preset, then the presets.
fn presets(table: &'static Table, own: Option<&'static str>) -> Vec<(AttrValue, AttrValue)> {
    let named = table.iter().filter_map(|preset| {
        let text = |key: &str| preset.get(key).and_then(Value::as_str);
        Some((AttrValue::from(text("id")?), AttrValue::from(text("label")?)))
    });
    own.map(|words| (AttrValue::from(""), AttrValue::from(words)))
        .into_iter()
        .chain(named)
        .collect()
}

/// The header.
pub fn header(props: &Props) -> Html {
    let Props { locale, send, .. } = props;
    let locale = *locale;
    let preset = |group: &'static str| send.reform(move |id: String| Msg::Preset(group, id));
    let own = |value: &Option<AttrValue>| value.is_none().then(|| words::app_own(locale));
    let mut models = presets(preset::models(), own(&props.model));
    models.push((LESSON.into(), words::app_lesson(locale).into()));
    let mut ways: Vec<(AttrValue, AttrValue)> =
        trainings().map(|(name, words_of, _)| (name.into(), words_of(locale).into())).to_vec();
    if props.training == "custom" {
        ways.push(("custom".into(), words::app_custom(locale).into()));
    }
    let ontrain = send.reform(|name: String| {
        let group = trainings()
            .into_iter()
            .find(|row| row.0 == name)
            .map_or_else(|| json!({}), |row| row.2);
        Msg::Commit(vec![("training".to_owned(), group)])
    });
    html! {
        <header class="head">
            <div class="name">
                <h1>{words::app_title(locale)}</h1>
                <p>{words::app_tagline(locale)}</p>
            </div>
            <div class="menus">
                <Choice id="model" label={words::app_model(locale)} entries={models}
                    value={props.model.clone().unwrap_or_default()} onchoose={preset("workload")} />
                <Choice id="card" label={words::app_card(locale)} entries={presets(preset::cards(), own(&props.card))}
                    value={props.card.clone().unwrap_or_default()} onchoose={preset("hardware")} />
                <Choice id="training" label={words::app_training(locale)} entries={ways} value={props.training.clone()} onchoose={ontrain} />
                <button id={PASTE_BUTTON} onclick={props.onpaste.reform(|_| ())}>{words::app_paste(locale)}</button>
            </div>
            { page_menus(props) }
        </header>
    }
}

fn page_menus(props: &Props) -> Html {
    let (locale, send) = (props.locale, &props.send);
    let other = match locale {
        Locale::En => Locale::Zh,
        Locale::Zh => Locale::En,
    };
    let themes = [
        ("auto", words::app_theme_auto as fn(Locale) -> &'static str),
        ("light", words::app_theme_light),
        ("dark", words::app_theme_dark),
    ]
    .map(|(name, words_of)| (AttrValue::from(name), AttrValue::from(words_of(locale))));
    let ontheme = send.reform(|name: String| Msg::Paint((name != "auto").then_some(name)));
    html! {
        <div class="menus page-menus">
            <Choice id="theme" label={words::app_theme(locale)} entries={themes.to_vec()}
                value={props.theme.clone().unwrap_or_else(|| "auto".into())} onchoose={ontheme} />
            <button lang={other.tag()} aria-label={words::app_language_label(locale)} onclick={send.reform(move |_| Msg::Speak(other))}>
                {words::app_language(locale)}
            </button>
            <button onclick={send.reform(|_| Msg::Reset)}>{words::app_reset(locale)}</button>
        </div>
    }
}
