//! Everything a client can read.

use utterd::proto::{export_conversation_response::Message as Out, watch_events_response::Message as Seen};

use super::step::whole;
use crate::support::prelude::*;

/// A whole response.
pub struct Read {
    /// The call.
    pub asked: String,
    /// Its subject.
    pub about: String,
    pub text: String,
}

/// The subject of a call, and the response.
type Answer = (String, String);

/// Everything that shows what was said in `conversation`; `prompt` is the search text.
pub async fn texts(session: &Session, conversation: &str, prompt: &str) -> Vec<Read> {
    let mut texts = stored(session, conversation).await;
    texts.extend(summaries(session, conversation).await);
    texts.extend(contexts(session, conversation, prompt).await);
    texts.extend(exports(session, conversation).await);
    texts.extend(found(session, conversation, prompt).await);
    let read = |(asked, text)| Read { asked, about: conversation.to_owned(), text };
    texts.into_iter().map(read).collect()
}

/// The conversations of a recipient.
pub async fn listed(session: &Session, recipient: &str) -> Read {
    let request = ListConversationsRequest { recipient_id: recipient.to_owned(), ..Default::default() };
    let text = whole(session.conversations().list_conversations(request).await);
    Read { asked: "conversations".to_owned(), about: recipient.to_owned(), text }
}

/// What describes a conversation, but never contains what was said in it.
pub async fn compactions(session: &Session, conversation: &str) -> String {
    let request = ListCompactionsRequest { conversation_id: conversation.to_owned(), ..Default::default() };
    whole(session.compactions().list_compactions(request).await)
}

/// Every event since the start of the server.
pub async fn events(session: &Session, from: &str) -> String {
    let end = session.cursor();
    let request = WatchEventsRequest { after_event: from.to_owned(), ..Default::default() };
    let mut events = session.trace().watch_events(request).await.reply();
    let mut text = String::new();
    loop {
        let seen = events.message().await.expect("the stream is whole").expect("the stream goes on");
        text.push_str(&format!("{seen:?}\n"));
        match seen.message {
            Some(Seen::Event(event)) if event.event_id == end => return text,
            Some(Seen::Missed(missed)) => panic!("{missed:?}"),
            _ => {}
        }
    }
}

async fn stored(session: &Session, conversation: &str) -> Vec<Answer> {
    let id = || conversation.to_owned();
    let everything = ListUtterancesRequest {
        conversation_id: id(),
        include_archive: true,
        include_forgotten: true,
        ..Default::default()
    };
    let utterances = session.list(everything).await;
    let view = ConversationView::Full.into();
    let request = GetConversationRequest { conversation_id: id(), view, ..Default::default() };
    let full = whole(session.conversations().get_conversation(request).await);
    let scope = StatsScope::Conversation.into();
    let request = GetStatsRequest { conversation_id: id(), scope, ..Default::default() };
    let stats = whole(session.conversations().get_stats(request).await);
    vec![
        ("utterances".to_owned(), format!("{utterances:?}")),
        ("conversation".to_owned(), full),
        ("stats".to_owned(), stats),
        ("shared".to_owned(), shared(session, conversation).await),
    ]
}

async fn shared(session: &Session, conversation: &str) -> String {
    let request = ShareConversationRequest {
        conversation_id: conversation.to_owned(),
        include_archive: true,
        ..Default::default()
    };
    let token = session.conversations().share_conversation(request).await.reply().token;
    let request = ReadSharedRequest { token, page_size: 1_000, ..Default::default() };
    whole(session.conversations().read_shared(request).await)
}

async fn summaries(session: &Session, conversation: &str) -> Vec<Answer> {
    let id = || conversation.to_owned();
    let request = GetSummaryRequest { conversation_id: id(), ..Default::default() };
    let summary = whole(session.conversations().get_summary(request).await);
    let mut summaries = vec![("summary".to_owned(), summary)];
    for scope in [SummarizeScope::All, SummarizeScope::Recent, SummarizeScope::Evicted, SummarizeScope::Turns]
    {
        let request = SummarizeRequest {
            conversation_id: id(),
            scope: scope.into(),
            recent_count: (scope == SummarizeScope::Recent).then_some(1_000),
            first_turn: (scope == SummarizeScope::Turns).then_some(0),
            last_turn: (scope == SummarizeScope::Turns).then_some(1_000),
            token_limit: Some(100_000),
            ..Default::default()
        };
        let text = whole(session.memory().summarize(request).await);
        summaries.push((format!("summarize {scope:?}"), text));
    }
    summaries
}

/// The result that a compaction of the conversation would have.
pub async fn preview(session: &Session, conversation: &str) -> Read {
    let request = CompactConversationRequest {
        conversation_id: conversation.to_owned(),
        keep_recent: Some(1),
        preview: true,
        ..Default::default()
    };
    let text = whole(session.compactions().compact_conversation(request).await);
    Read { asked: "preview".to_owned(), about: conversation.to_owned(), text }
}

async fn contexts(session: &Session, conversation: &str, prompt: &str) -> Vec<Answer> {
    use ContextFormat::{AnthropicMessages, OpenaiChat, Text};
    let mut contexts = Vec::new();
    for format in [OpenaiChat, AnthropicMessages, Text] {
        for placement in [SummaryPlacement::System, SummaryPlacement::UserMessage] {
            let request = BuildContextRequest {
                conversation_id: conversation.to_owned(),
                format: format.into(),
                token_budget: Some(1_000_000),
                max_turns: Some(0),
                summary_placement: placement.into(),
                recall: Some(ContextRecall {
                    prompt: prompt.to_owned(),
                    limit: Some(50),
                    ..Default::default()
                }),
                ..Default::default()
            };
            let context = whole(session.context().build_context(request).await);
            contexts.push((format!("context as {format:?}, summary in {placement:?}"), context));
        }
    }
    contexts
}

async fn found(session: &Session, conversation: &str, prompt: &str) -> Vec<Answer> {
    let mut found = Vec::new();
    for order in [RememberOrder::Relevance, RememberOrder::Recency] {
        let request = RememberRequest {
            conversation_id: conversation.to_owned(),
            prompt: prompt.to_owned(),
            scope: RememberScope::Recipient.into(),
            order: order.into(),
            min_relevance: Some(0.0),
            neighbors: 3,
            page_size: 100,
            ..Default::default()
        };
        found.push((format!("remember by {order:?}"), whole(session.memory().remember(request).await)));
    }
    found
}

async fn exports(session: &Session, conversation: &str) -> Vec<Answer> {
    use ConversationFormat::{AnthropicMessages, OpenaiChat, OpenaiResponses, PersistedConversations};
    let mut exports = Vec::new();
    for format in [OpenaiChat, OpenaiResponses, AnthropicMessages, PersistedConversations] {
        let request = ExportConversationRequest {
            conversation_id: conversation.to_owned(),
            format: format.into(),
            ..Default::default()
        };
        exports.push((format!("export as {format:?}"), export(session, request).await));
    }
    exports
}

pub async fn export(session: &Session, request: ExportConversationRequest) -> String {
    let mut stream = session.conversations().export_conversation(request).await.reply();
    let (mut bytes, mut end) = (Vec::new(), String::new());
    while let Some(response) = stream.message().await.expect("the export goes on") {
        match response.message {
            Some(Out::Chunk(chunk)) => bytes.extend(chunk),
            last => end = format!("{last:?}"),
        }
    }
    format!("{}\n{end}", String::from_utf8(bytes).expect("UTF-8"))
}
