//! The card, its links and what stands behind them. Each preset's figure carries its source (preset/hardware.json).

use super::error::{Error, Notes};
use super::names::names;
use super::preset;
use super::read::Group;
use super::units::{Bytes, BytesPerSec, FlopsPerSec, Nanos};
use super::workload::states::Dtype;
use serde_json::Value;

names! {
    /// What of the link's rate a copy reaches.
    LinkEfficiency {
        /// All of it: the rate is a measured one.
        Flat = "flat",
        /// The more, the larger the copy: the rate is the link's nominal one.
        BySize = "by-size",
    }
}

impl LinkEfficiency {
    /// The share that a copy of that size reaches (Isaev et al. 2023, "Calculon", the steps of its system files).
    #[must_use]
    pub const fn of(self, size: Bytes) -> f64 {
        match (self, size.0) {
            (Self::Flat, _) => 1.0,
            (Self::BySize, 100_000_000..) => 0.95,
            (Self::BySize, 10_000_000..) => 0.9,
            (Self::BySize, 1_000_000..) => 0.7,
            (Self::BySize, _) => 0.3,
        }
    }
}

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
    /// Cards that share the link.
    pub cards_per_link: u64,
    /// Both directions at once.
    pub duplex: bool,
    /// Fixed cost of each copy, s.
    pub copy_overhead_s: f64,
    /// What of the link's rate copies reach.
    pub link_efficiency: LinkEfficiency,
    /// Time to page-lock the host buffer of each copy out, s: none where buffers are pooled.
    pub page_lock_s: f64,
    /// Copies take their bytes of memory bandwidth from compute.
    pub copies_use_hbm: bool,
    /// Pinned host memory.
    pub host: Bytes,
    /// Memory bandwidth of the host, this card's share.
    pub host_rate: BytesPerSec,
    /// SSD read rate.
    pub ssd_read: BytesPerSec,
    /// SSD write rate.
    pub ssd_write: BytesPerSec,
    /// SSD space.
    pub ssd: Bytes,
    /// What the SSD is rated to take in its life, bytes (may exceed what a size can be).
    pub ssd_endurance: f64,
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
        let pooled = group.flag("pooled_buffers", true)?;
        let page_lock_s = group.float("page_lock_ms", 3.0)? / 1e3;
        let cards_per_link = group.int("cards_per_link", 1)?;
        let share = 1.0 / cast(cards_per_link);
        let gbps = |rate: f64| BytesPerSec(rate * 1e9);
        Ok(Self {
            memory: Bytes::from_gib(group.float("memory_gib", 24.0)?),
            compute: FlopsPerSec(
                group.float("tflops", 100.0)? * 1e12 * group.float("efficiency", 0.5)?,
            ),
            hbm: gbps(group.float("hbm_gbps", 1000.0)?),
            d2h: gbps(group.float("d2h_gbps", 25.0)? * share),
            h2d: gbps(group.float("h2d_gbps", 25.0)? * share),
            cards_per_link,
            duplex: group.flag("duplex", true)?,
            copy_overhead_s: group.float("copy_overhead_us", 10.0)? / 1e6,
            link_efficiency: group.choice(
                "link_efficiency",
                LinkEfficiency::Flat,
                LinkEfficiency::parse,
            )?,
            page_lock_s: if pooled { 0.0 } else { page_lock_s },
            copies_use_hbm: group.flag("copies_use_hbm", false)?,
            host: Bytes::from_gib(group.float("host_gib", 64.0)?),
            host_rate: gbps(group.float("host_gbps", 50.0)?),
            ssd_read: gbps(group.float("ssd_read_gbps", 6.0)?),
            ssd_write: gbps(group.float("ssd_write_gbps", 5.0)?),
            ssd: Bytes::from_gib(group.float("ssd_gib", 1000.0)?),
            ssd_endurance: group.float("ssd_tbw", 600.0)? * 1e12,
            unmodelled: Bytes::from_gib(group.float("unmodelled_gib", 0.0)?),
        })
    }

    /// Time of one copy from the device to a host buffer of its own.
    #[must_use]
    pub fn copy_out(&self, size: Bytes) -> Nanos {
        let fixed = Nanos::from_secs(self.copy_overhead_s + self.page_lock_s);
        self.over(self.d2h, size) + fixed
    }

    /// Time of one copy back.
    #[must_use]
    pub fn copy_back(&self, size: Bytes) -> Nanos {
        self.over(self.h2d, size) + Nanos::from_secs(self.copy_overhead_s)
    }

    fn over(&self, rate: BytesPerSec, size: Bytes) -> Nanos {
        BytesPerSec(rate.0 * self.link_efficiency.of(size)).time(size)
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
