//! Numbers in records: what they may be, and what they stand for.

use crate::domain::{Encoding, Oversize, Revision, Role, Sequence, capacity::OverLimit, compaction::Cause};

use super::Fault;

/// A sequence: 1 to the largest that travels as an int64.
pub(super) fn sequence(part: &'static str, number: u64) -> Result<Sequence, Fault> {
    within(part, number, 1).map(Sequence)
}

/// A revision, [`Revision::NONE`] included.
pub(super) fn revision(part: &'static str, number: u64) -> Result<Revision, Fault> {
    within(part, number, 0).map(Revision)
}

fn within(part: &'static str, number: u64, least: u64) -> Result<u64, Fault> {
    const MOST: u64 = i64::MAX as u64;
    match (least..=MOST).contains(&number) {
        true => Ok(number),
        false => Err(Fault::wrong(part, format_args!("is {number}; possible are {least} to {MOST}"))),
    }
}

/// One of few, each of which has a number in records: from 1, never changed, never reused.
/// 0 is what a field that is absent reads as, and stands for none of them.
pub(super) trait Numbered: Copy + 'static {
    /// What a person calls it.
    const NAME: &'static str;
    /// All of them.
    const ALL: &'static [Self];

    /// Its number.
    fn number(self) -> u8;
}

/// What `number` stands for.
pub(super) fn numbered<T: Numbered>(number: u32) -> Result<T, Fault> {
    let found = T::ALL.iter().copied().find(|one| u32::from(one.number()) == number);
    found.ok_or_else(|| Fault::wrong(T::NAME, format_args!("is {number}; known are 1 to {}", T::ALL.len())))
}

impl Numbered for Role {
    const NAME: &'static str = "the role";
    const ALL: &'static [Self] = &Self::ALL;

    fn number(self) -> u8 {
        match self {
            Self::System => 1,
            Self::User => 2,
            Self::Assistant => 3,
            Self::Tool => 4,
        }
    }
}

impl Numbered for Encoding {
    const NAME: &'static str = "the encoding";
    const ALL: &'static [Self] = &Self::ALL;

    fn number(self) -> u8 {
        match self {
            Self::O200kBase => 1,
            Self::Cl100kBase => 2,
            Self::P50kBase => 3,
            Self::R50kBase => 4,
        }
    }
}

impl Numbered for Oversize {
    const NAME: &'static str = "what happens to the oversized";
    const ALL: &'static [Self] = &[Self::Keep, Self::Reject];

    fn number(self) -> u8 {
        match self {
            Self::Keep => 1,
            Self::Reject => 2,
        }
    }
}

impl Numbered for OverLimit {
    const NAME: &'static str = "a cause of being over the limit";
    const ALL: &'static [Self] = &[Self::NewestUnit, Self::OpenExchange, Self::Instructions, Self::Pinned];

    fn number(self) -> u8 {
        match self {
            Self::NewestUnit => 1,
            Self::OpenExchange => 2,
            Self::Instructions => 3,
            Self::Pinned => 4,
        }
    }
}

impl Numbered for Cause {
    const NAME: &'static str = "the cause";
    const ALL: &'static [Self] = &[Self::Asked, Self::Advised, Self::Policy];

    fn number(self) -> u8 {
        match self {
            Self::Asked => 1,
            Self::Advised => 2,
            Self::Policy => 3,
        }
    }
}
