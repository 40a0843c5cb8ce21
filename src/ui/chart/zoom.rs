//! Buttons that magnify a stretch of time about the playhead.

use crate::engine::units::Nanos;
use crate::scene::time::Window;
use crate::words::{self, Locale};
use yew::prelude::*;

/// What the buttons need.
pub struct Magnified {
    /// The language.
    pub locale: Locale,
    /// All of the step.
    pub whole: Window,
    /// What is shown; all of it by default.
    pub window: Option<Window>,
    /// About where.
    pub playhead: Nanos,
    /// Another stretch is wanted; none for all of it.
    pub onwindow: Callback<Option<Window>>,
}

/// Nearer, farther, earlier, later, all.
pub fn zoom(props: &Magnified) -> Html {
    let Magnified { locale, whole, playhead, .. } = *props;
    let shown = props.window.unwrap_or(whole);
    let is_whole = shown.length() >= whole.length();
    let button = |text: &'static str, label: &'static str, next: Window, disabled: bool| {
        let next = (next.length() < whole.length()).then_some(next);
        let onclick = props.onwindow.reform(move |_: MouseEvent| next);
        html! {
            <button type="button" class="chart-toggle" aria-label={label} title={label} {onclick} {disabled}>{text}</button>
        }
    };
    html! {
        <div class="chart-zoom" role="group" aria-label={words::chart_zoom(locale)}>
            { button("−", words::chart_zoom_out(locale), shown.zoomed(playhead, 0.5, whole), is_whole) }
            { button("+", words::chart_zoom_in(locale), shown.zoomed(playhead, 2.0, whole), false) }
            { button("←", words::chart_zoom_earlier(locale), shown.panned(-0.5, whole), shown.start <= whole.start) }
            { button("→", words::chart_zoom_later(locale), shown.panned(0.5, whole), shown.end >= whole.end) }
            { button("⤢", words::chart_zoom_all(locale), whole, is_whole) }
        </div>
    }
}
