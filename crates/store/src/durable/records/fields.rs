//! Writes the fields of a protobuf message from borrowed data.

use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint};

use super::payload::Stored;

/// Writes a message into a value without copying its parts first.
pub struct Fields<'a>(&'a mut Vec<u8>);

impl<'a> Fields<'a> {
    /// Appends to `to`.
    pub(super) fn to(to: &'a mut Vec<u8>) -> Self {
        Self(to)
    }

    /// Writes a varint, a text, or bytes.
    pub(super) fn put(&mut self, field: u32, stored: Stored<'_>) {
        match stored {
            Stored::Nothing => {}
            Stored::Number(number) => {
                encode_key(field, WireType::Varint, self.0);
                encode_varint(number, self.0);
            }
            Stored::Bytes(bytes) => {
                self.length(field, bytes.len());
                self.0.extend_from_slice(bytes);
            }
        }
    }

    /// Writes packed numbers.
    pub(super) fn packed<I: Iterator<Item = u64>>(&mut self, field: u32, numbers: impl Fn() -> I) {
        self.length(field, numbers().map(encoded_len_varint).sum());
        numbers().for_each(|number| encode_varint(number, self.0));
    }

    /// Writes a message.
    pub(super) fn message(&mut self, field: u32, write: impl FnOnce(&mut Fields<'_>)) {
        encode_key(field, WireType::LengthDelimited, self.0);
        let start = self.0.len();
        write(&mut Fields::to(self.0));
        let length = (self.0.len() - start) as u64;
        encode_varint(length, self.0);
        self.0[start..].rotate_right(encoded_len_varint(length));
    }

    fn length(&mut self, field: u32, length: usize) {
        encode_key(field, WireType::LengthDelimited, self.0);
        encode_varint(length as u64, self.0);
    }
}
