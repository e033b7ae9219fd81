//! Which conversations read a lineage that was frozen by a fork.

use prost::Message;

use crate::{
    domain::{ConversationId, ConversationKey, LineageId, Namespace, Sequence},
    store::durable::key_value::Key,
};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{append, message},
    number::sequence,
};

/// A conversation that reads a lineage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineageReader {
    /// Its name.
    pub conversation: ConversationKey,
    /// The last sequence that it reads there.
    pub through: Sequence,
}

/// The kind of readers, by the lineage that is read and then by that of the reader's identity.
#[derive(Clone, Copy, Debug)]
pub struct Readers;

/// What the keys of all readers of a lineage begin with.
pub fn readers_of(trunk: LineageId) -> Key {
    let mut prefix = KeyWriter::of(Readers::NUMBER);
    prefix.lineage(trunk);
    prefix.done()
}

#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(string, tag = "1")]
    namespace: String,
    #[prost(string, tag = "2")]
    conversation: String,
    #[prost(uint64, tag = "3")]
    through: u64,
}

impl Kind for Readers {
    const NUMBER: u8 = 16;
    const VERSION: u8 = 1;
    const NAME: &'static str = "reader";
    type Key = (LineageId, LineageId);
    type Value = LineageReader;

    fn write_key((trunk, reader): &(LineageId, LineageId), to: &mut KeyWriter) {
        to.lineage(*trunk).lineage(*reader);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<(LineageId, LineageId), Fault> {
        Ok((parts.lineage()?, parts.lineage()?))
    }

    fn show((trunk, reader): &(LineageId, LineageId)) -> String {
        format!("{reader} of {trunk}")
    }

    fn write(_: &(LineageId, LineageId), value: &LineageReader, to: &mut Vec<u8>) {
        let ConversationKey { namespace, id } = &value.conversation;
        let stored = Stored {
            namespace: namespace.as_str().to_owned(),
            conversation: id.as_str().to_owned(),
            through: value.through.0,
        };
        append(&stored, to);
    }

    fn read(_: &(LineageId, LineageId), payload: &[u8]) -> Result<LineageReader, Fault> {
        let stored: Stored = message(payload)?;
        let wrong = |error| Fault::wrong("the conversation", error);
        let namespace = Namespace::new(&stored.namespace).map_err(wrong)?;
        let id = ConversationId::new(&stored.conversation).map_err(wrong)?;
        let through = sequence("the last sequence", stored.through)?;
        Ok(LineageReader { conversation: ConversationKey { namespace, id }, through })
    }
}
