//! An utterance's place, a conversation's revision, and moments in time.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, de::Error as _};

/// The place of an utterance in its conversation: counts from 1 over the conversation's
/// life and is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Sequence(pub u64);

impl Sequence {
    /// The first sequence of a conversation.
    pub const FIRST: Self = Self(1);
}

/// The number of a conversation's changes: 1 when it starts, one more with each change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision before a conversation exists.
    pub const NONE: Self = Self(0);
}

/// The largest number that is read.
const MOST: u64 = i64::MAX as u64;

macro_rules! counts {
    ($($name:ident)*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                match u64::deserialize(from)? {
                    number @ 0..=MOST => Ok(Self(number)),
                    number => Err(D::Error::custom(format_args!("{number} is more than {MOST}"))),
                }
            }
        }

        impl $name {
            /// The next one.
            pub fn next(self) -> Self {
                Self(self.0 + 1)
            }

            /// Its number.
            pub fn get(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

counts! { Sequence Revision }

/// A moment: microseconds since the Unix epoch, in UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The time of what a caller tells without a time.
    pub const UNKNOWN: Self = Self(i64::MIN);

    /// The minute it falls in, counted from 1970; 0 for anything earlier, and the largest value from about
    /// the year 10000 on.
    pub fn minute(self) -> u32 {
        u32::try_from(self.0.div_euclid(60_000_000).max(0)).unwrap_or(u32::MAX)
    }

    /// The moment `duration` later; saturates instead of wrapping.
    pub fn plus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros))
    }

    /// The moment `duration` earlier; saturates instead of wrapping.
    pub fn minus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(micros))
    }
}
