//! Undoing compactions.

use tonic::Code;
use utterd::proto::{
    CompactConversationRequest, Compaction, ForgetMode, ForkConversationRequest, ListCompactionsRequest,
    Policy, UndoCompactionRequest,
};

use super::{compact, keep, listed, long, notes, undo, unlimited};
use crate::support::{
    refusal::Refused,
    session::{Reply, Session, ranges, sequences, sequences_of, user},
};

async fn refused(session: &Session) -> Refused {
    session.compactions().undo_compaction(UndoCompactionRequest::default()).await.refusal()
}

on_each_store! {
    an_undo_brings_everything_back_beside_what_was_said_since
    what_was_hard_forgotten_does_not_come_back
}

#[tokio::test]
async fn an_undo_brings_everything_back_beside_what_was_said_since() {
    let session = long(40).await;
    let before = session.window().await;
    compact(&session, keep(15)).await;
    session.say(vec![user("And then?"), user("And now?")]).await;
    let revision = session.capacity().await.revision;
    let undone = undo(&session).await;
    assert_eq!((undone.revision, undone.replayed), (revision + 1, false));
    assert_eq!(sequences(&undone.restored), (1..=25).collect::<Vec<_>>());
    let positions: Vec<_> = undone.restored.iter().map(|utterance| utterance.position()).collect();
    assert_eq!(positions, (1..=25).collect::<Vec<_>>());
    let compaction = undone.compaction.unwrap();
    assert_eq!((compaction.compaction_number(), compaction.undoable), (1, false));
    assert!(compaction.undo_time.is_some());
    assert_eq!(listed(&session).await, [compaction]);

    let after = session.window().await;
    assert_eq!(after[..40], before);
    assert_eq!(sequences_of(&after[40..]), [41, 42]);
    assert_eq!(session.summary().await.text, "");
    assert_eq!(undone.capacity, Some(session.capacity().await));
    assert_eq!(undone.capacity.unwrap().archived_utterance_count, Some(0));
    refused(&session).await.is(Code::FailedPrecondition, "NOTHING_TO_UNDO");
}

#[tokio::test]
async fn several_are_undone_one_by_one_the_newest_first() {
    let session = long(60).await;
    let mut states = Vec::new();
    for recent in [45, 30, 15] {
        states.push((session.window().await, session.summary().await.text));
        compact(&session, keep(recent)).await;
        assert_eq!(session.window().await.len(), recent as usize);
    }
    for number in [3, 2, 1] {
        let undone = undo(&session).await.compaction.unwrap();
        assert_eq!(undone.compaction_number(), number);
        assert_eq!((session.window().await, session.summary().await.text), states.pop().unwrap());
    }
    refused(&session).await.is(Code::FailedPrecondition, "NOTHING_TO_UNDO").says("the last 10");
    assert_eq!(compact(&session, keep(15)).await.compaction.unwrap().compaction_number(), 4);
}

#[tokio::test]
async fn only_the_last_ten_can_be_undone() {
    let session = long(60).await;
    for recent in (36..=58).rev().step_by(2) {
        compact(&session, keep(recent)).await;
    }
    let undoable = |made: &[Compaction]| -> Vec<_> {
        made.iter().filter(|made| made.undoable).map(|made| made.compaction_number()).collect()
    };
    assert_eq!(undoable(&listed(&session).await), (3..=12).rev().collect::<Vec<_>>());
    for number in (3..=12).rev() {
        assert_eq!(undo(&session).await.compaction.unwrap().compaction_number(), number);
    }
    refused(&session).await.is(Code::FailedPrecondition, "NOTHING_TO_UNDO");
    assert_eq!(session.window().await.len(), 56);
}

/// The archive drops the oldest; a compaction that it no longer holds completely does not come back in part.
#[tokio::test]
async fn what_the_archive_no_longer_holds_cannot_be_brought_back() {
    let session = Session::new().await;
    session.create_with(Policy { archive_limit: Some(10), ..unlimited() }).await;
    session.say(notes(1..=40)).await;
    let made = compact(&session, CompactConversationRequest::default()).await.compaction.unwrap();
    assert_eq!((made.compacted_utterance_count(), made.undoable), (25, false));
    let cursor = session.cursor();
    let refusal = refused(&session).await;
    refusal.is(Code::FailedPrecondition, "SOURCES_GONE").says("compaction 1").says("of its 25 utterances");
    assert_eq!(session.cursor(), cursor);
    assert_eq!(session.window().await.len(), 15);

    session.update_policy(Policy { archive_limit: Some(100), ..Default::default() }).await;
    session.say(notes(41..=60)).await;
    assert!(compact(&session, CompactConversationRequest::default()).await.compaction.unwrap().undoable);
    assert_eq!(undo(&session).await.restored.len(), 20);
    refused(&session).await.is(Code::FailedPrecondition, "SOURCES_GONE");
}

#[tokio::test]
async fn what_was_hard_forgotten_does_not_come_back() {
    let session = long(40).await;
    compact(&session, keep(15)).await;
    session.forget("sequence:3", ForgetMode::Hard).await;
    session.forget("sequence:4", ForgetMode::Soft).await;
    let made = listed(&session).await.remove(0);
    assert_eq!(ranges(&made.compacted), [(1, 2), (4, 25)]);
    assert_eq!(made.compacted_utterance_count, Some(25), "so many left when it was made");
    let undone = undo(&session).await;
    assert_eq!(sequences(&undone.restored), [1, 2].into_iter().chain(4..=25).collect::<Vec<_>>());
    let listed: Vec<_> = [1, 2].into_iter().chain(5..=40).collect();
    assert_eq!(sequences_of(&session.window().await), listed, "4 is still forgotten");
    assert_eq!(undone.capacity.unwrap().soft_deleted_count, Some(1));
}

/// A fork shares what was said, and starts without compactions.
#[tokio::test]
async fn a_fork_has_none_to_undo_and_its_parent_keeps_its_own() {
    let session = long(40).await;
    compact(&session, keep(15)).await;
    let fork = ForkConversationRequest { new_conversation_id: "fork".to_owned(), ..Default::default() };
    session.conversations().fork_conversation(fork).await.reply();
    let conversation_id = "fork".to_owned();
    let list = ListCompactionsRequest { conversation_id: conversation_id.clone(), ..Default::default() };
    assert_eq!(session.compactions().list_compactions(list).await.reply().compactions, []);
    let request = UndoCompactionRequest { conversation_id, ..Default::default() };
    let refusal = session.compactions().undo_compaction(request).await.refusal();
    refusal.is(Code::FailedPrecondition, "NOTHING_TO_UNDO");
    assert_eq!(undo(&session).await.restored.len(), 25);
    assert_eq!(session.window().await.len(), 40);
}
