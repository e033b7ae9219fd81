//! Backups of stores under writes, cut and damaged files, stalling readers.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use futures::StreamExt as _;
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::*;
use crate::{
    domain::{
        Policy, Timestamp,
        limits::{BACKUP_PATIENCE, MAX_BACKUP_CHUNK_BYTES},
    },
    store::{
        BackupRefused, BoxStream, Commit, MemoryStore, Result, Store, StoreError, Upkeep,
        durable::{
            CopyError, Directory, DurableStore, EngineKind, OpenError, Options, copy,
            disk::{files, room::Room},
            key_value::{Batch, Durability, Key, Value},
            tests::conversation::{TestConversation, TestStore, user},
            tests::outcome::{keeping, key},
            verify,
        },
    },
};

fn opened(engine: EngineKind, path: &Path) -> Directory {
    Directory::open_or_create(engine, path).unwrap()
}

fn open(engine: EngineKind, path: &Path) -> DurableStore {
    DurableStore::open(engine, path, &Options::default()).unwrap()
}

/// A store with one conversation of `texts` texts, each `bytes` bytes long.
fn filled(engine: EngineKind, texts: usize, bytes: usize) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let store = TestStore::open(engine, home.path());
    let mut conversation = TestConversation::new(&store, "demo", 1, Policy::ROLLING);
    for number in 0..texts {
        conversation.say(vec![user(&format!("{number}: {}", "x".repeat(bytes)))]);
    }
    conversation.call();
    home
}

async fn collected(chunks: BoxStream<'static, Result<Vec<u8>>>) -> Vec<u8> {
    let chunks: Vec<_> = chunks.map(Result::unwrap).collect().await;
    assert!(chunks.iter().all(|chunk| (1..=MAX_BACKUP_CHUNK_BYTES).contains(&chunk.len())));
    chunks.concat()
}

fn written(home: &TempDir, bytes: &[u8]) -> std::path::PathBuf {
    let path = home.path().join("backup");
    fs::write(&path, bytes).unwrap();
    path
}

fn check(path: &Path) -> Result<(Backup, Held), BackupError> {
    Backup::check(path, &mut |_| {})
}

fn records(directory: &Directory) -> Vec<(Key, Value)> {
    use crate::store::durable::copy::is_own;
    directory.pairs().snapshot().unwrap().map(Result::unwrap).filter(|pair| !is_own(pair)).collect()
}

#[tokio::test]
async fn a_backup_is_restored_into_either_engine() {
    for from in EngineKind::ALL {
        let home = tokio::task::spawn_blocking(move || filled(from, 30, 60_000)).await.unwrap();
        let bytes = collected(open(from, home.path()).backup().unwrap()).await;
        let there = records(&opened(from, home.path()));
        let files = tempfile::tempdir().unwrap();
        let (backup, held) = check(&written(&files, &bytes)).unwrap();
        assert_eq!(held.records, there.len() as u64);
        for to in EngineKind::ALL {
            let other = tempfile::tempdir().unwrap();
            let target = opened(to, other.path());
            let copied = copy(&backup, &target, &mut |_| {}).unwrap();
            assert_eq!(
                (copied.records, copied.bytes, copied.verified),
                (held.records, held.bytes, held.records)
            );
            assert_eq!(records(&target), there, "{from} to {to}");
            assert_eq!(verify(&target, &mut |_| {}).unwrap().problems, []);
            let again = copy(&backup, &target, &mut |_| {});
            assert_eq!(again, Err(CopyError::Taken(other.path().into())));
        }
    }
}

const WRITERS: usize = 4;

/// Writers that commit continuously: two outcomes per commit, one at each end of the key space.
#[derive(Default)]
struct Writers {
    stop: AtomicBool,
    /// Numbers of acknowledged commits.
    counts: [AtomicUsize; WRITERS],
}

impl Writers {
    /// The ids of a writer's commit.
    fn ids(writer: usize, number: usize) -> [usize; 2] {
        let place = writer * 1_000_000 + number;
        [10_000_000 + place, 99_000_000 - place]
    }

    async fn write(&self, writer: usize, store: &DurableStore) {
        while !self.stop.load(SeqCst) {
            let ids = Self::ids(writer, self.counts[writer].load(SeqCst));
            let outcomes = ids.map(|id| keeping(id).outcomes).concat();
            store.commit(Commit { outcomes, ..Commit::default() }).await.unwrap();
            self.counts[writer].fetch_add(1, SeqCst);
        }
    }

    fn answered(&self) -> Vec<usize> {
        self.counts.iter().map(|count| count.load(SeqCst)).collect()
    }

    /// Waits until each writer has `more` more acknowledged commits; returns their counts.
    async fn go_on(&self, more: usize) -> Vec<usize> {
        let before = self.answered();
        while self.answered().iter().zip(&before).any(|(now, before)| *now < before + more) {
            tokio::task::yield_now().await;
        }
        self.answered()
    }

    /// Makes a backup while the writers commit; returns the counts of commits acknowledged before it, and its
    /// bytes.
    async fn back_up(&self, store: &DurableStore) -> (Vec<usize>, Vec<u8>) {
        let answered = self.go_on(50).await;
        let mut chunks = store.backup().unwrap();
        let mut bytes = chunks.next().await.unwrap().unwrap();
        self.go_on(50).await;
        bytes.extend(collected(chunks).await);
        self.stop.store(true, SeqCst);
        (answered, bytes)
    }
}

/// A backup contains a prefix of each writer's commits, no half of a commit, and every commit acknowledged
/// before it.
#[tokio::test]
async fn a_backup_is_of_one_moment_between_commits() {
    for engine in EngineKind::ALL {
        let home = tempfile::tempdir().unwrap();
        let store = open(engine, home.path());
        // more bytes than are buffered for a reader, between the two ends
        let outcomes = (50_000_000..50_020_000).flat_map(|id| keeping(id).outcomes).collect();
        store.commit(Commit { outcomes, ..Commit::default() }).await.unwrap();
        let writers = Writers::default();
        let write = |writer| writers.write(writer, &store);
        let ((answered, bytes), ..) =
            tokio::join!(writers.back_up(&store), write(0), write(1), write(2), write(3));
        let (files, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (backup, _) = check(&written(&files, &bytes)).unwrap();
        copy(&backup, &opened(engine, other.path()), &mut |_| {}).unwrap();
        let restored = open(engine, other.path());
        for (writer, (answered, all)) in answered.into_iter().zip(writers.answered()).enumerate() {
            let mut kept = [BTreeSet::new(), BTreeSet::new()];
            for number in 0..all {
                for (id, kept) in Writers::ids(writer, number).into_iter().zip(&mut kept) {
                    kept.extend(restored.outcome(&key(id), Timestamp(0)).await.unwrap().map(|_| number));
                }
            }
            assert_eq!(kept[0], kept[1], "{engine}: half a commit");
            assert!((answered..=all).contains(&kept[0].len()), "{engine}: {} of {answered}", kept[0].len());
            assert_eq!(kept[0].last().map_or(0, |last| last + 1), kept[0].len(), "{engine}: a gap");
        }
    }
}

#[tokio::test]
async fn what_is_cut_or_changed_is_refused() {
    let home = tokio::task::spawn_blocking(|| filled(EngineKind::Fjall, 6, 200)).await.unwrap();
    let bytes = collected(open(EngineKind::Fjall, home.path()).backup().unwrap()).await;
    let files = tempfile::tempdir().unwrap();
    for length in 0..bytes.len() {
        let refused = check(&written(&files, &bytes[..length])).unwrap_err();
        assert!(matches!(refused, BackupError::Cut(_)), "{length}: {refused}");
        assert!(refused.to_string().contains("is incomplete"), "{refused}");
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(check(&written(&files, &changed)).is_err(), "byte {at}");
    }
    let behind = check(&written(&files, &[&bytes[..], b"x"].concat())).unwrap_err();
    assert!(matches!(behind, BackupError::Damaged { at, .. } if at == bytes.len() as u64), "{behind}");
    assert!(check(&written(&files, &bytes)).is_ok());
}

#[tokio::test]
async fn blocks_are_not_moved_left_out_or_doubled() {
    let home = tokio::task::spawn_blocking(|| filled(EngineKind::Fjall, 12, 100_000)).await.unwrap();
    let chunks: Vec<_> =
        open(EngineKind::Fjall, home.path()).backup().unwrap().map(Result::unwrap).collect().await;
    assert!(chunks.len() > 5, "head, blocks and end");
    let files = tempfile::tempdir().unwrap();
    let damaged = |chunks: &[Vec<u8>]| {
        let refused = check(&written(&files, &chunks.concat())).unwrap_err();
        assert!(matches!(refused, BackupError::Damaged { .. }), "{refused}");
    };
    let mut moved = chunks.clone();
    moved.swap(2, 3);
    damaged(&moved);
    let mut left_out = chunks.clone();
    left_out.remove(2);
    damaged(&left_out);
    let mut doubled = chunks.clone();
    doubled.insert(2, doubled[2].clone());
    damaged(&doubled);
}

#[test]
fn what_is_no_backup_is_named() {
    let files = tempfile::tempdir().unwrap();
    let refused = |bytes: &[u8]| check(&written(&files, bytes)).unwrap_err();
    assert!(matches!(refused(b"{\"conversations\":[]}, and more of it"), BackupError::Foreign(_)));
    let newer = refused(b"utterd backup\nformat: 2\n");
    assert!(newer.to_string().contains("has format 2, and this version reads formats up to 1"), "{newer}");
    assert!(matches!(check(&files.path().join("none")), Err(BackupError::File { .. })));
}

/// A restore is marked as unfinished until it completes, and resumes where it stopped.
#[tokio::test]
async fn a_restore_that_was_interrupted_goes_on() {
    let home = tokio::task::spawn_blocking(|| filled(EngineKind::Fjall, 40, 60_000)).await.unwrap();
    let bytes = collected(open(EngineKind::Fjall, home.path()).backup().unwrap()).await;
    let (files, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = written(&files, &bytes);
    let (backup, _) = check(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 300_000]).unwrap();
    let cut = copy(&backup, &opened(EngineKind::Fjall, other.path()), &mut |_| {});
    assert!(matches!(&cut, Err(CopyError::Read(error)) if error.0.contains("is incomplete")), "{cut:?}");
    let refused = DurableStore::open(EngineKind::Fjall, other.path(), &Options::default()).err().unwrap();
    assert!(matches!(refused, OpenError::Unfinished { .. }), "{refused}");
    fs::write(&path, &bytes).unwrap();
    let target = opened(EngineKind::Fjall, other.path());
    assert!(copy(&backup, &target, &mut |_| {}).unwrap().resumed > 0);
    assert_eq!(records(&target), records(&opened(EngineKind::Fjall, home.path())));
}

#[tokio::test]
async fn a_reader_that_stalls_ends_its_backup() {
    for engine in EngineKind::ALL {
        let home = tokio::task::spawn_blocking(move || filled(engine, 20, 100_000)).await.unwrap();
        let directory = Arc::new(opened(engine, home.path()));
        let turns = Arc::new(Semaphore::new(1));
        let turn = turns.clone().try_acquire_owned().unwrap();
        let mut chunks = stream(directory, no_reserve(), turn, Duration::from_millis(10));
        assert!(chunks.next().await.unwrap().is_ok());
        let _ended = turns.acquire().await.unwrap();
        let rest: Vec<_> = chunks.collect().await;
        let Some(Err(StoreError::Unavailable(reason))) = rest.last() else { panic!("{engine} ended well") };
        assert!(reason.contains("nothing was read for 0.01 seconds"), "{reason}");
        assert_eq!(copies(engine, home.path()), [""; 0]);
    }
}

fn no_reserve() -> Arc<Room> {
    Arc::new(Room::new(Path::new(""), 0))
}

/// The copies for backups in an engine's directory.
fn copies(engine: EngineKind, path: &Path) -> Vec<String> {
    let names = files::names(&path.join(engine.name())).unwrap();
    names.into_iter().filter(|name| name.starts_with("snapshot-")).collect()
}

#[tokio::test]
async fn one_backup_is_made_at_a_time() {
    let home = tokio::task::spawn_blocking(|| filled(EngineKind::Sled, 20, 100_000)).await.unwrap();
    let store = open(EngineKind::Sled, home.path());
    let mut first = store.backup().unwrap();
    assert!(first.next().await.unwrap().is_ok());
    assert_eq!(store.backup().err(), Some(BackupRefused::UnderWay));
    assert_eq!(copies(EngineKind::Sled, home.path()), ["snapshot-000001"]);
    drop(first);
    let second = loop {
        match store.backup() {
            Ok(second) => break second,
            Err(_) => tokio::task::yield_now().await, // the first backup has not noticed yet
        }
    };
    collected(second).await;
    assert_eq!(copies(EngineKind::Sled, home.path()), [""; 0]);
    assert_eq!(MemoryStore::new(1 << 20).backup().err(), Some(BackupRefused::Unsupported));
}

/// A scrub and a backup that began before it do not disturb each other.
#[tokio::test]
async fn a_scrub_goes_on_beside_a_backup() {
    for engine in EngineKind::ALL {
        let home = tokio::task::spawn_blocking(move || filled(engine, 20, 100_000)).await.unwrap();
        let directory = Arc::new(opened(engine, home.path()));
        let before = records(&directory);
        let turn = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        let mut backup = stream(directory.clone(), no_reserve(), turn, BACKUP_PATIENCE);
        let begun = backup.next().await.unwrap().unwrap();
        let (removed, rest) = before.split_last().unwrap();
        let writes = vec![(removed.0.clone(), None)];
        directory.pairs().apply(Batch { writes }, Durability::Disk).unwrap();
        let scrubbed = directory.clone();
        let scrub = tokio::task::spawn_blocking(move || scrubbed.pairs().scrub());
        let bytes = [begun, collected(backup).await].concat();
        scrub.await.unwrap().unwrap();
        assert_eq!(records(&directory), rest);
        let (files, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (backup, _) = check(&written(&files, &bytes)).unwrap();
        let target = opened(engine, other.path());
        copy(&backup, &target, &mut |_| {}).unwrap();
        assert_eq!(records(&target), before, "{engine}");
    }
}
