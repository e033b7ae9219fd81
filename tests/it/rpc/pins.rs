//! Pins: important utterances leave the window last.

use utterd::proto::{NewUtterance, OverLimitCause, Policy, UpdateUtteranceRequest};

use crate::support::session::{Reply, Session, calls, mask, result, sequences, sequences_of, system, user};

fn pinned(text: &str) -> NewUtterance {
    NewUtterance { pinned: true, ..user(text) }
}

#[tokio::test]
async fn eviction_passes_over_pins() {
    let session = Session::new().await;
    session.say(vec![user("one"), pinned("two")]).await;
    session.say_many(18).await;
    let response = session.say(vec![user("the 21st")]).await;
    assert_eq!(sequences(&response.evicted), [1, 3, 4, 5, 6]);
    let window = session.window().await;
    assert_eq!((window[0].sequence, window[0].position, window[0].pinned), (2, Some(1), true));
}

/// A pin applies to the whole exchange, whichever part of it is pinned.
#[tokio::test]
async fn a_pin_holds_for_its_unit() {
    let session = Session::new().await;
    session.say(vec![user("go"), calls(&["a"]), result("a", "1")]).await;
    let response = session.pin(3, true).await;
    assert!(response.utterance.unwrap().pinned && response.revision == 2);
    let pins: Vec<_> = session.window().await.iter().map(|utterance| utterance.pinned).collect();
    assert_eq!(pins, [false, true, true]);
    assert_eq!(session.pin(2, true).await.revision, 2, "it is pinned already");
    session.say(vec![calls(&["b"]), NewUtterance { pinned: true, ..result("b", "2") }]).await;
    assert!(session.window().await[3].pinned, "a pinned result pins its call");
    session.say(vec![NewUtterance { pinned: true, ..calls(&["c"]) }, result("c", "3")]).await;
    assert!(session.window().await[6].pinned, "what joins a pinned unit is pinned");
}

/// An unpinned utterance leaves, if the window is above a limit.
#[tokio::test]
async fn unpinning_may_evict() {
    let session = Session::new().await;
    session.create_with(Policy { max_utterances: Some(2), ..Default::default() }).await;
    session.say(vec![pinned("one"), pinned("two"), pinned("three")]).await;
    let capacity = session.capacity().await;
    assert_eq!((capacity.utterance_count, capacity.over_limit), (Some(3), Some(true)));
    let response = session.pin(1, false).await;
    assert_eq!(sequences(&response.evicted), [1]);
    assert!(!response.utterance.unwrap().pinned);
    assert_eq!(sequences_of(&session.window().await), [2, 3]);
    assert_eq!(session.capacity().await.over_limit, Some(false));
}

/// Capacity says what exceeds the limit and cannot leave.
#[tokio::test]
async fn capacity_names_the_causes() {
    use OverLimitCause::{Instructions, NewestUnit, OpenExchange, Pinned};
    let cases: [(Vec<NewUtterance>, &[OverLimitCause]); 5] = [
        (vec![user("a")], &[]),
        (vec![pinned("a"), user("b")], &[NewestUnit, Pinned]),
        (vec![system("a"), user("b")], &[NewestUnit, Instructions]),
        (vec![system("a"), pinned("b"), calls(&["c"])], &[OpenExchange, Instructions, Pinned]),
        (vec![calls(&["a"]), result("a", "b")], &[NewestUnit]),
    ];
    for (utterances, causes) in cases {
        let session = Session::new().await;
        session.create_with(Policy { max_utterances: Some(1), ..Default::default() }).await;
        session.say(utterances).await;
        let capacity = session.capacity().await;
        let causes: Vec<i32> = causes.iter().map(|cause| (*cause).into()).collect();
        assert_eq!((capacity.over_limit, capacity.over_limit_causes), (Some(!causes.is_empty()), causes));
        assert_eq!(capacity.available_utterances, Some(0));
    }
}

#[tokio::test]
async fn metadata_is_replaced_whole() {
    let session = Session::new().await;
    let noted = NewUtterance { metadata: [("a".to_owned(), "1".to_owned())].into(), ..user("hello") };
    session.say(vec![noted]).await;
    let update = |metadata, paths: &[&str], utterance_id| UpdateUtteranceRequest {
        metadata,
        utterance_id,
        pinned: true,
        update_mask: mask(paths),
        ..Default::default()
    };
    let id = session.id_of(1).await;
    let notes = || [("b".to_owned(), "2".to_owned())].into();
    let response =
        session.conversations().update_utterance(update(notes(), &["metadata"], id.clone())).await.reply();
    let utterance = response.utterance.unwrap();
    assert_eq!((utterance.metadata, utterance.pinned), (notes(), false), "only what the mask names");
    let both = update([].into(), &["metadata", "pinned"], id);
    let utterance = session.conversations().update_utterance(both).await.reply().utterance.unwrap();
    assert!(utterance.metadata.is_empty() && utterance.pinned);
    assert_eq!(session.window().await, [utterance]);
}

/// Archived utterances can be pinned and annotated too, and stay in the archive.
#[tokio::test]
async fn the_archive_can_be_changed() {
    let session = Session::new().await;
    session.say_many(21).await;
    let response = session.pin(1, true).await;
    let utterance = response.utterance.unwrap();
    assert!(utterance.pinned && utterance.position.is_none() && response.evicted.is_empty());
    assert!(session.stored().await[0].pinned);
    assert_eq!(session.capacity().await.archived_utterance_count, Some(5));
}
