//! The words for what scenes show.

use crate::engine::policy::{Action, Policy, PolicyKind, SLOTS};
use crate::engine::trace::{SpanKind, Track};
use crate::scene::Fate;
use crate::scene::format;
use crate::scene::ledger::{BANDS, Band};
use crate::scene::pareto::Family;
use crate::words::{self, Locale};

/// A category's name.
#[must_use]
pub fn band(locale: Locale, band: Band) -> &'static str {
    match band {
        Band::Weights => words::chart_band_weights(locale),
        Band::Gradients => words::chart_band_gradients(locale),
        Band::Optimizer => words::chart_band_optimizer(locale),
        Band::Unmodelled => words::chart_band_unmodelled(locale),
        Band::Activations => words::chart_band_activations(locale),
        Band::InFlight => words::chart_band_in_flight(locale),
        Band::Workspace => words::chart_band_workspace(locale),
    }
}

pub fn bands(locale: Locale) -> [String; 7] {
    BANDS.map(|one| band(locale, one).to_owned())
}

pub fn kind(locale: Locale, kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Forward => words::chart_kind_forward(locale),
        SpanKind::Recompute => words::chart_kind_recompute(locale),
        SpanKind::Backward => words::chart_kind_backward(locale),
        SpanKind::Optimizer => words::chart_kind_optimizer(locale),
        SpanKind::StallRoom => words::chart_kind_stall_room(locale),
        SpanKind::StallCopy => words::chart_kind_stall_copy(locale),
        SpanKind::Offload => words::chart_kind_offload(locale),
        SpanKind::Prefetch => words::chart_kind_prefetch(locale),
        SpanKind::SsdWrite => words::chart_kind_ssd_write(locale),
        SpanKind::SsdRead => words::chart_kind_ssd_read(locale),
    }
}

pub fn track(locale: Locale, track: Track) -> &'static str {
    match track {
        Track::Compute => words::chart_track_compute(locale),
        Track::D2h => words::chart_track_d2h(locale),
        Track::H2d => words::chart_track_h2d(locale),
        Track::Ssd => words::chart_track_ssd(locale),
    }
}

/// What happens to something, in a word.
#[must_use]
pub fn fate(locale: Locale, fate: Fate) -> &'static str {
    match fate {
        Fate::All(Action::Keep) => words::chart_fate_keep(locale),
        Fate::All(Action::Recompute) => words::chart_fate_recompute(locale),
        Fate::All(Action::Host) => words::chart_fate_offload(locale),
        Fate::All(Action::Ssd) => words::chart_fate_ssd(locale),
        Fate::Mixed => words::chart_fate_mixed(locale),
        Fate::Nothing => words::chart_fate_nothing(locale),
    }
}

pub fn family(locale: Locale, family: Family) -> &'static str {
    match family {
        Family::Keep => words::chart_family_keep(locale),
        Family::Recompute => words::chart_family_recompute(locale),
        Family::Offload => words::chart_family_offload(locale),
        Family::Mix => words::chart_family_mixed(locale),
        Family::Other => words::chart_family_other(locale),
    }
}

/// A layer's name in the reader's language; names of a profile stay as they are.
#[must_use]
pub fn layer(locale: Locale, name: &str) -> String {
    match name.split_once(' ') {
        Some(("block", number)) => words::chart_name_block(locale, number),
        Some(("layer", number)) => words::chart_name_layer(locale, number),
        None if name == "embedding" => words::chart_name_embedding(locale).to_owned(),
        _ if name == "received input" => words::chart_name_received(locale).to_owned(),
        _ if name == "head and loss" => words::chart_name_head(locale).to_owned(),
        _ => name.to_owned(),
    }
}

type Words = fn(Locale) -> &'static str;

/// Every part of a saved tensor's name, with its words.
const TENSORS: &[(&str, Words)] = &[
    ("attention norm", words::tensor_attention_norm),
    ("mlp norm", words::tensor_mlp_norm),
    ("final norm", words::tensor_final_norm),
    ("embedding norm", words::tensor_embedding_norm),
    ("query and key norm", words::tensor_query_and_key_norm),
    ("fp32 copy", words::tensor_fp32_copy),
    ("input", words::tensor_input),
    ("statistics", words::tensor_statistics),
    ("normalized", words::tensor_normalized),
    ("output", words::tensor_output),
    ("token ids", words::tensor_token_ids),
    ("log-probabilities (fp32)", words::tensor_log_probabilities_fp32),
    ("query", words::tensor_query),
    ("key", words::tensor_key),
    ("value", words::tensor_value),
    ("log-sum-exp", words::tensor_log_sum_exp),
    ("attention output", words::tensor_attention_output),
    ("attention output, contiguous", words::tensor_attention_output_contiguous),
    ("attention probabilities", words::tensor_attention_probabilities),
    ("attention dropout mask (scores)", words::tensor_attention_dropout_mask_scores),
    ("attention probabilities, to the values", words::tensor_attention_probabilities_to_the_values),
    ("MLP gate", words::tensor_mlp_gate),
    ("MLP up", words::tensor_mlp_up),
    ("MLP activation", words::tensor_mlp_activation),
    ("MLP product", words::tensor_mlp_product),
    ("MLP hidden", words::tensor_mlp_hidden),
    ("MLP cube", words::tensor_mlp_cube),
    ("MLP tanh", words::tensor_mlp_tanh),
    ("MLP half", words::tensor_mlp_half),
    ("attention dropout mask", words::tensor_attention_dropout_mask),
    ("MLP dropout mask", words::tensor_mlp_dropout_mask),
    ("embedding dropout mask", words::tensor_embedding_dropout_mask),
    ("activation", words::tensor_activation),
    ("random state", words::tensor_random_state),
];

/// A saved tensor's name in the reader's language ("norm: input" part by part); names of a profile stay as they are.
#[must_use]
pub fn tensor(locale: Locale, name: &str) -> String {
    let part = |text: &str| {
        let known = TENSORS.iter().find(|(one, _)| *one == text);
        known.map_or_else(|| text.to_owned(), |(_, words)| words(locale).to_owned())
    };
    let colon = if locale == Locale::Zh { "：" } else { ": " };
    name.split(": ").map(part).collect::<Vec<_>>().join(colon)
}

/// A policy in a few words, with the numbers that tell it from its neighbours.
#[must_use]
pub fn policy_name(locale: Locale, policy: &Policy) -> String {
    let k = policy.segments.as_ref().map_or(policy.k, |list| list.len() as u64).to_string();
    let name = match policy.kind {
        PolicyKind::Keep => words::chart_plan_keep(locale).to_owned(),
        PolicyKind::Checkpoint => words::chart_plan_checkpoint(locale, &k),
        PolicyKind::Recompute => words::chart_plan_recompute(locale).to_owned(),
        PolicyKind::Offload => words::chart_plan_offload(locale).to_owned(),
        PolicyKind::OffloadBoundaries => words::chart_plan_offload_boundaries(locale).to_owned(),
        PolicyKind::Mix => words::chart_plan_mix(locale, &format::plain(policy.beta, 3), &k),
        PolicyKind::Selective => words::chart_plan_selective(locale).to_owned(),
        PolicyKind::Rule => words::chart_plan_rule(locale).to_owned(),
        PolicyKind::Binomial => {
            words::chart_plan_binomial(locale, &policy.slots.unwrap_or(SLOTS).to_string())
        }
        PolicyKind::Rotor => words::chart_plan_rotor(locale).to_owned(),
        PolicyKind::Plan => words::chart_plan_list(locale).to_owned(),
        PolicyKind::Best => words::chart_plan_best(locale).to_owned(),
    };
    let mut parts = vec![name];
    parts.extend(details(locale, policy));
    parts.join(match locale {
        Locale::En => ", ",
        Locale::Zh => "，",
    })
}

fn details(locale: Locale, policy: &Policy) -> Vec<String> {
    let copies = matches!(
        policy.kind,
        PolicyKind::Offload | PolicyKind::OffloadBoundaries | PolicyKind::Mix | PolicyKind::Rule
    );
    let segments = matches!(
        policy.kind,
        PolicyKind::Checkpoint
            | PolicyKind::Recompute
            | PolicyKind::OffloadBoundaries
            | PolicyKind::Binomial
    );
    let mut parts = Vec::new();
    if copies && policy.medium == Action::Ssd {
        parts.push(words::chart_plan_ssd(locale).to_owned());
    }
    if copies && policy.prefetch_layers != 1 {
        parts.push(words::chart_plan_prefetch(locale, &policy.prefetch_layers.to_string()));
    }
    if segments && policy.last_segment_plain {
        parts.push(words::chart_plan_last_plain(locale).to_owned());
    }
    parts
}
