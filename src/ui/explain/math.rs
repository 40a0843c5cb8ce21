//! Formulas as a lecture writes them: symbols slanted, fractions stacked, then the same with values. Props in, marks out.

use crate::engine::units::Bytes;
use crate::explain::expr::{Expr, Line, Name, Node, Quantity, Unit};
use crate::explain::source::Source;
use crate::explain::{Derivation, Subject, Tolerance, kind_words};
use crate::scene::format;
use crate::ui::chart::tensor_name;
use crate::words::{self, Locale};
use yew::prelude::*;

/// A number as people read it, no more digits than it is worth.
#[must_use]
pub fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Count => format::plain(value, 3),
        Unit::Bytes => format::bytes(Bytes::from_f64(value)),
        Unit::Seconds => format::seconds(value),
        Unit::Rate => format::rate(value),
        Unit::Flops => format::operations(value),
        Unit::FlopRate => format::flops(value),
        Unit::Share => format::percent(value),
        Unit::Change => format::percent_change(value),
        Unit::Ratio => format::ratio(value),
        Unit::PerSecond => format::per_second(value),
    }
}

/// How close to expect a number, as a share of it: "10 %".
#[must_use]
pub fn within(tolerance: Tolerance) -> String {
    let percent = |share: f64| format!("{}\u{a0}%", format::plain(share * 100.0, 1));
    tolerance.share().map(percent).unwrap_or_default()
}

/// What a derivation is drawn with.
#[derive(Clone, PartialEq, Properties)]
pub struct BookProps {
    /// Where the number comes from.
    pub derivation: crate::ui::Shared<Derivation>,
    /// The language.
    pub locale: Locale,
    /// A number inside a formula was asked about.
    pub onask: Callback<Subject>,
}

/// Equations, what their symbols are, notes, trust and sources.
#[component]
pub fn Book(props: &BookProps) -> Html {
    let BookProps { derivation, locale, onask } = props;
    let page = Page { locale: *locale, onask };
    let preset = |quantity: &&Quantity| matches!(quantity.source, Source::Preset(_));
    let symbols = symbols(derivation);
    html! {
        <>
            { for derivation.lines.iter().enumerate().map(|(i, line)| page.equation(line, i == 0)) }
            if !symbols.is_empty() {
                <h3>{words::explain_where(*locale)}</h3>
                <dl class="symbols">{ for symbols.iter().map(|quantity| page.meaning(quantity)) }</dl>
            }
            { for derivation.notes.iter().map(|note| html! { <p>{note(*locale)}</p> }) }
            <p class="trust">{page.trust(derivation.tolerance)}</p>
            if !derivation.works.is_empty() || symbols.iter().any(preset) {
                <h3>{words::explain_sources(*locale)}</h3>
                <ul class="sources">
                    { for derivation.works.iter().map(|work| {
                        let (text, address) = work.citation();
                        if address.is_empty() { html! { <li>{text}</li> } } else {
                            html! { <li><a href={address} target="_blank" rel="noopener">{text}</a></li> }
                        }
                    }) }
                    { for symbols.iter().filter_map(|quantity| match quantity.source {
                        Source::Preset(text) => Some(html! { <li>{name(&quantity.name, *locale)}{": "}<span lang="en">{text}</span></li> }),
                        _ => None,
                    }) }
                </ul>
            }
        </>
    }
}

/// Every quantity that needs a word, once.
fn symbols(derivation: &Derivation) -> Vec<&Quantity> {
    let mut all = Vec::new();
    for line in &derivation.lines {
        line.expr.leaves(&mut all);
    }
    let mut found: Vec<&Quantity> = Vec::new();
    for quantity in all.into_iter().filter(|quantity| quantity.meaning.is_some()) {
        let Name::Symbol(symbol) = quantity.name else { continue };
        if !found.iter().any(|one| matches!(one.name, Name::Symbol(other) if other == symbol)) {
            found.push(quantity);
        }
    }
    found
}

/// What a quantity is called, in words or as a symbol.
#[must_use]
pub fn title(name: &Name, locale: Locale) -> String {
    match name {
        Name::Symbol(symbol) => (*symbol).to_owned(),
        Name::Words(words) => words(locale).to_owned(),
        Name::Tensor(kind, tensor) => {
            format!("{} · {}", kind_words(*kind)(locale), tensor_name(locale, tensor))
        }
        Name::Of(kind, words) => format!("{} · {}", kind_words(*kind)(locale), words(locale)),
    }
}

fn name(name: &Name, locale: Locale) -> Html {
    let Name::Symbol(symbol) = name else { return html! { {title(name, locale)} } };
    match symbol.split_once('_') {
        Some((letter, index)) => html! { <i>{letter}<sub>{index}</sub></i> },
        None => html! { <i>{*symbol}</i> },
    }
}

/// How tightly a formula binds.
fn binds(expr: &Expr) -> u8 {
    match expr.node() {
        Node::Sum(_) | Node::Difference(..) => 0,
        Node::Product(_) => 1,
        _ => 2,
    }
}

/// Whether a formula is a single quantity or number.
fn lone(expr: &Expr) -> bool {
    matches!(expr.node(), Node::Leaf(_) | Node::Number(_))
}

/// The terms of a sum that is better read as a list: of counted things with names in words.
fn items(expr: &Expr) -> Option<&[Expr]> {
    let Node::Sum(terms) = expr.node() else { return None };
    let worded = |expr: &Expr| match expr.node() {
        Node::Leaf(quantity) => !matches!(quantity.name, Name::Symbol(_)),
        _ => false,
    };
    let item = |term: &Expr| match term.node() {
        Node::Product(factors) => {
            factors.len() == 2
                && matches!(factors[0].node(), Node::Number(_))
                && worded(&factors[1])
        }
        _ => worded(term),
    };
    (terms.len() > 1 && terms.iter().all(item)).then_some(terms)
}

/// Whether two factors are the same symbol.
fn same(a: &Expr, b: &Expr) -> bool {
    let symbol = |expr: &Expr| match expr.node() {
        Node::Leaf(Quantity { name: Name::Symbol(symbol), .. }) => Some(*symbol),
        _ => None,
    };
    symbol(a).is_some() && symbol(a) == symbol(b)
}

struct Page<'a> {
    locale: Locale,
    onask: &'a Callback<Subject>,
}

impl Page<'_> {
    /// The first one's name is the sheet's title already.
    fn equation(&self, line: &Line, titled: bool) -> Html {
        let value = shown(line.value, line.unit);
        let head = name(&line.name, self.locale);
        if let Some(terms) = items(&line.expr) {
            return html! {
                <table class="items">
                    <caption class={classes!(titled.then_some("aside"))}>{head}</caption>
                    <tbody>{ for terms.iter().map(|term| self.item(term)) }</tbody>
                    <tfoot><tr><th scope="row">{"="}</th><td></td><td class="num">{value}</td></tr></tfoot>
                </table>
            };
        }
        let same = matches!(line.expr.node(), Node::Leaf(quantity) if quantity.meaning.is_none() && quantity.about.is_none());
        html! {
            <div class="equation">
                <div class="left">{head}</div>
                if !same { <div class="right">{"= "}{self.write(&line.expr, false)}</div> }
                if !lone(&line.expr) { <div class="right">{"= "}{self.write(&line.expr, true)}</div> }
                <div class="right result">{"= "}<b>{value}</b>{ self.read(&line.expr) }</div>
            </div>
        }
    }

    /// That a number is read from the simulation or set, where nothing else says so.
    fn read(&self, expr: &Expr) -> Html {
        let Node::Leaf(quantity) = expr.node() else { return Html::default() };
        match self.origin(quantity) {
            Some(text) if quantity.meaning.is_none() => {
                html! { <span class="quiet">{" "}{text}</span> }
            }
            _ => Html::default(),
        }
    }

    fn item(&self, term: &Expr) -> Html {
        let (count, leaf) = match term.node() {
            Node::Product(factors) => (Some(&factors[0]), &factors[1]),
            _ => (None, term),
        };
        let Node::Leaf(quantity) = leaf.node() else { return Html::default() };
        let each = count.map(|count| {
            format!(
                "{} × {}",
                shown(count.value(), Unit::Count),
                shown(quantity.value, quantity.unit)
            )
        });
        let all = shown(term.value(), quantity.unit);
        html! {
            <tr>
                <th scope="row">{name(&quantity.name, self.locale)}</th>
                <td class="num">{each}</td>
                <td class="num">{self.linked(quantity, html! { {all.clone()} })}</td>
            </tr>
        }
    }

    /// What has an explanation of its own is a button.
    fn linked(&self, quantity: &Quantity, inner: Html) -> Html {
        let Some(subject) = quantity.about else { return inner };
        let onclick = self.onask.reform(move |_: MouseEvent| subject);
        html! { <button type="button" class="why-number" {onclick}>{inner}</button> }
    }

    fn write(&self, expr: &Expr, filled: bool) -> Html {
        match expr.node() {
            Node::Leaf(quantity) if filled => {
                html! { <span class="num">{shown(quantity.value, quantity.unit)}</span> }
            }
            Node::Leaf(quantity) => self.linked(quantity, name(&quantity.name, self.locale)),
            Node::Number(number) => html! { {format::plain(*number, 3)} },
            Node::Sum(terms) => self.joined(terms, " + ", filled, 0),
            Node::Product(factors) => {
                self.joined(factors, if filled { " × " } else { " · " }, filled, 1)
            }
            Node::Difference(a, b) => {
                html! { <>{self.held(a, filled, 0)}{" − "}{self.held(b, filled, 1)}</> }
            }
            Node::Quotient(a, b) => html! {
                <span class="fraction"><span>{self.write(a, filled)}</span><span class="aside">{" / "}</span><span>{self.write(b, filled)}</span></span>
            },
            Node::Max(a, b) => {
                html! { <>{"max("}{self.write(a, filled)}{", "}{self.write(b, filled)}{")"}</> }
            }
            Node::Ceil(a) => html! { <>{"⌈"}{self.write(a, filled)}{"⌉"}</> },
        }
    }

    fn joined(&self, parts: &[Expr], sign: &'static str, filled: bool, least: u8) -> Html {
        let squared = |i: usize| !filled && least == 1 && i > 0 && same(&parts[i - 1], &parts[i]);
        let shown = (0..parts.len()).filter(|&i| !squared(i)).map(|i| html! {
            <>if i > 0 { {sign} }{self.held(&parts[i], filled, least)}if i + 1 < parts.len() && squared(i + 1) { <sup>{"2"}</sup> }</>
        });
        html! { { for shown } }
    }

    /// In brackets where it binds less than `least`.
    fn held(&self, expr: &Expr, filled: bool, least: u8) -> Html {
        let inner = self.write(expr, filled);
        if binds(expr) < least {
            html! { <>{"("}{inner}{")"}</> }
        } else {
            inner
        }
    }

    fn origin(&self, quantity: &Quantity) -> Option<&'static str> {
        Some(match quantity.source {
            Source::None | Source::Work(_) => return None,
            Source::Setting => words::explain_from_setting(self.locale),
            Source::Preset(_) => words::explain_from_preset(self.locale),
            Source::Simulation => words::explain_from_simulation(self.locale),
        })
    }

    fn meaning(&self, quantity: &Quantity) -> Html {
        let meaning = quantity.meaning.map(|words| words(self.locale));
        html! {
            <div>
                <dt>{self.linked(quantity, name(&quantity.name, self.locale))}</dt>
                <dd>{meaning}</dd>
                <dd class="num">{shown(quantity.value, quantity.unit)}</dd>
                <dd class="quiet">{self.origin(quantity)}</dd>
            </div>
        }
    }

    fn trust(&self, tolerance: Tolerance) -> String {
        let share = within(tolerance);
        match tolerance {
            Tolerance::Exact => words::explain_trust_exact(self.locale).to_owned(),
            Tolerance::Peak => words::explain_trust_peak(self.locale, &share),
            Tolerance::Time | Tolerance::PresetTime => {
                words::explain_trust_time(self.locale, &share)
            }
            Tolerance::Formula => words::explain_trust_formula(self.locale).to_owned(),
            Tolerance::Given => words::explain_trust_given(self.locale).to_owned(),
        }
    }
}
