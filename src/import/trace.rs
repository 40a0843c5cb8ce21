//! The PyTorch profiler's Chrome trace, read as it streams by: of a million events only those about memory leave a point.
//!
//! Such an event is an instant called `[memory]`, whose `args` have `Total Allocated` in bytes and the device's type and id;
//! `ts` is in microseconds. The host's total counts from the beginning of the recording, and may fall below 0. The device whose total reaches highest is used, and of several `ProfilerStep#N` the last one
//! in which that device allocates.

use super::Tally;
use super::curve::Series;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Devices that are told apart; events of further ones are not read.
const MOST_DEVICES: usize = 16;
/// Steps that are remembered.
const MOST_STEPS: usize = 10_000;
/// Text longer than this is no name that is looked for.
const LONGEST: usize = 64;
const PREFIX: &str = "ProfilerStep#";

/// Where memory is, as the profiler counts: type 0 is the CPU, 1 CUDA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Its type.
    pub kind: i64,
    /// Which of that type.
    pub id: i64,
}

/// What a trace says of memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    devices: Vec<(Device, Series)>,
    /// Start, end and name.
    steps: Vec<(f64, f64, String)>,
    /// Events of every kind.
    pub events: u64,
    memory: u64,
    unread: u64,
}

/// One step of one device.
pub struct Found {
    /// Of which device.
    pub device: Device,
    /// The name of the step that is shown, and of how many.
    pub step: Option<(String, u64)>,
    /// Seconds and bytes.
    pub points: Vec<(f64, f64)>,
    /// By how much they were raised, so that none is below 0.
    pub raised: f64,
    /// What became of the events.
    pub tally: Tally,
}

impl Trace {
    /// The fullest device's last step, at most `most` points of it; none without an event about memory.
    #[must_use]
    pub fn finish(mut self, most: usize) -> Option<Found> {
        let fullest = (0..self.devices.len()).reduce(|best, i| {
            let range = |i: usize| {
                let (low, high) = self.devices[i].1.extremes();
                high - low
            };
            if range(i) > range(best) { i } else { best }
        })?;
        let (device, series) = self.devices.swap_remove(fullest);
        let seen_here = series.seen;
        // What frees more than it has taken frees what was there before.
        let raised = -series.extremes().0;
        let mut points = series.finish(usize::MAX);
        for point in &mut points {
            point.1 += raised;
        }
        self.steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let count = u64::try_from(self.steps.len()).unwrap_or(u64::MAX);
        let inside = |(start, end, name): &(f64, f64, String)| {
            let from = points.partition_point(|point| point.0 < *start);
            let to = points.partition_point(|point| point.0 <= *end);
            (to > from + 1).then(|| (from, to, *start, name.clone()))
        };
        let (shown, step) = match self.steps.iter().rev().find_map(inside) {
            None => (points.clone(), None),
            Some((from, to, start, name)) => {
                // What was there when the step began is its first point.
                let before = from.checked_sub(1).map(|i| (start, points[i].1));
                let shown = before.into_iter().chain(points[from..to].iter().copied()).collect();
                (shown, Some((name, count)))
            }
        };
        let here = u64::try_from(shown.len()).unwrap_or(u64::MAX);
        let beside = u64::try_from(points.len()).unwrap_or(u64::MAX).saturating_sub(here);
        let points = super::curve::thinned(shown, most);
        let kept = u64::try_from(points.len()).unwrap_or(u64::MAX);
        let elsewhere = self.memory.saturating_sub(seen_here + self.unread) + beside;
        let tally = Tally {
            seen: self.memory,
            others: self.events - self.memory,
            kept,
            before: 0,
            elsewhere,
            unread: self.unread,
            thinned: self.memory.saturating_sub(kept + elsewhere + self.unread),
        };
        Some(Found { device, step, points, raised, tally })
    }

    fn take(&mut self, event: Event) {
        self.events += 1;
        if event.name == "[memory]" {
            self.memory += 1;
            if !self.take_memory(&event) {
                self.unread += 1;
            }
        } else if let (Some(start), Some(length)) = (event.ts, event.dur)
            && event.name.starts_with(PREFIX)
            && !event.on_gpu
            && self.steps.len() < MOST_STEPS
        {
            self.steps.push((start / 1e6, (start + length) / 1e6, event.name));
        }
    }

    fn take_memory(&mut self, event: &Event) -> bool {
        let (Some(ts), Some(bytes)) = (event.ts, event.args.allocated) else { return false };
        let device = event.args.device;
        let known = self.devices.iter().position(|(other, _)| *other == device);
        let at = match known {
            Some(at) => at,
            None if self.devices.len() < MOST_DEVICES => {
                self.devices.push((device, Series::default()));
                self.devices.len() - 1
            }
            None => return false,
        };
        self.devices[at].1.push(ts / 1e6, bytes)
    }
}

#[derive(Default)]
struct Event {
    name: String,
    ts: Option<f64>,
    dur: Option<f64>,
    on_gpu: bool,
    args: Args,
}

#[derive(Default)]
struct Args {
    allocated: Option<f64>,
    device: Device,
}

/// A number or a short text; anything else is passed over.
enum Scalar {
    Number(f64),
    Text(String),
    Other,
}

impl Scalar {
    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            Self::Other => None,
        }
    }

    fn text(self) -> String {
        if let Self::Text(text) = self { text } else { String::new() }
    }
}

/// Everything but what a visitor is for comes to nothing: a trace has all sorts of things in it.
macro_rules! otherwise {
    ($value:expr; $($name:ident: $kind:ty),*) => {
        $(fn $name<E: Error>(self, _: $kind) -> Result<Self::Value, E> {
            Ok($value)
        })*
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
            out.write_str("a trace event")
        }
    };
}

fn pass_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

struct AnyScalar;

impl<'de> DeserializeSeed<'de> for AnyScalar {
    type Value = Scalar;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Scalar, D::Error> {
        from.deserialize_any(self)
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes and times of a trace, below 2^53")]
impl<'de> Visitor<'de> for AnyScalar {
    type Value = Scalar;
    otherwise!(Scalar::Other; visit_bool: bool);

    fn visit_u64<E: Error>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number as f64))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(if text.len() <= LONGEST { Scalar::Text(text.to_owned()) } else { Scalar::Other })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Scalar, A::Error> {
        pass_list(list).map(|()| Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Scalar, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

struct AnyArgs;

impl<'de> DeserializeSeed<'de> for AnyArgs {
    type Value = Args;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Args, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyArgs {
    type Value = Args;
    otherwise!(Args::default(); visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Args, A::Error> {
        pass_list(list).map(|()| Args::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Args, A::Error> {
        let mut args = Args::default();
        while let Some(key) = object.next_key_seed(AnyScalar)? {
            match key.text().as_str() {
                "Total Allocated" => args.allocated = object.next_value_seed(AnyScalar)?.number(),
                "Device Type" => args.device.kind = whole(object.next_value_seed(AnyScalar)?),
                "Device Id" => args.device.id = whole(object.next_value_seed(AnyScalar)?),
                _ => {
                    object.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(args)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturating by definition")]
#[expect(clippy::needless_pass_by_value, reason = "what was read is used up")]
fn whole(scalar: Scalar) -> i64 {
    scalar.number().unwrap_or(0.0) as i64
}

struct AnyEvent;

impl<'de> DeserializeSeed<'de> for AnyEvent {
    type Value = Event;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Event, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyEvent {
    type Value = Event;
    otherwise!(Event::default(); visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Event, A::Error> {
        pass_list(list).map(|()| Event::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Event, A::Error> {
        let mut event = Event::default();
        while let Some(key) = object.next_key_seed(AnyScalar)? {
            match key.text().as_str() {
                "name" => event.name = object.next_value_seed(AnyScalar)?.text(),
                "cat" => {
                    let category = object.next_value_seed(AnyScalar)?.text();
                    event.on_gpu = category.starts_with("gpu");
                }
                "ts" => event.ts = object.next_value_seed(AnyScalar)?.number(),
                "dur" => event.dur = object.next_value_seed(AnyScalar)?.number(),
                "args" => event.args = object.next_value_seed(AnyArgs)?,
                _ => {
                    object.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(event)
    }
}

/// Reads the list of events.
pub struct Events;

impl<'de> DeserializeSeed<'de> for Events {
    type Value = Trace;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Trace, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events {
    type Value = Trace;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a list of trace events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Trace, A::Error> {
        let mut trace = Trace::default();
        while let Some(event) = list.next_element_seed(AnyEvent)? {
            trace.take(event);
        }
        Ok(trace)
    }
}
