//! Files from the real world, every kind of them, and every way in which one can be wrong. The fixtures are written by hand, after
//! what PyTorch's profiler and the formats of docs/interface.md say.

use galley::engine::units::{Bytes, Nanos};
use galley::engine::{Outcome, evaluate};
use galley::import::compare::{Alignment, compare};
use galley::import::{
    ImportError, Imported, Kind, MOST_BYTES, MOST_POINTS, Measured, Problem, Tally, import,
    import_text, wire,
};
use galley::request::Request;
use std::io::{self, Read};

const MIB: u64 = 1 << 20;
const SCENARIO: &str = include_str!("fixtures/import/scenario.json");
const CONFIG: &str = include_str!("fixtures/import/config.json");
const WORKLOAD: &str = include_str!("fixtures/import/workload.json");
const PROFILE: &str = include_str!("fixtures/import/profile.json");
const MEMORY: &str = include_str!("fixtures/import/memory.json");
const TRACE: &str = include_str!("fixtures/import/trace.json");

fn read(text: &str) -> Imported {
    import_text(text).unwrap_or_else(|error| panic!("{error:?}"))
}

fn measured(text: &str) -> Measured {
    read(text).measured.expect("a measurement")
}

fn refused(bytes: &[u8]) -> ImportError {
    let error = import(&mut &bytes[..]).expect_err("it is refused");
    assert_eq!(wire::read(&wire::write(&Err(error.clone()))), Some(Err(error.clone())));
    error
}

fn problem(bytes: &[u8]) -> Problem {
    refused(bytes).problem
}

fn opening() -> Request {
    Request::read(Request::opening()).expect("the opening scenario reads").request
}

fn outcome(imported: &Imported) -> Outcome {
    let reading = opening().with_import(imported).expect("it reads");
    evaluate::evaluate(&reading.scenario)
}

#[test]
fn every_kind_is_told_from_the_others_and_reads() {
    for (text, kind) in [
        (SCENARIO, Kind::Scenario),
        (CONFIG, Kind::HuggingFace),
        (WORKLOAD, Kind::Profile),
        (PROFILE, Kind::Profile),
        (MEMORY, Kind::Curve),
        (TRACE, Kind::Curve),
        (r#"{"kind": "lesson", "layers": 3}"#, Kind::Workload),
    ] {
        let imported = read(text);
        assert_eq!(imported.kind, kind);
        opening().with_import(&imported).expect("it reads");
        // What a worker answers with is what it has read.
        assert_eq!(wire::read(&wire::write(&Ok(imported.clone()))), Some(Ok(imported)));
    }
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert_eq!(read(&format!("\u{feff}{SCENARIO}")), read(SCENARIO));
}

#[test]
fn a_profile_brings_its_measurement_and_the_plan_it_was_measured_under() {
    let imported = read(PROFILE);
    let found = imported.measured.clone().expect("a measurement");
    assert_eq!(found.peak, Some(Bytes(640 * MIB)));
    assert_eq!(found.step, Some(Nanos::from_secs(0.125)));
    assert_eq!(found.saved, Some(Bytes(320 * MIB)));
    assert_eq!(found.notes, ["dropout was on"]);
    assert_eq!(found.curve.first(), Some(&(Nanos::ZERO, Bytes(256 * MIB))));
    assert_eq!(found.curve.last(), Some(&(Nanos(125_000_000), Bytes(256 * MIB))));
    let request = opening().with_import(&imported).expect("reads").request;
    assert_eq!(request.get("policy.kind"), Some(&"keep".into()));
    let plain = opening().with_import(&read(WORKLOAD)).expect("reads").request;
    assert_eq!(plain.get("policy.kind"), Some(&"mix".into()), "a bare workload leaves the plan");
}

#[test]
fn a_curve_keeps_the_peak_that_its_maker_saw() {
    let found = measured(MEMORY);
    assert_eq!(found.peak, Some(Bytes(3200)));
    assert_eq!(found.tally, Tally { seen: 900, kept: 4, before: 896, ..Tally::default() });
}

#[test]
fn of_a_trace_the_fullest_device_and_its_last_step_are_read() {
    let found = measured(TRACE);
    assert_eq!(found.device.map(|device| device.kind), Some(1));
    assert_eq!(found.of_step, Some(("ProfilerStep#4".to_owned(), 2)));
    assert_eq!(found.peak, Some(Bytes(1201 * MIB)));
    // The level at which the step begins is the last of the step before.
    assert_eq!(found.curve[0], (Nanos::ZERO, Bytes(500 * MIB)));
    assert_eq!(found.curve[1], (Nanos(1_000_000), Bytes(501 * MIB)));
    assert_eq!(found.curve.len(), 7);
    let Tally { seen, others, kept, elsewhere, unread, thinned, before: _ } = found.tally;
    assert_eq!((seen, others, kept, unread, thinned), (16, 17, 7, 2, 0));
    assert_eq!(elsewhere, 7, "two of the CPU, five of the step before");
    let list =
        serde_json::from_str::<serde_json::Value>(TRACE).expect("JSON")["traceEvents"].to_string();
    assert_eq!(measured(&list), found, "a bare list of events is the older form");
}

#[test]
fn what_frees_more_than_it_took_is_raised_and_said() {
    let event = |ts: u32, total: i32| {
        format!(
            r#"{{"name":"[memory]","ts":{ts},"args":{{"Total Allocated":{total},"Device Type":0}}}}"#
        )
    };
    let found = measured(&format!("[{},{},{}]", event(0, 100), event(1, -400), event(2, 50)));
    assert_eq!((found.raised, found.peak), (Bytes(400), Some(Bytes(500))));
    let bytes: Vec<u64> = found.curve.iter().map(|point| point.1.0).collect();
    assert_eq!(bytes, [500, 0, 450]);
    assert_eq!(measured(TRACE).raised, Bytes::ZERO);
}

/// What tools/profile_model.py wrote of real models: saved bytes come out to the byte, and the largest differences have names.
#[test]
fn the_tools_own_files_read() {
    for text in [
        include_str!("fixtures/profile-gpt2-small.json"),
        include_str!("fixtures/profile-llama-small.json"),
    ] {
        let imported = read(text);
        let found = imported.measured.clone().expect("a measurement");
        let outcome = outcome(&imported);
        assert_eq!(found.saved, Some(outcome.activation_bytes));
        assert_eq!(found.peak, found.curve.iter().map(|point| point.1).max(), "the whole curve");
        assert_eq!(compare(&found, &outcome).differences.len(), 3);
    }
    let found = measured(include_str!("fixtures/memory-gpt2-small.json"));
    assert_eq!(found.peak, found.curve.iter().map(|point| point.1).max(), "thinned, not lowered");
}

#[test]
fn a_profile_without_the_whole_curve_shows_the_one_it_has() {
    let saved = measured(PROFILE.replace("curve_all", "other").as_str());
    assert_eq!(saved.curve.last(), Some(&(Nanos(125_000_000), Bytes(0))));
}

#[test]
fn a_long_curve_is_thinned_and_keeps_every_extreme() {
    let height = |i: u64| {
        if i == 777_777 { 9_999_999 } else { (i * 7919) % 1_000_003 + u64::from(i != 333) }
    };
    let points: Vec<String> = (0..1_000_000).map(|i| format!("[{i}e-6,{}]", height(i))).collect();
    let text = format!(r#"{{"galley": "memory", "v": 1, "curve": [{}]}}"#, points.join(","));
    let found = measured(&text);
    assert!(found.curve.len() <= MOST_POINTS, "{}", found.curve.len());
    assert_eq!(found.tally.seen, 1_000_000);
    assert_eq!(found.tally.kept + found.tally.thinned, 1_000_000);
    assert_eq!(found.peak, Some(Bytes(9_999_999)));
    assert!(found.curve.contains(&(Nanos(777_777_000), Bytes(9_999_999))), "the summit stays");
    assert!(found.curve.is_sorted_by_key(|point| point.0));
    // And so does the highest of each thousandth.
    for part in 0..1000_u64 {
        let of = part * 1000..(part + 1) * 1000;
        let most = of.clone().map(height).max().unwrap_or_default();
        let inside = found.curve.iter().filter(|(at, _)| of.contains(&((at.0 + 500) / 1000)));
        let kept = inside.map(|point| point.1.0).max().unwrap_or_default();
        assert!(kept * 1000 >= most * 999, "{part}: {kept} of {most}");
    }
}

#[test]
fn points_out_of_order_are_put_in_order() {
    let found = measured(r#"{"galley":"memory","v":1,"curve":[[2,20],[1,10],[1,11],[3,0]]}"#);
    let bytes: Vec<u64> = found.curve.iter().map(|point| point.1.0).collect();
    assert_eq!(bytes, [10, 11, 20, 0]);
}

#[test]
fn what_is_no_json_in_utf8_is_called_by_its_name() {
    let utf16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked: Vec<u8> = [0xff, 0xfe].into_iter().chain(utf16.clone()).collect();
    assert_eq!(problem(&utf16), Problem::Utf16);
    assert_eq!(problem(&marked), Problem::Utf16);
    assert_eq!(problem(b""), Problem::Empty);
    assert_eq!(problem(b" \n\t"), Problem::Empty);
    assert_eq!(problem(b"\xef\xbb\xbf"), Problem::Empty);
    assert_eq!(problem(b"\x1f\x8b\x08\0"), Problem::Packed);
    assert_eq!(problem(b"PK\x03\x04\0"), Problem::Packed);
    assert_eq!(problem(b"\x80\x04\x95\0"), Problem::Pickle);
    assert_eq!(problem(b"{\"kind\": \"\xff\xfe\"}"), Problem::NotUtf8);
    assert!(matches!(problem(b"\x00\x01"), Problem::Utf16));
    assert_eq!(problem(b"<html>"), Problem::Syntax);
}

#[test]
fn what_python_writes_and_json_has_not_is_named() {
    for text in ["NaN", "Infinity", "-Infinity", "[1, NaN]"] {
        let text = format!(r#"{{"kind": "lesson", "layer_s": {text}}}"#);
        assert_eq!(problem(text.as_bytes()), Problem::NotANumber, "{text}");
    }
    let text = r#"{"galley":"memory","v":1,"curve":[[0,1],[NaN,2]]}"#;
    assert_eq!(problem(text.as_bytes()), Problem::NotANumber);
}

#[test]
fn a_mistake_is_shown_where_it_is() {
    let error = import_text("{\"kind\": \"lesson\",\n \"layers\": 3,,\n \"act_gb\": 1}")
        .expect_err("a comma");
    let at = error.at.expect("a place");
    assert_eq!((at.line, at.column), (2, 14));
    assert!(at.near.contains("3,,"), "{}", at.near);
    assert_eq!(at.byte, 33);
    assert!(matches!(error.problem, Problem::Syntax));
}

#[test]
fn a_file_that_ends_too_early_is_no_other_mistake() {
    for text in [SCENARIO, CONFIG, WORKLOAD, PROFILE, MEMORY, TRACE] {
        for share in 1..20 {
            let end = text.trim_end().len() * share / 20;
            assert_eq!(problem(&text.as_bytes()[..end]), Problem::Cut, "{}", &text[..end]);
        }
    }
    assert!(matches!(problem(b"{} {}"), Problem::Syntax), "nor is one that goes on");
}

#[test]
fn nesting_is_bounded_where_it_is_held_and_passed_over_where_it_is_not() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let held = format!(r#"{{"kind": {}}}"#, deep(100_000));
    assert_eq!(problem(held.as_bytes()), Problem::TooDeep);
    let passed = TRACE.replacen("\"Addr\": 140", &format!("\"Addr\": {}", deep(1_000_000)), 1);
    assert_eq!(measured(&passed), measured(TRACE));
    assert!(matches!(problem("[".repeat(1_000_000).as_bytes()), Problem::TooDeep | Problem::Cut));
    assert!(matches!(problem(r#"{"a":"#.repeat(1_000_000).as_bytes()), Problem::TooDeep));
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    for text in [
        r#"{"kind": "lesson", "kind": "profile"}"#,
        r#"{"v": 1, "workload": {"batch": 1, "batch": 2}}"#,
        r#"{"galley": "memory", "curve": [], "v": 1, "curve": [[0, 1]]}"#,
        r#"{"traceEvents": [], "traceEvents": []}"#,
    ] {
        assert!(matches!(problem(text.as_bytes()), Problem::Repeated), "{text}");
    }
}

#[test]
fn sizes_and_times_are_numbers_and_not_negative() {
    let with = |from: &str, to: &str| {
        assert!(PROFILE.contains(from), "{from}");
        PROFILE.replacen(from, to, 1)
    };
    let unfit = |text: &str, key: &str| {
        let error = refused(text.as_bytes());
        assert_eq!((error.problem, &*error.text), (Problem::Unfit, key), "{error:?}");
    };
    unfit(&with("\"step_s\": 0.125", "\"step_s\": -1"), "measured.step_s");
    unfit(&with("\"step_s\": 0.125", "\"step_s\": \"1 s\""), "measured.step_s");
    unfit(&with("\"peak_bytes\": 671088640", "\"peak_bytes\": 1e300"), "measured.peak_bytes");
    unfit(&MEMORY.replacen("\"bytes\"", "\"GB\"", 1), "unit");
    unfit(r#"{"galley": "profile", "v": 1, "workload": []}"#, "workload");
    let text = with("\"step_s\": 0.125", "\"step_s\": 1e400");
    assert!(refused(text.as_bytes()).text.contains("out of range"));
    for (point, index) in [("[1, -5]", 1), ("[1]", 1), ("[1, 2, 3]", 1), ("[1e300, 0]", 1)] {
        let text = format!(r#"{{"galley":"memory","v":1,"curve":[[0,1],{point}]}}"#);
        let error = refused(text.as_bytes());
        match error.problem {
            Problem::Point => assert_eq!(error.number, index, "{point}"),
            // A third number is where the parser expected the end.
            Problem::Syntax => assert_eq!(point, "[1, 2, 3]"),
            other => panic!("{point}: {other:?}"),
        }
    }
    // Inside the profile's layers the engine's reader says it, by path.
    let imported = read(&with("\"bytes\": 8388608", "\"bytes\": -8"));
    let error = opening().with_import(&imported).expect_err("negative");
    assert_eq!(error.path(), "workload.layers[0].saved[0].bytes");
}

#[test]
fn too_much_is_said_to_be_too_much() {
    let layers = vec![r#"{"saved": [{"name": "a", "bytes": 1}]}"#; 200_000].join(",");
    let text = format!(r#"{{"kind": "profile", "layers": [{layers}]}}"#);
    assert!(matches!(problem(text.as_bytes()), Problem::TooMuch));
    let layers = vec!["{}"; 20_000].join(",");
    let imported = read(&format!(r#"{{"kind": "profile", "layers": [{layers}]}}"#));
    let error = opening().with_import(&imported).expect_err("too many layers").to_string();
    assert!(error.contains("10000"), "{error}");
    let long = io::repeat(b' ').take(MOST_BYTES + 1).chain(&b"{}"[..]);
    let error = import(&mut { long }).expect_err("too long");
    assert!(error.problem == Problem::TooLong && error.number > MOST_BYTES, "{error:?}");
    let just = (&b"{\"kind\": \"lesson\"}"[..]).chain(io::repeat(b' ').take(MOST_BYTES - 18));
    assert!(import(&mut { just }).is_ok(), "the limit itself is read");
}

#[test]
fn what_says_nothing_of_itself_is_unknown() {
    for text in [
        "{}",
        "3",
        "null",
        "\"text\"",
        r#"{"galley": "picture", "v": 1}"#,
        r#"{"galley": 3, "v": 1}"#,
    ] {
        let problem = problem(text.as_bytes());
        assert!(matches!(problem, Problem::Unknown | Problem::Syntax), "{text}: {problem:?}");
    }
    let later = MEMORY.replacen("\"v\": 1", "\"v\": 2", 1);
    assert_eq!(refused(later.as_bytes()).text, "2");
    assert!(matches!(problem(b"{\"galley\": \"memory\"}"), Problem::Version));
    assert_eq!(problem(b"[]"), Problem::NoMemory);
    assert_eq!(refused(b"{\"traceEvents\": [{}, 3, null]}").number, 3);
    assert_eq!(problem(b"{\"galley\": \"memory\", \"v\": 1}"), Problem::NoMemory);
}

#[test]
fn a_file_that_cannot_be_read_is_not_a_file_that_is_wrong() {
    struct Broken(u8);
    impl Read for Broken {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            out[0] = b'[';
            if self.0 > 3 { Err(io::Error::other("gone")) } else { Ok(1) }
        }
    }
    assert_eq!(import(&mut Broken(0)).expect_err("gone").problem, Problem::Unreadable);
}

/// A prediction held against itself: placed second for second, and nowhere different.
#[test]
fn a_prediction_agrees_with_itself() {
    let outcome = outcome(&read(PROFILE));
    let curve = outcome.ledger.iter().map(|step| (step.at, step.row.total())).collect();
    let same = compare(&Measured { curve, ..Measured::default() }, &outcome);
    assert_eq!(same.alignment, Alignment::Same);
    assert!(same.differences.is_empty(), "{:?}", same.differences);
    assert_eq!(same.at(outcome.peak.at), Some(outcome.peak.row.total()));
}

/// One operation of the prediction raised by a gibibyte is the difference that is named, also when time runs otherwise.
#[test]
fn the_largest_difference_is_named_by_what_runs() {
    let outcome = outcome(&read(PROFILE));
    let raised = outcome.spans[2];
    for slower in [1, 7] {
        let mut curve: Vec<(Nanos, Bytes)> = Vec::new();
        for step in &outcome.ledger {
            let more = if step.at >= raised.start && step.at < raised.end { 1 << 30 } else { 0 };
            curve.push((Nanos(step.at.0 * slower), Bytes(step.row.total().0 + more)));
        }
        let found = compare(&Measured { curve, ..Measured::default() }, &outcome);
        let expected = if slower == 1 { Alignment::Same } else { Alignment::Stretched };
        assert_eq!(found.alignment, expected);
        assert_eq!(found.measured.0, found.predicted.0 * slower);
        let first = found.differences[0];
        assert_eq!(
            (first.kind, first.layer, first.start),
            (raised.kind, raised.layer, raised.start)
        );
        let difference = first.measured.0 - first.predicted.0;
        assert!(difference.abs_diff(1 << 30) < MIB, "{difference}");
        assert!(found.differences.len() <= 3);
    }
}

#[test]
fn nothing_is_placed_where_no_time_passes() {
    let text = PROFILE.replace("\"forward_s\": 0.01,", "").replace("\"backward_s\": 0.02,", "");
    let timeless = outcome(&read(&text));
    let found = compare(&measured(PROFILE), &timeless);
    assert_eq!((found.alignment, found.differences.len()), (Alignment::Timeless, 0));
    let point = Measured { curve: vec![(Nanos::ZERO, Bytes(5))], ..Measured::default() };
    assert_eq!(compare(&point, &outcome(&read(PROFILE))).alignment, Alignment::Timeless);
    assert_eq!(compare(&Measured::default(), &timeless).at(Nanos::ZERO), None);
}
