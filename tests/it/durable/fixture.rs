//! Stores that an earlier version wrote, kept in `tests/fixtures`: they open, and have their data.
//!
//! Each format has a directory, with a store of each engine and the answers of both. Released ones are never
//! rewritten; a new format gets its own directory: `cargo test --test it write_the_fixtures --
//! --ignored`.

mod story;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;
use tonic::Request;
use utterd::{
    proto::{
        GetCapacityInfoRequest, ListConversationsRequest, conversation_service_server::ConversationService,
        memory_service_server::MemoryService,
    },
    store::durable::{
        Directory, EngineKind, Flush,
        key_value::{Batch, Durability},
    },
};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    durable::{
        answers::Answers,
        call::Call,
        files::{Content, Files},
        home::{Home, problems},
    },
    support::ManualClock,
};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/format-1");
/// The answers of both stores.
const ANSWERS: &str = "answers.txt";
/// The values of these stores in fields that were added to the API later.
const CAME_LATER: [&str; 7] = [
    r#""isCompacted":true,"#,
    r#""provisionalSegmentCount":0,"#,
    r#""llmSummaries":false,"#,
    r#""state":"SEGMENT_STATE_FINAL","#,
    r#""level":0,"#,
    r#""mode":"FORGET_MODE_SOFT","#,
    r#""mode":"FORGET_MODE_HARD","#,
];
/// The same for capacities.
const OF_CAPACITIES: [&str; 5] =
    ["recipientId", "liveUtteranceCount", "keepUtterances", "keepTokens", "keepTurns"];
/// sled's log consists of segments of this size; the fixture omits the zeros at its end.
const SEGMENT: u64 = 512 << 10;
/// Conversations that expire have expired by then.
const LATER: Duration = Duration::from_secs(40 * 24 * 3_600);

#[tokio::test]
async fn a_fjall_store_of_format_1_is_read() {
    is_read(EngineKind::Fjall).await;
}

#[tokio::test]
async fn a_sled_store_of_format_1_is_read() {
    is_read(EngineKind::Sled).await;
}

async fn is_read(engine: EngineKind) {
    let directory = fixture(engine);
    assert_eq!(problems(engine, directory.path()).unwrap(), [""; 0]);
    let home = open(engine, directory.path(), &clock());
    tokens_are_listed(&home).await;
    let expected = fs::read_to_string(Path::new(FIXTURES).join(ANSWERS)).unwrap();
    let told = told(&home).await;
    let told = CAME_LATER.iter().fold(told, |told, field| told.replace(field, ""));
    let told: String = told.lines().map(|line| as_then(line) + "\n").collect();
    for (is, was) in told.lines().zip(expected.lines()) {
        assert_eq!(is, was);
    }
    assert_eq!(told.len(), expected.len());
    all_are_listed(&home, &["brief", "taxes"]).await;
    home.live(&story::afterwards()).await;
    drop(home);
    assert_eq!(problems(engine, directory.path()).unwrap(), [""; 0]);
    let label = fs::read_to_string(directory.path().join("STORE")).unwrap();
    assert!(label.contains("format: 2"), "an earlier version does not keep the lists: {label}");
    all_are_listed(&open(engine, directory.path(), &clock()), &["brief", "taxes", "trip"]).await;
}

/// Lists of all recipients, and those by update, for which that version stored no index.
async fn all_are_listed(home: &Home, expected: &[&str]) {
    for order in 1..=4 {
        let request =
            ListConversationsRequest { all_recipients: true, page_size: 1_000, order, ..Default::default() };
        let listed = home.server.services().list_conversations(Request::new(request)).await.unwrap();
        let mut ids: Vec<_> =
            listed.into_inner().conversations.into_iter().map(|listed| listed.conversation_id).collect();
        ids.sort();
        assert_eq!(ids, expected, "in the order {order}");
    }
}

/// A list returns the token counts of windows, which that version did not store.
async fn tokens_are_listed(home: &Home) {
    let request =
        ListConversationsRequest { recipient_id: "ann".into(), page_size: 1_000, ..Default::default() };
    let services = home.server.services();
    let listed = services.list_conversations(Request::new(request)).await.unwrap().into_inner().conversations;
    assert!(!listed.is_empty());
    for conversation in listed {
        let request = GetCapacityInfoRequest {
            conversation_id: conversation.conversation_id.clone(),
            ..Default::default()
        };
        let capacity = services.get_capacity_info(Request::new(request)).await.unwrap().into_inner().capacity;
        assert_eq!(conversation.window_token_count, capacity.unwrap().token_count);
    }
}

/// An answer without the fields that were added later and whose values differ.
fn as_then(line: &str) -> String {
    let Some((question, answer)) = line.split_once(": {") else { return line.to_owned() };
    let mut answer: Value = serde_json::from_str(&format!("{{{answer}")).expect("an answer is JSON");
    strip(&mut answer);
    format!("{question}: {answer}")
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("windowTokenCount");
            if fields.contains_key("totalTokenCount") {
                OF_CAPACITIES.iter().for_each(|name| drop(fields.shift_remove(*name)));
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

#[test]
fn a_store_of_a_newer_format_is_refused() {
    let directory = fixture(EngineKind::Fjall);
    let label = directory.path().join("STORE");
    let text = fs::read_to_string(&label).unwrap();
    fs::write(&label, text.replace("format: 1", "format: 3")).unwrap();
    let refused = Home::open(EngineKind::Fjall, directory.path(), &clock(), Flush::Each).err().unwrap();
    let expected =
        "has format 3, and this version reads formats up to 2; use the version that wrote it, or a newer one";
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
        opened.pairs().apply(Batch { writes }, Durability::Disk).unwrap();
        drop(opened);
        let problems = problems(engine, directory.path()).unwrap();
        let found = |text: &str| problems.iter().any(|problem| problem.contains(text));
        assert!(
            found("the record's version is 2; expected 1 to 1") && found("kind 200 is unknown"),
            "{problems:?}"
        );

        let home = open(engine, directory.path(), &clock());
        let mut questions = story::questions();
        questions.retries.clear();
        let told = questions.ask(&home).await.to_string();
        let refusal = "trip, conversation is refused: The service is currently unavailable: the store is unavailable: conversation default/trip: a newer version of utterd wrote it: the record's version is 2; expected 1 to 1";
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
            let home = open(engine, directory.path(), &clock);
            home.live(&calls).await;
        }
        let mut files = Files::read(directory.path());
        files.0.remove(Path::new("LOCK"));
        files.0.values_mut().for_each(without_hole);
        let place = stored(engine);
        if place.exists() {
            fs::remove_dir_all(&place).unwrap();
        }
        files.write(&place);
        let told = told(&open(engine, fixture(engine).path(), &self::clock())).await;
        fs::write(Path::new(FIXTURES).join(ANSWERS), told).unwrap();
    }
}

fn stored(engine: EngineKind) -> PathBuf {
    Path::new(FIXTURES).join(engine.name())
}

/// A copy of the engine's fixture.
fn fixture(engine: EngineKind) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut files = Files::read(&stored(engine));
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

/// A day after the story began, which is when questions are asked.
fn clock() -> Arc<ManualClock> {
    let clock = ManualClock::new();
    clock.advance(Duration::from_secs(20 * 3_600));
    clock
}

/// What the server shows, and what is due later.
async fn told(home: &Home) -> String {
    let answers: Answers = story::questions().ask(home).await;
    let removed = Call::Wait(LATER).send(home).await.unwrap();
    format!("{answers}later: {removed}\n")
}

/// A record's value, in any version.
fn sealed(version: u8, payload: &[u8], key: &[u8]) -> Vec<u8> {
    let sealed = [&[version], payload].concat();
    let checksum = xxh3_64(&[key, &sealed].concat()) as u32;
    [&sealed[..], &checksum.to_le_bytes()].concat()
}
