//! The conformance suite on every backend, and engines that share one; each case is reported under its
//! backend's name.

#![allow(clippy::expect_used)] // A test can panic.

#[path = "../support/model.rs"]
mod model;
#[path = "../support/shared.rs"]
mod shared;
#[path = "../support/mod.rs"]
mod support;
mod two_engines;

use std::{fs, path::Path, sync::Arc};

use tempfile::TempDir;
use utterd::{
    store::{
        MemoryStore,
        durable::{DurableStore, EngineKind, Options},
    },
    store_conformance,
};

store_conformance!(
    memory,
    async { (MemoryStore::new(0), ()) },
    bounded: async { (MemoryStore::new(1 << 20), ()) }
);

// as several processes use it
store_conformance!(shared_memory, async { (shared::Shared::new(Arc::new(MemoryStore::new(0))), ()) });
store_conformance!(fjall, durable(EngineKind::Fjall));
store_conformance!(sled, durable(EngineKind::Sled));

/// A durable store in its own directory.
async fn durable(engine: EngineKind) -> (DurableStore, TempDir) {
    let directory = tempfile::tempdir().expect("a directory is made");
    let store = DurableStore::open(engine, directory.path(), &Options::default());
    (store.expect("a new store opens"), directory)
}

/// The suite lists its cases by name; none must be missing.
#[test]
fn every_case_is_in_the_suite() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/conformance");
    let list = fs::read_to_string(folder.join("mod.rs")).expect("the suite is there");
    let mut cases = 0;
    for file in fs::read_dir(&folder).expect("the suite is there") {
        let path = file.expect("a file of the suite").path();
        let topic = path.file_stem().and_then(|stem| stem.to_str()).expect("a file's name");
        let source = fs::read_to_string(&path).expect("a file of the suite is text");
        for line in source.lines().filter_map(|line| line.strip_prefix("pub async fn ")) {
            let case = line.split('(').next().expect("a function's name");
            cases += 1;
            let listed = list.split(&format!(" {topic}: [")).nth(1).and_then(|rest| rest.split(']').next());
            let listed = listed.unwrap_or_else(|| panic!("the topic {topic} is not in the suite"));
            assert!(listed.lines().any(|line| line.trim() == format!("{case},")), "{topic}::{case}");
        }
    }
    assert!(cases > 100, "{cases} cases were found");
}
