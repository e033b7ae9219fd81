//! Work in the order in which it becomes due.

use std::ops::Range;

use crate::{
    domain::Timestamp,
    store::{Due, durable::key_value::Key},
};

use super::{
    ConversationName, Fault, KeyReader, KeyWriter, Kind,
    key::behind,
    kind::{all_of, message},
};

/// The number of [`Due::Expired`] in keys. Numbers are never changed and never reused.
const EXPIRED: u8 = 1;

/// The kind of due work, by the first moment at which it is due, and by what there is to do: there
/// is nothing but the key.
#[derive(Clone, Copy, Debug)]
pub struct Dues;

/// The keys of what is due at `now`, the longest due first.
pub fn dues_up_to(now: Timestamp) -> Range<Key> {
    let mut last = KeyWriter::of(Dues::NUMBER);
    last.time(now);
    all_of::<Dues>()..behind(last.done())
}

impl Kind for Dues {
    const NUMBER: u8 = 13;
    const VERSION: u8 = 1;
    const NAME: &'static str = "due work";
    type Key = (Timestamp, Due);
    type Value = ();

    fn write_key((time, due): &(Timestamp, Due), to: &mut KeyWriter) {
        to.time(*time);
        match due {
            Due::Expired(conversation) => {
                to.byte(EXPIRED);
                ConversationName::write_key(conversation, to);
            }
        }
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<(Timestamp, Due), Fault> {
        let time = parts.time()?;
        match parts.byte()? {
            EXPIRED => Ok((time, Due::Expired(ConversationName::read_key(parts)?))),
            what => Err(Fault::wrong("what is due", format_args!("is {what}; known is {EXPIRED}"))),
        }
    }

    fn show((time, due): &(Timestamp, Due)) -> String {
        match due {
            Due::Expired(conversation) => {
                format!("at {} µs: expiry of {}", time.0, ConversationName::show(conversation))
            }
        }
    }

    fn write(_: &(Timestamp, Due), _: &(), _: &mut Vec<u8>) {}

    fn read(_: &(Timestamp, Due), payload: &[u8]) -> Result<(), Fault> {
        message(payload)
    }
}
