//! Turns static/locales/*/*.ftl into typed functions: a key or a placeholder that one language lacks fails the build.
//! A Fluent runtime would cost about 55 kB gzip, half the page.

use fluent_syntax::ast::{Entry, Expression, InlineExpression, PatternElement};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const LOCALES: [(&str, &str); 2] = [("en", "En"), ("zh-CN", "Zh")];

/// A message: pieces of text and placeholders.
type Message = Vec<Piece>;

#[derive(Clone, PartialEq)]
enum Piece {
    Text(String),
    Place(String),
}

fn main() {
    println!("cargo::rerun-if-changed=static/locales");
    println!("cargo::rerun-if-changed=build.rs");
    let tables = LOCALES.map(|(folder, _)| read(&Path::new("static/locales").join(folder)));
    for (i, (folder, _)) in LOCALES.iter().enumerate() {
        let other = &tables[1 - i];
        let missing: Vec<_> = tables[i].keys().filter(|key| !other.contains_key(*key)).collect();
        assert!(missing.is_empty(), "only {folder} has these messages: {missing:?}");
    }
    let mut code = String::new();
    for (key, english) in &tables[0] {
        let chinese = &tables[1][key];
        assert!(
            places(english) == places(chinese),
            "{key}: the placeholders differ between the languages"
        );
        function(&mut code, key, [english, chinese]);
    }
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("words.rs");
    fs::write(out, code).expect("OUT_DIR can be written");
}

fn read(folder: &Path) -> BTreeMap<String, Message> {
    let mut table = BTreeMap::new();
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|file| file.expect("a folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "ftl"))
        .collect();
    files.sort();
    for path in files {
        let text = fs::read_to_string(&path).expect("a listed file can be read");
        let resource = fluent_syntax::parser::parse(text)
            .unwrap_or_else(|(_, errors)| panic!("{}: {errors:?}", path.display()));
        for entry in resource.body {
            let Entry::Message(message) = entry else {
                continue;
            };
            let key = message.id.name.clone();
            let Some(pattern) = message.value else {
                panic!("{}: {key} has no text", path.display())
            };
            let pieces =
                pattern.elements.into_iter().map(|element| piece(&path, &key, element)).collect();
            assert!(
                table.insert(key.clone(), pieces).is_none(),
                "{}: {key} is there twice",
                path.display()
            );
        }
    }
    table
}

fn piece(path: &Path, key: &str, element: PatternElement<String>) -> Piece {
    match element {
        PatternElement::TextElement { value }
        | PatternElement::Placeable {
            expression: Expression::Inline(InlineExpression::StringLiteral { value }),
        } => Piece::Text(value),
        PatternElement::Placeable {
            expression: Expression::Inline(InlineExpression::VariableReference { id }),
        } => Piece::Place(id.name),
        PatternElement::Placeable { .. } => {
            panic!("{}: {key}: only {{ $name }} and {{ \"text\" }} are understood", path.display())
        }
    }
}

fn places(message: &Message) -> Vec<String> {
    let mut names: Vec<String> = message
        .iter()
        .filter_map(|piece| match piece {
            Piece::Place(name) => Some(name.replace('-', "_")),
            Piece::Text(_) => None,
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

fn plain(message: &Message) -> String {
    message
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Place(name) => format!("{{{}}}", name.replace('-', "_")),
        })
        .collect()
}

/// A piece as `words::fill` reads it: a placeholder is a control character, counted from U+0001.
fn pattern(piece: &Piece, places: &[String]) -> String {
    match piece {
        Piece::Text(text) => text.clone(),
        Piece::Place(name) => {
            let name = name.replace('-', "_");
            let at = places.iter().position(|place| *place == name).expect("a place has a name");
            assert!(at < 8, "{name}: more placeholders than `fill` tells apart");
            char::from(u8::try_from(at + 1).expect("a few")).to_string()
        }
    }
}

fn function(code: &mut String, key: &str, messages: [&Message; 2]) {
    let name = key.replace('-', "_");
    let places = places(messages[0]);
    let doc = plain(messages[0]).replace('\n', " ");
    writeln!(code, "/// {doc:?}").expect("a string can be written");
    if places.is_empty() {
        writeln!(
            code,
            "#[must_use]\npub const fn {name}(locale: Locale) -> &'static str {{ match locale {{"
        )
        .expect("a string");
        for ((_, variant), message) in LOCALES.iter().zip(messages) {
            writeln!(code, "Locale::{variant} => {:?},", plain(message)).expect("a string");
        }
        code.push('}');
    } else {
        let arguments: Vec<String> = places.iter().map(|place| format!("{place}: &str")).collect();
        writeln!(
            code,
            "#[must_use]\npub fn {name}(locale: Locale, {}) -> String {{ fill(match locale {{",
            arguments.join(", ")
        )
        .expect("a string");
        for ((_, variant), message) in LOCALES.iter().zip(messages) {
            let text: String = message.iter().map(|piece| pattern(piece, &places)).collect();
            writeln!(code, "Locale::{variant} => {text:?},").expect("a string");
        }
        write!(code, "}}, &[{}])", places.join(", ")).expect("a string");
    }
    code.push_str("}\n");
}
