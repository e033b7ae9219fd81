//! `expected_revision`: a call decided on another revision changes nothing.

use tonic::Code;
use utterd::proto::{
    DeleteConversationRequest, ForgetMode, ForgetRequest, MemorizeRequest, Policy, RestoreRequest,
    UpdateConversationRequest, UpdateUtteranceRequest,
};

use crate::support::{
    refusal::Refused,
    session::{Reply, Session, forget, mask, memorize, policy_update, user},
};

fn expecting(revision: i64) -> MemorizeRequest {
    MemorizeRequest { expected_revision: Some(revision), ..memorize(vec![user("hello")]) }
}

fn is_stale(refused: Refused, expected: &str, actual: &str) {
    let refused =
        refused.is(Code::Aborted, "STALE_REVISION").blames("expected_revision").says("read it again");
    let metadata = &refused.details().error_info().unwrap().metadata;
    assert_eq!((metadata["expected"].as_str(), metadata["actual"].as_str()), (expected, actual));
}

on_each_store! {
    one_of_many_who_expect_the_same_wins
}

/// 0 means that the conversation must not exist yet.
#[tokio::test]
async fn zero_expects_no_conversation() {
    let session = Session::new().await;
    is_stale(session.memory().memorize(expecting(1)).await.refusal(), "1", "0");
    let first = session.memory().memorize(expecting(0)).await.reply();
    assert!(first.started_conversation && first.revision == 1);
    is_stale(session.memory().memorize(expecting(0)).await.refusal(), "0", "1");
    assert_eq!(session.window().await.len(), 1);
    assert_eq!(session.memory().memorize(expecting(1)).await.reply().revision, 2);
}

/// One wins, and the others get an error.
#[tokio::test]
async fn one_of_many_who_expect_the_same_wins() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let calls = (0..20).map(|_| {
        let mut memory = session.memory();
        async move { memory.memorize(expecting(1)).await }
    });
    let mut stored = 0;
    for result in futures::future::join_all(calls).await {
        match result {
            Ok(_) => stored += 1,
            Err(status) => is_stale(Refused::new(status), "1", "2"),
        }
    }
    assert_eq!((stored, session.capacity().await.revision), (1, 2));
}

#[tokio::test]
async fn every_changing_call_heeds_it() {
    let session = Session::new().await;
    let said = session.say(vec![user("hello")]).await;
    session.say(vec![user("world")]).await;
    let before = session.cursor();
    let stale = Some(1);
    let utterance_id = said.memorized[0].utterance_id.clone();
    let request = ForgetRequest { expected_revision: stale, ..forget("all", ForgetMode::Hard) };
    is_stale(session.memory().forget(request).await.refusal(), "1", "2");
    let dry = ForgetRequest { expected_revision: stale, dry_run: true, ..forget("all", ForgetMode::Soft) };
    is_stale(session.memory().forget(dry).await.refusal(), "1", "2");
    let request = RestoreRequest {
        utterance_ids: vec![utterance_id.clone()],
        expected_revision: stale,
        ..Default::default()
    };
    is_stale(session.memory().restore(request).await.refusal(), "1", "2");
    let smaller = Policy { max_utterances: Some(1), ..Default::default() };
    let request = UpdateConversationRequest { expected_revision: stale, ..policy_update(smaller) };
    is_stale(session.conversations().update_conversation(request).await.refusal(), "1", "2");
    let request = UpdateUtteranceRequest {
        utterance_id,
        pinned: true,
        update_mask: mask(&["pinned"]),
        expected_revision: stale,
        ..Default::default()
    };
    is_stale(session.conversations().update_utterance(request).await.refusal(), "1", "2");
    let request =
        DeleteConversationRequest { conversation_id: said.conversation_id.clone(), expected_revision: stale };
    is_stale(session.conversations().delete_conversation(request).await.refusal(), "1", "2");
    assert_eq!(session.cursor(), before, "nothing happened");
    let fresh =
        DeleteConversationRequest { conversation_id: said.conversation_id, expected_revision: Some(2) };
    let deleted = session.conversations().delete_conversation(fresh).await.reply();
    assert_eq!(deleted.utterance_count, Some(2));
}
