//! Stores in `tests/fixtures`, each in the first format of its kind: they open, and have their data.
//!
//! There are files of fjall and of sled, a backup, and the dump of a schema of PostgreSQL. The same has happened
//! to all of them, see [`story`], so all give the same answers.
//!
//! From the first release on, these stores are never written again; a later format gets stores of its own.
//!
//! - `cargo test --features full --test it write_the_fixtures -- --ignored` writes stores and answers anew.
//! - `cargo test --features full --test it write_the_answers -- --ignored` writes only the answers, after the API shows
//!   more.

mod schema;
mod story;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use futures::TryStreamExt;
use tempfile::TempDir;
use utterd::{
    proto::admin_service_server::AdminService,
    store::{
        durable::{Directory, EngineKind, Flush, key_value::Durability},
        records::{Blocks, Kind, Record, Waiting},
    },
};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    durable::{
        call::Call,
        files::{Content, Files},
        home::Home,
    },
    support::prelude::*,
};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/format-1");
/// What all stores answer.
const ANSWERS: &str = "answers.txt";
const BACKUP: &str = "backup.utterd";
/// sled's log consists of segments of this size; the fixture omits the zeros at its end.
const SEGMENT: u64 = 512 << 10;
/// Conversations that expire have expired by then.
const LATER: Duration = Duration::from_secs(40 * 24 * 3_600);

#[tokio::test]
async fn a_fjall_store_of_format_1_is_read() {
    is_read(EngineKind::Fjall, &fixture(EngineKind::Fjall)).await;
}

#[tokio::test]
async fn a_sled_store_of_format_1_is_read() {
    is_read(EngineKind::Sled, &fixture(EngineKind::Sled)).await;
}

#[tokio::test]
async fn a_backup_of_format_1_is_read() {
    for engine in EngineKind::ALL {
        let directory = tempfile::tempdir().unwrap();
        utterd(&["restore", &path(BACKUP).display().to_string(), "--to", &place(engine, &directory)]);
        is_read(engine, &directory).await;
    }
}

/// The files have what they should, can be written to, and are sound before and after.
async fn is_read(engine: EngineKind, directory: &TempDir) {
    utterd(&["verify", &place(engine, directory)]);
    let home = open(engine, directory.path(), &clock());
    answers_as_then(&home).await;
    home.live(&story::afterwards()).await;
    drop(home);
    utterd(&["verify", &place(engine, directory)]);
}

async fn answers_as_then(home: &Home) {
    let (told, expected) = (told(home).await, fs::read_to_string(path(ANSWERS)).unwrap());
    for (is, was) in told.lines().zip(expected.lines()) {
        assert_eq!(is, was);
    }
    assert_eq!(told.len(), expected.len());
}

/// Except for what only a search or a model leaves.
#[test]
fn the_stores_have_records_of_every_kind() {
    let directory = fixture(EngineKind::Fjall);
    let opened = Directory::open(EngineKind::Fjall, directory.path()).unwrap();
    let pairs = opened.pairs();
    let all = pairs.range(std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
    let mut found: Vec<u8> = all.map(|pair| pair.unwrap().0[0]).collect();
    found.dedup();
    let mut expected = Record::NUMBERS.to_vec();
    expected.retain(|number| ![Waiting::NUMBER, Blocks::NUMBER].contains(number));
    assert_eq!(found, expected);
}

#[test]
fn a_store_of_a_newer_format_is_refused() {
    let directory = fixture(EngineKind::Fjall);
    let label = directory.path().join("STORE");
    let text = fs::read_to_string(&label).unwrap();
    fs::write(&label, text.replace("format: 1", "format: 2")).unwrap();
    let refused = Home::open(EngineKind::Fjall, directory.path(), &clock(), Flush::Each).err().unwrap();
    let expected =
        "has format 2, and this version reads formats up to 1; use the version that wrote it, or a newer one";
    assert!(refused.to_string().ends_with(expected), "{refused}");
}

#[test]
fn a_store_of_the_other_engine_is_refused() {
    let directory = fixture(EngineKind::Sled);
    let refused = Home::open(EngineKind::Fjall, directory.path(), &clock(), Flush::Each).err().unwrap();
    let path = directory.path().display();
    let expected = format!(
        "the store in {path} is kept by sled, not by fjall; open it as sled, or move it: utterd backup FILE --from sled:{path}, and utterd restore FILE --to fjall:DIR"
    );
    assert_eq!(refused.to_string(), expected);
}

/// What a newer version wrote is not misread: that conversation cannot be read, and others can.
#[tokio::test]
async fn a_record_of_a_newer_version_is_an_error() {
    for engine in EngineKind::ALL {
        let directory = fixture(engine);
        let opened = Directory::open(engine, directory.path()).unwrap();
        let key = [&[2, 7][..], b"default", b"trip"].concat();
        let value = opened.pairs().get(&key).unwrap().expect("the conversation `trip`");
        let newer = sealed(2, &value[1..value.len() - 4], &key);
        let unknown = (vec![200, 1], Some(sealed(1, &[], &[200, 1])));
        let writes = vec![(key, Some(newer)), unknown];
        opened.pairs().apply(writes, Durability::Disk).unwrap();
        drop(opened);
        let problems = output(&["verify", &place(engine, &directory)]).1;
        let found = |text: &str| problems.contains(text);
        assert!(found("the record's version is 2; expected 1") && found("kind 200 is unknown"), "{problems}");

        let home = open(engine, directory.path(), &clock());
        let mut questions = story::questions();
        questions.retries.clear();
        let told = questions.ask(&home).await.to_string();
        let refusal = "trip, conversation is refused: The service is currently unavailable: the store is unavailable: conversation default/trip: a newer version of utterd wrote it: the record's version is 2; expected 1";
        assert!(told.contains(refusal), "{told}");
        assert!(told.contains("taxes, conversation: {"), "{told}");
    }
}

#[tokio::test]
#[ignore = "writes the fixtures anew"]
async fn write_the_fixtures() {
    for engine in EngineKind::ALL {
        let directory = tempfile::tempdir().unwrap();
        let clock = ManualClock::new();
        for calls in story::parts() {
            open(engine, directory.path(), &clock).live(&calls).await;
        }
        let mut files = Files::read(directory.path());
        files.0.remove(Path::new("LOCK"));
        files.0.values_mut().for_each(without_hole);
        let place = path(engine.name());
        if place.exists() {
            fs::remove_dir_all(&place).unwrap();
        }
        files.write(&place);
    }
    write_the_backup().await;
    schema::write().await;
    write_answers().await;
}

#[tokio::test]
#[ignore = "writes the answers anew"]
async fn write_the_answers() {
    write_answers().await;
}

async fn write_answers() {
    let directory = fixture(EngineKind::Fjall);
    let told = told(&open(EngineKind::Fjall, directory.path(), &clock())).await;
    fs::write(path(ANSWERS), told).unwrap();
}

async fn write_the_backup() {
    let directory = fixture(EngineKind::Fjall);
    let home = open(EngineKind::Fjall, directory.path(), &clock());
    let parts = home.server.services().backup(Request::new(BackupRequest {})).await.unwrap().into_inner();
    let parts: Vec<_> = parts.try_collect().await.unwrap();
    let backup: Vec<u8> = parts.into_iter().flat_map(|part| part.chunk).collect();
    fs::write(path(BACKUP), backup).unwrap();
}

/// The path of a fixture.
fn path(name: &str) -> PathBuf {
    Path::new(FIXTURES).join(name)
}

/// A copy of the engine's fixture.
fn fixture(engine: EngineKind) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut files = Files::read(&path(engine.name()));
    let logs = files.0.iter_mut().filter(|(path, _)| path.ends_with("db"));
    logs.for_each(|(_, log)| log.size = log.size.next_multiple_of(SEGMENT));
    files.write(directory.path());
    directory
}

/// Omits the zeros at the end of files that are large because of them.
fn without_hole(content: &mut Content) {
    const LARGE: u64 = 64 << 10;
    if content.size > LARGE {
        content.size = content.bytes.len() as u64;
    }
}

fn open(engine: EngineKind, directory: &Path, clock: &Arc<ManualClock>) -> Home {
    Home::open(engine, directory, clock, Flush::Each).unwrap_or_else(|error| panic!("{error}"))
}

/// How commands name a store.
fn place(engine: EngineKind, directory: &TempDir) -> String {
    format!("{engine}:{}", directory.path().display())
}

/// Runs a command, which must succeed.
#[track_caller]
fn utterd(arguments: &[&str]) {
    let (worked, output) = output(arguments);
    assert!(worked, "{arguments:?}: {output}");
}

/// Runs a command; returns whether it succeeded, and what it printed.
fn output(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_utterd")).args(arguments).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&printed).into_owned())
}

/// A day after the story began, which is when questions are asked.
fn clock() -> Arc<ManualClock> {
    let clock = ManualClock::new();
    clock.advance(Duration::from_secs(20 * 3_600));
    clock
}

/// What the server shows, and what is due later.
async fn told(home: &Home) -> String {
    let answers = story::questions().ask(home).await;
    let removed = Call::Wait(LATER).send(home).await.unwrap();
    format!("{answers}later: {removed}\n")
}

/// A record's value, in any version.
fn sealed(version: u8, payload: &[u8], key: &[u8]) -> Vec<u8> {
    let sealed = [&[version], payload].concat();
    let checksum = xxh3_64(&[key, &sealed].concat()) as u32;
    [&sealed[..], &checksum.to_le_bytes()].concat()
}
