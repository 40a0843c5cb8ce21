//! A scenario under a plan, evaluated: run within the budget, or on a card that is large enough where it does not fit; then
//! read. Principal functions [`evaluate`] and, for the search, [`summarize`].

use super::chain::Chain;
use super::error::{Error, Notes};
use super::hardware::Hardware;
use super::ledger::{self, Ledger, Row};
use super::lesson;
use super::outcome::{Binding, LayerOutcome, Operation, OutOfMemory, Outcome, Reason, Summary};
use super::plan::{LayerPlan, Plan};
use super::policy::{Action, Policy, PolicyKind};
use super::program::Program;
use super::rule::{self, Choice};
use super::scenario::Scenario;
use super::search::rotor;
use super::simulate::{self, Refusal, Run};
use super::trace::{self, Times};
use super::units::{Bytes, LIMIT, Nanos};

/// Evaluates a scenario under its policy (`best` resolved by the search).
#[must_use]
pub fn evaluate(scenario: &Scenario) -> Outcome {
    let policy = if scenario.asks_for_best() {
        super::search::best(scenario)
    } else {
        scenario.policy.clone()
    };
    let plan = plan(scenario, &policy);
    evaluate_plan(scenario, policy, plan)
}

/// The plan that a policy means in a scenario: as [`Plan::of`], and `rotor` within the scenario's memory limit.
#[must_use]
pub fn plan(scenario: &Scenario, policy: &Policy) -> Plan {
    if policy.kind == PolicyKind::Rotor {
        return rotor::plan(scenario, policy);
    }
    Plan::of(policy, &scenario.chain, &scenario.hardware)
}

/// Parses, evaluates.
///
/// # Errors
/// As [`Scenario::parse`].
pub fn evaluate_text(text: &str) -> Result<(Scenario, Notes, Outcome), Error> {
    let (scenario, notes) = Scenario::parse(text)?;
    let outcome = evaluate(&scenario);
    Ok((scenario, notes, outcome))
}

/// A plan's run within the budget, or on a card that is large enough when it has none.
struct Attempt {
    run: Run,
    refusal: Option<Refusal>,
    background: Bytes,
}

/// The run behind an outcome, and what other micro-batches in flight hold beside it: for who asks where its numbers come from.
#[must_use]
pub fn rerun(scenario: &Scenario, outcome: &Outcome) -> (Run, Bytes) {
    let Attempt { run, background, .. } = attempt(scenario, &outcome.plan);
    (run, background)
}

fn attempt(scenario: &Scenario, plan: &Plan) -> Attempt {
    let chain = &scenario.chain;
    let program = Program::of(chain, plan);
    let background = chain.pipeline.others(program.resident_after_forward());
    let fixed = chain.standing().total() + background;
    let room = scenario.limits.memory.saturating_sub(fixed);
    let (refusal, program) = if fixed > scenario.limits.memory {
        let missing = fixed.saturating_sub(scenario.limits.memory);
        let first = program.ops[0].taken();
        (Refusal::Device { op: 0, missing: missing + first }, program)
    } else {
        match simulate::run(program, plan.prefetch, &share_of_host(scenario), room) {
            Ok(run) => {
                let states = states_without_host(scenario) > Bytes::ZERO;
                let refusal = states.then_some(Refusal::Host { missing: Bytes::ZERO });
                return Attempt { run, refusal, background };
            }
            Err(refused) => refused,
        }
    };
    let run = roomy(scenario, program, plan.prefetch);
    Attempt { run, refusal: Some(refusal), background }
}

/// What of host memory and SSD one micro-batch has: all that are in flight keep theirs there at once, beside the states.
pub(crate) fn share_of_host(scenario: &Scenario) -> Hardware {
    let (hardware, chain) = (&scenario.hardware, &scenario.chain);
    let host = chain.pipeline.share(hardware.host.saturating_sub(chain.host_states));
    Hardware { host, ssd: chain.pipeline.share(hardware.ssd), ..hardware.clone() }
}

/// Offloaded model states that find no room on the host.
fn states_without_host(scenario: &Scenario) -> Bytes {
    scenario.chain.host_states.saturating_sub(scenario.hardware.host)
}

/// A program's run where device and host have room for everything.
fn roomy(scenario: &Scenario, program: Program, prefetch: usize) -> Run {
    let (host, ssd) = (Bytes(LIMIT), Bytes(LIMIT));
    let hardware = Hardware { host, ssd, ..scenario.hardware.clone() };
    simulate::run(program, prefetch, &hardware, Bytes(u64::MAX >> 1))
        .unwrap_or_else(|(refusal, _)| unreachable!("with room for everything: {refusal:?}"))
}

/// Whether offloading frees bytes after forward and yet leaves the peak (to a twentieth of them) where it would be without: how many.
fn peak_unmoved(scenario: &Scenario, plan: &Plan, run: &Run, peak: Bytes) -> Option<Bytes> {
    let away = &run.program;
    if away.offloads.is_empty() {
        return None;
    }
    let kept = Program::of(&scenario.chain, &plan.without_offload());
    let freed = kept.resident_after_forward().saturating_sub(away.resident_after_forward());
    let background = scenario.chain.pipeline.others(kept.resident_after_forward());
    let run = roomy(scenario, kept, plan.prefetch);
    let before = ledger::highest(&run, &scenario.chain.standing(), background);
    let moved = before.saturating_sub(peak);
    (freed > Bytes::ZERO && moved.times(20) < freed).then_some(freed)
}

/// The least memory in which a plan runs, waiting for copies allowed.
#[must_use]
pub fn least_memory(scenario: &Scenario, plan: &Plan) -> Bytes {
    let chain = &scenario.chain;
    let program = Program::of(chain, plan);
    let background = chain.pipeline.others(program.resident_after_forward());
    chain.standing().total() + background + simulate::need(&program)
}

fn step_time(chain: &Chain, micro: Nanos) -> Nanos {
    chain.in_step(micro) + chain.optimizer
}

/// Peak and step alone: what the search needs of a plan.
#[must_use]
pub fn summarize(scenario: &Scenario, plan: &Plan) -> Summary {
    let chain = &scenario.chain;
    let Attempt { run, refusal, background } = attempt(scenario, plan);
    let peak = ledger::highest(&run, &chain.standing(), background);
    let step = step_time(chain, run.micro_end);
    let (recompute, stall) = run.added();
    Summary {
        peak,
        step,
        recompute: chain.in_step(recompute),
        stall: chain.in_step(stall),
        runs: refusal.is_none(),
        fits: refusal.is_none() && scenario.limits.step.is_none_or(|limit| step <= limit),
    }
}

/// Evaluates a scenario under a given plan; `policy` is what it is called.
#[must_use]
pub fn evaluate_plan(scenario: &Scenario, policy: Policy, plan: Plan) -> Outcome {
    let chain = &scenario.chain;
    let plain = plain(scenario);
    let Attempt { run, refusal, background } = attempt(scenario, &plan);
    let ledger = Ledger::of(&run, &chain.standing(), background);
    let times = trace::times(&run);
    let step = step_time(chain, run.micro_end);
    let peak = ledger.peak();
    let layers = layers(scenario, &policy, &plan, &run, plain.step);
    let needed = chain.standing().total() + background + simulate::need(&run.program);
    let out_of_memory = refusal.map(|refusal| out_of_memory(scenario, &run, refusal, background));
    let last_forward = run.program.turn - 1;
    let resident = ledger.after(last_forward, run.ops[last_forward].end);
    Outcome {
        fits: out_of_memory.is_none() && scenario.limits.step.is_none_or(|limit| step <= limit),
        binding: binding(out_of_memory.as_ref(), &times),
        out_of_memory,
        shortage: needed.saturating_sub(scenario.limits.memory),
        memory: scenario.limits.memory,
        fixed: Row::from(&chain.fixed),
        standing: Row::from(&chain.standing()),
        ledger: ledger.steps(),
        spans: trace::spans(&run),
        activation_bytes: chain.activation_bytes(),
        resident_after_forward: (resident.activations + resident.in_flight)
            .saturating_sub(background),
        peak_unmoved: peak_unmoved(scenario, &plan, &run, peak.row.total()),
        host_peak: chain.pipeline.all(run.host_peak) + chain.host_states,
        ssd_peak: chain.pipeline.all(run.ssd_peak),
        ssd_written: run.ssd_peak.times(chain.accumulation),
        bytes_moved: run.program.offloads.iter().map(|copy| copy.bytes).sum(),
        layers,
        times,
        micro: run.micro_end,
        step,
        plain_step: plain.step,
        plain_peak: plain.peak,
        lesson: lesson::of(scenario, &policy, &plain, (peak.row.total(), step)),
        peak,
        policy,
        plan,
    }
}

/// Keep-everything on a card that is large enough: what overhead is over.
#[must_use]
pub fn plain(scenario: &Scenario) -> Summary {
    let mut roomy = scenario.clone();
    roomy.limits.memory = Bytes(u64::MAX >> 2);
    roomy.limits.step = None;
    summarize(&roomy, &Plan::keep(&scenario.chain))
}

fn out_of_memory(
    scenario: &Scenario,
    run: &Run,
    refusal: Refusal,
    background: Bytes,
) -> OutOfMemory {
    let states = scenario.chain.standing().total() + background;
    match refusal {
        Refusal::Host { missing } => {
            let homeless = states_without_host(scenario);
            let after_forward = run.ops[run.program.turn - 1].end;
            OutOfMemory {
                at: if homeless > Bytes::ZERO { Nanos::ZERO } else { after_forward },
                operation: Operation::Host,
                missing: scenario.chain.pipeline.all(missing) + homeless,
            }
        }
        Refusal::Device { missing, .. } if states > scenario.limits.memory => {
            OutOfMemory { at: Nanos::ZERO, operation: Operation::States, missing }
        }
        Refusal::Device { op, missing } => OutOfMemory {
            at: run.ops[op].start,
            operation: Operation::Op(run.program.ops[op].kind, run.program.ops[op].layer),
            missing,
        },
    }
}

fn binding(out_of_memory: Option<&OutOfMemory>, times: &Times) -> Binding {
    match out_of_memory.map(|stop| &stop.operation) {
        Some(Operation::Host) => Binding::Host,
        Some(_) => Binding::Memory,
        None if times.stall == Nanos::ZERO => Binding::Compute,
        None if times.stall_room > times.stall - times.stall_room => Binding::Memory,
        None => Binding::Link,
    }
}

fn layers(
    scenario: &Scenario,
    policy: &Policy,
    plan: &Plan,
    run: &Run,
    plain_step: Nanos,
) -> Vec<LayerOutcome> {
    let chain = &scenario.chain;
    let windows = rule::windows(chain);
    let waits = trace::waits(run, chain);
    let total = chain.activation_bytes().as_f64().max(1.0);
    let one = |i: usize| {
        let layer = &chain.layers[i];
        let saved = layer.saved_bytes();
        let choice = Choice {
            window: windows[i],
            round_trip: rule::round_trip(&scenario.hardware, saved, policy.medium),
            queue: Nanos::ZERO,
            recompute: layer.forward,
        };
        let (freed, cost) = decided(scenario, policy, plan, i, &choice);
        let paid = cost.secs() / plain_step.secs().max(1e-12);
        let freed = freed.as_f64() / total;
        LayerOutcome {
            actions: actions(plan, chain, i),
            wait: waits[i],
            benefit_ratio: (saved > Bytes::ZERO && paid > 0.0).then(|| freed / paid),
            reason: reason(saved, &choice, policy),
            choice,
        }
    };
    (0..chain.layers.len()).map(one).collect()
}

/// What the plan frees of a layer until its backward, and what it pays for that by the lesson's costs; what
/// the cheaper of the two would, for a layer that it keeps. A segment keeps one boundary for all its layers.
pub(crate) fn decided(
    scenario: &Scenario,
    policy: &Policy,
    plan: &Plan,
    i: usize,
    choice: &Choice,
) -> (Bytes, Nanos) {
    let layer = &scenario.chain.layers[i];
    let saved = layer.saved_bytes();
    let cheaper = choice.offload_cost().min(choice.recompute);
    match &plan.layers[i] {
        LayerPlan::Segment(at) => {
            let segment = plan.segments[*at];
            let first = &scenario.chain.layers[segment.start];
            let kept = if segment.boundary == Action::Keep { first.boundary.0 } else { 0 };
            let share = kept / (segment.end - segment.start) as u64;
            (saved.saturating_sub(Bytes(share)), choice.recompute.times(plan.repeats(i) as u64))
        }
        LayerPlan::Plain(actions) => {
            let of = |wanted: fn(Action) -> bool| {
                layer.saved.iter().zip(actions).filter(move |(_, action)| wanted(**action))
            };
            let away = of(|action| matches!(action, Action::Host | Action::Ssd));
            let away: Bytes = away.map(|(tensor, _)| tensor.bytes).sum();
            let again = || of(|action| action == Action::Recompute).map(|(tensor, _)| tensor);
            let dropped: Bytes = again().map(|tensor| tensor.bytes).sum();
            let recompute: Nanos = again().map(|tensor| tensor.recompute).sum();
            let freed = away + dropped;
            if freed == Bytes::ZERO {
                (saved, cheaper)
            } else if away == saved {
                (saved, choice.offload_cost())
            } else {
                let copies = rule::round_trip(&scenario.hardware, away, policy.medium);
                (
                    freed,
                    recompute.min(layer.forward)
                        + if away == Bytes::ZERO { Nanos::ZERO } else { copies },
                )
            }
        }
    }
}

fn actions(plan: &Plan, chain: &Chain, i: usize) -> Vec<Action> {
    let saved = chain.layers[i].saved.iter().enumerate();
    saved.map(|(t, tensor)| plan.effective(chain, i, t, tensor.storage)).collect()
}

fn reason(saved: Bytes, choice: &Choice, policy: &Policy) -> Reason {
    if saved == Bytes::ZERO { Reason::NothingSaved } else { choice.reason(policy.epsilon()) }
}
