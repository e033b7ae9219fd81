//! The list of a recipient's conversations that have ended, by the time of their ends and then by
//! id.

use crate::{
    domain::{ConversationId, Head, Namespace, RecipientId, Timestamp},
    store::{RecipientKey, durable::key_value::Key},
};

use super::{Fault, KeyReader, KeyWriter, Kind, kind::message};

/// A place in a recipient's list of ended conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedKey {
    /// The recipient.
    pub recipient: RecipientKey,
    /// When the conversation ended.
    pub end_time: Timestamp,
    /// The conversation.
    pub conversation: ConversationId,
}

/// The kind of entries of such lists: there is nothing but the key.
#[derive(Clone, Copy, Debug)]
pub struct Ended;

/// A conversation's entry in its recipient's list, if it has ended.
pub fn ended(head: &Head) -> Option<EndedKey> {
    let key = &head.identity.key;
    Some(EndedKey {
        recipient: RecipientKey { namespace: key.namespace.clone(), id: head.identity.recipient.clone() },
        end_time: head.ended.as_ref()?.time,
        conversation: key.id.clone(),
    })
}

/// What the keys of a recipient's list begin with.
pub fn ended_of(recipient: &RecipientKey) -> Key {
    let mut prefix = KeyWriter::of(Ended::NUMBER);
    prefix.text(recipient.namespace.as_str()).text(recipient.id.as_str());
    prefix.done()
}

impl Kind for Ended {
    const NUMBER: u8 = 17;
    const VERSION: u8 = 1;
    const NAME: &'static str = "entry of what ended";
    type Key = EndedKey;
    type Value = ();

    fn write_key(key: &EndedKey, to: &mut KeyWriter) {
        to.text(key.recipient.namespace.as_str()).text(key.recipient.id.as_str());
        to.time(key.end_time).last(key.conversation.as_str());
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<EndedKey, Fault> {
        Ok(EndedKey {
            recipient: RecipientKey { namespace: parts.id(Namespace::new)?, id: parts.id(RecipientId::new)? },
            end_time: parts.time()?,
            conversation: parts.last_id(ConversationId::new)?,
        })
    }

    fn show(key: &EndedKey) -> String {
        let EndedKey { recipient, end_time: Timestamp(micros), conversation } = key;
        format!("{}/{conversation} of {} at {micros} µs", recipient.namespace, recipient.id)
    }

    fn write(_: &EndedKey, _: &(), _: &mut Vec<u8>) {}

    fn read(_: &EndedKey, payload: &[u8]) -> Result<(), Fault> {
        message(payload)
    }
}
