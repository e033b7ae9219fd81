//! Estimates the memory of a decoded message from its encoded bytes.
//!
//! A part of two bytes can become a structure of several hundred, so a message within its limit could take a hundred
//! times as much memory.

use std::{collections::HashMap, sync::LazyLock};

use bytes::Bytes;
use prost::Message;
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorSet,
    field_descriptor_proto::{Label, Type},
};
use rustc_hash::FxHashMap;

use utterd_rpc::proto::FILE_DESCRIPTOR_SET;

/// The bytes of a field of a structure: the size of a list or a string.
const FIELD: usize = 24;
/// A growing list has up to twice the capacity that it needs.
const GROWTH: usize = 2;

/// The messages of the project's calls.
static MESSAGES: LazyLock<HashMap<String, Layout>> = LazyLock::new(layouts);

/// The fields of a message that take more memory than their encoded bytes.
#[derive(Debug, Default)]
pub struct Layout {
    /// The bytes of the structure itself.
    size: usize,
    fields: FxHashMap<u32, Field>,
}

#[derive(Debug)]
enum Field {
    /// A message, by its name.
    Message(String),
    /// An element of a list of strings.
    Element,
    /// Numbers of a list: eight bytes each, from as little as one encoded byte.
    Numbers,
}

/// Returns the layout of the message `name`, as descriptors name it.
pub fn layout(name: &str) -> Option<&'static Layout> {
    MESSAGES.get(name)
}

impl Layout {
    /// Estimates, never too low, the bytes of the message in `pieces` once it is decoded. Skips the `head` before it.
    pub fn weigh<'a>(&self, pieces: impl IntoIterator<Item = &'a Bytes>, head: usize) -> usize {
        let mut reader = Reader::new(pieces);
        reader.skip(head);
        let mut weight = self.size;
        // the decoder refuses what is not a message
        let _ = self.weigh_fields(&mut reader, &mut weight);
        weight
    }

    fn weigh_fields<'a>(
        &self,
        reader: &mut Reader<'a, impl Iterator<Item = &'a Bytes>>,
        weight: &mut usize,
    ) -> Option<()> {
        let mut within = vec![(self, usize::MAX)];
        while let Some((layout, end)) = within.last().copied() {
            if reader.read >= end || reader.is_at_end() {
                within.pop();
                continue;
            }
            let key = reader.varint()?;
            let field = u32::try_from(key >> 3).ok().and_then(|number| layout.fields.get(&number));
            if let Some(Field::Element | Field::Numbers) = field {
                *weight += GROWTH * FIELD;
            }
            match key & 7 {
                0 => drop(reader.varint()?),
                1 => reader.skip(8),
                5 => reader.skip(4),
                2 => {
                    let length = usize::try_from(reader.varint()?).ok()?;
                    match field {
                        Some(Field::Message(name)) => {
                            let inner = MESSAGES.get(name)?;
                            *weight += GROWTH * inner.size;
                            within.push((inner, reader.read.checked_add(length)?));
                        }
                        _ => {
                            let each = if matches!(field, Some(Field::Numbers)) { GROWTH * 8 } else { 1 };
                            *weight =
                                weight.saturating_add(length.min(u32::MAX as usize).saturating_mul(each));
                            reader.skip(length);
                        }
                    }
                }
                // the ends of a group, which the decoder skips
                3 | 4 => {}
                _ => return None,
            }
        }
        Some(())
    }
}

/// Reads bytes that are split into pieces.
struct Reader<'a, P> {
    pieces: P,
    piece: &'a [u8],
    read: usize,
}

impl<'a, P: Iterator<Item = &'a Bytes>> Reader<'a, P> {
    fn new(pieces: impl IntoIterator<IntoIter = P>) -> Self {
        Self { pieces: pieces.into_iter(), piece: &[], read: 0 }
    }

    /// Moves on to the next piece that is not empty; returns whether there is none.
    fn is_at_end(&mut self) -> bool {
        while self.piece.is_empty() {
            match self.pieces.next() {
                Some(piece) => self.piece = piece,
                None => return true,
            }
        }
        false
    }

    fn skip(&mut self, mut bytes: usize) {
        while bytes > 0 && !self.is_at_end() {
            let part = bytes.min(self.piece.len());
            self.piece = &self.piece[part..];
            self.read += part;
            bytes -= part;
        }
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            if self.is_at_end() {
                return None;
            }
            let byte = self.piece[0];
            self.skip(1);
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

fn layouts() -> HashMap<String, Layout> {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap_or_default();
    let mut messages = HashMap::new();
    for file in &set.file {
        for message in &file.message_type {
            add(&format!(".{}.{}", file.package(), message.name()), message, &mut messages);
        }
    }
    let sizes: Vec<_> = messages.keys().map(|name| (name.clone(), size(name, &messages, 0))).collect();
    let mut layouts: HashMap<_, _> = messages
        .iter()
        .map(|(name, message)| {
            let fields = message.field.iter().filter_map(|field| Some((field.number() as u32, of(field)?)));
            (name.clone(), Layout { size: 0, fields: fields.collect() })
        })
        .collect();
    for (name, size) in sizes {
        layouts.entry(name).or_default().size = size;
    }
    layouts
}

fn add<'a>(name: &str, message: &'a DescriptorProto, messages: &mut HashMap<String, &'a DescriptorProto>) {
    messages.insert(name.to_owned(), message);
    for nested in &message.nested_type {
        add(&format!("{name}.{}", nested.name()), nested, messages);
    }
}

/// Estimates the bytes of a message's structure: nested messages are part of it, the contents of lists are not.
fn size(name: &str, messages: &HashMap<String, &DescriptorProto>, depth: usize) -> usize {
    let Some(message) = messages.get(name).filter(|_| depth < 8) else { return FIELD };
    let field = |field: &FieldDescriptorProto| match (field.r#type(), field.label()) {
        (Type::Message, label) if label != Label::Repeated => {
            FIELD + size(field.type_name(), messages, depth + 1)
        }
        _ => FIELD,
    };
    FIELD + message.field.iter().map(field).sum::<usize>()
}

fn of(field: &FieldDescriptorProto) -> Option<Field> {
    match (field.r#type(), field.label()) {
        (Type::Message, _) => Some(Field::Message(field.type_name().to_owned())),
        (Type::String | Type::Bytes, Label::Repeated) => Some(Field::Element),
        (_, Label::Repeated) => Some(Field::Numbers),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_rpc::proto;

    fn weight(name: &str, bytes: &[u8]) -> usize {
        let pieces: Vec<_> = bytes.chunks(7).map(Bytes::copy_from_slice).collect();
        layout(name).unwrap().weigh(&pieces, 0)
    }

    #[test]
    fn structures_are_no_larger_than_they_are_weighed() {
        let size = |name: &str| layout(name).unwrap().size;
        assert!(size(".utterd.v1.NewUtterance") >= size_of::<proto::NewUtterance>());
        assert!(size(".utterd.v1.ToolCall") >= size_of::<proto::ToolCall>());
        assert!(size(".utterd.v1.MemorizeStreamRequest") >= size_of::<proto::MemorizeStreamRequest>());
        assert!(
            size(".utterd.v1.CreateConversationRequest") >= size_of::<proto::CreateConversationRequest>()
        );
        assert!(size(".utterd.v1.NewUtterance") < 4 * size_of::<proto::NewUtterance>());
    }

    #[test]
    fn empty_parts_weigh_what_they_become() {
        let request = proto::MemorizeRequest {
            utterances: vec![proto::NewUtterance::default(); 10_000],
            ..Default::default()
        };
        let bytes = request.encode_to_vec();
        assert_eq!(bytes.len(), 20_000);
        let became = request.utterances.capacity() * size_of::<proto::NewUtterance>();
        assert!(weight(".utterd.v1.MemorizeRequest", &bytes) >= became);
        let streamed =
            proto::MemorizeStreamRequest { memorize: Some(request), ..Default::default() }.encode_to_vec();
        assert!(weight(".utterd.v1.MemorizeStreamRequest", &streamed) >= became);
        let texts = proto::CountTokensRequest { texts: vec![String::new(); 10_000], ..Default::default() };
        let weight = weight(".utterd.v1.CountTokensRequest", &texts.encode_to_vec());
        assert!(weight >= 10_000 * size_of::<String>());
    }

    #[test]
    fn a_long_text_weighs_little_more_than_its_bytes() {
        let content = "x".repeat(1_000_000);
        let utterance = proto::NewUtterance { content, ..Default::default() };
        let request = proto::MemorizeRequest { utterances: vec![utterance], ..Default::default() };
        let weight = weight(".utterd.v1.MemorizeRequest", &request.encode_to_vec());
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
            assert!(weight(".utterd.v1.MemorizeRequest", bytes) < 10_000);
        }
    }
}
