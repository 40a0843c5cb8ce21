//! The page: one state, everything else derived.

use super::caveats::caveats;
use super::chart::{Pareto, Ratio};
use super::control::{PanelProps, Paste, panel};
use super::drop::use_drop;
use super::embed::use_told_height;
use super::explain::Explained;
use super::folded::Folded;
use super::header::{self, PASTE_BUTTON, header, training_name};
use super::importer::{Status, use_importer};
use super::importing::{drop_hint, importing, refusal};
use super::location;
use super::marks::use_least;
use super::media::use_media;
use super::misfit::Misfit;
use super::notice::{self, notices};
use super::planner::{Search, use_search};
use super::stage::Stage;
use super::store::{Msg, State};
use super::textbook::textbook;
use super::verdict::verdict;
use super::width::use_width;
use crate::engine::PolicyKind;
use crate::engine::preset::{DEFAULT_CARD, DEFAULT_MODEL};
use crate::engine::units::{Bytes, Nanos};
use crate::engine::workload::Workload;
use crate::request::LESSON;
use crate::ui::Shared;
use crate::words::{self, Locale};
use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use yew::prelude::*;

/// The page.
#[component]
pub fn App() -> Html {
    let state = use_reducer(|| State::open(location::read(), location::browser_locale()));
    let send = {
        let dispatch = state.dispatcher();
        use_callback((), move |msg: Msg, ()| dispatch.dispatch(msg))
    };
    let request = {
        let text = state.request.value().to_string();
        use_memo(text, |text| Shared::new(text.clone()))
    };
    let shown = use_memo(state.evaluated.clone(), |evaluated| {
        let best = evaluated.scenario.asks_for_best();
        best.then(|| Shared::new(evaluated.outcome.policy.clone()))
    });
    let onfound = send.reform(|(told, revision)| Msg::Found(told, revision));
    let search = use_search(&state.evaluated, &request, state.revision, &onfound);
    let least = use_least(&state.evaluated, state.turning);
    use_address(&state, &send);
    use_document(&state);
    let importer = use_importer(send.clone());
    let over = use_drop(importer.take.clone());
    let pasting = use_state_eq(|| false);
    let top = use_node_ref();
    use_told_height(&top, state.view.embed);
    let locale = state.locale;
    let problem = match &importer.status {
        Status::Refused { name, error } => Some(refusal(error, name, locale)),
        _ => state.problem.as_ref().map(|error| notice::message(error, locale)),
    };
    let problem = problem.map(AttrValue::from);
    let toggle = use_callback(pasting.clone(), |(), pasting| {
        if **pasting {
            focus(PASTE_BUTTON);
        }
        pasting.set(!**pasting);
    });
    let ondismiss = {
        let (send, cancel) = (send.clone(), importer.cancel.clone());
        Callback::from(move |()| {
            cancel.emit(());
            send.emit(Msg::Dismiss);
        })
    };
    // What makes it fit is looked for once it is settled what does not.
    let searching = state.best.is_some_and(|best| !best.done);
    let still = use_media("(prefers-reduced-motion: reduce)");
    let knobs = !state.view.embed || state.view.views.iter().any(|view| view == "knobs");
    html! {
        <Explained request={(*request).clone()} shown={(*shown).clone()} {locale} send={send.clone()}>
        <div ref={top} class={classes!("page", state.view.embed.then_some("embed"), state.turning.then_some("turning"))}>
            if !state.view.embed {
                <a class="skip" href="#views">{words::app_skip(locale)}</a>
                { header(&header::Props {
                    model: preset(&state, "workload"),
                    card: preset(&state, "hardware"),
                    training: training_name(&state).into(),
                    locale,
                    theme: state.theme().map(|theme| AttrValue::from(theme.to_owned())),
                    send: send.clone(),
                    onpaste: toggle.clone(),
                }) }
            }
            if *pasting {
                <Paste {locale} problem={problem.clone()} ontake={importer.take.clone()} onclose={toggle} />
            }
            { importing(&importer.status, locale, &importer.cancel) }
            if over { { drop_hint(locale) } }
            if state.view.shows("verdict") {
                { verdict(&state.evaluated, locale) }
                if knobs { <Misfit fits={state.evaluated.outcome.fits} request={(*request).clone()} shown={(*shown).clone()} busy={state.turning || searching} {locale} send={send.clone()} /> }
            }
            { notices(&notice::Props {
                locale,
                problem: problem.filter(|_| !*pasting),
                clamped: state.clamped.clone(),
                ignored: state.ignored.clone(),
                caveats: caveats(&state.evaluated.scenario, locale).map(AttrValue::from),
                profile: matches!(state.evaluated.scenario.workload, Workload::Profile(_)),
                measured: state.measured.is_some(),
                without_worker: search.without_worker,
                ondismiss,
            }) }
            <main class={classes!("body", knobs.then_some("with-knobs"))}>
                if knobs {
                    { panel(&PanelProps { evaluated: state.evaluated.clone(), request: (*request).clone(), shown: (*shown).clone(), best: state.best, turning: state.turning, least, locale, send: send.clone() }) }
                }
                { views(&state, &request, &search, still, &send) }
            </main>
            if !state.view.embed {
                <footer><p>{words::app_units(locale)}</p><p>{words::app_limits_of_model(locale)}</p><p>{words::explain_hint(locale)}</p></footer>
            }
        </div>
        </Explained>
    }
}

/// The four views and the textbook, each only where it is asked for.
fn views(
    state: &State,
    request: &Shared<String>,
    search: &Search,
    still: bool,
    send: &Callback<Msg>,
) -> Html {
    let (locale, view, evaluated) = (state.locale, &state.view, &state.evaluated);
    let (ledger, timeline) = (view.shows("ledger"), view.shows("timeline"));
    let accuracy = html! {
        <>
            <h2 id="accuracy-title">{words::accuracy_title(locale)}</h2>
            <span class="help">{words::accuracy_about(locale)}</span>
        </>
    };
    let helps = html! { <><h2>{words::map_title(locale)}</h2><span class="help">{words::map_about(locale)}</span></> };
    html! {
        <div class="views" id="views">
            if ledger || timeline {
                <Stage evaluated={evaluated.clone()} {locale} {ledger} {timeline} {still}
                    measured={state.measured.clone()} onunmeasure={send.reform(|()| Msg::Unmeasure)} />
            }
            <div class="pair">
                if view.shows("pareto") { <ParetoView evaluated={evaluated.clone()} search={search.clone()} {locale} send={send.clone()} /> }
                if view.shows("ratio") { <RatioView evaluated={evaluated.clone()} {locale} /> }
            </div>
            if view.shows("pareto") && !view.embed {
                <section class="view">
                    <Folded kind="map" class="helps" title={helps} request={request.clone()} busy={state.turning} {locale} send={send.clone()} />
                </section>
            }
            if view.shows("textbook") {
                <section class="view"><h2>{words::app_view_textbook(locale)}</h2>
                    <p class="help">{words::app_help_textbook(locale)}</p>
                    { textbook(evaluated, locale) }
                </section>
            }
            if !view.embed {
                <section class="view accuracy" aria-labelledby="accuracy-title">
                    <Folded kind="cases" title={accuracy} request={request.clone()} busy={state.turning} {locale} send={send.clone()} />
                </section>
            }
        </div>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct ParetoProps {
    evaluated: Shared<super::chart::Evaluated>,
    search: Search,
    locale: Locale,
    send: Callback<Msg>,
}

#[component]
fn ParetoView(props: &ParetoProps) -> Html {
    let ParetoProps { evaluated, search, locale, send } = props;
    let node = use_node_ref();
    let width = use_width(&node, 560.0);
    let locale = *locale;
    let onchoose = send.reform(Msg::Choose);
    let onlimit = send.reform(|(limit, commit): (Bytes, bool)| {
        let changes =
            vec![("limits.memory_gib".to_owned(), json!((limit.gib() * 100.0).round() / 100.0))];
        if commit { Msg::Commit(changes) } else { Msg::Preview(changes) }
    });
    let onsteplimit = send.reform(|(limit, commit): (Nanos, bool)| {
        let changes =
            vec![("limits.step_s".to_owned(), json!((limit.secs() * 1000.0).round() / 1000.0))];
        if commit { Msg::Commit(changes) } else { Msg::Preview(changes) }
    });
    let best = search.front.as_ref().and_then(|front| {
        let best = &front.points[front.best()?];
        let words = if best.summary.fits { words::app_plan_best } else { words::app_plan_least };
        Some((best.policy.clone(), front.points.len(), words(locale)))
    });
    let fastest = send
        .reform(|_| Msg::Commit(vec![("policy.kind".to_owned(), PolicyKind::Best.name().into())]));
    html! {
        <section class={classes!("view", search.stale.then_some("stale"))} aria-busy={search.stale.to_string()}>
            <div class="view-head">
                <h2>{words::app_view_pareto(locale)}</h2>
                <div class="buttons">
                    if let Some((policy, count, words)) = best {
                        <button disabled={policy == evaluated.outcome.policy} title={words::app_plan_best_note(locale, &count.to_string())}
                            onclick={send.reform(move |_| Msg::Choose(policy.clone()))}>{words}</button>
                    }
                    <button class="primary" disabled={evaluated.scenario.asks_for_best()} title={words::best_use_note(locale)}
                        onclick={fastest}>{words::best_use(locale)}</button>
                </div>
            </div>
            <p class="help">{words::app_help_pareto(locale)}</p>
            <div class="measure" ref={node}>
                <Pareto evaluated={evaluated.clone()} front={search.front.clone()} found={search.found.clone()} stale={search.stale} {locale} {width} {onchoose} {onlimit} onsteplimit={Some(onsteplimit)} />
            </div>
        </section>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct RatioProps {
    evaluated: Shared<super::chart::Evaluated>,
    locale: Locale,
}

#[component]
fn RatioView(props: &RatioProps) -> Html {
    let node = use_node_ref();
    let width = use_width(&node, 560.0);
    html! {
        <section class="view">
            <h2>{words::app_view_ratio(props.locale)}</h2>
            <p class="help">{words::app_help_ratio(props.locale)}</p>
            <div class="measure" ref={node}>
                <Ratio evaluated={props.evaluated.clone()} locale={props.locale} {width} />
            </div>
        </section>
    }
}

/// Gives the focus back to what opened a box.
fn focus(id: &str) {
    let element = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id(id))
        .and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok());
    if let Some(element) = element {
        // What cannot take the focus can still be clicked.
        let _unfocused = element.focus();
    }
}

fn preset(state: &State, group: &str) -> Option<AttrValue> {
    let text = |key: &str| state.request.get(&format!("{group}.{key}")).and_then(Value::as_str);
    let lesson = text("kind").filter(|kind| *kind == LESSON);
    // What a request leaves out altogether is the engine's default.
    let absent = state.request.get(group).is_none();
    let default = if group == "workload" { DEFAULT_MODEL } else { DEFAULT_CARD };
    let named = lesson.or_else(|| text("preset")).or(absent.then_some(default))?;
    Some(AttrValue::from(named.to_owned()))
}

/// Keeps the address and the state in step: commits are written, Back is read.
#[hook]
fn use_address(state: &UseReducerHandle<State>, send: &Callback<Msg>) {
    {
        let state = state.clone();
        use_effect_with(state.commits, move |&commits| {
            if commits > 0 && !state.from_address {
                location::write(state.request.value(), &state.view, state.same_knob);
            }
        });
    }
    let send = send.clone();
    use_effect_with((), move |()| {
        let listeners = location::listen(move |link| send.emit(Msg::Load(link)));
        move || drop(listeners)
    });
}

/// Language and theme of the document itself.
#[hook]
fn use_document(state: &State) {
    let wanted = (state.locale, state.view.theme.clone(), state.view.embed);
    use_effect_with(wanted, |(locale, theme, embed)| {
        let root = web_sys::window()
            .and_then(|window| window.document())
            .and_then(|document| document.document_element());
        if let Some(root) = root {
            let set = |name: &str, value: Option<&str>| match value {
                Some(value) => root.set_attribute(name, value),
                None => root.remove_attribute(name),
            };
            // Attributes of these names are always allowed.
            let _set = set("lang", Some(locale.tag()));
            let _set = set(
                "data-theme",
                theme.as_deref().filter(|theme| matches!(*theme, "light" | "dark")),
            );
            let _set = set("data-embed", embed.then_some(""));
        }
    });
}
