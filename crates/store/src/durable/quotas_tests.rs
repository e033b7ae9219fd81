//! The totals of a namespace are the same when counted by commits and after reopening.

use std::{path::Path, sync::Arc};

use super::{DurableStore, EngineKind, Options};
use crate::{
    Quotas, Store,
    conformance::{
        self,
        forks::random_family,
        quotas::{bytes_of, used},
    },
};

fn open(engine: EngineKind, path: &Path) -> DurableStore {
    DurableStore::open(engine, path, &Options::default()).unwrap()
}

/// Runs a random family; returns its stored totals as counted by its commits, after comparing them with the
/// stored data.
fn live(engine: EngineKind, path: &Path, seed: u64) -> (u64, u64) {
    let mut counted = (0, 0);
    conformance::run(async { (open(engine, path), ()) }, async |store: Arc<dyn Store>| {
        store.set_quotas(Quotas::default()).unwrap();
        let family = random_family(&store, seed, 40).await;
        let bytes = family.members.values().map(bytes_of).sum();
        counted = used(&store, "default").await;
        assert_eq!(counted, (family.members.len() as u64, bytes));
    });
    counted
}

fn reopened(engine: EngineKind, path: &Path) -> (u64, u64) {
    let mut counted = (0, 0);
    conformance::run(async { (open(engine, path), ()) }, async |store: Arc<dyn Store>| {
        counted = used(&store, "default").await;
    });
    counted
}

#[test]
fn a_store_counts_as_before_when_it_is_opened_anew() {
    for (seed, engine) in (1..).zip(EngineKind::ALL) {
        let files = tempfile::tempdir().unwrap();
        let counted = live(engine, files.path(), seed);
        assert!(counted.0 > 1 && counted.1 > 5_000, "{counted:?}");
        assert_eq!(reopened(engine, files.path()), counted);
    }
}
