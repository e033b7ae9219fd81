//! Numbers of the store as a whole.

use prost::Message;

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{append, message},
    number::{Numbered, numbered},
};

/// What a number is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meta {
    /// The group of commits that was written last: they count from 1.
    Group,
    /// Not 0 while the files may hold bytes of what was erased or deleted.
    Unscrubbed,
    /// There while the store is a copy that is not finished.
    Copying,
}

impl Numbered for Meta {
    const NAME: &'static str = "what the number is about";
    const ALL: &'static [Self] = &[Self::Group, Self::Unscrubbed, Self::Copying];

    fn number(self) -> u8 {
        match self {
            Self::Group => 1,
            Self::Unscrubbed => 2,
            Self::Copying => 3,
        }
    }
}

/// The kind of the store's own numbers.
#[derive(Clone, Copy, Debug)]
pub struct Metas;

#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(uint64, tag = "1")]
    number: u64,
}

impl Kind for Metas {
    const NUMBER: u8 = 1;
    const VERSION: u8 = 1;
    const NAME: &'static str = "number";
    type Key = Meta;
    type Value = u64;

    fn write_key(key: &Meta, to: &mut KeyWriter) {
        to.byte(key.number());
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<Meta, Fault> {
        numbered(parts.byte()?.into())
    }

    fn show(key: &Meta) -> String {
        match key {
            Meta::Group => "of the last group".to_owned(),
            Meta::Unscrubbed => "of what is unscrubbed".to_owned(),
            Meta::Copying => "of an unfinished copy".to_owned(),
        }
    }

    fn write(_: &Meta, value: &u64, to: &mut Vec<u8>) {
        append(&Stored { number: *value }, to);
    }

    fn read(_: &Meta, payload: &[u8]) -> Result<u64, Fault> {
        Ok(message::<Stored>(payload)?.number)
    }
}
