//! What is to be said about a fit, as values: the door says it in English, the page in its own languages.

use super::Knob;
use super::Number;
use crate::engine::units::Bytes;
use std::fmt::{Display, Formatter, Result};

/// One remark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note {
    /// Nothing that was given determines this knob.
    Undetermined(Knob),
    /// No step that was given changes with this knob: it was measured, or has no such part.
    NoEffect(Knob),
    /// The copies hide behind compute, or the link of the scenario is slower than the measured step allows at any rate.
    Hidden(Knob),
    /// The measured peak is below what is modelled.
    PeakBelow(Number, Bytes),
    /// No value of the fitted knobs brings the model to this number.
    Unexplained(Number, f64),
    /// The model says that this run does not fit.
    DoesNotFit(Number, Bytes),
    /// The plan that the search chose with the old knobs was held.
    BestHeld,
}

impl Note {
    /// The code in the JSON.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Undetermined(_) => "undetermined",
            Self::NoEffect(_) => "no-effect",
            Self::Hidden(_) => "hidden",
            Self::PeakBelow(..) => "peak-below",
            Self::Unexplained(..) => "unexplained",
            Self::DoesNotFit(..) => "does-not-fit",
            Self::BestHeld => "best-held",
        }
    }

    /// The knob or number that it is about, by its key; `policy` where it is neither.
    #[must_use]
    pub const fn about(&self) -> &'static str {
        match self {
            Self::Undetermined(knob) | Self::NoEffect(knob) | Self::Hidden(knob) => knob.name(),
            Self::PeakBelow(number, _)
            | Self::Unexplained(number, _)
            | Self::DoesNotFit(number, _) => number.what,
            Self::BestHeld => "policy",
        }
    }
}

impl Display for Note {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let about = self.about();
        match self {
            Self::Undetermined(knob) => {
                let needs = match knob {
                    Knob::Efficiency => "a measured step",
                    Knob::BackwardRatio => "measured steps of two plans that recompute differently",
                    Knob::Unmodelled => "a measured peak",
                    Knob::ToHost | Knob::ToDevice => "a measured step that offloads (step_offload_s)",
                };
                write!(f, "{about} is left alone: it takes {needs}")
            }
            Self::NoEffect(_) => write!(f, "{about} is left alone: no step that was given depends on it"),
            Self::Hidden(_) => write!(
                f,
                "{about} is left alone: the step that offloads is no longer than its compute, so it says nothing of the link"
            ),
            Self::PeakBelow(number, modelled) => write!(
                f,
                "{about} is {:.3} GiB, below the {:.3} GiB that are modelled: unmodelled memory is never negative, the \
                 difference is the model's or the measurement's",
                number.peak().unwrap_or_default().gib(),
                modelled.gib()
            ),
            Self::Unexplained(_, share) => write!(
                f,
                "{about} stays {:.1} % off: no value of the fitted knobs explains it",
                100.0 * share
            ),
            Self::DoesNotFit(_, memory) => write!(
                f,
                "by the model, the run of {about} does not fit in {:.3} GiB; its step is that of a card that is large enough",
                memory.gib()
            ),
            Self::BestHeld => f.write_str(
                "the best plan was chosen with the old knobs and held; with the new ones the search may choose another",
            ),
        }
    }
}
