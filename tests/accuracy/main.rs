//! The table of accuracy: `static/accuracy/cases.json` holds the cases of `tests/vectors`, docs/accuracy.md what the engine makes of them.
//! Both are written by `UPDATE_ACCURACY=1 cargo test --no-default-features --test accuracy`, and these tests fail when either is
//! stale.
#![expect(clippy::needless_pass_by_value, reason = "pieces of JSON are made where they are passed")]

mod calibrated;
mod chains;
mod found;
mod layers;
mod lesson;
mod models;
mod papers;
mod presets;
mod reports;
mod shape;

use galley::accuracy::{Book, Row, case::Within, report, run::Objection};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;

/// Most that the file may weigh: the page fetches it when the section is opened.
const MOST_BYTES: usize = 400_000;

fn cases() -> String {
    let mut groups = Vec::new();
    groups.extend(layers::groups());
    groups.extend(chains::groups());
    groups.extend(models::groups());
    groups.extend(papers::groups());
    groups.extend(calibrated::groups());
    groups.extend(reports::groups());
    groups.extend(presets::groups());
    groups.extend(lesson::groups());
    found::add(&mut groups);
    shape::text(&groups)
}

fn path(name: &str) -> String {
    format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The cases and their rows, computed once for all tests.
fn computed() -> &'static (Book, Vec<Row>) {
    static ALL: OnceLock<(Book, Vec<Row>)> = OnceLock::new();
    ALL.get_or_init(|| {
        let book = Book::read(&cases()).expect("the cases read");
        let rows = report::rows(&book);
        (book, rows)
    })
}

/// Writes the file if asked to, else holds it to `text`.
fn fresh(name: &str, text: &str) {
    if std::env::var_os("UPDATE_ACCURACY").is_some() {
        fs::write(path(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
        return;
    }
    let there = fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let differs = there.lines().zip(text.lines()).position(|(a, b)| a != b);
    let at = differs.map_or_else(|| "at its end".to_owned(), |i| format!("in line {}", i + 1));
    assert!(
        there == text,
        "{name} is stale {at}: UPDATE_ACCURACY=1 cargo test --no-default-features --test accuracy writes it anew"
    );
}

#[test]
fn the_cases_are_those_of_the_vectors() {
    let text = cases();
    assert!(text.len() <= MOST_BYTES, "{} bytes of cases", text.len());
    fresh("static/accuracy/cases.json", &text);
}

#[test]
fn the_document_is_what_the_engine_says() {
    let (book, rows) = computed();
    fresh("docs/accuracy.md", &report::markdown(book, rows));
}

/// The command line prints the document; without `--markdown` a line for each row.
#[test]
fn the_command_line_prints_the_same() {
    if std::env::var_os("UPDATE_ACCURACY").is_some() {
        return; // The command was built with the cases as they were.
    }
    let arguments = ["accuracy", "--markdown"];
    let output = Command::new(env!("CARGO_BIN_EXE_galley")).args(arguments).output();
    let output = output.expect("the command runs");
    assert!(output.status.success(), "{output:?}");
    let (book, rows) = computed();
    assert!(String::from_utf8(output.stdout).expect("text") == report::markdown(book, rows));
    let text = report::lines(book, rows);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), rows.len() + 1);
    let fails = lines.iter().filter(|line| line.starts_with("FAILS\t")).count();
    assert_eq!(fails, rows.iter().filter(|row| !row.holds).count());
}

/// A set with cases that do not come out says what was found, and one whose cases all come out has nothing to explain. Where the engine
/// does not know a key, its name says enough.
#[test]
fn what_does_not_come_out_is_explained() {
    let (book, rows) = computed();
    let mut unexplained = BTreeSet::new();
    let mut failing = BTreeSet::new();
    for row in rows.iter().filter(|row| !row.holds) {
        let case = book.case(row.case).expect("a case");
        let name = (case.group.id.as_str(), case.set.name.as_str());
        failing.insert(name);
        let said = matches!(row.objection, Some(Objection::Unknown(_)));
        if case.set.found.is_none() && !said {
            unexplained.insert(name);
        }
    }
    assert!(
        unexplained.is_empty(),
        "say in tests/accuracy/found.rs what was found: {unexplained:#?}"
    );
    let sets = book.groups.iter().flat_map(|group| group.sets.iter().map(move |set| (group, set)));
    let settled: Vec<_> = sets
        .filter(|(_, set)| set.found.is_some())
        .map(|(group, set)| (group.id.as_str(), set.name.as_str()))
        .filter(|name| !failing.contains(name))
        .collect();
    assert!(
        settled.is_empty(),
        "these come out now: take them out of tests/accuracy/found.rs: {settled:#?}"
    );
}

/// Every set has a name of its own in its group, and every group's tolerances are no wider than a tenth.
#[test]
fn cases_are_named_once_and_held_sharply() {
    let (book, _) = computed();
    let mut seen = BTreeSet::new();
    for group in &book.groups {
        for set in &group.sets {
            assert!(seen.insert((&group.id, &set.name)), "{} has {} twice", group.id, set.name);
            for figure in &set.figures {
                if let Within::Relative(by) = figure.within {
                    assert!(by <= 0.14, "{}: {by}", set.name);
                }
            }
        }
    }
    assert!(book.cases().count() > 900, "{} cases", book.cases().count());
}

/// The comparison sees what it is for: each kind of tolerance lets in what is inside and nothing else.
#[test]
fn a_wrong_figure_fails() {
    let figure = |within: &str, expected: &str| {
        let text = format!(
            r#"{{"v": 1, "groups": [{{"id": "g", "title": ["", ""], "about": ["", ""], "evidence": "derived", "source": "",
            "sets": [{{"name": "s", "request": {{"workload": {{"kind": "lesson", "layers": 4, "act_gb": 2, "layer_s": 1}}, "policy": {{}}}},
            "columns": [["policy.kind", ""]],
            "figures": [{{"name": ["", ""], "unit": "GB", "within": {within}, "measure": ["/", "/saved_peak_bytes", 1e9]}}],
            "rows": [[null, ["keep"], [{expected}]]]}}]}}]}}"#
        );
        let book = Book::read(&text).expect("the cases read");
        let rows = report::rows(&book);
        assert_eq!(rows[0].value, Some(8.0));
        rows[0].holds
    };
    for (within, inside, outside) in [
        (r#""exact""#, "8", "8.000001"),
        (r#"{"abs": 0.5}"#, "8.5", "8.6"),
        (r#"{"rel": 0.01}"#, "8.07", "8.09"),
        (r#""exact""#, "[7, 9]", "[9, null]"),
        (r#"{"abs": 0.5}"#, "[null, 7.5]", "[null, 7.4]"),
    ] {
        assert!(figure(within, inside), "{inside} within {within}");
        assert!(!figure(within, outside), "{outside} within {within}");
    }
}

/// An unknown key, a clamped value and a refused request fail a row whatever its number.
#[test]
fn an_objection_fails_a_row() {
    let objection = |key: &str, value: &str| {
        let text = format!(
            r#"{{"v": 1, "groups": [{{"id": "g", "title": ["", ""], "about": ["", ""], "evidence": "derived", "source": "",
            "sets": [{{"name": "s", "request": {{"workload": {{"preset": "gpt2"}}}}, "columns": [["workload.{key}", "{key}"]],
            "figures": [{{"name": ["", ""], "unit": "", "within": "exact", "measure": ["-", "/params/model", "/params/model"]}}],
            "rows": [[null, [{value}], [0]]]}}]}}]}}"#
        );
        let book = Book::read(&text).expect("the cases read");
        let row = report::rows(&book).remove(0);
        assert_eq!(row.holds, row.objection.is_none());
        row.objection
    };
    assert_eq!(objection("seq", "128"), None);
    assert_eq!(objection("moon", "1"), Some(Objection::Unknown("workload.moon".into())));
    assert_eq!(objection("batch", "1e30"), Some(Objection::Clamped("workload.batch".into())));
    assert!(matches!(objection("batch", "\"many\""), Some(Objection::Refused(_))));
}

/// A file that is not as it should be is refused: each of these lacks or spoils one thing.
#[test]
fn a_broken_file_is_refused() {
    let good = r#"{"v": 1, "groups": [{"id": "g", "title": ["", ""], "about": ["", ""], "evidence": "derived", "source": "", "sets": [
        {"name": "s", "request": {}, "columns": [["policy.kind", ""]],
        "figures": [{"name": ["", ""], "unit": "", "within": "exact", "measure": 1}], "rows": [[null, ["keep"], [1]]]}]}]}"#;
    assert!(Book::read(good).is_some());
    for (sound, broken) in [
        ("{\"v\": 1", "{"),
        ("\"v\": 1", "\"v\": 2"),
        ("\"groups\"", "\"group\""),
        ("\"title\": [\"\", \"\"]", "\"title\": [\"\"]"),
        ("\"exact\"", "\"about\""),
        ("[\"keep\"]", "[]"),
        ("[1]", "[1, 2]"),
        ("[1]", "[\"1\"]"),
    ] {
        assert!(good.contains(sound), "{sound}");
        assert!(Book::read(&good.replacen(sound, broken, 1)).is_none(), "{broken}");
    }
}
