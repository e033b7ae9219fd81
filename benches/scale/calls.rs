//! The calls of conversations that are addressed by their recipients.

use bytes::Bytes;
use prost::Message;
use utterd::proto::GetCapacityInfoRequest;

use crate::requests::memorize_by_recipient;

pub use crate::requests::{GET_CAPACITY, MEMORIZE};

/// Different texts that are said in turn.
const TEXTS: usize = 5;
/// Utterances that more than fill a rolling window.
const FULL: usize = 40;

/// Recipients with a rolling window each, and the calls that say one more utterance to each.
pub struct Recipients {
    names: Vec<String>,
    sayings: Vec<Bytes>,
}

impl Recipients {
    /// `count` recipients whose names begin with `kind`.
    pub fn new(kind: &str, count: usize) -> Self {
        let names: Vec<_> = (0..count).map(|index| format!("{kind}-{index}")).collect();
        let texts =
            (0..TEXTS).flat_map(|text| names.iter().map(move |name| memorize_by_recipient(name, text, 1)));
        let sayings = texts.collect();
        Self { names, sayings }
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The calls that fill the windows.
    pub fn full(&self) -> Vec<Bytes> {
        self.names.iter().map(|name| memorize_by_recipient(name, 0, FULL)).collect()
    }

    /// A call that says an utterance: to one recipient after the other, and the next text each time around.
    pub fn saying(&self, number: u64) -> Bytes {
        self.sayings[number as usize % self.sayings.len()].clone()
    }
}

/// Asks for a recipient's capacity.
pub fn get_capacity(recipient: &str) -> Bytes {
    GetCapacityInfoRequest { recipient_id: recipient.to_owned(), ..Default::default() }.encode_to_vec().into()
}

/// Asks for a conversation's capacity, as it was a minute ago or later.
pub fn get_older_capacity(conversation: &str) -> Bytes {
    let max_staleness = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    let conversation_id = conversation.to_owned();
    GetCapacityInfoRequest { conversation_id, max_staleness, ..Default::default() }.encode_to_vec().into()
}
