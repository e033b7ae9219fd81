//! The archive: what left the window and is still stored, up to a limit.

use utterd::proto::{ForgetMode, Policy, PolicyPreset, RememberRequest, UtteranceState};

use crate::support::session::{Reply, Session, calls, result, sequences_of, user};

/// A window of one utterance and an archive of `limit`.
fn narrow(limit: i32) -> Policy {
    Policy { max_utterances: Some(1), archive_limit: Some(limit), ..Default::default() }
}

on_each_store! {
    what_left_the_window_is_stored
    a_smaller_limit_drops_at_once
}

#[tokio::test]
async fn what_left_the_window_is_stored() {
    let session = Session::new().await;
    session.say_many(21).await;
    let stored = session.stored().await;
    assert_eq!(sequences_of(&stored), (1..=21).collect::<Vec<_>>());
    assert_eq!((stored[4].state, stored[4].position), (UtteranceState::Evicted.into(), None));
    assert_eq!((stored[5].state, stored[5].position), (UtteranceState::Live.into(), Some(1)));
    assert_eq!(stored[0].content, "message 1");
}

/// The oldest are dropped first; the summary still covers them.
#[tokio::test]
async fn the_archive_is_trimmed() {
    let session = Session::new().await;
    session.create_with(narrow(10)).await;
    for count in 1..=40 {
        session.say(vec![user(&format!("message {count}"))]).await;
        let capacity = session.capacity().await;
        assert!(capacity.archived_utterance_count.unwrap() <= 10);
        assert_eq!(capacity.summary.unwrap().covered_utterance_count, Some(count - 1));
    }
    let stored = sequences_of(&session.stored().await);
    assert_eq!(stored, (41 - stored.len() as i64..=40).collect::<Vec<_>>());
    assert!(stored.len() >= 10, "{stored:?}");
    let find = RememberRequest { prompt: "message".to_owned(), page_size: 50, ..Default::default() };
    assert_eq!(session.memory().remember(find).await.reply().matches.len(), stored.len());
}

#[tokio::test]
async fn a_limit_of_0_keeps_none() {
    let session = Session::new().await;
    session.create_with(narrow(0)).await;
    session.say(vec![user("The booking is xyzzy-4711.")]).await;
    session.say_many(3).await;
    assert_eq!(sequences_of(&session.stored().await), [4]);
    assert_eq!(session.capacity().await.archived_utterance_count, Some(0));
    assert!(session.summary().await.text.contains("xyzzy-4711"), "the summary still tells of it");
    let forgotten = session.forget("about:xyzzy-4711", ForgetMode::Hard).await;
    assert_eq!(forgotten.rebuilt_segments, Some(1));
    assert!(!session.summary().await.text.contains("xyzzy-4711"), "what is told only there can be forgotten");
}

#[tokio::test]
async fn a_smaller_limit_drops_at_once() {
    let session = Session::new().await;
    session.say_many(21).await;
    session.update_policy(Policy { archive_limit: Some(2), ..Default::default() }).await;
    assert_eq!(sequences_of(&session.stored().await), (4..=21).collect::<Vec<_>>());
    session.update_policy(Policy { archive_limit: Some(0), ..Default::default() }).await;
    assert_eq!(sequences_of(&session.stored().await), (6..=21).collect::<Vec<_>>());
}

/// A unit is dropped whole.
#[tokio::test]
async fn no_unit_is_dropped_by_halves() {
    let session = Session::new().await;
    session.create_with(narrow(4)).await;
    for round in 0..10 {
        let ids = [format!("a{round}"), format!("b{round}")];
        session
            .say(vec![user("go"), calls(&[&ids[0], &ids[1]]), result(&ids[0], "1"), result(&ids[1], "2")])
            .await;
        let stored = session.stored().await;
        let open: Vec<_> = stored.iter().filter(|utterance| !utterance.tool_calls.is_empty()).collect();
        let results = stored.iter().filter(|utterance| !utterance.tool_call_id.is_empty()).count();
        assert_eq!(results, open.len() * 2, "round {round}: {:?}", sequences_of(&stored));
    }
}

/// Without limits nothing leaves.
#[tokio::test]
async fn a_session_archives_nothing() {
    let session = Session::new().await;
    session.create_with(Policy { preset: PolicyPreset::Session.into(), ..Default::default() }).await;
    session.say_many(50).await;
    let capacity = session.capacity().await;
    assert_eq!((capacity.utterance_count, capacity.archived_utterance_count), (Some(50), Some(0)));
}
