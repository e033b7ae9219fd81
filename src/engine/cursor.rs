//! Places in the trace.

use std::{fmt, str::FromStr};

use crate::{domain::LineageId, store::TracePlace};

/// A place in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventCursor {
    /// In that of one run of the server.
    Kept {
        /// The run.
        run: LineageId,
        /// The event.
        number: u64,
    },
    /// In that of a store.
    Stored(TracePlace),
}

impl fmt::Display for EventCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept { run, number } => write!(f, "{run}-{number}"),
            Self::Stored(place) => write!(f, "{}.{}", place.commit, place.events),
        }
    }
}

impl FromStr for EventCursor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const NOT_ONE: &str = "is not a cursor; give the event_id of an event";
        if let Some((commit, events)) = text.split_once('.') {
            let commit = commit.parse().map_err(|_| NOT_ONE)?;
            let events = events.parse().map_err(|_| NOT_ONE)?;
            return Ok(Self::Stored(TracePlace { commit, events }));
        }
        let (run, number) = text.rsplit_once('-').ok_or(NOT_ONE)?;
        let run = run.parse::<ulid::Ulid>().map_err(|_| NOT_ONE)?;
        let number = number.parse().map_err(|_| NOT_ONE)?;
        Ok(Self::Kept { run: LineageId(run.to_bytes()), number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        let run = LineageId([7; 16]);
        let place = TracePlace { commit: 41, events: 2 };
        for cursor in [EventCursor::Kept { run, number: 3 }, EventCursor::Stored(place)] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for wrong in ["", "41", "41.", ".2", "a.b", "41.-2", "x-1"] {
            assert!(wrong.parse::<EventCursor>().is_err(), "{wrong}");
        }
    }
}
