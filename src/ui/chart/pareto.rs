//! Every plan as a dot: peak memory across, step time up.

use super::key::{Move, moved, walk};
use super::pattern::{fill, patterns};
use super::playhead::place;
use super::twin::{MOST_ROWS, Table, Twin};
use super::{Evaluated, axis, name};
use crate::engine::outcome::Summary;
use crate::engine::policy::Policy;
use crate::engine::search::front::Front;
use crate::engine::units::{Bytes, Nanos};
use crate::scene::pareto::{self as scene, Ask, Domain, FAMILIES, Family, Limit};
use crate::scene::{format, px, text_width};
use crate::ui::Shared;
use crate::ui::best::Told;
use crate::words::{self, Locale};
use yew::prelude::*;

/// How near to a dot a pointer has to be.
const REACH: f64 = 22.0;

/// What the front shows.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// The front, once it is there.
    #[prop_or_default]
    pub front: Option<Shared<Front>>,
    /// The fastest plan found that fits, and what no plan is below.
    #[prop_or_default]
    pub found: Option<Shared<Told>>,
    /// A newer front is being searched.
    #[prop_or_default]
    pub stale: bool,
    /// The language.
    pub locale: Locale,
    /// Width in CSS pixels.
    pub width: f64,
    /// What the axes show, where something else locks them.
    #[prop_or_default]
    pub domain: Option<Domain>,
    /// A plan was chosen.
    #[prop_or_default]
    pub onchoose: Callback<Policy>,
    /// The memory budget was moved; true when it is let go.
    #[prop_or_default]
    pub onlimit: Callback<(Bytes, bool)>,
    /// The longest step was moved; true when it is let go.
    #[prop_or_default]
    pub onsteplimit: Option<Callback<(Nanos, bool)>>,
    /// The table is unfolded at first.
    #[prop_or_default]
    pub open: bool,
    /// Names its parts in the document.
    #[prop_or(AttrValue::Static("pareto"))]
    pub id: AttrValue,
}

/// The front.
#[component]
pub fn Pareto(props: &Props) -> Html {
    let locale = props.locale;
    match &props.front {
        None => html! {
            <figure class="chart chart-pareto" aria-label={words::chart_pareto_title(locale)}>
                <p class="chart-waiting" role="status">{words::chart_pareto_waiting(locale)}</p>
            </figure>
        },
        Some(front) => html! { <Found asked={props.clone()} front={front.clone()} /> },
    }
}

#[derive(Clone, PartialEq, Properties)]
struct FoundProps {
    asked: Props,
    front: Shared<Front>,
}

#[component]
fn Found(props: &FoundProps) -> Html {
    let FoundProps { asked, front } = props;
    let Props { evaluated, locale, id, width, .. } = asked;
    // While a limit is dragged the axes stay: otherwise the line runs from the finger.
    let locked = use_state_eq(|| None::<Domain>);
    // A policy, not an index: the next front has its points elsewhere.
    let pointed = use_state_eq(|| None::<Policy>);
    let free = Domain::of(front, &evaluated.scenario.limits, Some(&evaluated.outcome.summary()));
    let domain = locked.or(asked.domain).unwrap_or(free);
    let scene = use_memo(
        (evaluated.clone(), front.clone(), asked.found.clone(), *width, domain),
        |(evaluated, front, found, width, domain)| {
            let ask = Ask {
                limits: &evaluated.scenario.limits,
                weights: &evaluated.scenario.weights,
                current: Some(&evaluated.outcome.summary()),
                found: found.as_ref().map(|told| (&told.summary, told.bound)),
                domain: *domain,
                width: *width,
            };
            Shared::new(scene::Pareto::of(front, &ask))
        },
    );
    let scene: Shared<scene::Pareto> = (*scene).clone();
    let at = (*pointed)
        .as_ref()
        .and_then(|policy| front.points.iter().position(|point| point.policy == *policy));
    let onlock = {
        let locked = locked.setter();
        Callback::from(move |lock: bool| locked.set(lock.then_some(domain)))
    };
    let table = use_callback(
        (front.clone(), asked.found.clone(), *locale),
        |(), (front, found, locale)| rows(front, found.as_deref(), *locale),
    );
    let node = use_node_ref();
    let moved = Overlay {
        asked: asked.clone(),
        front: front.clone(),
        scene: scene.clone(),
        pointed: at,
        onpoint: pointed.setter(),
        onlock,
    };
    html! {
        <figure class={classes!("chart", "chart-pareto", asked.stale.then_some("stale"))} aria-label={words::chart_pareto_title(*locale)}>
            { legend(&scene, *locale) }
            <div class="chart-stage">
                <Body evaluated={evaluated.clone()} front={front.clone()} scene={scene.clone()} locale={*locale} id={id.clone()} />
                { overlay(&moved, &node) }
            </div>
            <p class="chart-readout num" aria-live="polite">{readout(asked, front, at)}</p>
            <Twin caption={words::chart_pareto_front(*locale)} locale={*locale} open={asked.open} {table} />
        </figure>
    }
}

fn readout(asked: &Props, front: &Front, pointed: Option<usize>) -> String {
    let Props { evaluated, locale, .. } = asked;
    pointed.and_then(|i| point(*locale, front, i)).unwrap_or_else(|| {
        let own = &evaluated.outcome;
        let name = if evaluated.scenario.asks_for_best() {
            words::best_mark(*locale).to_owned()
        } else {
            name::policy_name(*locale, &own.policy)
        };
        described(*locale, &name, &own.summary(), &front.plain)
    })
}

fn point(locale: Locale, front: &Front, i: usize) -> Option<String> {
    let point = front.points.get(i)?;
    let name = name::policy_name(locale, &point.policy);
    Some(described(locale, &name, &point.summary, &front.plain))
}

fn described(locale: Locale, name: &str, summary: &Summary, plain: &Summary) -> String {
    words::chart_pareto_point(
        locale,
        &format::percent_change(overhead(summary, plain)),
        &format::bytes(summary.peak),
        name,
        &format::time(summary.step),
    )
}

fn overhead(summary: &Summary, plain: &Summary) -> f64 {
    summary.step.secs() / plain.step.secs() - 1.0
}

fn legend(scene: &scene::Pareto, locale: Locale) -> Html {
    let used = |family: &&Family| scene.dots.iter().any(|dots| dots.family == **family);
    let shape = |family: &Family| {
        let class = format!("dots front dots-{}", family.class());
        html! {
            <li><svg class="swatch" width="14" height="14" aria-hidden="true"><path {class} d={family.shape(7.0, 7.0, 5.0)} /></svg>
                {name::family(locale, *family)}</li>
        }
    };
    let drawn = |class: &'static str, d: &str, words: &'static str| {
        html! { <li><svg class="swatch" width="14" height="14" aria-hidden="true">{ axis::path(class, d, None) }</svg>{words}</li> }
    };
    html! {
        <ul class="legend" aria-label={words::chart_legend(locale)}>
            { for FAMILIES.iter().filter(used).map(shape) }
            <li><svg class="swatch" width="14" height="14" aria-hidden="true"><circle class="ring" cx="7" cy="7" r="5.5" /></svg>
                {words::chart_pareto_current(locale)}</li>
            if scene.best.is_some() { { drawn("star", &star(7.0, 7.5, 6.5), words::chart_pareto_best(locale)) } }
            if scene.found.is_some() { { drawn("fastest", &lozenge(7.0, 7.0, 6.0), words::best_mark(locale)) } }
            if scene.bound.is_some() { { drawn("bound", "M0 7H14", words::best_bound(locale)) } }
        </ul>
    }
}

/// A square on its tip.
fn lozenge(x: f64, y: f64, r: f64) -> String {
    let [left, right, top, bottom] = [x - r, x + r, y - r, y + r].map(px);
    let (x, y) = (px(x), px(y));
    format!("M{left} {y}L{x} {top}L{right} {y}L{x} {bottom}Z")
}

/// A star of five points.
fn star(x: f64, y: f64, r: f64) -> String {
    const POINTS: [(f64, f64); 10] = [
        (0.0, -1.0),
        (0.235, -0.324),
        (0.951, -0.309),
        (0.38, 0.124),
        (0.588, 0.809),
        (0.0, 0.4),
        (-0.588, 0.809),
        (-0.38, 0.124),
        (-0.951, -0.309),
        (-0.235, -0.324),
    ];
    let corners = POINTS.map(|(dx, dy)| format!("{} {}", px(x + r * dx), px(y + r * dy)));
    format!("M{}Z", corners.join("L"))
}

#[derive(Clone, PartialEq, Properties)]
struct BodyProps {
    evaluated: Shared<Evaluated>,
    front: Shared<Front>,
    scene: Shared<scene::Pareto>,
    locale: Locale,
    id: AttrValue,
}

#[component]
fn Body(props: &BodyProps) -> Html {
    let BodyProps { evaluated, front, scene, locale, id } = props;
    let own = evaluated.outcome.summary();
    let count = front.points.iter().filter(|point| point.on_front).count();
    let text = words::chart_pareto_text(
        *locale,
        &count.to_string(),
        &format::bytes(own.peak),
        &front.points.len().to_string(),
        &format::time(own.step),
    );
    html! {
        <svg class="chart-body" role="img" aria-label={words::chart_pareto_title(*locale)} aria-describedby={format!("{id}-text")}
            width={scene.width.to_string()} height={scene.height.to_string()}>
            <title>{words::chart_pareto_title(*locale)}</title>
            <desc id={format!("{id}-text")}>{text}</desc>
            { patterns(id, &["infeasible"]) }
            { axis::across(&scene.peak_ticks, scene.plot) }
            { axis::up(&scene.step_ticks, scene.plot) }
            { axis::rect("mark mark-infeasible", scene.memory.shade, fill(id, "infeasible")) }
            if let Some(limit) = scene.slowest { { axis::rect("mark mark-infeasible", limit.shade, fill(id, "infeasible")) } }
            { for scene.dots.iter().filter(|dots| !dots.on_front).map(dots) }
            { axis::path("front-line", &scene.line, None) }
            { for scene.dots.iter().filter(|dots| dots.on_front).map(dots) }
            { fastest(scene) }
            { optimum(scene, *locale) }
            { knee(scene, *locale) }
            if let Some((x, y)) = scene.current { <circle class="ring" cx={x.to_string()} cy={y.to_string()} r="9" /> }
            { titles(scene, *locale) }
        </svg>
    }
}

fn dots(dots: &scene::Dots) -> Html {
    let class = classes!(
        "dots",
        format!("dots-{}", dots.family.class()),
        dots.on_front.then_some("front"),
        (!dots.fits).then_some("unfit"),
    );
    axis::path(class, &dots.path, None)
}

/// The fastest plan found, and the line that nothing which fits is below.
fn fastest(scene: &scene::Pareto) -> Html {
    let line = scene.bound.map(|y| format!("M{} {y}H{}", scene.plot.x, scene.memory.at));
    let mark = scene.found.map(|(x, y)| lozenge(x, y, 12.0));
    html! {
        <>
            { axis::path("bound", &line.unwrap_or_default(), None) }
            { axis::path("fastest", &mark.unwrap_or_default(), None) }
        </>
    }
}

fn optimum(scene: &scene::Pareto, locale: Locale) -> Html {
    let Some((x, y)) = scene.best else {
        return Html::default();
    };
    html! {
        <>
            if let Some([x1, y1, x2, y2]) = scene.iso {
                <line class="iso" x1={x1.to_string()} y1={y1.to_string()} x2={x2.to_string()} y2={y2.to_string()}>
                    <title>{words::inverse_iso(locale)}</title>
                </line>
                { iso_label(scene, [x1, y1, x2, y2], locale) }
            }
            <path class="star" d={star(x, y, 9.0)} />
        </>
    }
}

/// The knee of the front: a corner below it, and its name.
fn knee(scene: &scene::Pareto, locale: Locale) -> Html {
    let Some((x, y)) = scene.knee.and_then(|i| scene.places[i]) else { return Html::default() };
    html! {
        <g class="knee">
            <path d={format!("M{} {}v10h10", px(x - 9.0), px(y - 1.0))} />
            <text class="label small halo" x={px(x - 10.0).to_string()} y={px(y + 21.0).to_string()} text-anchor="middle">{words::inverse_knee(locale)}</text>
        </g>
    }
}

/// Pixels under the plot's upper edge that its notes take.
const BELOW_NOTES: f64 = 52.0;

/// Named at its lower right end, or where it is steep beside its middle, wherever there is room.
fn iso_label(scene: &scene::Pareto, [x1, y1, x2, y2]: [f64; 4], locale: Locale) -> Html {
    let text = words::chart_pareto_iso_short(locale);
    let wide = text_width(text, 11.0) + 12.0;
    let (x, y, anchor) = if scene.plot.right() - x2 > wide {
        (x2 + 6.0, y2 - 6.0, "start")
    } else if y2 - scene.plot.y > BELOW_NOTES && x2 - x1 > wide {
        (x2 - 6.0, y2 - 8.0, "end")
    } else {
        let (x, y) = (f64::midpoint(x1, x2), f64::midpoint(y1, y2));
        let below = y.max(scene.plot.y + BELOW_NOTES);
        if scene.plot.right() - x > wide {
            (x + 8.0, below, "start")
        } else {
            (x - 8.0, below, "end")
        }
    };
    html! { <text class="label small halo iso-label" x={x.to_string()} y={y.to_string()} text-anchor={anchor}>{text}</text> }
}

fn titles(scene: &scene::Pareto, locale: Locale) -> Html {
    let plot = scene.plot;
    html! {
        <g class="axis-titles">
            <text class="tick" x={plot.right().to_string()} y={(plot.bottom() + 34.0).to_string()} text-anchor="end">
                {words::chart_pareto_peak_title(locale)}</text>
            <text class="tick" x="0" y="12">{words::chart_pareto_step_title(locale)}</text>
            if scene.above > 0 {
                <text class="tick halo" x={(plot.right() - 8.0).to_string()} y={(plot.y + 16.0).to_string()} text-anchor="end">
                    {format!("↑ {}", words::chart_pareto_above(locale, &scene.above.to_string()))}</text>
            }
            if scene.memory.shade.w > 70.0 {
                <text class="label small halo danger" x={(plot.right() - 8.0).to_string()} y={(plot.y + 34.0).to_string()}
                    text-anchor="end">{words::chart_pareto_infeasible(locale)}</text>
            }
        </g>
    }
}

struct Overlay {
    asked: Props,
    front: Shared<Front>,
    scene: Shared<scene::Pareto>,
    pointed: Option<usize>,
    onpoint: UseStateSetter<Option<Policy>>,
    onlock: Callback<bool>,
}

/// All that pointers and keys do: choosing, walking, and moving limits.
fn overlay(props: &Overlay, node: &NodeRef) -> Html {
    let Overlay { asked, scene, .. } = props;
    let (width, height) = (scene.width.to_string(), scene.height.to_string());
    let budget = format::bytes(asked.evaluated.scenario.limits.memory);
    let slowest = scene.slowest.zip(asked.evaluated.scenario.limits.step);
    html! {
        <svg ref={node.clone()} class="chart-overlay" {width} {height}>
            { walker(props, node) }
            if let Some((limit, step)) = slowest { { step_handle(props, node, limit, step) } }
            { memory_handle(props, node, &budget) }
        </svg>
    }
}

/// One thing to focus: arrow keys walk along the front, Enter chooses; a pointer chooses any dot.
fn walker(props: &Overlay, node: &NodeRef) -> Html {
    let Overlay { asked, front, scene, pointed, onpoint, .. } = props;
    let locale = asked.locale;
    // Of equal points the walk knows one.
    let key = |i: usize| (front.points[i].summary.peak, front.points[i].summary.step);
    let at = pointed.and_then(|i| scene.order.iter().position(|&one| key(one) == key(i)));
    let text = pointed.and_then(|i| point(locale, front, i));
    let nearest = {
        let (node, scene, front) = (node.clone(), scene.clone(), front.clone());
        move |event: &MouseEvent| {
            let (x, y) = place(&node, event)?;
            scene.nearest(&front, x, y, REACH)
        }
    };
    let onclick = {
        let (nearest, front, onchoose) = (nearest.clone(), front.clone(), asked.onchoose.clone());
        Callback::from(move |event: MouseEvent| {
            if let Some(i) = nearest(&event) {
                onchoose.emit(front.points[i].policy.clone());
            }
        })
    };
    let onpointermove = {
        let (onpoint, front) = (onpoint.clone(), front.clone());
        Callback::from(move |event: PointerEvent| {
            onpoint.set(nearest(&event).map(|i| front.points[i].policy.clone()));
        })
    };
    let onpointerleave = {
        let onpoint = onpoint.clone();
        Callback::from(move |_: PointerEvent| onpoint.set(None))
    };
    let onblur = {
        let onpoint = onpoint.clone();
        Callback::from(move |_: FocusEvent| onpoint.set(None))
    };
    let place = pointed.and_then(|i| scene.places.get(i).copied().flatten());
    let last = scene.order.len().max(1);
    html! {
        <g class="walker" role="slider" tabindex="0" aria-label={words::chart_pareto_walk(locale)} aria-valuemin="1"
            aria-valuemax={last.to_string()} aria-valuenow={at.map_or(1, |at| at + 1).to_string()}
            aria-valuetext={text.unwrap_or_else(|| words::chart_pareto_hint(locale).to_owned())}
            onkeydown={walking(props, at)} {onclick} {onpointermove} {onpointerleave} {onblur}>
            { axis::rect("hit focus-frame", scene.plot, None) }
            if let Some((x, y)) = place { <circle class="pointed" cx={x.to_string()} cy={y.to_string()} r="8" /> }
        </g>
    }
}

fn walking(props: &Overlay, at: Option<usize>) -> Callback<KeyboardEvent> {
    let (front, scene) = (props.front.clone(), props.scene.clone());
    let (pointed, onpoint, onchoose) =
        (props.pointed, props.onpoint.clone(), props.asked.onchoose.clone());
    Callback::from(move |event: KeyboardEvent| {
        let key = event.key();
        if let Some(step) = moved(&key) {
            event.prevent_default();
            let next = walk(at, step, scene.order.len()).map(|at| scene.order[at]);
            onpoint.set(next.map(|i| front.points[i].policy.clone()));
        } else if (key == "Enter" || key == " ")
            && let Some(point) = pointed.and_then(|i| front.points.get(i))
        {
            event.prevent_default();
            onchoose.emit(point.policy.clone());
        }
    })
}

/// What a handle says and does.
struct Handle<'a> {
    class: &'static str,
    label: &'static str,
    text: String,
    range: [String; 3],
    limit: Limit,
    node: &'a NodeRef,
    onlock: &'a Callback<bool>,
    /// Given a place and whether it is let go.
    onmove: Callback<((f64, f64), bool)>,
    /// Given a move and whether it is let go.
    onkey: Callback<(Option<Move>, bool)>,
}

fn memory_handle(props: &Overlay, node: &NodeRef, budget: &str) -> Html {
    let Overlay { asked, scene, onlock, .. } = props;
    let Props { evaluated, locale, onlimit, .. } = asked;
    let (card, own) = (evaluated.scenario.hardware.memory, evaluated.scenario.limits.memory);
    let onmove = {
        let (scene, onlimit) = (scene.clone(), onlimit.clone());
        Callback::from(move |((x, _), done): ((f64, f64), bool)| {
            onlimit.emit((scene.memory_from_x(x, card), done));
        })
    };
    let onkey = {
        let onlimit = onlimit.clone();
        Callback::from(move |(step, done): (Option<Move>, bool)| {
            onlimit.emit((step.map_or(own, |step| stepped(own, step, card)), done));
        })
    };
    let text = words::chart_pareto_limit_is(*locale, budget);
    let range = [0.0, card.gib(), own.gib()].map(|gib| format!("{gib:.2}"));
    let label = words::chart_pareto_limit(*locale);
    let body = handle(&Handle {
        class: "limit-memory",
        label,
        text: text.clone(),
        range,
        limit: scene.memory,
        node,
        onlock,
        onmove,
        onkey,
    });
    let (at, plot) = (scene.memory.at, scene.plot);
    let room_right = plot.right() - at > text_width(&text, 12.0) + 16.0;
    let (dx, anchor) = if room_right { (16.0, "start") } else { (-16.0, "end") };
    let beyond = if scene.memory.beyond { " →" } else { "" };
    html! {
        <>
            <line class="limit-line" x1={at.to_string()} x2={at.to_string()} y1="36" y2={plot.bottom().to_string()} aria-hidden="true" />
            <text class="label halo limit-text" aria-hidden="true" x={(at + dx).to_string()} y="30" text-anchor={anchor}>{text}{beyond}</text>
            { body }
        </>
    }
}

fn stepped(own: Bytes, step: Move, card: Bytes) -> Bytes {
    let stride = scene::memory_stride(card);
    match step {
        Move::First => stride,
        Move::Last => card,
        Move::By(n) if n < 0 => own.saturating_sub(stride.times(n.unsigned_abs())).max(stride),
        Move::By(n) => (own + stride.times(n.unsigned_abs())).min(card),
    }
}

fn step_handle(props: &Overlay, node: &NodeRef, limit: Limit, own: Nanos) -> Html {
    let Overlay { asked, scene, onlock, .. } = props;
    let (locale, plot) = (asked.locale, scene.plot);
    let text = words::chart_pareto_limit_step_is(locale, &format::time(own));
    let line = html! {
        <>
            <line class="limit-line" x1={plot.x.to_string()} x2={plot.right().to_string()} y1={limit.at.to_string()} y2={limit.at.to_string()}
                aria-hidden="true" />
            <text class="label halo limit-text" aria-hidden="true" x={(plot.right() - 24.0).to_string()} y={(limit.at - 6.0).to_string()}
                text-anchor="end">{&text}</text>
        </>
    };
    let Some(onlimit) = asked.onsteplimit.clone() else {
        return line;
    };
    let onmove = {
        let (scene, onlimit) = (scene.clone(), onlimit.clone());
        Callback::from(move |((_, y), done): ((f64, f64), bool)| {
            onlimit.emit((scene.step_from_y(y), done));
        })
    };
    let stride = Nanos((own.0 / 50).max(1));
    let onkey = Callback::from(move |(step, done): (Option<Move>, bool)| {
        let next = match step {
            Some(Move::By(n)) if n < 0 => {
                own.saturating_sub(stride.times(n.unsigned_abs())).max(stride)
            }
            Some(Move::By(n)) => own + stride.times(n.unsigned_abs()),
            _ => own,
        };
        onlimit.emit((next, done));
    });
    let range = [0.0, scene.step.domain().1, own.secs()].map(|secs| format!("{secs:.4}"));
    let label = words::chart_pareto_limit_step(locale);
    html! { <>{line}{ handle(&Handle { class: "limit-step", label, text, range, limit, node, onlock, onmove, onkey }) }</> }
}

/// Something to grab, 44 px wide and high, that is a slider to keyboards.
fn handle(of: &Handle) -> Html {
    let rect = of.limit.handle;
    let (x, y) = (rect.x + rect.w / 2.0, rect.y + rect.h / 2.0);
    let onpointerdown = {
        let onlock = of.onlock.clone();
        Callback::from(move |event: PointerEvent| {
            // The part that was grabbed gets the pointer: what bubbles from it comes through this handle.
            let grabbed = event.target_dyn_into::<web_sys::Element>();
            if let Some(grabbed) = grabbed.filter(|_| event.button() == 0) {
                let _gone = grabbed.set_pointer_capture(event.pointer_id());
                onlock.emit(true);
            }
        })
    };
    let onpointermove = {
        let (node, onmove) = (of.node.clone(), of.onmove.clone());
        Callback::from(move |event: PointerEvent| {
            if event.buttons() & 1 == 1
                && let Some(at) = place(&node, &event)
            {
                onmove.emit((at, false));
            }
        })
    };
    let onpointerup = {
        let (node, onmove, onlock) = (of.node.clone(), of.onmove.clone(), of.onlock.clone());
        Callback::from(move |event: PointerEvent| {
            if let Some(at) = place(&node, &event) {
                onmove.emit((at, true));
            }
            onlock.emit(false);
        })
    };
    // A system gesture takes the pointer away: what was reached so far stays.
    let onpointercancel = {
        let (onkey, onlock) = (of.onkey.clone(), of.onlock.clone());
        Callback::from(move |_: PointerEvent| {
            onkey.emit((None, true));
            onlock.emit(false);
        })
    };
    let onkeydown = {
        let onkey = of.onkey.clone();
        Callback::from(move |event: KeyboardEvent| {
            if let Some(step) = moved(&event.key()) {
                event.prevent_default();
                onkey.emit((Some(step), false));
            }
        })
    };
    // Holding a key is one decision: it is committed when the key is let go.
    let onkeyup = {
        let onkey = of.onkey.clone();
        Callback::from(move |event: KeyboardEvent| {
            if moved(&event.key()).is_some() {
                onkey.emit((None, true));
            }
        })
    };
    let [least, most, now] = of.range.clone();
    html! {
        <g class={classes!("handle", of.class)} role="slider" tabindex="0" aria-label={of.label} aria-valuemin={least} aria-valuemax={most}
            aria-valuenow={now} aria-valuetext={of.text.clone()} {onpointerdown} {onpointermove} {onpointerup} {onpointercancel} {onkeydown} {onkeyup}>
            { axis::rect("hit", rect, None) }
            <rect class="grip" x={(x - 9.0).to_string()} y={(y - 9.0).to_string()} width="18" height="18" rx="9" />
            <path class="grip-marks" d={format!("M{} {}v6M{} {}v6", x - 2.0, y - 3.0, x + 2.0, y - 3.0)} />
        </g>
    }
}

fn rows(front: &Front, found: Option<&Told>, locale: Locale) -> Table {
    let knee = scene::knee(front);
    let line = |name: String, summary: &Summary| {
        let fits = if summary.fits { words::chart_yes(locale) } else { words::chart_no(locale) };
        vec![
            name,
            format::bytes(summary.peak),
            format::time(summary.step),
            format::percent_change(overhead(summary, &front.plain)),
            fits.to_owned(),
        ]
    };
    let row = |i: usize| {
        let point = &front.points[i];
        let mut name = name::policy_name(locale, &point.policy);
        if knee == Some(i) {
            name = format!("{name} ({})", words::inverse_knee(locale));
        }
        line(name, &point.summary)
    };
    let fastest = found.filter(|told| told.summary.runs).map(|told| {
        let mark = words::best_mark(locale);
        let bound = told
            .bound
            .map(|bound| format!(" ({}: {})", words::best_bound(locale), format::time(bound)));
        let name = format!("{mark}{}", bound.unwrap_or_default());
        line(name, &told.summary)
    });
    let head = [
        words::chart_pareto_plan(locale),
        words::chart_pareto_peak(locale),
        words::chart_pareto_step(locale),
        words::chart_pareto_overhead(locale),
        words::chart_pareto_fits(locale),
    ];
    Table {
        head: head.map(str::to_owned).to_vec(),
        all: scene::table(front, usize::MAX).len() + usize::from(fastest.is_some()),
        rows: fastest
            .into_iter()
            .chain(scene::table(front, MOST_ROWS).into_iter().map(row))
            .collect(),
    }
}
