//! WatchEvents: what happened, in order, from a cursor.

use tonic::Streaming;
use utterd::proto::watch_events_response::Message;

use crate::support::prelude::*;

type Events = Streaming<WatchEventsResponse>;

async fn next(events: &mut Events) -> Message {
    events.message().await.unwrap().expect("the stream goes on").message.unwrap()
}

async fn event(events: &mut Events) -> Event {
    match next(events).await {
        Message::Event(event) => event,
        other => panic!("no event: {other:?}"),
    }
}

/// A stream that has started, and the cursor it started after.
async fn watch(session: &Session, request: WatchEventsRequest) -> (Events, String) {
    let mut events = session.trace().watch_events(request).await.reply();
    let Message::Started(started) = next(&mut events).await else { panic!("it has not started") };
    (events, started.event_id)
}

fn after(event: &str) -> WatchEventsRequest {
    WatchEventsRequest { after_event: event.to_owned(), ..Default::default() }
}

on_each_store! {
    every_operation_is_an_event
    a_stream_goes_on_behind_a_cursor
}

/// Every operation is one event, including reads, in the order in which it took effect.
#[tokio::test]
async fn every_operation_is_an_event() {
    use Operation as O;
    let session = Session::new().await;
    let (mut events, _) = watch(&session, WatchEventsRequest::default()).await;
    let create = CreateConversationRequest { request_id: "r".to_owned(), ..Default::default() };
    session.conversations().create_conversation(create).await.reply();
    session.say_many(21).await;
    session.forget("sequence:1", ForgetMode::Soft).await;
    let utterance_ids = vec![session.id_of(1).await];
    session.memory().restore(RestoreRequest { utterance_ids, ..Default::default() }).await.reply();
    session.forget("sequence:2-3", ForgetMode::Hard).await;
    session
        .memory()
        .remember(RememberRequest { prompt: "message".to_owned(), ..Default::default() })
        .await
        .reply();
    session.memory().summarize(SummarizeRequest::default()).await.reply();
    session.capacity().await;
    session.conversations().get_conversation(GetConversationRequest::default()).await.reply();
    session.conversations().list_conversations(ListConversationsRequest::default()).await.reply();
    session.summary().await;
    session.update_policy(utterd::proto::Policy::default()).await;
    session.pin(20, true).await;
    session
        .context()
        .count_tokens(CountTokensRequest { texts: vec!["a".to_owned()], ..Default::default() })
        .await
        .reply();
    let mut seen = Vec::new();
    while seen.last().is_none_or(|last: &Event| last.operation() != O::CountTokens) {
        seen.push(event(&mut events).await);
    }
    let mut expected = vec![O::CreateConversation];
    expected.extend([O::Memorize; 21]);
    expected.extend([O::Forget, O::ListUtterances, O::Restore, O::Erase, O::Remember, O::Summarize]);
    expected.extend([O::GetCapacity, O::GetConversation, O::ListConversations, O::GetSummary]);
    expected.extend([O::UpdateConversation, O::ListUtterances, O::UpdateUtterance, O::CountTokens]);
    assert_eq!(seen.iter().map(Event::operation).collect::<Vec<_>>(), expected);

    assert_eq!((seen[0].started_conversation, seen[0].request_id.as_str()), (true, "r"));
    assert!(seen.iter().all(|event| event.operation() == O::CountTokens || event.recipient_id == "default"));
    let last = &seen[21];
    assert_eq!((ranges(&last.memorized), ranges(&last.evicted)), (vec![(21, 21)], vec![(1, 5)]));
    assert_eq!((last.revision, &last.written_segment_numbers), (Some(22), &vec![1]));
    assert_eq!(ranges(&seen[22].forgotten), [(1, 1)]);
    assert_eq!((seen[23].revision, seen[23].result_count), (None, Some(21)), "a read changes nothing");
    assert_eq!(ranges(&seen[24].restored), [(1, 1)]);
    assert_eq!((ranges(&seen[25].erased), seen[25].removed_segment_numbers.len()), (vec![(2, 3)], 1));
    assert_eq!(seen[26].result_count, Some(10));
    assert_eq!(ranges(&seen[seen.len() - 2].updated), [(20, 20)]);
    assert!(!format!("{seen:?}").contains("message"), "events hold no text");
}

/// What is refused, replayed or rehearsed is not an event.
#[tokio::test]
async fn what_changes_nothing_is_no_event() {
    let session = Session::new().await;
    let request = MemorizeRequest { request_id: "r".to_owned(), ..memorize(vec![user("hello")]) };
    session.memory().memorize(request.clone()).await.reply();
    let before = session.cursor();
    session.memory().memorize(request).await.reply();
    session.memory().memorize(memorize(vec![user("")])).await.refusal();
    session.forget("about:Paris", ForgetMode::Hard).await;
    assert_eq!(session.cursor(), before);
}

#[tokio::test]
async fn a_stream_goes_on_behind_a_cursor() {
    let session = Session::new().await;
    let (mut events, start) = watch(&session, WatchEventsRequest::default()).await;
    session.say_many(10).await;
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(event(&mut events).await.event_id);
    }
    drop(events);
    for (place, cursor) in [(0, &start), (4, &ids[3]), (10, &ids[9])] {
        let (mut events, started) = watch(&session, after(cursor)).await;
        assert_eq!(&started, cursor);
        for id in &ids[place..] {
            assert_eq!(&event(&mut events).await.event_id, id);
        }
    }
    let (mut events, _) = watch(&session, after(&ids[9])).await;
    session.say(vec![user("next")]).await;
    assert_eq!(ranges(&event(&mut events).await.memorized), [(11, 11)]);
}

#[tokio::test]
async fn filters_select_events() {
    let session = Session::new().await;
    let to = |conversation: &str, recipient: &str| MemorizeRequest {
        conversation_id: conversation.to_owned(),
        recipient_id: recipient.to_owned(),
        ..memorize(vec![user("hello")])
    };
    let (_events, start) = watch(&session, WatchEventsRequest::default()).await;
    for (conversation, recipient) in [("a", "ann"), ("b", "ann"), ("c", "bob"), ("a", "ann")] {
        session.memory().memorize(to(conversation, recipient)).await.reply();
    }
    let list = ListConversationsRequest { recipient_id: "ann".to_owned(), ..Default::default() };
    session.conversations().list_conversations(list).await.reply();
    session.memory().memorize(to("z", "ann")).await.reply();
    session.memory().memorize(to("z", "ann")).await.reply();
    let base = || after(&start);
    let memorize_only = vec![Operation::Memorize.into()];
    let cases: [(WatchEventsRequest, &[&str]); 4] = [
        (WatchEventsRequest { conversation_id: "a".to_owned(), ..base() }, &["a", "a"]),
        (WatchEventsRequest { recipient_id: "ann".to_owned(), ..base() }, &["a", "b", "a", "", "z", "z"]),
        (
            WatchEventsRequest { recipient_id: "ann".to_owned(), operations: memorize_only, ..base() },
            &["a", "b", "a", "z", "z"],
        ),
        (WatchEventsRequest { operations: vec![Operation::ListConversations.into()], ..base() }, &[""]),
    ];
    for (request, expected) in cases {
        let (mut events, _) = watch(&session, request).await;
        for conversation in expected {
            assert_eq!(&event(&mut events).await.conversation_id, conversation);
        }
    }
}

fn small() -> Settings {
    Settings { event_capacity: 8, ..Settings::default() }
}

#[tokio::test]
async fn a_cursor_too_old_is_refused() {
    let session = Session::with(&small()).await;
    let (_events, start) = watch(&session, WatchEventsRequest::default()).await;
    session.say_many(8).await;
    watch(&session, after(&start)).await;
    session.say_many(1).await;
    let refused =
        session.trace().watch_events(after(&start)).await.map(|_| tonic::Response::new(())).refusal();
    refused.is(Code::OutOfRange, "EVENTS_NOT_KEPT").blames("after_event").says("no longer kept");
}

#[tokio::test]
async fn a_cursor_of_another_run_is_refused() {
    let session = Session::new().await;
    session.say_many(3).await;
    let cursor = session.cursor();
    let (run, _) = cursor.rsplit_once('-').unwrap();
    let foreign = "01ARZ3NDEKTSV4RRFFQ69G5FAV-1";
    let ahead = format!("{run}-9");
    for (cursor, says) in [(foreign, "another run"), (ahead.as_str(), "ahead of the newest")] {
        let refused =
            session.trace().watch_events(after(cursor)).await.map(|_| tonic::Response::new(())).refusal();
        refused.is(Code::OutOfRange, "EVENTS_NOT_KEPT").blames("after_event").says(says);
    }
}

/// A slow reader is told how much it missed, and continues after that.
#[tokio::test]
async fn a_slow_reader_is_told_what_it_missed() {
    let session = Session::with(&small()).await;
    let engine = session.server.engine();
    let caller = utterd::engine::Caller::default();
    let mut events = engine.watch_events(&caller, None).await.unwrap();
    session.say_many(20).await;
    let Ok(utterd::engine::Watched::Missed(count, cursor)) = events.next().await else {
        panic!("nothing was missed")
    };
    assert_eq!(count, 12);
    for number in 13..=20 {
        let Ok(utterd::engine::Watched::Event(event, _)) = events.next().await else { panic!("no event") };
        assert_eq!(event.number, number);
    }
    let (mut wire, _) = watch(&session, after(&cursor.to_string())).await;
    assert_eq!(
        ranges(&event(&mut wire).await.memorized),
        [(13, 13)],
        "the cursor stands before what is kept"
    );
}

/// Over the wire: all events are either seen or counted as missed, in order.
#[tokio::test]
async fn what_is_missed_is_counted_on_the_wire() {
    const SAID: i64 = 6_000;
    let session = Session::with(&small()).await;
    let (mut events, _) = watch(&session, WatchEventsRequest::default()).await;
    // no more at a time than a busy server admits
    const AT_ONCE: i64 = 50;
    for _ in 0..SAID / AT_ONCE {
        let calls = (0..AT_ONCE).map(|_| {
            let mut memory = session.memory();
            async move { memory.memorize(memorize(vec![user("hello")])).await.reply() }
        });
        futures::future::join_all(calls).await;
    }
    let (mut seen, mut missed) = (0, 0);
    while seen + missed < SAID {
        match next(&mut events).await {
            Message::Event(event) => {
                seen += 1;
                assert_eq!(ranges(&event.memorized), [(seen + missed, seen + missed)]);
            }
            Message::Missed(lost) => {
                missed += i64::from(lost.count());
                assert!(lost.last_event_id.ends_with(&format!("-{}", seen + missed)));
            }
            Message::Started(_) => panic!("it has started already"),
        }
    }
    assert!(seen >= 8);
}
