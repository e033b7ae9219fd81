//! Places in the trace.

use std::{fmt, str::FromStr};

use crate::{domain::LineageId, store::TracePlace};

/// A place in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventCursor {
    /// In the trace of one run of the server.
    Kept {
        /// The run.
        run: LineageId,
        /// The number of the event.
        number: u64,
    },
    /// In the trace of a store.
    Stored(TracePlace),
}

impl fmt::Display for EventCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept { run, number } => write!(f, "{run}-{number}"),
            Self::Stored(place) => write!(f, "{}", LineageId(place.0)),
        }
    }
}

impl FromStr for EventCursor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const NOT_ONE: &str = "is not a cursor; give the event_id of an event";
        let bytes = |text: &str| text.parse::<ulid::Ulid>().map(|id| id.to_bytes()).map_err(|_| NOT_ONE);
        let Some((run, number)) = text.rsplit_once('-') else {
            let place = if is_of_earlier_version(text) { Ok([0; 16]) } else { bytes(text) };
            return Ok(Self::Stored(TracePlace(place?)));
        };
        let run = bytes(run)?;
        let number = number.parse().map_err(|_| NOT_ONE)?;
        Ok(Self::Kept { run: LineageId(run), number })
    }
}

/// Whether a cursor is from an earlier version, which numbered the commits of all namespaces. Its place is
/// unknown today, so the store refuses it.
fn is_of_earlier_version(text: &str) -> bool {
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    text.split_once('.').is_some_and(|(commit, events)| is_number(commit) && is_number(events))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        let run = LineageId([7; 16]);
        let place = TracePlace([9; 16]);
        for cursor in [EventCursor::Kept { run, number: 3 }, EventCursor::Stored(place)] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        assert_eq!("41.2".parse(), Ok(EventCursor::Stored(TracePlace::default())));
        for wrong in ["", "41", "41.", ".2", "a.b", "41.-2", "x-1"] {
            assert!(wrong.parse::<EventCursor>().is_err(), "{wrong}");
        }
    }
}
