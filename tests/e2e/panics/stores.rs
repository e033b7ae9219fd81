//! Stores that panic.

use std::sync::Arc;

use futures::future::join_all;
use tonic::{Response, Status};
use utterd::proto::{GetCapacityInfoRequest, MemorizeRequest, MemorizeResponse};

use crate::{
    panics::{
        Turn,
        fragile::{Fragile, Panics},
        panicked,
    },
    support::session::{Reply, Session, memorize, user},
};

async fn session(store: &Arc<Fragile>) -> Session {
    Session::over(store.clone()).await
}

async fn say(session: &Session, text: &str) -> Result<Response<MemorizeResponse>, Status> {
    let request = MemorizeRequest { conversation_id: "c".into(), ..memorize(vec![user(text)]) };
    session.memory().memorize(request).await
}

async fn stored(session: &Session) -> Vec<String> {
    let request = utterd::proto::ListUtterancesRequest { conversation_id: "c".into(), ..Default::default() };
    session.list(request).await.into_iter().map(|utterance| utterance.content).collect()
}

#[tokio::test]
async fn a_commit_that_panics_fails_its_write_alone() {
    let (store, turn) = (Fragile::new(), Turn::take().await);
    let session = session(&store).await;
    say(&session, "first").await.reply();
    for panics in [Panics::Called("bad"), Panics::Before("bad")] {
        store.panics(panics);
        panicked(&say(&session, "bad").await.expect_err("the store panics"));
    }
    turn.had([0, 0, 2, 0]);
    say(&session, "second").await.reply();
    assert_eq!(stored(&session).await, ["first", "second"]);
}

/// What took effect before the panic is published and answered.
#[tokio::test]
async fn a_commit_that_panics_after_it_took_effect_is_answered() {
    let (store, turn) = (Fragile::new(), Turn::take().await);
    let session = session(&store).await;
    store.panics(Panics::After("late"));
    assert_eq!(say(&session, "late").await.reply().memorized.len(), 1);
    turn.had([0, 0, 1, 0]);
    say(&session, "next").await.reply();
    assert_eq!(stored(&session).await, ["late", "next"]);
}

/// Writes that would share a commit are made one by one, without the one that panics.
#[tokio::test]
async fn the_others_of_a_batch_are_committed() {
    let (store, turn) = (Fragile::new(), Turn::take().await);
    let session = session(&store).await;
    store.panics(Panics::Before("bad"));
    let texts: Vec<String> =
        (0..20).map(|number| if number == 7 { "bad".into() } else { format!("text {number}") }).collect();
    let answers = join_all(texts.iter().map(|text| say(&session, text))).await;
    let mut sequences = Vec::new();
    for (text, answer) in texts.iter().zip(answers) {
        match text.as_str() {
            "bad" => panicked(&answer.expect_err("the store panics")),
            _ => sequences.push(answer.reply().memorized[0].sequence),
        }
    }
    sequences.sort_unstable();
    assert_eq!(sequences, (1..=19).collect::<Vec<i64>>());
    assert_eq!(stored(&session).await.len(), 19);
    assert!(turn.before[2] < utterd::telemetry::panics::Within::Store.panics());
    say(&session, "after").await.reply();
}

#[tokio::test]
async fn a_conversation_that_cannot_be_loaded_ends_only_its_own_calls() {
    let (store, turn) = (Fragile::new(), Turn::take().await);
    let session = session(&store).await;
    store.panics(Panics::Load("c"));
    let read = GetCapacityInfoRequest { conversation_id: "c".into(), ..Default::default() };
    panicked(&session.memory().get_capacity_info(read.clone()).await.expect_err("it panics"));
    panicked(&say(&session, "hello").await.expect_err("it panics"));
    turn.had([2, 0, 0, 0]);
    session.say(vec![user("another conversation")]).await;
    store.mend();
    say(&session, "hello").await.reply();
    let capacity = session.memory().get_capacity_info(read).await.reply().capacity.unwrap();
    assert_eq!(capacity.utterance_count, Some(1));
}
