//! Many concurrent callers: one order of changes, nothing lost, nothing twice.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
};

use futures::{StreamExt, future::join_all, stream};
use utterd::{config::Preset, proto::memorize_stream_response::Result as Outcome};

use crate::support::prelude::*;

const WRITERS: usize = 50;
const APPENDS: usize = 100;

/// Room for everything that is said and archived.
async fn roomy() -> Session {
    let session = Session::with(&Settings::of(Preset::Session)).await;
    session.say(vec![user("the first")]).await;
    session
}

/// Every sequence from 1 on is stored once, in order, and each writer's texts are in order.
async fn expect_all(session: &Session, count: usize) {
    let all = ListUtterancesRequest {
        include_archive: true,
        include_forgotten: true,
        page_size: 1_000,
        ..Default::default()
    };
    let stored = session.list(all).await;
    assert_eq!(sequences_of(&stored), (1..=count as i64).collect::<Vec<_>>());
    let mut next = vec![0; WRITERS];
    for utterance in &stored {
        let Some((writer, number)) = utterance.content.split_once(':') else { continue };
        let (writer, number): (usize, usize) = (writer.parse().unwrap(), number.parse().unwrap());
        assert_eq!(number, next[writer], "writer {writer}");
        next[writer] += 1;
    }
    assert_eq!(next, vec![APPENDS; WRITERS]);
}

async fn write(session: &Session, writer: usize) -> BTreeSet<i64> {
    let mut memory = session.memory();
    let mut stored = BTreeSet::new();
    for number in 0..APPENDS {
        let request = memorize(vec![user(&format!("{writer}:{number}"))]);
        let response = memory.memorize(request).await.reply();
        stored.insert(response.memorized[0].sequence);
    }
    stored
}

/// Reads until the writers are done; each read is complete, and never older than the previous one.
async fn read(session: &Session, done: &AtomicBool) {
    let (mut memory, mut conversations) = (session.memory(), session.conversations());
    let mut revision = 0;
    while !done.load(Ordering::Relaxed) {
        let capacity =
            memory.get_capacity_info(GetCapacityInfoRequest::default()).await.reply().capacity.unwrap();
        assert!(capacity.revision >= revision, "a reader saw an older state");
        revision = capacity.revision;
        let last = ListUtterancesRequest { last: Some(20), include_forgotten: true, ..Default::default() };
        let window = conversations.list_utterances(last).await.reply().utterances;
        let seen = sequences_of(&window);
        assert!(seen.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{seen:?}");
    }
}

/// Shrinks and widens the window, and forgets and restores softly, until the writers are done.
async fn disturb(session: &Session, done: &AtomicBool) -> usize {
    let mut changes = 0;
    for round in 0.. {
        if done.load(Ordering::Relaxed) {
            break;
        }
        let max_utterances = Some(if round % 2 == 0 { 50 } else { 0 });
        let policy = Policy { max_utterances, ..Default::default() };
        session.conversations().update_conversation(policy_update(policy)).await.reply();
        let forgotten = session.memory().forget(forget("newest", ForgetMode::Soft)).await.reply();
        changes += 1 + usize::from(!forgotten.forgotten.is_empty());
    }
    changes
}

on_each_store! {
    one_of_many_who_expect_the_same_wins
    fifty_writers_leave_no_gap
    writers_survive_deletions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_writers_leave_no_gap() {
    let session = roomy().await;
    let done = AtomicBool::new(false);
    let writers = async {
        let stored = join_all((0..WRITERS).map(|writer| write(&session, writer))).await;
        done.store(true, Ordering::Relaxed);
        stored
    };
    let (stored, (), (), changes) =
        tokio::join!(writers, read(&session, &done), read(&session, &done), disturb(&session, &done));
    let sequences: BTreeSet<i64> = stored.into_iter().flatten().collect();
    assert_eq!(sequences, (2..=(WRITERS * APPENDS + 1) as i64).collect(), "each was told its own sequence");
    assert!(changes > 0);
    assert_eq!(session.capacity().await.revision, (1 + WRITERS * APPENDS + changes) as i64);
    expect_all(&session, WRITERS * APPENDS + 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_streams_leave_no_gap() {
    let session = roomy().await;
    let streams = (0..WRITERS).map(|writer| {
        let mut memory = session.memory();
        async move {
            let messages = (0..APPENDS).map(move |number| MemorizeStreamRequest {
                memorize: Some(memorize(vec![user(&format!("{writer}:{number}"))])),
                ..Default::default()
            });
            let mut responses = memory.memorize_stream(stream::iter(messages)).await.reply();
            let mut last = 0;
            while let Some(response) = responses.next().await {
                let Some(Outcome::Memorized(memorized)) = response.unwrap().result else {
                    panic!("a message was refused")
                };
                assert!(memorized.memorized[0].sequence > last, "answers come in order");
                last = memorized.memorized[0].sequence;
            }
        }
    });
    join_all(streams).await;
    assert_eq!(session.capacity().await.revision, (WRITERS * APPENDS + 1) as i64);
    expect_all(&session, WRITERS * APPENDS + 1).await;
}

/// A conversation is deleted and recreated while writers write to it: each write is whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_survive_deletions() {
    let session = Session::with(&Settings::of(Preset::Session)).await;
    let request = || MemorizeRequest { conversation_id: "c".to_owned(), ..memorize(vec![user("hello")]) };
    let done = AtomicBool::new(false);
    let write = async {
        let calls = (0..300).map(|_| {
            let mut memory = session.memory();
            async move { memory.memorize(request()).await.reply() }
        });
        let responses: Vec<_> = stream::iter(calls).buffer_unordered(16).collect().await;
        done.store(true, Ordering::Relaxed);
        responses
    };
    let delete = async {
        let mut deleted = 0;
        while !done.load(Ordering::Relaxed) {
            let delete = utterd::proto::DeleteConversationRequest {
                conversation_id: "c".to_owned(),
                ..Default::default()
            };
            if let Ok(response) = session.conversations().delete_conversation(delete).await {
                deleted += response.into_inner().utterance_count.unwrap();
            }
        }
        deleted
    };
    let (responses, deleted) = tokio::join!(write, delete);
    assert_eq!(responses.len(), 300);
    let request = GetCapacityInfoRequest { conversation_id: "c".to_owned(), ..Default::default() };
    let left = match session.memory().get_capacity_info(request).await {
        Ok(response) => response.into_inner().capacity.unwrap().utterance_count.unwrap(),
        Err(_) => 0,
    };
    assert_eq!(deleted + left, 300, "every utterance was stored once, and either deleted or left");
}

/// One wins, and the others get an error.
#[tokio::test]
async fn one_of_many_who_expect_the_same_wins() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let calls = (0..20).map(async |_| {
        let request = MemorizeRequest { expected_revision: Some(1), ..memorize(vec![user("hello")]) };
        session.memory().memorize(request).await
    });
    let results = join_all(calls).await;
    let refused = results.into_iter().filter_map(Result::err).map(Refused::new);
    let refused: Vec<_> = refused.map(|refused| refused.is(Code::Aborted, "STALE_REVISION")).collect();
    assert_eq!(refused.len(), 19);
    assert_eq!(session.capacity().await.revision, 2);
}
