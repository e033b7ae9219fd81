//! Restore: soft-forgotten utterances come back, with their units, to their places.

use crate::support::prelude::*;

async fn restore(session: &Session, wanted: &[i64]) -> RestoreResponse {
    let mut utterance_ids = Vec::new();
    for sequence in wanted {
        utterance_ids.push(session.id_of(*sequence).await);
    }
    session.memory().restore(RestoreRequest { utterance_ids, ..Default::default() }).await.reply()
}

on_each_store! {
    the_archive_and_the_summary_remember_again
}

/// Restoring what is not forgotten leaves it as it is, and changes nothing.
#[tokio::test]
async fn restoring_what_is_there_changes_nothing() {
    let session = Session::new().await;
    session.say_many(2).await;
    let before = session.cursor();
    let response = restore(&session, &[1, 2]).await;
    assert!(response.restored.is_empty() && response.revision == 2);
    session.forget("sequence:1", ForgetMode::Soft).await;
    assert_eq!(sequences(&restore(&session, &[1, 2]).await.restored), [1]);
    assert_ne!(session.cursor(), before);
}

/// Also in the archive: the segment that covers it contains it again.
#[tokio::test]
async fn the_archive_and_the_summary_remember_again() {
    let session = Session::new().await;
    session.say(vec![user("The booking is xyzzy-4711.")]).await;
    session.say_many(20).await;
    let before = session.summary().await;
    session.forget("sequence:1", ForgetMode::Soft).await;
    assert!(!session.summary().await.text.contains("xyzzy"));
    let response = restore(&session, &[1]).await;
    assert_eq!((sequences(&response.restored), response.restored[0].position), (vec![1], None));
    let after = session.summary().await;
    assert!(after.text.contains("xyzzy-4711"), "{}", after.text);
    assert_eq!(ranges(&after.segments[0].covers), ranges(&before.segments[0].covers));
    let find = RememberRequest { prompt: "booking".to_owned(), ..Default::default() };
    assert_eq!(session.memory().remember(find).await.reply().matches.len(), 1);
}

/// What comes back can take the window over a limit.
#[tokio::test]
async fn what_comes_back_may_evict() {
    let session = Session::new().await;
    session.say(vec![user(&"one two three four ".repeat(10)), user("b"), user("c")]).await;
    session.forget("sequence:1", ForgetMode::Soft).await;
    session.update_policy(Policy { max_tokens: Some(30), ..Default::default() }).await;
    assert_eq!(session.window().await.len(), 2);
    let response = restore(&session, &[1]).await;
    assert_eq!((sequences(&response.restored), sequences(&response.evicted)), (vec![1], vec![1]));
    assert_eq!(response.capacity.unwrap().archived_utterance_count, Some(1));
}

#[tokio::test]
async fn what_is_gone_does_not_come_back() {
    let session = Session::new().await;
    session.say_many(2).await;
    let (first, second) = (session.id_of(1).await, session.id_of(2).await);
    session.forget("sequence:1-2", ForgetMode::Soft).await;
    session.forget("sequence:1", ForgetMode::Hard).await;
    let before = session.cursor();
    let request = RestoreRequest { utterance_ids: vec![second, first.clone()], ..Default::default() };
    let refused = session.memory().restore(request).await.refusal();
    refused.is(Code::NotFound, "UTTERANCE_NOT_FOUND").names("utterd.v1/utterance", &first);
    assert_eq!(session.cursor(), before);
    assert!(session.window().await.is_empty(), "nothing came back");
}
