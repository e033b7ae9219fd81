//! What every kind of life leaves in PostgreSQL and in memory is restored to files and back, and is the same.

use libtest_mimic::Trial;
use utterd::{
    config::DurableEngine,
    store::{
        MemoryStore,
        conformance::{self, Case},
    },
};

use crate::{
    copies::{
        home::{BackupFile, Home, files},
        trial,
    },
    support::postgres::Cluster,
};

/// The topics of cases that leave something of their own kind.
const TOPICS: [&str; 8] =
    ["lives", "forks", "compactions", "state", "outcomes", "ends", "waiting", "isolation"];

pub fn trials() -> Vec<Trial> {
    let is_of_topic = |case: &Case| case.name.split("::").next().is_some_and(|it| TOPICS.contains(&it));
    let cases = conformance::cases().into_iter().filter(is_of_topic);
    let on_each = |case: Case| trial(format!("round_trip::{}", case.name), move |it| goes(it, case));
    cases.map(on_each).collect()
}

/// The backups of a life in PostgreSQL, and of the same one in memory, go through files and back.
fn goes(cluster: &Cluster, case: Case) {
    let home = Home::after(cluster, case);
    let engine = if case.name.len().is_multiple_of(2) { DurableEngine::Fjall } else { DurableEngine::Sled };
    let mut backups = vec![BackupFile::of(&home.place).unwrap()];
    conformance::run(async { (MemoryStore::new(0), ()) }, async |store| {
        (case.run)(store.clone()).await;
        backups.push(BackupFile::of_open(&*store));
    });
    for first in backups {
        let (_directory, there) = files(engine);
        let (held, in_files) = first.restore(&there).unwrap();
        let second = BackupFile::of(&there).unwrap();
        let back = Home::new(cluster);
        let (returned, in_tables) = second.restore(&back.place).unwrap();
        assert_eq!((held, in_files.utterances), (returned, in_tables.utterances));
        assert_eq!(in_files.problems.is_empty(), in_tables.problems.is_empty(), "{in_files:?} {in_tables:?}");
        let third = BackupFile::of(&back.place).unwrap();
        assert!(first.bytes() == second.bytes() && second.bytes() == third.bytes());
    }
}
