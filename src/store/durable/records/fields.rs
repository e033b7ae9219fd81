//! Fields of a protobuf message, written from what is borrowed.

use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint};

/// Writes a message into a value, without a copy of what it is made from.
///
/// - Writes what prost writes for the same message: fields by ascending number, those with their
///   default value left out.
/// - What is read back is a message that prost derives; that both agree is tested with each kind.
pub(super) struct Fields<'a>(&'a mut Vec<u8>);

impl<'a> Fields<'a> {
    /// Appends to `to`.
    pub(super) fn to(to: &'a mut Vec<u8>) -> Self {
        Self(to)
    }

    /// A `uint32` or `uint64`.
    pub(super) fn number(&mut self, field: u32, number: impl Into<u64>) {
        let number = number.into();
        if number != 0 {
            encode_key(field, WireType::Varint, self.0);
            encode_varint(number, self.0);
        }
    }

    /// A `sint64`.
    pub(super) fn signed(&mut self, field: u32, number: i64) {
        self.number(field, zigzag(number));
    }

    /// An `optional sint64`.
    pub(super) fn present_signed(&mut self, field: u32, number: i64) {
        encode_key(field, WireType::Varint, self.0);
        encode_varint(zigzag(number), self.0);
    }

    /// A `bool`.
    pub(super) fn flag(&mut self, field: u32, flag: bool) {
        self.number(field, flag);
    }

    /// `bytes`.
    pub(super) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.present_bytes(field, bytes);
        }
    }

    /// A `string`.
    pub(super) fn text(&mut self, field: u32, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    /// An `optional string`; also one of a `repeated string`.
    pub(super) fn present_text(&mut self, field: u32, text: &str) {
        self.present_bytes(field, text.as_bytes());
    }

    /// A `repeated uint64`.
    pub(super) fn packed<I: Iterator<Item = u64>>(&mut self, field: u32, numbers: impl Fn() -> I) {
        let length: usize = numbers().map(encoded_len_varint).sum();
        if length > 0 {
            self.length(field, length);
            numbers().for_each(|number| encode_varint(number, self.0));
        }
    }

    /// An `optional` message; also one of a repeated.
    pub(super) fn message(&mut self, field: u32, write: impl FnOnce(&mut Fields<'_>)) {
        encode_key(field, WireType::LengthDelimited, self.0);
        let start = self.0.len();
        write(&mut Fields::to(self.0));
        let length = (self.0.len() - start) as u64;
        encode_varint(length, self.0);
        self.0[start..].rotate_right(encoded_len_varint(length));
    }

    fn present_bytes(&mut self, field: u32, bytes: &[u8]) {
        self.length(field, bytes.len());
        self.0.extend_from_slice(bytes);
    }

    fn length(&mut self, field: u32, length: usize) {
        encode_key(field, WireType::LengthDelimited, self.0);
        encode_varint(length as u64, self.0);
    }
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}
