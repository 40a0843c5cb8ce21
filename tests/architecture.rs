//! The walls: engine → scene → ui, arrows never back, and the one place for each thing that has one. What ARCHITECTURE.md
//! states, this holds.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file of the tree: its path from the root, and its text.
struct File {
    path: String,
    text: String,
}

/// Files below `folder` (or that file) with one of those endings.
fn files(folder: &str, endings: &[&str]) -> Vec<File> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(children(&path));
        } else if endings.iter().any(|ending| path.extension().is_some_and(|e| e == *ending)) {
            let text =
                fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let inside = path.strip_prefix(root()).expect("below the root");
            let path = inside.to_string_lossy().replace('\\', "/");
            found.push(File { path, text });
        }
    }
    assert!(!found.is_empty(), "nothing in {folder}: the test looks in the wrong place");
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries.map(|entry| entry.expect("a listed entry").path()).collect()
}

impl File {
    /// Its lines without comments, numbered from 1. (A `//` inside a string ends the line early: fine for what is sought.)
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let code = |line: &'_ str| line.find("//").unwrap_or(line.len());
        self.text.lines().enumerate().map(move |(i, line)| (i + 1, &line[..code(line)]))
    }

    /// Where one of `words` stands in its code as a whole word.
    fn mentions(&self, words: &[&str]) -> Vec<String> {
        self.code()
            .filter(|(_, line)| words.iter().any(|word| has_word(line, word)))
            .map(|(i, line)| format!("{}:{i}: {}", self.path, line.trim()))
            .collect()
    }
}

/// Whether `text` has `word`, and not as part of a longer one: where it begins or ends with a letter, none goes on there.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let goes_on = |inside: Option<char>, outside: Option<char>| part(inside) && part(outside);
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !goes_on(word.chars().next(), before.chars().next_back())
            && !goes_on(word.chars().next_back(), after.chars().next())
    })
}

/// No file of `folders` mentions one of `words`, but those named.
#[track_caller]
fn only_in(allowed: &[&str], folders: &[&str], words: &[&str]) {
    let found: Vec<String> = folders
        .iter()
        .flat_map(|folder| files(folder, &["rs"]))
        .filter(|file| !allowed.contains(&file.path.as_str()))
        .flat_map(|file| file.mentions(words))
        .collect();
    assert!(found.is_empty(), "{words:?} belong in {allowed:?} alone:\n{}", found.join("\n"));
}

/// What is allowed is really there: a file that moved does not leave a hole.
#[track_caller]
fn stands_in(path: &str, words: &[&str]) {
    let found = files(path, &["rs"]).iter().any(|file| !file.mentions(words).is_empty());
    assert!(found, "{path} has none of {words:?}: name its new place here");
}

const DOM: [&str; 8] =
    ["yew", "web_sys", "gloo", "js_sys", "wasm_bindgen", "yew_agent", "plotters", "JsValue"];

#[test]
fn nothing_below_the_page_knows_a_browser() {
    only_in(
        &[],
        &[
            "src/engine",
            "src/import",
            "src/scene",
            "src/explain",
            "src/accuracy",
            "src/link.rs",
            "src/request.rs",
            "src/words.rs",
        ],
        &DOM,
    );
}

#[test]
fn arrows_never_point_back() {
    let above = [
        "crate::accuracy",
        "crate::scene",
        "crate::explain",
        "crate::ui",
        "crate::link",
        "crate::request",
        "crate::words",
    ];
    only_in(&[], &["src/engine", "src/import"], &above);
    only_in(&[], &["src/engine"], &["crate::import"]);
    only_in(&[], &["src/engine"], &["scene", "ui"]);
    let pure = ["src/scene", "src/explain", "src/accuracy", "src/link.rs", "src/request.rs"];
    only_in(&[], &pure, &["ui"]);
    only_in(&[], &["src/scene", "src/link.rs", "src/request.rs"], &["accuracy", "explain"]);
}

/// The same numbers natively and in wasm: the engine calls no function of the platform's mathematics library, whose last bits
/// differ, iterates over nothing whose order is random, and reads no clock.
#[test]
fn the_engine_is_the_same_everywhere() {
    let libm = [
        "powf", "powi", "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10", "sin",
        "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "cbrt", "hypot",
        "mul_add",
    ]
    .map(|name| format!(".{name}("));
    only_in(&[], &["src/engine"], &libm.each_ref().map(String::as_str));
    only_in(
        &[],
        &["src/engine"],
        &["HashMap", "HashSet", "RandomState", "SystemTime", "Instant", "std::time", "thread"],
    );
    only_in(&[], &["src/engine"], &["f32"]);
}

#[test]
fn one_place_asks_for_frames() {
    let words = ["request_animation_frame", "requestAnimationFrame", "AnimationFrame"];
    only_in(&["src/ui/clock.rs"], &["src"], &words);
    stands_in("src/ui/clock.rs", &words);
}

#[test]
fn one_place_touches_history() {
    let words = [
        "push_state_with_url",
        "replace_state_with_url",
        "push_state",
        "replace_state",
        "History",
        ".history(",
    ];
    only_in(&["src/ui/location.rs"], &["src"], &words);
    stands_in("src/ui/location.rs", &words);
}

#[test]
fn one_place_posts_messages_to_the_host() {
    let words = ["post_message", "post_message_with_transfer", "postMessage"];
    let workers =
        ["src/ui/worker.rs", "src/ui/planner.rs", "src/ui/importer.rs", "src/ui/inverse/hunt.rs"];
    only_in(&[&["src/ui/embed.rs"][..], &workers].concat(), &["src"], &words);
    stands_in("src/ui/embed.rs", &words);
    only_in(&["src/ui/embed.rs"], &["src/ui"], &["parent"]);
}

#[test]
fn workers_are_hired_in_one_place_and_had_by_three() {
    only_in(&["src/ui/worker.rs"], &["src"], &["WorkerOptions"]);
    stands_in("src/ui/worker.rs", &["WorkerOptions"]);
    let workers =
        ["src/ui/worker.rs", "src/ui/planner.rs", "src/ui/importer.rs", "src/ui/inverse/hunt.rs"];
    only_in(&workers, &["src"], &["Worker"]);
    for path in workers {
        stands_in(path, &["Worker"]);
    }
}

/// What is fetched on demand is drawn by the program `details` alone: named by anything of the page, it would weigh on every first visit.
#[test]
fn what_is_fetched_on_demand_is_not_in_the_page() {
    let parts = ["CaseBook", "Fitting", "Expert", "Questions", "Sheet", "Fixes", "Highest"];
    let own = [
        "src/ui/details.rs",
        "src/ui/accuracy/mod.rs",
        "src/ui/control/mod.rs",
        "src/ui/control/calibrate.rs",
        "src/ui/control/expert.rs",
        "src/ui/explain/mod.rs",
        "src/ui/explain/sheet.rs",
        "src/ui/inverse/mod.rs",
        "src/ui/why/fixes.rs",
        "src/ui/why/mod.rs",
        "src/ui/why/summit.rs",
    ];
    only_in(&own, &["src"], &parts);
    for path in own {
        stands_in(path, &parts);
    }
    only_in(&["src/bin/details.rs"], &["src"], &["ui::details", "details::show"]);
    only_in(&["src/ui/hosted.rs"], &["src"], &["galleyDetails"]);
}

/// A reducer has no effects: `reduce` stands in a file that knows no window, document, history or storage.
#[test]
fn reducers_have_no_effects() {
    for file in files("src/ui", &["rs"]) {
        if file.mentions(&["Reducible"]).is_empty() {
            continue;
        }
        let effects =
            file.mentions(&["window", "document", "History", "LocalStorage", "Timeout", "Closure"]);
        assert!(effects.is_empty(), "{}", effects.join("\n"));
    }
}

/// Colours are named in style sheets alone, so that themes and contrast are one file's business.
#[test]
fn colours_are_in_style_sheets() {
    let colour = |line: &str| {
        let function = ["rgb(", "rgba(", "hsl(", "hsla(", "oklch(", "oklab(", "hwb("];
        function.iter().any(|name| has_word(line, name))
            || line.split('#').skip(1).any(is_hex_colour)
    };
    for file in files("src", &["rs"]) {
        for (i, line) in file.code() {
            assert!(!colour(line), "{}:{i}: {}", file.path, line.trim());
        }
    }
    let sheets = files("static", &["css"]);
    assert!(sheets.iter().any(|sheet| sheet.text.lines().any(colour)), "no colour is recognized");
}

/// Whether what follows a `#` is a colour: 3, 4, 6 or 8 hexadecimal digits, then an end.
fn is_hex_colour(rest: &str) -> bool {
    let digits = rest.chars().take_while(char::is_ascii_hexdigit).count();
    let end = rest.chars().nth(digits);
    [3, 4, 6, 8].contains(&digits)
        && !end.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// The keys of a language, from all its files.
fn keys(language: &str) -> BTreeSet<String> {
    let key = |line: &str| {
        let (key, _) = line.split_once('=')?;
        let key = key.trim_end();
        let name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (!key.is_empty() && key.chars().all(name) && !line.starts_with(' ')).then(|| key.to_owned())
    };
    files(&format!("static/locales/{language}"), &["ftl"])
        .iter()
        .flat_map(|file| file.text.lines().filter_map(key).collect::<Vec<_>>())
        .collect()
}

#[test]
fn both_languages_have_every_word() {
    let (english, chinese) = (keys("en"), keys("zh-CN"));
    assert!(english.len() > 1);
    assert_eq!(english, chinese);
}

/// No word is translated for nothing: each is called somewhere.
#[test]
fn every_word_is_used() {
    let sources = files("src", &["rs"]);
    let unused: Vec<String> = keys("en")
        .into_iter()
        .filter(|key| {
            let name = key.replace('-', "_");
            !sources.iter().any(|file| file.code().any(|(_, line)| has_word(line, &name)))
        })
        .collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// A lint that is off says why, and is off only as long as it would fire: `expect`, never `allow`. Generated code, whose lints
/// come and go with its words, is the exception.
#[test]
fn lints_are_expected_not_allowed() {
    for file in files("src", &["rs"]).iter().filter(|file| file.path != "src/words.rs") {
        for (i, line) in file.code() {
            let place = format!("{}:{i}: {}", file.path, line.trim());
            assert!(!line.contains("#[allow(") && !line.contains("#![allow("), "{place}");
        }
        for (at, _) in file.text.match_indices("[expect(") {
            let attribute = file.text[at..].split(")]").next().unwrap_or_default();
            assert!(attribute.contains("reason"), "{}: {attribute}", file.path);
        }
    }
}

/// The checks see what they look for.
#[test]
fn words_are_found_as_words() {
    assert!(has_word("use yew::prelude", "yew") && !has_word("renewed yewtree", "yew"));
    assert!(has_word("x.powf(2.0)", ".powf(") && !has_word("x.my_powf(2.0)", ".powf("));
    assert!(has_word("a.ln()", ".ln(") && !has_word("a.len()", ".ln("));
    assert!(is_hex_colour("fff\"") && is_hex_colour("1a2b3c;") && !is_hex_colour("default"));
    assert!(!is_hex_colour("[must_use]") && !is_hex_colour("v=1"));
}
