//! A disk that is full, and later has space again.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

use futures::StreamExt as _;

use crate::{
    CommitError, Store, StoreError, Upkeep,
    durable::{
        Directory, DurableStore, EngineKind, Flush,
        disk::room::Room,
        tests::outcome::{keeping, key},
    },
};
use utterd_domain::Timestamp;

#[tokio::test]
async fn a_full_disk_is_not_written_to_and_writes_come_back_by_themselves() {
    for engine in EngineKind::ALL {
        let home = tempfile::tempdir().unwrap();
        let free = Arc::new(AtomicU64::new(1_000));
        let disk = free.clone();
        let room = Room::with(home.path(), 100, Box::new(move |_| Ok(disk.load(SeqCst))));
        let directory = Directory::open_or_create(engine, home.path()).unwrap();
        let store = DurableStore::over(directory, Flush::Each, room).unwrap();
        let mut condition = store.condition();
        assert_eq!(condition.next().await, Some(Ok(())));
        store.commit(keeping(1)).await.unwrap();

        free.store(99, SeqCst);
        let full = StoreError::DiskFull { free: 99, wanted: 100 };
        assert_eq!(store.commit(keeping(2)).await, Err(CommitError::Store(full.clone())));
        assert_eq!(condition.next().await, Some(Err(full)));
        assert!(store.outcome(&key(1), Timestamp(0)).await.unwrap().is_some(), "reads go on");
        free.store(124, SeqCst);
        let still = StoreError::DiskFull { free: 124, wanted: 125 };
        assert_eq!(store.commit(keeping(3)).await, Err(CommitError::Store(still)));

        free.store(125, SeqCst);
        assert_eq!(condition.next().await, Some(Ok(())), "nobody has to write for it");
        store.commit(keeping(4)).await.unwrap();
        drop(store);
        let store = DurableStore::open(engine, home.path(), &Default::default()).unwrap();
        let mut kept = Vec::new();
        for id in 1..=4 {
            kept.extend(store.outcome(&key(id), Timestamp(0)).await.unwrap().map(|_| id));
        }
        assert_eq!(kept, [1, 4], "{engine}");
    }
}
