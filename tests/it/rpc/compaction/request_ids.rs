//! Retries of compactions, undos and answers, and the expected revision.

use tonic::Code;
use utterd::proto::{
    AnswerCompactionPromptRequest, CompactConversationRequest, CompactionAnswer, DeleteConversationRequest,
    UndoCompactionRequest,
};

use super::{compact, keep, listed, long, notes, undo};
use crate::support::{
    refusal::Refused,
    session::{Reply, user},
};

fn attempt(id: &str) -> CompactConversationRequest {
    CompactConversationRequest { request_id: id.to_owned(), ..keep(15) }
}

fn undoing(id: &str) -> UndoCompactionRequest {
    UndoCompactionRequest { request_id: id.to_owned(), ..Default::default() }
}

fn answer(id: &str, answer: CompactionAnswer) -> AnswerCompactionPromptRequest {
    AnswerCompactionPromptRequest { request_id: id.to_owned(), answer: answer.into(), ..Default::default() }
}

fn is_reused(refused: Refused) {
    refused.is(Code::FailedPrecondition, "REQUEST_ID_REUSED").blames("request_id");
}

#[tokio::test]
async fn a_repeated_compaction_is_replayed() {
    let session = long(40).await;
    let first = compact(&session, attempt("r")).await;
    session.say(notes(41..=60)).await;
    let cursor = session.cursor();
    let again = compact(&session, attempt("r")).await;
    assert!(again.replayed && !first.replayed);
    assert_eq!((again.revision, &again.compaction), (first.revision, &first.compaction));
    assert_eq!((again.capacity, again.summary), (first.capacity, first.summary));
    assert_eq!(session.cursor(), cursor, "nothing happened");
    assert_eq!(session.window().await.len(), 35);
    for other in [
        CompactConversationRequest { keep_recent: None, ..attempt("r") },
        CompactConversationRequest { focus_areas: vec!["pumps".to_owned()], ..attempt("r") },
        CompactConversationRequest { wait_for_llm: true, ..attempt("r") },
        CompactConversationRequest { expected_revision: Some(1), ..attempt("r") },
        CompactConversationRequest { recipient_id: "default".to_owned(), ..attempt("r") },
    ] {
        is_reused(session.compactions().compact_conversation(other).await.refusal());
    }
    undo(&session).await;
    let undone = compact(&session, attempt("r")).await.compaction.unwrap();
    assert!(undone.undo_time.is_some(), "what became of it since is told");
}

/// Two undos at the same moment are each replayed with their own response.
#[tokio::test]
async fn repeated_undos_are_replayed() {
    let session = long(60).await;
    compact(&session, keep(40)).await;
    compact(&session, keep(20)).await;
    let mut first = Vec::new();
    for id in ["r", "s"] {
        first.push(session.compactions().undo_compaction(undoing(id)).await.reply());
    }
    session.say(vec![user("And then?")]).await;
    let cursor = session.cursor();
    for (id, first) in ["r", "s"].into_iter().zip(first) {
        let again = session.compactions().undo_compaction(undoing(id)).await.reply();
        assert!(again.replayed);
        assert_eq!((again.revision, again.compaction), (first.revision, first.compaction), "{id}");
        assert_eq!((again.capacity, again.restored), (first.capacity, first.restored));
    }
    assert_eq!(session.cursor(), cursor, "nothing happened");
    let other = UndoCompactionRequest { expected_revision: Some(1), ..undoing("r") };
    is_reused(session.compactions().undo_compaction(other).await.refusal());
}

#[tokio::test]
async fn repeated_answers_are_replayed() {
    let session = long(60).await;
    for (id, given) in [("r", CompactionAnswer::NotNow), ("s", CompactionAnswer::CompactNow)] {
        let first = session.compactions().answer_compaction_prompt(answer(id, given)).await.reply();
        session.say(vec![user("And then?")]).await;
        let cursor = session.cursor();
        let again = session.compactions().answer_compaction_prompt(answer(id, given)).await.reply();
        assert!(again.replayed && !first.replayed);
        assert_eq!((again.revision, again.compaction), (first.revision, first.compaction));
        assert_eq!(again.capacity, first.capacity);
        assert_eq!(session.cursor(), cursor, "nothing happened");
    }
    assert_eq!(listed(&session).await.len(), 1);
    let turned = [answer("r", CompactionAnswer::CompactNow), answer("s", CompactionAnswer::NotNow)];
    let kept =
        AnswerCompactionPromptRequest { keep_recent: Some(20), ..answer("s", CompactionAnswer::CompactNow) };
    for other in turned.into_iter().chain([kept]) {
        is_reused(session.compactions().answer_compaction_prompt(other).await.refusal());
    }
}

/// The three calls have separate ids, and a refused attempt leaves its id free.
#[tokio::test]
async fn an_id_names_an_attempt_of_one_call() {
    let session = long(29).await;
    let refused = session.compactions().compact_conversation(attempt("r")).await.refusal();
    refused.is(Code::FailedPrecondition, "TOO_SHORT_TO_COMPACT");
    session.compactions().undo_compaction(undoing("r")).await.refusal();
    session.say(notes(30..=60)).await;
    let now = answer("r", CompactionAnswer::NotNow);
    assert!(!session.compactions().answer_compaction_prompt(now).await.reply().replayed);
    assert!(!compact(&session, attempt("r")).await.replayed);
    assert!(!session.compactions().undo_compaction(undoing("r")).await.reply().replayed);
}

/// A deleted conversation is not in the replay, nor is a new one with its id.
#[tokio::test]
async fn a_replay_after_a_deletion_tells_of_no_compaction() {
    let session = long(40).await;
    let first = compact(&session, attempt("r")).await;
    let conversation_id = first.conversation_id.clone();
    let delete = DeleteConversationRequest { conversation_id, ..Default::default() };
    session.conversations().delete_conversation(delete).await.reply();
    let again = compact(&session, attempt("r")).await;
    assert_eq!((again.replayed, again.compaction, again.summary.as_str()), (true, None, ""));
    assert_eq!((again.revision, again.conversation_id), (first.revision, first.conversation_id));
}

#[tokio::test]
async fn a_stale_revision_is_refused_and_the_newest_taken() {
    let session = long(40).await;
    let revision = session.capacity().await.revision;
    let pinned = |revision| CompactConversationRequest { expected_revision: Some(revision), ..keep(15) };
    let stale = session.compactions().compact_conversation(pinned(revision - 1)).await.refusal();
    stale.is(Code::Aborted, "STALE_REVISION").blames("expected_revision");
    let preview = CompactConversationRequest { preview: true, ..pinned(revision - 1) };
    session.compactions().compact_conversation(preview).await.refusal().is(Code::Aborted, "STALE_REVISION");
    assert_eq!(compact(&session, pinned(revision)).await.revision, revision + 1);
    let pinned = |revision| UndoCompactionRequest { expected_revision: Some(revision), ..Default::default() };
    let stale = session.compactions().undo_compaction(pinned(revision)).await.refusal();
    stale.is(Code::Aborted, "STALE_REVISION").blames("expected_revision");
    let undone = session.compactions().undo_compaction(pinned(revision + 1)).await.reply();
    assert_eq!(undone.revision, revision + 2);
}
