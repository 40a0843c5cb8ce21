//! What is known of a plan's first layers.

use super::kind::Kind;

/// What becomes of the bytes that a step begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// They stay.
    Stays = 0,
    /// They leave for the host and come back.
    Leaves = 1,
    /// There are none: the chain's own input.
    Again = 2,
    /// They leave for the drive behind the host.
    Drives = 3,
}

impl Unit {
    /// Whether they leave.
    pub const fn is_away(self) -> bool {
        matches!(self, Self::Leaves | Self::Drives)
    }
}

/// When the last few copies were over, the last one first; 0 of those before the first.
pub type Ends = [u64; 4];

/// What is known of copies where a drive makes them wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drive {
    /// Bytes on it.
    pub bytes: i64,
    /// Copies out, writes, and copies back with their reads (with time turned round, as all of backward).
    pub out: Ends,
    pub writes: Ends,
    pub back: Ends,
    /// When its first read begins.
    pub read: u64,
}

/// One more.
pub fn push(ends: &mut Ends, end: u64) {
    ends.rotate_right(1);
    ends[0] = end;
}

/// A unit, and the layers after it that are made again from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What they begin with.
    pub unit: Unit,
    /// How many layers' bytes are made again.
    pub again: usize,
    /// Which of the ways to do so.
    pub way: usize,
}

impl Step {
    /// How many layers it is of.
    pub fn layers(self, kind: Kind) -> usize {
        match kind {
            Kind::Output => self.again + usize::from(self.unit != Unit::Again),
            Kind::Input => self.again + 1,
            Kind::Inner => self.again.max(1),
        }
    }
}

/// The first layers of a plan. Times are ns: of forward from the start of the micro-batch, of backward from its end, backwards.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Bytes that stay from forward to backward.
    pub kept: i64,
    /// Bytes that have left for the host or will.
    pub away: i64,
    /// Those that go on to the drive.
    pub drive: Drive,
    /// What became of the last unit.
    pub before: Unit,
    /// The end of the last forward; when all copies so far are out.
    pub forward: (u64, u64),
    /// The start of the last layer's part of backward; when the first copy back begins.
    pub backward: (u64, u64),
    /// Which of the last copies out and back are of a run's input rather than of a layer's bytes, the last in the lowest bit; 0 where none is under way.
    pub sizes: (u64, u64),
    /// Bytes that may still be leaving when backward begins, if this is the last step.
    pub spare: i64,
    /// The label before, and the step from it.
    pub from: u32,
    /// The step.
    pub step: Step,
}

impl Label {
    /// Before the first layer.
    pub const START: Self = Self {
        kept: 0,
        away: 0,
        drive: Drive { bytes: 0, out: [0; 4], writes: [0; 4], back: [0; 4], read: 0 },
        before: Unit::Stays,
        forward: (0, 0),
        backward: (0, 0),
        sizes: (0, 0),
        spare: i64::MAX,
        from: 0,
        step: Step { unit: Unit::Again, again: 0, way: 0 },
    };

    /// Whether whatever goes on from `other` goes on from here no later.
    pub fn is_no_worse(&self, other: &Self) -> bool {
        self.kept <= other.kept
            && self.away <= other.away
            && self.forward.0 <= other.forward.0
            && self.forward.1 <= other.forward.1
            && self.backward.0 <= other.backward.0
            && self.backward.1 <= other.backward.1
            && self.drives_no_worse(other)
            && (self.sizes.0 == other.sizes.0 || self.forward.1 <= self.forward.0)
            && (self.sizes.1 == other.sizes.1 || self.backward.1 <= self.backward.0)
    }

    fn drives_no_worse(&self, other: &Self) -> bool {
        let (one, other) = (&self.drive, &other.drive);
        let sooner = |one: &Ends, other: &Ends, now: u64| {
            one.iter().zip(other).all(|(&a, &b)| a <= b || a <= now)
        };
        one.bytes <= other.bytes
            && one.read <= other.read
            && sooner(&one.out, &other.out, self.forward.0)
            && sooner(&one.writes, &other.writes, 0)
            && sooner(&one.back, &other.back, self.backward.0)
    }

    /// Both directions' time so far.
    pub const fn sum(&self) -> u64 {
        self.forward.0 + self.backward.0
    }
}
