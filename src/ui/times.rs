//! Where a step's time goes, as numbers that open their formulas.

use crate::engine::units::Nanos;
use crate::explain::{Asked, Subject, Sum, sum_value, sum_words};
use crate::scene::format;
use crate::ui::chart::Evaluated;
use crate::ui::explain::Number;
use crate::words::{self, Locale};
use yew::prelude::*;

/// The list: what takes no time is left out.
pub fn times(evaluated: &Evaluated, locale: Locale) -> Html {
    let Evaluated { scenario, outcome, notes } = evaluated;
    let asked = Asked { scenario, outcome, settings: &notes.settings };
    let times = Sum::ALL.into_iter().map(|sum| (sum, sum_value(asked, sum)));
    let shown = times.filter(|(_, time)| *time > Nanos::ZERO).map(|(sum, time)| {
        let name = sum_words(sum)(locale);
        html! { <div><dt>{name}</dt><dd class="num"><Number subject={Subject::Sum(sum)} {name} value={format::time(time)} {locale} /></dd></div> }
    });
    html! {
        <section class="times" aria-label={words::explain_times(locale)}>
            <h3>{words::explain_times(locale)}{" "}<span class="quiet">{words::explain_times_note(locale)}</span></h3>
            <dl>{ for shown }</dl>
        </section>
    }
}
