//! Pairs in a tree of sled whose pages all stay in its log: long values in pieces.
//!
//! sled keeps a page that is too large for its log in a file of its own, and the log may reach the
//! disk before such a file: a loss of power then takes the whole page, neighbours of the long value
//! included. So no page gets that large.
//!
//! | key | value |
//! |---|---|
//! | `0 ‖ the pair's key` | `0 ‖ the value`, or `1 ‖ id ‖ number of pieces` |
//! | `1 ‖ id ‖ index` | a piece of the value with that id |
//!
//! Ids have 8 bytes, numbers and indexes 4, the highest byte first. A value has an id of its own,
//! which no other has while the tree is open: who finds a piece finds the right one, and who finds
//! none has been overtaken by a write.

use std::{
    ops::Bound::{self, Excluded, Included, Unbounded},
    sync::atomic::{AtomicU64, Ordering},
};

use sled::{Batch, IVec, Tree};

use crate::store::durable::key_value::{Key, KeyValueError, MAX_KEY_BYTES, Value};

/// A tree of pairs.
pub struct PiecedTree {
    tree: Tree,
    next_id: AtomicU64,
}

/// What the keys of pairs begin with.
const PAIR: u8 = 0;
/// What the keys of pieces begin with.
const PIECE: u8 = 1;
/// What a value that stands under its key begins with.
const WHOLE: u8 = 0;
/// What stands under the key of a value in pieces begins with.
const IN_PIECES: u8 = 1;

/// Bytes of a key and what stands under it, at most.
const ITEM_BYTES: usize = 5 << 10;
/// Bytes of a piece's key.
const PIECE_KEY_BYTES: usize = 1 + 8 + 4;
/// Bytes of every piece but the last.
pub(super) const PIECE_BYTES: usize = ITEM_BYTES - PIECE_KEY_BYTES;
/// Bytes of a value that stands under a key of `key_bytes`, at most.
pub(super) const fn whole_bytes(key_bytes: usize) -> usize {
    (ITEM_BYTES - 2).saturating_sub(key_bytes)
}

/// How often a value is read again that is overwritten while it is read.
const TRIES: usize = 100;

/// The sizes that follow from sled 0.34: `Log::reserve_inner`, `Node::should_split`,
/// `Node::should_merge`, `Node::serialized_size`.
mod page {
    use super::{ITEM_BYTES, MAX_KEY_BYTES};

    /// Bytes of a page in the log, at most: a quarter of a segment without both headers.
    const BYTES: usize = (512 << 10) / 4 - 20 - 32;
    /// Items of a leaf, at most: one with more than 16 is split before the next is inserted, and
    /// one with less than 4 is merged into its neighbour. Two merges may come before the split.
    const LEAF_ITEMS: usize = 16 + 1 + 2 * 3;
    /// Keys of an index, at most: the same with 256 and 64, and no two merges of pages so rare.
    const INDEX_KEYS: usize = 256 + 1 + 63;
    /// Bytes of a pair's key with its length.
    const KEY_BYTES: usize = 1 + MAX_KEY_BYTES + 2;
    /// Bytes of what a page has beside its items: the keys that bound it, and numbers.
    const FRAME_BYTES: usize = 2 * KEY_BYTES + 32;

    const _: () = assert!(FRAME_BYTES + LEAF_ITEMS * (ITEM_BYTES + 2 + 3) <= BYTES, "leaves stay in the log");
    const _: () = assert!(FRAME_BYTES + INDEX_KEYS * (KEY_BYTES + 5) <= BYTES, "indexes stay in the log");
}

impl PiecedTree {
    /// The pairs of `tree`, which holds nothing else.
    pub fn of(tree: Tree) -> Result<Self, KeyValueError> {
        let last = tree.range([PIECE]..).next_back().transpose()?;
        let next_id = last.map_or(Ok(0), |(key, _)| Ok::<_, KeyValueError>(id_in(&key)? + 1))?;
        Ok(Self { tree, next_id: next_id.into() })
    }

    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError> {
        let key = pair_key(key);
        match self.tree.get(&key)? {
            Some(found) => value(&self.tree, &key, found),
            None => Ok(None),
        }
    }

    /// The pairs between two keys.
    pub fn range(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = Result<(Key, Value), KeyValueError>> + Send + 'static {
        let from = match from {
            Unbounded => Included(vec![PAIR]),
            bound => bound.map(pair_key),
        };
        let to = match to {
            Unbounded => Excluded(vec![PIECE]),
            bound => bound.map(pair_key),
        };
        let tree = self.tree.clone();
        self.tree.range((from, to)).filter_map(move |found| pair(&tree, found).transpose())
    }

    /// Lets `batch` give a key that has no value yet its value.
    pub fn insert(&self, key: &[u8], value: &[u8], batch: &mut Batch) {
        if value.len() <= whole_bytes(key.len()) {
            return batch.insert(pair_key(key), [&[WHOLE], value].concat());
        }
        let pieces = value.chunks(PIECE_BYTES);
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let long = Long { id, pieces: pieces.len() as u32 };
        batch.insert(pair_key(key), long.written());
        for (index, piece) in (0..).zip(pieces) {
            batch.insert(long.piece_key(index), piece);
        }
    }

    /// Lets `batch` remove a key, with all pieces of its value.
    pub fn remove(&self, key: &[u8], batch: &mut Batch) -> Result<(), KeyValueError> {
        let key = pair_key(key);
        let Some(found) = self.tree.get(&key)? else { return Ok(()) };
        if let Stored::InPieces(long) = Stored::read(&found)? {
            (0..long.pieces).for_each(|index| batch.remove(long.piece_key(index)));
        }
        batch.remove(key);
        Ok(())
    }
}

/// What stands under a pair's key.
enum Stored<'a> {
    Whole(&'a [u8]),
    InPieces(Long),
}

impl<'a> Stored<'a> {
    fn read(found: &'a [u8]) -> Result<Self, KeyValueError> {
        match found.split_first() {
            Some((&WHOLE, value)) => Ok(Self::Whole(value)),
            Some((&IN_PIECES, long)) => Long::read(long).map(Self::InPieces),
            _ => Err(damaged()),
        }
    }
}

/// A value in pieces.
struct Long {
    id: u64,
    pieces: u32,
}

impl Long {
    fn read(long: &[u8]) -> Result<Self, KeyValueError> {
        let (id, pieces) = long.split_first_chunk().ok_or_else(damaged)?;
        let pieces = pieces.try_into().map_err(|_| damaged())?;
        Ok(Self { id: u64::from_be_bytes(*id), pieces: u32::from_be_bytes(pieces) })
    }

    fn written(&self) -> Vec<u8> {
        [&[IN_PIECES][..], &self.id.to_be_bytes(), &self.pieces.to_be_bytes()].concat()
    }

    fn piece_key(&self, index: u32) -> Vec<u8> {
        [&[PIECE][..], &self.id.to_be_bytes(), &index.to_be_bytes()].concat()
    }

    /// The value, when all of its pieces are there.
    fn value(&self, tree: &Tree) -> Result<Option<Value>, KeyValueError> {
        let (mut value, mut found) = (Value::new(), 0);
        for piece in tree.range(self.piece_key(0)..self.piece_key(self.pieces)) {
            value.extend_from_slice(&piece?.1);
            found += 1;
        }
        Ok((found == self.pieces).then_some(value))
    }
}

/// A pair whose key was found with `found` under it; `None` when it was removed meanwhile.
fn pair(tree: &Tree, found: sled::Result<(IVec, IVec)>) -> Result<Option<(Key, Value)>, KeyValueError> {
    let (key, found) = found?;
    let value = value(tree, &key, found)?;
    Ok(value.map(|value| (key[1..].to_vec(), value)))
}

/// The value of which `found` stood under the pair's key `key`: this one, or what a write has made
/// of it meanwhile.
fn value(tree: &Tree, key: &[u8], mut found: IVec) -> Result<Option<Value>, KeyValueError> {
    for _ in 0..TRIES {
        let long = match Stored::read(&found)? {
            Stored::Whole(value) => return Ok(Some(value.to_vec())),
            Stored::InPieces(long) => long,
        };
        if let Some(value) = long.value(tree)? {
            return Ok(Some(value));
        }
        found = match tree.get(key)? {
            None => return Ok(None),
            Some(again) if again == found => return Err(damaged()),
            Some(again) => again,
        };
    }
    Err(KeyValueError(format!("a value was overwritten each of the {TRIES} times that it was read")))
}

fn pair_key(key: &[u8]) -> Vec<u8> {
    [&[PAIR], key].concat()
}

/// The id in a piece's key.
fn id_in(piece_key: &[u8]) -> Result<u64, KeyValueError> {
    let id = piece_key.get(1..).and_then(|rest| rest.split_first_chunk());
    id.map(|(id, _)| u64::from_be_bytes(*id)).ok_or_else(damaged)
}

fn damaged() -> KeyValueError {
    KeyValueError("sled: a value is damaged, or pieces of it are missing".to_owned())
}
