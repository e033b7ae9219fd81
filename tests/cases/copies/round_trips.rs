//! What every kind of life leaves in PostgreSQL is copied into files and back, and is the same.

use libtest_mimic::Trial;
use utterd::{
    config::DurableEngine,
    store::conformance::{self, Case},
};

use crate::{
    copies::{
        home::{Home, copy, files, problems},
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

fn goes(cluster: &Cluster, case: Case) {
    let home = Home::after(cluster, case);
    let engine = if case.name.len().is_multiple_of(2) { DurableEngine::Fjall } else { DurableEngine::Sled };
    let (_directory, there) = files(engine);
    let back = Home::new(cluster);
    let (out, in_files) = copy(&home.place, &there).unwrap();
    let (returned, in_tables) = copy(&there, &back.place).unwrap();
    assert_eq!((out.resumed, out.verified), (0, out.records));
    assert_eq!(out, returned);
    assert_eq!(problems(&home.place), problems(&back.place));
    assert_eq!(in_files.problems.is_empty(), in_tables.problems.is_empty(), "{in_files:?} {in_tables:?}");
    assert_eq!(in_files.utterances, in_tables.utterances);
    let (_directory, last) = files(DurableEngine::Fjall);
    assert_eq!(copy(&back.place, &last).unwrap().0, out);
}
