//! The prompt that continues a conversation.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::{bounds::CONTEXT_TOKENS, fault::Fault, memory::Memory};
use utterd_rpc::proto::{BuildContextRequest, ContextFormat, ConversationOrder, ListConversationsRequest};

const NAME: &str = "continue_conversation";
const CONVERSATION: &str = "conversation_id";

/// The prompts that are offered.
pub fn described() -> Vec<Prompt> {
    let conversation = PromptArgument::new(CONVERSATION)
        .with_title("Conversation")
        .with_description("The conversation's id. By default the one that was last continued.")
        .with_required(false);
    let description =
        "Continue a conversation where it was left: its summary and its last messages, for a model to read.";
    vec![Prompt::new(NAME, Some(description), Some(vec![conversation])).with_title("Continue a conversation")]
}

/// The prompt `name`.
pub async fn get(memory: &Memory, name: &str, arguments: &JsonObject) -> Result<GetPromptResult, Fault> {
    if name != NAME {
        return Err(Fault::Wrong(format!("there is no prompt {name}; there is {NAME}")));
    }
    let named = arguments.get(CONVERSATION).and_then(|id| id.as_str()).unwrap_or_default();
    let text = continued(memory, named).await?;
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

async fn continued(memory: &Memory, named: &str) -> Result<String, Fault> {
    let id = if named.is_empty() { newest(memory).await? } else { Some(named.to_owned()) };
    let Some(conversation_id) = id else {
        return Ok("There is no earlier conversation to continue. Ask me what I want to talk about.".into());
    };
    let format = ContextFormat::Text.into();
    let token_budget = Some(CONTEXT_TOKENS);
    let request = BuildContextRequest { conversation_id, format, token_budget, ..Default::default() };
    let context = memory.server.contexts().build_context(request).await?.into_inner();
    Ok(format!(
        "Let us continue an earlier conversation ({}). This is where it stands:\n\n{}\n\nSay in a sentence or two where \
         we were, and continue from there.",
        context.conversation_id, context.text
    ))
}

/// The recipient's most recently active conversation.
async fn newest(memory: &Memory) -> Result<Option<String>, Fault> {
    let recipient_id = memory.recipient(None);
    let order = ConversationOrder::NewestUpdate.into();
    let request = ListConversationsRequest { recipient_id, page_size: 1, order, ..Default::default() };
    let listed = memory.server.conversations().list_conversations(request).await?.into_inner();
    Ok(listed.conversations.into_iter().next().map(|conversation| conversation.conversation_id))
}
