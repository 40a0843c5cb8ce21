//! What the scenario uses and the model leaves out, said under the verdict.

use crate::engine::Scenario;
use crate::engine::workload::Workload;
use crate::engine::workload::states::OffloadStates;
use crate::words::{self, Locale};

/// One sentence on the time that is not counted; none where everything that runs is.
#[must_use]
pub fn caveats(scenario: &Scenario, locale: Locale) -> Option<String> {
    if !matches!(scenario.workload, Workload::Transformer(_)) {
        return None;
    }
    let training = &scenario.training;
    let sharded = training.zero > 0 && training.dp > 1;
    let said = [
        (training.tp > 1, words::caveat_tp as fn(Locale) -> &'static str),
        (training.pp > 1, words::caveat_pp),
        (training.dp > 1 && !sharded, words::caveat_dp),
        (sharded, words::caveat_zero),
        (training.offload_states != OffloadStates::None, words::caveat_offload),
    ];
    let said: Vec<_> = said.iter().filter(|one| one.0).map(|one| (one.1)(locale)).collect();
    let between = if locale == Locale::Zh { "；" } else { "; " };
    (!said.is_empty()).then(|| words::caveat_sentence(locale, &said.join(between)))
}
