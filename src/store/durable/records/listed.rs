//! The list of a recipient's conversations, by start time and then by id.

use std::ops::Range;

use crate::{
    domain::{ConversationId, Identity, Namespace, RecipientId, Timestamp},
    store::{RecipientKey, durable::key_value::Key},
};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{key, message},
};

/// A place in a recipient's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedKey {
    /// The recipient.
    pub recipient: RecipientKey,
    /// When the conversation was created.
    pub start_time: Timestamp,
    /// The conversation.
    pub conversation: ConversationId,
}

/// The kind of entries of such lists: there is nothing but the key.
#[derive(Clone, Copy, Debug)]
pub struct Listed;

/// A conversation's entry in its recipient's list.
pub fn listed(identity: &Identity) -> ListedKey {
    let namespace = identity.key.namespace.clone();
    ListedKey {
        recipient: RecipientKey { namespace, id: identity.recipient.clone() },
        start_time: identity.start_time,
        conversation: identity.key.id.clone(),
    }
}

/// What the keys of a recipient's list begin with; backwards, they are by descending start time,
/// then by descending id.
pub fn listed_of(recipient: &RecipientKey) -> Key {
    let mut prefix = KeyWriter::of(Listed::NUMBER);
    prefix.text(recipient.namespace.as_str()).text(recipient.id.as_str());
    prefix.done()
}

/// The keys of a recipient's list that come behind `place` when the list is read backwards,
/// whether there is a conversation at that place or not.
pub fn listed_behind(place: &ListedKey) -> Range<Key> {
    listed_of(&place.recipient)..key::<Listed>(place)
}

impl Kind for Listed {
    const NUMBER: u8 = 9;
    const VERSION: u8 = 1;
    const NAME: &'static str = "list entry";
    type Key = ListedKey;
    type Value = ();

    fn write_key(key: &ListedKey, to: &mut KeyWriter) {
        to.text(key.recipient.namespace.as_str()).text(key.recipient.id.as_str());
        to.time(key.start_time).last(key.conversation.as_str());
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<ListedKey, Fault> {
        Ok(ListedKey {
            recipient: RecipientKey { namespace: parts.id(Namespace::new)?, id: parts.id(RecipientId::new)? },
            start_time: parts.time()?,
            conversation: parts.last_id(ConversationId::new)?,
        })
    }

    fn show(key: &ListedKey) -> String {
        let ListedKey { recipient, start_time: Timestamp(micros), conversation } = key;
        format!("{}/{conversation} of {} at {micros} µs", recipient.namespace, recipient.id)
    }

    fn write(_: &ListedKey, _: &(), _: &mut Vec<u8>) {}

    fn read(_: &ListedKey, payload: &[u8]) -> Result<(), Fault> {
        message(payload)
    }
}
