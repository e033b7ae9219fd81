//! The conformance suite on every backend, and engines that share one; each case is reported under its
//! backend's name.

mod two_engines;

use std::{fs, path::Path, sync::Arc};

use futures::StreamExt as _;
use libtest_mimic::Trial;
use tempfile::TempDir;
use utterd::store::{
    Hint, MemoryStore, Sharing, Store,
    conformance::{self, Case},
    durable::{DurableStore, EngineKind, Options},
    postgres::PostgresStore,
};

use crate::support::{
    postgres::Cluster,
    schema::{self, Schema},
    shared::Shared,
};

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("conformance::every_case_is_in_the_suite", || {
        every_case_is_in_the_suite();
        Ok(())
    })];
    for case in conformance::cases() {
        trials.push(on("memory", case, || async { (MemoryStore::new(0), ()) }));
        // as several processes use it
        trials.push(on("shared_memory", case, || async { (Shared::new(Arc::new(MemoryStore::new(0))), ()) }));
        trials.push(on("fjall", case, || durable(EngineKind::Fjall)));
        trials.push(on("sled", case, || durable(EngineKind::Sled)));
        trials.push(schema::trial(format!("conformance::postgres::{}", case.name), move |cluster| {
            conformance::run(database(Schema::new(cluster)), case.run);
        }));
    }
    for case in conformance::bounded_cases() {
        trials.push(on("memory", case, || async { (MemoryStore::new(1 << 20), ()) }));
    }
    trials.extend(two_engines::trials());
    trials.push(schema::trial("conformance::postgres::a_dropped_store_listens_no_more".into(), |cluster| {
        a_dropped_store_listens_no_more(cluster);
    }));
    trials
}

/// A case on a fresh store.
fn on<S: Store, G, F: Future<Output = (S, G)>>(
    backend: &str,
    case: Case,
    fresh: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(format!("conformance::{backend}::{}", case.name), move || {
        conformance::run(fresh(), case.run);
        Ok(())
    })
}

/// A durable store in its own directory.
async fn durable(engine: EngineKind) -> (DurableStore, TempDir) {
    let directory = tempfile::tempdir().expect("a directory is made");
    let store = DurableStore::open(engine, directory.path(), &Options::default());
    (store.expect("a new store opens"), directory)
}

/// A store in its own schema.
async fn database(schema: Schema) -> (PostgresStore, Schema) {
    (schema.store(), schema)
}

/// Its connection ends with it, even if no other process tells anything.
fn a_dropped_store_listens_no_more(cluster: &Cluster) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let schema = Schema::new(cluster);
    let store = runtime.block_on(async {
        let store = schema.store();
        assert_eq!(store.hints().next().await, Some(Hint::Missed), "it listens");
        store
    });
    let listening =
        format!("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%{}%'", schema.name());
    assert_eq!(cluster.psql(&listening), "1");
    drop(store);
    while cluster.psql(&listening) != "0" {}
}

/// The suite lists its cases by name; none must be missing.
fn every_case_is_in_the_suite() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/store/src/conformance");
    let list = fs::read_to_string(folder.join("mod.rs")).expect("the suite is there");
    let mut cases = 0;
    for file in fs::read_dir(&folder).expect("the suite is there") {
        let path = file.expect("a file of the suite").path();
        if path.is_dir() {
            continue; // what several topics need
        }
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
