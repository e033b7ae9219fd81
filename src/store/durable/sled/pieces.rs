//! What stands in a tree of sled for each pair.
//!
//! | key | value |
//! |---|---|
//! | `0 ‖ the pair's key` | `0 ‖ the value`, or `1 ‖ id ‖ number of pieces` |
//! | `1 ‖ id ‖ index` | a piece of the value with that id |
//!
//! Ids have 8 bytes, numbers and indexes 4, the highest byte first. Long values were once written in
//! pieces; they are read, and no more are written. The pieces of one that is removed stay until the
//! pairs are written anew.

use sled::{IVec, Tree};

use crate::store::durable::key_value::{KeyValueError, Value};

/// What the keys of pairs begin with.
const PAIR: u8 = 0;
/// What the keys of pieces begin with.
pub(super) const PIECE: u8 = 1;
/// What a value that stands under its key begins with.
const WHOLE: u8 = 0;
/// What stands under the key of a value in pieces begins with.
const IN_PIECES: u8 = 1;

/// The key in the tree of a pair's key.
pub(super) fn pair_key(key: &[u8]) -> Vec<u8> {
    [&[PAIR], key].concat()
}

/// What stands there for a value.
pub(super) fn whole(value: &[u8]) -> Vec<u8> {
    [&[WHOLE], value].concat()
}

/// The value for which `found` stands in `tree`.
pub(super) fn value(tree: &Tree, found: &IVec) -> Result<Value, KeyValueError> {
    match found.split_first() {
        Some((&WHOLE, value)) => Ok(value.to_vec()),
        Some((&IN_PIECES, long)) => joined(tree, long),
        _ => Err(damaged()),
    }
}

/// A value from its pieces; `long` tells of them.
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
