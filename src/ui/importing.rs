//! What is said of a file on its way in: that it may be dropped, how far it is read, and why it was not used.

use super::importer::Status;
use crate::engine::units::Bytes;
use crate::import::{ImportError, MOST_BYTES, MOST_DEPTH, Problem};
use crate::scene::format;
use crate::words::{self, Locale};
use yew::prelude::*;

/// Why a file was not used, in the reader's language, with the place where that is known.
#[must_use]
pub fn refusal(error: &ImportError, name: &str, locale: Locale) -> String {
    let words = problem(error, locale);
    let mut text =
        if name.is_empty() { words } else { words::import_file_problem(locale, &words, name) };
    if let Some(at) = &error.at {
        text += words::import_between(locale);
        let (line, column) = (at.line.to_string(), at.column.to_string());
        text += &words::import_at(locale, &format::whole(at.byte), &column, &line, &at.near);
    }
    text
}

fn problem(error: &ImportError, locale: Locale) -> String {
    let ImportError { number, text, given, .. } = error;
    let megabytes = |bytes: u64| format!("{}\u{a0}MB", bytes.div_ceil(1_000_000));
    let plain = match error.problem {
        Problem::TooLong => {
            return words::import_too_long(locale, &megabytes(MOST_BYTES), &megabytes(*number));
        }
        Problem::Syntax => return words::import_syntax(locale, text),
        Problem::TooDeep => return words::import_too_deep(locale, &MOST_DEPTH.to_string()),
        Problem::Repeated => return words::import_repeated(locale, text),
        Problem::Version => return words::import_version(locale, text),
        Problem::Unfit => return words::import_unfit(locale, given, text),
        Problem::Point => return words::import_point(locale, &format::whole(*number)),
        Problem::NoMemory => return words::import_no_memory(locale, &format::whole(*number)),
        Problem::Empty => words::import_empty,
        Problem::Utf16 => words::import_utf16,
        Problem::NotUtf8 => words::import_not_utf8,
        Problem::Packed => words::import_packed,
        Problem::Pickle => words::import_pickle,
        Problem::NotANumber => words::import_not_a_number,
        Problem::Cut => words::import_cut,
        Problem::TooMuch => words::import_too_much,
        Problem::Unknown => words::import_unknown,
        Problem::Unreadable => words::import_unreadable,
        Problem::Stopped => words::import_stopped,
        Problem::Several => words::import_several,
        Problem::NoWorker => words::import_no_worker,
    };
    plain(locale).to_owned()
}

/// How far a file is read; nothing when none is.
pub fn importing(status: &Status, locale: Locale, oncancel: &Callback<()>) -> Html {
    let Status::Reading { name, read, total } = status else {
        return Html::default();
    };
    let size = |bytes: f64| format::bytes(Bytes::from_f64(bytes));
    let name = if name.is_empty() { words::import_text(locale) } else { name };
    let text = words::import_reading(locale, name, &size(*read), &size(*total));
    html! {
        <section class="importing" aria-label={words::import_label(locale)}>
            <p role="status">{text.clone()}</p>
            <progress max={total.to_string()} value={read.to_string()} aria-label={text} />
            <button onclick={oncancel.reform(|_| ())}>{words::import_cancel(locale)}</button>
        </section>
    }
}

/// Over the whole page while a file is held over it.
pub fn drop_hint(locale: Locale) -> Html {
    html! {
        <div class="drop-hint"><p>{words::import_drop(locale)}</p></div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Place;
    use Problem::{NoMemory, Point, Repeated, Syntax, TooLong, Unfit, Version};

    #[test]
    fn every_problem_has_words_with_its_numbers_in_both_languages() {
        let at = Place { line: 7, column: 9, byte: 81, near: "here".to_owned() };
        let mut seen = std::collections::BTreeSet::new();
        for problem in Problem::ALL {
            let names =
                ImportError { given: "value".into(), at: Some(at.clone()), ..problem.with("T42") };
            let numbers = ImportError { number: 61_000_000, ..names.clone() };
            for locale in [Locale::En, Locale::Zh] {
                let words = refusal(&names, "a.json", locale);
                assert!(
                    ["a.json", "81", "7", "9", "here"].iter().all(|part| words.contains(part)),
                    "{words}"
                );
                let named = matches!(problem, Syntax | Repeated | Version | Unfit);
                assert_eq!(words.contains("T42"), named, "{words}");
                let counted = matches!(problem, TooLong | Point | NoMemory);
                assert_eq!(refusal(&numbers, "a.json", locale) != words, counted, "{words}");
                assert!(seen.insert(words), "two problems have the same words");
            }
        }
    }
}
