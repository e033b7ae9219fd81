//! Numbers of turns, positions or sequences: `4`, `2-3,7`, `9-`.

use std::fmt;

use crate::{Ranges, Sequence};

/// The end of an open range.
const OPEN: u64 = u64::MAX;

/// A non-empty set of numbers, counting from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers(Ranges);

impl Numbers {
    /// The numbers from `first` to `last`, inclusive.
    ///
    /// # Errors
    /// Describes what is wrong if the range starts at 0 or is reversed.
    pub fn range(first: u64, last: u64) -> Result<Self, &'static str> {
        match first {
            0 => Err("counts from 1"),
            _ if first > last => Err("the range is reversed; write the smaller number first"),
            _ => Ok(Self::from_to(first, last)),
        }
    }

    /// `first` and all greater numbers.
    ///
    /// # Errors
    /// Describes what is wrong if `first` is 0.
    pub fn from(first: u64) -> Result<Self, &'static str> {
        Self::range(first, OPEN)
    }

    fn from_to(first: u64, last: u64) -> Self {
        Self(Ranges::of(Sequence(first), Sequence(last)))
    }

    /// The union of both sets.
    #[must_use]
    pub fn and(mut self, others: &Self) -> Self {
        self.0.union(&others.0);
        self
    }

    /// Whether the set contains the number.
    pub fn contains(&self, number: impl Into<u64>) -> bool {
        self.0.contains(Sequence(number.into()))
    }

    /// The number, if there is only one.
    pub fn single(&self) -> Option<u64> {
        (self.0.first() == self.0.last()).then(|| self.0.first().map(Sequence::get)).flatten()
    }

    /// Whether the set contains a number from `low` to `high`.
    pub(super) fn meets(&self, low: u32, high: u32) -> bool {
        self.0.meets(&Ranges::of(Sequence(low.into()), Sequence(high.into())))
    }

    /// Whether the set contains a number above `most`, other than an open end.
    pub(super) fn exceeds(&self, most: u64) -> bool {
        let mut numbers = self.0.iter().flat_map(|range| [*range.start(), *range.end()]);
        numbers.any(|number| number.get() > most && number.get() != OPEN)
    }

    /// The numbers as sequences.
    pub(crate) fn sequences(&self) -> &Ranges {
        &self.0
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for range in self.0.iter() {
            match (range.start().get(), range.end().get()) {
                (first, last) if first == last => write!(f, "{comma}{first}")?,
                (first, OPEN) => write!(f, "{comma}{first}-")?,
                (first, last) => write!(f, "{comma}{first}-{last}")?,
            }
            comma = ",";
        }
        Ok(())
    }
}
