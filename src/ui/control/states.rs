//! Model states in bytes per parameter: what dtype policy and optimizer make of them, and a field for each that overrides it.

use super::expert::text;
use super::slider::Field;
use crate::engine::units::Bytes;
use crate::engine::workload::Workload;
use crate::engine::workload::states::PerParameter;
use crate::scene::format;
use crate::ui::Shared;
use crate::ui::chart::Evaluated;
use crate::ui::store::Msg;
use crate::words::{self, Locale};
use serde_json::Value;
use yew::prelude::*;

/// What the table is about.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario in force.
    pub evaluated: Shared<Evaluated>,
    /// The language.
    pub locale: Locale,
    /// Told of every change.
    pub send: Callback<Msg>,
}

type Row = (&'static str, fn(Locale) -> &'static str, fn(&PerParameter) -> f64);

const ROWS: [Row; 4] = [
    ("weight_bytes", words::chart_band_weights, |bytes| bytes.weights),
    ("gradient_bytes", words::chart_band_gradients, |bytes| bytes.gradients),
    ("master_bytes", words::states_master, |bytes| bytes.master),
    ("optimizer_bytes", words::states_optimizer, |bytes| bytes.optimizer),
];

/// The table; nothing for a workload whose states are given.
#[component]
pub fn States(props: &Props) -> Html {
    let Props { evaluated, locale, send } = props;
    let (scenario, locale) = (&evaluated.scenario, *locale);
    if !matches!(scenario.workload, Workload::Transformer(_)) {
        return Html::default();
    }
    let training = &scenario.training;
    let policy = PerParameter::of(training.dtype, training.grad_dtype, training.optimizer);
    let row = |(key, name, of): Row| {
        let given = evaluated.notes.settings.get("training").and_then(|group| group.get(key));
        let path = format!("training.{key}");
        let onturn =
            send.reform(move |(value, _): (Value, bool)| Msg::Commit(vec![(path.clone(), value)]));
        html! {
            <tr>
                <th scope="row"><label for={format!("states-{key}")}>{name(locale)}</label></th>
                <td class="num">
                    <Field id={format!("states-{key}")} placeholder={format::plain(of(&policy), 5)}
                        shown={given.map(text).unwrap_or_default()} {onturn} />
                </td>
            </tr>
        }
    };
    let fixed = &scenario.chain.fixed;
    let device = fixed.weights + fixed.gradients + fixed.optimizer;
    let host = scenario.chain.host_states;
    html! {
        <table class="states">
            <caption>{words::states_title(locale)}</caption>
            <tbody>{ for ROWS.into_iter().map(row) }</tbody>
            <tfoot>
                <tr>
                    <th scope="row">{words::states_total(locale)}</th>
                    <td class="num">{format::plain(training.bytes.total(), 5)}</td>
                </tr>
                <tr>
                    <th scope="row">{words::states_device(locale)}</th>
                    <td class="num">{format::bytes(device)}</td>
                </tr>
                if host > Bytes::ZERO {
                    <tr>
                        <th scope="row">{words::states_host(locale)}</th>
                        <td class="num">{format::bytes(host)}</td>
                    </tr>
                }
            </tfoot>
        </table>
    }
}
