//! Every other knob, straight from the engine's table: a field or a menu each, folded away until asked for.

use super::slider::Field;
use super::{Choice, States};
use crate::engine::knob::{self, Kind, Knob};
use crate::ui::Shared;
use crate::ui::chart::Evaluated;
use crate::ui::store::Msg;
use crate::words::{self, Locale};
use serde_json::Value;
use yew::prelude::*;

type Words = fn(Locale) -> &'static str;

/// Group, key, name: in the order shown.
const SHOWN: &[(&str, &str, Words)] = &[
    ("workload", "layers", words::knob_layers),
    ("workload", "hidden", words::knob_hidden),
    ("workload", "heads", words::knob_heads),
    ("workload", "kv_heads", words::knob_kv_heads),
    ("workload", "ffn", words::knob_ffn),
    ("workload", "vocab", words::knob_vocab),
    ("workload", "attention", words::knob_attention),
    ("workload", "implementation", words::knob_implementation),
    ("workload", "dropout", words::knob_dropout),
    ("workload", "accumulation", words::knob_accumulation),
    ("workload", "loss_chunks", words::knob_loss_chunks),
    ("training", "dtype", words::knob_dtype),
    ("training", "optimizer", words::knob_optimizer),
    ("training", "grad_dtype", words::knob_grad_dtype),
    ("training", "lora_rank", words::knob_lora_rank),
    ("training", "frozen_dtype", words::knob_frozen_dtype),
    ("training", "backward_ratio", words::knob_backward_ratio),
    ("training", "zero", words::knob_zero),
    ("training", "gathered_layers", words::knob_gathered),
    ("training", "offload_states", words::knob_offload_states),
    ("training", "dp", words::knob_dp),
    ("training", "tp", words::knob_tp),
    ("training", "sp", words::knob_sp),
    ("training", "pp", words::knob_pp),
    ("training", "stage", words::knob_stage),
    ("training", "virtual_stages", words::knob_virtual_stages),
    ("hardware", "memory_gib", words::knob_memory),
    ("hardware", "tflops", words::knob_tflops),
    ("hardware", "efficiency", words::knob_efficiency),
    ("hardware", "hbm_gbps", words::knob_hbm),
    ("hardware", "d2h_gbps", words::knob_d2h),
    ("hardware", "h2d_gbps", words::knob_h2d),
    ("hardware", "duplex", words::knob_duplex),
    ("hardware", "copy_overhead_us", words::knob_overhead),
    ("hardware", "link_efficiency", words::knob_link_efficiency),
    ("hardware", "pooled_buffers", words::knob_pooled_buffers),
    ("hardware", "page_lock_ms", words::knob_page_lock),
    ("hardware", "copies_use_hbm", words::knob_copies_use_hbm),
    ("hardware", "cards_per_link", words::knob_cards_per_link),
    ("hardware", "host_gib", words::knob_host),
    ("hardware", "host_gbps", words::knob_host_rate),
    ("hardware", "ssd_gib", words::knob_ssd),
    ("hardware", "ssd_read_gbps", words::knob_ssd_read),
    ("hardware", "ssd_write_gbps", words::knob_ssd_write),
    ("hardware", "ssd_tbw", words::knob_ssd_tbw),
    ("hardware", "unmodelled_gib", words::knob_unmodelled),
    ("policy", "granularity", words::knob_granularity),
    ("policy", "threshold", words::knob_threshold),
    ("policy", "reentrant", words::knob_reentrant),
    ("policy", "last_segment_plain", words::knob_last_plain),
];

const GROUPS: [(&str, Words); 4] = [
    ("workload", words::app_settings_model),
    ("training", words::app_settings_training),
    ("hardware", words::app_settings_hardware),
    ("policy", words::app_settings_policy),
];

/// What the settings change.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario in force.
    pub evaluated: Shared<Evaluated>,
    /// The language.
    pub locale: Locale,
    /// Told of every change.
    pub send: Callback<Msg>,
}

/// The settings, in their box; drawn by the program `details`.
#[component]
pub fn Expert(props: &Props) -> Html {
    html! { { for GROUPS.iter().map(|(group, title)| group_of(group, *title, props)) } }
}

fn group_of(group: &str, title: Words, props: &Props) -> Html {
    let settings = &props.evaluated.notes.settings;
    let rows = SHOWN.iter().filter(|row| row.0 == group).filter_map(|(group, key, words)| {
        let knob = knob::find(group, key)?;
        let value = settings.get(*group)?.get(*key)?.clone();
        Some(row(knob, words(props.locale), &value, props))
    });
    html! {
        <fieldset>
            <legend>{title(props.locale)}</legend>
            { for rows }
            if group == "training" { <States evaluated={props.evaluated.clone()} locale={props.locale} send={props.send.clone()} /> }
        </fieldset>
    }
}

fn row(knob: &'static Knob, label: &'static str, value: &Value, props: &Props) -> Html {
    let id = format!("set-{}-{}", knob.group, knob.key);
    let path = format!("{}.{}", knob.group, knob.key);
    let commit = props.send.reform(move |value: Value| Msg::Commit(vec![(path.clone(), value)]));
    match knob.kind {
        Kind::Choice(names) => {
            let entries: Vec<_> = names
                .iter()
                .map(|&name| (name.into(), choice(name, props.locale).into()))
                .collect();
            let onchoose = commit.reform(|name: String| name.into());
            html! { <Choice {id} {label} {entries} value={text(value)} {onchoose} /> }
        }
        Kind::Flag => {
            let entries = [("true", words::choice_yes as Words), ("false", words::choice_no)]
                .map(|(value, words)| (value.into(), words(props.locale).into()));
            let onchoose = commit.reform(|name: String| (name == "true").into());
            html! { <Choice {id} {label} entries={entries.to_vec()} value={text(value)} {onchoose} /> }
        }
        _ => {
            let onturn = commit.reform(|(value, _): (Value, bool)| value);
            html! {
                <div class="choice">
                    <label for={id.clone()}>{label}</label>
                    <Field {id} placeholder={words::knob_off(props.locale)} unit={knob.unit} shown={text(value)} {onturn} />
                </div>
            }
        }
    }
}

/// A choice in words, where it is not a term of its own (`bf16-mixed`, `flash`).
fn choice(name: &'static str, locale: Locale) -> &'static str {
    match name {
        "layer" => words::choice_layer(locale),
        "tensor" => words::choice_tensor(locale),
        "none" => words::choice_none(locale),
        "optimizer" => words::choice_optimizer(locale),
        "all" => words::choice_all(locale),
        "flat" => words::choice_flat(locale),
        "by-size" => words::choice_by_size(locale),
        term => term,
    }
}

/// A value as its field shows it.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
