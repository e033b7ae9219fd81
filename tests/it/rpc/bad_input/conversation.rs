//! Fields of ConversationService.

use std::collections::BTreeMap;

use tonic::Code;
use utterd::proto::{
    CreateConversationRequest, DeleteConversationRequest, GetConversationRequest, ListConversationsRequest,
    ListUtterancesRequest, Policy, UpdateConversationRequest, UpdateUtteranceRequest,
};

use crate::{
    rpc::bad_input::Case,
    support::session::{Reply, Session, mask, policy_update, user},
};

#[tokio::test]
async fn fields_of_a_policy() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let before = session.cursor();
    let seconds = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    let cases: Vec<(Policy, &str, &str)> = vec![
        (Policy { preset: 9, ..Default::default() }, "policy.preset", "accepted: ROLLING (1)"),
        (Policy { oversize: 9, ..Default::default() }, "policy.oversize", "accepted: KEEP (1)"),
        (Policy { max_utterances: Some(-1), ..Default::default() }, "policy.max_utterances", "0 or more"),
        (Policy { max_tokens: Some(-1), ..Default::default() }, "policy.max_tokens", "0 or more"),
        (Policy { max_turns: Some(-1), ..Default::default() }, "policy.max_turns", "0 or more"),
        (Policy { keep_utterances: Some(0), ..Default::default() }, "policy.keep_utterances", "1 or more"),
        (
            Policy { keep_utterances: Some(21), ..Default::default() },
            "policy.keep_utterances",
            "1 to the maximum, 20",
        ),
        (
            Policy { keep_turns: Some(1), ..Default::default() },
            "policy.keep_turns",
            "this measure is unlimited",
        ),
        (
            Policy { max_tokens: Some(10), keep_tokens: Some(11), ..Default::default() },
            "policy.keep_tokens",
            "1 to the maximum, 10",
        ),
        (
            Policy { summary_token_limit: Some(-1), ..Default::default() },
            "policy.summary_token_limit",
            "0 or more",
        ),
        (Policy { archive_limit: Some(-1), ..Default::default() }, "policy.archive_limit", "0 or more"),
        (Policy { expire_after: seconds(-1), ..Default::default() }, "policy.expire_after", "0 s or more"),
    ];
    for (policy, field, says) in cases {
        let refused =
            session.conversations().update_conversation(policy_update(policy.clone())).await.refusal();
        refused.is(Code::InvalidArgument, "INVALID_FIELD").blames(field).says(says);
        let create = CreateConversationRequest {
            conversation_id: "other".to_owned(),
            policy: Some(policy),
            ..Default::default()
        };
        let refused = session.conversations().create_conversation(create).await.refusal();
        refused.is(Code::InvalidArgument, "INVALID_FIELD").blames(field).says(says);
    }
    assert_eq!(session.cursor(), before);
}

#[tokio::test]
async fn fields_of_create_and_update() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let before = session.cursor();
    let labels = |key: usize, value: usize| BTreeMap::from([("k".repeat(key), "v".repeat(value))]);
    let create = CreateConversationRequest::default;
    let creates: Vec<Case<CreateConversationRequest>> = vec![
        (
            CreateConversationRequest { conversation_id: "x".repeat(257), ..create() },
            "INVALID_ID",
            "conversation_id",
            "257",
        ),
        (
            CreateConversationRequest { recipient_id: "\u{0}".to_owned(), ..create() },
            "INVALID_ID",
            "recipient_id",
            "control",
        ),
        (
            CreateConversationRequest { title: "t".repeat(513), ..create() },
            "INVALID_FIELD",
            "title",
            "at most 512 bytes",
        ),
        (
            CreateConversationRequest { title: "a\nb".to_owned(), ..create() },
            "INVALID_FIELD",
            "title",
            "control characters",
        ),
        (
            CreateConversationRequest { labels: labels(129, 1), ..create() },
            "INVALID_FIELD",
            "labels",
            "1 to 128",
        ),
        (
            CreateConversationRequest { encoding: "klingon".to_owned(), ..create() },
            "INVALID_FIELD",
            "encoding",
            "accepted: o200k_base, cl100k_base",
        ),
    ];
    for (request, reason, field, says) in creates {
        let refused = session.conversations().create_conversation(request).await.refusal();
        refused.is(Code::InvalidArgument, reason).blames(field).says(says);
    }
    let update = UpdateConversationRequest::default;
    let updates: Vec<Case<UpdateConversationRequest>> = vec![
        (update(), "INVALID_FIELD", "update_mask", "is empty; accepted: title, policy, labels"),
        (
            UpdateConversationRequest { update_mask: mask(&["title", "revision"]), ..update() },
            "INVALID_FIELD",
            "update_mask",
            "accepted: title, policy, labels",
        ),
        (
            UpdateConversationRequest { update_mask: mask(&["policy"]), ..update() },
            "INVALID_FIELD",
            "policy",
            "is missing",
        ),
        (
            UpdateConversationRequest { update_mask: mask(&["title"]), title: "t".repeat(513), ..update() },
            "INVALID_FIELD",
            "title",
            "at most 512",
        ),
        (
            UpdateConversationRequest {
                update_mask: mask(&["labels"]),
                labels: labels(1, 4_097),
                ..update()
            },
            "INVALID_FIELD",
            "labels[\"k\"]",
            "at most 4096",
        ),
    ];
    for (request, reason, field, says) in updates {
        let refused = session.conversations().update_conversation(request).await.refusal();
        refused.is(Code::InvalidArgument, reason).blames(field).says(says);
    }
    assert_eq!(session.cursor(), before);
}

#[tokio::test]
async fn fields_of_update_utterance() {
    let session = Session::new().await;
    let id = session.say(vec![user("hello")]).await.memorized[0].utterance_id.clone();
    let before = session.cursor();
    let update = || UpdateUtteranceRequest {
        utterance_id: id.clone(),
        update_mask: mask(&["pinned"]),
        ..Default::default()
    };
    let cases: Vec<Case<UpdateUtteranceRequest>> = vec![
        (
            UpdateUtteranceRequest { utterance_id: String::new(), ..update() },
            "INVALID_ID",
            "utterance_id",
            "is empty; accepted",
        ),
        (
            UpdateUtteranceRequest { update_mask: None, ..update() },
            "INVALID_FIELD",
            "update_mask",
            "accepted: pinned, metadata",
        ),
        (
            UpdateUtteranceRequest { update_mask: mask(&["role"]), ..update() },
            "INVALID_FIELD",
            "update_mask",
            "accepted: pinned, metadata",
        ),
        (
            UpdateUtteranceRequest {
                update_mask: mask(&["metadata"]),
                metadata: BTreeMap::from([(String::new(), String::new())]),
                ..update()
            },
            "INVALID_FIELD",
            "metadata",
            "accepted: 1 to 128",
        ),
    ];
    for (request, reason, field, says) in cases {
        let refused = session.conversations().update_utterance(request).await.refusal();
        refused.is(Code::InvalidArgument, reason).blames(field).says(says);
    }
    let unknown = UpdateUtteranceRequest { utterance_id: "nobody".to_owned(), ..update() };
    let refused = session.conversations().update_utterance(unknown).await.refusal();
    refused.is(Code::NotFound, "UTTERANCE_NOT_FOUND").names("utterd.v1/utterance", "nobody");
    assert_eq!(session.cursor(), before);
}

#[tokio::test]
async fn fields_of_lists_and_views() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let list = ListUtterancesRequest::default;
    let lists: Vec<Case<ListUtterancesRequest>> = vec![
        (ListUtterancesRequest { last: Some(0), ..list() }, "INVALID_FIELD", "last", "accepted: 1 or more"),
        (
            ListUtterancesRequest { after_sequence: Some(-1), ..list() },
            "INVALID_FIELD",
            "after_sequence",
            "accepted: 0 or more",
        ),
        (
            ListUtterancesRequest { before_sequence: Some(0), ..list() },
            "INVALID_FIELD",
            "before_sequence",
            "accepted: 1 or more",
        ),
        (ListUtterancesRequest { order: 9, ..list() }, "INVALID_FIELD", "order", "OLDEST_FIRST (1)"),
        (ListUtterancesRequest { page_size: -1, ..list() }, "INVALID_FIELD", "page_size", "0 or more"),
        (
            ListUtterancesRequest { page_token: "x".to_owned(), ..list() },
            "INVALID_PAGE_TOKEN",
            "page_token",
            "accepted",
        ),
    ];
    for (request, reason, field, says) in lists {
        let refused = session.conversations().list_utterances(request).await.refusal();
        refused.is(Code::InvalidArgument, reason).blames(field).says(says);
    }
    let conversations = ListConversationsRequest::default;
    let lists: Vec<Case<ListConversationsRequest>> = vec![
        (ListConversationsRequest { status: 9, ..conversations() }, "INVALID_FIELD", "status", "ACTIVE (1)"),
        (
            ListConversationsRequest { page_size: -5, ..conversations() },
            "INVALID_FIELD",
            "page_size",
            "0 or more",
        ),
        (
            ListConversationsRequest { page_token: "x".to_owned(), ..conversations() },
            "INVALID_PAGE_TOKEN",
            "page_token",
            "accepted",
        ),
    ];
    for (request, reason, field, says) in lists {
        let refused = session.conversations().list_conversations(request).await.refusal();
        refused.is(Code::InvalidArgument, reason).blames(field).says(says);
    }
    let view = GetConversationRequest { view: 9, ..Default::default() };
    let refused = session.conversations().get_conversation(view).await.refusal();
    refused.is(Code::InvalidArgument, "INVALID_FIELD").blames("view").says("BASIC (1) and FULL (2)");
    let refused =
        session.conversations().delete_conversation(DeleteConversationRequest::default()).await.refusal();
    refused
        .is(Code::InvalidArgument, "INVALID_ID")
        .blames("conversation_id")
        .says("is empty; accepted: 1 to 256");
}
