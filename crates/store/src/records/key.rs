//! Keys and their parts, and how they are encoded.

use std::ops::Range;

use utterd_domain::{
    ConversationId, IdError, LineageId, Namespace, RecipientId, RequestId, Sequence, Timestamp, UtteranceId,
    limits::MAX_ID_BYTES,
};

use super::Fault;

const _: () = assert!(MAX_ID_BYTES <= 2 * u8::MAX as usize, "the length of an id takes at most two bytes");

/// A key as it is stored.
pub type Key = Vec<u8>;
/// A value as it is stored.
pub type Value = Vec<u8>;

/// The key of a record, made of one part or several.
pub trait RecordKey: KeyPart {
    /// Returns a readable form.
    fn show(&self) -> String;
}

/// A part of a key, encoded in bytes that sort like the parts.
///
/// - Numbers are big-endian; the sign of a time is flipped first.
/// - A text is preceded by its length: one byte; from 255 bytes on, that byte is 255 and a second one holds
///   the rest. The last part of a key has no length, so that otherwise equal keys sort by that text.
pub trait KeyPart: Sized {
    /// Writes the part.
    fn write(&self, to: &mut KeyWriter);

    /// Reads the part.
    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault>;
}

/// Writes a key: the kind's number, then the parts.
#[derive(Debug)]
pub struct KeyWriter(Key);

impl KeyWriter {
    /// Starts a key of the kind with this number.
    pub(super) fn of(kind: u8) -> Self {
        let mut key = Vec::with_capacity(64);
        key.push(kind);
        Self(key)
    }

    /// Continues a key from its beginning.
    pub(super) fn behind(beginning: Key) -> Self {
        Self(beginning)
    }

    /// Returns the key, or a common prefix of keys.
    pub(super) fn done(self) -> Key {
        self.0
    }

    /// Writes bytes of fixed length, or of the last part.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    /// Writes a text that is not the last part: at most 510 bytes.
    pub(super) fn text(&mut self, text: &str) {
        match text.len().checked_sub(u8::MAX.into()) {
            None => self.0.push(text.len() as u8),
            Some(more) => self.0.extend([u8::MAX, more as u8]),
        }
        self.0.extend(text.as_bytes());
    }
}

/// Reads a key's parts in the order they were written.
#[derive(Debug)]
pub struct KeyReader<'a>(&'a [u8]);

impl<'a> KeyReader<'a> {
    /// Reads the bytes after the kind's number.
    pub(super) fn of(parts: &'a [u8]) -> Self {
        Self(parts)
    }

    /// Fails if there are bytes after the last part.
    pub(super) fn end(self) -> Result<(), Fault> {
        match self.0.len() {
            0 => Ok(()),
            more => Err(Fault::wrong("the key", format_args!("has {more} bytes too many"))),
        }
    }

    /// Reads `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (array, rest) = self.0.split_first_chunk().ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(*array)
    }

    /// Reads a text that is not the last part.
    pub(super) fn text(&mut self) -> Result<&'a str, Fault> {
        let length = match self.array()? {
            [u8::MAX] => usize::from(u8::MAX) + usize::from(self.array::<1>()?[0]),
            [length] => length.into(),
        };
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(cut_short)?;
        self.0 = rest;
        text(taken)
    }

    /// Reads a text that is the last part.
    pub(super) fn last(&mut self) -> Result<&'a str, Fault> {
        text(std::mem::take(&mut self.0))
    }
}

fn text(bytes: &[u8]) -> Result<&str, Fault> {
    str::from_utf8(bytes)
        .map_err(|error| Fault::wrong("a text of the key", format_args!("is invalid: {error}")))
}

fn cut_short() -> Fault {
    Fault::wrong("the key", "is cut short")
}

/// Returns the range of keys that begin with `prefix`.
pub fn beginning(prefix: Key) -> Range<Key> {
    let end = behind(prefix.clone());
    prefix..end
}

/// Returns the first key after all keys that begin with `prefix`. The prefix must contain a byte below 255,
/// such as a kind's number.
pub(super) fn behind(mut prefix: Key) -> Key {
    while prefix.pop_if(|byte| *byte == u8::MAX).is_some() {}
    if let Some(byte) = prefix.last_mut() {
        *byte += 1;
    }
    prefix
}

/// Implements parts of keys, given how each is written and read.
macro_rules! parts {
    ($($(#[$doc:meta])* $type:ty: $write:expr, $read:expr;)*) => {$(
        $(#[$doc])*
        impl KeyPart for $type {
            fn write(&self, to: &mut KeyWriter) {
                let write: fn(&Self, &mut KeyWriter) = $write;
                write(self, to);
            }

            fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
                let read: fn(&mut KeyReader<'_>) -> Result<Self, Fault> = $read;
                read(from)
            }
        }
    )*};
}

parts! {
    u8: |byte, to| to.bytes(&[*byte]), |from| Ok(Self::from_be_bytes(from.array()?));
    u64: |number, to| to.bytes(&number.to_be_bytes()), |from| Ok(Self::from_be_bytes(from.array()?));
    /// Counts from 1.
    u32: |number, to| to.bytes(&number.to_be_bytes()), |from| match Self::from_be_bytes(from.array()?) {
        0 => Err(Fault::wrong("the key's number", "is 0; numbers count from 1")),
        number => Ok(number),
    };
    Sequence: |one, to| one.0.write(to), |from| match u64::read(from)? {
        number @ 1..=MOST => Ok(Self(number)),
        number => Err(Fault::wrong("the key's sequence", format_args!("is {number}; expected 1 to {MOST}"))),
    };
    Timestamp: |time, to| to.bytes(&(time.0 ^ i64::MIN).to_be_bytes()), |from| {
        Ok(Self(i64::from_be_bytes(from.array()?) ^ i64::MIN))
    };
    LineageId: |lineage, to| to.bytes(&lineage.0), |from| Ok(Self(from.array()?));
    Namespace: |id, to| to.text(id.as_str()), |from| id(from.text()?, Self::new);
    /// Never the last part.
    RecipientId: |id, to| to.text(id.as_str()), |from| id(from.text()?, Self::new);
    /// Always the last part.
    ConversationId: |id, to| to.bytes(id.as_str().as_bytes()), |from| id(from.last()?, Self::kept);
    /// Always the last part.
    RequestId: |id, to| to.bytes(id.as_str().as_bytes()), |from| id(from.last()?, Self::new);
    /// The id that a client gave to an utterance; always the last part.
    Box<str>: |id, to| to.bytes(id.as_bytes()), |from| match id(from.last()?, UtteranceId::given)? {
        UtteranceId::Given(id) => Ok(id),
        UtteranceId::Assigned(_) => Err(Fault::wrong("the id", "was not given")),
    };
}

/// The largest sequence.
const MOST: u64 = i64::MAX as u64;

/// Reads the number of one of `all`.
pub(super) fn numbered<T: Copy, const N: usize>(
    part: &'static str,
    from: &mut KeyReader<'_>,
    all: [T; N],
    number: fn(T) -> u8,
) -> Result<T, Fault> {
    let read = u8::read(from)?;
    let found = all.into_iter().find(|one| number(*one) == read);
    found.ok_or_else(|| Fault::wrong(part, format_args!("is {read}; expected 1 to {N}")))
}

/// Parses an id.
pub(super) fn id<T>(text: &str, make: fn(&str) -> Result<T, IdError>) -> Result<T, Fault> {
    make(text).map_err(|error| Fault::wrong("an id of the key", error))
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
