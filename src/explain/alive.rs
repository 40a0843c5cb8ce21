//! Who holds the bytes at a moment of the step. Principal function [`parts`]. A compiled plan is linear in the sizes of its
//! tensors, so what one group of them contributes is the same program with all other sizes zero, at the same times; the law
//! is that the parts add up to the ledger.

use crate::engine::chain::{Chain, LayerKind, Static, Storage};
use crate::engine::evaluate;
use crate::engine::ledger::{Ledger, Moment, Row};
use crate::engine::outcome::Outcome;
use crate::engine::program::Program;
use crate::engine::scenario::Scenario;
use crate::engine::simulate::Run;
use crate::engine::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Groups that are told apart (a transformer has some forty); what comes after them is one.
const MOST_GROUPS: usize = 64;

/// When.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum When {
    /// At the peak.
    Peak,
    /// After everything that happens at an instant.
    At(Nanos),
}

/// What bytes are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A saved tensor made inside its layer.
    Tensor(Arc<str>),
    /// A layer's input: what stays between two layers.
    Boundary,
    /// What the last layer puts out.
    Output,
    /// Transient bytes of a forward.
    ForwardScratch,
    /// Transient bytes of a backward.
    BackwardScratch,
    /// Weights cast by autocast.
    WeightCasts,
    /// Gradients of weights that have grown.
    Gradients,
    /// Everything else.
    Rest,
}

/// One group of equals: what of it is there.
#[derive(Clone, Debug)]
pub struct Part {
    /// Of which kind of layer.
    pub kind: LayerKind,
    /// What.
    pub what: What,
    /// The size of one, where all have the same.
    pub each: Option<Bytes>,
    /// How much is there, by category; the states aside.
    pub row: Row,
}

/// Who is there at a moment.
#[derive(Clone, Debug)]
pub struct Alive {
    /// By group, in the order of the chain.
    pub parts: Vec<Part>,
    /// Everything, states included.
    pub row: Row,
    /// Activations of other micro-batches in flight.
    pub background: Bytes,
}

/// A size of one layer.
type Place = (usize, Field);

#[derive(Clone, Copy)]
enum Field {
    Tensor(usize),
    Boundary,
    Output,
    Forward,
    Backward,
    Casts,
    Gradients,
}

struct Group {
    kind: LayerKind,
    what: What,
    places: Vec<Place>,
    /// Of each, where all are the same.
    each: Option<Bytes>,
}

/// Who is there at `when`, by kind of layer and tensor.
#[must_use]
pub fn parts(scenario: &Scenario, outcome: &Outcome, when: When) -> Alive {
    let chain = &scenario.chain;
    let (run, background) = evaluate::rerun(scenario, outcome);
    let ledger = Ledger::of(&run, &chain.standing(), background);
    let moment = match when {
        When::Peak => ledger.summit(),
        When::At(at) => (at, u32::MAX, u32::MAX),
    };
    let mut bare = bare(chain);
    let parts = groups(chain).into_iter().map(|group| {
        for place in &group.places {
            set(&mut bare, *place, size(chain, *place));
        }
        let row = alone(&bare, &run, outcome, moment);
        for place in &group.places {
            set(&mut bare, *place, Bytes::ZERO);
        }
        Part { kind: group.kind, what: group.what, each: group.each, row }
    });
    let parts = parts.filter(|part| part.row.total() > Bytes::ZERO).collect();
    Alive { parts, row: ledger.until(moment), background }
}

/// What a chain of which one group has a size holds at the moment, by the times of the whole run.
fn alone(bare: &Chain, run: &Run, outcome: &Outcome, moment: Moment) -> Row {
    let program = Program::of(bare, &outcome.plan);
    let run = Run { program, ..run.clone() };
    Ledger::of(&run, &Static::default(), Bytes::ZERO).until(moment)
}

fn bare(chain: &Chain) -> Chain {
    let mut bare = chain.clone();
    for layer in 0..chain.layers.len() {
        for field in fields(chain, layer) {
            set(&mut bare, (layer, field), Bytes::ZERO);
        }
    }
    bare
}

/// Every size of a layer.
fn fields(chain: &Chain, layer: usize) -> impl Iterator<Item = Field> {
    use Field::{Backward, Boundary, Casts, Forward, Gradients, Output};
    let tensors = (0..chain.layers[layer].saved.len()).map(Field::Tensor);
    tensors.chain([Boundary, Output, Forward, Backward, Casts, Gradients])
}

fn groups(chain: &Chain) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (layer, own) in chain.layers.iter().enumerate() {
        for field in fields(chain, layer) {
            let bytes = size(chain, (layer, field));
            let Some(what) = what(chain, layer, field).filter(|_| bytes > Bytes::ZERO) else {
                continue;
            };
            let mut same = groups.iter_mut();
            let group = same.find(|group| group.kind == own.kind && group.what == what);
            if let Some(group) = group {
                group.places.push((layer, field));
                group.each = group.each.filter(|each| *each == bytes);
            } else if groups.len() < MOST_GROUPS {
                let places = vec![(layer, field)];
                groups.push(Group { kind: own.kind, what, places, each: Some(bytes) });
            } else if let Some(last) = groups.last_mut() {
                (last.what, last.each) = (What::Rest, None);
                last.places.push((layer, field));
            }
        }
    }
    groups
}

/// What a size is for; none for those that the program does not read (a shared storage is its reader's boundary).
fn what(chain: &Chain, layer: usize, field: Field) -> Option<What> {
    match field {
        Field::Tensor(t) => {
            let tensor = &chain.layers[layer].saved[t];
            (tensor.storage == Storage::Inner).then(|| What::Tensor(tensor.name.clone()))
        }
        Field::Boundary => (layer > 0).then_some(What::Boundary),
        Field::Output => (layer + 1 == chain.layers.len()).then_some(What::Output),
        Field::Forward => Some(What::ForwardScratch),
        Field::Backward => Some(What::BackwardScratch),
        Field::Casts => Some(What::WeightCasts),
        Field::Gradients => Some(What::Gradients),
    }
}

fn size(chain: &Chain, (layer, field): Place) -> Bytes {
    let layer = &chain.layers[layer];
    match field {
        Field::Tensor(t) => layer.saved[t].bytes,
        Field::Boundary => layer.boundary,
        Field::Output => layer.output,
        Field::Forward => layer.forward_scratch,
        Field::Backward => layer.backward_scratch,
        Field::Casts => layer.weight_casts,
        Field::Gradients => layer.gradients,
    }
}

fn set(chain: &mut Chain, (layer, field): Place, bytes: Bytes) {
    let layer = &mut chain.layers[layer];
    match field {
        Field::Tensor(t) => layer.saved[t].bytes = bytes,
        Field::Boundary => layer.boundary = bytes,
        Field::Output => layer.output = bytes,
        Field::Forward => layer.forward_scratch = bytes,
        Field::Backward => layer.backward_scratch = bytes,
        Field::Casts => layer.weight_casts = bytes,
        Field::Gradients => layer.gradients = bytes,
    }
}
