//! Where numbers come from: papers, measurements, a preset's own sources, or the reader. Principal type [`Source`].

use crate::engine::preset;
use serde_json::{Map, Value};

/// Where a quantity or a formula comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Explained by a line of its own.
    None,
    /// Set by the reader, or the setting's default.
    Setting,
    /// Of a preset, with the source that the preset itself names.
    Preset(&'static str),
    /// Read from the simulation of this step.
    Simulation,
    /// Published or measured.
    Work(Work),
}

/// A work that is cited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Korthikanti et al. 2022: activations of a transformer layer.
    Korthikanti,
    /// Rajbhandari et al. 2020: bytes of model states.
    Rajbhandari,
    /// Saved tensors measured on PyTorch.
    Measured,
    /// Peaks under checkpointing, measured on PyTorch.
    Peaks,
    /// Chen et al. 2016: checkpoints.
    Chen,
    /// The roofline of Williams et al. 2009.
    Roofline,
}

impl Work {
    /// Author and year, or the file of the measurement; and where it can be read.
    #[must_use]
    pub const fn citation(self) -> (&'static str, &'static str) {
        match self {
            Self::Korthikanti => {
                ("Korthikanti et al. 2022, arXiv:2205.05198", "https://arxiv.org/abs/2205.05198")
            }
            Self::Rajbhandari => {
                ("Rajbhandari et al. 2020, arXiv:1910.02054", "https://arxiv.org/abs/1910.02054")
            }
            Self::Measured => ("PyTorch 2.8, tests/vectors/layer_saved.json", ""),
            Self::Peaks => ("PyTorch 2.8, tests/vectors/checkpoint_peaks.json", ""),
            Self::Chen => {
                ("Chen et al. 2016, arXiv:1604.06174", "https://arxiv.org/abs/1604.06174")
            }
            Self::Roofline => {
                ("Williams et al. 2009, CACM 52(4)", "https://doi.org/10.1145/1498765.1498785")
            }
        }
    }
}

/// Where the value in force of `group.key` comes from: the preset's source while it is the preset's value, else the reader.
#[must_use]
pub fn setting(settings: &Map<String, Value>, group: &str, key: &str) -> Source {
    let table = if group == "hardware" { preset::cards() } else { preset::models() };
    let found = settings.get(group).and_then(|group| {
        let id = group.get("preset")?.as_str()?;
        Some((group.get(key)?, preset::find(table, id)?))
    });
    let Some((value, preset)) = found else {
        return Source::Setting;
    };
    let same =
        |other: &Value| other == value || other.as_f64().is_some_and(|n| Some(n) == value.as_f64());
    let sources = preset.get("sources");
    let source = |key: &str| sources.and_then(|sources| sources.get(key)?.as_str());
    match preset.get(key) {
        // A rate for each dtype.
        Some(Value::Object(rates)) => {
            // fp16 where bf16 is the same: the first that has the value.
            let rate = rates.iter().find(|(_, rate)| same(rate));
            rate.and_then(|(dtype, _)| source(&format!("{key}.{dtype}")))
                .map_or(Source::Setting, Source::Preset)
        }
        Some(own) if same(own) => source(key)
            .or_else(|| preset.get("source").and_then(Value::as_str))
            .map_or(Source::Setting, Source::Preset),
        _ => Source::Setting,
    }
}
