//! The format of backups: cut, changed and foreign files.

use std::{fs, path::Path, sync::Arc, time::Duration};

use futures::StreamExt as _;
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::*;
use crate::{
    Commit, EachRecord, MemoryStore, Store,
    conformance::{
        self,
        support::{
            script::Script,
            values::{attempt, outcome, user},
        },
    },
    records::Record,
};
use utterd_domain::limits::MAX_BACKUP_CHUNK_BYTES;

/// The chunks of a backup of one conversation with `texts` texts, each `bytes` bytes long.
fn chunks(texts: usize, bytes: usize) -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    conformance::run(async { (MemoryStore::new(0), ()) }, async |store: Arc<dyn Store>| {
        let mut script = Script::new(&store, "demo");
        for number in 0..texts {
            script.say(vec![user(&format!("{number}: {}", "x".repeat(bytes)))]).await;
        }
        let outcomes = vec![(attempt("one"), outcome(&script.state, script.now))];
        store.commit(Commit { outcomes, ..Commit::default() }).await.unwrap();
        let turn = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        chunks = store.backup(turn, Duration::from_secs(60)).map(Result::unwrap).collect().await;
    });
    assert!(chunks.iter().all(|chunk| (1..=MAX_BACKUP_CHUNK_BYTES).contains(&chunk.len())));
    chunks
}

fn written(home: &TempDir, bytes: &[u8]) -> std::path::PathBuf {
    let path = home.path().join("backup");
    fs::write(&path, bytes).unwrap();
    path
}

fn check(path: &Path) -> Result<(Backup, Held), BackupError> {
    Backup::check(path)
}

#[test]
fn what_is_cut_or_changed_is_refused() {
    let bytes = chunks(6, 200).concat();
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

#[test]
fn blocks_are_not_moved_left_out_or_doubled() {
    let chunks = chunks(12, 100_000);
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

#[test]
fn what_differs_from_the_backup_is_named() {
    let files = tempfile::tempdir().unwrap();
    let (backup, held) = check(&written(&files, &chunks(3, 20).concat())).unwrap();
    let all: Vec<_> = backup.records().unwrap().map(Result::unwrap).collect();
    assert_eq!(all.len() as u64, held.records);
    let compared = |all: &[(Vec<u8>, Vec<u8>)]| {
        let each = |each: &mut EachRecord<'_>| all.iter().try_for_each(|record| each(Ok(record.clone())));
        backup.compare(each, "directory")
    };
    assert!(compared(&all).is_ok());
    for at in 0..all.len() {
        let mut less = all.clone();
        let (key, value) = less.remove(at);
        let mut other = all.clone();
        other[at].1.push(0);
        for wrong in [less, other] {
            let refused = compared(&wrong).unwrap_err();
            let RestoreError::Differs { record, .. } = &refused else { panic!("{refused}") };
            assert_eq!(**record, Record::read(&key, &value).unwrap().name());
        }
    }
}
