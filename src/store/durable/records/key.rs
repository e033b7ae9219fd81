//! Keys, and how they are put together.

use std::ops::Range;

use crate::{domain::limits::MAX_ID_BYTES, store::durable::key_value::Key};

use super::Fault;

const _: () = assert!(MAX_ID_BYTES <= 2 * u8::MAX as usize, "the length of an id is two bytes at most");

/// What a record is found by: a part of a key, or several.
pub trait RecordKey: KeyPart {
    /// It, as a person reads it.
    fn show(&self) -> String;
}

/// A part of a key, in bytes that order as the parts do.
///
/// - A number is written with its highest byte first; of a time, the sign is flipped before.
/// - A text has its length before it: one byte, and of 255 bytes or more that byte is 255 and another tells the rest.
///   The last part of a key has none, so that keys which are otherwise equal are in the order of that text.
pub trait KeyPart: Sized {
    /// Writes it.
    fn write(&self, to: &mut KeyWriter);

    /// Reads it.
    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault>;
}

/// Writes a key: the kind's number, then the parts.
#[derive(Debug)]
pub struct KeyWriter(Key);

impl KeyWriter {
    /// The start of a key of the kind with this number.
    pub(super) fn of(kind: u8) -> Self {
        let mut key = Vec::with_capacity(64);
        key.push(kind);
        Self(key)
    }

    /// Goes on with the beginning of a key.
    pub(super) fn behind(beginning: Key) -> Self {
        Self(beginning)
    }

    /// The key, or the beginning that keys have in common.
    pub(super) fn done(self) -> Key {
        self.0
    }

    /// Bytes of which there are always as many, or that no part follows.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    /// A text that another part follows: at most 510 bytes.
    pub(super) fn text(&mut self, text: &str) {
        match text.len().checked_sub(u8::MAX.into()) {
            None => self.0.push(text.len() as u8),
            Some(more) => self.0.extend([u8::MAX, more as u8]),
        }
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

    /// So many bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (array, rest) = self.0.split_first_chunk().ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(*array)
    }

    /// A text that another part follows.
    pub(super) fn text(&mut self) -> Result<&'a str, Fault> {
        let length = match self.array()? {
            [u8::MAX] => usize::from(u8::MAX) + usize::from(self.array::<1>()?[0]),
            [length] => length.into(),
        };
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(cut_short)?;
        self.0 = rest;
        text(taken)
    }

    /// A text that no part follows.
    pub(super) fn last(&mut self) -> Result<&'a str, Fault> {
        text(std::mem::take(&mut self.0))
    }
}

fn text(bytes: &[u8]) -> Result<&str, Fault> {
    str::from_utf8(bytes).map_err(|error| Fault::wrong("a text of the key", format_args!("is none: {error}")))
}

fn cut_short() -> Fault {
    Fault::wrong("the key", "is cut short")
}

/// All keys that begin with `prefix`.
pub fn beginning(prefix: Key) -> Range<Key> {
    let end = behind(prefix.clone());
    prefix..end
}

/// The first key behind all keys that begin with `prefix`, which is a kind's number below 255 at least.
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
        assert_eq!(beginning(vec![7, 1]), vec![7, 1]..vec![7, 2]);
        assert_eq!(beginning(vec![7, 0xff, 0xff]), vec![7, 0xff, 0xff]..vec![8]);
    }
}
