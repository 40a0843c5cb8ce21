//! How an answer gets from the reader of files to the page: as JSON, lists rather than objects, written and read by hand, which is a
//! tenth of what derived code weighs in the page. Its law: what is read is what was written.

use super::{Device, ImportError, Imported, Kind, Measured, Place, Problem, Tally};
use crate::engine::units::{Bytes, Nanos};
use serde_json::{Value, json};

/// What reading a file comes to.
pub type Answer = Result<Imported, ImportError>;

/// As text.
#[must_use]
pub fn write(answer: &Answer) -> String {
    match answer {
        Ok(Imported { kind, value, measured }) => {
            json!([*kind as usize, value, measured.as_ref().map(of_measured)])
        }
        Err(ImportError { problem, number, text, given, at }) => {
            let at = at.as_ref().map(|at| json!([at.line, at.column, at.byte, at.near]));
            json!([*problem as usize, number, text, given, at])
        }
    }
    .to_string()
}

fn of_measured(measured: &Measured) -> Value {
    let Tally { seen, others, kept, before, elsewhere, thinned, unread } = measured.tally;
    let device = measured.device.map(|device| [device.kind, device.id]);
    json!([
        measured.curve,
        measured.peak,
        measured.step,
        measured.saved,
        [seen, others, kept, before, elsewhere, thinned, unread],
        device,
        measured.of_step,
        measured.notes,
        measured.raised,
    ])
}

/// From text; none for what [`write()`] did not write.
#[must_use]
pub fn read(text: &str) -> Option<Answer> {
    let mut answer: Value = serde_json::from_str(text).ok()?;
    let first = usize::try_from(answer[0].as_u64()?).ok()?;
    if answer.as_array()?.len() == 3 {
        let kind = *Kind::ALL.get(first)?;
        let measured = match answer[2].take() {
            Value::Null => None,
            value => Some(measured(&value)?),
        };
        return Some(Ok(Imported { kind, value: answer[1].take(), measured }));
    }
    let text = |i: usize| answer[i].as_str().map(str::to_owned);
    let at = &answer[4];
    let place = |line| {
        let near = at[3].as_str()?.to_owned();
        Some(Place { line, column: at[1].as_u64()?, byte: at[2].as_u64()?, near })
    };
    Some(Err(ImportError {
        problem: *Problem::ALL.get(first)?,
        number: answer[1].as_u64()?,
        text: text(2)?,
        given: text(3)?,
        at: at[0].as_u64().and_then(place),
    }))
}

fn measured(value: &Value) -> Option<Measured> {
    let point = |point: &Value| Some((Nanos(point[0].as_u64()?), Bytes(point[1].as_u64()?)));
    let tally = |i: usize| value[4][i].as_u64();
    let device = &value[5];
    let step = &value[6];
    Some(Measured {
        raised: Bytes(value[8].as_u64()?),
        curve: value[0].as_array()?.iter().map(point).collect::<Option<_>>()?,
        peak: value[1].as_u64().map(Bytes),
        step: value[2].as_u64().map(Nanos),
        saved: value[3].as_u64().map(Bytes),
        tally: Tally {
            seen: tally(0)?,
            others: tally(1)?,
            kept: tally(2)?,
            before: tally(3)?,
            elsewhere: tally(4)?,
            thinned: tally(5)?,
            unread: tally(6)?,
        },
        device: device[0].as_i64().zip(device[1].as_i64()).map(|(kind, id)| Device { kind, id }),
        of_step: step[0].as_str().map(str::to_owned).zip(step[1].as_u64()),
        notes: value[7]
            .as_array()?
            .iter()
            .filter_map(|note| Some(note.as_str()?.to_owned()))
            .collect(),
    })
}
