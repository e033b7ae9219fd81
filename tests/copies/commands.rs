//! The commands as a person uses them, while a server writes.

use std::{
    path::Path,
    sync::mpsc::{self, TryRecvError},
    thread,
};

use crate::{
    binary::{Outcome, Server, assert_holds, utterd},
    home::{BackupFile, files, problems},
    support::{postgres::Cluster, schema::trial},
};
use libtest_mimic::Trial;
use utterd::config::DurableEngine;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_store_moves_to_a_database_and_back".into(), a_store_moves_to_a_database_and_back),
        trial(
            "a_store_is_verified_and_backed_up_while_it_changes".into(),
            verified_and_backed_up_while_it_changes,
        ),
        trial("what_names_no_database_is_refused".into(), what_names_no_database_is_refused),
    ]
}

fn run(directory: &Path, arguments: &[&str]) -> Outcome {
    Outcome::of(utterd(directory).args(arguments))
}

/// A schema that does not exist yet; it is removed at the end.
struct Fresh<'a> {
    cluster: &'a Cluster,
    name: String,
}

impl<'a> Fresh<'a> {
    fn new(cluster: &'a Cluster) -> Self {
        Self { cluster, name: format!("test_{}", ulid::Ulid::new()).to_lowercase() }
    }

    fn place(&self) -> String {
        format!("{}?schema={}", self.cluster.url(), self.name)
    }

    /// Serves it.
    fn flags(&self) -> [String; 6] {
        let (url, name) = (self.cluster.url(), self.name.clone());
        [
            "--backend".into(),
            "postgres".into(),
            "--database-url".into(),
            url,
            "--database-schema".into(),
            name,
        ]
    }

    fn served(&self) -> Server {
        let flags = self.flags();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        Server::start_in(tempfile::tempdir().unwrap(), &flags)
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.cluster.psql(&format!("DROP SCHEMA IF EXISTS {} CASCADE", self.name));
        }
    }
}

fn a_store_moves_to_a_database_and_back(cluster: &Cluster) {
    let fresh = Fresh::new(cluster);
    let server =
        Server::start_in(tempfile::tempdir().unwrap(), &["--backend", "fjall", "--data-dir", "data"]);
    for text in ["The train leaves at nine.", "From platform four."] {
        server.run(&["memorize", "demo", text]).worked();
    }
    server.run(&["fork", "demo"]).worked();
    let directory = server.kill();
    let (at, place) = (directory.path(), fresh.place());
    run(at, &["backup", "out", "--from", "fjall:data"]).worked();
    let restored = run(at, &["restore", "out", "--to", &place]).worked();
    assert_holds(
        &restored,
        &["restored out to postgres://", "and verified it: 2 conversations, 2 utterances, "],
    );
    let verified = run(at, &["verify", &format!("postgres:{place}")]).worked();
    assert_holds(&verified, &["verified postgres://", ": 2 conversations, 2 utterances, "]);
    let server = fresh.served();
    assert_holds(&server.run(&["show", "demo"]).worked(), &["The train leaves at nine."]);
    server.run(&["memorize", "demo", "The ticket is in the drawer."]).worked();
    server.run(&["backup", "of-server"]).worked();
    run(at, &["backup", "in", "--from", &place]).worked();
    let of_server = std::fs::read(server.directory.path().join("of-server")).unwrap();
    assert!(of_server == std::fs::read(at.join("in")).unwrap(), "the same is stored");
    let back = run(at, &["restore", "in", "--to", "sled:back"]).worked();
    assert_holds(&back, &["to sled:back and verified it: 2 conversations, 3 utterances, "]);
    let refused = run(at, &["restore", "out", "--to", &place]).failed(1);
    assert_holds(&refused, &["it already holds a store; choose an empty schema"]);
}

fn verified_and_backed_up_while_it_changes(cluster: &Cluster) {
    let fresh = Fresh::new(cluster);
    let mut migrate = utterd(Path::new("."));
    migrate.arg("migrate").args(&fresh.flags()[2..]);
    Outcome::of(&mut migrate).worked();
    let (server, place) = (fresh.served(), fresh.place().parse().unwrap());
    thread::scope(|scope| {
        let (stop, stopped) = mpsc::channel::<()>();
        let (server, (told, writes)) = (&server, mpsc::channel());
        scope.spawn(move || {
            let mut number = 0;
            while stopped.try_recv() == Err(TryRecvError::Empty) {
                number += 1;
                server.run(&["memorize", &format!("c{}", number % 3), "It changes."]).worked();
                let _ = told.send(number);
            }
        });
        for round in 0..5 {
            writes.recv().unwrap();
            assert_eq!(problems(&place), [""; 0]);
            let (_directory, to) = files(DurableEngine::Fjall);
            let (_, report) = BackupFile::of(&place).unwrap().restore(&to).unwrap();
            assert_eq!(report.problems, [], "round {round}");
        }
        drop(stop);
    });
}

fn what_names_no_database_is_refused(cluster: &Cluster) {
    let directory = tempfile::tempdir().unwrap();
    let nowhere = format!("{}?schema=nowhere", cluster.url());
    for (arguments, code, expected) in [
        (&["verify", "postgres"][..], 1, "database_url is not set"),
        (&["verify", "postgres:data"], 2, "it is not a PostgreSQL URL"),
        (&["verify", &nowhere], 1, "the schema nowhere of postgres://"),
        (&["backup", "none", "--from", &nowhere], 1, "the schema nowhere of postgres://"),
        (&["scrub", &nowhere], 2, "the postgres backend keeps no files"),
    ] {
        assert_holds(&run(directory.path(), arguments).failed(code), &[expected]);
    }
    assert!(!directory.path().join("none").exists());
}
