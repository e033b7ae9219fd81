//! `utterd list`: lists conversations.

use std::io;

use clap::Args;

use crate::{
    args::{Json, Remote},
    client::Connection,
    errors::CliError,
    terminal::{Output, count, counted, folded, minute, note, word},
};
use utterd_rpc::proto::{Conversation, ConversationStatus, ListConversationsRequest};

/// The most conversations per page.
const MOST: i32 = 1_000;

/// List conversations
///
/// Says which conversation gets the recipient's next message: its active one; with --json, `active` is true. If it is
/// idle, the next message ends it and starts another. `utterd call ListConversations` takes everything else that can be
/// asked for.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd list
  utterd list --all
  utterd list --recipient alice --json | jq -r .conversationId")]
pub struct List {
    #[command(flatten)]
    remote: Remote,
    /// List the conversations of this recipient [default: default]
    #[arg(long, short, value_name = "ID", default_value = "")]
    recipient: String,
    /// List the conversations of every recipient
    #[arg(long, short, conflicts_with = "recipient")]
    all: bool,
    /// List at most N, up to 1000; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(i32).range(0..=1000))]
    limit: i32,
    #[command(flatten)]
    json: Json,
}

/// Lists conversations.
pub async fn list(args: List) -> Result<(), CliError> {
    let connection = Connection::to(&args.remote).await?;
    let (mut output, mut request, mut listed) = (Output::new(), request(&args), 0);
    loop {
        let page = connection.conversations().list_conversations(request.clone()).await?.into_inner();
        listed += page.conversations.len();
        match args.json.json {
            true => page.conversations.iter().try_for_each(|one| output.json_line(one))?,
            false => page.conversations.iter().try_for_each(|one| tell(&mut output, one, args.all))?,
        }
        output.flush()?;
        request.page_token = page.next_page_token;
        match (request.page_token.is_empty(), args.limit, listed) {
            (false, 0, _) => continue,
            (false, ..) => note("there are more: --limit 0 lists all"),
            (true, _, 0) => note("no conversations"),
            (true, ..) => {}
        }
        return Ok(());
    }
}

fn request(args: &List) -> ListConversationsRequest {
    ListConversationsRequest {
        recipient_id: args.recipient.clone(),
        page_size: if args.limit == 0 { MOST } else { args.limit },
        all_recipients: args.all,
        ..Default::default()
    }
}

/// Two lines: `trip · active · 2026-11-23 15:20 · gets the next message`, and `38 said, 573 tokens in the window · A
/// weekend in Lisbon`.
fn tell(output: &mut Output, listed: &Conversation, all: bool) -> io::Result<()> {
    let joined = |parts: &[&str]| {
        let told: Vec<_> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
        told.join(" · ")
    };
    let recipient = if all { &*listed.recipient_id } else { "" };
    let status = word(listed.status().as_str_name(), "CONVERSATION_STATUS_");
    let used = listed.update_time.as_ref().map(minute).unwrap_or_default();
    output.row(&joined(&[&listed.conversation_id, recipient, &status, &used, next(listed)]))?;
    let (said, tokens) = (count(listed.utterance_count()), counted(listed.window_token_count(), "token"));
    let counts = format!("  {said} said, {tokens} in the window");
    output.row(&joined(&[&counts, &folded(&listed.title)]))
}

/// What the next message to the recipient does with the conversation.
fn next(listed: &Conversation) -> &'static str {
    match (listed.active, listed.status()) {
        (false, _) => "",
        (true, ConversationStatus::Idle) => "the next message ends it",
        (true, _) => "gets the next message",
    }
}
