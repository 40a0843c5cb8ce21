//! What stands on the bandwidth slider: B* of each layer, and of the plan in use once nobody drags.

use super::chart::Evaluated;
use super::shared::Shared;
use crate::engine::search::inverse::bandwidth;
use crate::scene::format;
use crate::scene::slider::{Marks, Range};
use crate::words::{self, Locale};
use gloo::timers::callback::Timeout;
use yew::prelude::*;

/// So long after the last change the plan's rate is looked for: about fifteen runs of the simulator.
const PATIENCE_MS: u32 = 200;

/// The least bandwidth at which the plan in use never waits, GB/s; none while it is not known.
#[hook]
pub fn use_least(evaluated: &Shared<Evaluated>, turning: bool) -> Option<f64> {
    let found = use_state(|| None::<(Shared<Evaluated>, Option<f64>)>);
    let known = (*found).as_ref().filter(|found| found.0 == *evaluated).and_then(|found| found.1);
    use_effect_with((evaluated.clone(), turning), move |(evaluated, turning)| {
        let evaluated = evaluated.clone();
        let timer = (!turning).then(|| {
            Timeout::new(PATIENCE_MS, move || {
                let hidden = bandwidth::of_plan(&evaluated.scenario, &evaluated.outcome.plan);
                found.set(Some((evaluated, hidden.found.map(|at| at.gbps))));
            })
        });
        move || drop(timer)
    });
    known
}

/// The marks; none where neither a layer nor the plan has a rate that hides it.
pub fn marks(
    evaluated: &Evaluated,
    least: Option<f64>,
    range: Range,
    locale: Locale,
) -> Option<Marks> {
    let (scenario, outcome) = (&evaluated.scenario, &evaluated.outcome);
    let rates = bandwidth::of_layers(&scenario.chain, &scenario.hardware, &outcome.policy);
    let rates: Vec<f64> = scenario.chain.blocks().filter_map(|i| rates[i]).collect();
    let rate = |gbps: f64| format::rate(gbps * 1e9);
    let low = rates.iter().copied().reduce(f64::min);
    let high = rates.iter().copied().reduce(f64::max);
    let layers =
        low.zip(high).map(|(low, high)| words::inverse_marks(locale, &rate(low), &rate(high)));
    let plan = least.map(|least| words::inverse_marks_plan(locale, &rate(least)));
    // It goes on where the knob's own words end.
    let stop = match locale {
        Locale::En => ". ",
        Locale::Zh => "。",
    };
    let text: Vec<String> = layers.into_iter().chain(plan).collect();
    (!text.is_empty()).then(|| Marks {
        small: range.ticks(&rates, (4, 4)),
        tall: range.ticks(least.as_slice(), (0, 8)),
        text: format!("{stop}{}", text.join(words::import_between(locale))),
    })
}
