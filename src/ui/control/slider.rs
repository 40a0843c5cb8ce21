//! One knob: a slider and a number field of the same value. While dragging it previews, on release it commits; what the field
//! cannot read is passed on as text, for the engine to refuse by name.

use crate::engine::PolicyKind;
use crate::scene::slider::{Marks, Range};
use crate::ui::store::Msg;
use serde_json::Value;
use web_sys::{HtmlInputElement, InputEvent, KeyboardEvent};
use yew::prelude::*;

/// What a slider shows and whom it tells.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// Unique in the page.
    pub id: AttrValue,
    /// Its name.
    pub label: AttrValue,
    /// One line about it.
    pub about: AttrValue,
    /// Unit behind the field.
    #[prop_or_default]
    pub unit: AttrValue,
    /// The value in force.
    pub value: f64,
    /// Its range.
    pub range: Range,
    /// Paths of the request that it sets.
    pub paths: &'static [&'static str],
    /// The present policy does not use it: turning it asks for this one.
    #[prop_or_default]
    pub switch: Option<PolicyKind>,
    /// What stands on its scale.
    #[prop_or_default]
    pub marks: Option<Marks>,
    /// Told of every turn. All props compare, so that of the knobs only the one that moved is drawn again.
    pub send: Callback<Msg>,
}

impl Props {
    /// What a turn to `value` asks for.
    fn turned(&self) -> Callback<(Value, bool)> {
        let (paths, switch) = (self.paths, self.switch);
        self.send.reform(move |(value, commit): (Value, bool)| {
            let mut changes: Vec<(String, Value)> =
                paths.iter().map(|path| ((*path).to_owned(), convert(path, &value))).collect();
            changes.extend(switch.map(|kind| ("policy.kind".to_owned(), kind.name().into())));
            if commit { Msg::Commit(changes) } else { Msg::Preview(changes) }
        })
    }
}

/// λ is one slider over three weights: what memory does not get, compute and transfer share.
fn convert(path: &str, value: &Value) -> Value {
    match (path, value.as_f64()) {
        ("weights.compute" | "weights.transfer", Some(memory)) => {
            ((1.0 - memory).max(0.0) / 2.0).into()
        }
        _ => value.clone(),
    }
}

/// A slider with its number field.
#[component]
pub fn Slider(props: &Props) -> Html {
    let Props { id, label, about, unit, value, range, switch, marks, .. } = props;
    let onturn = props.turned();
    let position = range.position_from_value(*value);
    let shown = number(*value);
    let turn = |commit: bool| {
        let (onturn, range) = (onturn.clone(), *range);
        move |input: &HtmlInputElement| {
            onturn.emit((json(range.value_from_position(input.value_as_number())), commit));
        }
    };
    let (preview, commit) = (turn(false), turn(true));
    let oninput = Callback::from(move |event: InputEvent| {
        preview(&event.target_unchecked_into());
    });
    let onchange = Callback::from(move |event: Event| commit(&event.target_unchecked_into()));
    let valuetext = if unit.is_empty() { shown.clone() } else { format!("{shown} {unit}") };
    html! {
        <div class={classes!("knob", switch.map(|_| "idle"))}>
            <label for={id.clone()} class="knob-label" title={about.clone()}>{label}</label>
            <Field id={format!("{id}-field")} label={label.clone()} unit={unit.clone()} {shown} {onturn} />
            <input {id} type="range" min="0" max={range.last().to_string()} step="1" value={position.to_string()}
                aria-valuetext={valuetext} aria-describedby={format!("{id}-about")} {oninput} {onchange} />
            if let Some(marks) = marks {
                <svg class="marks" viewBox={format!("0 0 {} 8", range.last())} preserveAspectRatio="none" aria-hidden="true">
                    <path d={marks.small.clone()} /><path class="tall" d={marks.tall.clone()} />
                </svg>
            }
            <p id={format!("{id}-about")} class="knob-about">{about}{marks.as_ref().map(|marks| marks.text.clone())}</p>
        </div>
    }
}

/// What a number field shows and whom it tells.
#[derive(Clone, PartialEq, Properties)]
pub struct FieldProps {
    /// Unique in the page.
    pub id: AttrValue,
    /// Its name, where no label stands beside it.
    #[prop_or_default]
    pub label: Option<AttrValue>,
    /// What it says while it is empty.
    #[prop_or_default]
    pub placeholder: AttrValue,
    /// Unit behind it.
    #[prop_or_default]
    pub unit: AttrValue,
    /// The value in force.
    pub shown: AttrValue,
    /// What was typed, and that it is released.
    pub onturn: Callback<(Value, bool)>,
}

/// The field keeps what is typed until it is released; then it shows the value in force, written explicitly because a clamped
/// value that did not change would leave the rejected text standing.
#[component]
pub fn Field(props: &FieldProps) -> Html {
    let node = use_node_ref();
    // While somebody types, nothing is written into the field.
    let typing = use_mut_ref(|| false);
    {
        let (node, typing, shown) = (node.clone(), typing.clone(), props.shown.clone());
        use_effect(move || {
            let input = node.cast::<HtmlInputElement>().filter(|_| !*typing.borrow());
            if let Some(input) = input.filter(|input| *input.value() != *shown) {
                input.set_value(&shown);
            }
        });
    }
    let oninput = {
        let typing = typing.clone();
        Callback::from(move |_: InputEvent| *typing.borrow_mut() = true)
    };
    let again = use_force_update();
    let release = {
        let (onturn, node, shown) = (props.onturn.clone(), node.clone(), props.shown.clone());
        let typing = typing.clone();
        move || {
            let typed = std::mem::take(&mut *typing.borrow_mut());
            let Some(input) = node.cast::<HtmlInputElement>().filter(|_| typed) else { return };
            if input.value().trim() != shown.as_str() {
                onturn.emit((parse(&input.value()), true));
            }
            again.force_update();
        }
    };
    let onkeydown = {
        let (release, node, shown) = (release.clone(), node.clone(), props.shown.clone());
        Callback::from(move |event: KeyboardEvent| match event.key().as_str() {
            "Enter" => release(),
            "Escape" => {
                *typing.borrow_mut() = false;
                if let Some(input) = node.cast::<HtmlInputElement>() {
                    input.set_value(&shown);
                }
            }
            _ => {}
        })
    };
    let onblur = {
        let release = release.clone();
        Callback::from(move |_: FocusEvent| release())
    };
    let onchange = Callback::from(move |_: Event| release());
    html! {
        <span class="field">
            <input ref={node} type="text" inputmode="decimal" autocomplete="off" size="6" class="num"
                aria-label={props.label.clone()} placeholder={props.placeholder.clone()} id={props.id.clone()}
                {oninput} {onkeydown} {onchange} {onblur} />
            if !props.unit.is_empty() { <span class="unit">{&props.unit}</span> }
        </span>
    }
}

/// A number, nothing (the default), or text for the engine to refuse by name.
fn parse(text: &str) -> Value {
    let text = text.trim();
    if text.is_empty() {
        return Value::Null;
    }
    // What is too large for a number is refused like any other text.
    crate::request::number(text).map_or_else(|| text.into(), json)
}

/// A whole number where it is one, so that counts stay counts.
#[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
fn json(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

fn number(value: f64) -> String {
    if value.is_finite() { ((value * 1e4).round() / 1e4).to_string() } else { String::new() }
}
