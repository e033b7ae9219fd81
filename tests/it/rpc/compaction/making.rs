//! What a compaction does and returns, and what a preview does not do.

use std::time::Duration;

use tonic::Code;
use utterd::proto::{
    AnswerCompactionPromptRequest, Capacity, CompactConversationRequest, Compaction, CompactionAnswer,
    CompactionCause, CreateConversationRequest, EndConversationRequest, ListCompactionsRequest,
    ListUtterancesRequest, MemorizeRequest, Policy, PolicyPreset, SummaryMethod, UndoCompactionRequest,
    UtteranceState,
};

use super::{compact, keep, listed, long, notes};
use crate::support::{
    refusal::Refused,
    session::{Reply, Session, memorize, ranges},
};

#[tokio::test]
async fn a_compaction_tells_what_it_did() {
    let session = long(40).await;
    let (before, window) = (session.capacity().await, session.window().await);
    session.clock.advance(Duration::from_secs(90));
    let response = compact(&session, CompactConversationRequest::default()).await;
    let made = response.compaction.unwrap();
    assert_eq!((made.compaction_number(), made.cause()), (1, CompactionCause::Asked));
    assert_eq!(made.time.unwrap().seconds, 1_772_366_490, "noon of 1 March 2026, and 90 seconds");
    assert_eq!(ranges(&made.compacted), [(1, 25)]);
    assert_eq!((made.compacted_utterance_count, made.kept_utterance_count), (Some(25), Some(15)));
    let left: i32 = window[..25].iter().map(|utterance| utterance.token_count()).sum();
    assert_eq!(made.source_token_count, Some(left));

    let after = session.capacity().await;
    assert_eq!(
        (made.token_count_before, made.token_count_after),
        (before.total_token_count, after.total_token_count)
    );
    let ratio = 1.0 - f64::from(after.total_token_count()) / f64::from(before.total_token_count());
    assert!((made.compression_ratio() - ratio).abs() < 1e-9 && ratio > 0.3, "{ratio}");
    assert_eq!((made.method(), made.model.as_str()), (SummaryMethod::Extractive, ""));
    assert!(made.undoable && made.undo_time.is_none());

    assert_eq!((response.revision, response.replayed), (before.revision + 1, false));
    assert_eq!(response.capacity, Some(after));
    assert_eq!(response.summary, session.summary().await.text);
}

/// What stays is unchanged, and what left is stored.
#[tokio::test]
async fn the_last_utterances_stay_untouched() {
    let session = long(40).await;
    let before = session.window().await;
    compact(&session, keep(20)).await;
    let after = session.window().await;
    assert_eq!(after.len(), 20);
    for (is, was) in after.iter().zip(&before[20..]) {
        assert_eq!((&is.utterance_id, &is.content), (&was.utterance_id, &was.content));
        assert_eq!((is.token_count, is.position), (was.token_count, was.position.map(|old| old - 20)));
    }
    let archive = ListUtterancesRequest { include_archive: true, ..Default::default() };
    let all = session.list(archive).await;
    assert_eq!(all.len(), 40);
    assert!(all[..20].iter().all(|utterance| utterance.state() == UtteranceState::Evicted));
}

#[tokio::test]
async fn a_preview_changes_nothing_and_tells_what_would_be() {
    let session = long(40).await;
    let (capacity, window, cursor) = (session.capacity().await, session.window().await, session.cursor());
    let request = CompactConversationRequest { request_id: "r".to_owned(), ..keep(18) };
    let preview = compact(&session, CompactConversationRequest { preview: true, ..request.clone() }).await;
    assert_eq!(session.cursor(), cursor, "nothing happened");
    assert_eq!((session.capacity().await, session.window().await), (capacity.clone(), window));
    assert_eq!((session.summary().await.text.as_str(), listed(&session).await.len()), ("", 0));
    assert_eq!((preview.revision, preview.replayed), (capacity.revision, false));

    let made = compact(&session, request).await;
    assert!(!made.replayed, "a preview keeps no outcome");
    assert_eq!(preview.summary, made.summary);
    let (shown, done) = (preview.compaction.unwrap(), made.compaction.unwrap());
    assert_eq!((shown.compaction_number, shown.undoable), (None, false));
    assert_eq!(Compaction { compaction_number: Some(1), undoable: true, ..shown }, done);
    let shown = Capacity { revision: made.revision, ..preview.capacity.unwrap() };
    assert_eq!(Some(shown), made.capacity);
}

/// A server without any setting has rolling windows, which never hold 30: what left them counts too.
#[tokio::test]
async fn a_rolling_window_is_folded_and_then_nothing_is_left() {
    let session = Session::new().await;
    session.say(notes(1..=29)).await;
    let short = session.compactions().compact_conversation(keep(15)).await.refusal();
    short.is(Code::FailedPrecondition, "TOO_SHORT_TO_COMPACT").says("it stores 29 that were not compacted");
    for number in 30..=60 {
        session.say(notes(number..=number)).await;
    }
    let before = session.window().await;
    let preview = CompactConversationRequest { preview: true, ..CompactConversationRequest::default() };
    assert!(!compact(&session, preview.clone()).await.nothing_to_compact);

    let request = CompactConversationRequest { request_id: "r".to_owned(), ..Default::default() };
    let response = compact(&session, request.clone()).await;
    assert!(!response.nothing_to_compact);
    let made = response.compaction.unwrap();
    assert_eq!(made.kept_utterance_count(), 15);
    assert_eq!(made.compacted_utterance_count() as usize, before.len() - 15);
    let capacity = response.capacity.unwrap();
    assert_eq!(capacity.utterance_count(), 15);
    assert_eq!(capacity.summary.unwrap().covered_utterance_count(), 45, "all that is behind the window");
    assert_eq!(session.window().await.len(), 15);

    for again in [preview, CompactConversationRequest { request_id: "s".to_owned(), ..Default::default() }] {
        let response = compact(&session, again).await;
        assert!(response.nothing_to_compact && response.compaction.is_none(), "{response:?}");
        assert_eq!(
            (response.revision, &response.summary),
            (capacity.revision, &session.summary().await.text)
        );
        assert_eq!(response.capacity.as_ref(), Some(&session.capacity().await));
    }
    let advised =
        AnswerCompactionPromptRequest { answer: CompactionAnswer::CompactNow.into(), ..Default::default() };
    let answered = session.compactions().answer_compaction_prompt(advised).await.reply();
    assert!(answered.nothing_to_compact && answered.compaction.is_none());
    assert_eq!(session.capacity().await.revision, capacity.revision, "nothing happened");

    session.say(notes(61..=61)).await;
    for (id, nothing) in [("r", false), ("s", true)] {
        let request = CompactConversationRequest { request_id: id.to_owned(), ..Default::default() };
        let again = compact(&session, request).await;
        assert_eq!((again.replayed, again.nothing_to_compact), (true, nothing), "{id}");
        assert_eq!(again.compaction.is_none(), nothing, "{id}");
    }
}

#[tokio::test]
async fn focus_areas_decide_what_is_kept() {
    let session = long(40).await;
    let preview = CompactConversationRequest { preview: true, ..keep(15) };
    let plain = compact(&session, preview.clone()).await.summary;
    let dropped: Vec<_> =
        (1..=25).map(|tank| format!("T-{tank} ")).filter(|tank| !plain.contains(tank)).collect();
    let wanted = dropped.first().expect("a summary does not tell everything").trim();
    let focused = CompactConversationRequest { focus_areas: vec![wanted.to_owned()], ..preview };
    let focused = compact(&session, focused).await.summary;
    assert!(focused.contains(&format!("the pump of tank {wanted} failed")), "{focused}");
}

#[tokio::test]
async fn what_brought_a_compaction_is_told() {
    let session = long(60).await;
    compact(&session, keep(50)).await;
    let advised = AnswerCompactionPromptRequest {
        answer: CompactionAnswer::CompactNow.into(),
        keep_recent: Some(40),
        ..Default::default()
    };
    let response = session.compactions().answer_compaction_prompt(advised).await.reply();
    assert_eq!(response.compaction.as_ref().map(|made| made.cause()), Some(CompactionCause::Advised));
    assert_eq!(response.summary, session.summary().await.text);
    session.update_policy(Policy { max_utterances: Some(30), ..Default::default() }).await;
    let causes: Vec<_> = listed(&session).await.iter().map(|made| made.cause()).collect();
    assert_eq!(causes, [CompactionCause::Policy, CompactionCause::Advised, CompactionCause::Asked]);
    let kept: Vec<_> = listed(&session).await.iter().map(|made| made.kept_utterance_count()).collect();
    assert_eq!(kept, [24, 40, 50]);
    let asked: Vec<_> = listed(&session).await.iter().map(|made| made.keep_recent).collect();
    assert_eq!(asked, [None, Some(40), Some(50)]);
}

/// Exceeding `max_turns` is a compaction; rolling is not.
#[tokio::test]
async fn turns_are_compacted_and_a_rolling_window_is_not() {
    let session = Session::new().await;
    for (recipient, preset, expected) in
        [("turns", PolicyPreset::Turns, 1), ("rolling", PolicyPreset::Rolling, 0)]
    {
        let policy = Policy { preset: preset.into(), ..Default::default() };
        let create = CreateConversationRequest {
            conversation_id: recipient.to_owned(),
            recipient_id: recipient.to_owned(),
            policy: Some(policy),
            ..Default::default()
        };
        session.conversations().create_conversation(create).await.reply();
        for note in notes(1..=30).chunks(1) {
            let to = MemorizeRequest { recipient_id: recipient.to_owned(), ..memorize(note.to_vec()) };
            session.memory().memorize(to).await.reply();
        }
        let list = ListCompactionsRequest { recipient_id: recipient.to_owned(), ..Default::default() };
        let compactions = session.compactions().list_compactions(list).await.reply().compactions;
        assert!(compactions.iter().all(|made| made.cause() == CompactionCause::Policy));
        assert_eq!(!compactions.is_empty(), expected == 1, "{recipient}: {compactions:?}");
    }
}

#[tokio::test]
async fn a_conversation_that_has_ended_is_left_as_it_is() {
    let session = long(60).await;
    let conversation_id = compact(&session, keep(50)).await.conversation_id;
    session.conversations().end_conversation(EndConversationRequest::default()).await.reply();
    let closed = |status: Refused| {
        status.is(Code::FailedPrecondition, "CONVERSATION_CLOSED");
    };
    let compacting = CompactConversationRequest { conversation_id: conversation_id.clone(), ..keep(15) };
    closed(session.compactions().compact_conversation(compacting.clone()).await.refusal());
    let preview = CompactConversationRequest { preview: true, ..compacting };
    closed(session.compactions().compact_conversation(preview).await.refusal());
    let undoing = UndoCompactionRequest { conversation_id: conversation_id.clone(), ..Default::default() };
    closed(session.compactions().undo_compaction(undoing).await.refusal());
    for answer in [CompactionAnswer::CompactNow, CompactionAnswer::NotNow] {
        let answering = AnswerCompactionPromptRequest {
            conversation_id: conversation_id.clone(),
            answer: answer.into(),
            ..Default::default()
        };
        closed(session.compactions().answer_compaction_prompt(answering).await.refusal());
    }
    let list = ListCompactionsRequest { conversation_id, ..Default::default() };
    let listed = session.compactions().list_compactions(list).await.reply().compactions;
    assert_eq!(listed.iter().map(|made| made.undoable).collect::<Vec<_>>(), [false]);
}
