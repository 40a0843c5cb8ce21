//! Changes in words.

use crate::engine::policy::PolicyKind;
use crate::engine::preset;
use crate::engine::units::Bytes;
use crate::engine::why::change::{Change, What};
use crate::engine::why::trial::Trial;
use crate::scene::format;
use crate::ui::chart::policy_name;
use crate::words::{self, Locale};
use serde_json::Value;

/// A change and what comes with it: "LoRA, rank 16 + Recompute every layer".
#[must_use]
pub fn change(trial: &Trial, locale: Locale) -> String {
    let all: Vec<String> = trial.change.kinds().map(|what| name(what, trial, locale)).collect();
    all.join(" + ")
}

fn name(what: What, trial: &Trial, locale: Locale) -> String {
    let set = |path: &str| value(&trial.change, path);
    let number = |path: &str| set(path).and_then(Value::as_u64).unwrap_or_default().to_string();
    let gib = |path: &str| {
        format::bytes(Bytes::from_gib(set(path).and_then(Value::as_f64).unwrap_or_default()))
    };
    let plan = || policy_name(locale, &trial.policy);
    match what {
        What::Best if trial.policy.kind == PolicyKind::Plan => {
            words::chart_plan_best(locale).to_owned()
        }
        What::Best => words::why_best(locale, &plan()),
        What::Recompute
        | What::OffloadBoundaries
        | What::Offload
        | What::OffloadSsd
        | What::MoreSegments
        | What::FewerSegments => plan(),
        What::PerTensor => words::why_per_tensor(locale).to_owned(),
        What::WholeCard => words::why_whole_card(locale, &format::bytes(trial.memory)),
        What::MicroBatch => words::why_micro_batch(
            locale,
            &number("workload.batch"),
            &number("workload.accumulation"),
        ),
        What::LossChunks => words::why_loss_chunks(locale, &number("workload.loss_chunks")),
        What::Flash => words::why_flash(locale).to_owned(),
        What::Zero => words::why_zero(locale, &number("training.zero")),
        What::Cards => words::why_cards(locale, &number("training.dp")),
        What::SequenceParallel => words::why_sp(locale).to_owned(),
        What::HostStates => words::why_host_states(locale).to_owned(),
        What::HostMemory => words::why_host_memory(locale, &gib("hardware.host_gib")),
        What::Card => card(set("hardware")),
        What::Optimizer8bit => words::why_optimizer(locale).to_owned(),
        What::GradDtype => words::why_grad_dtype(locale).to_owned(),
        What::Lora => lora(&trial.change, locale).to_owned(),
        What::Sequence => words::why_sequence(locale, &number("workload.seq")),
        What::Batch => words::why_batch(locale, &number("workload.batch")),
    }
}

fn value<'a>(change: &'a Change, path: &str) -> Option<&'a Value> {
    change.set.iter().find(|(one, _)| one == path).map(|(_, value)| value)
}

fn card(group: Option<&Value>) -> String {
    let id = group.and_then(|group| group["preset"].as_str()).unwrap_or_default();
    let label = preset::find(preset::cards(), id).and_then(|card| card.get("label")?.as_str());
    label.unwrap_or(id).to_owned()
}

/// Adapters on a base of 16 bit, on one of 4, or such a base for those that are there.
fn lora(change: &Change, locale: Locale) -> &'static str {
    let quantized = value(change, "training.frozen_dtype").is_some_and(|dtype| dtype == "nf4");
    match (value(change, "training.lora_rank").is_some(), quantized) {
        (true, false) => words::app_lora(locale),
        (true, true) => words::app_qlora(locale),
        (false, _) => words::why_lora_base(locale),
    }
}
