//! The conversation that a recipient is in.

use prost::Message;

use crate::{
    domain::{ConversationId, Namespace, RecipientId},
    store::RecipientKey,
};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{append, message},
};

/// The kind of recipients' active conversations.
#[derive(Clone, Copy, Debug)]
pub struct Active;

#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(string, tag = "1")]
    conversation: String,
}

impl Kind for Active {
    const NUMBER: u8 = 10;
    const VERSION: u8 = 1;
    const NAME: &'static str = "active conversation";
    type Key = RecipientKey;
    type Value = ConversationId;

    fn write_key(key: &RecipientKey, to: &mut KeyWriter) {
        to.text(key.namespace.as_str()).last(key.id.as_str());
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<RecipientKey, Fault> {
        Ok(RecipientKey { namespace: parts.id(Namespace::new)?, id: parts.last_id(RecipientId::new)? })
    }

    fn show(key: &RecipientKey) -> String {
        format!("of {}/{}", key.namespace, key.id)
    }

    fn write(_: &RecipientKey, value: &ConversationId, to: &mut Vec<u8>) {
        append(&Stored { conversation: value.as_str().to_owned() }, to);
    }

    fn read(_: &RecipientKey, payload: &[u8]) -> Result<ConversationId, Fault> {
        let stored: Stored = message(payload)?;
        ConversationId::new(&stored.conversation).map_err(|error| Fault::wrong("the conversation", error))
    }
}
