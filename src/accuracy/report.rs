//! All rows as a table: what `galley accuracy` prints and docs/accuracy.md holds.

use super::case::{Book, Case};
use super::run::{self, Objection, Row};
use super::{summary, text};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Every row of every case, in the order of the book.
#[must_use]
pub fn rows(book: &Book) -> Vec<Row> {
    book.cases().flat_map(|case| run::evaluate(&case)).collect()
}

/// The cells of a row: name and inputs, figure, expected, tolerance, ours, difference.
fn cells(case: &Case, row: &Row) -> [String; 6] {
    let figure = &case.set.figures[row.figure];
    let inputs = case.inputs();
    let name = if inputs.is_empty() {
        case.name().to_owned()
    } else {
        format!("{}: {inputs}", case.name())
    };
    [
        name,
        figure.name[0].clone(),
        text::expected(&case.expected()[row.figure], &figure.unit),
        text::within(figure.within, &figure.unit),
        text::figure(row.value, &figure.unit),
        text::difference(row.difference, row.share, &figure.unit),
    ]
}

/// What the engine said of a request that it should not have.
#[must_use]
pub fn objection(objection: &Objection) -> String {
    match objection {
        Objection::Refused(error) => format!("refused: {error}"),
        Objection::Unknown(keys) => format!("the engine does not know {keys}"),
        Objection::Clamped(keys) => format!("brought into range: {keys}"),
    }
}

/// Lines of cells with tabs between them, and "holds" or "FAILS" in front.
#[must_use]
pub fn lines(book: &Book, rows: &[Row]) -> String {
    let mut out = String::new();
    for (case, row) in with_cases(book, rows) {
        let verdict = if row.holds { "holds" } else { "FAILS" };
        let said = row.objection.as_ref().map(objection).unwrap_or_default();
        line(
            &mut out,
            &format!("{verdict}\t{}\t{}\t{said}", case.group.id, cells(&case, row).join("\t")),
        );
    }
    let hold = rows.iter().filter(|row| row.holds).count();
    line(&mut out, &format!("{hold} of {} figures come out", rows.len()));
    out
}

/// The document.
#[must_use]
pub fn markdown(book: &Book, rows: &[Row]) -> String {
    let mut out = String::from(HEAD);
    let summaries = summary::of(book, rows);
    for (i, group) in book.groups.iter().enumerate() {
        let summary = &summaries[i];
        let url = group.source.url.as_ref().map(|url| format!(" <{url}>")).unwrap_or_default();
        line(
            &mut out,
            &format!(
                "\n## {}\n\n{} Figures are {}. Source: {}.{url}\n\n{} of {} come out.\n\n| case | figure | expected | within | ours | difference |\n| --- | --- | ---: | ---: | ---: | ---: |",
                group.title[0],
                group.about[0],
                group.evidence,
                group.source.text,
                summary.hold,
                summary.rows,
            ),
        );
        for (case, row) in with_cases(book, rows).filter(|(case, _)| case.group_at == i) {
            let mut cells = cells(&case, row);
            if !row.holds {
                cells[5] = format!("**{}**", cells[5]);
            }
            line(
                &mut out,
                &format!("| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | ")),
            );
        }
    }
    closing(&mut out, book, rows, &summaries);
    out
}

const HEAD: &str = "# How right is it

*Printed by `cargo run --release --no-default-features --bin galley -- accuracy --markdown`; a test fails when this file is stale, and
`UPDATE_ACCURACY=1 cargo test --no-default-features --test accuracy` writes it anew. The page shows the same rows, computed as you look.*

Every figure that others published or measured and that this engine answers, beside what it answers. `=` means to the last digit or byte;
a difference in bold is outside the tolerance beside it, which is its source's where the source has one. The last two sections sum up, and name what does not come out.
";

fn closing(out: &mut String, book: &Book, rows: &[Row], summaries: &[summary::Summary]) {
    line(
        out,
        "\n## Per group\n\n| group | come out | mean error | worst error | the bar to beat |\n| --- | ---: | ---: | ---: | --- |",
    );
    for (group, summary) in book.groups.iter().zip(summaries) {
        let mean = summary
            .mean()
            .map_or_else(|| "–".to_owned(), |mean| text::percent(mean).replace('+', ""));
        let bar = group.bar.as_ref().map_or("", |bar| &bar[0]);
        line(
            out,
            &format!(
                "| {} | {} of {} | {mean} | {} | {bar} |",
                group.title[0],
                summary.hold,
                summary.rows,
                text::percent(summary.worst),
            ),
        );
    }
    let mut failing: BTreeMap<(usize, usize), Vec<(Case, &Row)>> = BTreeMap::new();
    for (case, row) in with_cases(book, rows).filter(|(_, row)| !row.holds) {
        failing.entry((case.group_at, case.set_at)).or_default().push((case, row));
    }
    line(out, "\n## What does not come out");
    for cases in failing.values() {
        let (first, row) = &cases[0];
        line(
            out,
            &format!("\n### {}: {} ({})\n", first.group.title[0], first.set.name, cases.len()),
        );
        if let Some(objected) = &row.objection {
            line(out, &format!("Not comparable yet: {}.\n", objection(objected)));
        }
        if let Some([found, _]) = &first.set.found {
            line(out, &format!("{found}\n"));
        }
        for (case, row) in cases {
            let [name, figure, expected, _, ours, difference] = cells(case, row);
            line(
                out,
                &format!("- {name}; {figure}: expected {expected}, ours {ours}, {difference}"),
            );
        }
    }
    if failing.is_empty() {
        line(out, "\nEverything comes out.");
    }
}

fn with_cases<'a>(book: &'a Book, rows: &'a [Row]) -> impl Iterator<Item = (Case<'a>, &'a Row)> {
    rows.iter().filter_map(|row| Some((book.case(row.case)?, row)))
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("a string can be written");
}
