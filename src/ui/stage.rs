//! One step in time: the counter, the ledger above the two-stream timeline on one axis, and the playhead that runs through all
//! three. The playhead is the stage's own state: what does not move with it is not drawn again.

use super::chart::{Beside, Evaluated, Ledger, Magnified, Timeline, counter, zoom};
use super::clock::use_frames;
use super::times::times;
use super::width::use_width;
use crate::engine::units::Nanos;
use crate::import::Measured;
use crate::import::compare::compare;
use crate::scene::format;
use crate::scene::time::Window;
use crate::ui::Shared;
use crate::words::{self, Locale};
use web_sys::HtmlSelectElement;
use yew::prelude::*;

/// A step plays in this many milliseconds at normal speed.
const PLAY_MS: f64 = 12_000.0;

/// What the stage shows.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The scenario and what it comes to.
    pub evaluated: Shared<Evaluated>,
    /// The language.
    pub locale: Locale,
    /// Show the ledger.
    pub ledger: bool,
    /// Show the timeline.
    pub timeline: bool,
    /// The reader wants no motion: steps in place of play.
    pub still: bool,
    /// What was measured, if anything.
    pub measured: Option<Shared<Measured>>,
    /// The measurement is to go.
    pub onunmeasure: Callback<()>,
}

/// The stage.
#[component]
pub fn Stage(props: &Props) -> Html {
    let Props { evaluated, locale, .. } = props;
    let locale = *locale;
    let node = use_node_ref();
    let width = use_width(&node, 900.0);
    // A share of the step, so that it stays in place while the step's length changes under a slider; at the peak
    // until somebody moves it.
    let placed = use_state_eq(|| None::<f64>);
    let playing = use_state_eq(|| false);
    let speed = use_state_eq(|| 1.0_f64);
    let zoomed = use_state_eq(|| None::<Window>);
    let compared = {
        let given = (evaluated.clone(), props.measured.clone());
        use_memo(given, |(evaluated, measured)| {
            let measured = measured.as_ref()?;
            Some(Shared::new(compare(measured, &evaluated.outcome)))
        })
    };
    let whole = Window::whole(&evaluated.outcome);
    let end = whole.end.secs();
    let share = match *placed {
        Some(share) => share,
        None if end > 0.0 => evaluated.outcome.peak.at.secs() / end,
        None => 0.0,
    };
    let playhead = Nanos::from_secs(end * share);
    // What is magnified stays inside the step while a slider shortens it.
    let window = zoomed
        .map(|window| window.panned(0.0, whole))
        .filter(|window| window.length() < whole.length());
    let tick = {
        let (placed, playing, speed) = (placed.setter(), playing.setter(), *speed);
        Callback::from(move |ms: f64| {
            let next = share + ms * speed / PLAY_MS;
            if next >= 1.0 {
                playing.set(false);
            }
            placed.set(Some(next.min(1.0)));
        })
    };
    use_frames(*playing && !props.still, tick);
    let onseek = {
        let (placed, playing) = (placed.setter(), playing.setter());
        Callback::from(move |at: Nanos| {
            playing.set(false);
            placed.set(Some(if end > 0.0 { at.secs() / end } else { 0.0 }));
        })
    };
    let controls = Transport {
        playhead,
        whole,
        locale,
        evaluated: evaluated.clone(),
        playing: *playing,
        still: props.still,
        share,
        first: placed.is_none(),
        speed: *speed,
        onseek: onseek.clone(),
        onplay: playing.setter(),
        onspeed: speed.setter(),
        onplace: placed.setter(),
    };
    let onwindow = Callback::from(move |window| zoomed.set(window));
    html! {
        <section class="stage view" aria-label={words::app_view_stage(locale)}>
            <div class="stage-head">
                <h2>{words::app_view_stage(locale)}</h2>
                { transport(&controls) }
                { zoom(&Magnified { locale, whole, window, playhead, onwindow }) }
            </div>
            <p class="help">{words::app_help_stage(locale)}</p>
            <div class="measure" ref={node}>
                { counter(evaluated, locale, width, playhead) }
                if let (Some(measured), Some(comparison)) = (&props.measured, &*compared) {
                    <Beside evaluated={evaluated.clone()} measured={measured.clone()} comparison={comparison.clone()} {locale}
                        onremove={props.onunmeasure.clone()} />
                }
                if props.ledger {
                    <Ledger evaluated={evaluated.clone()} measured={(*compared).clone()} {playhead} {locale} {width} {window} onseek={onseek.clone()} />
                }
                if props.timeline {
                    <Timeline evaluated={evaluated.clone()} {playhead} {locale} {width} {window} {onseek} />
                    { times(evaluated, locale) }
                }
            </div>
        </section>
    }
}

struct Transport {
    evaluated: Shared<Evaluated>,
    locale: Locale,
    playhead: Nanos,
    whole: Window,
    playing: bool,
    still: bool,
    share: f64,
    first: bool,
    speed: f64,
    onseek: Callback<Nanos>,
    onplay: UseStateSetter<bool>,
    onspeed: UseStateSetter<f64>,
    onplace: UseStateSetter<Option<f64>>,
}

/// Play, pause, step, speed. Without motion there is no play, and stepping goes from operation to operation.
fn transport(props: &Transport) -> Html {
    let locale = props.locale;
    let step = |forward: bool| {
        let (evaluated, at, onseek) =
            (props.evaluated.clone(), props.playhead, props.onseek.clone());
        Callback::from(move |_: MouseEvent| onseek.emit(evaluated.outcome.next_event(at, forward)))
    };
    let onplay = {
        let (onplay, onplace) = (props.onplay.clone(), props.onplace.clone());
        let playing = props.playing;
        let from_start = props.first || props.share >= 1.0;
        Callback::from(move |_: MouseEvent| {
            if !playing && from_start {
                onplace.set(Some(0.0));
            }
            onplay.set(!playing);
        })
    };
    let onspeed = {
        let onspeed = props.onspeed.clone();
        Callback::from(move |event: Event| {
            let text = event.target_unchecked_into::<HtmlSelectElement>().value();
            onspeed.set(crate::request::number(&text).unwrap_or(1.0));
        })
    };
    let speeds = [0.25, 0.5, 1.0, 2.0, 4.0].map(|speed: f64| {
        html! { <option value={speed.to_string()} selected={speed.to_string() == props.speed.to_string()}>{format!("{speed}×")}</option> }
    });
    let time = words::transport_time(
        locale,
        &format::time(props.whole.end),
        &format::time(props.playhead),
    );
    html! {
        <div class="transport" role="group" aria-label={words::transport_label(locale)}>
            <button class="icon" onclick={step(false)} aria-label={words::transport_back(locale)}>{icon(BACK)}</button>
            if !props.still {
                <button class="icon primary" onclick={onplay} aria-label={if props.playing { words::transport_pause(locale) } else { words::transport_play(locale) }}>
                    {icon(if props.playing { PAUSE } else { PLAY })}
                </button>
            }
            <button class="icon" onclick={step(true)} aria-label={words::transport_forward(locale)}>{icon(FORWARD)}</button>
            if !props.still {
                <select aria-label={words::transport_speed(locale)} onchange={onspeed}>{ for speeds }</select>
            }
            <output class="num">{time}</output>
        </div>
    }
}

const BACK: &str = "M3 2h2v12H3zM14 2v12L6 8z";
const PLAY: &str = "M3 2v12l11-6z";
const PAUSE: &str = "M3 2h4v12H3zM9 2h4v12H9z";
const FORWARD: &str = "M11 2h2v12h-2zM2 2v12l8-6z";

/// A glyph of the transport, drawn, since fonts differ in theirs.
fn icon(path: &'static str) -> Html {
    html! { <svg class="glyph" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d={path} /></svg> }
}
