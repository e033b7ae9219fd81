//! The entries in a sled tree for each pair.
//!
//! | key | value |
//! |---|---|
//! | `0 ‖ the pair's key` | `0 ‖ the value`, or `1 ‖ id ‖ number of pieces` |
//! | `1 ‖ id ‖ index` | a piece of the value with that id |
//!
//! Ids have 8 bytes, numbers and indexes 4, big-endian. Earlier versions wrote long values in pieces; these
//! can still be read, but are no longer written. The pieces of a removed value stay until all pairs are
//! rewritten.

use sled::{IVec, Tree};

use crate::store::durable::key_value::{KeyValueError, Value};

/// Prefix of the keys of pairs.
const PAIR: u8 = 0;
/// Prefix of the keys of pieces.
pub(super) const PIECE: u8 = 1;
/// Prefix of a value stored whole under its key.
const WHOLE: u8 = 0;
/// Prefix of the entry under the key of a value in pieces.
const IN_PIECES: u8 = 1;

/// The tree key of a pair's key.
pub(super) fn pair_key(key: &[u8]) -> Vec<u8> {
    [&[PAIR], key].concat()
}

/// The tree value of a value stored whole.
pub(super) fn whole(value: &[u8]) -> Vec<u8> {
    [&[WHOLE], value].concat()
}

/// Returns the value of the entry `found` in `tree`.
pub(super) fn value(tree: &Tree, found: &IVec) -> Result<Value, KeyValueError> {
    match found.split_first() {
        Some((&WHOLE, value)) => Ok(value.to_vec()),
        Some((&IN_PIECES, long)) => joined(tree, long),
        _ => Err(damaged()),
    }
}

/// Joins a value's pieces; `long` holds the value's id and the number of pieces.
fn joined(tree: &Tree, long: &[u8]) -> Result<Value, KeyValueError> {
    let (id, pieces) = long.split_first_chunk::<8>().ok_or_else(damaged)?;
    let pieces = u32::from_be_bytes(pieces.try_into().map_err(|_| damaged())?);
    let key = |index: u32| [&[PIECE][..], id, &index.to_be_bytes()].concat();
    let (mut value, mut found) = (Value::new(), 0);
    for piece in tree.range(key(0)..key(pieces)) {
        value.extend_from_slice(&piece?.1);
        found += 1;
    }
    if found == pieces { Ok(value) } else { Err(damaged()) }
}

fn damaged() -> KeyValueError {
    KeyValueError("sled: a value is damaged, or pieces of it are missing".to_owned())
}
