//! Long values in pieces, and no page beside the log.

use std::{
    collections::BTreeMap,
    fs,
    ops::Bound::{Excluded, Included, Unbounded},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use proptest::{collection::vec, prelude::*};
use tempfile::TempDir;

use super::{
    SledEngine,
    pieces::{PIECE_BYTES, whole_bytes},
};
use crate::{
    domain::{ConversationId, Namespace, RecipientId, Timestamp, limits::MAX_ID_BYTES},
    store::{
        RecipientKey,
        durable::{
            generations::Engine as _,
            key_value::{Batch, Durability, Key, MAX_KEY_BYTES, Value},
            records::{self, Listed, ListedKey},
        },
    },
};

#[test]
fn a_value_is_in_pieces_when_it_is_too_long_for_its_key() {
    for key_bytes in [1, MAX_KEY_BYTES] {
        let (store, key) = (Store::new(), vec![7; key_bytes]);
        let limit = whole_bytes(key_bytes);
        for (bytes, items) in [
            (limit, 1),
            (limit + 1, 1 + (limit + 1).div_ceil(PIECE_BYTES)),
            (2 * PIECE_BYTES, 3),
            (2 * PIECE_BYTES + 1, 4),
        ] {
            store.put(&key, &noise(bytes, 1));
            assert_eq!(store.items(), items, "{bytes} bytes");
            assert_eq!(store.engine.get(&key), Ok(Some(noise(bytes, 1))));
        }
    }
}

#[test]
fn no_piece_is_left_of_what_was_overwritten_or_removed() {
    let store = Store::new();
    for (bytes, items) in [(100_000, 21), (3_000_000, 589), (50_000, 11), (7, 1), (50_000, 11)] {
        store.put(b"key", &noise(bytes, 2));
        assert_eq!(store.items(), items, "{bytes} bytes");
        assert_eq!(store.engine.get(b"key"), Ok(Some(noise(bytes, 2))));
    }
    store.apply([(b"key".to_vec(), None), (b"never".to_vec(), None)]);
    assert_eq!((store.items(), store.engine.get(b"key")), (0, Ok(None)));
}

#[test]
fn a_reopened_store_gives_no_id_twice() {
    let mut store = Store::new();
    let values: Vec<Value> = (0..3).map(|seed| noise(20_000, seed)).collect();
    for (key, value) in (0..).zip(&values) {
        store.put(&[key], value);
        store = store.reopened();
    }
    for (key, value) in (0..).zip(&values) {
        assert_eq!(store.engine.get(&[key]).as_ref(), Ok(&Some(value.clone())));
    }
}

#[test]
fn a_value_without_one_of_its_pieces_is_an_error() {
    let store = Store::new();
    store.put(b"a", b"short");
    store.put(b"b", &noise(20_000, 3));
    let (last, _) = store.engine.database.last().unwrap().expect("a piece");
    store.engine.database.remove(last).unwrap();
    assert!(store.engine.get(b"b").unwrap_err().0.contains("pieces of it are missing"));
    let pairs: Vec<_> = store.engine.range(Unbounded, Unbounded).collect();
    assert!(matches!(&pairs[..], [Ok(_), Err(_)]), "{pairs:?}");
}

#[test]
fn a_value_that_is_overwritten_while_it_is_read_is_read_whole() {
    const ROUNDS: usize = 300;
    let values = [noise(60_000, 1), noise(90_000, 2), noise(10, 3), noise(60_000, 4)];
    let store = Store::new();
    store.put(b"key", &values[0]);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let value = store.engine.get(b"key").unwrap().expect("it is never removed");
                assert!(values.contains(&value));
                let pairs: Vec<_> = store.engine.range(Unbounded, Unbounded).map(Result::unwrap).collect();
                assert!(matches!(&pairs[..], [(_, value)] if values.contains(value)));
            }
        });
        for value in values.iter().cycle().take(ROUNDS) {
            store.apply_to_process([(b"key".to_vec(), Some(value.clone()))]);
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
}

/// The point of pieces.
#[test]
fn no_page_is_beside_the_log() {
    let (mut store, mut random) = (Store::new(), 1);
    for round in 0..60 {
        let mut writes = BTreeMap::new();
        for _ in 0..=below(8, &mut random) {
            let largest = [10, 3_000, 12_000, 100_000, 400_000, 4 << 20][below(6, &mut random)];
            let value = noise(1 + below(largest, &mut random), random);
            writes.insert(key(below(150, &mut random)), (below(4, &mut random) > 0).then_some(value));
        }
        store.apply_to_process(writes);
        assert_eq!(store.blobs(), 0, "round {round}");
        if round % 20 == 19 {
            store = store.reopened();
        }
    }
}

/// Leaves that are as full as they get, of items that are as large as they get, are merged and split.
#[test]
fn the_fullest_pages_stay_in_the_log() {
    let (store, mut random) = (Store::new(), 2);
    let mut write = |largest: bool, rounds: usize, percent: usize| {
        for _ in 0..rounds {
            let key = key(below(1_000, &mut random));
            let bytes = if largest { whole_bytes(key.len()) } else { 10 * PIECE_BYTES };
            let value = (below(100, &mut random) < percent).then(|| noise(bytes, random));
            store.apply_to_process([(key, value)]);
            let near = self::key(below(1_000, &mut random));
            let _read = store.engine.range(Included(&near), Unbounded).take(20).count();
            assert_eq!(store.blobs(), 0);
        }
    };
    for percent in [95, 10, 60] {
        write(true, 800, percent);
    }
    for percent in [95, 10] {
        write(false, 200, percent);
    }
}

#[test]
fn a_page_beside_the_log_is_refused() {
    let store = Store::new();
    let blob = store.directory.path().join("blobs/4711");
    fs::write(&blob, b"").unwrap();
    drop(store.engine);
    let refused = SledEngine::open(store.directory.path(), CACHE).err().unwrap();
    assert!(refused.0.contains(&blob.display().to_string()), "{refused}");
}

#[test]
fn the_longest_key_of_a_record_is_taken() {
    let id = "x".repeat(MAX_ID_BYTES);
    let key = records::key::<Listed>(&ListedKey {
        recipient: RecipientKey {
            namespace: Namespace::new(&id).unwrap(),
            id: RecipientId::new(&id).unwrap(),
        },
        start_time: Timestamp(0),
        conversation: ConversationId::new(&id).unwrap(),
    });
    assert_eq!(key.len(), 395);
    assert!(key.len() <= MAX_KEY_BYTES);
}

#[test]
fn behaves_like_a_map_around_the_limit() {
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    let short = prop_oneof![vec(any::<u8>(), 1..3), vec(0..2_u8, 1..4)];
    let bytes = prop_oneof![
        2 => 0..20_usize,
        4 => whole_bytes(4) - 3..whole_bytes(1) + 3,
        2 => (1..4_usize, -2..3_isize).prop_map(|(n, more)| (n * PIECE_BYTES).wrapping_add_signed(more)),
        1 => 0..100_000_usize,
    ];
    let write = (short, proptest::option::weighted(0.7, (bytes, any::<usize>())));
    proptest!(config, |(batches in vec(vec(write, 1..8), 1..20), scrub_from in 0..20_usize)| {
        let (mut store, mut map) = (Store::new(), BTreeMap::<Key, Value>::new());
        for (index, batch) in batches.into_iter().enumerate() {
            let writes: BTreeMap<_, _> =
                batch.into_iter().map(|(key, value)| (key, value.map(|(bytes, seed)| noise(bytes, seed)))).collect();
            store.apply_to_process(writes.clone());
            for (key, value) in writes {
                match value {
                    Some(value) => map.insert(key, value),
                    None => map.remove(&key),
                };
            }
            if index == scrub_from {
                store = store.copied();
            }
            store.is(&map);
        }
        store.reopened().is(&map);
    });
}

const CACHE: u64 = 8 << 20;

struct Store {
    engine: SledEngine,
    directory: TempDir,
}

impl Store {
    fn new() -> Self {
        Self::on(tempfile::tempdir().unwrap())
    }

    fn on(directory: TempDir) -> Self {
        Self { engine: SledEngine::open(directory.path(), CACHE).unwrap(), directory }
    }

    fn reopened(self) -> Self {
        drop(self.engine);
        Self::on(self.directory)
    }

    fn copied(&self) -> Self {
        let copy = Self::new();
        copy.engine.fill(self.engine.range(Unbounded, Unbounded)).unwrap();
        copy
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        self.apply([(key.to_vec(), Some(value.to_vec()))]);
    }

    fn apply(&self, writes: impl IntoIterator<Item = (Key, Option<Value>)>) {
        self.engine.apply(Batch { writes: writes.into_iter().collect() }, Durability::Disk).unwrap();
    }

    fn apply_to_process(&self, writes: impl IntoIterator<Item = (Key, Option<Value>)>) {
        self.engine.apply(Batch { writes: writes.into_iter().collect() }, Durability::Process).unwrap();
    }

    /// Keys of sled's tree: pairs and pieces.
    fn items(&self) -> usize {
        self.engine.database.len()
    }

    fn blobs(&self) -> usize {
        fs::read_dir(self.directory.path().join("blobs")).unwrap().count()
    }

    /// Holds the pairs of `map`, and nothing else.
    fn is(&self, map: &BTreeMap<Key, Value>) {
        let pairs = || self.engine.range(Unbounded, Unbounded).map(Result::unwrap);
        let items = |(key, value): (&Key, &Value)| match value.len() <= whole_bytes(key.len()) {
            true => 1,
            false => 1 + value.len().div_ceil(PIECE_BYTES),
        };
        assert_eq!(self.items(), map.iter().map(items).sum::<usize>());
        assert!(pairs().eq(map.clone()));
        assert!(pairs().rev().eq(map.clone().into_iter().rev()));
        for (key, value) in map {
            assert_eq!(self.engine.get(key).as_ref(), Ok(&Some(value.clone())));
            let above = self.engine.range(Excluded(key), Unbounded).map(Result::unwrap);
            assert!(
                above
                    .eq(map.range::<Key, _>((Excluded(key), Unbounded)).map(|(k, v)| (k.clone(), v.clone())))
            );
        }
    }
}

/// Keys in no order, some of them as long as they may be.
fn key(number: usize) -> Key {
    let mut key = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes().to_vec();
    if number.is_multiple_of(3) {
        key.resize(MAX_KEY_BYTES, 7);
    }
    key
}

/// Bytes that differ from one seed to the next.
fn noise(bytes: usize, seed: usize) -> Value {
    let mut random = seed;
    (0..bytes).map(|_| below(256, &mut random) as u8).collect()
}

/// The next random number, below `limit`.
fn below(limit: usize, random: &mut usize) -> usize {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*random >> 33) % limit
}
