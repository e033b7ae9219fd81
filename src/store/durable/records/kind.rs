//! What every kind of record has, and how its keys and values are put together.

use std::fmt::Write;

use prost::Message;
use xxhash_rust::xxh3::Xxh3;

use crate::store::durable::key_value::{Key, Value};

use super::{BadRecord, Fault, KeyReader, KeyWriter, payload::unreadable};

/// Bytes of a value's version.
const VERSION_BYTES: usize = 1;
/// Bytes of a value's checksum.
const CHECKSUM_BYTES: usize = 4;

/// A kind of record.
pub trait Kind {
    /// The first byte of each of its keys. Never changed, never reused, less than 255.
    const NUMBER: u8;
    /// The newest version, from 1: see [how a record may change](super).
    const VERSION: u8;
    /// What a person calls one of them.
    const NAME: &'static str;
    /// What it is found by.
    type Key;
    /// What it keeps.
    type Value;

    /// Writes the key's parts.
    fn write_key(key: &Self::Key, to: &mut KeyWriter);

    /// Reads the key's parts.
    fn read_key(parts: &mut KeyReader<'_>) -> Result<Self::Key, Fault>;

    /// The key as a person reads it.
    fn show(key: &Self::Key) -> String;

    /// The first byte of a value: the oldest version that reads it right.
    fn version(_value: &Self::Value) -> u8 {
        Self::VERSION
    }

    /// About how many bytes the payload takes.
    fn room(_value: &Self::Value) -> usize {
        48
    }

    /// Appends the payload.
    fn write(key: &Self::Key, value: &Self::Value, to: &mut Vec<u8>);

    /// Reads what [`Kind::write`] wrote, in any of the versions up to [`Kind::VERSION`].
    fn read(key: &Self::Key, payload: &[u8]) -> Result<Self::Value, Fault>;
}

/// The key of a record.
pub fn key<K: Kind>(key: &K::Key) -> Key {
    let mut to = KeyWriter::of(K::NUMBER);
    K::write_key(key, &mut to);
    to.done()
}

/// The key of a record, and its value.
pub fn pair<K: Kind>(key: &K::Key, value: &K::Value) -> (Key, Value) {
    let stored_key = self::key::<K>(key);
    let mut stored = Vec::with_capacity(VERSION_BYTES + K::room(value) + CHECKSUM_BYTES);
    stored.push(K::version(value));
    K::write(key, value, &mut stored);
    seal(&stored_key, &mut stored);
    (stored_key, stored)
}

/// Reads a record: the key, and the value that stands under it.
pub fn decode<K: Kind>(key: &[u8], value: &[u8]) -> Result<(K::Key, K::Value), BadRecord> {
    let read_key = decode_key::<K>(key)?;
    let read = payload(key, value, K::VERSION).and_then(|payload| K::read(&read_key, payload));
    match read {
        Ok(value) => Ok((read_key, value)),
        Err(fault) => Err(BadRecord { record: name::<K>(&read_key).into(), fault }),
    }
}

/// Reads a key alone.
pub fn decode_key<K: Kind>(key: &[u8]) -> Result<K::Key, BadRecord> {
    read_key::<K>(key).map_err(|fault| unreadable_key(K::NAME, key, fault))
}

/// A record's kind and its key, as a person reads them.
pub fn name<K: Kind>(key: &K::Key) -> String {
    format!("{} {}", K::NAME, K::show(key))
}

/// What the keys of all records of a kind begin with.
pub fn all_of<K: Kind>() -> Key {
    vec![K::NUMBER]
}

/// The error for a record whose key says nothing to a person.
pub(super) fn unreadable_key(name: &str, key: &[u8], fault: Fault) -> BadRecord {
    let mut record = format!("{name} with the key 0x");
    key.iter().for_each(|byte| {
        let _ = write!(record, "{byte:02x}");
    });
    BadRecord { record: record.into(), fault }
}

/// Appends a protobuf message as the payload.
pub(super) fn append(message: &impl Message, to: &mut Vec<u8>) {
    to.extend(message.encode_to_vec());
}

/// Reads a payload as a protobuf message.
pub(super) fn message<M: Message + Default>(payload: &[u8]) -> Result<M, Fault> {
    M::decode(payload).map_err(unreadable)
}

/// Appends the checksum to a version and a payload.
pub(super) fn seal(key: &[u8], stored: &mut Value) {
    let checksum = checksum(key, stored);
    stored.extend(checksum);
}

fn read_key<K: Kind>(key: &[u8]) -> Result<K::Key, Fault> {
    let (number, parts) = key.split_first().ok_or_else(|| Fault::wrong("the key", "is empty"))?;
    if *number != K::NUMBER {
        let problem = format_args!("is of the kind {number}, not {}", K::NUMBER);
        return Err(Fault::wrong("the key", problem));
    }
    let mut parts = KeyReader::of(parts);
    let read = K::read_key(&mut parts)?;
    parts.end()?;
    Ok(read)
}

/// The payload, when the checksum is right and a version up to `known` wrote it.
fn payload<'a>(key: &[u8], value: &'a [u8], known: u8) -> Result<&'a [u8], Fault> {
    let (sealed, found) = value.split_last_chunk::<CHECKSUM_BYTES>().ok_or(Fault::Checksum)?;
    if *found != checksum(key, sealed) {
        return Err(Fault::Checksum);
    }
    match sealed.split_first() {
        Some((version, payload)) if (1..=known).contains(version) => Ok(payload),
        Some((0, _)) => Err(Fault::wrong("the record's version", "is 0; versions count from 1")),
        Some((&found, _)) => Err(Fault::NewerVersion { found, known }),
        None => Err(Fault::wrong("the value", "has no version")),
    }
}

fn checksum(key: &[u8], sealed: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hash = Xxh3::new();
    hash.update(key);
    hash.update(sealed);
    (hash.digest() as u32).to_le_bytes()
}
