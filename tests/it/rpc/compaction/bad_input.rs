//! Invalid requests are refused with what is wrong, and change nothing.

use tonic::Code;
use utterd::proto::{
    AnswerCompactionPromptRequest, CompactConversationRequest, CompactionAnswer, ListCompactionsRequest,
    UndoCompactionRequest,
};

use super::{keep, long};
use crate::support::session::Reply;

#[tokio::test]
async fn requests_to_compact() {
    let session = long(40).await;
    let cursor = session.cursor();
    let focused = |areas: Vec<String>| CompactConversationRequest { focus_areas: areas, ..keep(15) };
    for (request, reason, field) in [
        (keep(0), "INVALID_FIELD", "keep_recent"),
        (keep(-1), "INVALID_FIELD", "keep_recent"),
        (keep(i32::MIN), "INVALID_FIELD", "keep_recent"),
        (focused(vec!["pumps".to_owned(), String::new()]), "INVALID_FIELD", "focus_areas[1]"),
        (focused(vec!["p".repeat(257)]), "INVALID_FIELD", "focus_areas[0]"),
        (focused(vec!["pumps".to_owned(); 33]), "INVALID_FIELD", "focus_areas"),
        (CompactConversationRequest { request_id: "r".repeat(257), ..keep(15) }, "INVALID_ID", "request_id"),
        (
            CompactConversationRequest { expected_revision: Some(-1), ..keep(15) },
            "INVALID_FIELD",
            "expected_revision",
        ),
        (
            CompactConversationRequest { conversation_id: "c".repeat(257), ..keep(15) },
            "INVALID_ID",
            "conversation_id",
        ),
    ] {
        let refused = session.compactions().compact_conversation(request).await.refusal();
        refused.is(Code::InvalidArgument, reason).blames(field);
    }
    assert_eq!(session.cursor(), cursor);
    let most = focused(vec!["p".repeat(256); 32]);
    session
        .compactions()
        .compact_conversation(CompactConversationRequest { preview: true, ..most })
        .await
        .reply();
    let all = session.compactions().compact_conversation(keep(i32::MAX)).await.reply();
    assert!(all.nothing_to_compact && all.compaction.is_none());
    assert_eq!(session.window().await.len(), 40);
}

#[tokio::test]
async fn answers() {
    let session = long(60).await;
    let cursor = session.cursor();
    let given = |answer: CompactionAnswer| AnswerCompactionPromptRequest {
        answer: answer.into(),
        ..Default::default()
    };
    let (now, not_now, never) = (
        given(CompactionAnswer::CompactNow),
        given(CompactionAnswer::NotNow),
        given(CompactionAnswer::NeverThisSession),
    );
    let session_id = || "tui".to_owned();
    type Request = AnswerCompactionPromptRequest;
    for (request, reason, field) in [
        (Request::default(), "INVALID_FIELD", "answer"),
        (Request { answer: 4, ..Default::default() }, "INVALID_FIELD", "answer"),
        (Request { answer: -1, ..Default::default() }, "INVALID_FIELD", "answer"),
        (Request { session_id: session_id(), ..now.clone() }, "INVALID_FIELD", "session_id"),
        (Request { session_id: session_id(), ..not_now.clone() }, "INVALID_FIELD", "session_id"),
        (Request { session_id: "s".repeat(257), ..never.clone() }, "INVALID_ID", "session_id"),
        (Request { keep_recent: Some(0), ..now.clone() }, "INVALID_FIELD", "keep_recent"),
        (Request { keep_recent: Some(-7), ..now }, "INVALID_FIELD", "keep_recent"),
        (Request { keep_recent: Some(15), ..not_now }, "INVALID_FIELD", "keep_recent"),
        (Request { keep_recent: Some(15), ..never }, "INVALID_FIELD", "keep_recent"),
    ] {
        let refused = session.compactions().answer_compaction_prompt(request.clone()).await.refusal();
        refused.is(Code::InvalidArgument, reason).blames(field);
    }
    assert_eq!(session.cursor(), cursor);
}

#[tokio::test]
async fn conversations_that_do_not_exist() {
    let session = long(40).await;
    let conversation_id = || "nowhere".to_owned();
    let mut client = session.compactions();
    let compact = CompactConversationRequest { conversation_id: conversation_id(), ..keep(15) };
    let preview = CompactConversationRequest { preview: true, ..compact.clone() };
    let undo = UndoCompactionRequest { conversation_id: conversation_id(), ..Default::default() };
    let list = ListCompactionsRequest { conversation_id: conversation_id(), ..Default::default() };
    let answer = |answer: CompactionAnswer| AnswerCompactionPromptRequest {
        conversation_id: conversation_id(),
        answer: answer.into(),
        ..Default::default()
    };
    let mut refusals = vec![
        client.compact_conversation(compact).await.refusal(),
        client.compact_conversation(preview).await.refusal(),
        client.undo_compaction(undo).await.refusal(),
        client.list_compactions(list).await.refusal(),
    ];
    for given in [CompactionAnswer::CompactNow, CompactionAnswer::NotNow, CompactionAnswer::NeverThisSession]
    {
        refusals.push(client.answer_compaction_prompt(answer(given)).await.refusal());
    }
    for refused in refusals {
        let refused = refused.is(Code::NotFound, "CONVERSATION_NOT_FOUND");
        refused.names("utterd.v1/conversation", "nowhere");
    }
}
