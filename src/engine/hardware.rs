//! The card, its links and what stands behind them. Each preset's figure carries its source (preset/hardware.json).

use super::error::{Error, Notes};
use super::preset;
use super::read::Group;
use super::units::{Bytes, BytesPerSec, FlopsPerSec};
use super::workload::states::Dtype;
use serde_json::Value;

/// One card and its share of the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Hardware {
    /// Memory of the card.
    pub memory: Bytes,
    /// Rate that matrix multiplications reach: peak × efficiency.
    pub compute: FlopsPerSec,
    /// Memory bandwidth.
    pub hbm: BytesPerSec,
    /// Device to host, this card's share of the link.
    pub d2h: BytesPerSec,
    /// Host to device, this card's share of the link.
    pub h2d: BytesPerSec,
    /// Both directions at once.
    pub duplex: bool,
    /// Fixed cost of each copy, s.
    pub copy_overhead_s: f64,
    /// Pinned host memory.
    pub host: Bytes,
    /// SSD read rate.
    pub ssd_read: BytesPerSec,
    /// SSD write rate.
    pub ssd_write: BytesPerSec,
    /// SSD space.
    pub ssd: Bytes,
    /// Reserved by the user for what is not modelled.
    pub unmodelled: Bytes,
}

impl Hardware {
    /// Reads the `hardware` group for `dtype`. Cards on one link copy at the same time, so each has its share.
    ///
    /// # Errors
    /// An [`Error`] that names the key.
    pub fn read(given: Option<&Value>, dtype: Dtype, notes: &mut Notes) -> Result<Self, Error> {
        let mut base = preset::merge("hardware", given, preset::cards(), preset::DEFAULT_CARD)?;
        if let Some(peak) = peak_of(base.get("tflops"), dtype) {
            base.insert("tflops".to_owned(), peak.into());
        }
        let mut group = Group::new("hardware", &base, given, notes)?;
        let share = 1.0 / cast(group.int("cards_per_link", 1)?);
        let gbps = |rate: f64| BytesPerSec(rate * 1e9);
        Ok(Self {
            memory: Bytes::from_gib(group.float("memory_gib", 24.0)?),
            compute: FlopsPerSec(
                group.float("tflops", 100.0)? * 1e12 * group.float("efficiency", 0.5)?,
            ),
            hbm: gbps(group.float("hbm_gbps", 1000.0)?),
            d2h: gbps(group.float("d2h_gbps", 25.0)? * share),
            h2d: gbps(group.float("h2d_gbps", 25.0)? * share),
            duplex: group.flag("duplex", true)?,
            copy_overhead_s: group.float("copy_overhead_us", 10.0)? / 1e6,
            host: Bytes::from_gib(group.float("host_gib", 64.0)?),
            ssd_read: gbps(group.float("ssd_read_gbps", 6.0)?),
            ssd_write: gbps(group.float("ssd_write_gbps", 5.0)?),
            ssd: Bytes::from_gib(group.float("ssd_gib", 1000.0)?),
            unmodelled: Bytes::from_gib(group.float("unmodelled_gib", 0.0)?),
        })
    }
}

/// The preset's peak for the matrix multiplications of `dtype`, with the nearest that the card has in its stead.
fn peak_of(table: Option<&Value>, dtype: Dtype) -> Option<f64> {
    let rate = |key: &str| table?.get(key)?.as_f64();
    match dtype {
        Dtype::Fp32 => rate("fp32"),
        Dtype::Fp16Mixed => rate("fp16").or_else(|| rate("bf16")),
        Dtype::Bf16 | Dtype::Bf16Mixed | Dtype::Bf16Autocast => {
            rate("bf16").or_else(|| rate("fp16"))
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most 64")]
fn cast(cards: u64) -> f64 {
    cards as f64
}
