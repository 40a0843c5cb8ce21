//! In-order resources: a [`Stream`] of time and a queue of [`Frees`]. Their law: later requests never start before
//! earlier ones, and nothing starts later when everything before it ends earlier.

use super::simulate::Interval;
use super::units::{Bytes, Nanos};
use std::collections::VecDeque;

/// A stream that runs one thing after another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stream {
    free: Nanos,
}

impl Stream {
    /// Runs something of `duration` once it is `ready` and the stream is free.
    pub fn run(&mut self, ready: Nanos, duration: Nanos) -> Interval {
        let start = self.free.max(ready);
        self.free = start + duration;
        Interval { start, end: self.free }
    }
}

/// Memory given out in order, and given back at known times by two in-order sources (compute and copies).
#[derive(Clone, Debug)]
pub struct Frees {
    room: u64,
    used: u64,
    now: Nanos,
    compute: VecDeque<(Nanos, u64)>,
    copies: VecDeque<(Nanos, u64)>,
}

impl Frees {
    /// `room` bytes, all free.
    #[must_use]
    pub const fn new(room: Bytes) -> Self {
        Self {
            room: room.0,
            used: 0,
            now: Nanos::ZERO,
            compute: VecDeque::new(),
            copies: VecDeque::new(),
        }
    }

    /// The earliest time at which `bytes` can be taken, all takers before this one served. What could never fit (the
    /// caller has checked) waits for everything.
    pub fn take(&mut self, bytes: Bytes) -> Nanos {
        self.used = self.used.saturating_add(bytes.0);
        while self.used > self.room {
            let Some((time, freed)) = self.earliest() else {
                break;
            };
            self.used -= freed;
            self.now = self.now.max(time);
        }
        self.now
    }

    /// Gives back at `time`, from the compute stream.
    pub fn give(&mut self, time: Nanos, bytes: Bytes) {
        if bytes.0 > 0 {
            self.compute.push_back((time, bytes.0));
        }
    }

    /// Gives back at `time`, from the copy stream.
    pub fn give_copy(&mut self, time: Nanos, bytes: Bytes) {
        if bytes.0 > 0 {
            self.copies.push_back((time, bytes.0));
        }
    }

    fn earliest(&mut self) -> Option<(Nanos, u64)> {
        match (self.compute.front(), self.copies.front()) {
            (Some(a), Some(b)) if a.0 <= b.0 => self.compute.pop_front(),
            (_, Some(_)) => self.copies.pop_front(),
            (_, None) => self.compute.pop_front(),
        }
    }
}
