//! The conversations that wait for a model, in the order in which they began to.

use std::ops::Range;

use crate::{
    domain::{ConversationKey, Timestamp},
    store::durable::key_value::Key,
};

use super::{
    ConversationName, Fault, KeyReader, KeyWriter, Kind,
    key::behind,
    kind::{all_of, key, message},
};

/// The kind of what waits for a model, by the time since which the conversation's first segment does, and by
/// the conversation: there is nothing but the key.
#[derive(Clone, Copy, Debug)]
pub struct Waiting;

/// The keys of all that is behind `after`; of all when there is none.
pub fn waiting_behind(after: Option<&(Timestamp, ConversationKey)>) -> Range<Key> {
    let all = all_of::<Waiting>();
    let end = behind(all.clone());
    match after {
        // No key is between one and the same with a zero byte behind it.
        Some(after) => [&*key::<Waiting>(after), &[0]].concat()..end,
        None => all..end,
    }
}

impl Kind for Waiting {
    const NUMBER: u8 = 19;
    const VERSION: u8 = 1;
    const NAME: &'static str = "waiting summary";
    type Key = (Timestamp, ConversationKey);
    type Value = ();

    fn write_key((since, conversation): &(Timestamp, ConversationKey), to: &mut KeyWriter) {
        to.time(*since);
        ConversationName::write_key(conversation, to);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<(Timestamp, ConversationKey), Fault> {
        Ok((parts.time()?, ConversationName::read_key(parts)?))
    }

    fn show((since, conversation): &(Timestamp, ConversationKey)) -> String {
        format!("since {} µs: {}", since.0, ConversationName::show(conversation))
    }

    fn write(_: &(Timestamp, ConversationKey), _: &(), _: &mut Vec<u8>) {}

    fn read(_: &(Timestamp, ConversationKey), payload: &[u8]) -> Result<(), Fault> {
        message(payload)
    }
}
