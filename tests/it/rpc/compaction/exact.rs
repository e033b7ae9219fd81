//! Compactions with an exact count, and without a summary.

use tonic::Code;
use utterd::proto::{CompactConversationRequest, SummaryMethod};

use super::{compact, keep, listed, long, undo, unlimited};
use crate::support::session::{Reply, Session, calls, result, sequences_of, user};

fn oldest(count: i32) -> CompactConversationRequest {
    CompactConversationRequest { count: Some(count), ..Default::default() }
}

/// This many leave, however short the window is, and are summarised.
#[tokio::test]
async fn so_many_of_the_oldest_leave() {
    let session = long(12).await;
    let preview = compact(&session, CompactConversationRequest { preview: true, ..oldest(5) }).await;
    assert_eq!(preview.compaction.unwrap().compacted_utterance_count, Some(5));
    let made = compact(&session, oldest(5)).await;
    assert!(made.summary.contains("Note 1"), "{}", made.summary);
    let compaction = made.compaction.unwrap();
    assert_eq!((compaction.compacted_utterance_count(), compaction.kept_utterance_count()), (5, 7));
    assert_eq!((compaction.keep_recent, compaction.method()), (None, SummaryMethod::Extractive));
    assert_eq!(sequences_of(&session.window().await), (6..=12).collect::<Vec<_>>());
    undo(&session).await;
    assert_eq!(sequences_of(&session.window().await), (1..=12).collect::<Vec<_>>());
}

/// What leaves without a summary is only archived, even if the policy has summaries off.
#[tokio::test]
async fn what_leaves_without_a_summary_is_archived_only() {
    for summarization_enabled in [true, false] {
        let session = Session::new().await;
        let policy =
            utterd::proto::Policy { summarization_enabled: Some(summarization_enabled), ..unlimited() };
        session.create_with(policy).await;
        session.say(super::notes(1..=40)).await;
        for request in [oldest(8), keep(15)] {
            let made = compact(&session, CompactConversationRequest { no_summary: true, ..request }).await;
            assert_eq!(made.summary, "");
            let compaction = made.compaction.unwrap();
            assert_eq!((compaction.method(), compaction.undoable), (SummaryMethod::Unspecified, true));
        }
        let capacity = session.capacity().await;
        assert_eq!((capacity.utterance_count(), capacity.archived_utterance_count()), (15, 25));
        assert_eq!(capacity.summary.unwrap().covered_utterance_count(), 0);
        assert_eq!(listed(&session).await.len(), 2);
        assert_eq!(undo(&session).await.restored.len(), 17);
        assert_eq!(undo(&session).await.restored.len(), 8);
        assert_eq!(session.capacity().await.archived_utterance_count(), 0);
    }
}

/// A count that ends inside an exchange includes all of it.
#[tokio::test]
async fn an_exchange_leaves_whole() {
    let session = Session::new().await;
    session.create_with(unlimited()).await;
    session
        .say(vec![user("one"), calls(&["a", "b"]), result("a", "x"), result("b", "y"), user("five")])
        .await;
    for (count, left) in [(1, 1), (2, 4), (3, 4), (4, 4)] {
        let made = compact(&session, oldest(count)).await.compaction.unwrap();
        assert_eq!(made.compacted_utterance_count(), left, "of {count}");
        undo(&session).await;
    }
}

#[tokio::test]
async fn what_cannot_be_counted_is_refused() {
    let session = long(6).await;
    let both = CompactConversationRequest { keep_recent: Some(2), ..oldest(2) };
    for (request, code, reason) in [
        (both, Code::InvalidArgument, "INVALID_FIELD"),
        (oldest(0), Code::InvalidArgument, "INVALID_FIELD"),
        (oldest(6), Code::FailedPrecondition, "NOTHING_TO_COMPACT"),
    ] {
        session.compactions().compact_conversation(request).await.refusal().is(code, reason);
    }
    let refused = session.compactions().compact_conversation(oldest(7)).await.refusal();
    refused
        .is(Code::FailedPrecondition, "NOTHING_TO_COMPACT")
        .says("5 utterances of the window can be compacted");
    assert_eq!(session.window().await.len(), 6);
}
