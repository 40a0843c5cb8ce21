//! The command-line door: `galley evaluate|front|plan|inverse|calibrate|nearest|schema [FILE]`, standard input without FILE. Exit 0 with a
//! result, 2 with `{"error": …}` on bad input. `galley accuracy [--markdown]` prints how right the engine is.

use galley::accuracy::{Book, report};
use galley::engine::door;
use galley::engine::{Accepted, Error};
use std::io::{Read, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    if name == "accuracy" {
        let markdown = match args.next().as_deref() {
            None => false,
            Some("--markdown") => true,
            Some(other) => return refuse(other),
        };
        return accuracy(markdown);
    }
    // Only the doors that take a request wait for one.
    let takes_text =
        ["evaluate", "front", "plan", "inverse", "calibrate", "nearest"].contains(&name.as_str());
    let text = if takes_text { read(args.next()) } else { Ok(String::new()) };
    let answer = text.and_then(|text| {
        door::open(&name, &text).unwrap_or_else(|| {
            Err(Error::Unfit {
                path: "command".into(),
                given: format!("{name:?}"),
                accepted: Accepted::Usage,
            })
        })
    });
    say(&(door::text(&answer) + "\n"));
    if answer.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

/// Writes to standard output; whoever closes it early (`head`) has seen enough.
fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// An argument that is none.
fn refuse(given: &str) -> ExitCode {
    let error = Error::Unfit {
        path: "command".into(),
        given: format!("accuracy {given:?}"),
        accepted: Accepted::Usage,
    };
    say(&(door::text(&Err(error)) + "\n"));
    ExitCode::from(2)
}

/// The table of docs/accuracy.md, or its rows as lines with tabs.
fn accuracy(markdown: bool) -> ExitCode {
    let Some(book) = Book::read(include_str!("../../static/accuracy/cases.json")) else {
        eprintln!("the cases of this build do not read");
        return ExitCode::FAILURE;
    };
    let rows = report::rows(&book);
    let print = if markdown { report::markdown } else { report::lines };
    say(&print(&book, &rows));
    ExitCode::SUCCESS
}

fn read(file: Option<String>) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let limit = galley::engine::scenario::MOST_TEXT as u64 + 1;
    let named = file.clone().unwrap_or_else(|| "standard input".to_owned());
    let unreadable = |error: std::io::Error| Error::Unfit {
        path: "FILE".into(),
        given: format!("{named}: {error}"),
        accepted: Accepted::File,
    };
    match file {
        Some(path) => {
            std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
        }
        None => std::io::stdin().take(limit).read_to_end(&mut bytes),
    }
    .map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| Error::Unfit {
        path: "FILE".into(),
        given: error.to_string(),
        accepted: Accepted::Utf8,
    })
}
