//! What every kind of record has, and how its keys and values are put together.

use std::fmt::Write;

use xxhash_rust::xxh3::Xxh3;

use crate::store::durable::key_value::{Key, Value};

use super::{
    BadRecord, Fault,
    field::Message,
    fields::Fields,
    key::{KeyPart as _, KeyReader, KeyWriter, RecordKey},
    payload::Payload,
};

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
    type Key: RecordKey;
    /// What it keeps.
    type Value: RecordValue<Self::Key>;
}

/// What a record keeps.
pub trait RecordValue<K>: Sized {
    /// The first byte of a value: the oldest version that reads it right.
    fn version(&self) -> u8 {
        1
    }

    /// About how many bytes the payload takes.
    fn room(&self) -> usize {
        128
    }

    /// Writes the payload.
    fn write(&self, key: &K, to: &mut Fields<'_>);

    /// Reads the payload, in any of the versions up to [`Kind::VERSION`].
    fn read(key: &K, from: &Payload<'_>) -> Result<Self, Fault>;
}

/// What needs nothing of the key.
impl<K, T: Message> RecordValue<K> for T {
    fn write(&self, _: &K, to: &mut Fields<'_>) {
        T::write(self, to);
    }

    fn read(_: &K, from: &Payload<'_>) -> Result<Self, Fault> {
        T::read(from)
    }
}

/// The key of a record.
pub fn key<K: Kind>(key: &K::Key) -> Key {
    let mut to = KeyWriter::of(K::NUMBER);
    key.write(&mut to);
    to.done()
}

/// The key of a record, and its value.
pub fn pair<K: Kind>(key: &K::Key, value: &K::Value) -> (Key, Value) {
    let stored_key = self::key::<K>(key);
    let mut stored = Vec::with_capacity(VERSION_BYTES + value.room() + CHECKSUM_BYTES);
    stored.push(value.version());
    value.write(key, &mut Fields::to(&mut stored));
    seal(&stored_key, &mut stored);
    (stored_key, stored)
}

/// Reads a record: the key, and the value that stands under it.
pub fn decode<K: Kind>(key: &[u8], value: &[u8]) -> Result<(K::Key, K::Value), BadRecord> {
    let read_key = decode_key::<K>(key)?;
    let payload = payload(key, value, K::VERSION).and_then(Payload::read);
    match payload.and_then(|payload| K::Value::read(&read_key, &payload)) {
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
    format!("{} {}", K::NAME, key.show())
}

/// The error for a record whose key says nothing to a person.
pub(super) fn unreadable_key(name: &str, key: &[u8], fault: Fault) -> BadRecord {
    let mut record = format!("{name} with the key 0x");
    key.iter().for_each(|byte| {
        let _ = write!(record, "{byte:02x}");
    });
    BadRecord { record: record.into(), fault }
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
    let read = K::Key::read(&mut parts)?;
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
