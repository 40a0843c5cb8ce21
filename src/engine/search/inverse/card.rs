//! The cheapest card of the presets that fits, by what an hour of it costs; of those without a price, the smallest.

use super::trial::{Trial, Tried, Until};
use crate::engine::outcome::Summary;
use crate::engine::preset;
use crate::engine::scenario::Scenario;
use crate::engine::sort;
use crate::engine::units::Bytes;
use serde_json::{Map, Value, json};

/// One card.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The preset's name in a request.
    pub id: &'static str,
    /// What it is called.
    pub label: &'static str,
    /// Its memory.
    pub memory: Bytes,
    /// What an hour of it costs: as given, or as its preset has it, US dollars.
    pub price: Option<f64>,
    /// The `hardware` group of a request for it.
    pub hardware: Value,
    /// The best plan on it; none until it was tried, or where sizes or times leave what is counted.
    pub tried: Option<Tried>,
}

impl Card {
    /// Whether the best plan is within its memory and the longest step.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.tried.as_ref().is_some_and(|tried| tried.summary.fits)
    }

    /// What a step on it costs, in the unit of its price.
    #[must_use]
    pub fn price_of_step(&self) -> Option<f64> {
        const HOUR: f64 = 3600.0;
        let summary: &Summary = &self.tried.as_ref()?.summary;
        Some(self.price? * summary.step.secs() / HOUR)
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Cards {
    /// All of them: by price, then those without one, by memory and by compute.
    pub cards: Vec<Card>,
    /// Where the presets' prices come from; none where all prices were given.
    pub source: Option<&'static str>,
}

impl Cards {
    /// The first that fits: the cheapest by the hour; without a price, the smallest.
    #[must_use]
    pub fn first(&self) -> Option<&Card> {
        self.cards.iter().find(|card| card.fits())
    }

    /// The one on which a step costs least.
    #[must_use]
    pub fn cheapest_step(&self) -> Option<&Card> {
        let priced = self.cards.iter().filter(|card| card.fits() && card.price_of_step().is_some());
        priced.min_by(|a, b| {
            let cost = |card: &Card| card.price_of_step().unwrap_or(f64::INFINITY);
            cost(a).total_cmp(&cost(b))
        })
    }
}

/// The hunt for it.
pub struct Hunt {
    request: Value,
    next: usize,
    trial: Option<Trial>,
    answer: Cards,
}

impl Hunt {
    /// Sorts the cards. `prices` stand in for the presets' own; null for none.
    #[must_use]
    pub fn new(request: &Value, scenario: &Scenario, prices: &Map<String, Value>) -> Self {
        let mut cards: Vec<Card> = Vec::new();
        let mut keys = Vec::new();
        let mut source = None;
        for preset in preset::cards() {
            let number = |key: &str| preset.get(key).and_then(Value::as_f64);
            let text = |key: &str| preset.get(key).and_then(Value::as_str).unwrap_or_default();
            let given = prices.get(text("id"));
            let price = given.map_or_else(|| number("usd_per_hour"), Value::as_f64);
            if given.is_none() && price.is_some() {
                source = preset["sources"]["usd_per_hour"].as_str();
            }
            let memory = Bytes::from_gib(number("memory_gib").unwrap_or_default());
            let compute = preset["tflops"]
                .as_object()
                .map_or(0.0, |rates| rates.values().filter_map(Value::as_f64).fold(0.0, f64::max));
            let price_or_last = price.unwrap_or(f64::INFINITY);
            keys.push((sort::float(price_or_last), memory.0, sort::float(compute)));
            let mut hardware = json!({"preset": text("id")});
            if scenario.hardware.unmodelled > Bytes::ZERO {
                hardware["unmodelled_gib"] = scenario.hardware.unmodelled.gib().into();
            }
            cards.push(Card {
                id: text("id"),
                label: text("label"),
                memory,
                price,
                hardware,
                tried: None,
            });
        }
        let order = sort::order(cards.len(), |i| keys[i]);
        let cards = order.into_iter().map(|i| cards[i].clone()).collect();
        let mut hunt = Self {
            request: request.clone(),
            next: 0,
            trial: None,
            answer: Cards { cards, source },
        };
        hunt.start();
        hunt
    }

    /// Tries the next card whose scenario reads.
    fn start(&mut self) {
        while let Some(card) = self.answer.cards.get(self.next) {
            self.request["hardware"] = card.hardware.clone();
            if let Some(limits) = self.request.get_mut("limits").and_then(Value::as_object_mut) {
                limits.remove("memory_gib");
            }
            if let Ok((scenario, _)) = Scenario::read(&self.request) {
                self.trial = Some(Trial::new(&scenario, true, Until::Best));
                return;
            }
            self.next += 1;
        }
    }

    /// Runs about `plans` more plans; false once the answer is there.
    pub fn advance(&mut self, plans: usize) -> bool {
        let Some(trial) = &mut self.trial else { return false };
        let Some(tried) = trial.advance(plans).cloned() else { return true };
        self.answer.cards[self.next].tried = Some(tried);
        self.trial = None;
        self.next += 1;
        self.start();
        self.trial.is_some()
    }

    /// The answer so far.
    #[must_use]
    pub const fn answer(&self) -> &Cards {
        &self.answer
    }
}
