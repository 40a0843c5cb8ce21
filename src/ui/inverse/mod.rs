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
use hunt::{Asked, Problem, use_hunt};
use serde_json::{Value, json};
use std::cell::Ref;
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
fn answered(asked: Option<Ref<'_, Asked>>, props: &Props) -> Html {
    let locale = props.locale;
    let Some(asked) = asked else { return html! { <div role="status"></div> } };
    let said = |text: Vec<String>, problem: bool| {
        let busy = asked.answer.is_none().to_string();
        html! {
            <div role="status" class={classes!(problem.then_some("problem"))} aria-busy={busy}>
                { for text.into_iter().map(|text| html! { <p>{text}</p> }) }
            </div>
        }
    };
    match &asked.answer {
        None => said(vec![words::inverse_busy(locale).to_owned()], false),
        Some(Err(Problem::Refused(error))) => said(vec![notice::message(error, locale)], true),
        Some(Err(Problem::Stopped)) => said(vec![words::inverse_stopped(locale).to_owned()], true),
        Some(Ok(answer)) => {
            let fresh = asked.request == props.request;
            let used = in_use(answer, &asked.request, props);
            let mut text = said::sentences(answer, &asked.request, locale);
            if !fresh && !used {
                text.push(words::inverse_stale(locale).to_owned());
            }
            html! {
                <>
                    { said(text, false) }
                    if fresh || used { { put_to_use(answer, used, props) } }
                    { said::table(answer, locale) }
                </>
            }
        }
    }
}

/// The changes that put an answer to use.
fn changes(answer: &Value) -> Option<Vec<(String, Value)>> {
    let changes = answer["changes"].as_object()?;
    Some(changes.iter().map(|(path, value)| (path.clone(), value.clone())).collect())
}

/// The button; none where there is nothing to put to use.
fn put_to_use(answer: &Value, used: bool, props: &Props) -> Html {
    let Some(changes) = changes(answer) else { return Html::default() };
    let onclick = props.send.reform(move |_| Msg::Commit(changes.clone()));
    let name = if used { words::inverse_used } else { words::inverse_use };
    html! { <button type="button" class="primary" disabled={used} {onclick}>{name(props.locale)}</button> }
}

/// Whether the request in force is the one that was asked about with the answer put to use.
fn in_use(answer: &Value, asked: &str, props: &Props) -> bool {
    let now = serde_json::from_str::<Value>(&props.request).ok();
    let then = || {
        let changes = changes(answer)?;
        let changes: Vec<_> =
            changes.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
        let before = Request::read(serde_json::from_str(asked).ok()?).ok()?;
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
