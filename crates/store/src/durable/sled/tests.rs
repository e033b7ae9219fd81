//! Keys and values of any length.

use tempfile::TempDir;

use super::SledEngine;
use crate::{
    durable::{
        disk::generations::Engine as _,
        key_value::{Durability, MAX_KEY_BYTES, Value},
    },
    records::{self, ListPlace, Listed},
};
use utterd_domain::{ConversationId, Namespace, RecipientId, Timestamp, limits::MAX_ID_BYTES};

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
        self.engine.apply(writes, Durability::Disk).unwrap();
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
