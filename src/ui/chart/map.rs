//! The map of winning plans: link rate across, memory limit up, each cell coloured and hatched by what wins there.

use super::pattern::{fill, patterns, swatch};
use super::playhead::place;
use super::twin::{Table, Twin};
use super::{Evaluated, axis, name};
use crate::engine::search::map::{CLOSE, COLUMNS, Cell, Known, ROWS, Strategy};
use crate::engine::units::Bytes;
use crate::scene::map::{self as scene, NEARLY_FREE};
use crate::scene::{format, text_width};
use crate::ui::Shared;
use crate::words::{self, Locale};
use yew::prelude::*;

/// What the map shows.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario.
    pub evaluated: Shared<Evaluated>,
    /// What is known of the map.
    pub known: Shared<Known>,
    /// It is of an older scenario.
    #[prop_or_default]
    pub stale: bool,
    /// Cells are still being searched.
    #[prop_or_default]
    pub searching: bool,
    /// The language.
    pub locale: Locale,
    /// Width in CSS pixels.
    pub width: f64,
    /// A cell was chosen: rates out and back (GB/s), memory limit (GiB).
    #[prop_or_default]
    pub onchoose: Callback<((f64, f64), f64)>,
    /// The table is unfolded at first.
    #[prop_or_default]
    pub open: bool,
    /// Names its parts in the document.
    #[prop_or(AttrValue::Static("map"))]
    pub id: AttrValue,
}

/// The map.
#[component]
pub fn WinnerMap(props: &Props) -> Html {
    let Props { evaluated, known, stale, searching, locale, width, id, .. } = props;
    let locale = *locale;
    let pointed = use_state_eq(|| None::<(usize, usize)>);
    let node = use_node_ref();
    // A finger reads a cell with its first tap and takes it with the second.
    let taken = use_mut_ref(|| false);
    let here = (evaluated.scenario.hardware.link_gbps().0, evaluated.scenario.limits.memory);
    let scene = use_memo(
        (known.clone(), *width, here.0.to_bits(), here.1),
        |(known, width, rate, memory)| {
            Shared::new(scene::Map::of(known, (f64::from_bits(*rate), *memory), *width))
        },
    );
    let scene: Shared<scene::Map> = (*scene).clone();
    let table = use_callback((known.clone(), locale), |(), (known, locale)| rows(known, *locale));
    let cell = pointed.and_then(|(column, row)| known.cell(column, row));
    let overlaid =
        Overlay { props, scene: &scene, pointed: *pointed, onpoint: pointed.setter(), taken };
    html! {
        <figure class={classes!("chart", "chart-map", stale.then_some("stale"))} aria-busy={searching.to_string()} aria-label={words::map_of_map(locale)}>
            { legend(&scene, id, locale) }
            <div class="chart-stage">
                { body(props, &scene) }
                { overlay(&overlaid, &node) }
            </div>
            <p class="chart-readout num" aria-live="polite">{cell.map_or_else(|| words::map_hint(locale).to_owned(), |cell| said(props, cell))}</p>
            <p class="chart-note">{note(known, *searching, locale)}</p>
            <Twin caption={words::map_table(locale)} {locale} open={props.open} {table} />
        </figure>
    }
}

/// A kind of winner in words.
const fn strategy_words(strategy: Option<Strategy>) -> fn(Locale) -> &'static str {
    match strategy {
        Some(Strategy::Keep) => words::map_keep,
        Some(Strategy::Recompute) => words::map_recompute,
        Some(Strategy::Offload) => words::map_offload,
        Some(Strategy::Mixture) => words::map_mixture,
        None => words::map_infeasible,
    }
}

fn gib(memory: f64) -> String {
    format::bytes(Bytes::from_gib(memory))
}

/// How sure the map is.
fn note(known: &Known, searching: bool, locale: Locale) -> String {
    let (all, close, far) = known.close();
    let [all, near, family] = [all, close, known.family].map(|count| count.to_string());
    let share = format::percent_at_most(CLOSE);
    if searching {
        words::map_note_working(locale, &all, &near, &family, &share)
    } else if all == near {
        words::map_note_close(locale, &family, &format::percent_at_most(far))
    } else {
        let far = format::percent_at_most(far);
        words::map_note(locale, &all, &near, &family, &far, &share)
    }
}

/// A cell in words.
fn said(props: &Props, cell: &Cell) -> String {
    let Props { evaluated, known, locale, .. } = props;
    let (scenario, locale) = (&evaluated.scenario, *locale);
    let (rate, memory) = (format::rate(cell.link_gbps.0 * 1e9), gib(cell.memory_gib));
    let Some(winner) = &cell.winner else {
        return words::map_point_none(locale, &memory, &rate);
    };
    let (recomputed, offloaded) = winner.moved.shares();
    let change = cell.overhead().map_or_else(|| format::NONE.to_owned(), format::percent_change);
    let point = words::map_point(
        locale,
        &memory,
        &format::percent(offloaded),
        &change,
        &name::policy_name(locale, &winner.policy),
        &rate,
        &format::percent(recomputed),
        &format::time(winner.step),
        strategy_words(Some(winner.moved.strategy()))(locale),
    );
    let sure = match cell.gap() {
        None => words::map_point_family(locale, &known.family.to_string()),
        Some(0.0) => words::map_point_exact(locale).to_owned(),
        Some(gap) => words::map_point_gap(locale, &format::percent_at_most(gap)),
    };
    let own = cell.link_gbps == scenario.hardware.link_gbps()
        && Bytes::from_gib(cell.memory_gib) == scenario.limits.memory;
    let own = if own { words::map_point_own(locale) } else { "" };
    format!("{point} {sure} {own}").trim_end().to_owned()
}

fn legend(scene: &scene::Map, id: &str, locale: Locale) -> Html {
    let area = |area: &scene::Area| {
        html! { <li>{swatch(id, area.class())}{strategy_words(area.strategy)(locale)}</li> }
    };
    let here = if scene.mark.outside { words::map_outside } else { words::map_here };
    html! {
        <ul class="legend" aria-label={words::chart_legend(locale)}>
            { for scene.areas.iter().map(area) }
            if !scene.nearly_free.is_empty() {
                <li><svg class="swatch" width="14" height="14" aria-hidden="true"><path class="map-free" d="M1 7H13" /></svg>
                    {words::map_nearly(locale, &format!("{}\u{a0}%", format::plain(100.0 * NEARLY_FREE, 1)))}</li>
            }
            <li><svg class="swatch" width="14" height="14" aria-hidden="true"><circle class="ring" cx="7" cy="7" r="5.5" /></svg>{here(locale)}</li>
        </ul>
    }
}

fn body(props: &Props, scene: &scene::Map) -> Html {
    let Props { known, locale, id, .. } = props;
    let locale = *locale;
    let count = |strategy: Option<Strategy>| {
        let kind =
            |cell: &&Cell| cell.winner.as_ref().map(|winner| winner.moved.strategy()) == strategy;
        known.cells.iter().flatten().filter(kind).count().to_string()
    };
    let axes = &known.axes;
    let text = words::map_text(
        locale,
        &known.cells.iter().flatten().count().to_string(),
        &count(Some(Strategy::Keep)),
        &gib(axes.memory_gib(ROWS - 1)),
        &count(Some(Strategy::Mixture)),
        &count(None),
        &count(Some(Strategy::Offload)),
        &format::rate(axes.link_gbps(COLUMNS - 1).0 * 1e9),
        &count(Some(Strategy::Recompute)),
    );
    let plot = scene.plot;
    let area = |area: &scene::Area| {
        let class = area.class();
        axis::path(format!("map-area mark-{class}"), &area.path, fill(id, class))
    };
    let label = |area: &scene::Area| {
        let text = strategy_words(area.strategy)(locale);
        let (x, y, _) = area.name;
        let wide = text_width(text, 12.0) + 10.0;
        html! {
            if area.has_room(text) {
                { axis::rect("map-plate", crate::scene::Rect { x: x - wide / 2.0, y: y - 9.0, w: wide, h: 18.0 }, None) }
                <text class="label" x={x.to_string()} y={y.to_string()} dy="0.35em" text-anchor="middle">{text}</text>
            }
        }
    };
    let across = if (axes.back - 1.0).abs() < 1e-9 { words::map_rate } else { words::map_rate_out };
    html! {
        <svg class="chart-body" role="img" aria-label={words::map_of_map(locale)} aria-describedby={format!("{id}-text")}
            width={scene.width.to_string()} height={scene.height.to_string()}>
            <title>{words::map_of_map(locale)}</title>
            <desc id={format!("{id}-text")}>{text}</desc>
            { patterns(id, &["recompute", "offload", "mixed", "infeasible"]) }
            { axis::across(&scene.across, plot) }
            { axis::up(&scene.up, plot) }
            { for scene.areas.iter().map(area) }
            { axis::path("map-free-under", &scene.nearly_free, None) }
            { axis::path("map-free", &scene.nearly_free, None) }
            { for scene.areas.iter().map(label) }
            <g class="axis-titles">
                <text class="tick" x="0" y="12">{words::map_memory(locale)}</text>
                <text class="tick" x={plot.right().to_string()} y={(plot.bottom() + 34.0).to_string()} text-anchor="end">{across(locale)}</text>
            </g>
            <circle class="map-halo" cx={scene.mark.x.to_string()} cy={scene.mark.y.to_string()} r="7" />
            <circle class="ring" cx={scene.mark.x.to_string()} cy={scene.mark.y.to_string()} r="7" />
        </svg>
    }
}

struct Overlay<'a> {
    props: &'a Props,
    scene: &'a Shared<scene::Map>,
    pointed: Option<(usize, usize)>,
    onpoint: UseStateSetter<Option<(usize, usize)>>,
    taken: std::rc::Rc<std::cell::RefCell<bool>>,
}

/// One thing to focus: arrow keys move, Enter chooses; a pointer chooses any cell.
fn overlay(overlaid: &Overlay, node: &NodeRef) -> Html {
    let Overlay { props, scene, pointed, onpoint, taken } = overlaid;
    let (known, locale, pointed) = (&props.known, props.locale, *pointed);
    let find = {
        let (node, scene) = (node.clone(), (*scene).clone());
        move |event: &MouseEvent| place(&node, event).and_then(|(x, y)| scene.at(x, y))
    };
    let choose = {
        let (known, onchoose) = (known.clone(), props.onchoose.clone());
        move |(column, row): (usize, usize)| {
            if let Some(cell) = known.cell(column, row) {
                onchoose.emit((cell.link_gbps, cell.memory_gib));
            }
        }
    };
    let onpointerdown = {
        let (find, taken, onpoint) = (find.clone(), taken.clone(), onpoint.clone());
        Callback::from(move |event: PointerEvent| {
            let at = find(&event);
            *taken.borrow_mut() =
                event.pointer_type() != "touch" || (at.is_some() && at == pointed);
            onpoint.set(at);
        })
    };
    let onclick = {
        let (find, choose, taken) = (find.clone(), choose.clone(), taken.clone());
        Callback::from(move |event: MouseEvent| {
            if let Some(at) = find(&event).filter(|_| *taken.borrow()) {
                choose(at);
            }
        })
    };
    let onpointermove = {
        let onpoint = onpoint.clone();
        Callback::from(move |event: PointerEvent| {
            if event.pointer_type() != "touch" {
                onpoint.set(find(&event));
            }
        })
    };
    let onpointerleave = {
        let onpoint = onpoint.clone();
        Callback::from(move |event: PointerEvent| {
            if event.pointer_type() != "touch" {
                onpoint.set(None);
            }
        })
    };
    let onblur = {
        let onpoint = onpoint.clone();
        Callback::from(move |_: FocusEvent| onpoint.set(None))
    };
    let onkeydown = {
        let (scene, onpoint) = ((*scene).clone(), onpoint.clone());
        Callback::from(move |event: KeyboardEvent| {
            let key = event.key();
            let from = pointed.or_else(|| scene.at(scene.mark.x, scene.mark.y));
            if let Some(next) = walked(&key, pointed, from) {
                event.prevent_default();
                onpoint.set(Some(next));
            } else if let (Some(at), "Enter" | " ") = (pointed, key.as_str()) {
                event.prevent_default();
                choose(at);
            }
        })
    };
    let text = pointed
        .and_then(|(column, row)| known.cell(column, row))
        .map_or_else(|| words::map_hint(locale).to_owned(), |cell| said(props, cell));
    let now = pointed.map_or(1, |(column, row)| row * COLUMNS + column + 1);
    html! {
        <svg ref={node.clone()} class="chart-overlay" width={scene.width.to_string()} height={scene.height.to_string()}>
            <g class="walker" role="slider" tabindex="0" aria-label={words::map_walk(locale)} aria-valuemin="1"
                aria-valuemax={(ROWS * COLUMNS).to_string()} aria-valuenow={now.to_string()} aria-valuetext={text}
                {onkeydown} {onclick} {onpointerdown} {onpointermove} {onpointerleave} {onblur}>
                { axis::rect("hit focus-frame", scene.plot, None) }
                if let Some((column, row)) = pointed {
                    { axis::rect("map-pointed-under", scene.rect(column, row), None) }
                    { axis::rect("map-pointed", scene.rect(column, row), None) }
                }
            </g>
        </svg>
    }
}

/// Where a key leads: the first goes to where the scenario is, or the nearest cell.
fn walked(
    key: &str,
    at: Option<(usize, usize)>,
    from: Option<(usize, usize)>,
) -> Option<(usize, usize)> {
    let (column, row) = from.unwrap_or((0, 0));
    let next = match key {
        "ArrowLeft" => (column.saturating_sub(1), row),
        "ArrowRight" => ((column + 1).min(COLUMNS - 1), row),
        "ArrowDown" => (column, row.saturating_sub(1)),
        "ArrowUp" => (column, (row + 1).min(ROWS - 1)),
        "Home" => (0, row),
        "End" => (COLUMNS - 1, row),
        "PageDown" => (column, 0),
        "PageUp" => (column, ROWS - 1),
        _ => return None,
    };
    Some(if at.is_none() { (column, row) } else { next })
}

/// A row per memory limit, the most first, as on the map; a column per link rate.
fn rows(known: &Known, locale: Locale) -> Table {
    let head = std::iter::once(words::map_table_memory(locale).to_owned())
        .chain((0..COLUMNS).map(|column| format::rate(known.axes.link_gbps(column).0 * 1e9)));
    let cell = |column: usize, row: usize| {
        let Some(cell) = known.cell(column, row) else { return format::NONE.to_owned() };
        let Some(winner) = &cell.winner else { return words::map_infeasible(locale).to_owned() };
        let change =
            cell.overhead().map_or_else(|| format::NONE.to_owned(), format::percent_change);
        format!("{} {change}", strategy_words(Some(winner.moved.strategy()))(locale))
    };
    let row = |row: usize| {
        std::iter::once(gib(known.axes.memory_gib(row)))
            .chain((0..COLUMNS).map(|column| cell(column, row)))
            .collect()
    };
    let rows: Vec<Vec<String>> = (0..ROWS).rev().map(row).collect();
    Table { head: head.collect(), all: rows.len(), rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walking_starts_at_the_scenario_and_stays_on_the_map() {
        let last = (COLUMNS - 1, ROWS - 1);
        assert_eq!(walked("ArrowLeft", None, Some((5, 3))), Some((5, 3)));
        assert_eq!(walked("ArrowLeft", Some((5, 3)), Some((5, 3))), Some((4, 3)));
        assert_eq!(walked("ArrowUp", Some((5, 3)), Some((5, 3))), Some((5, 4)));
        assert_eq!(walked("ArrowDown", Some((5, 0)), Some((5, 0))), Some((5, 0)));
        assert_eq!(walked("ArrowRight", Some(last), Some(last)), Some(last));
        assert_eq!(walked("PageUp", Some((0, 0)), Some((0, 0))), Some((0, ROWS - 1)));
        assert_eq!(walked("x", Some((0, 0)), None), None);
    }
}
