//! The compute stream and the copy streams on one axis.

use super::pattern::{fill, patterns, swatch};
use super::playhead::Playhead;
use super::twin::{MOST_ROWS, Table, Twin};
use super::{Evaluated, axis, name};
use crate::engine::sort;
use crate::engine::trace::{Span, SpanKind};
use crate::engine::units::{Bytes, Nanos};
use crate::scene::time::Window;
use crate::scene::timeline::{self as scene, class, is_stall};
use crate::scene::{Rect, format};
use crate::ui::Shared;
use crate::words::{self, Locale};
use yew::prelude::*;

/// What the timeline shows.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// The language.
    pub locale: Locale,
    /// Width in CSS pixels.
    pub width: f64,
    /// Where the playhead is.
    pub playhead: Nanos,
    /// The playhead was moved.
    #[prop_or_default]
    pub onseek: Callback<Nanos>,
    /// The part of the step that is shown; all of it by default.
    #[prop_or_default]
    pub window: Option<Window>,
    /// Something newer is being computed.
    #[prop_or_default]
    pub stale: bool,
    /// The table is unfolded at first.
    #[prop_or_default]
    pub open: bool,
    /// Names its parts in the document.
    #[prop_or(AttrValue::Static("timeline"))]
    pub id: AttrValue,
}

/// The timeline.
#[component]
pub fn Timeline(props: &Props) -> Html {
    let Props { evaluated, locale, id, .. } = props;
    let locale = *locale;
    let pointed = use_state_eq(|| None::<usize>);
    let window = props.window.unwrap_or_else(|| Window::whole(&evaluated.outcome));
    let scene = use_memo((evaluated.clone(), props.width, window), |(evaluated, width, window)| {
        Shared::new(scene::Timeline::of(
            &evaluated.outcome,
            &evaluated.scenario.chain,
            *width,
            *window,
        ))
    });
    let scene: Shared<scene::Timeline> = (*scene).clone();
    let onpoint = {
        let (pointed, scene, evaluated) = (pointed.setter(), scene.clone(), evaluated.clone());
        Callback::from(move |at: Option<(f64, f64)>| {
            pointed.set(at.and_then(|(x, y)| scene.hit(&evaluated.outcome, x, y)));
        })
    };
    let table = use_callback((evaluated.clone(), locale), |(), (evaluated, locale)| {
        rows(evaluated, *locale)
    });
    html! {
        <figure class={classes!("chart", "chart-timeline", props.stale.then_some("stale"))} aria-label={words::chart_timeline_title(locale)}>
            <div class="chart-head"><figcaption>{words::chart_timeline_title(locale)}</figcaption></div>
            <div class="chart-stage">
                <Body evaluated={evaluated.clone()} scene={scene.clone()} {locale} id={id.clone()} />
                <Playhead axis={scene.axis} height={scene.height} reach={(10.0, scene.bottom)} playhead={props.playhead} {locale}
                    slider=false onseek={props.onseek.clone()} {onpoint} />
            </div>
            <p class="chart-readout num">
                { pointed.and_then(|i| evaluated.outcome.spans.get(i)).map_or_else(
                    || words::chart_timeline_hint(locale).to_owned(),
                    |span| sentence(locale, evaluated, span),
                ) }
            </p>
            <Twin caption={words::chart_timeline_title(locale)} {locale} open={props.open} {table} />
        </figure>
    }
}

fn sentence(locale: Locale, evaluated: &Evaluated, span: &Span) -> String {
    let kind = name::kind(locale, span.kind);
    let layer = whose(evaluated, span, locale);
    let (time, start) = (format::time(span.end - span.start), format::time(span.start));
    if span.bytes > Bytes::ZERO {
        words::chart_timeline_copy(locale, &format::bytes(span.bytes), kind, &layer, &start, &time)
    } else {
        words::chart_timeline_span(locale, kind, &layer, &start, &time)
    }
}

/// The layer, and the tensor where copies are cut so.
fn whose(evaluated: &Evaluated, span: &Span, locale: Locale) -> String {
    let Some(layer) = evaluated.scenario.chain.layers.get(span.layer) else {
        return format::NONE.to_owned();
    };
    let name = name::layer(locale, &layer.name);
    match span.tensor.and_then(|tensor| layer.saved.get(tensor)) {
        Some(tensor) => format!("{name} / {}", name::tensor(locale, &tensor.name)),
        None => name,
    }
}

#[derive(Clone, PartialEq, Properties)]
struct BodyProps {
    evaluated: Shared<Evaluated>,
    scene: Shared<scene::Timeline>,
    locale: Locale,
    id: AttrValue,
}

/// The picture, which does not move with the playhead.
#[component]
fn Body(props: &BodyProps) -> Html {
    let BodyProps { evaluated, scene, locale, id } = props;
    let kinds = kinds(&evaluated.outcome.spans);
    let classes: Vec<&'static str> = legend(&kinds).map(class).collect();
    let plot = Rect { x: scene.axis.left, y: 10.0, w: scene.axis.plot(), h: scene.bottom - 10.0 };
    html! {
        <>
            <svg class="chart-body" role="img" aria-label={words::chart_timeline_title(*locale)} aria-describedby={format!("{id}-text")}
                width={scene.axis.width.to_string()} height={scene.height.to_string()}>
                <title>{words::chart_timeline_title(*locale)}</title>
                <desc id={format!("{id}-text")}>{text(evaluated, *locale)}</desc>
                { patterns(id, &classes) }
                { axis::across(&scene.ticks, plot) }
                { for scene.rows.iter().map(|row| track(row, scene, *locale)) }
                { for scene.paths().iter().map(|(kind, path)| {
                    let class = class(*kind);
                    axis::path(format!("mark span mark-{class}"), path, fill(id, class))
                }) }
                <g>{ for scene.bars.iter().filter_map(inside) }</g>
                { for scene.stalls.iter().map(|stalls| {
                    let class = class(stalls.kind);
                    axis::path(format!("mark mark-{class}"), &stalls.path, fill(id, class))
                }) }
            </svg>
            <ul class="legend" aria-label={words::chart_legend(*locale)}>
                { for legend(&kinds).map(|kind| html! { <li>{swatch(id, class(kind))}{name::kind(*locale, kind)}</li> }) }
            </ul>
        </>
    }
}

fn text(evaluated: &Evaluated, locale: Locale) -> String {
    let times = &evaluated.outcome.times;
    words::chart_timeline_text(
        locale,
        &format::time(Window::whole(&evaluated.outcome).end),
        &format::time(times.forward + times.backward + times.recompute),
        &format::time(times.exposed),
        &format::time(times.hidden),
        &format::time(times.stall),
    )
}

const ORDER: [SpanKind; 10] = [
    SpanKind::Forward,
    SpanKind::Recompute,
    SpanKind::Backward,
    SpanKind::Optimizer,
    SpanKind::Offload,
    SpanKind::Prefetch,
    SpanKind::SsdWrite,
    SpanKind::SsdRead,
    SpanKind::StallCopy,
    SpanKind::StallRoom,
];

/// Kinds in use, stalls last.
fn kinds(spans: &[Span]) -> Vec<SpanKind> {
    let used = |kind: &SpanKind| spans.iter().any(|span| span.kind == *kind);
    ORDER.into_iter().filter(used).collect()
}

/// What the legend names: all kinds but the SSD's, whether in use or not, so that it keeps its lines while a slider is dragged.
fn legend(used: &[SpanKind]) -> impl Iterator<Item = SpanKind> + '_ {
    let ssd = |kind: &SpanKind| matches!(kind, SpanKind::SsdWrite | SpanKind::SsdRead);
    ORDER.into_iter().filter(move |kind| !ssd(kind) || used.contains(kind))
}

fn track(row: &scene::Row, scene: &scene::Timeline, locale: Locale) -> Html {
    let middle = row.y + row.h / 2.0;
    let rail = Rect { x: scene.axis.left, y: row.y, w: scene.axis.plot(), h: row.h };
    let stalled: Nanos = scene.stalls.iter().map(|stalls| stalls.time).sum();
    let is_compute = row.track == crate::engine::trace::Track::Compute;
    let busy = words::chart_timeline_busy(locale, &format::percent(row.share));
    let right = (scene.axis.right + 10.0).to_string();
    let halved = is_compute && stalled > Nanos::ZERO;
    html! {
        <g class="track">
            { axis::rect("rail", rail, None) }
            <text class="label track-name" x={(scene.axis.left - 8.0).to_string()} y={middle.to_string()} dy="0.35em" text-anchor="end">
                {name::track(locale, row.track)}</text>
            if !scene.axis.is_narrow() {
                <text class="tick" x={right.clone()} y={(if halved { middle - 8.0 } else { middle }).to_string()} dy="0.35em">{busy}</text>
                if halved {
                    <text class="tick stalled" x={right} y={(middle + 8.0).to_string()} dy="0.35em">
                        {words::chart_timeline_stalled(locale, &format::time(stalled))}</text>
                }
            }
        </g>
    }
}

fn inside(bar: &scene::Bar) -> Option<Html> {
    let text = bar.label.as_ref()?;
    let class = format!("label small on-{}", class(bar.kind));
    let (x, y) = ((bar.x + bar.w / 2.0).to_string(), (bar.y + bar.h / 2.0).to_string());
    Some(html! {
        <text {class} {x} {y} dy="0.35em" text-anchor="middle">{text}</text>
    })
}

/// Stalls first, since they are what a reader looks for, then the longest spans, in order of time.
fn rows(evaluated: &Evaluated, locale: Locale) -> Table {
    let spans = &evaluated.outcome.spans;
    let mut order = sort::order(spans.len(), |i| {
        let span = &spans[i];
        (u64::from(!is_stall(span.kind)), !(span.end - span.start).0, 0)
    });
    order.truncate(MOST_ROWS);
    let order = sort::sorted(&order, |&i| (spans[i].start.0, i as u64, 0));
    let row = |span: &Span| {
        vec![
            name::kind(locale, span.kind).to_owned(),
            name::track(locale, span.track).to_owned(),
            whose(evaluated, span, locale),
            format::time(span.start),
            format::time(span.end - span.start),
            format::bytes(span.bytes),
        ]
    };
    let head = [
        words::chart_operation(locale),
        words::chart_track(locale),
        words::chart_layer(locale),
        words::chart_start(locale),
        words::chart_duration(locale),
        words::chart_bytes(locale),
    ];
    Table {
        head: head.map(str::to_owned).to_vec(),
        rows: order.into_iter().map(|i| row(&spans[i])).collect(),
        all: spans.len(),
    }
}
