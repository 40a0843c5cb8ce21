//! Sizes and times as types. Sizes are whole bytes, times whole nanoseconds, so that the same scenario
//! gives the same numbers natively and in wasm. Rates are floating point and never accumulate.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// The largest size or time that a scenario may reach (2^60): sums of it stay inside `u64`.
pub const LIMIT: u64 = 1 << 60;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);

            /// The difference, or zero where it would be negative.
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// `self` × `factor`, held at [`LIMIT`].
            #[must_use]
            pub fn times(self, factor: u64) -> Self {
                Self(self.0.saturating_mul(factor).min(LIMIT))
            }
        }
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }
        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::ZERO, Add::add)
            }
        }
    };
}

quantity!(
    /// A size in bytes.
    Bytes
);
quantity!(
    /// A duration or an instant in nanoseconds.
    Nanos
);

/// A transfer rate in bytes per second (SI: 1 GB/s is 1e9).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BytesPerSec(pub f64);

/// A compute rate in floating-point operations per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlopsPerSec(pub f64);

/// Bytes in one GiB.
pub const GIB: f64 = 1_073_741_824.0;
/// Bytes in one GB.
pub const GB: f64 = 1e9;

impl Bytes {
    /// Rounds to whole bytes; negative and NaN become 0, huge values [`LIMIT`].
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturating by definition"
    )]
    pub fn from_f64(bytes: f64) -> Self {
        Self((bytes.round() as u64).min(LIMIT))
    }

    /// Binary gibibytes to bytes.
    #[must_use]
    pub fn from_gib(gib: f64) -> Self {
        Self::from_f64(gib * GIB)
    }

    /// Decimal gigabytes to bytes.
    #[must_use]
    pub fn from_gb(gb: f64) -> Self {
        Self::from_f64(gb * GB)
    }

    /// As a float, exact below 2^53.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a view for ratios and pixels")]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// In GiB.
    #[must_use]
    pub fn gib(self) -> f64 {
        self.as_f64() / GIB
    }

    /// A product of shape factors times `width` bytes an element, held at [`LIMIT`].
    #[must_use]
    pub fn from_shape(shape: &[u64], width: u64) -> Self {
        let cap = u128::from(LIMIT);
        let total =
            shape.iter().fold(u128::from(width), |product, &n| (product * u128::from(n)).min(cap));
        Self(u64::try_from(total).unwrap_or(LIMIT))
    }
}

impl Nanos {
    /// Seconds to whole nanoseconds; negative and NaN become 0, huge values [`LIMIT`].
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturating by definition"
    )]
    pub fn from_secs(seconds: f64) -> Self {
        Self(((seconds * 1e9).round() as u64).min(LIMIT))
    }

    /// In seconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a view for ratios and pixels")]
    pub const fn secs(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl BytesPerSec {
    /// T = D / B (docs/model.md, "transfer").
    #[must_use]
    pub fn time(self, size: Bytes) -> Nanos {
        if size == Bytes::ZERO {
            return Nanos::ZERO;
        }
        Nanos::from_secs(size.as_f64() / self.0)
    }
}

impl FlopsPerSec {
    /// Time of `flops` operations.
    #[must_use]
    pub fn time(self, flops: f64) -> Nanos {
        Nanos::from_secs(flops / self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_of_the_lesson() {
        assert_eq!(BytesPerSec(32e9).time(Bytes::from_gb(2.0)), Nanos(62_500_000));
        assert_eq!(BytesPerSec(6e9).time(Bytes::from_gb(2.0)), Nanos(333_333_333));
    }

    #[test]
    fn absurd_values_are_held_at_the_limit() {
        assert_eq!(Bytes::from_gib(1e30), Bytes(LIMIT));
        assert_eq!(Bytes::from_f64(f64::NAN), Bytes::ZERO);
        assert_eq!(Nanos::from_secs(-1.0), Nanos::ZERO);
        assert_eq!(Bytes::from_shape(&[u64::MAX, u64::MAX, 3], 4), Bytes(LIMIT));
    }

    #[test]
    fn seconds_round_trip() {
        for n in [0, 1, 999, 62_500_000, 86_400_000_000_000] {
            assert_eq!(Nanos::from_secs(Nanos(n).secs()), Nanos(n));
        }
    }
}
