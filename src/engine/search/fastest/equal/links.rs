//! When links let a label go on.

use super::again::share;
use super::kind::{Kind, Uniform};
use super::label::{Label, Unit, push};

impl Uniform {
    /// The time from which at most `spare` bytes of what a link has to move until `end` are left; its last copies are of these `sizes`.
    fn when(&self, now: u64, end: u64, sizes: u64, spare: i64, out: bool) -> Option<u64> {
        if spare < 0 {
            return None;
        }
        if end <= now {
            return Some(now);
        }
        let copies = self.copies.unwrap_or_default();
        let time = |at: usize| if out { copies[at].0 } else { copies[at].1 };
        let mut left = 0_u64;
        if self.kind == Kind::Inner {
            let (mut spare, mut sizes, mut known) = (spare, sizes, u64::BITS);
            while end.saturating_sub(left) > now {
                if known == 0 {
                    // Of those before, only how much one moves in a time at most.
                    let [one, other] = [(self.unit, 0), (self.boundary, 1)]
                        .map(|(bytes, at)| share(spare, bytes, time(at)));
                    left += one.max(other);
                    break;
                }
                known -= 1;
                let at = usize::from(sizes & 1 == 1);
                spare -= if at == 0 { self.unit } else { self.boundary };
                if spare < 0 {
                    break;
                }
                left += time(at).max(1);
                sizes >>= 1;
            }
        } else {
            left = u64::try_from(spare / self.unit).unwrap_or(0).saturating_mul(time(0));
        }
        Some(now.max(end.saturating_sub(left)))
    }

    /// The time from which so few copies out or back (`ends`) are left that they fit into `spare` bytes.
    fn fewer(&self, now: u64, ends: &[u64], spare: i64) -> Option<u64> {
        let fit = usize::try_from(spare / self.unit).ok().filter(|_| spare >= 0)?;
        Some(now.max(ends.get(fit).copied().unwrap_or(0)))
    }

    /// When forward goes on with `spare` bytes beside its next operation.
    pub fn forward_from(&self, label: &Label, spare: i64) -> Option<u64> {
        if self.drives() {
            return self.fewer(label.forward.0, &label.drive.out, spare);
        }
        self.when(label.forward.0, label.forward.1, label.sizes.0, spare, true)
    }

    /// The same of backward at `now`.
    pub fn backward_from(&self, label: &Label, now: u64, spare: i64) -> Option<u64> {
        if self.drives() {
            return self.fewer(now, &label.drive.back, spare);
        }
        self.when(now, label.backward.1, label.sizes.1, spare, false)
    }

    /// A unit leaves once forward is where it is.
    pub fn leave(&self, label: &mut Label, unit: Unit, time: u64, size: u64) {
        let mut ready = label.forward.0.max(label.forward.1);
        if let (Some(drive), Unit::Drives) = (&self.drive, unit) {
            // It waits until the host has room for it beside what stays there and what is not written yet.
            let staging = usize::try_from((self.host - label.away) / self.unit).unwrap_or(0).max(1);
            ready = ready.max(label.drive.writes.get(staging - 1).copied().unwrap_or(0));
            let end = (ready + time).max(label.drive.writes[0]) + drive.write;
            push(&mut label.drive.writes, end);
        }
        label.forward.1 = ready + time;
        label.sizes.0 = label.sizes.0 << 1 | size;
        if self.drives() {
            push(&mut label.drive.out, label.forward.1);
        }
    }

    /// A unit comes back before what has been reckoned of backward so far.
    pub fn come_back(&self, label: &mut Label, unit: Unit, time: u64, size: u64) {
        label.backward.1 += time;
        label.sizes.1 = label.sizes.1 << 1 | size;
        if let Some(drive) = &self.drive {
            let mut end = label.backward.1;
            if unit == Unit::Drives {
                label.drive.read = label.drive.read.max(end) + drive.read;
                end = label.drive.read;
            }
            // It is asked for after those that are needed sooner.
            let end = end.max(label.drive.back[0]);
            push(&mut label.drive.back, end);
        }
    }

    /// Of the copies that are under way at `now`, which are of another size.
    pub fn under_way(&self, now: u64, end: u64, sizes: u64, out: bool) -> u64 {
        let copies = self.copies.unwrap_or_default();
        let (mut left, mut count) = (end, 0);
        while left > now && count < u64::BITS {
            let copy = copies[usize::from(sizes >> count & 1 == 1)];
            left = left.saturating_sub(if out { copy.0 } else { copy.1 }.max(1));
            count += 1;
        }
        if count < u64::BITS { sizes & ((1 << count) - 1) } else { sizes }
    }
}
