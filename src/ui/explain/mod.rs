//! Where a number comes from, one tap away: a quiet button around the number ([`Number`]), and one place for all of them
//! ([`Explained`]), into which the program `details` draws the sheet ([`Sheet`]). Numbers inside sentences are marked in the text ([`mark`]) and made buttons where it is drawn ([`marked`]).

mod math;
mod sheet;

use crate::engine::Policy;
use crate::explain::Subject;
use crate::ui::Shared;
use crate::ui::hosted::{Hosted, Said};
use crate::ui::store::Msg;
use crate::words::{self, Locale};
use serde_json::json;
use web_sys::{Element, HtmlElement};
use yew::prelude::*;

pub use math::{Book, title, within};
pub use sheet::Sheet;

/// Which number is open, and how to open one.
#[derive(Clone, PartialEq)]
struct Asking {
    anchor: Option<Element>,
    ask: Callback<Option<Opened>>,
}

/// An open number.
#[derive(Clone, PartialEq)]
struct Opened {
    subject: Subject,
    anchor: HtmlElement,
}

/// What numbers are about.
#[derive(Clone, PartialEq, Properties)]
pub struct Props {
    /// The request in force, as text.
    pub request: Shared<String>,
    /// The plan shown, where the request does not say it.
    #[prop_or_default]
    pub shown: Option<Shared<Policy>>,
    /// The language.
    pub locale: Locale,
    /// Where a change goes that the sheet offers.
    pub send: Callback<Msg>,
    /// The page.
    pub children: Html,
}

/// The page and the place of its one sheet.
#[component]
pub fn Explained(props: &Props) -> Html {
    let Props { request, shown, locale, send, children } = props;
    let opened = use_state_eq(|| None::<Opened>);
    let ask = use_callback(opened.setter(), |next, opened| opened.set(next));
    let anchor = opened.as_ref().map(|opened| Element::from(opened.anchor.clone()));
    let onsaid = use_callback((opened.setter(), send.clone()), |said: Said, (opened, send)| {
        if let Said::Do(msg) = said {
            send.emit(*msg);
        }
        // What a change was offered for is another number then.
        opened.set(None);
    });
    let sheet = |Opened { subject, anchor }: Opened| {
        let json = json!({"locale": locale.tag(), "request": **request, "shown": shown.as_deref(), "subject": subject});
        html! {
            <div class="explain-place"><Hosted kind="sheet" json={json.to_string()} {anchor} locale={*locale} {onsaid} /></div>
        }
    };
    html! {
        <ContextProvider<Asking> context={Asking { anchor, ask }}>
            { children.clone() }
            { (*opened).clone().map(sheet).unwrap_or_default() }
        </ContextProvider<Asking>>
    }
}

/// A number that can be asked about.
#[derive(Clone, PartialEq, Properties)]
pub struct NumberProps {
    /// Which it is.
    pub subject: Subject,
    /// As it is shown.
    pub value: AttrValue,
    /// What it is called.
    pub name: AttrValue,
    /// The language.
    pub locale: Locale,
}

/// The number as a quiet button.
#[component]
pub fn Number(props: &NumberProps) -> Html {
    let NumberProps { subject, value, name, locale } = props;
    let asking = use_context::<Asking>();
    let node = use_node_ref();
    let open = asking
        .as_ref()
        .and_then(|asking| asking.anchor.as_ref())
        .is_some_and(|anchor| node.cast::<Element>().as_ref() == Some(anchor));
    let onclick = {
        let (asking, node, subject) = (asking, node.clone(), *subject);
        Callback::from(move |_: MouseEvent| {
            if let (Some(asking), Some(anchor)) = (&asking, node.cast::<HtmlElement>()) {
                asking.ask.emit((!open).then_some(Opened { subject, anchor }));
            }
        })
    };
    html! {
        <button ref={node} type="button" class="why-number" aria-haspopup="dialog" aria-expanded={open.to_string()}
            aria-label={words::explain_ask(*locale, name, value)} {onclick}>{value.clone()}</button>
    }
}

/// Marks in texts are of Unicode's private use: a first that says which number, and a last.
const FIRST: u32 = 0xE000;
const LAST: char = '\u{F8FF}';

/// A number in a text, to be found again by its place in a list.
#[must_use]
pub fn mark(place: u32, number: &str) -> String {
    let first = char::from_u32(FIRST + place).unwrap_or(LAST);
    format!("{first}{number}{LAST}")
}

/// The text without its marks.
#[must_use]
pub fn unmarked(text: &str) -> String {
    text.chars().filter(|c| !('\u{E000}'..=LAST).contains(c)).collect()
}

/// The text with its marked numbers as buttons: which number, and its name, by place.
pub fn marked(text: &str, numbers: &[(Subject, &'static str)], locale: Locale) -> Html {
    let pieces = text.split_inclusive(LAST).map(|piece| {
        let at = piece.char_indices().find(|(_, c)| ('\u{E000}'..LAST).contains(c));
        let Some((at, first)) = at else { return html! { {piece.to_owned()} } };
        let number = piece[at + first.len_utf8()..].trim_end_matches(LAST);
        let known = usize::try_from(u32::from(first) - FIRST).ok().and_then(|i| numbers.get(i));
        match known {
            Some((subject, name)) => html! {
                <>{piece[..at].to_owned()}<Number subject={*subject} value={number.to_owned()} name={*name} {locale} /></>
            },
            None => html! { <>{piece[..at].to_owned()}{number.to_owned()}</> },
        }
    });
    html! { { for pieces } }
}
