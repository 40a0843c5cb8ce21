//! What sets the peak, why a plan that frees bytes may leave it where it is, and the lever that moves it. Principal type
//! [`Summit`]. The bytes that are there then, by kind of layer and tensor, are `explain`'s to list.

use super::change::{What, ladder};
use super::trial::{self, Attempt, Trial};
use crate::engine::evaluate;
use crate::engine::ledger::Ledger;
use crate::engine::outcome::Outcome;
use crate::engine::plan::Plan;
use crate::engine::program::{OpKind, Program};
use crate::engine::scenario::Scenario;
use crate::engine::simulate;
use crate::engine::units::{Bytes, Nanos};
use serde_json::Value;

/// The moment of the peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summit {
    /// When.
    pub at: Nanos,
    /// The operation that runs or starts then.
    pub op: OpKind,
    /// Its layer.
    pub layer: usize,
    /// What the plan has fewer on the device when forward ends than keeping everything would.
    pub freed: Bytes,
    /// What of that is away at the peak: keeping everything would hold so much more at the same operation.
    pub away: Bytes,
}

/// Where the peak of a plan is.
#[must_use]
pub fn summit(scenario: &Scenario, outcome: &Outcome) -> Summit {
    let chain = &scenario.chain;
    let (run, background) = evaluate::rerun(scenario, outcome);
    let ledger = Ledger::of(&run, &chain.standing(), background);
    let (at, order, _) = ledger.summit();
    let own = run.program.ops[Ledger::operation(order).min(run.program.ops.len() - 1)];
    let plain = Program::of(chain, &Plan::keep(chain));
    let others = |program: &Program| chain.pipeline.others(program.resident_after_forward());
    // What is run again just before a backward is there for it: keeping everything has no such operation.
    let kind = if own.kind == OpKind::Recompute { OpKind::Backward } else { own.kind };
    let same = plain.ops.iter().position(|op| op.kind == kind && op.layer == own.layer);
    let then = same.map_or(Bytes::ZERO, |op| simulate::needed_at(&plain, op));
    let there = chain.standing().total() + others(&plain) + then;
    let freed = plain.resident_after_forward().saturating_sub(run.program.resident_after_forward());
    let away = there.saturating_sub(outcome.peak.row.total()).min(freed);
    Summit { at, op: own.kind, layer: own.layer, freed, away }
}

/// Single changes that may move a peak.
const LEVERS: [What; 17] = [
    What::MicroBatch,
    What::LossChunks,
    What::Flash,
    What::MoreSegments,
    What::FewerSegments,
    What::Recompute,
    What::OffloadBoundaries,
    What::Offload,
    What::PerTensor,
    What::Zero,
    What::SequenceParallel,
    What::HostStates,
    What::Optimizer8bit,
    What::GradDtype,
    What::Lora,
    What::Sequence,
    What::Batch,
];

/// The search for what lowers the peak, a little at a time.
pub struct Levers {
    request: Value,
    scenario: Scenario,
    /// The peak, and what a token takes, as things are.
    peak: Bytes,
    token_s: f64,
    outcome: Outcome,
    waiting: Vec<What>,
    attempt: Option<Attempt>,
    found: Vec<Trial>,
}

impl Levers {
    /// For the scenario that `request` is read as, evaluated.
    #[must_use]
    pub fn new(request: Value, scenario: Scenario, outcome: Outcome) -> Self {
        let (peak, token_s) = (outcome.peak.row.total(), trial::token(&scenario, outcome.step));
        let waiting = LEVERS.iter().rev().copied().collect();
        Self {
            request,
            scenario,
            peak,
            token_s,
            outcome,
            waiting,
            attempt: None,
            found: Vec::new(),
        }
    }

    /// Tries a little; false once there is nothing left to try.
    pub fn advance(&mut self) -> bool {
        if let Some(mut attempt) = self.attempt.take() {
            if attempt.advance() {
                self.attempt = Some(attempt);
                return true;
            }
            self.found.extend(Some(attempt.trial()).filter(|trial| trial.peak < self.peak));
        }
        let Some(what) = self.waiting.pop() else { return false };
        let ladder = ladder(what, &self.request, &self.scenario, &self.outcome);
        let smallest = ladder.into_iter().next();
        self.attempt = smallest.and_then(|change| Attempt::new(change, &self.request));
        true
    }

    /// The changes that lower the peak, the one that lowers it most for what it costs first: those that leave the training as
    /// it is before those that do not, then by the bytes of peak per share of time that a token takes longer (a hundredth at
    /// least: what costs nothing is worth most, and the more it lowers).
    #[must_use]
    pub fn ranked(&self) -> Vec<Trial> {
        const FREE: f64 = 0.01;
        let worth = |trial: &Trial| {
            let slower = if self.token_s > 0.0 { trial.token_s / self.token_s - 1.0 } else { 0.0 };
            self.peak.saturating_sub(trial.peak).as_f64() / (slower.max(0.0) + FREE)
        };
        let price = |trial: &Trial| trial.change.price();
        let mut ranked = self.found.clone();
        ranked.sort_by(|a, b| price(a).cmp(&price(b)).then(worth(b).total_cmp(&worth(a))));
        ranked
    }
}
