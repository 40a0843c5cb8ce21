//! Pictures of small steps. A line of text is a scenario, the picture is what the engine makes of it, a column a second:
//!
//! - `3 layers 1s 4G`: uniform layers of the textbook, each 1 s forward, 2 s backward, with 4 GB that it keeps (its output);
//! - `| mem 12`: the budget in GB; `| link 2`: GB/s each way; `| one way`: one copy stream for both directions;
//! - `| host 8`, `| ssd 1`: host memory in GB, the drive's GB/s (none without it);
//! - last, the policy and its keys: `offload prefetch_layers=0`.
//!
//! `f1 b1 r1` are layer 1's forward, backward and forward again; `~c ~m` compute waiting for a copy, for memory; `>1 <1` layer
//! 1's copy out and back; `w1 q1` its write to the drive and read from it. `memory` is the ledger's total in GB from
//! that second on.

use galley::engine::ledger::Step;
use galley::engine::trace::{Span, SpanKind, Track};
use galley::engine::units::{GIB, Nanos};
use galley::engine::{Outcome, Scenario, evaluate};
use insta::assert_snapshot;
use serde_json::{Map, Value, json};

/// The scenario that a line describes.
fn scenario(line: &str) -> Scenario {
    let mut parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let policy = parts.pop().expect("a policy");
    let mut workload = json!({"kind": "lesson", "base_gb": 0});
    let mut hardware = json!({"memory_gib": 1000, "copy_overhead_us": 0, "ssd_gib": 0});
    let mut limits = json!({});
    for part in parts {
        match *part.split_whitespace().collect::<Vec<_>>() {
            [layers, "layers", time, size] => {
                workload["layers"] = json!(layers.parse::<u64>().expect("a count"));
                workload["layer_s"] = json!(number(time.trim_end_matches('s')));
                workload["act_gb"] = json!(number(size.trim_end_matches('G')));
            }
            ["base", size] => workload["base_gb"] = json!(number(size)),
            ["mem", size] => limits["memory_gib"] = json!(number(size) * 1e9 / GIB),
            ["link", rate] => {
                hardware["d2h_gbps"] = json!(number(rate));
                hardware["h2d_gbps"] = json!(number(rate));
            }
            ["one", "way"] => hardware["duplex"] = json!(false),
            ["host", size] => hardware["host_gib"] = json!(number(size) * 1e9 / GIB),
            ["ssd", rate] => {
                hardware["ssd_gib"] = json!(1000);
                hardware["ssd_read_gbps"] = json!(number(rate));
                hardware["ssd_write_gbps"] = json!(number(rate));
            }
            _ => panic!("{part:?} is not understood"),
        }
    }
    let request = json!({
        "workload": workload, "hardware": hardware, "limits": limits, "policy": keys(policy),
    });
    let (scenario, notes) =
        Scenario::read(&request).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert!(notes.ignored.is_empty(), "{:?}", notes.ignored);
    scenario
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// `kind key=value key=value`.
fn keys(policy: &str) -> Value {
    let mut words = policy.split_whitespace();
    let mut group = Map::new();
    group.insert("kind".into(), words.next().into());
    for word in words {
        let (key, value) = word.split_once('=').expect("key=value");
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        group.insert(key.into(), value);
    }
    group.into()
}

/// The picture of a line.
fn picture(line: &str) -> String {
    let scenario = scenario(line);
    let outcome = evaluate::evaluate(&scenario);
    let end = outcome.spans.iter().map(|span| span.end).max().unwrap_or_default();
    let columns: Vec<Nanos> =
        (0..end.0.div_ceil(SECOND)).map(|second| Nanos(second * SECOND)).collect();
    let row = |name: &str, cell: &dyn Fn(Nanos) -> String| {
        let cells: Vec<String> = columns.iter().map(|&at| format!("{:>2}", cell(at))).collect();
        format!("{name:<8}{}\n", cells.join(" "))
    };
    let mut text = row("second", &|at| (at.0 / SECOND % 100).to_string());
    for (name, track) in TRACKS {
        let spans: Vec<&Span> = outcome.spans.iter().filter(|span| span.track == track).collect();
        if !spans.is_empty() {
            text += &row(name, &|at| cell(&spans, at));
        }
    }
    text += &row("memory", &|at| gigabytes(&outcome.ledger, at));
    text + &verdict(&outcome)
}

const SECOND: u64 = 1_000_000_000;

const TRACKS: [(&str, Track); 4] =
    [("compute", Track::Compute), ("d2h", Track::D2h), ("h2d", Track::H2d), ("ssd", Track::Ssd)];

/// What runs in the second from `at` on; spans begin and end at whole seconds.
fn cell(spans: &[&Span], at: Nanos) -> String {
    for span in spans {
        assert!(span.start.0 % SECOND == 0 && span.end.0 % SECOND == 0, "{span:?}");
    }
    let Some(span) = spans.iter().find(|span| span.start <= at && at < span.end) else {
        return "·".to_owned();
    };
    let sign = match span.kind {
        SpanKind::StallRoom => return "~m".to_owned(),
        SpanKind::StallCopy => return "~c".to_owned(),
        SpanKind::Forward => 'f',
        SpanKind::Recompute => 'r',
        SpanKind::Backward => 'b',
        SpanKind::Optimizer => 'o',
        SpanKind::Offload => '>',
        SpanKind::Prefetch => '<',
        SpanKind::SsdWrite => 'w',
        SpanKind::SsdRead => 'q',
    };
    format!("{sign}{}", span.layer + 1)
}

fn gigabytes(ledger: &[Step], at: Nanos) -> String {
    let step = ledger.iter().take_while(|step| step.at <= at).last().expect("a ledger starts at 0");
    (step.row.total().0 / SECOND).to_string()
}

fn verdict(outcome: &Outcome) -> String {
    let gb = |bytes: galley::engine::Bytes| bytes.0 / SECOND;
    let stop = outcome.out_of_memory.as_ref().map(|stop| {
        format!(
            "{:?} lacks {} GB at {} s; with room for everything: ",
            stop.operation,
            gb(stop.missing),
            stop.at.0 / SECOND
        )
    });
    format!(
        "{}peak {} GB, {} GB after forward, step {} s, stalled {} s, hidden {} s, exposed {} s",
        stop.unwrap_or_default(),
        gb(outcome.peak.row.total()),
        gb(outcome.resident_after_forward),
        outcome.step.0 / SECOND,
        outcome.times.stall.0 / SECOND,
        outcome.times.hidden.0 / SECOND,
        outcome.times.exposed.0 / SECOND,
    )
}

/// By hand: each forward adds 4 GB, each backward of 2 s ends with 4 GB less: 4, 8, 12 during forward, 12 for all of layer 3's
/// backward, 8 for layer 2's, 4 for layer 1's. 3·1 + 3·2 = 9 s. 12 GB are just enough.
#[test]
fn keep_everything() {
    assert_snapshot!(picture("3 layers 1s 4G | mem 12 | keep"), @r"
        second   0  1  2  3  4  5  6  7  8
        compute f1 f2 f3 b3 b3 b2 b2 b1 b1
        memory   4  8 12 12 12  8  8  4  4
        peak 12 GB, 12 GB after forward, step 9 s, stalled 0 s, hidden 0 s, exposed 0 s
    ");
}

/// By hand: with 11 GB the third forward lacks 12 − 11 = 1 GB, at 2 s. The picture is that of a card that is large enough.
#[test]
fn out_of_memory() {
    assert_snapshot!(picture("3 layers 1s 4G | mem 11 | keep"), @r"
        second   0  1  2  3  4  5  6  7  8
        compute f1 f2 f3 b3 b3 b2 b2 b1 b1
        memory   4  8 12 12 12  8  8  4  4
        Op(Forward, 2) lacks 1 GB at 2 s; with room for everything: peak 12 GB, 12 GB after forward, step 9 s, stalled 0 s, hidden 0 s, exposed 0 s
    ");
}

/// By hand: forward keeps the boundary between the segments alone (layer 2's output, 2 GB) beside the base of 1 GB; a layer's output
/// lives until its reader has run. Then segment 3–4 runs again with both its outputs: 1 + 2 + 2 + 2 = 7 GB, then segment 1–2, whose
/// boundary is the caller's: 1 + 2 + 2 = 5 GB. The formula base + A/K says 1 + 8/2 = 5 GB: it forgets the boundary.
/// Four forwards again: 12 + 4 = 16 s.
#[test]
fn two_segments() {
    assert_snapshot!(picture("4 layers 1s 2G | base 1 | checkpoint k=2"), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15
        compute f1 f2 f3 f4 r3 r4 b4 b4 b3 b3 r1 r2 b2 b2 b1 b1
        memory   3  5  5  7  5  7  7  7  5  5  3  5  5  5  3  3
        peak 7 GB, 2 GB after forward, step 16 s, stalled 0 s, hidden 0 s, exposed 0 s
    ");
}

/// The last segment's outputs stay from its first forward on, which saves running it again: 2 s less, and here 2 GB less
/// too, for its boundary is not kept beside them (a layer keeps its output, not its input).
#[test]
fn two_segments_the_last_one_plain() {
    assert_snapshot!(picture("4 layers 1s 2G | base 1 | checkpoint k=2 last_segment_plain=true"), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11 12 13
        compute f1 f2 f3 f4 b4 b4 b3 b3 r1 r2 b2 b2 b1 b1
        memory   3  5  5  5  5  5  3  3  3  5  5  5  3  3
        peak 5 GB, 4 GB after forward, step 14 s, stalled 0 s, hidden 0 s, exposed 0 s
    ");
}

/// The textbook's layer keeps its output and nothing else: recomputing each from its boundary frees nothing, and takes a
/// forward more.
#[test]
fn every_layer_again() {
    assert_snapshot!(picture("3 layers 1s 4G | recompute"), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11
        compute f1 f2 f3 r3 b3 b3 r2 b2 b2 r1 b1 b1
        memory   4  8 12 12 12 12  8  8  8  4  4  4
        peak 12 GB, 8 GB after forward, step 12 s, stalled 0 s, hidden 0 s, exposed 0 s
    ");
}

/// By hand: layer 1's output is read by forward 2 until 2 s, then leaves in 1 s; layer 2's from 3 s to 4 s. At 3 s, when forward 4
/// starts, 2 GB are in flight and 4 GB resident, with its own 2 GB that makes 8 − 2 = 6 GB, for copy 1 has just ended. In backward each
/// comes back beside the backward before its own. Nothing waits: 12 s, with 6 GB in place of 8.
#[test]
fn hidden_offload() {
    assert_snapshot!(picture(r#"4 layers 1s 2G | mem 6 | link 2 | plan plan=["host","host","keep","keep"]"#), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11
        compute f1 f2 f3 f4 b4 b4 b3 b3 b2 b2 b1 b1
        d2h      ·  · >1 >2  ·  ·  ·  ·  ·  ·  ·  ·
        h2d      ·  ·  ·  ·  ·  · <2  · <1  ·  ·  ·
        memory   2  4  6  6  4  4  4  4  4  4  2  2
        peak 6 GB, 4 GB after forward, step 12 s, stalled 0 s, hidden 4 s, exposed 0 s
    ");
}

/// By hand: the same, but a copy back is issued only when its layer's backward is next: two stalls of 2 GB / 2 GB/s = 1 s.
#[test]
fn late_prefetch() {
    assert_snapshot!(picture(r#"4 layers 1s 2G | mem 6 | link 2 | plan prefetch_layers=0 plan=["host","host","keep","keep"]"#), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11 12 13
        compute f1 f2 f3 f4 b4 b4 b3 b3 ~c b2 b2 ~c b1 b1
        d2h      ·  · >1 >2  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·
        h2d      ·  ·  ·  ·  ·  ·  ·  · <2  ·  · <1  ·  ·
        memory   2  4  6  6  4  4  2  2  2  2  2  2  2  2
        peak 6 GB, 4 GB after forward, step 14 s, stalled 2 s, hidden 2 s, exposed 2 s
    ");
}

/// The last layers have no window: what leaves last is needed first, so the turn waits for the whole queue.
#[test]
fn everything_offloaded() {
    assert_snapshot!(picture("4 layers 1s 2G | link 2 | offload"), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14
        compute f1 f2 f3 f4 ~c ~c ~c b4 b4 b3 b3 b2 b2 b1 b1
        d2h      ·  · >1 >2 >3 >4  ·  ·  ·  ·  ·  ·  ·  ·  ·
        h2d      ·  ·  ·  ·  ·  · <4 <3  · <2  · <1  ·  ·  ·
        memory   2  4  6  6  4  2  2  4  4  4  4  4  4  2  2
        peak 6 GB, 4 GB after forward, step 15 s, stalled 3 s, hidden 5 s, exposed 3 s
    ");
}

/// By hand: three outputs fill 6 GB at 2 s. Copy 1 (2 s on this link) has left at 4 s, so forward 4 starts 1 s late; the last
/// copy out ends at 10 s, copy 4 is back at 12 s, and from there a copy back of 2 s just fits beside each backward of
/// 2 s. 12 + 8 × 1 = 20 s, no more than with ample memory: the link binds, not the room.
#[test]
fn waiting_for_room() {
    assert_snapshot!(picture("4 layers 1s 2G | mem 6 | link 1 | offload"), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19
        compute f1 f2 f3 ~m f4 ~m ~c ~c ~c ~c ~c ~c b4 b4 b3 b3 b2 b2 b1 b1
        d2h      ·  · >1 >1 >2 >2 >3 >3 >4 >4  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·
        h2d      ·  ·  ·  ·  ·  ·  ·  ·  ·  · <4 <4 <3 <3 <2 <2 <1 <1  ·  ·
        memory   2  4  6  6  6  6  4  4  2  2  2  2  4  4  4  4  4  4  2  2
        peak 6 GB, 6 GB after forward, step 20 s, stalled 8 s, hidden 8 s, exposed 8 s
    ");
}

/// The same step on one copy stream for both directions: what leaves last comes back first, so nothing comes back while
/// anything is leaving, and the second stream is not missed.
#[test]
fn one_copy_stream() {
    assert_snapshot!(picture("4 layers 1s 2G | mem 6 | link 1 | one way | offload"), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19
        compute f1 f2 f3 ~m f4 ~m ~c ~c ~c ~c ~c ~c b4 b4 b3 b3 b2 b2 b1 b1
        d2h      ·  · >1 >1 >2 >2 >3 >3 >4 >4  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·
        h2d      ·  ·  ·  ·  ·  ·  ·  ·  ·  · <4 <4 <3 <3 <2 <2 <1 <1  ·  ·
        memory   2  4  6  6  6  6  4  4  2  2  2  2  4  4  4  4  4  4  2  2
        peak 6 GB, 6 GB after forward, step 20 s, stalled 8 s, hidden 8 s, exposed 8 s
    ");
}

/// Of 8 GB the host holds 4, 2 of them the buffer in front of the drive: the three that left first go there, one
/// after another through the buffer (2 s each), and the second and third wait for it.
#[test]
fn host_memory_overflows_to_the_drive() {
    assert_snapshot!(picture("4 layers 1s 2G | link 2 | host 4 | ssd 1 | offload"), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21
        compute f1 f2 f3 f4 ~c ~c ~c ~c ~c ~c ~c b4 b4 ~c b3 b3 ~c b2 b2 ~c b1 b1
        d2h      ·  · >1  ·  · >2  ·  · >3 >4  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·
        h2d      ·  ·  ·  ·  ·  ·  ·  ·  ·  · <4  ·  · <3  ·  · <2  ·  · <1  ·  ·
        ssd      ·  ·  · w1 w1  · w2 w2  · w3 w3 q3 q3  · q2 q2  · q1 q1  ·  ·  ·
        memory   2  4  6  6  6  6  4  4  4  2  2  2  2  2  2  2  2  2  2  2  2  2
        peak 6 GB, 6 GB after forward, step 22 s, stalled 10 s, hidden 1 s, exposed 7 s
    ");
}

/// By hand: without a drive 12 GB do not fit into 8: 4 are missing.
#[test]
fn host_memory_is_full() {
    assert_snapshot!(picture("3 layers 1s 4G | link 4 | host 8 | offload"), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11
        compute f1 f2 f3 ~c ~c ~c b3 b3 b2 b2 b1 b1
        d2h      ·  · >1 >2 >3  ·  ·  ·  ·  ·  ·  ·
        h2d      ·  ·  ·  ·  · <3 <2  · <1  ·  ·  ·
        memory   4  8 12  8  4  4  8  8  8  8  4  4
        Host lacks 4 GB at 3 s; with room for everything: peak 12 GB, 8 GB after forward, step 12 s, stalled 3 s, hidden 3 s, exposed 3 s
    ");
}

/// The first half is offloaded, the second is one segment; layer 2's output is its boundary and stays.
#[test]
fn a_mix() {
    assert_snapshot!(picture("4 layers 1s 2G | link 2 | mix beta=0.5 k=1"), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11 12 13
        compute f1 f2 f3 f4 r3 r4 b4 b4 b3 b3 b2 b2 b1 b1
        d2h      ·  · >1  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·
        h2d      ·  ·  ·  ·  ·  ·  ·  ·  ·  · <1  ·  ·  ·
        memory   2  4  6  6  4  6  6  6  4  4  4  4  2  2
        peak 6 GB, 2 GB after forward, step 14 s, stalled 0 s, hidden 2 s, exposed 0 s
    ");
}

/// Every layer runs again from a boundary that was away. Here a boundary is all that a layer keeps.
#[test]
fn boundaries_offloaded() {
    assert_snapshot!(picture("4 layers 1s 2G | link 2 | offload-boundaries"), @r"
        second   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17
        compute f1 f2 f3 f4 ~c ~c r4 b4 b4 r3 b3 b3 r2 b2 b2 r1 b1 b1
        d2h      ·  · >1 >2 >3  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·
        h2d      ·  ·  ·  ·  · <3 <2  ·  · <1  ·  ·  ·  ·  ·  ·  ·  ·
        memory   2  4  6  6  2  2  6  6  6  6  6  6  4  4  4  2  2  2
        peak 6 GB, 2 GB after forward, step 18 s, stalled 2 s, hidden 4 s, exposed 2 s
    ");
}
