//! "Ask the other way round": five questions, their answers in sentences, and a button that puts each to use. The page has the heading
//! ([`super::folded`]), what is under it is drawn by the program `details`.

mod hunt;
mod said;

use super::chart::Evaluated;
use super::control::{Choice, Field};
use super::notice;
use super::shared::Shared;
use super::store::Msg;
use crate::engine::PolicyKind;
use crate::engine::search::inverse::{self, Ask};
use crate::request::Request;
use crate::words::{self, Locale};
use hunt::{Asked, use_hunt};
use serde_json::{Value, json};
use yew::prelude::*;

/// What the questions are about.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// What the request comes to.
    pub evaluated: Shared<Evaluated>,
    /// The request in force, as text.
    pub request: AttrValue,
    /// The language.
    pub locale: Locale,
    /// Somebody is dragging: searching waits.
    pub busy: bool,
    /// Told of what is put to use.
    pub send: Callback<Msg>,
}

/// What a reader can set about the questions.
#[derive(Clone, PartialEq)]
struct Terms {
    /// Under the best plan.
    best: bool,
    /// In percent; what is no number is refused by the engine.
    slowdown: Value,
}

/// The questions.
#[component]
pub fn Questions(props: &Props) -> Html {
    let Props { evaluated, request, locale, busy, .. } = props;
    let locale = *locale;
    let terms = use_state_eq(|| Terms { best: false, slowdown: json!(5) });
    let hunt = use_hunt(request, *busy);
    let ask = |ask: Ask| {
        let (start, request, terms) = (hunt.start.clone(), request.clone(), (*terms).clone());
        Callback::from(move |_: MouseEvent| {
            start.emit((ask, request.clone(), question(ask, &terms)));
        })
    };
    let onplan = {
        let terms = terms.clone();
        Callback::from(move |name: String| {
            terms.set(Terms { best: name == "best", ..(*terms).clone() });
        })
    };
    let onturn = {
        let terms = terms.clone();
        Callback::from(move |(slowdown, _): (Value, bool)| {
            terms.set(Terms { slowdown, ..(*terms).clone() });
        })
    };
    let shown = match &terms.slowdown {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let entries =
        [("own", words::inverse_plan_own(locale)), ("best", words::inverse_plan_best(locale))];
    let entries = entries.map(|(value, words)| (value.into(), words.into())).to_vec();
    let row = |one: Ask| {
        html! {
            <div class="question" key={one.name()}>
                <button type="button" onclick={ask(one)}>{ask_words(one, locale)}</button>
                if one == Ask::Memory {
                    <Field id="inverse-slowdown" label={words::inverse_slowdown(locale)} unit="%" shown={shown.clone()} onturn={onturn.clone()} />
                }
                { answered(hunt.asked(one), props) }
            </div>
        }
    };
    let asks = Ask::ALL.iter().filter(|&&ask| inverse::possible(ask, &evaluated.scenario.workload));
    html! {
        <>
            <p class="knob-about">{words::inverse_help(locale)}</p>
            if evaluated.scenario.policy.kind != PolicyKind::Best {
                <Choice id="inverse-plan" label={words::inverse_plan(locale)} {entries} value={if terms.best { "best" } else { "own" }} onchoose={onplan} />
            }
            { for asks.map(|&ask| row(ask)) }
        </>
    }
}

/// The `inverse` group of a request.
fn question(ask: Ask, terms: &Terms) -> Value {
    let mut group = json!({"ask": ask, "policy": if terms.best { "best" } else { "own" }});
    if ask == Ask::Memory {
        group["slowdown"] = match terms.slowdown.as_f64() {
            Some(percent) => json!(percent / 100.0),
            None => terms.slowdown.clone(),
        };
    }
    group
}

/// The sentences of an answer, and its button.
fn answered(asked: Option<std::cell::Ref<'_, Asked>>, props: &Props) -> Html {
    let locale = props.locale;
    let Some(asked) = asked else { return html! { <div role="status"></div> } };
    let (text, body, button) = match &asked.result {
        Err(error) => (vec![notice::message(error, locale)], Html::default(), Html::default()),
        Ok(inverse) if !asked.done => {
            let count = said::tried(inverse).to_string();
            (vec![words::inverse_busy(locale, &count)], Html::default(), Html::default())
        }
        Ok(inverse) => {
            let fresh = asked.request == props.request;
            let used = !fresh && in_use(&asked, props);
            let mut text = said::sentences(inverse, locale);
            if !fresh && !used {
                text.push(words::inverse_stale(locale).to_owned());
            }
            (text, said::table(inverse, locale), put_to_use(&asked, fresh, used, props))
        }
    };
    let class = classes!(asked.result.is_err().then_some("problem"));
    html! {
        <>
            <div role="status" {class} aria-busy={(!asked.done && asked.result.is_ok()).to_string()}>
                { for text.into_iter().map(|text| html! { <p>{text}</p> }) }
            </div>
            {button}
            {body}
        </>
    }
}

/// The button; none where there is nothing to put to use, or where it would be of other settings.
fn put_to_use(asked: &Asked, fresh: bool, used: bool, props: &Props) -> Html {
    let changes = asked.result.as_ref().ok().and_then(inverse::changes);
    let Some(changes) = changes.filter(|_| fresh || used) else { return Html::default() };
    let used = used || in_use(asked, props);
    let onclick = props.send.reform(move |_| Msg::Commit(changes.clone()));
    let name = if used { words::inverse_used } else { words::inverse_use };
    html! { <button type="button" class="primary" disabled={used} {onclick}>{name(props.locale)}</button> }
}

/// Whether the request in force is the one that was asked about with the answer put to use.
fn in_use(asked: &Asked, props: &Props) -> bool {
    let now = serde_json::from_str::<Value>(&props.request).ok();
    let then = || {
        let changes = inverse::changes(asked.result.as_ref().ok()?)?;
        let changes: Vec<_> =
            changes.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
        let before = Request::read(serde_json::from_str(&asked.request).ok()?).ok()?;
        Some(before.request.with(&changes).ok()?.request.value().clone())
    };
    now.is_some() && now == then()
}

const fn ask_words(ask: Ask, locale: Locale) -> &'static str {
    match ask {
        Ask::Batch => words::inverse_ask_batch(locale),
        Ask::Sequence => words::inverse_ask_sequence(locale),
        Ask::Memory => words::inverse_ask_memory(locale),
        Ask::Card => words::inverse_ask_card(locale),
        Ask::Bandwidth => words::inverse_ask_bandwidth(locale),
    }
}
