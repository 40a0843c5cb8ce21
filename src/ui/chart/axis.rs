//! Axes: hairlines and numbers.

use crate::scene::{Rect, Tick};
use yew::prelude::*;

/// Vertical hairlines at ticks, with their numbers below.
pub fn across(ticks: &[Tick], plot: Rect) -> Html {
    let one = |tick: &Tick| {
        let (x, y) = (tick.at.to_string(), plot.bottom() + 16.0);
        let near_right = plot.right() - tick.at < 18.0;
        let anchor = if near_right { "end" } else { "middle" };
        let at = if near_right { plot.right().to_string() } else { x.clone() };
        html! {
            <>
                <line class="grid" x1={x.clone()} x2={x} y1={plot.y.to_string()} y2={plot.bottom().to_string()} />
                <text class="tick" x={at} y={y.to_string()} text-anchor={anchor}>{&tick.text}</text>
            </>
        }
    };
    html! { <g class="axis">{ for ticks.iter().map(one) }</g> }
}

/// Horizontal hairlines at ticks, with their numbers at the left.
pub fn up(ticks: &[Tick], plot: Rect) -> Html {
    let one = |tick: &Tick| {
        let (x, y) = ((plot.x - 6.0).to_string(), tick.at.to_string());
        html! {
            <>
                <line class="grid" x1={plot.x.to_string()} x2={plot.right().to_string()} y1={y.clone()} y2={y.clone()} />
                <text class="tick" {x} {y} dy="0.35em" text-anchor="end">{&tick.text}</text>
            </>
        }
    };
    html! { <g class="axis">{ for ticks.iter().map(one) }</g> }
}

/// A rectangle.
pub fn rect(class: impl Into<Classes>, rect: Rect, fill: Option<AttrValue>) -> Html {
    html! {
        <rect class={class.into()} x={rect.x.to_string()} y={rect.y.to_string()} width={rect.w.max(0.0).to_string()}
            height={rect.h.max(0.0).to_string()} {fill} />
    }
}

/// A path.
pub fn path(class: impl Into<Classes>, d: &str, fill: Option<AttrValue>) -> Html {
    if d.is_empty() {
        return Html::default();
    }
    html! { <path class={class.into()} d={d.to_owned()} {fill} /> }
}
