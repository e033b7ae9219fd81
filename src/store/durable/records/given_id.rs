//! Where the utterance is to which a client gave an id.

use prost::Message;

use crate::{
    domain::{LineageId, Sequence, UtteranceId},
    store::durable::key_value::Key,
};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{append, message},
    number::sequence,
};

/// The kind of ids that clients gave, by the lineage that the utterance was written to.
#[derive(Clone, Copy, Debug)]
pub struct GivenIds;

/// What the keys of all ids that clients gave in a lineage begin with.
pub fn given_ids_of(lineage: LineageId) -> Key {
    let mut prefix = KeyWriter::of(GivenIds::NUMBER);
    prefix.lineage(lineage);
    prefix.done()
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Stored {
    #[prost(uint64, tag = "1")]
    sequence: u64,
}

impl Kind for GivenIds {
    const NUMBER: u8 = 8;
    const VERSION: u8 = 1;
    const NAME: &'static str = "given id";
    type Key = (LineageId, Box<str>);
    type Value = Sequence;

    fn write_key((lineage, id): &(LineageId, Box<str>), to: &mut KeyWriter) {
        to.lineage(*lineage).last(id);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<(LineageId, Box<str>), Fault> {
        let lineage = parts.lineage()?;
        match parts.last_id(UtteranceId::given)? {
            UtteranceId::Given(id) => Ok((lineage, id)),
            UtteranceId::Assigned(_) => Err(Fault::wrong("the id", "was not given")),
        }
    }

    fn show((lineage, id): &(LineageId, Box<str>)) -> String {
        format!("{id:?} of {lineage}")
    }

    fn write(_: &(LineageId, Box<str>), value: &Sequence, to: &mut Vec<u8>) {
        append(&Stored { sequence: value.0 }, to);
    }

    fn read(_: &(LineageId, Box<str>), payload: &[u8]) -> Result<Sequence, Fault> {
        sequence("the sequence", message::<Stored>(payload)?.sequence)
    }
}
