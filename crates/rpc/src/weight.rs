//! Estimates the memory of a decoded message from its encoded bytes.
//!
//! A part of two bytes can become a structure of several hundred, so a message within its limit could take a hundred
//! times as much memory.

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost_reflect::{Kind, MessageDescriptor};

use crate::proto;

/// The bytes of a structure for each of its fields, while the list that it is in grows.
const FIELD: usize = 64;
/// The bytes of a text in a list, in addition to its own.
const ELEMENT: usize = 48;
/// The bytes of a number in a list, for each byte that it is encoded in.
const NUMBER: usize = 16;

/// Estimates, never too low, the bytes of the message `name` once `bytes` are decoded.
pub fn weight(name: &str, bytes: &[u8]) -> usize {
    let descriptor = proto::descriptors().and_then(|pool| pool.get_message_by_name(name));
    bytes.len() + descriptor.map_or(0, |message| of_structures(&message, bytes))
}

/// The bytes of the structures that a message becomes, in addition to its encoded bytes.
fn of_structures(message: &MessageDescriptor, mut bytes: &[u8]) -> usize {
    let mut weight = FIELD * (1 + message.fields().len());
    // the decoder refuses what is not a message
    while let Some(part) = of_part(message, &mut bytes) {
        weight = weight.saturating_add(part);
    }
    weight
}

/// Reads one field; `None` at the end.
fn of_part(message: &MessageDescriptor, bytes: &mut &[u8]) -> Option<usize> {
    let (number, wire) = decode_key(bytes).ok()?;
    let field = message.get_field(number);
    if wire != WireType::LengthDelimited {
        skip_field(wire, number, bytes, DecodeContext::default()).ok()?;
        return Some(if field.is_some_and(|field| field.is_list()) { NUMBER } else { 0 });
    }
    let length = usize::try_from(decode_varint(bytes).ok()?).ok()?;
    let (inside, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(match field.map(|field| (field.kind(), field.is_list())) {
        Some((Kind::Message(inner), _)) => of_structures(&inner, inside),
        Some((Kind::String | Kind::Bytes, true)) => ELEMENT,
        Some((_, true)) => NUMBER.saturating_mul(length),
        _ => 0,
    })
}

#[cfg(test)]
mod tests {
    use prost::{Message, Name};

    use super::*;

    fn weighed<M: Message + Name>(message: &M) -> usize {
        weight(&M::full_name(), &message.encode_to_vec())
    }

    #[test]
    fn empty_parts_weigh_what_they_become() {
        let parts = vec![proto::NewUtterance::default(); 10_000];
        let became = 2 * parts.len() * size_of::<proto::NewUtterance>();
        let request = proto::MemorizeRequest { utterances: parts, ..Default::default() };
        assert!(weighed(&request) >= became);
        let streamed = proto::MemorizeStreamRequest { memorize: Some(request), ..Default::default() };
        assert!(weighed(&streamed) >= became);
        let calls = vec![proto::ToolCall::default(); 1_000];
        let became = 2 * calls.len() * size_of::<proto::ToolCall>();
        assert!(weighed(&proto::NewUtterance { tool_calls: calls, ..Default::default() }) >= became);
        let texts = proto::CountTokensRequest { texts: vec![String::new(); 10_000], ..Default::default() };
        assert!(weighed(&texts) >= 10_000 * size_of::<String>());
    }

    #[test]
    fn a_long_text_weighs_little_more_than_its_bytes() {
        let utterance = proto::NewUtterance { content: "x".repeat(1_000_000), ..Default::default() };
        let request = proto::MemorizeRequest { utterances: vec![utterance], ..Default::default() };
        let weight = weighed(&request);
        assert!((1_000_000..1_010_000).contains(&weight), "{weight}");
    }

    #[test]
    fn what_is_no_message_has_a_weight_too() {
        for bytes in [
            &[0xff; 30][..],
            b"\x1a\x7f",
            b"\x1a",
            b"\x1b\x1b\x1b",
            b"\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ] {
            assert!(weight("utterd.v1.MemorizeRequest", bytes) < 10_000);
        }
    }
}
