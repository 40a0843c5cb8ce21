//! A few numbers of a real run, and the free knobs fitted to them: fields, a button, and what the fit says. Applying it sets the
//! knobs as any other turn would, in one entry of history. The page has the box ([`crate::ui::folded`]), what is in it is drawn by the program
//! `details`.

use super::panel::kind_words;
use super::residual::fitted;
use super::slider::Field;
use crate::engine::calibrate::{self, Calibration, Knob};
use crate::engine::{Error, PolicyKind};
use crate::ui::notice;
use crate::ui::store::Msg;
use crate::words::{self, Locale};
use serde_json::{Value, json};
use yew::prelude::*;

/// The knobs that the four numbers of the panel can determine.
pub const KNOBS: [Knob; 3] = [Knob::Efficiency, Knob::BackwardRatio, Knob::Unmodelled];

/// Id, key and unit of each field: this plan's, then those of the other.
const FIELDS: [(&str, &str, &str); 4] = [
    ("measured-step", "step_s", "s"),
    ("measured-peak", "peak_gib", "GiB"),
    ("measured-other-step", "step_checkpoint_s", "s"),
    ("measured-other-peak", "peak_checkpoint_gib", "GiB"),
];

/// What is fitted.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The request in force, as text.
    pub request: AttrValue,
    /// The kind of its policy.
    pub policy: PolicyKind,
    /// The language.
    pub locale: Locale,
    /// Whether the box is open.
    pub open: bool,
    /// Told of what is applied or forgotten.
    pub send: Callback<Msg>,
}

/// A fit, and the request that it was made for, without the knobs.
struct Fit {
    asked: Value,
    result: Result<Calibration, Error>,
}

/// What is in the box; drawn only while open.
#[component]
pub fn Fitting(props: &Props) -> Html {
    let locale = props.locale;
    // Not a state: a field that is left by pressing the button has to be read by that same press.
    let numbers = use_mut_ref(|| [const { Value::Null }; 4]);
    let again = use_force_update();
    let fit = use_state(|| None::<Fit>);
    let request: Value = serde_json::from_str(&props.request).unwrap_or_default();
    let onsubmit = {
        let (numbers, fit, request) = (numbers.clone(), fit.clone(), request.clone());
        let policy = other(props.policy).name();
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let mut asked = request.clone();
            asked["measured"] = json!({"policy": {"kind": policy}});
            for ((_, key, _), value) in FIELDS.iter().zip(numbers.borrow().iter()) {
                asked["measured"][key] = value.clone();
            }
            let result = calibrate::calibrate(&asked).map(|(calibration, _)| calibration);
            fit.set(Some(Fit { asked: without_knobs(&request), result }));
        })
    };
    let field = |at: usize| {
        let (id, _, unit) = FIELDS[at];
        let label =
            if at.is_multiple_of(2) { words::calibrate_step } else { words::calibrate_peak };
        let shown = shown(&numbers.borrow()[at]);
        let (numbers, again) = (numbers.clone(), again.clone());
        let onturn = Callback::from(move |(value, _): (Value, bool)| {
            numbers.borrow_mut()[at] = value;
            again.force_update();
        });
        html! {
            <div class="choice">
                <label for={id}>{label(locale)}</label>
                <Field {id} {unit} {shown} {onturn} />
            </div>
        }
    };
    let plan = words::calibrate_own(locale, kind_words(props.policy, locale));
    html! {
        if props.open {
            <form {onsubmit}>
                <p class="knob-about">{words::calibrate_help(locale)}</p>
                <fieldset><legend>{plan}</legend>{ field(0) }{ field(1) }</fieldset>
                <fieldset><legend>{other_words(props.policy, locale)}</legend>{ field(2) }{ field(3) }</fieldset>
                <p class="buttons"><button class="primary">{words::calibrate_fit(locale)}</button></p>
            </form>
            <div role="status">{ said(fit.as_ref(), &request, props) }</div>
            { turns(fit.as_ref(), &request, props) }
        }
    }
}

/// The plan that is measured beside this one: every layer recomputed, or nothing where this one recomputes all.
const fn other(policy: PolicyKind) -> PolicyKind {
    match policy {
        PolicyKind::Recompute => PolicyKind::Keep,
        _ => PolicyKind::Recompute,
    }
}

const fn other_words(policy: PolicyKind, locale: Locale) -> &'static str {
    match other(policy) {
        PolicyKind::Keep => words::calibrate_other_keep(locale),
        _ => words::calibrate_other_recompute(locale),
    }
}

/// What the fit says, what is wrong with its numbers, or that it is of other settings.
fn said(fit: Option<&Fit>, request: &Value, props: &Props) -> Html {
    let locale = props.locale;
    match fit {
        None => Html::default(),
        Some(Fit { asked, .. }) if *asked != without_knobs(request) => {
            html! { <p class="notice">{words::calibrate_stale(locale)}</p> }
        }
        Some(Fit { result: Ok(calibration), .. }) => fitted(calibration, locale),
        Some(Fit { result: Err(error), .. }) => {
            let text = match error {
                Error::Missing { path, .. } if path == "measured" => {
                    words::calibrate_none(locale).to_owned()
                }
                error => notice::message(&named(error, locale), locale),
            };
            html! { <p class="problem">{text}</p> }
        }
    }
}

/// The buttons: apply what was fitted, forget what was set.
fn turns(fit: Option<&Fit>, request: &Value, props: &Props) -> Html {
    let locale = props.locale;
    let of = |knob: Knob| request.pointer(&format!("/{}", knob.path().replace('.', "/")));
    let calibration = fit
        .filter(|fit| fit.asked == without_knobs(request))
        .and_then(|fit| fit.result.as_ref().ok())
        .filter(|calibration| !calibration.fitted.is_empty());
    let apply = calibration.map(|calibration| {
        let value = |knob: Knob| calibration.after.get(knob);
        let applied = calibration
            .fitted
            .iter()
            .all(|&knob| of(knob).and_then(Value::as_f64) == Some(value(knob)));
        let changes: Vec<(String, Value)> =
            calibration.fitted.iter().map(|&knob| (knob.path(), value(knob).into())).collect();
        let onclick = props.send.reform(move |_| Msg::Commit(changes.clone()));
        let name = if applied { words::calibrate_applied } else { words::calibrate_apply };
        html! { <button class="primary" disabled={applied} {onclick}>{name(locale)}</button> }
    });
    let set = KNOBS.iter().any(|&knob| of(knob).is_some());
    // In another order than applied, so that the two are two decisions in the history.
    let changes: Vec<(String, Value)> =
        KNOBS.iter().rev().map(|knob| (knob.path(), Value::Null)).collect();
    let onforget = props.send.reform(move |_| Msg::Commit(changes.clone()));
    html! {
        <p class="buttons">
            { apply }
            if set {
                <button onclick={onforget} title={words::calibrate_forget_note(locale)}>{words::calibrate_forget(locale)}</button>
            }
        </p>
    }
}

/// A request without what a fit turns: applied or not, it is of the same run.
fn without_knobs(request: &Value) -> Value {
    let mut request = request.clone();
    for knob in KNOBS {
        let (group, key) = knob.place();
        if let Some(group) = request.get_mut(group).and_then(Value::as_object_mut) {
            group.remove(key);
        }
    }
    // A group that was made for a knob alone.
    if let Some(request) = request.as_object_mut() {
        request.retain(|_, group| group.as_object().is_none_or(|group| !group.is_empty()));
    }
    request
}

/// An error about one of the fields, named as the field is.
fn named(error: &Error, locale: Locale) -> Error {
    let mut error = error.clone();
    if let Error::Unfit { path, .. } = &mut error
        && let Some(name) = path.strip_prefix("measured.").and_then(|key| number_words(key, locale))
    {
        name.clone_into(path);
    }
    error
}

/// The name of a number by its key.
pub fn number_words(key: &str, locale: Locale) -> Option<&'static str> {
    let words = match key {
        "step_s" => words::calibrate_own_step,
        "peak_gib" => words::calibrate_own_peak,
        "step_checkpoint_s" => words::calibrate_other_step,
        "peak_checkpoint_gib" => words::calibrate_other_peak,
        _ => return None,
    };
    Some(words(locale))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
