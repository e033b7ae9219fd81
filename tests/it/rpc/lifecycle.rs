//! Conversations that end: on request, when idle, and when too many have ended.

use std::time::Duration;

use tonic::Code;
use utterd::{
    config::Settings,
    proto::{
        Conversation, ConversationStatus, ConversationView, CreateConversationRequest,
        EndConversationRequest, GetConversationRequest, ListConversationsRequest, ListUtterancesRequest,
        MemorizeRequest, MemorizeStreamRequest, NewUtterance, Operation, Policy, WatchEventsRequest,
        memorize_stream_response, watch_events_response::Message,
    },
};

use crate::support::session::{Reply, Session, assistant, calls, memorize, result, user};

const MINUTE: Duration = Duration::from_secs(60);

fn idle() -> Duration {
    30 * MINUTE
}

fn end(reason: &str) -> EndConversationRequest {
    EndConversationRequest { reason: reason.to_owned(), ..Default::default() }
}

fn to(conversation: &str, utterances: Vec<NewUtterance>) -> MemorizeRequest {
    MemorizeRequest { conversation_id: conversation.to_owned(), ..memorize(utterances) }
}

async fn get(session: &Session, id: &str) -> Conversation {
    let request = GetConversationRequest {
        conversation_id: id.to_owned(),
        view: ConversationView::Full.into(),
        ..Default::default()
    };
    session.conversations().get_conversation(request).await.reply().conversation.expect("a conversation")
}

async fn list(session: &Session, status: ConversationStatus) -> Vec<Conversation> {
    let request = ListConversationsRequest { status: status.into(), page_size: 1_000, ..Default::default() };
    session.conversations().list_conversations(request).await.reply().conversations
}

on_each_store! {
    the_next_message_ends_a_conversation_that_was_left
    calls_at_once_start_one_conversation
    the_trace_tells_of_both_ends
    so_many_ended_conversations_are_kept
}

#[tokio::test]
async fn an_ended_conversation_gets_a_title_and_a_summary() {
    let session = Session::new().await;
    let said = vec![
        user("Please create a note about today's meeting with the budget committee."),
        assistant("I've created 'Meeting Notes.md' in your Journal folder."),
    ];
    let id = session.say(said).await.conversation_id;
    session.clock.advance(MINUTE);
    let ended = session.conversations().end_conversation(end("task completed")).await.reply();
    assert!(!ended.replayed);
    let conversation = ended.conversation.expect("a conversation");
    assert_eq!((conversation.conversation_id.as_str(), conversation.active), (id.as_str(), false));
    assert_eq!(conversation.status(), ConversationStatus::Closed);
    assert_eq!(conversation.ended_reason, "task completed");
    assert_eq!(conversation.end_time, conversation.update_time);
    let words = conversation.title.split_whitespace().count();
    assert!((5..=8).contains(&words), "{:?}", conversation.title);
    assert!(conversation.title.contains("note about"), "{:?}", conversation.title);
    assert!(conversation.closing_summary.contains("Meeting Notes.md"), "{:?}", conversation.closing_summary);
    let all = ListUtterancesRequest { conversation_id: id, include_archive: true, ..Default::default() };
    assert_eq!(session.list(all).await.len(), 2, "what was said can still be read");
}

#[tokio::test]
async fn nothing_is_said_in_a_conversation_that_has_ended() {
    let session = Session::new().await;
    let id = session.say(vec![user("hello")]).await.conversation_id;
    session.conversations().end_conversation(end("")).await.reply();

    let refused = session.memory().memorize(to(&id, vec![user("more")])).await.refusal();
    refused.is(Code::FailedPrecondition, "CONVERSATION_CLOSED");
    let again = EndConversationRequest { conversation_id: id.clone(), ..end("") };
    let refused = session.conversations().end_conversation(again).await.refusal();
    refused.is(Code::FailedPrecondition, "CONVERSATION_CLOSED");
    let refused = session.conversations().end_conversation(end("")).await.refusal();
    refused.is(Code::NotFound, "CONVERSATION_NOT_FOUND");

    let next = session.say(vec![user("hello again")]).await;
    assert!(next.started_conversation && next.conversation_id != id);
    assert_eq!(next.ended_conversation_id, "", "it had ended before");
}

#[tokio::test]
async fn the_next_message_ends_a_conversation_that_was_left() {
    let session = Session::new().await;
    session.create_with(Policy { max_utterances: Some(7), ..Default::default() }).await;
    let first = session.say(vec![user("Book me a flight to Oslo, please."), assistant("Booked.")]).await;
    session.clock.advance(idle() - Duration::from_micros(1));
    let same = session.say(vec![user("and a hotel")]).await;
    assert_eq!(same.conversation_id, first.conversation_id, "the timeout starts anew with each message");

    session.clock.advance(idle());
    let next = session.say(vec![user("What's the weather?")]).await;
    assert!(next.started_conversation);
    assert_eq!(next.revision, 1);
    assert_eq!(next.ended_conversation_id, first.conversation_id);
    assert_eq!(next.capacity.expect("a capacity").max_utterances, Some(7), "the policy goes on");
    let ended = get(&session, &first.conversation_id).await;
    assert_eq!((ended.status(), ended.active), (ConversationStatus::Closed, false));
    assert_eq!(ended.ended_reason, "idle timeout");
    assert!(!ended.title.is_empty() && !ended.closing_summary.is_empty());
    let active = get(&session, &next.conversation_id).await;
    assert!(active.active);
    let closed = list(&session, ConversationStatus::Closed).await;
    assert_eq!(closed, [ended], "a list tells all but what was said");
}

#[tokio::test]
async fn what_is_named_is_not_left() {
    let session = Session::new().await;
    let id = session.say(vec![user("hello")]).await.conversation_id;
    session.clock.advance(10 * idle());
    let same = session.memory().memorize(to(&id, vec![user("back")])).await.reply();
    assert_eq!((same.conversation_id, same.ended_conversation_id), (id, String::new()));
}

/// Idle is what nobody has added to for a while, whatever times were given; and only the recipient's next
/// message ends it.
#[tokio::test]
async fn idleness_counts_from_the_arrival_of_a_message() {
    let session = Session::new().await;
    let old = Some(prost_types::Timestamp { seconds: 1_000, nanos: 0 });
    let said = session.say(vec![NewUtterance { create_time: old, ..user("said in 1970, stored now") }]).await;
    let id = said.conversation_id;
    session.clock.advance(idle() - Duration::from_micros(1));
    assert_eq!(get(&session, &id).await.status(), ConversationStatus::Active);
    session.clock.advance(Duration::from_micros(1));
    let left = get(&session, &id).await;
    assert_eq!((left.status(), left.active), (ConversationStatus::Idle, true), "nothing has ended it");
    session.clock.advance(100 * idle());
    assert_eq!(session.server.engine().sweep().await, Ok(0));
    assert_eq!(get(&session, &id).await.status(), ConversationStatus::Idle);
    assert_eq!(session.say(vec![user("next")]).await.ended_conversation_id, id);
}

/// The status tells whether something was said lately, and not whose turn a recipient's message is.
#[tokio::test]
async fn a_conversation_can_be_in_use_without_being_its_recipients_active_one() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    session.memory().memorize(to("beside", vec![user("hello")])).await.reply();
    let beside = get(&session, "beside").await;
    assert_eq!((beside.status(), beside.active), (ConversationStatus::Active, false));
}

#[tokio::test]
async fn nothing_is_written_about_a_conversation_without_summaries() {
    let session = Session::new().await;
    session.create_with(Policy { summarization_enabled: Some(false), ..Default::default() }).await;
    session.say(vec![user("Book me a flight to Oslo on May 3, please."), assistant("Booked: QX7P2M.")]).await;
    let ended = session.conversations().end_conversation(end("")).await.reply().conversation.expect("one");
    assert_eq!((ended.title.as_str(), ended.closing_summary.as_str()), ("", ""));
    let title = |title: &str| utterd::proto::UpdateConversationRequest {
        conversation_id: ended.conversation_id.clone(),
        title: title.to_owned(),
        update_mask: crate::support::session::mask(&["title"]),
        ..Default::default()
    };
    for given in ["My own", ""] {
        session.conversations().update_conversation(title(given)).await.reply();
        assert_eq!(get(&session, &ended.conversation_id).await.title, given);
    }
    let forget = utterd::proto::ForgetRequest {
        conversation_id: ended.conversation_id.clone(),
        ..crate::support::session::forget("sequence:2", utterd::proto::ForgetMode::Hard)
    };
    session.memory().forget(forget).await.reply();
    let after = get(&session, &ended.conversation_id).await;
    assert_eq!((after.title.as_str(), after.closing_summary.as_str()), ("", ""));
}

#[tokio::test]
async fn an_empty_conversation_is_not_left() {
    let session = Session::new().await;
    let create = CreateConversationRequest { conversation_id: "trip".to_owned(), ..Default::default() };
    session.conversations().create_conversation(create).await.reply();
    session.clock.advance(10 * idle());
    assert_eq!(session.say(vec![user("hello")]).await.conversation_id, "trip");
}

/// An awaited answer belongs to the conversation of its question, until that is stale.
#[tokio::test]
async fn an_awaited_answer_goes_to_its_question() {
    let session = Session::new().await;
    let question = NewUtterance { awaits_answer: true, ..assistant("Which one?") };
    let id = session.say(vec![user("a flight"), question.clone()]).await.conversation_id;
    session.clock.advance(45 * MINUTE);
    assert_eq!(session.say(vec![user("the first"), question]).await.conversation_id, id);
    session.clock.advance(60 * MINUTE);
    assert_eq!(session.say(vec![user("hello")]).await.ended_conversation_id, id);
}

/// A slow tool answers the call that waits for it.
#[tokio::test]
async fn a_late_result_goes_to_its_call() {
    let session = Session::new().await;
    let id = session.say(vec![user("look it up"), calls(&["c1"])]).await.conversation_id;
    session.clock.advance(2 * idle());
    let same = session.say(vec![result("c1", "42"), assistant("Found.")]).await;
    assert_eq!(same.conversation_id, id);
    session.clock.advance(2 * idle());
    let orphan = session.memory().memorize(memorize(vec![result("c1", "42")])).await.refusal();
    orphan.is(Code::FailedPrecondition, "NO_OPEN_CALL");
    assert!(get(&session, &id).await.active, "nothing has ended");
}

#[tokio::test]
async fn a_retry_after_the_rollover_replays() {
    let session = Session::new().await;
    let id = session.say(vec![user("hello")]).await.conversation_id;
    session.clock.advance(idle());
    let request = MemorizeRequest { request_id: "r1".to_owned(), ..memorize(vec![user("back")]) };
    let first = session.memory().memorize(request.clone()).await.reply();
    assert_eq!(first.ended_conversation_id, id);
    session.clock.advance(idle());
    let again = session.memory().memorize(request).await.reply();
    assert!(again.replayed);
    assert_eq!(again.conversation_id, first.conversation_id);
    assert_eq!(again.ended_conversation_id, id);
    assert!(again.started_conversation);
    assert_eq!(list(&session, ConversationStatus::Unspecified).await.len(), 2);
}

#[tokio::test]
async fn an_ending_is_replayed() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let request = EndConversationRequest { request_id: "e1".to_owned(), ..end("done") };
    let first = session.conversations().end_conversation(request.clone()).await.reply();
    session.say(vec![user("the next one")]).await;
    let again = session.conversations().end_conversation(request).await.reply();
    assert!(again.replayed);
    let id = |response: utterd::proto::EndConversationResponse| {
        response.conversation.expect("a conversation").conversation_id
    };
    assert_eq!(id(again), id(first));
}

/// However many callers find the conversation idle at the same time, one ends it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_once_start_one_conversation() {
    let session = Session::new().await;
    for round in 0..20 {
        let before = session.say(vec![user("hello")]).await.conversation_id;
        session.clock.advance(idle());
        let calls = (0..16).map(|number| {
            let mut memory = session.memory();
            tokio::spawn(async move {
                memory.memorize(memorize(vec![user(&format!("message {number}"))])).await.reply()
            })
        });
        let mut ids = std::collections::BTreeSet::new();
        let (mut started, mut ended) = (0, 0);
        for call in calls.collect::<Vec<_>>() {
            let response = call.await.expect("the call ends");
            started += usize::from(response.started_conversation);
            ended += usize::from(response.ended_conversation_id == before);
            ids.insert(response.conversation_id);
        }
        assert_eq!((ids.len(), started, ended), (1, 1, 1), "round {round}");
        assert_eq!(session.window().await.len(), 16);
        session.conversations().end_conversation(end("")).await.reply();
    }
}

#[tokio::test]
async fn a_stream_goes_on_in_the_next_conversation() {
    let session = Session::new().await;
    let before = session.say(vec![user("hello")]).await.conversation_id;
    session.clock.advance(idle());
    let messages = (1..=50).map(|number| MemorizeStreamRequest {
        memorize: Some(memorize(vec![user(&format!("message {number}"))])),
        ..Default::default()
    });
    let mut responses =
        session.memory().memorize_stream(futures::stream::iter(messages.collect::<Vec<_>>())).await.reply();
    let mut next = None;
    for number in 1..=50 {
        let response = responses.message().await.expect("a response").expect("one for each").result;
        let Some(memorize_stream_response::Result::Memorized(response)) = response else {
            panic!("{response:?}")
        };
        assert_eq!(response.started_conversation, number == 1);
        assert_eq!(response.ended_conversation_id == before, number == 1);
        assert_eq!(response.revision, number);
        assert_eq!(*next.get_or_insert(response.conversation_id.clone()), response.conversation_id);
    }
}

#[tokio::test]
async fn the_trace_tells_of_both_ends() {
    let session = Session::new().await;
    let first = session.say(vec![user("hello")]).await.conversation_id;
    session.clock.advance(idle());
    let mut events = session.trace().watch_events(WatchEventsRequest::default()).await.reply();
    assert!(matches!(events.message().await.unwrap().unwrap().message, Some(Message::Started(_))));
    let second = session.say(vec![user("back")]).await.conversation_id;
    let expected = [(Operation::EndConversation, first, 2), (Operation::Memorize, second, 1)];
    for (operation, conversation, revision) in expected {
        let Some(Message::Event(event)) = events.message().await.unwrap().unwrap().message else {
            panic!("no event")
        };
        assert_eq!((event.operation(), event.conversation_id.clone()), (operation, conversation));
        assert_eq!(event.revision, Some(revision));
    }
}

#[tokio::test]
async fn so_many_ended_conversations_are_kept() {
    let settings = Settings { max_conversations_retained: 3, ..Settings::default() };
    let session = Session::with(&settings).await;
    let mut ids = Vec::new();
    for number in 1..=6 {
        let response = session.say(vec![user(&format!("topic {number}"))]).await;
        ids.push(response.conversation_id);
        session.clock.advance(idle());
    }
    assert_eq!(session.server.engine().sweep().await, Ok(3));
    let listed = list(&session, ConversationStatus::Unspecified).await;
    let listed: Vec<_> = listed.iter().rev().map(|listed| listed.conversation_id.clone()).collect();
    assert_eq!(listed, ids[3..6], "the first three of five are gone, and the sixth is active");
    let gone = GetConversationRequest { conversation_id: ids[0].clone(), ..Default::default() };
    session
        .conversations()
        .get_conversation(gone)
        .await
        .refusal()
        .is(Code::NotFound, "CONVERSATION_NOT_FOUND");
    session.conversations().end_conversation(end("")).await.reply();
    assert_eq!(session.server.engine().sweep().await, Ok(0), "none is active now");
    assert_eq!(list(&session, ConversationStatus::Closed).await.len(), 3);
    session.say(vec![user("topic 7")]).await;
    assert_eq!(session.server.engine().sweep().await, Ok(1));
    assert_eq!(list(&session, ConversationStatus::Unspecified).await.len(), 3);
}

/// What is hard-forgotten is also removed from the title and the closing summary.
#[tokio::test]
async fn a_title_forgets_too() {
    let session = Session::new().await;
    let said = vec![
        user("Please send the parcel to Roswitha Quandt in Hamburg tomorrow."),
        assistant("The parcel to Roswitha Quandt is on its way."),
        user("And remind me to water the garden in the evening."),
    ];
    let id = session.say(said).await.conversation_id;
    session.conversations().end_conversation(end("")).await.reply();
    let before = get(&session, &id).await;
    assert!(format!("{} {}", before.title, before.closing_summary).contains("Roswitha"), "{before:?}");
    let forget = utterd::proto::ForgetRequest {
        conversation_id: id.clone(),
        ..crate::support::session::forget("about:Roswitha", utterd::proto::ForgetMode::Hard)
    };
    session.memory().forget(forget).await.reply();
    let after = get(&session, &id).await;
    assert!(!format!("{after:?}").contains("Roswitha"), "{after:?}");
    assert!(after.title.contains("garden"), "{:?}", after.title);
}

#[tokio::test]
async fn a_reason_is_checked() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    for reason in ["x".repeat(513), "a\nb".to_owned()] {
        let refused = session.conversations().end_conversation(end(&reason)).await.refusal();
        refused.is(Code::InvalidArgument, "INVALID_FIELD");
    }
}
