//! Fields of the other memory calls, and of WatchEvents.

use prost_types::Timestamp;
use tonic::Code;
use utterd::proto::{
    DeleteConversationRequest, ForgetMode, ForgetRequest, GetCapacityInfoRequest, RememberFilter,
    RememberRequest, RestoreRequest, SummarizeRequest, SummarizeScope, WatchEventsRequest,
};

use crate::{
    rpc::bad_input::Case,
    support::session::{Reply, Session, forget, user},
};

#[tokio::test]
async fn an_instruction_that_is_none() {
    let session = Session::new().await;
    session.say(vec![user("the capital of France is Paris")]).await;
    let before = session.cursor();
    for text in [
        "",
        "  ",
        "everything and nothing",
        "last:0",
        "position:0",
        "position:3-2",
        "turn:-1",
        "speaker:robot",
        "sequence:x",
        "forget",
        "about:",
        "forget everything about Paris unless it is important",
    ] {
        for mode in [ForgetMode::Soft, ForgetMode::Hard] {
            let refused = session.memory().forget(forget(text, mode)).await.refusal();
            refused
                .is(Code::InvalidArgument, "INSTRUCTION_NOT_UNDERSTOOD")
                .blames("instructions")
                .says("valid forms: oldest, newest");
        }
    }
    let long = session.memory().forget(forget(&"x".repeat(4_097), ForgetMode::Soft)).await.refusal();
    long.is(Code::InvalidArgument, "INSTRUCTION_NOT_UNDERSTOOD").says("at most 4096 are accepted");
    assert_eq!(session.cursor(), before);
    assert_eq!(session.window().await.len(), 1);
}

#[tokio::test]
async fn fields_of_forget_and_restore() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let before = session.cursor();
    let mode = ForgetRequest { mode: 7, ..forget("oldest", ForgetMode::Soft) };
    let refused = session.memory().forget(mode).await.refusal();
    refused.is(Code::InvalidArgument, "INVALID_FIELD").blames("mode").says("accepted: SOFT (1) and HARD (2)");
    let restores: [Case<RestoreRequest>; 2] = [
        (RestoreRequest::default(), "EMPTY_BATCH", "utterance_ids", "accepted: 1 to 1000"),
        (
            RestoreRequest { utterance_ids: vec!["x".to_owned(); 1_001], ..Default::default() },
            "BATCH_TOO_LARGE",
            "utterance_ids",
            "has 1001 entries; accepted: 1 to 1000",
        ),
    ];
    for (request, reason, field, says) in restores {
        let refused = session.memory().restore(request).await.refusal();
        refused.is(Code::InvalidArgument, reason).blames(field).says(says);
    }
    let unknown = RestoreRequest { utterance_ids: vec!["nobody".to_owned()], ..Default::default() };
    let refused = session.memory().restore(unknown).await.refusal();
    refused.is(Code::NotFound, "UTTERANCE_NOT_FOUND").names("utterd.v1/utterance", "nobody");
    assert_eq!(session.cursor(), before);
}

#[tokio::test]
async fn fields_of_remember() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let filtered = |filter: RememberFilter| RememberRequest { filter: Some(filter), ..Default::default() };
    let filter = RememberFilter::default;
    let at = |seconds| Some(Timestamp { seconds, nanos: 0 });
    let cases: Vec<Case<RememberRequest>> = vec![
        (
            RememberRequest { prompt: "x".repeat((64 << 10) + 1), ..Default::default() },
            "CONTENT_TOO_LARGE",
            "prompt",
            "has 65537 bytes; accepted: at most 65536",
        ),
        (RememberRequest { neighbors: -1, ..Default::default() }, "INVALID_FIELD", "neighbors", "0 or more"),
        (RememberRequest { neighbors: 11, ..Default::default() }, "INVALID_FIELD", "neighbors", "0 to 10"),
        (RememberRequest { scope: 9, ..Default::default() }, "INVALID_FIELD", "scope", "WINDOW (1)"),
        (RememberRequest { order: 9, ..Default::default() }, "INVALID_FIELD", "order", "RELEVANCE (1)"),
        (RememberRequest { order: 1, ..Default::default() }, "INVALID_FIELD", "prompt", "needs one"),
        (RememberRequest { page_size: -1, ..Default::default() }, "INVALID_FIELD", "page_size", "0 or more"),
        (
            RememberRequest { page_token: "?".to_owned(), ..Default::default() },
            "INVALID_PAGE_TOKEN",
            "page_token",
            "accepted: a next_page_token",
        ),
        (
            filtered(RememberFilter { roles: vec![2, 0], ..filter() }),
            "UNKNOWN_ROLE",
            "filter.roles[1]",
            "ROLE_USER",
        ),
        (
            filtered(RememberFilter { min_turn: Some(-1), ..filter() }),
            "INVALID_FIELD",
            "filter.min_turn",
            "0 or more",
        ),
        (
            filtered(RememberFilter { min_turn: Some(3), max_turn: Some(2), ..filter() }),
            "INVALID_FIELD",
            "filter.max_turn",
            "before the start",
        ),
        (
            filtered(RememberFilter { min_sequence: Some(0), ..filter() }),
            "INVALID_FIELD",
            "filter.min_sequence",
            "1 or more",
        ),
        (
            filtered(RememberFilter { min_sequence: Some(3), max_sequence: Some(2), ..filter() }),
            "INVALID_FIELD",
            "filter.max_sequence",
            "before the start",
        ),
        (
            filtered(RememberFilter { start_time: at(i64::MAX), ..filter() }),
            "INVALID_FIELD",
            "filter.start_time",
            "years 1 and 9999",
        ),
        (
            filtered(RememberFilter { start_time: at(9), end_time: at(8), ..filter() }),
            "INVALID_FIELD",
            "filter.end_time",
            "before the start",
        ),
    ];
    for (request, reason, field, says) in cases {
        let refused = session.memory().remember(request).await.refusal();
        refused.is(Code::InvalidArgument, reason).blames(field).says(says);
    }
}

#[tokio::test]
async fn fields_of_summarize() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let of = |scope: SummarizeScope| SummarizeRequest { scope: scope.into(), ..Default::default() };
    let turns =
        |first, last| SummarizeRequest { first_turn: first, last_turn: last, ..of(SummarizeScope::Turns) };
    let recent = |count| SummarizeRequest { recent_count: count, ..of(SummarizeScope::Recent) };
    let cases: Vec<Case<SummarizeRequest>> = vec![
        (
            SummarizeRequest { scope: 9, ..Default::default() },
            "INVALID_FIELD",
            "scope",
            "ALL (1), RECENT (2)",
        ),
        (recent(None), "INVALID_FIELD", "recent_count", "is missing"),
        (recent(Some(0)), "INVALID_FIELD", "recent_count", "accepted: 1 or more"),
        (
            SummarizeRequest { recent_count: Some(1), ..Default::default() },
            "INVALID_FIELD",
            "recent_count",
            "is accepted only with",
        ),
        (turns(None, Some(1)), "INVALID_FIELD", "first_turn", "is missing"),
        (turns(Some(1), None), "INVALID_FIELD", "last_turn", "is missing"),
        (turns(Some(-1), Some(1)), "INVALID_FIELD", "first_turn", "accepted: 0 or more"),
        (turns(Some(2), Some(1)), "INVALID_FIELD", "last_turn", "accepted: 2, the first_turn, or more"),
        (
            SummarizeRequest { token_limit: Some(0), ..Default::default() },
            "INVALID_FIELD",
            "token_limit",
            "1 or more",
        ),
        (
            SummarizeRequest { focus_areas: vec!["a".to_owned(); 33], ..Default::default() },
            "INVALID_FIELD",
            "focus_areas",
            "has 33 entries; accepted: at most 32",
        ),
        (
            SummarizeRequest { focus_areas: vec!["a".to_owned(), String::new()], ..Default::default() },
            "INVALID_FIELD",
            "focus_areas[1]",
            "has 0 bytes; accepted: 1 to 256",
        ),
    ];
    for (request, reason, field, says) in cases {
        let refused = session.memory().summarize(request).await.refusal();
        refused.is(Code::InvalidArgument, reason).blames(field).says(says);
    }
}

#[tokio::test]
async fn fields_of_watch_events() {
    let session = Session::new().await;
    let watch = WatchEventsRequest::default;
    let cases: Vec<Case<WatchEventsRequest>> = vec![
        (
            WatchEventsRequest { after_event: "x".to_owned(), ..watch() },
            "INVALID_FIELD",
            "after_event",
            "the event_id",
        ),
        (
            WatchEventsRequest { operations: vec![1, 0], ..watch() },
            "INVALID_FIELD",
            "operations[1]",
            "not an operation",
        ),
        (
            WatchEventsRequest { recipient_id: "\t".to_owned(), ..watch() },
            "INVALID_ID",
            "recipient_id",
            "control",
        ),
    ];
    for (request, reason, field, says) in cases {
        let refused = session.trace().watch_events(request).await.map(|_| tonic::Response::new(())).refusal();
        refused.is(Code::InvalidArgument, reason).blames(field).says(says);
    }
}

#[tokio::test]
async fn a_conversation_that_does_not_exist() {
    let session = Session::new().await;
    let by_id = GetCapacityInfoRequest { conversation_id: "nowhere".to_owned(), ..Default::default() };
    let refused = session.memory().get_capacity_info(by_id).await.refusal();
    refused
        .is(Code::NotFound, "CONVERSATION_NOT_FOUND")
        .names("utterd.v1/conversation", "nowhere")
        .says("Memorize");
    let to_ann = ForgetRequest { recipient_id: "ann".to_owned(), ..forget("all", ForgetMode::Hard) };
    let refused = session.memory().forget(to_ann).await.refusal();
    refused.is(Code::NotFound, "CONVERSATION_NOT_FOUND").says("\"ann\"");
    let by_id = RememberRequest { conversation_id: "nowhere".to_owned(), ..Default::default() };
    let refused = session.memory().remember(by_id).await.refusal();
    refused.is(Code::NotFound, "CONVERSATION_NOT_FOUND");
    let delete = DeleteConversationRequest { conversation_id: "nowhere".to_owned(), ..Default::default() };
    let refused = session.conversations().delete_conversation(delete).await.refusal();
    refused.is(Code::NotFound, "CONVERSATION_NOT_FOUND").names("utterd.v1/conversation", "nowhere");
}
