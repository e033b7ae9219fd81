//! Places in the trace.

use std::{fmt, str::FromStr};

use utterd_domain::LineageId;
use utterd_store::TracePlace;

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
            return Ok(Self::Stored(TracePlace(bytes(text)?)));
        };
        let run = bytes(run)?;
        let number = number.parse().map_err(|_| NOT_ONE)?;
        Ok(Self::Kept { run: LineageId(run), number })
    }
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
        for wrong in ["", "41", "41.", ".2", "a.b", "41.2", "41.-2", "x-1"] {
            assert!(wrong.parse::<EventCursor>().is_err(), "{wrong}");
        }
    }
}
