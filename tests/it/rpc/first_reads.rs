//! Reads for a recipient without a conversation: the server's defaults, zeros and nothing.

use utterd::proto::{
    BuildContextRequest, ContextFormat, ContextRecall, ConversationStatus, EndConversationRequest,
    GetCapacityInfoRequest, GetStatsRequest, GetSummaryRequest, ListCompactionsRequest,
    ListUtterancesRequest, RememberRequest, RememberScope, SummarizeRequest, SummarizeScope,
};

use crate::support::session::{Reply, Session, user};

fn ann() -> String {
    "ann".to_owned()
}

#[tokio::test]
async fn the_capacity_is_all_there() {
    let session = Session::new().await;
    let request = GetCapacityInfoRequest { recipient_id: ann(), ..Default::default() };
    let capacity = session.memory().get_capacity_info(request).await.reply().capacity.unwrap();
    assert_eq!((capacity.conversation_id.as_str(), capacity.recipient_id.as_str()), ("", "ann"));
    assert_eq!((capacity.revision, capacity.status()), (0, ConversationStatus::Unspecified));
    let limits =
        (capacity.max_utterances, capacity.keep_utterances, capacity.max_tokens, capacity.keep_tokens);
    assert_eq!(limits, (Some(20), Some(16), Some(8_000), Some(6_400)));
    assert_eq!((capacity.available_utterances, capacity.available_tokens), (Some(20), Some(8_000)));
    let used =
        [capacity.utterance_count, capacity.token_count, capacity.turn_count, capacity.total_token_count];
    assert_eq!(used, [Some(0); 4]);
    let summary = capacity.summary.unwrap();
    assert_eq!(
        (summary.token_count, summary.token_limit, summary.segment_count),
        (Some(0), Some(1_000), Some(0))
    );
}

#[tokio::test]
async fn a_context_has_no_messages() {
    let session = Session::new().await;
    let recall = Some(ContextRecall { prompt: "lisbon".to_owned(), ..Default::default() });
    let request = BuildContextRequest { recipient_id: ann(), recall, ..Default::default() };
    let context = session.context().build_context(request.clone()).await.reply();
    assert_eq!((context.conversation_id.as_str(), context.revision), ("", 0));
    assert_eq!((context.messages_json.as_str(), context.token_count), ("[]", Some(0)));
    let text = BuildContextRequest { format: ContextFormat::Text.into(), ..request };
    let context = session.context().build_context(text).await.reply();
    assert!(context.utterances.is_empty() && context.omitted.is_empty());
}

/// The caller's instructions, and what was said in ended conversations.
#[tokio::test]
async fn a_context_has_what_needs_no_conversation() {
    let session = Session::new().await;
    session.say(vec![user("The parrot of Lisbon is called Bartolomeu.")]).await;
    session.conversations().end_conversation(EndConversationRequest::default()).await.reply();
    let request = BuildContextRequest {
        instructions: "Be brief.".to_owned(),
        recall: Some(ContextRecall {
            prompt: "parrot".to_owned(),
            scope: RememberScope::Recipient.into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    let context = session.context().build_context(request).await.reply();
    assert_eq!((context.conversation_id.as_str(), context.utterances.len()), ("", 1));
    assert!(context.messages_json.contains("Be brief."), "{context:?}");
    assert!(context.messages_json.contains("Bartolomeu"), "{context:?}");
}

#[tokio::test]
async fn lists_searches_and_summaries_are_empty() {
    let session = Session::new().await;
    let (mut memory, mut conversations) = (session.memory(), session.conversations());
    for prompt in ["", "lisbon"] {
        let request =
            RememberRequest { recipient_id: ann(), prompt: prompt.to_owned(), ..Default::default() };
        assert!(memory.remember(request).await.reply().matches.is_empty());
    }
    for include_archive in [false, true] {
        let last = include_archive.then_some(3);
        let request =
            ListUtterancesRequest { recipient_id: ann(), include_archive, last, ..Default::default() };
        assert!(conversations.list_utterances(request).await.reply().utterances.is_empty());
    }
    let summary = GetSummaryRequest { recipient_id: ann(), ..Default::default() };
    let summary = conversations.get_summary(summary).await.reply();
    assert_eq!(
        (summary.conversation_id.as_str(), summary.text.as_str(), summary.token_count),
        ("", "", Some(0))
    );
    for (scope, first_turn, last_turn) in
        [(SummarizeScope::All, None, None), (SummarizeScope::Turns, Some(1), Some(2))]
    {
        let scope = scope.into();
        let request = SummarizeRequest {
            recipient_id: ann(),
            scope,
            first_turn,
            last_turn,
            wait_for_llm: true,
            ..Default::default()
        };
        let told = memory.summarize(request).await.reply();
        assert_eq!((told.conversation_id.as_str(), told.text.as_str(), told.token_count), ("", "", Some(0)));
    }
    let compactions = ListCompactionsRequest { recipient_id: ann(), ..Default::default() };
    assert!(session.compactions().list_compactions(compactions).await.reply().compactions.is_empty());
    let stats = GetStatsRequest { recipient_id: ann(), ..Default::default() };
    let stats = conversations.get_stats(stats).await.reply().stats.unwrap();
    assert_eq!((stats.conversation_id.as_str(), stats.recipient_id.as_str()), ("", "ann"));
    assert_eq!(
        (stats.revision, stats.total.unwrap().utterance_count, stats.conversations),
        (None, Some(0), vec![])
    );
}

/// Reads do not create a conversation: the first one starts as usual.
#[tokio::test]
async fn they_start_nothing() {
    let session = Session::new().await;
    session.capacity().await;
    let summary = session.summary().await;
    assert_eq!((summary.conversation_id.as_str(), summary.revision), ("", 0));
    let first = session.say(vec![user("hello")]).await;
    assert!(first.started_conversation);
    assert_eq!(session.capacity().await.conversation_id, first.conversation_id);
}
