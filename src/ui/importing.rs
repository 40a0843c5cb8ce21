//! What is said of a file on its way in: that it may be dropped, how far it is read, and why it was not used.

use super::importer::Status;
use crate::engine::units::Bytes;
use crate::import::{ImportError, Problem};
use crate::scene::format;
use crate::words::{self, Locale};
use yew::prelude::*;

/// Why a file was not used, in the reader's language, with the place where that is known.
#[must_use]
pub fn refusal(error: &ImportError, name: &str, locale: Locale) -> String {
    let words = problem(&error.problem, locale);
    let mut text =
        if name.is_empty() { words } else { words::import_file_problem(locale, name, &words) };
    if let Some(at) = &error.at {
        text.push(' ');
        let (line, column) = (at.line.to_string(), at.column.to_string());
        text += &words::import_at(locale, &at.byte.to_string(), &column, &line, &at.near);
    }
    text
}

fn problem(problem: &Problem, locale: Locale) -> String {
    let plain = match problem {
        Problem::Empty => words::import_empty,
        Problem::Utf16 => words::import_utf16,
        Problem::NotUtf8 => words::import_not_utf8,
        Problem::Packed => words::import_packed,
        Problem::Pickle => words::import_pickle,
        Problem::NotANumber => words::import_not_a_number,
        Problem::Cut => words::import_cut,
        Problem::Unknown => words::import_unknown,
        Problem::Unreadable => words::import_unreadable,
        Problem::Stopped => words::import_stopped,
        Problem::Several => words::import_several,
        numbered => return with_numbers(numbered, locale),
    };
    plain(locale).to_owned()
}

fn with_numbers(problem: &Problem, locale: Locale) -> String {
    let megabytes = |bytes: u64| format!("{}\u{a0}MB", bytes.div_ceil(1_000_000));
    match problem {
        Problem::TooLong { given, accepted } => {
            words::import_too_long(locale, &megabytes(*accepted), &megabytes(*given))
        }
        Problem::Syntax { detail } => words::import_syntax(locale, detail),
        Problem::TooDeep { accepted } => words::import_too_deep(locale, &accepted.to_string()),
        Problem::TooMuch { .. } => words::import_too_much(locale).to_owned(),
        Problem::Repeated { key } => words::import_repeated(locale, key),
        Problem::Version { given } => words::import_version(locale, given),
        Problem::Unfit { path, given } => words::import_unfit(locale, given, path),
        Problem::Point { index } => words::import_point(locale, &index.to_string()),
        Problem::NoMemory { events } => words::import_no_memory(locale, &events.to_string()),
        _ => String::new(),
    }
}

/// What is being read.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// How far it is.
    pub status: Status,
    /// The language.
    pub locale: Locale,
    /// It is to stop.
    pub oncancel: Callback<()>,
}

/// How far a file is read; nothing when none is.
#[component]
pub fn Importing(props: &Props) -> Html {
    let locale = props.locale;
    let Status::Reading { name, read, total } = &props.status else {
        return Html::default();
    };
    let size = |bytes: f64| format::bytes(Bytes::from_f64(bytes));
    let text = words::import_reading(locale, name, &size(*read), &size(*total));
    html! {
        <section class="importing" aria-label={words::import_label(locale)}>
            <p role="status">{text.clone()}</p>
            <progress max={total.to_string()} value={read.to_string()} aria-label={text} />
            <button onclick={props.oncancel.reform(|_| ())}>{words::import_cancel(locale)}</button>
        </section>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct HintProps {
    /// The language.
    pub locale: Locale,
}

/// Over the whole page while a file is held over it.
#[component]
pub fn DropHint(props: &HintProps) -> Html {
    html! {
        <div class="drop-hint"><p>{words::import_drop(props.locale)}</p></div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Place;

    #[test]
    fn every_problem_has_words_with_its_numbers_in_both_languages() {
        let text = || "T42".to_owned();
        let problems = [
            Problem::Empty,
            Problem::TooLong { given: 61_000_000, accepted: 50_000_000 },
            Problem::Utf16,
            Problem::NotUtf8,
            Problem::Packed,
            Problem::Pickle,
            Problem::Syntax { detail: text() },
            Problem::NotANumber,
            Problem::Cut,
            Problem::TooDeep { accepted: 128 },
            Problem::TooMuch { accepted: 1 },
            Problem::Repeated { key: text() },
            Problem::Unknown,
            Problem::Version { given: text() },
            Problem::Unfit { path: text(), given: text() },
            Problem::Point { index: 42 },
            Problem::NoMemory { events: 42 },
            Problem::Unreadable,
            Problem::Stopped,
            Problem::Several,
        ];
        let at = Place { line: 7, column: 9, byte: 81, near: "here".to_owned() };
        let mut seen = std::collections::BTreeSet::new();
        for problem in problems {
            let debug = format!("{problem:?}");
            let error = ImportError { problem, at: Some(at.clone()) };
            for locale in [Locale::En, Locale::Zh] {
                let words = refusal(&error, "a.json", locale);
                assert!(words.contains("a.json") && words.contains("81"), "{words}");
                assert!(words.contains('7') && words.contains("here"), "{words}");
                assert_eq!(words.contains("42"), debug.contains("42"), "{words}");
                assert!(seen.insert(words), "two problems have the same words");
            }
        }
    }
}
