//! Values of any length, and values that earlier versions wrote in pieces.

use std::ops::Bound::Unbounded;

use tempfile::TempDir;

use super::{
    SledEngine,
    pieces::{PIECE, pair_key},
};
use crate::{
    domain::{ConversationId, Namespace, RecipientId, Timestamp, limits::MAX_ID_BYTES},
    store::durable::{
        disk::generations::Engine as _,
        key_value::{Batch, Durability, Key, MAX_KEY_BYTES, Value},
        records::{self, ListPlace, Listed},
    },
};

/// sled keeps values that do not fit its pages in files next to its log.
#[test]
fn long_values_are_there_when_it_is_opened_again() {
    let mut store = Store::new();
    let values = [10, 3_000, 200_000, 4 << 20].map(|bytes| noise(bytes, bytes));
    for round in 0..4 {
        for (key, value) in (0..).zip(values.iter().cycle().skip(round).take(4)) {
            store.put(&[key], Some(value));
        }
        store = store.reopened();
        for (key, value) in (0..).zip(values.iter().cycle().skip(round).take(4)) {
            assert_eq!(store.engine.get(&[key]).as_ref(), Ok(&Some(value.clone())));
        }
    }
}

#[test]
fn a_value_in_pieces_is_read_overwritten_and_removed() {
    let store = Store::new();
    let value = store.put_in_pieces(b"long", 7, 3);
    assert_eq!(store.engine.get(b"long").as_ref(), Ok(&Some(value.clone())));
    assert_eq!(store.pairs(), [(b"long".to_vec(), value)]);
    store.put(b"long", Some(b"short"));
    assert_eq!(store.engine.get(b"long"), Ok(Some(b"short".to_vec())));
    store.put_in_pieces(b"long", 8, 2);
    store.put(b"long", None);
    assert_eq!((store.engine.get(b"long"), store.pairs()), (Ok(None), vec![]));
}

#[test]
fn pieces_go_when_the_pairs_are_written_anew() {
    let (store, copy) = (Store::new(), Store::new());
    store.put(b"a", Some(b"short"));
    store.put_in_pieces(b"b", 7, 3);
    store.put_in_pieces(b"c", 8, 3);
    store.put(b"c", None);
    copy.engine.fill(store.engine.range(Unbounded, Unbounded)).unwrap();
    assert_eq!(copy.pairs(), store.pairs());
    assert_eq!((store.engine.database.len(), copy.engine.database.len()), (8, 2));
}

#[test]
fn a_value_without_one_of_its_pieces_is_an_error() {
    let store = Store::new();
    store.put(b"a", Some(b"short"));
    store.put_in_pieces(b"b", 7, 3);
    let (last, _) = store.engine.database.last().unwrap().expect("a piece");
    store.engine.database.remove(last).unwrap();
    assert!(store.engine.get(b"b").unwrap_err().0.contains("pieces of it are missing"));
    let pairs: Vec<_> = store.engine.range(Unbounded, Unbounded).collect();
    assert!(matches!(&pairs[..], [Ok(_), Err(_)]), "{pairs:?}");
}

#[test]
fn the_longest_key_of_a_record_is_taken() {
    let id = "x".repeat(MAX_ID_BYTES);
    let key = records::key::<Listed>(&ListPlace {
        owner: (Namespace::new(&id).unwrap(), RecipientId::new(&id).unwrap()),
        time: Timestamp(0),
        conversation: ConversationId::new(&id).unwrap(),
    });
    assert_eq!(key.len(), 781);
    assert!(key.len() <= MAX_KEY_BYTES);
}

struct Store {
    engine: SledEngine,
    directory: TempDir,
}

impl Store {
    fn new() -> Self {
        Self::on(tempfile::tempdir().unwrap())
    }

    fn on(directory: TempDir) -> Self {
        Self { engine: SledEngine::open(directory.path()).unwrap(), directory }
    }

    fn reopened(self) -> Self {
        drop(self.engine);
        Self::on(self.directory)
    }

    fn put(&self, key: &[u8], value: Option<&[u8]>) {
        let writes = vec![(key.to_vec(), value.map(<[u8]>::to_vec))];
        self.engine.apply(Batch { writes }, Durability::Disk).unwrap();
    }

    /// Writes a value in pieces, as earlier versions did for long values.
    fn put_in_pieces(&self, key: &[u8], id: u64, pieces: u32) -> Value {
        let (tree, value) = (&self.engine.database, noise(5_000 * pieces as usize - 9, id as usize));
        for (index, piece) in (0..pieces).zip(value.chunks(5_000)) {
            let key = [&[PIECE][..], &id.to_be_bytes(), &index.to_be_bytes()].concat();
            tree.insert(key, piece).unwrap();
        }
        let long = [&[1][..], &id.to_be_bytes(), &pieces.to_be_bytes()].concat();
        tree.insert(pair_key(key), long).unwrap();
        value
    }

    fn pairs(&self) -> Vec<(Key, Value)> {
        self.engine.range(Unbounded, Unbounded).map(Result::unwrap).collect()
    }
}

/// Bytes that depend on the seed.
fn noise(bytes: usize, seed: usize) -> Value {
    let mut random = seed;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as u8
    };
    (0..bytes).map(|_| next()).collect()
}
