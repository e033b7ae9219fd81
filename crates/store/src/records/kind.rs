//! The properties of each kind of record, and the encoding of its keys and values.

use std::fmt::Write;

use serde::{Serialize, de::DeserializeOwned};
use xxhash_rust::xxh3::Xxh3;

use super::{
    BadRecord, Fault,
    key::{Key, KeyPart as _, KeyReader, KeyWriter, RecordKey, Value},
};

/// Room for a value that holds little text.
const VALUE_BYTES: usize = 256;
/// Size of a value's checksum.
const CHECKSUM_BYTES: usize = 4;
/// What a payload reads as behind its end, for fields that an earlier version did not write yet.
const UNWRITTEN: [u8; 64] = [0; 64];

/// A kind of record.
pub trait Kind {
    /// The first byte of each of its keys. Never changed or reused; less than 255.
    const NUMBER: u8;
    /// The version of its values, from 1; their first byte. See [how a record may change](super).
    const VERSION: u8;
    /// The readable name of a record of this kind.
    const NAME: &'static str;
    /// The type of its keys.
    type Key: RecordKey;
    /// The type of its values.
    type Value: Serialize + DeserializeOwned;

    /// Checks what a value says against its key, and its parts against each other.
    fn check(key: &Self::Key, value: &Self::Value) -> Result<(), Fault>;
}

/// Returns the encoded key of a record.
pub fn key<K: Kind>(key: &K::Key) -> Key {
    let mut to = KeyWriter::of(K::NUMBER);
    key.write(&mut to);
    to.done()
}

/// Returns the encoded key and value of a record.
pub fn pair<K: Kind>(key: &K::Key, value: &K::Value) -> (Key, Value) {
    let stored_key = self::key::<K>(key);
    let mut stored = written(K::VERSION, value);
    seal(&stored_key, &mut stored);
    (stored_key, stored)
}

#[allow(
    clippy::expect_used,
    reason = "only a list of unknown length cannot be written, and no value has one"
)]
fn written(version: u8, value: &impl Serialize) -> Value {
    let mut stored = Vec::with_capacity(VALUE_BYTES);
    stored.push(version);
    postcard::to_extend(value, stored).expect("every value can be written")
}

/// Decodes a record's key and value.
pub fn decode<K: Kind>(key: &[u8], value: &[u8]) -> Result<(K::Key, K::Value), BadRecord> {
    let read_key = decode_key::<K>(key)?;
    match decode_value::<K>(key, &read_key, value) {
        Ok(value) => Ok((read_key, value)),
        Err(fault) => Err(BadRecord { record: name::<K>(&read_key).into(), fault }),
    }
}

fn decode_value<K: Kind>(key: &[u8], read_key: &K::Key, value: &[u8]) -> Result<K::Value, Fault> {
    let unreadable = |error| Fault::wrong("the payload", format_args!("is not readable: {error}"));
    let value = read_payload(payload(key, value, K::VERSION)?).map_err(unreadable)?;
    K::check(read_key, &value).map(|()| value)
}

/// Reads the fields of a value. Skips those that a later version added at the end; those that an earlier one did not
/// write yet are zero, empty or `None`.
fn read_payload<T: DeserializeOwned>(payload: &[u8]) -> postcard::Result<T> {
    match postcard::from_bytes(payload) {
        Err(postcard::Error::DeserializeUnexpectedEnd) => {
            postcard::from_bytes(&[payload, &UNWRITTEN].concat())
        }
        read => read,
    }
}

/// Decodes only the key.
pub fn decode_key<K: Kind>(key: &[u8]) -> Result<K::Key, BadRecord> {
    read_key::<K>(key).map_err(|fault| unreadable_key(K::NAME, key, fault))
}

/// Returns a readable form of a record's kind and key.
pub fn name<K: Kind>(key: &K::Key) -> String {
    format!("{} {}", K::NAME, key.show())
}

/// Returns the error for a record whose key cannot be decoded.
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

/// Returns the payload if the checksum is right and the version is `known`.
fn payload<'a>(key: &[u8], value: &'a [u8], known: u8) -> Result<&'a [u8], Fault> {
    let (sealed, found) = value.split_last_chunk::<CHECKSUM_BYTES>().ok_or(Fault::Checksum)?;
    if *found != checksum(key, sealed) {
        return Err(Fault::Checksum);
    }
    match sealed.split_first() {
        Some((&version, payload)) if version == known => Ok(payload),
        Some((&found, _)) if found > known => Err(Fault::NewerVersion { found, known }),
        Some((found, _)) => {
            Err(Fault::wrong("the record's version", format_args!("is {found}; expected {known}")))
        }
        None => Err(Fault::wrong("the value", "has no version")),
    }
}

fn checksum(key: &[u8], sealed: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hash = Xxh3::new();
    hash.update(key);
    hash.update(sealed);
    (hash.digest() as u32).to_le_bytes()
}
