//! The page in a real browser: `cargo test --target wasm32-unknown-unknown --test browser`, headless Chromium. What it shows is held to
//! what the engine says of the same request, and every element is found by role, label or name, as a reader would.
#![cfg(target_arch = "wasm32")]

#[path = "browser/additive.rs"]
mod additive;
#[path = "parity/calibrations.rs"]
mod calibrations;
#[path = "solver/instance.rs"]
mod instance;
#[path = "parity/plans.rs"]
mod plans;
#[path = "parity/mod.rs"]
mod scenarios;

use scenarios as parity;

use galley::engine::evaluate;
use galley::engine::outcome::Outcome;
use galley::engine::{PolicyKind, door};
use galley::request::Request;
use galley::scene::format;
use galley::ui::searching::{self, Kind};
use galley::ui::{App, details};
use galley::words::{self, Locale};
use js_sys::{Function, Promise};
use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{
    Document, Element, Event, EventInit, HtmlElement, HtmlInputElement, HtmlSelectElement, window,
};

wasm_bindgen_test_configure!(run_in_browser);

/// One page in the document, gone with its drop.
struct Page {
    root: Element,
    app: Option<yew::AppHandle<App>>,
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(app) = self.app.take() {
            app.destroy();
        }
        self.root.remove();
    }
}

fn document() -> Document {
    window().expect("a window").document().expect("a document")
}

async fn pause(ms: i32) {
    let promise = Promise::new(&mut |resolve: Function, _| {
        window()
            .expect("a window")
            .set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms)
            .expect("a timer");
    });
    JsFuture::from(promise).await.expect("a timer");
}

impl Page {
    async fn open(fragment: &str) -> Self {
        let location = window().expect("a window").location();
        location.set_hash(fragment).expect("a fragment can be set");
        let root = document().create_element("div").expect("an element");
        document().body().expect("a body").append_child(&root).expect("a child");
        let app = yew::Renderer::<App>::with_root(root.clone()).render();
        let page = Self { root, app: Some(app) };
        pause(60).await;
        page
    }

    fn all(&self, selector: &str) -> Vec<Element> {
        let list = self.root.query_selector_all(selector).expect("a selector");
        (0..list.length()).filter_map(|i| list.item(i)?.dyn_into().ok()).collect()
    }

    fn one<T: JsCast>(&self, selector: &str) -> T {
        let found = self.root.query_selector(selector).expect("a selector");
        found.unwrap_or_else(|| panic!("nothing is {selector}")).dyn_into().expect("of its kind")
    }

    fn text(&self, selector: &str) -> String {
        self.all(selector)
            .iter()
            .filter_map(|element| element.text_content())
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn verdict(&self) -> String {
        self.text("section.verdict")
    }

    /// The figure of that name, and what is drawn in it.
    fn marks(&self, title: &str) -> String {
        let figure = format!("figure[aria-label='{title}']");
        let marks: String =
            self.all(&format!("{figure} svg.chart-body")).iter().map(Element::inner_html).collect();
        assert!(!marks.is_empty(), "{figure} is there");
        marks
    }

    /// What is drawn in each of the four views; the front must have settled.
    fn views(&self) -> [String; 4] {
        [
            words::chart_ledger_title,
            words::chart_timeline_title,
            words::chart_pareto_title,
            words::chart_ratio_title,
        ]
        .map(|title| self.marks(title(Locale::En)))
    }

    async fn drag(&self, label: &str, share: f64) -> f64 {
        let slider: HtmlInputElement =
            self.one(&format!("input[type=range][aria-valuetext]#{label}"));
        let last: f64 = slider.max().parse().expect("a number");
        slider.set_value(&(last * share).round().to_string());
        fire(&slider, "input");
        pause(30).await;
        slider.value_as_number()
    }

    async fn type_into(&self, id: &str, text: &str) {
        let field: HtmlInputElement = self.one(&format!("input#{id}-field"));
        field.set_value(text);
        fire(&field, "input");
        fire(&field, "change");
        pause(30).await;
    }

    async fn choose(&self, id: &str, value: &str) {
        let menu: HtmlSelectElement = self.one(&format!("select#{id}"));
        menu.set_value(value);
        fire(&menu, "change");
        pause(30).await;
    }

    async fn press(&self, words: &str) {
        let button = self
            .all("button")
            .into_iter()
            .find(|button| {
                button.get_attribute("aria-label").as_deref() == Some(words)
                    || button.text_content().as_deref() == Some(words)
            })
            .unwrap_or_else(|| panic!("no button is called {words}"));
        button.unchecked_into::<HtmlElement>().click();
        pause(30).await;
    }

    /// Waits until the front is of the present scenario: without a worker here the search runs a moment later.
    async fn settled(&self) {
        for _ in 0..100 {
            if self.all("section[aria-busy=true]").is_empty() {
                return;
            }
            pause(100).await;
        }
        panic!("the search does not end");
    }
}

fn fire(target: &Element, event: &str) {
    let options = EventInit::new();
    options.set_bubbles(true);
    let event = Event::new_with_event_init_dict(event, &options).expect("an event");
    target.dispatch_event(&event).expect("dispatched");
}

/// What the engine says of the opening scenario with these changes.
fn engine(changes: &[(&str, Value)]) -> Outcome {
    let opening = Request::read(Request::opening()).expect("the opening scenario reads");
    let reading = opening.request.with(changes).expect("the changes read");
    evaluate::evaluate(&reading.scenario)
}

fn says(page: &Page, outcome: &Outcome) {
    let verdict = page.verdict();
    let peak = format::bytes(outcome.peak.row.total());
    let step = format::time(outcome.step);
    assert!(verdict.contains(&peak), "the verdict says {peak}: {verdict}");
    assert!(verdict.contains(&step), "the verdict says {step}: {verdict}");
    assert_eq!(
        page.all("section.verdict.fits").len() == 1,
        outcome.fits,
        "fits, as the engine says"
    );
    let ledger = page.text("figure.chart-ledger svg");
    assert!(ledger.contains(&peak), "the ledger marks the peak {peak}: {ledger}");
}

#[wasm_bindgen_test]
async fn the_first_view_is_a_worked_scenario() {
    let page = Page::open("").await;
    says(&page, &engine(&[]));
    page.settled().await;
    assert!(page.views().iter().all(|view| view.len() > 200), "no chart is empty");
}

#[wasm_bindgen_test]
async fn each_of_the_four_sliders_moves_the_verdict_and_all_four_views() {
    type Changes = fn(f64) -> Vec<(&'static str, Value)>;
    let sliders: [(&str, f64, Changes); 4] = [
        ("batch", 0.05, |at| vec![("workload.batch", json!(1.0 + at))]),
        ("k", 0.4, |at| vec![("policy.k", json!(1.0 + at))]),
        ("beta", 0.9, |at| vec![("policy.beta", json!(at / 100.0))]),
        ("bandwidth", 0.2, |_| vec![]),
    ];
    for (id, share, changes) in sliders {
        let page = Page::open("").await;
        page.settled().await;
        let before = (page.verdict(), page.views());
        let at = page.drag(id, share).await;
        let changes = if id == "bandwidth" {
            let range = galley::scene::slider::Range::Log { min: 1.0, max: 500.0, steps: 200 };
            let gbps = json!(range.value_from_position(at));
            vec![("hardware.d2h_gbps", gbps.clone()), ("hardware.h2d_gbps", gbps)]
        } else {
            changes(at)
        };
        says(&page, &engine(&changes));
        page.settled().await;
        let after = (page.verdict(), page.views());
        assert_ne!(before.0, after.0, "{id}: the verdict");
        for (view, (before, after)) in before.1.iter().zip(&after.1).enumerate() {
            assert_ne!(before, after, "{id}: view {view}");
        }
    }
}

#[wasm_bindgen_test]
async fn k_under_another_policy_asks_for_checkpointing() {
    let page = Page::open("policy=keep").await;
    page.drag("k", 0.5).await;
    let menu: HtmlSelectElement = page.one("select#policy");
    assert_eq!(menu.value(), PolicyKind::Checkpoint.name());
}

#[wasm_bindgen_test]
async fn a_value_out_of_range_is_clamped_and_said() {
    let page = Page::open("").await;
    for _ in 0..2 {
        page.type_into("batch", "1e30").await;
        let field: HtmlInputElement = page.one("input#batch-field");
        assert_eq!(field.value(), "65536", "the field shows what is used, also the second time");
        assert!(page.text(".notices").contains("65536"), "{}", page.text(".notices"));
    }
    page.type_into("k", "-3").await;
    says(&page, &engine(&[("workload.batch", json!(65536)), ("policy.k", json!(1))]));
}

#[wasm_bindgen_test]
async fn menus_and_fields_show_what_is_in_force_after_back_and_escape() {
    let page =
        Page::open("v=1&model=llama-2-7b&card=rtx-4090&lora_rank=16&policy=mix&k=4&beta=0.5").await;
    page.choose("model", "gpt2").await;
    page.choose("model", "gpt2-xl").await;
    window().expect("a window").history().expect("a history").back().expect("back");
    pause(300).await;
    let menu: HtmlSelectElement = page.one("select#model");
    assert_eq!(menu.value(), "gpt2");
    page.press(words::app_reset(Locale::En)).await;
    assert_eq!(page.one::<HtmlSelectElement>("select#model").value(), "llama-2-7b");

    let field: HtmlInputElement = page.one("input#k-field");
    field.focus().expect("a field takes the focus");
    page.type_into("k", "3").await;
    assert_eq!(field.value(), "3", "what was typed and used is shown, the focus still in it");
    let address = window().expect("a window").location().hash().expect("a fragment");
    assert!(address.contains("k=3"), "{address}");
    page.type_into("k", "1e999").await;
    assert!(page.text("[role=alert]").contains("1e999"), "{}", page.text("[role=alert]"));
    assert_eq!(field.value(), "3");
}

#[wasm_bindgen_test]
async fn nonsense_is_refused_by_name_and_the_last_good_state_stays() {
    let page = Page::open("").await;
    let before = page.verdict();
    page.type_into("batch", "many").await;
    let notice = page.text("[role=alert]");
    assert!(notice.contains("workload.batch") && notice.contains("many"), "{notice}");
    assert_eq!(page.verdict(), before);

    page.press(words::app_paste(Locale::En)).await;
    let area: web_sys::HtmlTextAreaElement = page.one("textarea");
    area.set_value("{\"model_type\": \"mamba\"}");
    page.press(words::paste_use(Locale::En)).await;
    let problem = page.text("section.paste [role=alert]");
    assert!(problem.contains("mamba") && problem.contains("llama"), "{problem}");
    assert_eq!(page.verdict(), before);
    assert!(area.value().contains("mamba"), "what was pasted stays");

    area.set_value(r#"{"model_type": "gpt2"}"#);
    page.press(words::paste_use(Locale::En)).await;
    assert_ne!(page.verdict(), before, "a config that reads is used");
}

#[wasm_bindgen_test]
async fn out_of_memory_is_a_state_with_its_own_sentence_and_picture() {
    let page = Page::open("").await;
    page.choose("training", "full").await;
    let outcome = engine(&[("training", json!({}))]);
    assert!(outcome.out_of_memory.is_some());
    says(&page, &outcome);
    let missing = format::bytes(outcome.fixed.total().saturating_sub(outcome.memory));
    assert!(page.verdict().contains(&missing), "{}", page.verdict());
    page.settled().await;
    assert!(page.views().iter().all(|view| !view.contains("NaN")));
}

#[wasm_bindgen_test]
async fn the_language_is_switched_everywhere() {
    let page = Page::open("").await;
    page.press(words::app_language_label(Locale::En)).await;
    let free = engine(&[]);
    let free = free.memory.saturating_sub(free.peak.row.total());
    assert!(
        page.verdict().contains(&words::verdict_fits(Locale::Zh, &format::bytes(free))),
        "{}",
        page.verdict()
    );
    let root = document().document_element().expect("a document element");
    assert_eq!(root.get_attribute("lang").as_deref(), Some("zh-CN"));
    for title in [
        words::chart_ledger_title,
        words::chart_timeline_title,
        words::chart_pareto_title,
        words::chart_ratio_title,
    ] {
        assert_eq!(page.all(&format!("figure[aria-label='{}']", title(Locale::Zh))).len(), 1);
    }
}

#[wasm_bindgen_test]
async fn without_motion_there_is_no_play_but_steps() {
    let original = js_sys::Reflect::get(&window().expect("a window"), &"matchMedia".into())
        .expect("matchMedia");
    js_sys::eval(
        "window.matchMedia = (query) => Object.defineProperty(new EventTarget(), 'matches', {value: query.includes('reduce')})",
    )
    .expect("a stand-in for the system's setting");
    let page = Page::open("").await;
    let labels: Vec<_> = page
        .all("[role=group] button")
        .iter()
        .filter_map(|button| button.get_attribute("aria-label"))
        .collect();
    assert!(!labels.contains(&words::transport_play(Locale::En).to_owned()), "{labels:?}");
    let before = page.text(".transport output");
    page.press(words::transport_forward(Locale::En)).await;
    page.press(words::transport_forward(Locale::En)).await;
    assert_ne!(page.text(".transport output"), before, "stepping still works");
    js_sys::Reflect::set(&window().expect("a window"), &"matchMedia".into(), &original)
        .expect("put back");
}

#[wasm_bindgen_test]
async fn playing_moves_the_playhead_and_stops_with_the_page() {
    let page = Page::open("").await;
    let before = page.text(".transport output");
    page.press(words::transport_play(Locale::En)).await;
    pause(300).await;
    assert_ne!(page.text(".transport output"), before);
    drop(page);
    pause(100).await;
}

#[wasm_bindgen_test]
async fn a_decision_is_in_the_address_and_back_undoes_it() {
    let page = Page::open("").await;
    let location = window().expect("a window").location();
    page.choose("policy", "offload").await;
    assert!(location.hash().expect("a fragment").contains("policy=offload"));
    let offloaded = page.verdict();
    window().expect("a window").history().expect("a history").back().expect("back");
    pause(300).await;
    assert_ne!(page.verdict(), offloaded);
    let menu: HtmlSelectElement = page.one("select#policy");
    assert_eq!(menu.value(), "mix");
}

#[wasm_bindgen_test]
async fn an_embedded_page_shows_just_the_views_asked_for() {
    let page = Page::open("embed=1&views=timeline,ledger").await;
    assert!(page.all("header").is_empty() && page.all("select#model").is_empty());
    assert_eq!(page.all("figure.chart-timeline").len(), 1);
    assert_eq!(page.all("figure.chart-ledger").len(), 1);
    assert!(page.all("figure.chart-pareto").is_empty() && page.all("section.verdict").is_empty());
}

/// The cases come from beside the page, which a test in the browser has not: its answer to that one address is put in place.
const SERVE_CASES: &str = "
    window.XMLHttpRequest = class extends EventTarget {
        open(method, address) { this.address = address; }
        send() {
            this.status = this.address.endsWith('accuracy/cases.json') ? window.casesStatus : 404;
            this.responseText = window.cases;
            setTimeout(() => this.dispatchEvent(new Event('loadend')), 0);
        }
    };
";

fn serve_cases(text: &str, status: u32) {
    let window: wasm_bindgen::JsValue = window().expect("a window").into();
    js_sys::Reflect::set(&window, &"cases".into(), &text.into()).expect("set");
    js_sys::Reflect::set(&window, &"casesStatus".into(), &status.into()).expect("set");
    js_sys::eval(SERVE_CASES).expect("a stand-in for the server");
}

/// Waits until that holds, five seconds at most.
async fn until(holds: impl Fn() -> bool) {
    for _ in 0..100 {
        if holds() {
            return;
        }
        pause(50).await;
    }
    panic!("it does not come to that");
}

/// As static/boot.js has it, but for the program, which is linked into the test.
const SERVE_DETAILS: &str = "
    window.galleyDetails = {
        show(place, kind, json, anchor) {
            const tell = (detail) => place.dispatchEvent(new CustomEvent('galley-details', { detail }));
            window.showDetails(place, kind, json, anchor, tell);
            tell('\"ready\"');
        },
        drop(place) { window.leaveDetails(place); },
    };
";

fn serve_details() {
    type Show = dyn Fn(Element, String, String, Option<HtmlElement>, Function);
    let show = Closure::<Show>::new(|place: Element, kind, json, anchor, tell| {
        details::show(&place, kind, json, anchor, tell);
    });
    let leave = Closure::<dyn Fn(Element)>::new(|place: Element| details::leave(&place));
    let window: wasm_bindgen::JsValue = window().expect("a window").into();
    for (name, function) in
        [("showDetails", show.into_js_value()), ("leaveDetails", leave.into_js_value())]
    {
        js_sys::Reflect::set(&window, &name.into(), &function).expect("set");
    }
    js_sys::eval(SERVE_DETAILS).expect("a stand-in for the starter");
}

async fn open_accuracy() -> Page {
    serve_details();
    let page = Page::open("").await;
    page.one::<HtmlElement>(".accuracy summary").click();
    until(|| !page.all(".accuracy-status[aria-busy=false]").is_empty()).await;
    page
}

#[wasm_bindgen_test]
async fn the_cases_are_computed_filtered_and_loaded() {
    let text = r#"{"v": 1, "groups": [{"id": "g", "title": ["Group", "组"], "about": ["About", "关于"],
        "evidence": "derived", "source": "hand", "sets": [{"name": "lesson",
        "request": {"v": 1, "workload": {"kind": "lesson", "act_gb": 2, "layer_s": 1}}, "columns": [["workload.layers", "L"]],
        "figures": [{"name": ["kept", "保存"], "unit": "GB", "within": "exact", "measure": ["/", "/activation_bytes", 1e9]}],
        "rows": [[null, [4], [8]], ["wrong", [5], [11]]]}]}]}"#;
    serve_cases(text, 200);
    let page = open_accuracy().await;
    let status = page.text(".accuracy-status [role=status]");
    assert_eq!(status, words::accuracy_come_out(Locale::En, "2", "1"));
    assert_eq!(page.all(".accuracy .rows tbody tr").len(), 2);
    let failing = page.text(".accuracy .rows tbody tr.fails");
    assert!(failing.contains("wrong") && failing.contains("10\u{a0}GB"), "{failing}");
    assert!(failing.contains("\u{2212}1\u{a0}GB (\u{2212}9.09\u{a0}%)"), "{failing}");

    let only: HtmlInputElement = page.one(".accuracy-filters input[type=checkbox]");
    only.click();
    until(|| page.all(".accuracy .rows tbody tr").len() == 1).await;
    page.press(&words::accuracy_load_label(Locale::En, "wrong")).await;
    // Five layers, a second forward and two backward each.
    until(|| page.verdict().contains(&format::seconds(15.0))).await;
    let location = window().expect("a window").location();
    until(|| location.hash().is_ok_and(|address| address.contains("layers=5"))).await;
}

#[wasm_bindgen_test]
async fn cases_that_cannot_be_had_are_said() {
    for (text, status) in [("", 404), ("{", 200), ("{\"v\": 2}", 200)] {
        serve_cases(text, status);
        let page = open_accuracy().await;
        let alert = page.text(".accuracy [role=alert]");
        assert!(alert.contains("accuracy/cases.json"), "{alert}");
        assert_eq!(alert.contains("404"), status == 404, "{alert}");
    }
}

#[wasm_bindgen_test]
fn fits_are_those_of_the_native_engine() {
    for (i, (here, native)) in
        calibrations::answers().iter().zip(calibrations::expected()).enumerate()
    {
        assert_eq!(*here, native, "fit {i}");
    }
}

#[wasm_bindgen_test]
fn native_and_wasm_agree_to_the_byte() {
    let (outcomes, expected) = (parity::outcomes(), parity::expected());
    assert!(outcomes.len() > 200 && outcomes.len() == expected.len());
    for (i, (here, native)) in outcomes.iter().zip(&expected).enumerate() {
        assert_eq!(here, native, "outcome {i}; request {:?}", parity::requests().get(i));
    }
}

/// What the worker does: one search after the other, a slice at a time, another one begun and left in between.
#[wasm_bindgen_test]
fn a_search_in_slices_ends_where_the_native_one_does() {
    let requests = plans::requests();
    let expected = plans::expected();
    assert_eq!(requests.len(), expected.len());
    for (i, request) in requests.iter().enumerate() {
        searching::begin(Kind::Plan, &requests[(i + 1) % requests.len()]).expect("it reads");
        assert!(searching::go_on(Kind::Plan, 0.0).is_some(), "it has only begun");
        searching::begin(Kind::Plan, request).expect("it reads");
        let mut last = None;
        let mut told = 0;
        while let Some(text) = searching::go_on(Kind::Plan, 2.0) {
            last = searching::told(&text).or(last);
            told += usize::from(!text.is_empty());
        }
        let last = last.expect("a search says what it found");
        assert!(last.done && told > 0, "{i}");
        let line = plans::line(&last.policy, &last.summary, last.bound);
        assert_eq!(line, expected[i], "search {i}");
    }
}

#[wasm_bindgen_test]
async fn the_best_plan_is_shown_at_once_and_ends_at_the_native_one() {
    let page = Page::open("v=1&workload=lesson&layers=12&act_gb=1.5&layer_s=0.1&base_gb=4&card=rtx-4090&policy=best&limit_gib=24").await;
    assert!(!page.verdict().is_empty());
    page.drag("limit", 0.4).await;
    until(|| !page.all(".best-known[aria-busy=false]:not(.aged)").is_empty()).await;
    let limit = page.one::<HtmlInputElement>("input#limit-field").value();
    let request = json!({"v": 1, "workload": {"kind": "lesson", "layers": 12, "act_gb": 1.5, "layer_s": 0.1, "base_gb": 4},
        "hardware": {"preset": "rtx-4090"}, "policy": {"kind": "best"},
        "limits": {"memory_gib": limit.parse::<f64>().expect("a number")}});
    let native = evaluate::evaluate_text(&request.to_string()).expect("it reads").2;
    assert!(native.out_of_memory.is_none(), "a limit in which some plan runs");
    says(&page, &native);
    let address = window().expect("a window").location().hash().expect("a fragment");
    assert!(address.contains("policy=best") && !address.contains("plan="), "{address}");
}

#[wasm_bindgen_test]
fn the_javascript_door_answers_as_the_command_line_does() {
    let text = r#"{"v": 1, "workload": {"preset": "nonesuch"}}"#;
    let error: Value = serde_json::from_str(&door::text(&door::evaluate(text))).expect("JSON");
    assert_eq!(error["error"]["path"], "workload.preset");
}
