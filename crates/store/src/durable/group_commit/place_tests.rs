//! A directory removed or moved under an open store: no more commits are acknowledged.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::{
    CommitError, Store, StoreError,
    durable::{
        DurableStore, EngineKind, Options,
        tests::outcome::{keeping, key},
    },
};
use utterd_domain::Timestamp;

/// A directory for the store that a test opens.
struct Case {
    engine: EngineKind,
    home: TempDir,
}

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        EngineKind::ALL.into_iter().map(|engine| Self { engine, home: tempfile::tempdir().unwrap() })
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    fn aside(&self) -> PathBuf {
        self.home.path().join("aside")
    }

    fn open(&self, path: &Path) -> DurableStore {
        DurableStore::open(self.engine, path, &Options::default()).unwrap()
    }

    /// Commits, takes the directory away, and commits again: the refusal names the cause, and nothing is
    /// accepted after it.
    async fn refuses_after(&self, take_away: impl FnOnce(&Self)) -> DurableStore {
        let store = self.open(&self.data());
        store.commit(keeping(1)).await.unwrap();
        take_away(self);
        for id in [2, 3] {
            let Err(CommitError::Store(StoreError::Unavailable(reason))) = store.commit(keeping(id)).await
            else {
                panic!("{} acknowledged into what is gone", self.engine);
            };
            assert!(reason.contains("directory was removed, moved or replaced"), "{reason}");
            assert!(reason.contains("until the server is restarted"), "{reason}");
        }
        assert!(store.failed().await.to_string().contains("removed, moved or replaced"));
        store
    }

    /// The ids of the commits that a store in `path` contains.
    async fn kept(&self, path: &Path) -> Vec<usize> {
        let store = self.open(path);
        let mut kept = Vec::new();
        for id in 1..=3 {
            kept.extend(store.outcome(&key(id), Timestamp(0)).await.unwrap().map(|_| id));
        }
        kept
    }
}

#[tokio::test]
async fn a_removed_directory_takes_no_more() {
    for case in Case::all() {
        let store = case.refuses_after(|case| fs::remove_dir_all(case.data()).unwrap()).await;
        drop(store);
        assert!(!case.data().exists(), "{} makes nothing of it anew", case.engine);
    }
}

#[tokio::test]
async fn a_directory_that_was_moved_away_takes_no_more() {
    for case in Case::all() {
        let store = case.refuses_after(|case| fs::rename(case.data(), case.aside()).unwrap()).await;
        drop(store);
        let kept = case.kept(&case.aside()).await;
        assert!(kept.starts_with(&[1]), "{}: {kept:?}", case.engine);
    }
}

#[tokio::test]
async fn a_directory_that_was_replaced_takes_no_more() {
    for case in Case::all() {
        let replace = |case: &Case| {
            fs::rename(case.data(), case.aside()).unwrap();
            fs::create_dir(case.data()).unwrap();
            fs::copy(case.aside().join("LOCK"), case.data().join("LOCK")).unwrap();
        };
        let store = case.refuses_after(replace).await;
        assert_eq!(case.kept(&case.data()).await, [0; 0], "{}: another store begins there", case.engine);
        drop(store);
        assert!(case.kept(&case.aside()).await.starts_with(&[1]));
    }
}

#[tokio::test]
async fn an_engine_whose_files_are_gone_takes_no_more() {
    for case in Case::all() {
        let remove = |case: &Case| {
            let files = case.data().join(case.engine.name());
            fs::remove_dir_all(&files).unwrap();
            fs::create_dir_all(files.join("data-000001")).unwrap();
        };
        case.refuses_after(remove).await;
    }
}
