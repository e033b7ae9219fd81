//! Memorize: addressing, the rolling window, and the response.

use utterd::proto::memorize_stream_response::Result as Outcome;

use crate::support::prelude::*;

#[tokio::test]
async fn a_fresh_server_takes_a_bare_utterance() {
    let session = Session::new().await;
    let response = session.say(vec![user("hi")]).await;
    assert!(response.started_conversation && !response.replayed);
    assert_eq!(response.memorized[0].sequence, 1);
    assert_eq!(response.revision, 1);
    let capacity = response.capacity.unwrap();
    assert_eq!(capacity.conversation_id, response.conversation_id);
    assert_eq!(capacity.status, i32::from(ConversationStatus::Active));
    assert_eq!(
        (capacity.utterance_count, capacity.token_count, capacity.turn_count),
        (Some(1), Some(5), Some(1))
    );
    assert_eq!((capacity.max_utterances, capacity.available_utterances), (Some(20), Some(19)));
    assert_eq!((capacity.max_tokens, capacity.available_tokens), (Some(8_000), Some(7_995)));
    assert_eq!((capacity.max_turns, capacity.over_limit), (None, Some(false)));
    assert_eq!((capacity.soft_deleted_count, capacity.archived_utterance_count), (Some(0), Some(0)));
    assert_eq!(capacity.total_token_count, Some(5));
}

/// Seed 000: adding a message returns its conversation, here when it is asked for.
#[tokio::test]
async fn the_conversation_is_returned_when_it_is_asked_for() {
    let session = Session::new().await;
    assert_eq!(session.say(vec![user("hello")]).await.conversation, None);
    let asking = MemorizeRequest {
        return_conversation: true,
        request_id: "r".to_owned(),
        ..memorize(vec![user("hello again")])
    };
    let said = session.memory().memorize(asking.clone()).await.reply();
    let returned = said.conversation.expect("it was asked for");
    let get = || GetConversationRequest::default();
    let got = session.conversations().get_conversation(get()).await.reply().conversation;
    assert_eq!(Some(&returned), got.as_ref());
    assert_eq!((returned.revision, returned.utterance_count(), returned.active), (2, 2, true));

    let messages = ["s1", "s2"].map(|id| MemorizeStreamRequest {
        memorize: Some(MemorizeRequest { request_id: id.to_owned(), ..asking.clone() }),
        ..Default::default()
    });
    let mut responses = session.memory().memorize_stream(futures::stream::iter(messages)).await.reply();
    for revision in [3, 4] {
        let response = responses.message().await.expect("a response").and_then(|response| response.result);
        let Some(Outcome::Memorized(said)) = response else { panic!("{response:?}") };
        assert_eq!(said.conversation.expect("it was asked for").revision, revision);
    }
    let again = session.memory().memorize(asking.clone()).await.reply();
    assert!(again.replayed);
    assert_eq!(again.conversation.expect("it is there").revision, 4, "as it is now");
    session.delete(&said.conversation_id).await;
    assert_eq!(session.memory().memorize(asking).await.reply().conversation, None, "it is gone");
}

/// Seed 004 asks a conversation whether it is compacted: whether a summary is in the place of a part of it.
#[tokio::test]
async fn a_conversation_says_whether_something_has_left_its_window() {
    let session = Session::new().await;
    let is_compacted = async || {
        let got = session.conversations().get_conversation(GetConversationRequest::default()).await.reply();
        let listed =
            session.conversations().list_conversations(ListConversationsRequest::default()).await.reply();
        let got = got.conversation.expect("a conversation").is_compacted;
        assert_eq!(listed.conversations[0].is_compacted, got, "a list says the same");
        got
    };
    session.say_many(20).await;
    assert!(!is_compacted().await);
    let oldest = CompactConversationRequest { count: Some(2), ..Default::default() };
    session.compactions().compact_conversation(oldest).await.reply();
    assert!(is_compacted().await);
    session.compactions().undo_compaction(UndoCompactionRequest::default()).await.reply();
    assert!(!is_compacted().await, "all of it is back");
    session.say(vec![user("the 21st")]).await;
    assert!(is_compacted().await, "an eviction counts too");
}

/// Everything that a caller can set comes back.
#[tokio::test]
async fn an_utterance_comes_back_as_it_was_given() {
    let session = Session::new().await;
    let create_time = Some(prost_types::Timestamp { seconds: 1_000_000_000, nanos: 123_456_000 });
    let given = NewUtterance {
        utterance_id: "u-1".to_owned(),
        name: "Ann".to_owned(),
        turn_number: Some(3),
        create_time,
        pinned: true,
        metadata: [("mood".to_owned(), "calm".to_owned())].into(),
        extras_json: "{\"audio\":{\"id\":7}}".to_owned(),
        extras_token_count: 11,
        ..user("hello")
    };
    let answer = NewUtterance {
        tools_used: vec!["search".to_owned()],
        awaits_answer: true,
        ..assistant("Which one?")
    };
    session.say(vec![given.clone(), answer]).await;
    let stored = session.window().await;
    let first = &stored[0];
    assert_eq!(first.utterance_id, "u-1");
    assert_eq!((first.sequence, first.position, first.turn_number), (1, Some(1), Some(3)));
    assert_eq!((&first.name, &first.content, first.role), (&given.name, &given.content, given.role));
    assert_eq!((&first.create_time, first.pinned, &first.metadata), (&create_time, true, &given.metadata));
    assert_eq!(first.extras_json, given.extras_json);
    assert_eq!(first.token_count(), 1 + 4 + 1 + 1 + 11, "content, message, name and its overhead, extras");
    assert_eq!(first.state, i32::from(UtteranceState::Live));
    assert_eq!((&stored[1].tools_used[..], stored[1].awaits_answer), (&["search".to_owned()][..], true));
    assert_eq!(stored[1].turn_number, Some(3));
    assert!(stored[1].utterance_id.ends_with("-2"), "{}", stored[1].utterance_id);
}

#[tokio::test]
async fn the_limits_are_the_servers() {
    let settings = Settings { max_batch: 2, max_content_bytes: 10, ..Settings::default() };
    let session = Session::with(&settings).await;
    let refused = session.memory().memorize(memorize(vec![user("hello"); 3])).await.refusal();
    refused.is(Code::InvalidArgument, "BATCH_TOO_LARGE").says("at most 2");
    let refused = session.memory().memorize(memorize(vec![user("hello world")])).await.refusal();
    refused.is(Code::InvalidArgument, "CONTENT_TOO_LARGE").says("have 11 bytes").limits_to(10);
    session.say(vec![user("hello"), user("0123456789")]).await;
}
