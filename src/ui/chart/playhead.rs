//! The playhead above a picture of time: a line that can be dragged, and all that a pointer does there. It alone is drawn again
//! while time plays.

use super::key::{Move, moved};
use crate::engine::units::Nanos;
use crate::scene::time::TimeAxis;
use crate::scene::{format, px};
use crate::words::{self, Locale};
use web_sys::Element;
use yew::prelude::*;

/// What the playhead needs.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The picture's axis.
    pub axis: TimeAxis,
    /// Height of the picture.
    pub height: f64,
    /// From where to where the line goes.
    pub reach: (f64, f64),
    /// Where it is.
    pub playhead: Nanos,
    /// The language.
    pub locale: Locale,
    /// A slider for keyboards; otherwise a line only, where another picture has the slider.
    pub slider: bool,
    /// What is there, for those who cannot see it.
    #[prop_or_default]
    pub text: AttrValue,
    /// Moved by the reader.
    pub onseek: Callback<Nanos>,
    /// Where the pointer is.
    pub onpoint: Callback<Option<(f64, f64)>>,
}

/// Where a pointer is inside an element.
pub fn place(node: &NodeRef, event: &MouseEvent) -> Option<(f64, f64)> {
    let frame = node.cast::<Element>()?.get_bounding_client_rect();
    Some((f64::from(event.client_x()) - frame.left(), f64::from(event.client_y()) - frame.top()))
}

/// Keeps a pointer's events coming while it is down, wherever it goes.
fn capture(node: &NodeRef, event: &PointerEvent) {
    if let Some(element) = node.cast::<Element>() {
        // A pointer that is already gone needs none.
        let _gone = element.set_pointer_capture(event.pointer_id());
    }
}

/// The playhead.
#[component]
pub fn Playhead(props: &Props) -> Html {
    let node = use_node_ref();
    let dragging = use_mut_ref(|| false);
    let axis = props.axis;
    let onpointerdown = {
        let (node, dragging, onseek) = (node.clone(), dragging.clone(), props.onseek.clone());
        Callback::from(move |event: PointerEvent| {
            if event.button() == 0
                && let Some((x, _)) = place(&node, &event)
            {
                capture(&node, &event);
                *dragging.borrow_mut() = true;
                onseek.emit(axis.time_from_x(x));
            }
        })
    };
    let onpointermove = {
        let (node, dragging) = (node.clone(), dragging.clone());
        let (onseek, onpoint) = (props.onseek.clone(), props.onpoint.clone());
        Callback::from(move |event: PointerEvent| {
            let at = place(&node, &event);
            if let Some((x, _)) = at.filter(|_| *dragging.borrow()) {
                onseek.emit(axis.time_from_x(x));
            }
            onpoint.emit(at);
        })
    };
    let release = Callback::from(move |_: PointerEvent| *dragging.borrow_mut() = false);
    let onpointerleave = props.onpoint.reform(|_: PointerEvent| None);
    html! {
        <svg ref={node} class="chart-overlay chart-scrub" width={axis.width.to_string()} height={props.height.to_string()}
            {onpointerdown} {onpointermove} onpointerup={release.clone()} onpointercancel={release} {onpointerleave}>
            <rect class="hit" width={axis.width.to_string()} height={props.height.to_string()} />
            { line(props) }
        </svg>
    }
}

fn line(props: &Props) -> Html {
    let axis = props.axis;
    if !axis.window.contains(props.playhead) {
        return Html::default();
    }
    let (from, to) = props.reach;
    let place = format!("translate({} 0)", px(axis.x_from_time(props.playhead)));
    let marks = html! {
        <>
            <line class="playhead-line" y1={from.to_string()} y2={to.to_string()} />
            <path class="playhead-head" d={format!("M-5 {}h10v5l-5 5l-5 -5z", from - 8.0)} />
        </>
    };
    if !props.slider {
        return html! { <g class="playhead" transform={place} aria-hidden="true">{marks}</g> };
    }
    let (value, most) = (props.playhead, axis.window.end);
    let text = format!("{}{}", format::time(value), props.text);
    html! {
        <g class="playhead" transform={place} role="slider" tabindex="0" aria-label={words::chart_play_at(props.locale)}
            aria-valuemin={millis(axis.window.start)} aria-valuemax={millis(most)} aria-valuenow={millis(value)}
            aria-valuetext={text} onkeydown={onkey(props)}>
            <rect class="hit" x="-22" y={(from - 8.0).to_string()} width="44" height={(to - from + 8.0).to_string()} />
            {marks}
        </g>
    }
}

fn millis(at: Nanos) -> String {
    format!("{:.3}", at.secs() * 1e3)
}

/// Arrow keys move a hundredth of what is shown.
fn onkey(props: &Props) -> Callback<KeyboardEvent> {
    let (window, playhead, onseek) = (props.axis.window, props.playhead, props.onseek.clone());
    Callback::from(move |event: KeyboardEvent| {
        let Some(step) = moved(&event.key()) else {
            return;
        };
        event.prevent_default();
        let stride = (window.length().0 / 100).max(1);
        onseek.emit(window.held(match step {
            Move::First => window.start,
            Move::Last => window.end,
            Move::By(n) if n < 0 => playhead.saturating_sub(Nanos(stride * n.unsigned_abs())),
            Move::By(n) => playhead + Nanos(stride * n.unsigned_abs()),
        }));
    })
}
