//! Every reader of foreign bytes, under fire: no panic, no hang, bounded memory, whatever comes in.
//!
//! A normal run tries some thousand inputs and files of 2 MB. The whole of it, a million inputs and files of 50 MB:
//!
//! ```text
//! CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true CARGO_PROFILE_RELEASE_LTO=off COUNT=1000000 \
//!     cargo test --release --no-default-features --test fuzz -- --ignored --nocapture
//! ```
//!
//! Inputs are raw bytes, heaps of JSON's own tokens, and valid files of every kind that were cut, spliced, repeated, nested,
//! or given numbers and keys that nobody expects. Each goes through the scenario's door and through the importer (which tells
//! configs, profiles, curves and traces by what is in them), then through everything that the page does with the result.
//! What was measured stands in docs/performance.md.

use galley::engine::{Outcome, Scenario, evaluate};
use galley::import::compare::compare;
use galley::import::{Imported, import, wire};
use galley::request::Request;
use peak_alloc::PeakAlloc;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The counter counts the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

const MOST_MEMORY: usize = 200_000_000;

const FILES: [&str; 7] = [
    r#"{"kind": "transformer", "preset": "gpt2", "batch": 2, "seq": 512}"#,
    include_str!("fixtures/import/scenario.json"),
    include_str!("fixtures/import/config.json"),
    include_str!("fixtures/import/workload.json"),
    include_str!("fixtures/import/profile.json"),
    include_str!("fixtures/import/memory.json"),
    include_str!("fixtures/import/trace.json"),
];

const TOKENS: [&str; 44] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "true",
    "0",
    "-1",
    "1e400",
    "-0.0",
    "1e-400",
    "NaN",
    "-Infinity",
    "18446744073709551616",
    "9007199254740993",
    "123456789012345678901234567890",
    "\"\\ud800\"",
    "\"",
    "\\",
    "\u{feff}",
    "\"v\":1",
    "\"kind\":\"profile\"",
    "\"kind\":\"lesson\"",
    "\"kind\":\"transformer\"",
    "\"galley\":\"memory\"",
    "\"galley\":\"profile\"",
    "\"workload\":",
    "\"layers\":",
    "\"saved\":",
    "\"bytes\":",
    "\"curve\":[[0,1],[1,2]]",
    "\"traceEvents\":",
    "\"name\":\"[memory]\"",
    "\"ts\":1",
    "\"args\":{\"Total Allocated\":5}",
    "\"model_type\":\"llama\"",
    "\"hidden_size\":",
    "\"batch\":",
    "\"policy\":",
    "\"static_bytes\":",
    "\"measured\":",
    "\"ProfilerStep#1\"",
];

/// One way to spoil a file.
#[derive(Clone, Debug)]
enum Harm {
    Cut(Index),
    Drop(Index, Index),
    Byte(Index, u8),
    Token(Index, &'static str),
    Again(Index, Index),
    /// The number at or after a place becomes another.
    Number(Index, &'static str),
    Nest(Index, usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    let numbers = vec![
        "-1",
        "0",
        "1e18",
        "1e19",
        "1e300",
        "1e400",
        "-1e400",
        "18446744073709551615",
        "1e-300",
        "null",
        "\"1\"",
        "[]",
        "NaN",
        "4294967296",
        "0.5",
        "99999999999999999999999999999999999999999",
    ];
    prop_oneof![
        1 => any::<Index>().prop_map(Harm::Cut),
        1 => any::<(Index, Index)>().prop_map(|(a, b)| Harm::Drop(a, b)),
        1 => any::<(Index, u8)>().prop_map(|(at, byte)| Harm::Byte(at, byte)),
        1 => (any::<Index>(), select(&TOKENS[..])).prop_map(|(at, token)| Harm::Token(at, token)),
        1 => any::<(Index, Index)>().prop_map(|(a, b)| Harm::Again(a, b)),
        8 => (any::<Index>(), select(numbers)).prop_map(|(at, number)| Harm::Number(at, number)),
        1 => (any::<Index>(), 1..2000_usize).prop_map(|(at, levels)| Harm::Nest(at, levels)),
    ]
}

fn spoil(text: &mut Vec<u8>, harm: &Harm) {
    let place = |at: &Index| at.index(text.len() + 1);
    let range = |a: &Index, b: &Index| place(a).min(place(b))..place(a).max(place(b));
    match harm {
        Harm::Cut(at) => text.truncate(place(at)),
        Harm::Drop(a, b) => drop(text.drain(range(a, b))),
        Harm::Byte(at, byte) => {
            let at = place(at);
            text.splice(at..(at + 1).min(text.len()), [*byte]);
        }
        Harm::Token(at, token) => {
            let at = place(at);
            text.splice(at..at, token.bytes());
        }
        Harm::Again(a, b) => {
            let part = text[range(a, b)].to_vec();
            let at = place(b);
            text.splice(at..at, part);
        }
        Harm::Number(at, number) => {
            let digit = |byte: &u8| byte.is_ascii_digit();
            if let Some(start) = text.iter().skip(place(at)).position(digit).map(|i| i + place(at))
            {
                let length = text[start..].iter().take_while(|byte| digit(byte)).count();
                text.splice(start..start + length, number.bytes());
            }
        }
        Harm::Nest(at, levels) => {
            let (at, open) = (place(at), b"[{\"a\":".repeat(*levels));
            text.splice(at..at, open);
        }
    }
}

fn input() -> impl Strategy<Value = Vec<u8>> {
    let spoilt = (select(&FILES[..]), vec(harm(), 1..4)).prop_map(|(file, harms)| {
        let mut text = file.as_bytes().to_vec();
        for harm in &harms {
            spoil(&mut text, harm);
        }
        text
    });
    prop_oneof![
        1 => vec(any::<u8>(), 0..200),
        2 => vec(select(&TOKENS[..]), 0..40).prop_map(|tokens| tokens.concat().into_bytes()),
        5 => spoilt,
    ]
}

/// What a reader works on meanwhile.
struct Page {
    request: Request,
    outcome: Outcome,
}

fn page() -> Page {
    let reading = Request::read(Request::opening()).expect("the opening scenario reads");
    Page { outcome: evaluate::evaluate(&reading.scenario), request: reading.request }
}

/// Everything that happens to foreign bytes; how the importer answered.
fn swallow(page: &Page, bytes: &[u8]) -> Option<Imported> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _either = Scenario::parse(text);
    }
    let imported = import(&mut &bytes[..]).ok()?;
    let carried = wire::write(&Ok(imported.clone()));
    assert!(wire::read(&carried) == Some(Ok(imported.clone())), "{carried}");
    let _either = page.request.with_import(&imported);
    if let Some(measured) = &imported.measured {
        assert!(measured.curve.len() <= galley::import::MOST_POINTS);
        let tally = measured.tally;
        assert_eq!(
            tally.seen,
            tally.kept + tally.before + tally.elsewhere + tally.thinned + tally.unread
        );
        let _drawn = compare(measured, &page.outcome);
    }
    Some(imported)
}

/// The most memory that `work` takes beyond what there was, and how long it takes.
fn cost<T>(work: impl FnOnce() -> T) -> (T, usize, Duration) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let start = Instant::now();
    let answer = work();
    (answer, MEMORY.peak_usage().saturating_sub(before), start.elapsed())
}

fn fire(count: u32) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let page = page();
    let config = Config { cases: count, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let read = std::cell::Cell::new([0_u32; 6]);
    let worst = std::cell::Cell::new((0_usize, Duration::ZERO));
    let begun = Instant::now();
    let run = runner.run(&input(), |bytes| {
        let (answer, memory, time) = cost(|| swallow(&page, &bytes));
        let mut counts = read.get();
        counts[answer.map_or(5, |imported| imported.kind as usize)] += 1;
        read.set(counts);
        worst.set((worst.get().0.max(memory), worst.get().1.max(time)));
        prop_assert!(memory < MOST_MEMORY, "{memory} bytes");
        prop_assert!(time < Duration::from_secs(5), "{time:?}");
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    let (memory, time) = worst.get();
    let [scenarios, workloads, configs, profiles, curves, refused] = read.get();
    println!(
        "{count} inputs in {:.0?}: {scenarios} scenarios, {workloads} workloads, {configs} configs, {profiles} profiles, \
         {curves} curves, {refused} refused; at most {memory} bytes and {time:.1?} for one",
        begun.elapsed()
    );
    // A generator that never gets past the parser would try nothing.
    assert!(read.get().iter().all(|&kind| kind > 0), "{:?}", read.get());
}

/// Files that are made to take memory or time, filled up to `size`.
fn hostile(size: usize) -> Vec<(&'static str, Vec<u8>)> {
    let fill = |head: &str, part: &str, tail: &str| {
        let count = size.saturating_sub(head.len() + tail.len()) / part.len();
        [head, &part.repeat(count), tail].concat().into_bytes()
    };
    let device = |id: u32| {
        format!(
            r#"{{"name":"[memory]","ts":1,"args":{{"Total Allocated":{id},"Device Id":{id}}}}},"#
        )
    };
    let devices: String = (0..40).map(device).collect();
    let keys: String = {
        let mut keys = String::from(r#"{"kind":"lesson""#);
        for i in 0.. {
            if keys.len() + 20 > size {
                break;
            }
            keys.extend([",\"", &i.to_string(), "\":0"]);
        }
        keys + "}"
    };
    vec![
        ("lists without end", fill("", "[", "")),
        ("objects without end", fill("", r#"{"a":"#, "")),
        ("lists without end, passed over", fill(r#"[{"x":"#, "[", "")),
        ("one long text", fill(r#"{"model_type":""#, "a", "\"}")),
        ("one long text, passed over", fill(r#"[{"x":""#, "a", "\"}]")),
        ("one long key", fill(r#"{""#, "a", "\":0}")),
        ("one long name of an event", fill(r#"[{"name":""#, "a", "\"}]")),
        ("one long number", fill(r#"{"v":"#, "9", "}")),
        ("one long fraction", fill(r#"{"galley":"memory","v":1,"curve":[[0.1"#, "1", ",3]]}")),
        ("one long exponent", fill(r#"{"v":1e"#, "9", "}")),
        ("many keys", keys.into_bytes()),
        ("many settings", fill(r#"{"v":1,"workload":["#, "0,", "0]}")),
        ("many empty objects", fill(r#"{"v":1,"workload":["#, "{},", "0]}")),
        ("many small objects", fill(r#"{"v":1,"workload":["#, r#"{"a":0},"#, "0]}")),
        ("many lists", fill(r#"{"v":1,"workload":["#, "[[]],", "0]}")),
        ("many layers", fill(r#"{"kind":"profile","layers":["#, "{},", "{}]}")),
        (
            "many tensors",
            fill(
                r#"{"kind":"profile","layers":[{"saved":["#,
                r#"{"bytes":1},"#,
                r#"{"bytes":1}]}]}"#,
            ),
        ),
        ("as many tensors as are held", {
            let tensors = vec![r#"{"name":"a","bytes":1}"#; 40_000].join(",");
            format!(r#"{{"kind":"profile","layers":[{{"saved":[{tensors}]}}]}}"#).into_bytes()
        }),
        ("many points", fill(r#"{"galley":"memory","v":1,"curve":["#, "[1,1],[0,2],", "[2,3]]}")),
        ("many events", fill("[", "0,", "0]")),
        ("many events about memory", fill("[", &devices, "0]")),
        ("blanks", fill("{", " ", "}")),
        ("bytes that are no text", vec![0xff; size]),
    ]
}

fn siege(size: usize) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let page = page();
    for (name, bytes) in hostile(size) {
        let (answer, memory, time) = cost(|| {
            let imported = import(&mut &bytes[..]);
            if let Ok(imported) = &imported {
                let _either = page.request.with_import(imported);
            }
            imported.map(|imported| imported.kind).map_err(|error| format!("{:?}", error.problem))
        });
        println!("{name}: {} kB, {time:.1?}, {answer:?}", memory / 1000);
        assert!(memory < MOST_MEMORY, "{name}: {memory} bytes");
        assert!(time < Duration::from_secs(30), "{name}: {time:?}");
    }
}

#[test]
fn nothing_breaks_a_reader() {
    fire(4_000);
}

#[test]
fn no_file_takes_more_than_its_share() {
    siege(2_000_000);
}

#[test]
#[ignore = "minutes: see the head of this file"]
fn a_million_inputs_break_nothing() {
    let count = std::env::var("COUNT").ok().and_then(|count| count.parse().ok());
    fire(count.unwrap_or(1_000_000));
}

#[test]
#[ignore = "minutes: see the head of this file"]
fn no_file_of_50_mb_takes_more_than_its_share() {
    siege(50_000_000);
}
