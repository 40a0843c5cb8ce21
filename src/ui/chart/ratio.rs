//! Offload cost beside recompute cost, layer by layer, and why each layer is what it is.

use super::key::{moved, walk};
use super::pattern::{fill, patterns, swatch};
use super::playhead::place;
use super::reason::{heading, marked_why, numbers};
use super::saves::Saves;
use super::twin::{MOST_ROWS, Table, Twin};
use super::{Evaluated, axis, name};
use crate::engine::policy::Action;
use crate::scene::ratio as scene;
use crate::scene::{Fate, Rect, format, text_width};
use crate::ui::Shared;
use crate::ui::explain::marked;
use crate::words::{self, Locale};
use yew::prelude::*;

/// What the bars show.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// The language.
    pub locale: Locale,
    /// Width in CSS pixels.
    pub width: f64,
    /// The selected layer, where something else knows it.
    #[prop_or_default]
    pub layer: Option<usize>,
    /// A layer was selected.
    #[prop_or_default]
    pub onlayer: Callback<usize>,
    /// Something newer is being computed.
    #[prop_or_default]
    pub stale: bool,
    /// The table is unfolded at first.
    #[prop_or_default]
    pub open: bool,
    /// Names its parts in the document.
    #[prop_or(AttrValue::Static("ratio"))]
    pub id: AttrValue,
}

/// The bars.
#[component]
pub fn Ratio(props: &Props) -> Html {
    let Props { evaluated, locale, id, .. } = props;
    let locale = *locale;
    let chosen = use_state_eq(|| props.layer);
    let pointed = use_state_eq(|| None::<usize>);
    let scene = use_memo((evaluated.clone(), props.width), |(evaluated, width)| {
        let Evaluated { scenario, outcome, .. } = &**evaluated;
        Shared::new(scene::Ratio::of(outcome, &scenario.chain, scenario.policy.threshold, *width))
    });
    let scene: Shared<scene::Ratio> = (*scene).clone();
    let layers = evaluated.outcome.layers.len();
    let selected = props.layer.or(*chosen).map(|layer| layer.min(layers.saturating_sub(1)));
    let onlayer = {
        let (chosen, onlayer) = (chosen.setter(), props.onlayer.clone());
        Callback::from(move |layer: usize| {
            chosen.set(Some(layer));
            onlayer.emit(layer);
        })
    };
    // Something is always explained: what the pointer is on, what is selected, or the first block.
    let first = evaluated.scenario.chain.blocks().next();
    let shown = pointed.or(selected).or(first).unwrap_or(0).min(layers.saturating_sub(1));
    let table = use_callback((evaluated.clone(), locale), |(), (evaluated, locale)| {
        rows(evaluated, *locale)
    });
    html! {
        <figure class={classes!("chart", "chart-ratio", props.stale.then_some("stale"))} aria-label={words::chart_ratio_title(locale)}>
            { legend(&scene, id, locale) }
            <div class="chart-stage">
                <Body evaluated={evaluated.clone()} scene={scene.clone()} {locale} id={id.clone()} />
                <Columns evaluated={evaluated.clone()} {scene} {locale} {selected} {onlayer} onpoint={pointed.setter()} />
            </div>
            <p class="chart-readout chart-why" aria-live="polite"><b>{name::layer(locale, &evaluated.scenario.chain.layers[shown].name)}</b>{" · "}{marked(&marked_why(locale, evaluated, shown), &numbers(locale, shown), locale)}</p>
            <Saves evaluated={evaluated.clone()} {locale} layer={shown} />
            <Twin caption={words::chart_ratio_title(locale)} {locale} open={props.open} {table} />
        </figure>
    }
}

fn legend(scene: &scene::Ratio, id: &str, locale: Locale) -> Html {
    html! {
        <ul class="legend" aria-label={words::chart_legend(locale)}>
            <li>{swatch(id, "offload")}{words::chart_ratio_offload(locale)}</li>
            if !scene.exposed.is_empty() {
                <li>{swatch(id, "stall-copy")}{words::chart_ratio_exposed(locale)}</li>
            }
            <li>{swatch(id, "recompute")}{words::chart_ratio_recompute(locale)}</li>
        </ul>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct BodyProps {
    evaluated: Shared<Evaluated>,
    scene: Shared<scene::Ratio>,
    locale: Locale,
    id: AttrValue,
}

#[component]
fn Body(props: &BodyProps) -> Html {
    let BodyProps { evaluated, scene, locale, id } = props;
    let threshold = format::ratio(evaluated.scenario.policy.threshold);
    let most = scene.columns.iter().map(|column| column.layers.len()).max().unwrap_or(1);
    let title = match most {
        1 => words::chart_ratio_costs(*locale).to_owned(),
        _ => words::chart_ratio_shared(*locale, &most.to_string()),
    };
    let (x, y) = (scene.costs.x, scene.benefits.y - 10.0);
    let benefit = words::chart_ratio_benefit(*locale);
    let limit = words::chart_ratio_threshold(*locale, &threshold);
    let fits = text_width(benefit, 11.0) + text_width(&limit, 11.0) + 50.0 < scene.costs.w;
    let benefit = if fits { benefit } else { words::chart_ratio_benefit_short(*locale) };
    html! {
        <svg class="chart-body" role="img" aria-label={words::chart_ratio_title(*locale)} aria-describedby={format!("{id}-text")}
            width={scene.width.to_string()} height={scene.height.to_string()}>
            <title>{words::chart_ratio_title(*locale)}</title>
            <desc id={format!("{id}-text")}>{text(evaluated, *locale)}</desc>
            { patterns(id, &["offload", "stall-copy", "recompute", "mixed", "ssd"]) }
            <text class="tick" x={x.to_string()} y="12">{title}</text>
            { axis::up(&scene.cost_ticks, scene.costs) }
            { bars(scene, id, "offload", &scene.offload) }
            { bars(scene, id, "stall-copy", &scene.exposed) }
            { bars(scene, id, "recompute", &scene.recompute) }
            { axis::path("clipped", &scene.clipped, None) }
            { for scene.fates.iter().map(|run| fate(run, id, *locale)) }
            <text class="tick" x={x.to_string()} y={y.to_string()}>{benefit}</text>
            { axis::up(&scene.benefit_ticks, scene.benefits) }
            { layer_numbers(scene) }
            <line class="threshold" x1={x.to_string()} x2={scene.costs.right().to_string()} y1={scene.threshold.to_string()}
                y2={scene.threshold.to_string()} />
            <text class="tick" x={scene.costs.right().to_string()} y={y.to_string()} text-anchor="end">{format!("┄ {limit}")}</text>
            { axis::path("benefit worthwhile", &scene.worthwhile, None) }
            { axis::path("benefit poor", &scene.poor, None) }
        </svg>
    }
}

fn bars(scene: &scene::Ratio, id: &str, class: &'static str, path: &str) -> Html {
    if scene.fine {
        return axis::path(format!("mark fine-{class}"), path, None);
    }
    axis::path(format!("mark mark-{class}"), path, fill(id, class))
}

fn layer_numbers(scene: &scene::Ratio) -> Html {
    let y = (scene.benefits.bottom() + 16.0).to_string();
    html! { { for scene.layer_ticks.iter().map(|tick| html! {
        <text class="tick" x={tick.at.to_string()} y={y.clone()} text-anchor="middle">{&tick.text}</text>
    }) } }
}

fn text(evaluated: &Evaluated, locale: Locale) -> String {
    let outcome = &evaluated.outcome;
    let layers = outcome.layers.len();
    let count = |wanted: &[Fate]| {
        let of = (0..layers).filter(|&i| wanted.contains(&scene::fate(outcome, i)));
        of.count().to_string()
    };
    words::chart_ratio_text(
        locale,
        &count(&[Fate::All(Action::Keep)]),
        &layers.to_string(),
        &count(&[Fate::Mixed]),
        &count(&[Fate::All(Action::Host), Fate::All(Action::Ssd)]),
        &count(&[Fate::All(Action::Recompute)]),
        &format::ratio(evaluated.scenario.policy.threshold),
    )
}

fn fate(run: &scene::Run, id: &str, locale: Locale) -> Html {
    let class = run.fate.class();
    let text = name::fate(locale, run.fate);
    let (x, y) = (run.rect.x + run.rect.w / 2.0, run.rect.bottom() + 12.0);
    let named = text_width(text, 11.0) + 4.0 <= run.rect.w;
    html! {
        <g>
            { axis::rect(format!("mark mark-{class}"), run.rect, fill(id, class)) }
            if named {
                <text class="label small" x={x.to_string()} y={y.to_string()} text-anchor="middle">{text}</text>
            }
        </g>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct ColumnsProps {
    evaluated: Shared<Evaluated>,
    scene: Shared<scene::Ratio>,
    locale: Locale,
    selected: Option<usize>,
    onlayer: Callback<usize>,
    onpoint: UseStateSetter<Option<usize>>,
}

/// The columns as options of a list, one of which can be focused.
#[component]
fn Columns(props: &ColumnsProps) -> Html {
    let ColumnsProps { evaluated, scene, locale, selected, onlayer, onpoint } = props;
    let node = use_node_ref();
    let moved_by_key = use_mut_ref(|| false);
    let current = selected.and_then(|layer| scene.column_of(layer)).unwrap_or(0);
    // Focus follows an arrow key to its column.
    {
        let (node, moved_by_key) = (node.clone(), moved_by_key.clone());
        use_effect_with(current, move |current| {
            if moved_by_key.replace(false) {
                let column = node.cast::<web_sys::Element>().and_then(|svg| {
                    svg.query_selector(&format!("[data-column='{current}']")).ok().flatten()
                });
                if let Some(column) = column {
                    focus(&column);
                }
            }
        });
    }
    let at = {
        let (node, scene) = (node.clone(), scene.clone());
        move |event: &MouseEvent| place(&node, event).and_then(|(x, _)| scene.layer_at(x))
    };
    let onclick = {
        let (at, onlayer) = (at.clone(), onlayer.clone());
        Callback::from(move |event: MouseEvent| {
            if let Some(layer) = at(&event) {
                onlayer.emit(layer);
            }
        })
    };
    let onpointermove = {
        let onpoint = onpoint.clone();
        Callback::from(move |event: PointerEvent| onpoint.set(at(&event)))
    };
    let onpointerleave = {
        let onpoint = onpoint.clone();
        Callback::from(move |_: PointerEvent| onpoint.set(None))
    };
    let onkeydown = {
        let (selected, onlayer, onpoint) = (*selected, onlayer.clone(), onpoint.clone());
        let count = evaluated.outcome.layers.len();
        Callback::from(move |event: KeyboardEvent| {
            if let Some(step) = moved(&event.key()) {
                event.prevent_default();
                onpoint.set(None);
                moved_by_key.replace(true);
                if let Some(layer) = walk(selected, step, count) {
                    onlayer.emit(layer);
                }
            }
        })
    };
    let column = |(i, column): (usize, &scene::Column)| {
        let band = Rect {
            x: column.x,
            w: column.w,
            y: scene.costs.y,
            h: scene.benefits.bottom() - scene.costs.y,
        };
        let is_selected = selected.is_some() && i == current;
        html! {
            <g key={i} class={classes!("column", is_selected.then_some("selected"))} role="option" data-column={i.to_string()}
                tabindex={if i == current { "0" } else { "-1" }} aria-selected={is_selected.to_string()}
                aria-label={spoken(evaluated, column, *locale)}>
                { axis::rect("hit", band, None) }
            </g>
        }
    };
    html! {
        <svg ref={node} class="chart-overlay" width={scene.width.to_string()} height={scene.height.to_string()}>
            <g role="listbox" aria-orientation="horizontal" aria-label={words::chart_ratio_columns(*locale)}
                {onclick} {onkeydown} {onpointermove} {onpointerleave}>
                { for scene.columns.iter().enumerate().map(column) }
            </g>
        </svg>
    }
}

fn focus(element: &web_sys::Element) {
    use wasm_bindgen::JsCast;
    if let Some(element) = element.dyn_ref::<web_sys::SvgElement>() {
        // A column that is already gone needs none.
        let _gone = element.focus();
    }
}

fn spoken(evaluated: &Evaluated, column: &scene::Column, locale: Locale) -> String {
    let layers = &column.layers;
    if layers.len() > 1 {
        return words::chart_layers(
            locale,
            &(layers.start + 1).to_string(),
            &layers.end.to_string(),
        );
    }
    heading(locale, evaluated, layers.start)
}

fn rows(evaluated: &Evaluated, locale: Locale) -> Table {
    let Evaluated { scenario, outcome, .. } = evaluated;
    let row = |i: usize| {
        let layer = &outcome.layers[i];
        vec![
            name::layer(locale, &scenario.chain.layers[i].name),
            format::time(layer.choice.offload_cost()),
            format::time(layer.choice.recompute),
            format::time(layer.choice.round_trip),
            format::time(layer.choice.window),
            layer.benefit_ratio.map_or_else(|| format::NONE.to_owned(), format::ratio),
            name::fate(locale, scene::fate(outcome, i)).to_owned(),
        ]
    };
    let head = [
        words::chart_layer(locale),
        words::chart_ratio_offload(locale),
        words::chart_ratio_recompute(locale),
        words::chart_ratio_trip(locale),
        words::chart_ratio_window(locale),
        words::chart_ratio_benefit_short(locale),
        words::chart_ratio_decided(locale),
    ];
    Table {
        head: head.map(str::to_owned).to_vec(),
        rows: (0..outcome.layers.len().min(MOST_ROWS)).map(row).collect(),
        all: outcome.layers.len(),
    }
}
