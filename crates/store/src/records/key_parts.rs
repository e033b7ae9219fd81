//! The parts of keys.

use utterd_domain::{
    ConversationId, IdError, LineageId, Namespace, RecipientId, RequestId, Sequence, Timestamp, UtteranceId,
};

use super::{
    Fault,
    key::{KeyPart, KeyReader, KeyWriter},
};

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
