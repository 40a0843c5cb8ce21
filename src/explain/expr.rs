//! A formula as a tree that is both printed and evaluated, so that its text cannot part from its number. Principal type
//! [`Expr`]. Many functions here are kept out of line: formulas are written once each, and the page weighs what its code does. Its law: [`Line::holds`], the tree's value is the engine's.

use super::Subject;
use super::source::Source;
use crate::engine::chain::LayerKind;
use crate::engine::units::{Bytes, Nanos};
use crate::words::Locale;
use std::ops::{Add, Div, Mul, Sub};
use std::rc::Rc;
use std::sync::Arc;

/// A word in the reader's language.
pub type Words = fn(Locale) -> &'static str;

/// What a quantity is called.
#[derive(Clone)]
pub enum Name {
    /// A mathematical symbol, the same in every language.
    Symbol(&'static str),
    /// A word.
    Words(Words),
    /// A saved tensor of one kind of layer.
    Tensor(LayerKind, Arc<str>),
    /// A word about one kind of layer.
    Of(LayerKind, Words),
}

/// What a quantity is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole number, or a plain one.
    Count,
    /// Bytes, shown in binary units.
    Bytes,
    /// Seconds.
    Seconds,
    /// Bytes per second.
    Rate,
    /// Floating-point operations.
    Flops,
    /// Floating-point operations per second.
    FlopRate,
    /// A share of 1, shown in percent.
    Share,
    /// A share of 1 by which something changes, shown with its sign.
    Change,
    /// A plain ratio.
    Ratio,
    /// Things per second.
    PerSecond,
}

/// A quantity: a leaf of the tree.
#[derive(Clone)]
pub struct Quantity {
    /// Its name.
    pub name: Name,
    /// What its symbol stands for; none for a word.
    pub meaning: Option<Words>,
    /// Its value in the base unit.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// Where the value comes from.
    pub source: Source,
    /// The number of the page that it is, with an explanation of its own.
    pub about: Option<Subject>,
}

/// A formula, shared: it is moved about as one pointer.
#[derive(Clone)]
pub struct Expr(Rc<Node>);

/// What a formula is made of.
#[derive(Clone)]
pub enum Node {
    /// A quantity.
    Leaf(Quantity),
    /// A number that stands as it is.
    Number(f64),
    /// Terms added.
    Sum(Vec<Expr>),
    /// Factors multiplied.
    Product(Vec<Expr>),
    /// One over another.
    Quotient(Expr, Expr),
    /// One less another.
    Difference(Expr, Expr),
    /// The larger.
    Max(Expr, Expr),
    /// Rounded up to a whole number.
    Ceil(Expr),
}

impl Expr {
    #[inline(never)]
    fn new(node: Node) -> Self {
        Self(Rc::new(node))
    }

    /// What it is made of.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.0
    }

    /// What the formula comes to.
    #[must_use]
    pub fn value(&self) -> f64 {
        match self.node() {
            Node::Leaf(quantity) => quantity.value,
            Node::Number(number) => *number,
            Node::Sum(terms) => terms.iter().map(Self::value).sum(),
            Node::Product(factors) => factors.iter().map(Self::value).product(),
            Node::Quotient(a, b) => a.value() / b.value(),
            Node::Difference(a, b) => a.value() - b.value(),
            Node::Max(a, b) => a.value().max(b.value()),
            Node::Ceil(a) => a.value().ceil(),
        }
    }

    /// Its leaves from left to right.
    pub fn leaves<'a>(&'a self, found: &mut Vec<&'a Quantity>) {
        match self.node() {
            Node::Leaf(quantity) => found.push(quantity),
            Node::Number(_) => {}
            Node::Sum(parts) | Node::Product(parts) => {
                for part in parts {
                    part.leaves(found);
                }
            }
            Node::Quotient(a, b) | Node::Difference(a, b) | Node::Max(a, b) => {
                a.leaves(found);
                b.leaves(found);
            }
            Node::Ceil(a) => a.leaves(found),
        }
    }

    /// The larger of two.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self::new(Node::Max(self, other))
    }

    /// Rounded up.
    #[must_use]
    pub fn ceil(self) -> Self {
        Self::new(Node::Ceil(self))
    }

    /// Divided by `degree` and rounded up, or as it is where that is 1.
    #[must_use]
    pub fn shared(self, degree: Self) -> Self {
        if (degree.value() - 1.0).abs() < 0.5 { self } else { (self / degree).ceil() }
    }

    /// The sum of what is not zero, sums inside it laid open; the first where all is.
    #[must_use]
    pub fn sum(terms: Vec<Self>) -> Self {
        let mut some: Vec<Self> = Vec::new();
        for term in &terms {
            match term.node() {
                _ if term.value() == 0.0 => {}
                Node::Sum(inner) => some.extend(inner.iter().cloned()),
                _ => some.push(term.clone()),
            }
        }
        match some.len() {
            0 => terms.into_iter().next().unwrap_or_else(|| number(0)),
            1 => some.remove(0),
            _ => Self::new(Node::Sum(some)),
        }
    }

    /// The same leaf, leading to an explanation of its own.
    #[must_use]
    #[inline(never)]
    pub fn about(mut self, subject: Subject) -> Self {
        if let Node::Leaf(quantity) = Rc::make_mut(&mut self.0) {
            quantity.about = Some(subject);
        }
        self
    }

    /// The same leaf, from a source.
    #[must_use]
    #[inline(never)]
    pub fn from(mut self, source: Source) -> Self {
        if let Node::Leaf(quantity) = Rc::make_mut(&mut self.0) {
            quantity.source = source;
        }
        self
    }
}

impl Add for Expr {
    type Output = Self;
    #[inline(never)]
    fn add(self, other: Self) -> Self {
        let mut terms = if let Node::Sum(terms) = self.node() { terms.clone() } else { vec![self] };
        terms.push(other);
        Self::new(Node::Sum(terms))
    }
}
impl Mul for Expr {
    type Output = Self;
    #[inline(never)]
    fn mul(self, other: Self) -> Self {
        let mut factors =
            if let Node::Product(factors) = self.node() { factors.clone() } else { vec![self] };
        factors.push(other);
        Self::new(Node::Product(factors))
    }
}
impl Div for Expr {
    type Output = Self;
    #[inline(never)]
    fn div(self, other: Self) -> Self {
        Self::new(Node::Quotient(self, other))
    }
}
impl Sub for Expr {
    type Output = Self;
    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        Self::new(Node::Difference(self, other))
    }
}

#[inline(never)]
fn leaf(name: Name, meaning: Option<Words>, value: f64, unit: Unit) -> Expr {
    Expr::new(Node::Leaf(Quantity {
        name,
        meaning,
        value,
        unit,
        source: Source::None,
        about: None,
    }))
}

/// A symbol with what it stands for.
#[must_use]
#[inline(never)]
pub fn symbol(symbol: &'static str, meaning: Words, value: f64, unit: Unit) -> Expr {
    leaf(Name::Symbol(symbol), Some(meaning), value, unit)
}

/// A symbol that counts.
#[must_use]
#[inline(never)]
pub fn count(name: &'static str, meaning: Words, value: u64) -> Expr {
    symbol(name, meaning, float(value), Unit::Count)
}

/// A quantity named in words.
#[must_use]
#[inline(never)]
pub fn word(words: Words, value: f64, unit: Unit) -> Expr {
    leaf(Name::Words(words), None, value, unit)
}

/// A quantity of that name.
#[must_use]
pub fn named(name: Name, value: f64, unit: Unit) -> Expr {
    leaf(name, None, value, unit)
}

/// Bytes named in words.
#[must_use]
pub fn bytes(words: Words, value: Bytes) -> Expr {
    word(words, value.as_f64(), Unit::Bytes)
}

/// A time named in words.
#[must_use]
pub fn time(words: Words, value: Nanos) -> Expr {
    word(words, value.secs(), Unit::Seconds)
}

/// A number.
#[must_use]
pub fn number(value: u64) -> Expr {
    Expr::new(Node::Number(float(value)))
}

/// A count as a float.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53, which bytes of a device are")]
pub const fn float(value: u64) -> f64 {
    value as f64
}

/// An equation: a name, the formula, and the engine's number.
#[derive(Clone)]
pub struct Line {
    /// What is explained.
    pub name: Name,
    /// How it comes about.
    pub expr: Expr,
    /// The engine's number, in the base unit.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// How many times the engine rounded to a whole byte or nanosecond on the way.
    pub roundings: u64,
}

impl Line {
    /// An equation without rounding on the way.
    #[must_use]
    #[inline(never)]
    pub fn new(name: Name, unit: Unit, value: f64, expr: Expr) -> Self {
        Self { name, expr, value, unit, roundings: 0 }
    }

    /// The same with so many roundings.
    #[must_use]
    pub fn rounded(self, roundings: u64) -> Self {
        Self { roundings, ..self }
    }

    /// Whether the formula comes to the engine's number: exactly for bytes and counts, to a unit per rounding.
    #[must_use]
    pub fn holds(&self) -> bool {
        let step = match self.unit {
            Unit::Bytes | Unit::Count => 1.0,
            Unit::Seconds => 1e-9,
            _ => 0.0,
        };
        // What floating point itself loses: nothing of whole numbers, far below a nanosecond of times.
        let (share, least) = match self.unit {
            Unit::Bytes | Unit::Count => (0.0, 0.0),
            Unit::Seconds => (1e-12, 1e-12),
            _ => (1e-9, 1e-12),
        };
        let off = (self.expr.value() - self.value).abs();
        off <= step * float(self.roundings) + share * self.value.abs() + least
    }

    /// The same, or the number alone, said to be read from the simulation, should the formula not hold.
    #[must_use]
    pub fn checked(mut self) -> Self {
        if !self.holds() {
            self.expr = named(self.name.clone(), self.value, self.unit).from(Source::Simulation);
        }
        self
    }
}
