//! "What would help most?": what a unit of memory, link and compute would change, and the map of which plan wins where. Computed while it is
//! open (`work`); the page has the heading (`folded`), what is under it is drawn by the program `details`.

mod levers;
mod work;

pub use levers::levers;

use super::chart::{Evaluated, WinnerMap};
use super::shared::Shared;
use super::store::Msg;
use super::width::use_width;
use crate::engine::Scenario;
use crate::engine::units::Bytes;
use crate::words::{self, Locale};
use serde_json::{Value, json};
use work::use_found;
use yew::prelude::*;

/// What the section needs.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// The language.
    pub locale: Locale,
    /// Whether the section is open: computing waits while it is not.
    pub open: bool,
    /// Somebody is dragging.
    pub busy: bool,
    /// Where a cell's settings go.
    pub send: Callback<Msg>,
}

/// The section.
#[component]
pub fn Helps(props: &Props) -> Html {
    let Props { evaluated, locale, open, busy, send } = props;
    let locale = *locale;
    let found = use_found(evaluated, *open, *busy);
    let node = use_node_ref();
    let width = use_width(&node, 560.0);
    let onchoose = use_callback((evaluated.clone(), send.clone()), |at, (evaluated, send)| {
        send.emit(Msg::Commit(changes(&evaluated.scenario, at)));
    });
    html! {
        <div class="helps-body">
            if *open {
                if let Some(report) = &found.report {
                    { levers(report, found.report_stale, locale) }
                } else {
                    <div class="levers waiting">
                        <p role="status">{words::map_working(locale)}</p>
                        <progress max={found.searched.1.max(1).to_string()} value={found.searched.0.to_string()} aria-label={words::map_working(locale)} />
                    </div>
                }
            }
            <div class="helps-map" ref={node}>
                if let Some(known) = found.map.as_ref().filter(|_| *open) {
                    <h3>{words::map_of_map(locale)}</h3>
                    <WinnerMap evaluated={evaluated.clone()} known={known.clone()} stale={found.map_stale} searching={found.map_searching}
                        {locale} {width} {onchoose} />
                }
            </div>
        </div>
    }
}

/// The knobs that put the scenario into a cell: both rates of the link, the memory limit, and the card's memory where that is less.
fn changes(scenario: &Scenario, (link, memory): ((f64, f64), f64)) -> Vec<(String, Value)> {
    let mut changes = vec![
        ("hardware.d2h_gbps".to_owned(), json!(link.0)),
        ("hardware.h2d_gbps".to_owned(), json!(link.1)),
        ("limits.memory_gib".to_owned(), json!(memory)),
    ];
    if Bytes::from_gib(memory) > scenario.hardware.memory {
        changes.push(("hardware.memory_gib".to_owned(), json!(memory)));
    }
    changes
}
