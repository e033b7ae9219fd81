//! Numbers in records: their valid ranges and their meanings.

use utterd_domain::{
    Encoding, Oversize, Revision, Role, Sequence,
    capacity::OverLimit,
    compaction::Cause,
    extract::{Kind, Shape},
};

use super::Fault;

/// Checks a sequence: 1 to the largest int64.
pub(super) fn sequence(part: &'static str, number: u64) -> Result<Sequence, Fault> {
    within(part, number, 1).map(Sequence)
}

/// Checks a revision, [`Revision::NONE`] included.
pub(super) fn revision(part: &'static str, number: u64) -> Result<Revision, Fault> {
    within(part, number, 0).map(Revision)
}

fn within(part: &'static str, number: u64, least: u64) -> Result<u64, Fault> {
    const MOST: u64 = i64::MAX as u64;
    match (least..=MOST).contains(&number) {
        true => Ok(number),
        false => Err(Fault::wrong(part, format_args!("is {number}; expected {least} to {MOST}"))),
    }
}

/// An enum whose variants have numbers in records: from 1, never changed, never reused. An absent field reads
/// as 0, which no variant has.
pub(super) trait Numbered: Copy + 'static {
    /// All variants.
    const ALL: &'static [Self];

    /// The variant's number.
    fn number(self) -> u8;
}

/// Returns the variant with this number.
pub(super) fn numbered<T: Numbered>(part: &'static str, number: u64) -> Result<T, Fault> {
    let found = T::ALL.iter().copied().find(|one| u64::from(one.number()) == number);
    found.ok_or_else(|| Fault::wrong(part, format_args!("is {number}; expected 1 to {}", T::ALL.len())))
}

/// Gives the variants of an enum their numbers.
macro_rules! number {
    ($type:ident { $($variant:ident = $number:literal),* $(,)? }) => {
        impl Numbered for $type {
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn number(self) -> u8 {
                match self {
                    $(Self::$variant => $number,)*
                }
            }
        }
    };
}
pub(super) use number;

number! { Role { System = 1, User = 2, Assistant = 3, Tool = 4 } }
number! { Encoding { O200kBase = 1, Cl100kBase = 2, P50kBase = 3, R50kBase = 4 } }
number! { Oversize { Keep = 1, Reject = 2 } }
number! { OverLimit { NewestUnit = 1, OpenExchange = 2, Instructions = 3, Pinned = 4 } }
number! {
    Kind { Quoted = 1, Goal = 2, Said = 3, Did = 4, Step = 5, Check = 6, Error = 7, Fact = 8, Open = 9 }
}
number! {
    Shape {
        Path = 1, File = 2, Url = 3, Email = 4, Code = 5, Identifier = 6, Money = 7, Number = 8, Date = 9, Time = 10,
        Name = 11,
    }
}
number! { Cause { Asked = 1, Advised = 2, Policy = 3 } }
