//! Memory over time: stacked areas under the capacity.

use super::pattern::{fill, patterns, swatch};
use super::playhead::Playhead;
use super::twin::{MOST_ROWS, Table, Twin};
use super::{Evaluated, axis, name};
use crate::engine::units::{Bytes, Nanos};
use crate::import::compare::Comparison;
use crate::scene::ledger::{self as scene, BANDS, Band, View};
use crate::scene::time::Window;
use crate::scene::{Rect, format};
use crate::ui::Shared;
use crate::words::{self, Locale};
use yew::prelude::*;

/// What the ledger shows.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// The language.
    pub locale: Locale,
    /// Width in CSS pixels.
    pub width: f64,
    /// What was measured, on the prediction's time axis.
    #[prop_or_default]
    pub measured: Option<Shared<Comparison>>,
    /// Where the playhead is.
    pub playhead: Nanos,
    /// The playhead was moved.
    #[prop_or_default]
    pub onseek: Callback<Nanos>,
    /// The part of the step that is shown; all of it by default.
    #[prop_or_default]
    pub window: Option<Window>,
    /// Magnified at first.
    #[prop_or_default]
    pub focus: bool,
    /// Something newer is being computed.
    #[prop_or_default]
    pub stale: bool,
    /// The table is unfolded at first.
    #[prop_or_default]
    pub open: bool,
    /// Names its parts in the document.
    #[prop_or(AttrValue::Static("ledger"))]
    pub id: AttrValue,
}

/// The ledger.
#[component]
pub fn Ledger(props: &Props) -> Html {
    let Props { evaluated, locale, id, .. } = props;
    let locale = *locale;
    let focus = use_state_eq(|| props.focus);
    let pointed = use_state_eq(|| None::<Nanos>);
    let window = props.window.unwrap_or_else(|| Window::whole(&evaluated.outcome));
    let view = View { width: props.width, window, focus: *focus };
    let measured = props.measured.clone();
    let given = (evaluated.clone(), measured.clone(), view, locale);
    let scene = use_memo(given, |(evaluated, measured, view, locale)| {
        let curve = measured.as_ref().map_or(&[][..], |measured| &measured.curve);
        Shared::new(scene::Ledger::of(&evaluated.outcome, curve, *view, &name::bands(*locale)))
    });
    let scene: Shared<scene::Ledger> = (*scene).clone();
    let onpoint = {
        let (pointed, axis) = (pointed.setter(), scene.axis);
        Callback::from(move |at: Option<(f64, f64)>| {
            pointed.set(at.map(|(x, _)| axis.time_from_x(x)));
        })
    };
    let onfocus = {
        let focus = focus.clone();
        Callback::from(move |_: MouseEvent| focus.set(!*focus))
    };
    let plot = scene.plot;
    let given = (evaluated.clone(), measured.clone(), locale);
    let table = use_callback(given, |(), (evaluated, measured, locale)| {
        rows(evaluated, measured.as_ref(), *locale)
    });
    html! {
        <figure class={classes!("chart", "chart-ledger", props.stale.then_some("stale"))} aria-label={words::chart_ledger_title(locale)}>
            <div class="chart-head">
                <figcaption>{words::chart_ledger_title(locale)}</figcaption>
                if evaluated.outcome.standing.total() > Bytes::ZERO {
                    <button class="chart-toggle" aria-pressed={focus.to_string()} onclick={onfocus}>{words::chart_ledger_focus(locale)}</button>
                }
            </div>
            <div class="chart-stage">
                <Body evaluated={evaluated.clone()} scene={scene.clone()} {locale} id={id.clone()} />
                <Playhead axis={scene.axis} height={scene.height} reach={(plot.y - 6.0, plot.bottom())} playhead={props.playhead} {locale}
                    slider=true text={AttrValue::from(format!(": {}", total(evaluated, props.playhead)))}
                    onseek={props.onseek.clone()} {onpoint} />
            </div>
            { readout(evaluated, measured.as_ref(), *pointed, locale) }
            <Twin caption={words::chart_ledger_title(locale)} {locale} open={props.open} {table} />
        </figure>
    }
}

fn total(evaluated: &Evaluated, at: Nanos) -> String {
    format::bytes(scene::row_at(&evaluated.outcome, at).total())
}

/// What is there at the pointer; at the playhead, the counter says it.
fn readout(
    evaluated: &Evaluated,
    measured: Option<&Shared<Comparison>>,
    pointed: Option<Nanos>,
    locale: Locale,
) -> Html {
    let Some(at) = pointed else {
        return html! { <p class="chart-readout">{words::chart_ledger_hint(locale)}</p> };
    };
    let row = scene::row_at(&evaluated.outcome, at);
    let parts = BANDS.iter().filter(|band| band.bytes(&row) > Bytes::ZERO).map(|band| {
        html! { <span class="part">{name::band(locale, *band)}{" "}<b>{format::bytes(band.bytes(&row))}</b></span> }
    });
    html! {
        <p class="chart-readout num">
            <span class="part lead">{words::chart_ledger_at(locale, &format::time(at), &format::bytes(row.total()))}</span>
            if let Some(bytes) = measured.and_then(|measured| measured.at(at)) {
                <span class="part">{words::measured_name(locale)}{" "}<b>{format::bytes(bytes)}</b></span>
            }
            { for parts }
        </p>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct BodyProps {
    evaluated: Shared<Evaluated>,
    scene: Shared<scene::Ledger>,
    locale: Locale,
    id: AttrValue,
}

/// The picture, which does not move with the playhead.
#[component]
fn Body(props: &BodyProps) -> Html {
    let BodyProps { evaluated, scene, locale, id } = props;
    let outcome = &evaluated.outcome;
    let memory = format::bytes(outcome.memory);
    let peak = format::bytes(outcome.peak.row.total());
    let text = words::chart_ledger_text(*locale, &format::time(outcome.peak.at), &memory, &peak);
    let mut classes: Vec<&'static str> = scene.areas.iter().map(|area| area.band.class()).collect();
    classes.push("overflow");
    html! {
        <>
            <svg class="chart-body" role="img" aria-label={words::chart_ledger_title(*locale)} aria-describedby={format!("{id}-text")}
                width={scene.axis.width.to_string()} height={scene.height.to_string()}>
                <title>{words::chart_ledger_title(*locale)}</title>
                <desc id={format!("{id}-text")}>{text}</desc>
                { patterns(id, &classes) }
                { axis::up(&scene.bytes_ticks, scene.plot) }
                { axis::across(&scene.time_ticks, scene.plot) }
                { for scene.areas.iter().map(|area| {
                    let class = area.band.class();
                    html! { <path key={class} class={format!("mark area mark-{class}")} d={area.path.clone()} fill={fill(id, class)} /> }
                }) }
                { axis::path("mark mark-overflow", &scene.overflow, fill(id, "overflow")) }
                { axis::path("ledger-outline", &scene.outline, None) }
                { axis::path("measured-halo", &scene.measured, None) }
                { axis::path("measured-line", &scene.measured, None) }
                { below(scene, *locale) }
                { capacity(evaluated, scene, &memory, *locale) }
                { for scene.labels.iter().map(|label| band_label(label, *locale)) }
                { peak_mark(scene, &peak, *locale) }
            </svg>
            { legend(scene, id, *locale) }
        </>
    }
}

/// The card's capacity, or the budget where that is less.
fn capacity(evaluated: &Evaluated, scene: &scene::Ledger, memory: &str, locale: Locale) -> Html {
    let y = scene.capacity.y;
    let (x1, x2) = (scene.plot.x.to_string(), scene.plot.right().to_string());
    let name = if evaluated.outcome.memory < evaluated.scenario.hardware.memory {
        words::chart_ledger_budget(locale, memory)
    } else {
        words::chart_ledger_capacity(locale, memory)
    };
    let text = if scene.capacity.beyond { format!("↑ {name}") } else { name };
    let (x, ends) = scene.capacity_label();
    html! {
        <g class="capacity">
            if !scene.capacity.beyond {
                <line {x1} {x2} y1={y.to_string()} y2={y.to_string()} />
            }
            <text class="label halo" x={x.to_string()} y={(y - 6.0).to_string()} text-anchor={if ends { "end" } else { "start" }}>{text}</text>
        </g>
    }
}

fn peak_mark(scene: &scene::Ledger, peak: &str, locale: Locale) -> Html {
    let Some(mark) = scene.peak else {
        return Html::default();
    };
    let (dx, anchor) = if mark.leftward { (-9.0, "end") } else { (9.0, "start") };
    // Above its dot, unless the capacity's label is there.
    let close = !scene.capacity.beyond && (mark.y - scene.capacity.y).abs() < 22.0;
    let dy = if close && mark.y >= scene.capacity.y { 16.0 } else { -6.0 };
    html! {
        <g class="peak">
            <circle cx={mark.x.to_string()} cy={mark.y.to_string()} r="3.5" />
            <text class="label halo" x={(mark.x + dx).to_string()} y={(mark.y + dy).to_string()} text-anchor={anchor}>
                {words::chart_ledger_peak(locale, peak)}</text>
        </g>
    }
}

fn below(scene: &scene::Ledger, locale: Locale) -> Html {
    let Some(below) = scene.below else {
        return Html::default();
    };
    let Rect { x, w, .. } = scene.plot;
    let teeth = "l4 -3l4 3".repeat(crate::scene::index(w / 8.0));
    let text = words::chart_ledger_below(locale, &format::bytes(below.bytes));
    html! {
        <g class="below">
            <path class="break" d={format!("M{x} {}{teeth}", below.y)} />
            <text class="label halo" x={(x + 8.0).to_string()} y={(below.y + 17.0).to_string()}>{text}</text>
        </g>
    }
}

fn band_label(label: &scene::BandLabel, locale: Locale) -> Html {
    let text = name::band(locale, label.band);
    let class = match label.leader {
        Some(_) => "label leader-label".to_owned(),
        None => format!("label on-{}", label.band.class()),
    };
    html! {
        <g key={label.band.class()}>
            if let Some((x, y)) = label.leader {
                <path class="leader" d={format!("M{} {y}h5L{} {}", x + 2.0, label.x - 3.0, label.y)} />
            }
            <text {class} x={label.x.to_string()} y={label.y.to_string()} dy="0.35em">{text}</text>
        </g>
    }
}

/// The bands that found no place in the picture.
fn legend(scene: &scene::Ledger, id: &str, locale: Locale) -> Html {
    let unnamed: Vec<Band> = scene.unnamed().collect();
    if unnamed.is_empty() && scene.measured.is_empty() {
        return Html::default();
    }
    html! {
        <ul class="legend" aria-label={words::chart_legend(locale)}>
            if !scene.measured.is_empty() {
                <li><svg class="swatch" width="22" height="12" aria-hidden="true"><path class="measured-line" d="M0 8H8V4H22" /></svg>{words::measured_name(locale)}</li>
            }
            { for unnamed.iter().map(|band| html! { <li>{swatch(id, band.class())}{name::band(locale, *band)}</li> }) }
        </ul>
    }
}

fn rows(evaluated: &Evaluated, measured: Option<&Shared<Comparison>>, locale: Locale) -> Table {
    let mut head =
        vec![words::chart_time(locale).to_owned(), words::chart_total(locale).to_owned()];
    head.extend(measured.map(|_| words::measured_name(locale).to_owned()));
    head.extend(name::bands(locale));
    let row = |step: crate::engine::ledger::Step| {
        let mut cells = vec![format::time(step.at), format::bytes(step.row.total())];
        let there = |measured: &Shared<Comparison>| {
            measured.at(step.at).map_or_else(|| format::NONE.to_owned(), format::bytes)
        };
        cells.extend(measured.map(there));
        cells.extend(BANDS.map(|band| format::bytes(band.bytes(&step.row))));
        cells
    };
    Table {
        head,
        rows: scene::table(&evaluated.outcome, MOST_ROWS).into_iter().map(row).collect(),
        all: evaluated.outcome.ledger.len(),
    }
}
