//! What never changes in a conversation's life.

use prost::Message;

use crate::domain::{
    ConversationId, ConversationKey, Identity, LineageId, Namespace, RecipientId, Timestamp,
};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{append, message},
    number::{Numbered, numbered},
};

/// The kind of conversations, by their names.
#[derive(Clone, Copy, Debug)]
pub struct ConversationName;

#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(string, tag = "1")]
    recipient: String,
    #[prost(bytes = "vec", tag = "2")]
    lineage: Vec<u8>,
    #[prost(sint64, tag = "3")]
    start_time: i64,
    #[prost(uint32, tag = "4")]
    encoding: u32,
}

impl Kind for ConversationName {
    const NUMBER: u8 = 2;
    const VERSION: u8 = 1;
    const NAME: &'static str = "conversation";
    type Key = ConversationKey;
    type Value = Identity;

    fn write_key(key: &ConversationKey, to: &mut KeyWriter) {
        to.text(key.namespace.as_str()).last(key.id.as_str());
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<ConversationKey, Fault> {
        Ok(ConversationKey { namespace: parts.id(Namespace::new)?, id: parts.last_id(ConversationId::new)? })
    }

    fn show(key: &ConversationKey) -> String {
        format!("{}/{}", key.namespace, key.id)
    }

    fn write(_: &ConversationKey, value: &Identity, to: &mut Vec<u8>) {
        let stored = Stored {
            recipient: value.recipient.as_str().to_owned(),
            lineage: value.lineage.0.to_vec(),
            start_time: value.start_time.0,
            encoding: value.encoding.number().into(),
        };
        append(&stored, to);
    }

    fn read(key: &ConversationKey, payload: &[u8]) -> Result<Identity, Fault> {
        let stored: Stored = message(payload)?;
        Ok(Identity {
            key: key.clone(),
            recipient: RecipientId::new(&stored.recipient)
                .map_err(|error| Fault::wrong("the recipient", error))?,
            lineage: lineage("the lineage", &stored.lineage)?,
            start_time: Timestamp(stored.start_time),
            encoding: numbered(stored.encoding)?,
        })
    }
}

/// A lineage from its bytes.
pub(super) fn lineage(part: &'static str, bytes: &[u8]) -> Result<LineageId, Fault> {
    let lineage = bytes.try_into().map(LineageId);
    lineage.map_err(|_| Fault::wrong(part, format_args!("has {} bytes, not 16", bytes.len())))
}
