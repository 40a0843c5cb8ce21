//! The charts, rendered natively: what a screen reader finds, what the tables say, and how many nodes there are.
#![cfg(all(feature = "ui", not(target_arch = "wasm32")))]

use galley::engine::scenario::Scenario;
use galley::engine::search::front::Front;
use galley::engine::search::map::{COLUMNS, Known, Map, ROWS, Strategy};
use galley::engine::search::sensitivity::sensitivity;
use galley::engine::units::Nanos;
use galley::engine::{Outcome, evaluate};
use galley::import::compare::compare;
use galley::import::{Measured, Tally};
use galley::scene::slider::{Marks, Range};
use galley::scene::{format, ledger, pareto, ratio};
use galley::ui::Shared;
use galley::ui::chart::{
    Beside, Evaluated, Ledger, Pareto, Ratio, Timeline, WinnerMap, counter, policy_name, why,
};
use galley::ui::control::{Slider, SliderProps};
use galley::ui::helps::levers;
use galley::words::Locale;
use std::cell::RefCell;
use std::collections::HashSet;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use yew::prelude::*;

const FITS: &str = r#"{"v":1,"workload":{"preset":"llama-2-7b"},"hardware":{"preset":"a100-80g"},
    "training":{"lora_rank":16},"policy":{"kind":"mix","k":8,"beta":0.5}}"#;
const TOO_LARGE: &str = r#"{"v":1,"workload":{"preset":"llama-2-7b"},"hardware":{"preset":"rtx-3090"},
    "training":{"lora_rank":16},"policy":{"kind":"keep"},"limits":{"step_s":6}}"#;
const LESSON: &str = r#"{"v":1,"workload":{"kind":"lesson"},"policy":{"kind":"offload"}}"#;
const ONE_LAYER: &str = r#"{"v":1,"workload":{"kind":"lesson","layers":1}}"#;
const NOTHING: &str =
    r#"{"v":1,"workload":{"kind":"lesson","layers":1,"act_gb":0,"layer_s":0,"backward_s":0}}"#;
const MANY_COPIES: &str = r#"{"v":1,"workload":{"preset":"llama-3-70b"},"hardware":{"preset":"h100-80g"},
    "training":{"lora_rank":16},"policy":{"kind":"offload","granularity":"tensor"}}"#;
const SSD: &str = r#"{"v":1,"workload":{"preset":"llama-2-7b"},"hardware":{"preset":"a100-80g"},
    "training":{"lora_rank":16},"policy":{"kind":"offload","medium":"ssd"}}"#;
const ALL: [&str; 7] = [FITS, TOO_LARGE, LESSON, ONE_LAYER, NOTHING, MANY_COPIES, SSD];
const WIDTHS: [f64; 3] = [343.0, 900.0, 1500.0];

fn evaluated(text: &str) -> Evaluated {
    let (scenario, notes) = Scenario::parse(text).expect("a sound request");
    Evaluated { outcome: evaluate::evaluate(&scenario), scenario, notes }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum View {
    Counter,
    Ledger,
    Focus,
    Measured,
    Timeline,
    Pareto,
    Searching,
    Ratio,
    Map,
}

const VIEWS: [View; 9] = [
    View::Map,
    View::Measured,
    View::Counter,
    View::Ledger,
    View::Focus,
    View::Timeline,
    View::Pareto,
    View::Searching,
    View::Ratio,
];

#[derive(Clone, PartialEq, Properties)]
struct Props {
    view: View,
    evaluated: Shared<Evaluated>,
    width: f64,
    locale: Locale,
}

#[component]
fn Page(props: &Props) -> Html {
    let Props { view, evaluated, width, locale } = props.clone();
    let playhead = Nanos(evaluated.outcome.peak.at.0);
    match view {
        View::Counter => counter(&evaluated, locale, width, playhead),
        View::Ledger => html! { <Ledger {evaluated} {locale} {width} {playhead} open=true /> },
        View::Focus => html! { <Ledger {evaluated} {locale} {width} {playhead} focus=true /> },
        View::Measured => {
            let measured =
                Some(Shared::new(compare(&twice(&evaluated.outcome), &evaluated.outcome)));
            html! { <Ledger {evaluated} {measured} {locale} {width} {playhead} open=true /> }
        }
        View::Timeline => html! { <Timeline {evaluated} {locale} {width} {playhead} open=true /> },
        View::Pareto => {
            let front = Some(Shared::new(Front::of(&evaluated.scenario)));
            html! { <Pareto {evaluated} {front} {locale} {width} open=true /> }
        }
        View::Searching => html! { <Pareto {evaluated} {locale} {width} /> },
        View::Ratio => html! { <Ratio {evaluated} {locale} {width} open=true /> },
        View::Map => {
            let known = known(&evaluated);
            html! { <WinnerMap {evaluated} {known} {locale} {width} open=true /> }
        }
    }
}

/// The map's first picture, made once for each scenario.
fn known(evaluated: &Evaluated) -> Shared<Known> {
    thread_local! {
        static MAPS: RefCell<Vec<(Scenario, Shared<Known>)>> = const { RefCell::new(Vec::new()) };
    }
    MAPS.with_borrow_mut(|maps| {
        if let Some((_, known)) = maps.iter().find(|map| map.0 == evaluated.scenario) {
            return known.clone();
        }
        let mut map = Map::new(&evaluated.scenario);
        while !map.is_whole() {
            map.advance(1);
        }
        let known = Shared::new(map.known());
        maps.push((evaluated.scenario.clone(), known.clone()));
        known
    })
}

/// A measurement of twice what is predicted, at every instant.
fn twice(outcome: &Outcome) -> Measured {
    let curve = outcome.ledger.iter().map(|step| (step.at, step.row.total().times(2))).collect();
    Measured {
        curve,
        peak: Some(outcome.peak.row.total().times(2)),
        step: Some(outcome.step),
        of_step: Some(("ProfilerStep#7".to_owned(), 12)),
        tally: Tally { seen: 654_321, others: 77, ..Tally::default() },
        ..Measured::default()
    }
}

#[component]
fn Comparing(props: &Props) -> Html {
    let Props { evaluated, locale, .. } = props.clone();
    let measured = Shared::new(twice(&evaluated.outcome));
    let comparison = Shared::new(compare(&measured, &evaluated.outcome));
    html! { <Beside {evaluated} {measured} {comparison} {locale} onremove={Callback::noop()} /> }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::park();
    }
}

fn markup(view: View, text: &'static str, width: f64, locale: Locale) -> String {
    let renderer = yew::ServerRenderer::<Page>::with_props(move || Props {
        view,
        evaluated: Shared::new(evaluated(text)),
        width,
        locale,
    });
    block_on(renderer.hydratable(false).render())
}

/// One rendering and what it is of.
struct Case {
    view: View,
    text: &'static str,
    width: f64,
    locale: Locale,
    html: String,
}

/// Every view of every scenario, rendered once for all tests.
fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        let sizes =
            WIDTHS.map(|width| (width, Locale::En)).into_iter().chain([(343.0, Locale::Zh)]);
        let all = VIEWS.iter().flat_map(|view| ALL.iter().map(move |text| (*view, *text)));
        // The map draws kinds of plan, not copies.
        let all = all.filter(|case| *case != (View::Map, MANY_COPIES));
        all.flat_map(|(view, text)| sizes.clone().map(move |size| (view, text, size)))
            .map(|(view, text, (width, locale))| {
                let html = markup(view, text, width, locale);
                Case { view, text, width, locale, html }
            })
            .collect()
    })
}

fn every(mut check: impl FnMut(View, &'static str, f64, Locale, &str)) {
    for case in cases() {
        check(case.view, case.text, case.width, case.locale, &case.html);
    }
}

/// The values of an attribute, in order.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    html.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

fn text_of(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<').skip(1) {
        text += part.split_once('>').map_or("", |(_, text)| text);
        text.push(' ');
    }
    text
}

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

#[test]
fn nothing_is_not_a_number() {
    every(|view, text, width, _, html| {
        let words = html.split(|c: char| !c.is_alphanumeric());
        for word in words {
            assert!(
                !["NaN", "inf", "undefined"].contains(&word),
                "{view:?} {text} {width}: {word}"
            );
        }
    });
}

#[test]
fn a_picture_has_a_name_and_a_description() {
    every(|view, text, _, _, html| {
        let ids: Vec<&str> = values(html, "id");
        let unique: HashSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{view:?}: an id is there twice");
        for target in values(html, "aria-describedby") {
            assert!(unique.contains(target), "{view:?}: {target} describes nothing");
        }
        assert!(html.starts_with("<figure"), "{view:?}");
        assert!(
            values(html, "aria-label").iter().all(|label| !label.is_empty()),
            "{view:?} {text}"
        );
        if view != View::Searching {
            assert_eq!(html.matches(r#"role="img""#).count(), 1, "{view:?}");
        }
        for used in html.split("url(#").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(unique.contains(used), "{view:?}: no pattern {used}");
        }
    });
}

#[test]
fn what_slides_says_where_it_is() {
    every(|view, _, _, _, html| {
        let sliders = match view {
            View::Ledger | View::Focus | View::Measured | View::Map => 1,
            View::Pareto => 2,
            _ => 0,
        };
        assert_eq!(html.matches(r#"role="slider""#).count(), sliders, "{view:?}");
        for attribute in ["aria-valuemin", "aria-valuemax", "aria-valuenow"] {
            let numbers = values(html, attribute);
            assert_eq!(numbers.len(), sliders, "{view:?} {attribute}");
            assert!(numbers.iter().all(|number| number.parse::<f64>().is_ok()), "{numbers:?}");
        }
        assert_eq!(values(html, "aria-valuetext").len(), sliders);
        if view == View::Ratio {
            let reachable = html.matches(r#"role="option""#).count();
            assert!(reachable >= 1);
            assert_eq!(
                html.matches(r#"tabindex="0" aria-selected"#).count(),
                1,
                "one column can be focused"
            );
        }
    });
}

/// A drag diffs every node of a picture, so they are few, however much there is to show.
#[test]
fn nodes_are_few() {
    every(|view, text, width, _, html| {
        let folded = html.split("<details").next().unwrap_or(html);
        let nodes = folded.matches('<').count() - folded.matches("</").count();
        assert!(nodes <= 400, "{view:?} {text} {width}: {nodes} nodes");
    });
}

#[test]
fn each_language_speaks_itself() {
    every(|view, _, _, locale, html| {
        let text = text_of(html) + &values(html, "aria-label").join(" ");
        assert_eq!(text.contains(is_chinese), locale == Locale::Zh, "{view:?}: {text}");
    });
}

/// The table's cells, row by row, heads included.
fn table(html: &str) -> Vec<Vec<String>> {
    let body = html.split("<tbody>").nth(1).and_then(|rest| rest.split("</tbody>").next());
    let rows = body.expect("a table").split("<tr>").skip(1);
    let cell = |part: &str| {
        part.split_once('>').and_then(|(_, text)| text.split('<').next()).map(str::to_owned)
    };
    rows.map(|row| {
        let cells = row.split("<t").skip(1).filter_map(cell);
        cells.map(|text| text.replace("&#x27;", "'").replace("&amp;", "&")).collect()
    })
    .collect()
}

#[test]
fn the_ledgers_twin_says_what_the_engine_says() {
    for text in ALL {
        let Evaluated { outcome, .. } = evaluated(text);
        let rows = table(&markup(View::Ledger, text, 900.0, Locale::En));
        let expected = ledger::table(&outcome, 60);
        assert_eq!(rows.len(), expected.len());
        for (row, step) in rows.iter().zip(expected) {
            assert_eq!(row[0], format::time(step.at));
            assert_eq!(row[1], format::bytes(step.row.total()));
            let parts = ledger::BANDS.map(|band| format::bytes(band.bytes(&step.row)));
            assert_eq!(row[2..], parts);
        }
    }
}

#[test]
fn a_measurement_is_drawn_and_said_at_every_instant() {
    for text in ALL {
        let Evaluated { outcome, .. } = evaluated(text);
        let html = markup(View::Measured, text, 900.0, Locale::En);
        assert!(html.contains("measured-line"), "{text}");
        let rows = table(&html);
        let expected = ledger::table(&outcome, 60);
        assert_eq!(rows.len(), expected.len());
        for (row, step) in rows.iter().zip(expected) {
            assert_eq!(row[2], format::bytes(step.row.total().times(2)), "{text}");
        }
    }
}

#[test]
fn measured_stands_beside_predicted_with_both_numbers() {
    for (text, locale) in [(FITS, Locale::En), (FITS, Locale::Zh), (NOTHING, Locale::En)] {
        let renderer = yew::ServerRenderer::<Comparing>::with_props(move || Props {
            view: View::Measured,
            evaluated: Shared::new(evaluated(text)),
            width: 0.0,
            locale,
        });
        let html = block_on(renderer.hydratable(false).render());
        let Evaluated { outcome, .. } = evaluated(text);
        let peak = outcome.peak.row.total();
        let shown = text_of(&html);
        assert!(
            shown.contains(&format::bytes(peak)) && shown.contains(&format::bytes(peak.times(2)))
        );
        assert!(shown.contains("ProfilerStep#7") && shown.contains("654\u{202f}321"), "{shown}");
        assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
        assert_eq!(shown.contains(is_chinese), locale == Locale::Zh, "{shown}");
        let differences = compare(&twice(&outcome), &outcome).differences.len();
        assert_eq!(html.matches("<li>").count(), differences, "{text}");
        assert_eq!(differences, if text == NOTHING { 0 } else { 3 });
    }
}

#[test]
fn the_timelines_twin_says_what_the_engine_says() {
    for text in ALL {
        let Evaluated { outcome, .. } = evaluated(text);
        let html = markup(View::Timeline, text, 900.0, Locale::En);
        let rows = table(&html);
        assert_eq!(rows.len(), outcome.spans.len().min(60));
        for row in &rows {
            let same = outcome.spans.iter().any(|span| {
                row[3] == format::time(span.start)
                    && row[4] == format::time(span.end - span.start)
                    && row[5] == format::bytes(span.bytes)
            });
            assert!(same, "{row:?}");
        }
        assert_eq!(html.contains("rows are shown"), outcome.spans.len() > 60);
    }
}

#[test]
fn the_fronts_twin_says_what_the_engine_says() {
    for text in [FITS, TOO_LARGE, LESSON] {
        let front = Front::of(&evaluated(text).scenario);
        let rows = table(&markup(View::Pareto, text, 900.0, Locale::En));
        let expected = pareto::table(&front, 60);
        assert_eq!(rows.len(), expected.len());
        for (row, i) in rows.iter().zip(expected) {
            let point = &front.points[i];
            let knee = if pareto::knee(&front) == Some(i) { " (knee)" } else { "" };
            assert_eq!(row[0], policy_name(Locale::En, &point.policy) + knee);
            assert_eq!(row[1], format::bytes(point.summary.peak));
            assert_eq!(row[2], format::time(point.summary.step));
        }
    }
}

/// Where the front bends, picture and table say so; where it does not, neither does.
#[test]
fn a_knee_is_in_the_picture_and_in_the_table() {
    for (text, bends) in [(FITS, true), (TOO_LARGE, true), (NOTHING, false)] {
        for (locale, word) in [(Locale::En, "knee"), (Locale::Zh, "拐点")] {
            let html = markup(View::Pareto, text, 900.0, locale);
            assert_eq!(html.contains(&format!(">{word}</text>")), bends, "{text}");
            let rows = table(&html);
            assert_eq!(
                rows.iter().filter(|row| row[0].contains(&format!("({word})"))).count(),
                usize::from(bends)
            );
        }
    }
}

#[test]
fn a_sliders_marks_are_drawn_and_said() {
    let render = |marks: Option<Marks>| {
        let renderer = yew::ServerRenderer::<Slider>::with_props(move || SliderProps {
            id: "bandwidth".into(),
            label: "Link".into(),
            about: "each way".into(),
            unit: "GB/s".into(),
            value: 25.0,
            range: Range::Log { min: 1.0, max: 500.0, steps: 200 },
            paths: &["hardware.d2h_gbps"],
            switch: None,
            marks: marks.clone(),
            send: Callback::noop(),
        });
        block_on(renderer.hydratable(false).render())
    };
    let marks =
        Marks { small: "M3 4v4M9 4v4".into(), tall: "M7 0v8".into(), text: ". Small ticks".into() };
    let html = render(Some(marks));
    assert_eq!(values(&html, "d"), ["M3 4v4M9 4v4", "M7 0v8"]);
    assert!(
        html.contains("viewBox=\"0 0 200 8\"") && html.contains("each way. Small ticks"),
        "{html}"
    );
    assert!(!render(None).contains("<svg"));
}

#[test]
fn the_ratios_twin_says_what_the_engine_says() {
    for text in ALL {
        let Evaluated { outcome, .. } = evaluated(text);
        let rows = table(&markup(View::Ratio, text, 900.0, Locale::En));
        assert_eq!(rows.len(), outcome.layers.len().min(60));
        for (row, layer) in rows.iter().zip(&outcome.layers) {
            assert_eq!(row[1], format::time(layer.choice.offload_cost()));
            assert_eq!(row[2], format::time(layer.choice.recompute));
            assert_eq!(row[4], format::time(layer.choice.window));
        }
    }
}

/// The most memory first; the winner of each cell and its overhead.
#[test]
fn the_maps_twin_says_what_the_engine_says() {
    for text in [FITS, TOO_LARGE, LESSON] {
        let known = known(&evaluated(text));
        let rows = table(&markup(View::Map, text, 900.0, Locale::En));
        assert_eq!(rows.len(), ROWS);
        for (row, cells) in (0..ROWS).rev().zip(&rows) {
            assert_eq!(cells.len(), COLUMNS + 1);
            assert!(cells[0].ends_with("GiB"), "{}", cells[0]);
            for (column, said) in cells[1..].iter().enumerate() {
                let cell = known.cell(column, row).expect("known");
                let Some(winner) = &cell.winner else {
                    assert_eq!(said, "Does not fit");
                    continue;
                };
                let overhead = cell.overhead().map(format::percent_change).expect("it takes time");
                let name = match winner.moved.strategy() {
                    Strategy::Keep => "Keep everything",
                    Strategy::Recompute => "Recompute",
                    Strategy::Offload => "Offload",
                    Strategy::Mixture => "Both",
                };
                assert_eq!(*said, format!("{name} {overhead}"));
            }
        }
    }
}

#[derive(Clone, PartialEq, Properties)]
struct LeverProps {
    text: &'static str,
    locale: Locale,
}

#[component]
fn LeverTable(props: &LeverProps) -> Html {
    levers(&sensitivity(&evaluated(props.text).scenario), false, props.locale)
}

/// Each lever on each side, for the fastest plan and the own one, in its own unit; bars no longer than their cell.
#[test]
fn levers_are_told_with_their_units() {
    for (text, locale) in
        [(FITS, Locale::En), (TOO_LARGE, Locale::Zh), (LESSON, Locale::En), (NOTHING, Locale::En)]
    {
        let renderer =
            yew::ServerRenderer::<LeverTable>::with_props(move || LeverProps { text, locale });
        let html = block_on(renderer.hydratable(false).render());
        let shown = text_of(&html);
        for unit in ["GiB", "GB/s", "TFLOP/s"] {
            assert!(shown.contains(unit), "{shown}");
        }
        let said = |by: &str| html.matches(&format!(r#"<span class="by">{by}</span>"#)).count();
        assert_eq!((said("+1"), said("−1")), (6, 6), "{html}");
        assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
        assert_eq!(shown.contains(is_chinese), locale == Locale::Zh, "{shown}");
        let share = |style: &&str| {
            let share = style.trim_start_matches("--share: ").trim_end_matches('%');
            share.parse::<f64>().expect("a share")
        };
        let shares: Vec<f64> = values(&html, "style").iter().map(share).collect();
        assert_eq!(shares.len(), 12);
        assert!(shares.iter().all(|share| (0.0..=100.0).contains(share)), "{shares:?}");
    }
}

#[test]
fn a_reason_has_its_numbers() {
    for text in ALL {
        let evaluated = evaluated(text);
        for (i, layer) in evaluated.outcome.layers.iter().enumerate() {
            for locale in [Locale::En, Locale::Zh] {
                let sentence = why(locale, &evaluated, i);
                assert!(!sentence.is_empty());
                if ratio::fate(&evaluated.outcome, i) != galley::scene::Fate::Nothing
                    && layer.reason.code() == "recompute-cheaper"
                {
                    assert!(sentence.contains(&format::time(layer.choice.recompute)), "{sentence}");
                    assert!(
                        sentence.contains(&format::time(layer.choice.offload_cost())),
                        "{sentence}"
                    );
                }
            }
        }
        assert_eq!(why(Locale::En, &evaluated, 99_999), "");
    }
}

/// What does not fit is said to; what fits is not.
#[test]
fn overflow_is_shown_where_it_is() {
    for text in ALL {
        let Evaluated { outcome, .. } = evaluated(text);
        let over = outcome.peak.row.total() > outcome.memory;
        let drawn = |view| markup(view, text, 900.0, Locale::En).contains("mark mark-overflow");
        assert_eq!(drawn(View::Counter), over, "{text}");
        assert_eq!(drawn(View::Ledger), over, "{text}");
    }
}
