//! The text twin of a picture: the same data as a table, folded away. Its rows are made when it is open.

use crate::words::{self, Locale};
use web_sys::HtmlDetailsElement;
use yew::prelude::*;

/// Rows beyond this many are left out, and said so.
pub const MOST_ROWS: usize = 60;

/// What a table says.
pub struct Table {
    /// Heads of columns.
    pub head: Vec<String>,
    /// Rows; the first cell heads its row.
    pub rows: Vec<Vec<String>>,
    /// How many rows there would be.
    pub all: usize,
}

/// What the twin shows.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The table's name.
    pub caption: AttrValue,
    /// The language.
    pub locale: Locale,
    /// Unfolded at first.
    pub open: bool,
    /// Makes the table; compared by identity.
    pub table: Callback<(), Table>,
}

/// A folded table.
#[component]
pub fn Twin(props: &Props) -> Html {
    let open = use_state_eq(|| props.open);
    let ontoggle = {
        let open = open.setter();
        Callback::from(move |event: Event| {
            open.set(event.target_unchecked_into::<HtmlDetailsElement>().open());
        })
    };
    html! {
        <details class="twin" open={props.open} {ontoggle}>
            <summary>{words::chart_table(props.locale)}</summary>
            if *open { { table(props, &props.table.emit(())) } }
        </details>
    }
}

fn table(props: &Props, table: &Table) -> Html {
    let head = table.head.iter().map(|text| html! { <th scope="col">{text}</th> });
    let row = |cells: &Vec<String>| {
        let cell = |(i, text): (usize, &String)| match i {
            0 => html! { <th scope="row">{text}</th> },
            _ => html! { <td>{text}</td> },
        };
        html! { <tr>{ for cells.iter().enumerate().map(cell) }</tr> }
    };
    let shown = table.rows.len();
    html! {
        <>
            <div class="twin-scroll" role="region" tabindex="0" aria-label={props.caption.clone()}>
                <table>
                    <caption>{props.caption.clone()}</caption>
                    <thead><tr>{ for head }</tr></thead>
                    <tbody>{ for table.rows.iter().map(row) }</tbody>
                </table>
            </div>
            if shown < table.all {
                <p class="chart-note">{words::chart_table_left_out(props.locale, &table.all.to_string(), &shown.to_string())}</p>
            }
        </>
    }
}
