//! Explanations and the numbers that open them, rendered natively: what a screen reader finds, and that both languages say it.
#![cfg(all(feature = "ui", not(target_arch = "wasm32")))]

use galley::engine::scenario::Scenario;
use galley::engine::units::Nanos;
use galley::engine::{evaluate, search};
use galley::explain::alive::When;
use galley::explain::{Asked, Cost, Subject, Sum, Textbook, explain};
use galley::scene::ledger::BANDS;
use galley::ui::Shared;
use galley::ui::chart::{Evaluated, counter, why};
use galley::ui::explain::{Book, mark, marked, unmarked};
use galley::ui::textbook::textbook;
use galley::ui::verdict::verdict;
use galley::words::Locale;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use yew::prelude::*;

const FITS: &str = r#"{"workload":{"preset":"llama-2-7b"},"hardware":{"preset":"a100-80g"},"training":{"lora_rank":16},"policy":{"kind":"mix"}}"#;
const TOO_LARGE: &str = r#"{"workload":{"preset":"llama-2-7b"},"hardware":{"preset":"rtx-3090"},"policy":{"kind":"keep"}}"#;
const GPT: &str = r#"{"workload":{"preset":"gpt2","attention":"eager","accumulation":2},"training":{"tp":2},"policy":{"kind":"checkpoint","k":4}}"#;
const LESSON: &str = r#"{"workload":{"kind":"lesson"},"policy":{"kind":"offload"}}"#;
const ALL: [&str; 4] = [FITS, TOO_LARGE, GPT, LESSON];

fn evaluated(text: &str) -> Evaluated {
    let (scenario, notes) = Scenario::parse(text).expect("a sound request");
    Evaluated { outcome: evaluate::evaluate(&scenario), scenario, notes }
}

/// Rendering natively waits for nothing.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
        std::thread::yield_now();
    }
}

#[derive(Clone, PartialEq, Properties)]
struct Props {
    text: &'static str,
    subject: Option<Subject>,
    locale: Locale,
}

/// One explanation, or everything with numbers.
#[component]
fn Page(props: &Props) -> Html {
    let Props { text, subject, locale } = props.clone();
    let evaluated = Shared::new(evaluated(text));
    let Some(subject) = subject else {
        let playhead = Nanos(evaluated.outcome.peak.at.0);
        return html! {
            <>
                { verdict(&evaluated, locale) }
                { counter(&evaluated, locale, 900.0, playhead) }
                { textbook(&evaluated, locale) }
            </>
        };
    };
    let Evaluated { scenario, outcome, notes } = &*evaluated;
    let asked = Asked { scenario, outcome, settings: &notes.settings };
    match explain(asked, subject) {
        Some(derivation) => {
            html! { <Book derivation={Shared::new(derivation)} {locale} onask={Callback::noop()} /> }
        }
        None => Html::default(),
    }
}

fn markup(text: &'static str, subject: Option<Subject>, locale: Locale) -> String {
    let renderer = yew::ServerRenderer::<Page>::with_props(move || Props { text, subject, locale });
    block_on(renderer.hydratable(false).render())
}

fn subjects() -> Vec<Subject> {
    let mut all = vec![
        Subject::Peak,
        Subject::Capacity,
        Subject::Missing,
        Subject::PlainPeak,
        Subject::HostPeak,
        Subject::Step,
        Subject::Throughput,
        Subject::Overhead,
        Subject::LayerSaved(1),
        Subject::Saved(1, 0),
        Subject::Cost(1, Cost::RoundTrip),
        Subject::Cost(1, Cost::Benefit),
        Subject::Textbook(Textbook::Step),
        Subject::Textbook(Textbook::Strategy(1, 3)),
    ];
    all.extend(BANDS.map(|band| Subject::Band(band, When::Peak)));
    all.extend(Sum::ALL.map(Subject::Sum));
    all
}

fn text_of(html: &str) -> String {
    let texts = html.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
    texts.collect::<Vec<_>>().join(" ") + " "
}

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

#[test]
fn explanations_are_short_and_speak_the_language() {
    for text in ALL {
        for subject in subjects() {
            for locale in [Locale::En, Locale::Zh] {
                let html = markup(text, Some(subject), locale);
                if html.is_empty() {
                    continue;
                }
                let said = text_of(&html);
                for word in said.split(|c: char| !c.is_alphanumeric()) {
                    assert!(!["NaN", "inf", "undefined"].contains(&word), "{subject:?}: {said}");
                }
                assert_eq!(said.contains(is_chinese), locale == Locale::Zh, "{subject:?}: {said}");
                let nodes = html.matches('<').count() - html.matches("</").count();
                assert!(nodes < 420, "{subject:?}: {nodes} nodes");
                assert!(
                    html.contains(r#"class="trust""#),
                    "{subject:?} does not say how far to trust it"
                );
            }
        }
    }
}

/// A formula stands in symbols and in values; a fraction is read aloud as one.
#[test]
fn a_formula_is_written_twice() {
    let html = markup(GPT, Some(Subject::Saved(1, 1)), Locale::En);
    let said = text_of(&html);
    assert!(html.contains("<i>b</i>") && html.contains("<i>s</i>"), "{html}");
    assert!(said.contains("1\u{202f}024") && said.contains("sequences in a micro-batch"), "{said}");
    let copies = text_of(&markup(LESSON, Some(Subject::Sum(Sum::Out)), Locale::En));
    assert!(copies.contains(" / ") && copies.contains("GB/s"), "{copies}");
    assert!(copies.contains("measured at 25 GB/s"), "the preset's own source is there: {copies}");
}

#[test]
fn states_are_labelled_as_such() {
    for band in [BANDS[0], BANDS[1]] {
        let said = text_of(&markup(TOO_LARGE, Some(Subject::Band(band, When::Peak)), Locale::En));
        assert!(said.contains("States only"), "{said}");
        assert!(said.contains("arXiv:1910.02054"), "{said}");
    }
}

/// Every figure of verdict, counter and textbook is a button with its name and value, closed at first.
#[test]
fn numbers_are_buttons() {
    for text in ALL {
        for locale in [Locale::En, Locale::Zh] {
            let html = markup(text, None, locale);
            let buttons: Vec<&str> = html.split("<button").skip(1).collect();
            assert!(buttons.len() >= 12, "{} numbers", buttons.len());
            for button in buttons {
                let tag = button.split('>').next().unwrap_or_default();
                assert!(tag.contains(r#"class="why-number""#), "{tag}");
                assert!(tag.contains(r#"aria-haspopup="dialog""#), "{tag}");
                assert!(tag.contains(r#"aria-expanded="false""#), "{tag}");
                assert!(tag.contains("aria-label="), "{tag}");
            }
            assert!(
                !html.contains(|c| ('\u{E000}'..='\u{F8FF}').contains(&c)),
                "a mark is left in the text"
            );
        }
    }
}

#[derive(Clone, PartialEq, Properties)]
struct TextProps {
    text: String,
}

#[component]
fn Marked(props: &TextProps) -> Html {
    marked(&props.text, &[(Subject::Peak, "Peak"), (Subject::Step, "Step")], Locale::En)
}

#[test]
fn a_marked_sentence_keeps_its_words() {
    let text =
        format!("from {} to {}, and {}.", mark(1, "2 s"), mark(0, "3 GiB"), mark(7, "unknown"));
    assert_eq!(unmarked(&text), "from 2 s to 3 GiB, and unknown.");
    let props = TextProps { text };
    let html = block_on(
        yew::ServerRenderer::<Marked>::with_props(move || props).hydratable(false).render(),
    );
    let said: String =
        html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
    assert_eq!(said, "from 2 s to 3 GiB, and unknown.");
    assert_eq!(html.matches("<button").count(), 2, "{html}");
    assert!(html.contains("Step: 2 s") && html.contains("Peak: 3 GiB"), "{html}");
}

/// The sentence about a layer is the same with and without its buttons, also where the search decided.
#[test]
fn sentences_without_marks_are_plain() {
    let mut one = evaluated(FITS);
    one.outcome = evaluate::evaluate(&one.scenario.with_policy(search::best(&one.scenario)));
    for i in 0..one.outcome.layers.len() {
        let sentence = why(Locale::En, &one, i);
        assert!(!sentence.contains(|c| ('\u{E000}'..='\u{F8FF}').contains(&c)), "{sentence}");
    }
}
