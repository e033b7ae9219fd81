//! Lists of compactions, and their events.

use tonic::{Code, Streaming};
use utterd::proto::{
    AnswerCompactionPromptRequest, CompactConversationRequest, CompactionAnswer, Event,
    ListCompactionsRequest, ListCompactionsResponse, MemorizeRequest, Operation, Policy,
    UndoCompactionRequest, WatchEventsRequest, WatchEventsResponse, watch_events_response::Message,
};

use super::{compact, keep, listed, long, notes, undo};
use crate::support::session::{Reply, Session, memorize, ranges};

/// Six compactions of four utterances each.
async fn six() -> Session {
    let session = long(60).await;
    for made in 1..=6 {
        compact(&session, keep(60 - 4 * made)).await;
    }
    session
}

fn numbers(response: &ListCompactionsResponse) -> Vec<i32> {
    response.compactions.iter().map(|made| made.compaction_number()).collect()
}

#[tokio::test]
async fn a_list_goes_from_the_newest_to_the_oldest_in_pages_of_any_size() {
    let session = six().await;
    let whole = listed(&session).await;
    for page_size in [0, 1, 2, 4, 6, 100, 1_000] {
        let mut request = ListCompactionsRequest { page_size, ..Default::default() };
        let mut all = Vec::new();
        loop {
            let page = session.compactions().list_compactions(request.clone()).await.reply();
            assert!(page_size == 0 || page.compactions.len() <= page_size as usize);
            all.extend(page.compactions);
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
        assert_eq!(all, whole);
    }
    let numbers: Vec<_> = whole.iter().map(|made| made.compaction_number()).collect();
    assert_eq!(numbers, [6, 5, 4, 3, 2, 1]);
}

#[tokio::test]
async fn what_is_compacted_between_two_pages_shifts_nothing() {
    let session = six().await;
    let request = ListCompactionsRequest { page_size: 2, ..Default::default() };
    let first = session.compactions().list_compactions(request.clone()).await.reply();
    assert_eq!(numbers(&first), [6, 5]);
    undo(&session).await;
    session.say(notes(61..=80)).await;
    compact(&session, keep(15)).await;
    let next = ListCompactionsRequest { page_token: first.next_page_token, ..request };
    assert_eq!(numbers(&session.compactions().list_compactions(next).await.reply()), [4, 3]);
}

#[tokio::test]
async fn a_token_goes_on_with_its_own_list_only() {
    let session = six().await;
    let request = ListCompactionsRequest { page_size: 2, ..Default::default() };
    let page_token = session.compactions().list_compactions(request.clone()).await.reply().next_page_token;
    for other in [
        ListCompactionsRequest {
            recipient_id: "default".to_owned(),
            page_token: page_token.clone(),
            ..request.clone()
        },
        ListCompactionsRequest { page_token: format!("{page_token}x"), ..request.clone() },
        ListCompactionsRequest { page_token: "nonsense".to_owned(), ..request.clone() },
    ] {
        let refused = session.compactions().list_compactions(other).await.refusal();
        refused.is(Code::InvalidArgument, "INVALID_PAGE_TOKEN").blames("page_token");
    }
    let negative = ListCompactionsRequest { page_size: -1, ..Default::default() };
    let refused = session.compactions().list_compactions(negative).await.refusal();
    refused.is(Code::InvalidArgument, "INVALID_FIELD").blames("page_size");
    let larger = ListCompactionsRequest { page_size: 3, page_token, ..request };
    assert_eq!(numbers(&session.compactions().list_compactions(larger).await.reply()), [4, 3, 2]);
}

/// The next event, already queued or not.
async fn next(events: &mut Streaming<WatchEventsResponse>) -> Event {
    loop {
        let response = events.message().await.unwrap().expect("the stream goes on");
        if let Some(Message::Event(event)) = response.message {
            return event;
        }
    }
}

#[tokio::test]
async fn every_call_is_an_event() {
    let session = long(60).await;
    let mut events = session.trace().watch_events(WatchEventsRequest::default()).await.reply();
    events.message().await.unwrap().expect("it starts");
    let answering = |answer: CompactionAnswer, request_id: &str| AnswerCompactionPromptRequest {
        answer: answer.into(),
        request_id: request_id.to_owned(),
        ..Default::default()
    };
    let revision = session.capacity().await.revision;
    assert_eq!(next(&mut events).await.operation(), Operation::GetCapacity);

    let not_now = answering(CompactionAnswer::NotNow, "no");
    session.compactions().answer_compaction_prompt(not_now).await.reply();
    let event = next(&mut events).await;
    assert_eq!(event.operation(), Operation::AnswerCompactionPrompt);
    assert_eq!((event.revision, event.request_id.as_str()), (Some(revision + 1), "no"));
    assert_eq!(event.compaction_number, None);

    compact(&session, keep(45)).await;
    let event = next(&mut events).await;
    assert_eq!(event.operation(), Operation::CompactConversation);
    assert_eq!((event.revision, event.compaction_number), (Some(revision + 2), Some(1)));
    assert_eq!((ranges(&event.evicted), ranges(&event.returned)), (vec![(1, 15)], vec![]));
    assert!(!event.written_segment_numbers.is_empty());
    let written = event.written_segment_numbers;

    let now = answering(CompactionAnswer::CompactNow, "yes");
    session.compactions().answer_compaction_prompt(now).await.reply();
    let event = next(&mut events).await;
    assert_eq!(event.operation(), Operation::CompactConversation);
    assert_eq!((event.compaction_number, ranges(&event.evicted)), (Some(2), vec![(16, 45)]));

    undo(&session).await;
    let event = next(&mut events).await;
    assert_eq!((event.operation(), event.compaction_number), (Operation::UndoCompaction, Some(2)));
    assert_eq!((ranges(&event.evicted), ranges(&event.returned)), (vec![], vec![(16, 45)]));
    undo(&session).await;
    let event = next(&mut events).await;
    assert_eq!((ranges(&event.returned), event.compaction_number), (vec![(1, 15)], Some(1)));
    assert!(written.iter().all(|number| event.removed_segment_numbers.contains(number)), "{event:?}");

    assert_eq!(listed(&session).await.len(), 2);
    let event = next(&mut events).await;
    assert_eq!((event.operation(), event.result_count), (Operation::ListCompactions, Some(2)));
    assert_eq!(event.revision, None);

    // a preview and a refusal are not events
    let preview = CompactConversationRequest { preview: true, ..keep(15) };
    compact(&session, preview).await;
    session.compactions().undo_compaction(UndoCompactionRequest::default()).await.refusal();
    let never = answering(CompactionAnswer::NeverThisSession, "");
    session.compactions().answer_compaction_prompt(never).await.reply();
    let event = next(&mut events).await;
    assert_eq!((event.operation(), event.revision), (Operation::AnswerCompactionPrompt, None));
}

/// An event names a compaction only if one was made, not if one lost a part of what it compacted.
#[tokio::test]
async fn an_event_names_the_compaction_that_was_made() {
    let session = Session::new().await;
    session.say(notes(1..=3)).await;
    let one = Policy { max_utterances: Some(1), summarization_enabled: Some(false), ..Default::default() };
    let mut events = session.trace().watch_events(WatchEventsRequest::default()).await.reply();
    events.message().await.unwrap().expect("it starts");
    session.update_policy(one).await;
    let event = next(&mut events).await;
    assert_eq!((ranges(&event.evicted), event.compaction_number), (vec![(1, 2)], Some(1)));
    let instead = |after| MemorizeRequest { replace_after: Some(after), ..memorize(notes(4..=5)) };
    session.memory().memorize(instead(1)).await.reply();
    let event = next(&mut events).await;
    assert_eq!((ranges(&event.erased), ranges(&event.evicted)), (vec![(2, 3)], vec![(4, 4)]));
    assert_eq!(event.compaction_number, None);
}
