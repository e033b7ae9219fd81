//! Reads the fields of a protobuf message without copying.

use prost::{
    bytes::Buf,
    encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field},
};
use smallvec::SmallVec;

use super::Fault;

/// The fields of a message, as written by [`Fields`](super::fields::Fields).
///
/// - An absent field reads as its default value.
/// - If a field that is not repeated occurs twice, the last one counts.
/// - Unknown fields are ignored.
pub struct Payload<'a>(SmallVec<[(u32, Stored<'a>); 16]>);

/// The stored form of a field.
#[derive(Clone, Copy)]
pub enum Stored<'a> {
    /// The field is absent; it reads as 0, or as no bytes.
    Nothing,
    /// A number.
    Number(u64),
    /// A text, a message, or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Payload<'a> {
    /// Parses a message.
    pub(super) fn read(mut payload: &'a [u8]) -> Result<Self, Fault> {
        let mut fields = SmallVec::new();
        while payload.has_remaining() {
            let (field, wire) = decode_key(&mut payload).map_err(unreadable)?;
            let stored = match wire {
                WireType::Varint => Stored::Number(varint(&mut payload)?),
                WireType::LengthDelimited => Stored::Bytes(bytes(&mut payload)?),
                other => {
                    skip_field(other, field, &mut payload, DecodeContext::default()).map_err(unreadable)?;
                    continue;
                }
            };
            fields.push((field, stored));
        }
        Ok(Self(fields))
    }

    /// Returns the value of a field.
    pub(super) fn one(&self, field: u32) -> Stored<'a> {
        let found = self.0.iter().rfind(|(other, _)| *other == field);
        found.map_or(Stored::Nothing, |(_, stored)| *stored)
    }

    /// Returns all values of a repeated field.
    pub(super) fn all(&self, field: u32) -> impl Iterator<Item = Stored<'a>> {
        self.0.iter().filter(move |(other, _)| *other == field).map(|(_, stored)| *stored)
    }
}

impl<'a> Stored<'a> {
    pub(super) fn number(self, part: &'static str) -> Result<u64, Fault> {
        match self {
            Self::Nothing => Ok(0),
            Self::Number(number) => Ok(number),
            Self::Bytes(_) => Err(Fault::wrong(part, "is not a number")),
        }
    }

    pub(super) fn bytes(self, part: &'static str) -> Result<&'a [u8], Fault> {
        match self {
            Self::Nothing => Ok(&[]),
            Self::Bytes(bytes) => Ok(bytes),
            Self::Number(_) => Err(Fault::wrong(part, "is a number")),
        }
    }

    pub(super) fn text(self, part: &'static str) -> Result<&'a str, Fault> {
        let text = str::from_utf8(self.bytes(part)?);
        text.map_err(|error| Fault::wrong(part, format_args!("is not text: {error}")))
    }

    pub(super) fn message(self, part: &'static str) -> Result<Payload<'a>, Fault> {
        match self {
            Self::Nothing => Err(Fault::wrong(part, "is missing")),
            stored => Payload::read(stored.bytes(part)?),
        }
    }

    pub(super) fn packed(self, part: &'static str) -> Result<Vec<u64>, Fault> {
        let (mut packed, mut numbers) = (self.bytes(part)?, Vec::new());
        while packed.has_remaining() {
            numbers.push(varint(&mut packed)?);
        }
        Ok(numbers)
    }
}

fn varint(payload: &mut &[u8]) -> Result<u64, Fault> {
    decode_varint(payload).map_err(unreadable)
}

fn bytes<'a>(payload: &mut &'a [u8]) -> Result<&'a [u8], Fault> {
    let length = usize::try_from(varint(payload)?).ok();
    let parts = length.and_then(|length| payload.split_at_checked(length));
    let (bytes, rest) = parts.ok_or_else(|| unreadable("it is cut short"))?;
    *payload = rest;
    Ok(bytes)
}

/// The fault of a payload that is not a message.
fn unreadable(error: impl std::fmt::Display) -> Fault {
    Fault::wrong("the payload", format_args!("is not readable: {error}"))
}
