//! Backups of files under writes, restored; interrupted restores; stalling readers.

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
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{
    Directory, DurableStore, EngineKind, OpenError, Options,
    disk::files,
    key_value::{Durability, Key, Value},
    restore, scrub,
    tests::conversation::{TestConversation, TestStore, user},
    tests::outcome::{keeping, key},
    tests::problems,
};
use crate::{
    BoxStream, Commit, MemoryStore, Result, Store, StoreError,
    backup::{Backup, BackupError, RestoreError, is_kept},
    records::{self, Descriptions},
};
use utterd_domain::{LineageId, Policy, Timestamp, limits::BACKUP_PATIENCE};

fn opened(engine: EngineKind, path: &Path) -> Directory {
    Directory::open_or_create(engine, path).unwrap()
}

fn open(engine: EngineKind, path: &Path) -> Arc<dyn Store> {
    Arc::new(DurableStore::open(engine, path, &Options::default()).unwrap())
}

/// A store with one conversation of `texts` texts, each `bytes` bytes long, and a recipient's own state.
fn filled(engine: EngineKind, texts: usize, bytes: usize) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let store = TestStore::open(engine, home.path());
    let mut conversation = TestConversation::new(&store, "demo", 1, Policy::ROLLING);
    for number in 0..texts {
        conversation.say(vec![user(&format!("{number}: {}", "x".repeat(bytes)))]);
    }
    conversation.call();
    TestConversation::own_state(&store, "friend of demo", 5);
    home
}

fn backup(store: &Arc<dyn Store>) -> BoxStream<'static, Result<Vec<u8>>> {
    let turn = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
    store.clone().backup(turn, BACKUP_PATIENCE)
}

async fn collected(chunks: BoxStream<'static, Result<Vec<u8>>>) -> Vec<u8> {
    chunks.map(Result::unwrap).collect::<Vec<_>>().await.concat()
}

async fn bytes_of(engine: EngineKind, path: &Path) -> Vec<u8> {
    collected(backup(&open(engine, path))).await
}

fn checked(home: &TempDir, bytes: &[u8]) -> Backup {
    let path = home.path().join("backup");
    fs::write(&path, bytes).unwrap();
    Backup::check(&path).unwrap().0
}

fn restored(backup: &Backup, engine: EngineKind, path: &Path) -> Result<(), RestoreError> {
    restore(backup, opened(engine, path))
}

/// All records but those that concern the store's own files.
fn content(engine: EngineKind, path: &Path) -> Vec<(Key, Value)> {
    const FILES: [u8; 2] = [1, 14];
    let mut content = Vec::new();
    let each = &mut |record: Result<(Key, Value)>| {
        content.extend(record.ok().filter(|(key, _)| !FILES.contains(&key[0])));
        Ok(())
    };
    opened(engine, path).each_record(each).unwrap();
    content
}

#[tokio::test]
async fn a_backup_is_restored_into_either_engine_with_what_is_derived() {
    for from in EngineKind::ALL {
        let home = spawn_blocking(move || filled(from, 30, 60_000)).await.unwrap();
        let bytes = bytes_of(from, home.path()).await;
        let expected = content(from, home.path());
        assert!(expected.iter().any(|(key, _)| !is_kept(key)), "there are lists");
        let files = tempfile::tempdir().unwrap();
        let backup = checked(&files, &bytes);
        for to in EngineKind::ALL {
            let other = tempfile::tempdir().unwrap();
            restored(&backup, to, other.path()).unwrap();
            assert_eq!(content(to, other.path()), expected, "{from} to {to}");
            let again = restored(&backup, to, other.path());
            assert!(matches!(again, Err(RestoreError::Taken(_))), "{again:?}");
            let path = other.path().to_owned();
            assert_eq!(spawn_blocking(move || problems(to, &path)).await.unwrap(), [""; 0]);
            assert_eq!(bytes_of(to, other.path()).await, bytes);
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

    async fn write(&self, writer: usize, store: &Arc<dyn Store>) {
        while !self.stop.load(SeqCst) {
            let ids = Self::ids(writer, self.counts[writer].load(SeqCst));
            let outcomes = ids.map(|id| keeping(id).outcomes).concat();
            store.commit(Commit { outcomes, ..Commit::default() }).await.unwrap();
            self.counts[writer].fetch_add(1, SeqCst);
            tokio::task::yield_now().await;
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
    async fn back_up(&self, store: &Arc<dyn Store>) -> (Vec<usize>, Vec<u8>) {
        let answered = self.go_on(50).await;
        let mut chunks = backup(store);
        let mut bytes = chunks.next().await.unwrap().unwrap();
        self.go_on(50).await;
        bytes.extend(collected(chunks).await);
        self.stop.store(true, SeqCst);
        (answered, bytes)
    }
}

/// A backup contains a prefix of each writer's commits, no half of a commit, and every commit acknowledged
/// before it.
async fn is_of_one_moment(store: Arc<dyn Store>) {
    // more bytes than are buffered for a reader, between the two ends
    let outcomes = (50_000_000..50_020_000).flat_map(|id| keeping(id).outcomes).collect();
    store.commit(Commit { outcomes, ..Commit::default() }).await.unwrap();
    let writers = Writers::default();
    let write = |writer| writers.write(writer, &store);
    let ((answered, bytes), ..) =
        tokio::join!(writers.back_up(&store), write(0), write(1), write(2), write(3));
    let (files, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    restored(&checked(&files, &bytes), EngineKind::Fjall, other.path()).unwrap();
    let (name, restored) = (store.capabilities().name, open(EngineKind::Fjall, other.path()));
    for (writer, (answered, all)) in answered.into_iter().zip(writers.answered()).enumerate() {
        let mut kept = [BTreeSet::new(), BTreeSet::new()];
        for number in 0..all {
            for (id, kept) in Writers::ids(writer, number).into_iter().zip(&mut kept) {
                kept.extend(restored.outcome(&key(id), Timestamp(0)).await.unwrap().map(|_| number));
            }
        }
        assert_eq!(kept[0], kept[1], "{name}: half a commit");
        assert!((answered..=all).contains(&kept[0].len()), "{name}: {} of {answered}", kept[0].len());
        assert_eq!(kept[0].last().map_or(0, |last| last + 1), kept[0].len(), "{name}: a gap");
    }
}

#[tokio::test]
async fn a_backup_is_of_one_moment_between_commits() {
    for engine in EngineKind::ALL {
        let home = tempfile::tempdir().unwrap();
        is_of_one_moment(open(engine, home.path())).await;
    }
    is_of_one_moment(Arc::new(MemoryStore::new(0))).await;
}

/// A restore is marked as unfinished until it completes, and is repeated.
#[tokio::test]
async fn a_restore_that_was_interrupted_is_repeated() {
    let home = spawn_blocking(|| filled(EngineKind::Fjall, 40, 60_000)).await.unwrap();
    let bytes = bytes_of(EngineKind::Fjall, home.path()).await;
    let (files, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let backup = checked(&files, &bytes);
    fs::write(files.path().join("backup"), &bytes[..bytes.len() - 300_000]).unwrap();
    let cut = restored(&backup, EngineKind::Fjall, other.path());
    assert!(matches!(cut, Err(RestoreError::Backup(BackupError::Cut(_)))), "{cut:?}");
    let unfinished = |refused: OpenError| matches!(refused, OpenError::Unfinished { .. });
    let refused = DurableStore::open(EngineKind::Fjall, other.path(), &Options::default()).err();
    assert!(refused.is_some_and(unfinished));
    assert!(scrub(&mut opened(EngineKind::Fjall, other.path())).is_err());
    fs::write(files.path().join("backup"), &bytes).unwrap();
    restored(&backup, EngineKind::Fjall, other.path()).unwrap();
    assert_eq!(content(EngineKind::Fjall, other.path()), content(EngineKind::Fjall, home.path()));
}

/// What an interrupted restore of another backup left is noticed.
#[tokio::test]
async fn a_restore_is_not_finished_with_another_backup() {
    let mut backups = Vec::new();
    for texts in [40, 20] {
        let home = spawn_blocking(move || filled(EngineKind::Fjall, texts, 60_000)).await.unwrap();
        let (bytes, files) = (bytes_of(EngineKind::Fjall, home.path()).await, tempfile::tempdir().unwrap());
        backups.push((checked(&files, &bytes), files, bytes));
    }
    let other = tempfile::tempdir().unwrap();
    let (first, files, bytes) = &backups[0];
    fs::write(files.path().join("backup"), &bytes[..bytes.len() - 1_000]).unwrap();
    assert!(restored(first, EngineKind::Fjall, other.path()).is_err());
    let differs = restored(&backups[1].0, EngineKind::Fjall, other.path()).unwrap_err();
    assert!(matches!(differs, RestoreError::Differs { .. }), "{differs}");
    assert!(opened(EngineKind::Fjall, other.path()).check_finished().is_err());
}

#[tokio::test]
async fn a_damaged_record_is_named_and_ends_the_backup() {
    let home = spawn_blocking(|| filled(EngineKind::Fjall, 6, 200)).await.unwrap();
    let lineage = LineageId([1; 16]);
    let writes = vec![(records::key::<Descriptions>(&lineage), Some(vec![0; 9]))];
    opened(EngineKind::Fjall, home.path()).pairs().apply(writes, Durability::Disk).unwrap();
    let chunks: Vec<_> = backup(&open(EngineKind::Fjall, home.path())).collect().await;
    let Some(Err(StoreError::Unavailable(reason))) = chunks.last() else { panic!("it ended well") };
    assert!(reason.contains(&format!("a record is damaged: description {lineage}: ")), "{reason}");
}

#[tokio::test]
async fn a_reader_that_stalls_ends_its_backup() {
    for engine in EngineKind::ALL {
        let home = spawn_blocking(move || filled(engine, 20, 100_000)).await.unwrap();
        let store = open(engine, home.path());
        let turns = Arc::new(Semaphore::new(1));
        let turn = turns.clone().try_acquire_owned().unwrap();
        let mut chunks = store.clone().backup(turn, Duration::from_millis(10));
        assert!(chunks.next().await.unwrap().is_ok());
        let _ended = turns.acquire().await.unwrap();
        let rest: Vec<_> = chunks.collect().await;
        let Some(Err(StoreError::Unavailable(reason))) = rest.last() else { panic!("{engine} ended well") };
        assert!(reason.contains("nothing was read for 0.01 seconds"), "{reason}");
        assert_eq!(copies(engine, home.path()), [""; 0]);
    }
}

/// The copies for backups in an engine's directory.
fn copies(engine: EngineKind, path: &Path) -> Vec<String> {
    let names = files::names(&path.join(engine.name())).unwrap();
    names.into_iter().filter(|name| name.starts_with("snapshot-")).collect()
}

#[tokio::test]
async fn the_copy_for_a_backup_of_sled_is_removed() {
    let home = spawn_blocking(|| filled(EngineKind::Sled, 20, 100_000)).await.unwrap();
    let store = open(EngineKind::Sled, home.path());
    let turns = Arc::new(Semaphore::new(1));
    let mut first = store.clone().backup(turns.clone().try_acquire_owned().unwrap(), BACKUP_PATIENCE);
    assert!(first.next().await.unwrap().is_ok());
    assert!(first.next().await.unwrap().is_ok());
    assert_eq!(copies(EngineKind::Sled, home.path()), ["snapshot-000001"]);
    drop(first);
    let turn = turns.acquire_owned().await.unwrap();
    collected(store.clone().backup(turn, BACKUP_PATIENCE)).await;
    assert_eq!(copies(EngineKind::Sled, home.path()), [""; 0]);
}

/// A scrub and a backup that began before it do not disturb each other.
#[tokio::test]
async fn a_scrub_goes_on_beside_a_backup() {
    for engine in EngineKind::ALL {
        let home = spawn_blocking(move || filled(engine, 20, 100_000)).await.unwrap();
        let before = content(engine, home.path());
        let directory = Arc::new(opened(engine, home.path()));
        let (taken, begun) = (AtomicUsize::new(0), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            let backup = scope.spawn(|| {
                let mut kept = Vec::new();
                for pair in directory.pairs().snapshot().unwrap() {
                    if taken.fetch_add(1, SeqCst) == 0 {
                        begun.wait();
                    }
                    kept.push(pair.unwrap());
                }
                kept
            });
            begun.wait();
            let writes = vec![(before.last().unwrap().0.clone(), None)];
            directory.pairs().apply(writes, Durability::Disk).unwrap();
            directory.pairs().scrub().unwrap();
            let kept = backup.join().unwrap();
            assert!(before.iter().all(|pair| kept.contains(pair)), "{engine}");
        });
        drop(directory);
        assert_eq!(content(engine, home.path()), before[..before.len() - 1]);
    }
}
