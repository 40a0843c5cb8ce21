//! What must be said beside the views: a change that was refused, values brought into range, keys that mean nothing here.

use crate::engine::Error;
use crate::engine::accepted::{Accepted, FAMILIES};
use crate::engine::error::Clamped;
use crate::words::{self, Locale};
use yew::prelude::*;

/// An error in the reader's language, with the numbers it carries.
#[must_use]
pub fn message(error: &Error, locale: Locale) -> String {
    match error {
        Error::Syntax { line, column, detail } => {
            words::notice_syntax(locale, &column.to_string(), detail, &line.to_string())
        }
        Error::TooLong { given, accepted } => {
            words::notice_too_long(locale, &accepted.to_string(), &given.to_string())
        }
        Error::Unfit { path, given, accepted } => {
            words::notice_unfit(locale, &accepted_words(accepted, locale), given, path)
        }
        Error::Missing { path, accepted } => {
            words::notice_missing(locale, &accepted_words(accepted, locale), path)
        }
        Error::TooLarge { path, given, accepted } => {
            words::notice_too_large(locale, accepted, given, path)
        }
    }
}

/// What would be accepted, in the reader's language; names and numbers stay as they are.
fn accepted_words(accepted: &Accepted, locale: Locale) -> String {
    let n = |number: &dyn std::fmt::Display| number.to_string();
    match accepted {
        Accepted::Whole { min, max } => words::accepted_whole(locale, &n(max), &n(min)),
        Accepted::Number { min, max } => words::accepted_number(locale, &n(max), &n(min)),
        Accepted::OneOf(names) => words::accepted_one_of(locale, &names.join(", ")),
        Accepted::Layers(most) => words::accepted_layers(locale, &n(most)),
        Accepted::Tensors(most) => words::accepted_tensors(locale, &n(most)),
        Accepted::Boundaries(count) => words::accepted_boundaries(locale, &n(count)),
        Accepted::SumTo(total) => words::accepted_sum(locale, &n(total)),
        Accepted::Actions { blocks, layers, tensors } => {
            words::accepted_actions(locale, &n(blocks), &n(layers), &n(tensors))
        }
        Accepted::DividesHidden(hidden) => words::accepted_divides_hidden(locale, &n(hidden)),
        Accepted::DividesHeads(heads) => words::accepted_divides_heads(locale, &n(heads)),
        Accepted::SharesKeyHeads { heads, kv } => {
            words::accepted_shares_key_heads(locale, &n(heads), &n(kv))
        }
        Accepted::StepAbove(step) => words::accepted_step_above(locale, &n(step)),
        Accepted::StepBelow(step) => words::accepted_step_below(locale, &n(step)),
        Accepted::PeakAtMost(peak) => words::accepted_peak_at_most(locale, &n(peak)),
        Accepted::PeakAtLeast(peak) => words::accepted_peak_at_least(locale, &n(peak)),
        Accepted::Family => words::accepted_family(locale, FAMILIES),
        plain => plain_words(plain, locale).map_or_else(|| plain.to_string(), str::to_owned),
    }
}

/// What is accepted without a number; none for terms, and for what only the command line says.
fn plain_words(accepted: &Accepted, locale: Locale) -> Option<&'static str> {
    let words = match accepted {
        Accepted::Count => words::accepted_count,
        Accepted::Bytes => words::accepted_bytes,
        Accepted::Seconds => words::accepted_seconds,
        Accepted::Rate => words::accepted_rate,
        Accepted::Flag => words::accepted_flag,
        Accepted::Object => words::accepted_object,
        Accepted::List => words::accepted_list,
        Accepted::Runs => words::accepted_runs,
        Accepted::Part => words::accepted_part,
        Accepted::Parts => words::accepted_parts,
        Accepted::SomeActions => words::accepted_some_actions,
        Accepted::NeedsZero3 => words::accepted_needs_zero3,
        Accepted::Request => words::accepted_request,
        Accepted::Config => words::accepted_config,
        Accepted::Dense => words::accepted_dense,
        Accepted::NoLatent => words::accepted_no_latent,
        Accepted::InnerText => words::accepted_inner_text,
        Accepted::TextModel => words::accepted_text_model,
        Accepted::Unquantized => words::accepted_unquantized,
        Accepted::NoCross => words::accepted_no_cross,
        Accepted::NoEncoderDecoder => words::accepted_no_encoder_decoder,
        Accepted::Elsewhere => words::accepted_elsewhere,
        _ => return None,
    };
    Some(words(locale))
}

/// What there is to say.
pub struct Props {
    /// The language.
    pub locale: Locale,
    /// Why the last change was refused.
    pub problem: Option<AttrValue>,
    /// What was brought into range.
    pub clamped: Vec<Clamped>,
    /// Keys that mean nothing here.
    pub ignored: Vec<String>,
    /// What the model leaves out of what this scenario uses.
    pub caveats: Option<AttrValue>,
    /// The search has no worker.
    pub without_worker: bool,
    /// The model is a profile, which no address carries.
    pub profile: bool,
    /// So is a measurement.
    pub measured: bool,
    /// The notice was read.
    pub ondismiss: Callback<()>,
}

/// The notices; nothing when there are none.
pub fn notices(props: &Props) -> Html {
    let locale = props.locale;
    let clamped = props.clamped.iter().map(|clamped| {
        words::notice_clamped(
            locale,
            &clamped.given.to_string(),
            &clamped.path,
            &clamped.used.to_string(),
        )
    });
    let mut lines: Vec<String> = clamped.collect();
    if !props.ignored.is_empty() {
        lines.push(words::notice_ignored(locale, &props.ignored.join(", ")));
    }
    lines.extend(props.caveats.as_deref().map(str::to_owned));
    if props.without_worker {
        lines.push(words::notice_worker(locale).to_owned());
    }
    if props.profile {
        lines.push(words::notice_profile(locale).to_owned());
    }
    if props.measured {
        lines.push(words::notice_measured(locale).to_owned());
    }
    let dismissable =
        props.problem.is_some() || !props.clamped.is_empty() || !props.ignored.is_empty();
    html! {
        <div class="notices" aria-live="polite">
            if let Some(problem) = &props.problem {
                <p class="notice problem" role="alert">
                    {words::notice_refused(locale, problem)}{" "}{words::notice_kept(locale)}
                </p>
            }
            { for lines.into_iter().map(|line| html! { <p class="notice">{line}</p> }) }
            if dismissable {
                <button class="quiet" onclick={props.ondismiss.reform(|_| ())}>{words::notice_dismiss(locale)}</button>
            }
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::import_text;
    use crate::request::Request;

    #[test]
    fn refusals_are_worded_in_the_readers_language() {
        let opening =
            Request::read(Request::opening()).expect("the opening scenario reads").request;
        let pastes = [
            r#"{"model_type": "mamba"}"#,
            r#"{"model_type": "llama", "num_local_experts": 8}"#,
            r#"{"model_type": "gpt2", "n_layer": "many"}"#,
            r#"{"kind": "transformer", "batch": "many"}"#,
            r#"{"kind": "transformer", "hidden": 100, "heads": 3}"#,
            r#"{"v": 1, "workload": {"preset": "gpt2"}, "cost_model": "additive"}"#,
            r#"{"v": 1, "hardware": {"preset": "rtx-4090"}, "knapsack": {}}"#,
        ];
        for paste in pastes {
            let imported = import_text(paste).expect("it is JSON");
            let error = opening.with_import(&imported).expect_err("it is refused");
            let (english, chinese) = (message(&error, Locale::En), message(&error, Locale::Zh));
            assert!(english.contains("expected"), "{english}");
            assert!(
                chinese.contains("应为") && !chinese.contains(" a ") && !chinese.contains("one of"),
                "{chinese}"
            );
        }
    }
}
