//! Keys: their parts in bytes that order as the parts do.

use std::ops::Bound;

use crate::{
    domain::{IdError, LineageId, Sequence, Timestamp, limits::MAX_ID_BYTES},
    store::durable::key_value::Key,
};

use super::{Fault, number::sequence};

const _: () = assert!(MAX_ID_BYTES <= u8::MAX as usize, "the length of an id is one byte");

/// What a record is found by.
pub trait RecordKey: Sized {
    /// Writes its parts.
    fn write(&self, to: &mut KeyWriter);

    /// Reads its parts.
    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault>;

    /// It, as a person reads it.
    fn show(&self) -> String;
}

/// Writes a key: the kind's number, then the parts.
///
/// - A number is written with its highest byte first; of a time, the sign is flipped before.
/// - A text has its length before it, one byte; the last part of a key has not, so that keys
///   which are otherwise equal are in the order of that text.
#[derive(Debug)]
pub struct KeyWriter(Key);

impl KeyWriter {
    /// The start of a key of the kind with this number.
    pub(super) fn of(kind: u8) -> Self {
        let mut key = Vec::with_capacity(64);
        key.push(kind);
        Self(key)
    }

    /// The key, or the beginning that keys have in common.
    pub(super) fn done(self) -> Key {
        self.0
    }

    pub(super) fn byte(&mut self, byte: u8) -> &mut Self {
        self.0.push(byte);
        self
    }

    pub(super) fn number(&mut self, number: u32) -> &mut Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    pub(super) fn long(&mut self, number: u64) -> &mut Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    pub(super) fn sequence(&mut self, sequence: Sequence) -> &mut Self {
        self.long(sequence.0)
    }

    pub(super) fn time(&mut self, time: Timestamp) -> &mut Self {
        self.0.extend((time.0 ^ i64::MIN).to_be_bytes());
        self
    }

    pub(super) fn lineage(&mut self, lineage: LineageId) -> &mut Self {
        self.0.extend(lineage.0);
        self
    }

    /// A text that another part follows: at most 255 bytes.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.0.push(text.len() as u8);
        self.0.extend(text.as_bytes());
        self
    }

    /// A text that no part follows.
    pub(super) fn last(&mut self, text: &str) {
        self.0.extend(text.as_bytes());
    }
}

/// Reads a key's parts, in the order in which they were written.
#[derive(Debug)]
pub struct KeyReader<'a>(&'a [u8]);

impl<'a> KeyReader<'a> {
    /// Reads what follows the kind's number.
    pub(super) fn of(parts: &'a [u8]) -> Self {
        Self(parts)
    }

    /// Refuses a key that goes on behind its last part.
    pub(super) fn end(self) -> Result<(), Fault> {
        match self.0.len() {
            0 => Ok(()),
            more => Err(Fault::wrong("the key", format_args!("has {more} bytes too many"))),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Fault> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(super) fn number(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(super) fn long(&mut self) -> Result<u64, Fault> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub(super) fn sequence(&mut self) -> Result<Sequence, Fault> {
        sequence("the key's sequence", self.long()?)
    }

    pub(super) fn time(&mut self) -> Result<Timestamp, Fault> {
        Ok(Timestamp(i64::from_be_bytes(self.array()?) ^ i64::MIN))
    }

    pub(super) fn lineage(&mut self) -> Result<LineageId, Fault> {
        Ok(LineageId(self.array()?))
    }

    /// A text that another part follows.
    pub(super) fn text(&mut self) -> Result<&'a str, Fault> {
        let length = self.byte()?;
        text(self.take(length.into())?)
    }

    /// An id that another part follows.
    pub(super) fn id<T>(&mut self, make: fn(&str) -> Result<T, IdError>) -> Result<T, Fault> {
        make(self.text()?).map_err(bad_id)
    }

    /// An id that no part follows.
    pub(super) fn last_id<T>(&mut self, make: fn(&str) -> Result<T, IdError>) -> Result<T, Fault> {
        let rest = std::mem::take(&mut self.0);
        make(text(rest)?).map_err(bad_id)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (array, rest) = self.0.split_first_chunk().ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(*array)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(taken)
    }
}

fn text(bytes: &[u8]) -> Result<&str, Fault> {
    str::from_utf8(bytes).map_err(|error| Fault::wrong("a text of the key", format_args!("is none: {error}")))
}

fn bad_id(error: IdError) -> Fault {
    Fault::wrong("an id of the key", error)
}

fn cut_short() -> Fault {
    Fault::wrong("the key", "is cut short")
}

/// The end of the range of all keys that begin with `prefix`: what a range of keys goes up to.
pub fn prefix_end(prefix: &[u8]) -> Bound<Key> {
    match behind(prefix.to_vec()) {
        end if end.is_empty() => Bound::Unbounded,
        end => Bound::Excluded(end),
    }
}

/// The first key behind all keys that begin with `prefix`; empty when there is none.
pub(super) fn behind(mut prefix: Key) -> Key {
    while prefix.pop_if(|byte| *byte == u8::MAX).is_some() {}
    if let Some(byte) = prefix.last_mut() {
        *byte += 1;
    }
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix_is_behind_all_that_begins_with_it() {
        assert_eq!(prefix_end(&[7, 1]), Bound::Excluded(vec![7, 2]));
        assert_eq!(prefix_end(&[7, 0xff, 0xff]), Bound::Excluded(vec![8]));
        assert_eq!(prefix_end(&[]), Bound::Unbounded);
        assert_eq!(prefix_end(&[0xff]), Bound::Unbounded);
    }
}
