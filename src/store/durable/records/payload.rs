//! Fields of a protobuf message, read as they stand.

use prost::{
    bytes::Buf,
    encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field},
};

use super::Fault;

/// The fields of a message; what [`Fields`](super::fields::Fields) has written.
///
/// - A field that is absent reads as its default value. Of a field that stands there twice, and is
///   not repeated, the last counts.
/// - Fields that nobody asks for are passed over.
pub(super) struct Payload<'a>(Vec<(u32, Value<'a>)>);

#[derive(Clone, Copy)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Payload<'a> {
    pub(super) fn read(mut payload: &'a [u8]) -> Result<Self, Fault> {
        let mut fields = Vec::new();
        while payload.has_remaining() {
            let (field, wire) = decode_key(&mut payload).map_err(unreadable)?;
            match wire {
                WireType::Varint => fields.push((field, Value::Number(number(&mut payload)?))),
                WireType::LengthDelimited => fields.push((field, Value::Bytes(bytes(&mut payload)?))),
                other => {
                    skip_field(other, field, &mut payload, DecodeContext::default()).map_err(unreadable)?
                }
            }
        }
        Ok(Self(fields))
    }

    /// A `uint32`, `uint64` or `bool`.
    pub(super) fn number(&self, field: u32) -> Result<u64, Fault> {
        match self.last(field) {
            None => Ok(0),
            Some(Value::Number(number)) => Ok(number),
            Some(Value::Bytes(_)) => Err(unreadable(format_args!("field {field} is no number"))),
        }
    }

    /// A `sint64`.
    pub(super) fn signed(&self, field: u32) -> Result<i64, Fault> {
        self.number(field).map(|number| (number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// `bytes`.
    pub(super) fn bytes(&self, field: u32) -> Result<&'a [u8], Fault> {
        Ok(self.repeated(field)?.last().copied().unwrap_or_default())
    }

    /// An `optional` message.
    pub(super) fn message(&self, field: u32) -> Result<Option<Payload<'a>>, Fault> {
        self.repeated(field)?.last().map(|message| Payload::read(message)).transpose()
    }

    /// `repeated` texts, or messages.
    pub(super) fn repeated(&self, field: u32) -> Result<Vec<&'a [u8]>, Fault> {
        let bytes = |value| match value {
            Value::Bytes(bytes) => Ok(bytes),
            Value::Number(_) => Err(unreadable(format_args!("field {field} is a number"))),
        };
        self.0.iter().filter(|(other, _)| *other == field).map(|(_, value)| bytes(*value)).collect()
    }

    /// A `repeated uint64`.
    pub(super) fn packed(&self, field: u32) -> Result<Vec<u64>, Fault> {
        let (mut packed, mut numbers) = (self.bytes(field)?, Vec::new());
        while packed.has_remaining() {
            numbers.push(number(&mut packed)?);
        }
        Ok(numbers)
    }

    fn last(&self, field: u32) -> Option<Value<'a>> {
        self.0.iter().rfind(|(other, _)| *other == field).map(|(_, value)| *value)
    }
}

fn number(payload: &mut &[u8]) -> Result<u64, Fault> {
    decode_varint(payload).map_err(unreadable)
}

fn bytes<'a>(payload: &mut &'a [u8]) -> Result<&'a [u8], Fault> {
    let length = usize::try_from(number(payload)?).ok();
    let parts = length.and_then(|length| payload.split_at_checked(length));
    let (bytes, rest) = parts.ok_or_else(|| unreadable("it is cut short"))?;
    *payload = rest;
    Ok(bytes)
}

/// The fault of a payload that is no message.
pub(super) fn unreadable(error: impl std::fmt::Display) -> Fault {
    Fault::wrong("the payload", format_args!("is not readable: {error}"))
}
