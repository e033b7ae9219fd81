//! Where an utterance stands, when, and in which state of its conversation.

use std::{fmt, time::Duration};

/// The place of an utterance in its conversation: counts from 1 over the conversation's
/// life and is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

impl Sequence {
    /// The first sequence of a conversation.
    pub const FIRST: Self = Self(1);

    /// The one after this.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// As a number.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// How often a conversation has changed: 1 when it starts, one more with each change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision before a conversation exists.
    pub const NONE: Self = Self(0);

    /// The one after this.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// As a number.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A moment: microseconds since the Unix epoch, in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The minute that it falls in, from 1970; the first for what was before, the last that can be told for what is
    /// beyond the year 10000.
    pub fn minute(self) -> u32 {
        u32::try_from(self.0.div_euclid(60_000_000).max(0)).unwrap_or(u32::MAX)
    }

    /// The moment `duration` later; stays at the end of time rather than wrap.
    pub fn plus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros))
    }

    /// The moment `duration` earlier; stays at the start of time rather than wrap.
    pub fn minus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(micros))
    }
}
