//! The counter: memory at the playhead as one long bar against the capacity.

use super::pattern::{fill, patterns, swatch};
use super::{Evaluated, axis, name};
use crate::engine::units::{Bytes, Nanos};
use crate::explain::Subject;
use crate::explain::alive::When;
use crate::scene::ledger::{self, BANDS};
use crate::scene::{format, text_width};
use crate::ui::explain::{Number, mark, marked};
use crate::words::{self, Locale};
use yew::prelude::*;

/// Names its parts in the document.
const ID: &str = "counter";

/// The counter of an instant, `width` CSS pixels wide.
pub fn counter(evaluated: &Evaluated, locale: Locale, width: f64, playhead: Nanos) -> Html {
    let outcome = &evaluated.outcome;
    let scene = ledger::bar(outcome, playhead, width);
    let (total, memory) = (format::bytes(scene.total), format::bytes(outcome.memory));
    let text = words::chart_counter_text(locale, &memory, &format::time(playhead), &total);
    let over = scene.total > outcome.memory;
    let left = if over {
        words::chart_counter_over(locale, &mark(0, &format::bytes(scene.total - outcome.memory)))
    } else {
        words::chart_counter_free(locale, &mark(0, &format::bytes(outcome.memory - scene.total)))
    };
    let when = When::At(playhead);
    let free = [(Subject::Free(when), words::chart_counter_title(locale))];
    let of = [
        (Subject::Total(when), words::chart_total(locale)),
        (Subject::Capacity, words::explain_capacity(locale)),
    ];
    let sum = words::chart_counter_of(locale, &mark(1, &memory), &mark(0, &total));
    let mut classes = BANDS.map(ledger::Band::class).to_vec();
    classes.push("overflow");
    html! {
        <figure class="chart chart-counter" aria-label={words::chart_counter_title(locale)}>
            <div class="chart-head">
                <p class="counter-total num">{marked(&sum, &of, locale)}</p>
                <p class={classes!("counter-left", "num", over.then_some("over"))}>{marked(&left, &free, locale)}</p>
            </div>
            <svg class="chart-body" role="img" aria-label={text} width={scene.width.to_string()} height={scene.height.to_string()}>
                { patterns(ID, &classes) }
                { axis::rect("counter-frame", scene.frame, None) }
                { for scene.parts.iter().map(|part| html! {
                    <g key={part.band.class()}>{ axis::rect(format!("mark mark-{}", part.band.class()), part.rect, fill(ID, part.band.class())) }</g>
                }) }
                if let Some(rect) = scene.overflow { { axis::rect("mark mark-overflow", rect, fill(ID, "overflow")) } }
                { for scene.parts.iter().filter_map(|part| label(part, locale)) }
                { axis::rect("counter-edge", scene.frame, None) }
                <line class="counter-peak" x1={scene.peak.to_string()} x2={scene.peak.to_string()} y1="0" y2={scene.height.to_string()} />
                { peak(&scene, &format::bytes(outcome.peak.row.total()), locale) }
            </svg>
            <ul class="legend num" aria-label={words::chart_legend(locale)}>
                { for BANDS.iter().filter(|band| present(evaluated, **band)).map(|band| {
                    let bytes = scene.parts.iter().find(|part| part.band == *band).map_or(Bytes::ZERO, |part| part.bytes);
                    html! {
                        <li key={band.class()}>{swatch(ID, band.class())}<span>{name::band(locale, *band)}</span>
                            <b><Number subject={Subject::Band(*band, when)} value={format::bytes(bytes)} name={name::band(locale, *band)} {locale} /></b></li>
                    }
                }) }
            </ul>
        </figure>
    }
}

/// The peak, named at its right or left, wherever there is nothing.
fn peak(scene: &ledger::Counter, peak: &str, locale: Locale) -> Html {
    let text = words::chart_counter_peak(locale, peak);
    let room = text_width(&text, 12.0) + 14.0;
    let filled = scene.parts.last().map_or(0.0, |part| part.rect.right());
    let (x, anchor) = if scene.peak.max(filled) + room <= scene.width {
        (scene.peak.max(filled) + 8.0, "start")
    } else if scene.peak - filled.max(scene.frame.right()) >= room {
        (scene.peak - 8.0, "end")
    } else {
        return Html::default();
    };
    let y = (scene.frame.y + scene.frame.h / 2.0).to_string();
    html! {
        <text class="label counter-peak-text" x={x.to_string()} {y} dy="0.35em" text-anchor={anchor}>{text}</text>
    }
}

/// Whether a band ever has bytes: the legend must not jump while time plays.
fn present(evaluated: &Evaluated, band: ledger::Band) -> bool {
    let steps = &evaluated.outcome.ledger;
    steps.iter().any(|step| band.bytes(&step.row) > Bytes::ZERO)
}

fn label(part: &ledger::Part, locale: Locale) -> Option<Html> {
    let text = name::band(locale, part.band);
    let fits = text_width(text, 12.0) + 16.0 <= part.rect.w;
    fits.then(|| {
        let (x, y) = (part.rect.x + 8.0, part.rect.y + part.rect.h / 2.0);
        html! { <text class={format!("label on-{}", part.band.class())} x={x.to_string()} y={y.to_string()} dy="0.35em">{text}</text> }
    })
}
