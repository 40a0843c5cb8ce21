//! The same scenario gives the same bytes everywhere: 200 outcomes are committed, checked here natively and in the
//! browser by its own test. After a change that is meant: `UPDATE_PARITY=1 cargo test --test parity`.

#[path = "parity/plans.rs"]
mod plans;
#[path = "parity/mod.rs"]
mod scenarios;

use galley::engine::Scenario;
use galley::engine::search::fastest::fastest;

use scenarios::{digest, expected, outcomes, requests};
use std::collections::BTreeSet;

#[test]
fn outcomes_are_those_committed() {
    let given = outcomes();
    if std::env::var_os("UPDATE_PARITY").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parity/outcomes.txt");
        std::fs::write(path, given.join("\n") + "\n").expect("the file can be written");
        return;
    }
    let expected = expected();
    assert_eq!(given.len(), expected.len(), "a different number of scenarios");
    let requests = requests();
    let changed: Vec<usize> = (0..given.len()).filter(|&i| given[i] != expected[i]).collect();
    if let Some(&first) = changed.first() {
        let request = requests.get(first).or_else(|| requests.get(first - requests.len()));
        panic!(
            "{} of {} lines changed, the first is {first}: {}\nis {}\nwas {}",
            changed.len(),
            given.len(),
            request.map_or("", String::as_str),
            given[first],
            expected[first]
        );
    }
}

#[test]
fn searches_end_where_those_committed_did() {
    let ends = |request: &String| {
        let (scenario, _) = Scenario::parse(request).expect("a sound request");
        let found = fastest(&scenario);
        plans::line(&found.policy, &found.summary, found.bound)
    };
    let given: Vec<String> = plans::requests().iter().map(ends).collect();
    if std::env::var_os("UPDATE_PARITY").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parity/plans.txt");
        std::fs::write(path, given.join("\n") + "\n").expect("the file can be written");
        return;
    }
    assert_eq!(given, plans::expected());
    assert!(given.iter().any(|line| line.contains("runs false")), "one that finds none");
    assert!(given.iter().any(|line| line.starts_with("plan ")), "one that ends at a list");
}

/// Answers, refusals, steps that fit and steps that do not are all among them, and no two scenarios are the same.
#[test]
fn the_scenarios_are_varied() {
    let requests = requests();
    assert_eq!(requests.iter().collect::<BTreeSet<_>>().len(), 200);
    let answers: Vec<String> = requests
        .iter()
        .map(|request| galley::engine::door::text(&galley::engine::door::evaluate(request)))
        .collect();
    let count = |part: &str| answers.iter().filter(|answer| answer.contains(part)).count();
    for (part, least) in [
        ("\"fits\":true", 50),
        ("\"fits\":false", 30),
        ("\"error\":", 3),
        ("\"spans\":", 20),
        ("\"action\":\"ssd\"", 5),
    ] {
        assert!(count(part) >= least, "{part}: {}", count(part));
    }
    assert!(count("\"error\":") < 20, "{} refusals", count("\"error\":"));
}

#[test]
fn the_digest_is_fnv_1a() {
    assert_eq!(digest(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(digest("a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(digest("foobar"), 0x8594_4171_f739_67e8);
}
