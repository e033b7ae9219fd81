//! Conversations as resources.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{
    CompleteResult, CompletionInfo, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};

use super::{
    fault::Fault,
    memory::Memory,
    transcript::{self, Listed, Message, Speaker, Transcript},
};
use crate::{
    conversations::stored,
    terminal::{counted, word},
};
use utterd_rpc::proto::{
    Conversation, ConversationOrder, ListConversationsRequest, ListConversationsResponse, SummarizeRequest,
};

/// The beginning of every URI.
const ROOT: &str = "utterd://conversations/";
/// The end of a summary's URI.
const SUMMARY: &str = "summary";
/// The MIME type of a resource.
const MARKDOWN: &str = "text/markdown";
/// Conversations per page of the list.
const PAGE: i32 = 20;
/// The most completions of an id: as many as the protocol allows.
const COMPLETIONS: i32 = 100;
/// The most bytes of messages in one resource: some 64,000 tokens.
const READ_BYTES: usize = 256 << 10;
/// Characters of an id that are escaped in a URI: all but the unreserved ones (RFC 3986, 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The recipient's conversations, the most recently active first.
pub async fn list(memory: &Memory, cursor: &str) -> Result<ListResourcesResult, Fault> {
    let page_token = cursor.to_owned();
    let request = ListConversationsRequest { page_size: PAGE, page_token, ..Default::default() };
    let listed = listed(memory, request).await?;
    let mut result = ListResourcesResult::with_all_items(listed.conversations.iter().map(resource).collect());
    result.next_cursor = Some(listed.next_page_token).filter(|token| !token.is_empty());
    Ok(result)
}

fn resource(conversation: &Conversation) -> Resource {
    let listed = Listed::from(conversation);
    let status = word(conversation.status().as_str_name(), "CONVERSATION_STATUS_");
    let messages = counted(listed.message_count, "message");
    let about = listed.summary.map(|summary| format!(". {summary}")).unwrap_or_default();
    let resource = Resource::new(uri(&listed.id), &listed.id)
        .with_description(format!("{status}, {messages}, since {}{about}", listed.started_at))
        .with_mime_type(MARKDOWN);
    match listed.title {
        Some(title) => resource.with_title(title),
        None => resource,
    }
}

/// The resources of every conversation.
pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{ROOT}{{id}}"), "conversation")
            .with_title("Conversation")
            .with_description("What was said in a conversation, current or past, by its id.")
            .with_mime_type(MARKDOWN),
        ResourceTemplate::new(format!("{ROOT}{{id}}/{SUMMARY}"), "conversation_summary")
            .with_title("Summary of a conversation")
            .with_description("What a conversation, current or past, was about, by its id.")
            .with_mime_type(MARKDOWN),
    ]
}

/// The content of the resource `uri`.
pub async fn read(memory: &Memory, uri: &str) -> Result<ReadResourceResult, Fault> {
    let text = match named(uri) {
        Some((id, false)) => conversation(memory, &id).await?,
        Some((id, true)) => summary(memory, &id).await?,
        None => {
            let text =
                format!("there is no resource {uri}; there are {ROOT}{{id}} and {ROOT}{{id}}/{SUMMARY}");
            return Err(Fault::Missing(text));
        }
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(MARKDOWN)]))
}

/// The ids of the recipient's conversations that begin with `start`, the most recently active first.
pub async fn complete(memory: &Memory, start: &str) -> Result<CompleteResult, Fault> {
    let conversation_id_prefix = start.to_owned();
    let request =
        ListConversationsRequest { page_size: COMPLETIONS, conversation_id_prefix, ..Default::default() };
    let listed = listed(memory, request).await?;
    let ids = listed.conversations.into_iter().map(|conversation| conversation.conversation_id);
    let completion = CompletionInfo::new(ids.collect());
    let mut completion = completion.map_err(Fault::Wrong)?;
    completion.has_more = Some(!listed.next_page_token.is_empty());
    Ok(CompleteResult::new(completion))
}

async fn listed(
    memory: &Memory,
    request: ListConversationsRequest,
) -> Result<ListConversationsResponse, Fault> {
    let order = ConversationOrder::NewestUpdate.into();
    let request = ListConversationsRequest { recipient_id: memory.recipient(None), order, ..request };
    Ok(memory.server.conversations().list_conversations(request).await?.into_inner())
}

fn uri(id: &str) -> String {
    format!("{ROOT}{}", utf8_percent_encode(id, ESCAPED))
}

/// The conversation that a URI names, and whether its summary is meant.
fn named(uri: &str) -> Option<(String, bool)> {
    let rest = uri.strip_prefix(ROOT)?;
    let summary = rest.strip_suffix(SUMMARY).and_then(|rest| rest.strip_suffix('/'));
    let id = percent_decode_str(summary.unwrap_or(rest)).decode_utf8().ok()?;
    (!id.is_empty() && !summary.unwrap_or(rest).contains('/')).then(|| (id.into_owned(), summary.is_some()))
}

async fn conversation(memory: &Memory, id: &str) -> Result<String, Fault> {
    let read = transcript::read(memory, id, 1, READ_BYTES).await?;
    let mut text = heading(&read.conversation);
    read.messages.iter().for_each(|message| text += &said(message));
    text += &rest(&read);
    Ok(text)
}

async fn summary(memory: &Memory, id: &str) -> Result<String, Fault> {
    let conversation = stored::conversation(&memory.server, id, "").await?;
    let request = SummarizeRequest { conversation_id: id.to_owned(), ..Default::default() };
    let told = memory.server.memory().summarize(request).await?.into_inner();
    Ok(format!("{}{}", heading(&conversation), told.text))
}

/// The title, the times, and the closing summary of a conversation that has ended.
fn heading(conversation: &Conversation) -> String {
    let listed = Listed::from(conversation);
    let title = listed.title.as_deref().unwrap_or("Conversation");
    let until = listed.ended_at.map(|end| format!(" to {end}")).unwrap_or_default();
    let mut text = format!("# {title}\n\n{}, {}{until}\n\n", listed.id, listed.started_at);
    if let Some(summary) = listed.summary {
        text += &format!("{summary}\n\n");
    }
    text
}

fn said(message: &Message) -> String {
    let speaker = match message.role {
        Speaker::User => "User",
        Speaker::Assistant => "Assistant",
    };
    let used = match message.tools_used.as_slice() {
        [] => String::new(),
        tools => format!(" [used: {}]", tools.join(", ")),
    };
    format!("**{speaker}**, {}:\n{}{used}\n\n", message.timestamp, message.content)
}

fn rest(read: &Transcript) -> String {
    match read.next {
        Some(next) => format!(
            "[The rest is left out. Once the conversation has ended, get_conversation reads it: conversation_id {}, \
             from_message {next}.]\n",
            read.conversation.conversation_id
        ),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_the_conversation_that_it_was_made_of() {
        for id in ["01M7WTMB69PZP3P3ZHSS25YEGY", "order 7/a", "100 %", "gespräch", "summary"] {
            assert_eq!(named(&uri(id)), Some((id.to_owned(), false)), "{id}");
            assert_eq!(named(&format!("{}/summary", uri(id))), Some((id.to_owned(), true)), "{id}");
        }
        for wrong in
            ["utterd://conversations/", "utterd://conversations/a/b", "utterd://x/a", "file:///a", ""]
        {
            assert_eq!(named(wrong), None, "{wrong}");
        }
    }
}
