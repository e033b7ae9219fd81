//! `utterd list`: lists conversations.

use clap::{Args, ValueEnum};
use prost_types::Timestamp;

use crate::cli::{
    args::Remote,
    client::Connection,
    errors::CliError,
    terminal::{
        output::{Output, bold, note},
        table::{
            Side::{Left, Right},
            aligned,
        },
        text::{clipped, count, visible, word},
    },
};
use crate::proto::{Conversation, ConversationOrder, ConversationStatus, ListConversationsRequest};

/// The most conversations per page.
const MOST: i32 = 1_000;

/// A conversation's status.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Status {
    /// Something was said recently
    Active,
    /// The last utterance awaits an answer
    AwaitingAnswer,
    /// Nothing has been said for some time
    Idle,
    /// It has ended
    Closed,
}

/// Which conversations come first.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    /// The most recently changed
    Used,
    /// The most recently started
    Started,
    /// The least recently changed
    LeastUsed,
    /// The least recently started
    Oldest,
}

/// List conversations: their status, their size, when they were last used, and their titles
///
/// In a pipe, each line is a conversation, with tab-separated columns: id, recipient, status, utterances stored,
/// tokens of the window, last use, title.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd list
  utterd list --all --status active
  utterd list --recipient alice --json | jq -r .conversationId")]
pub struct List {
    #[command(flatten)]
    remote: Remote,
    /// The recipient [default: default]
    #[arg(
        id = "recipient_id",
        long = "recipient",
        short = 'r',
        value_name = "ID",
        default_value = "",
        hide_default_value = true
    )]
    recipient: String,
    /// List the conversations of every recipient
    #[arg(id = "all_recipients", long = "all", short = 'a', conflicts_with = "recipient_id")]
    all: bool,
    /// Only conversations with this status
    #[arg(long)]
    status: Option<Status>,
    /// Only conversations whose id begins with this
    #[arg(
        id = "conversation_id_prefix",
        long = "prefix",
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    prefix: String,
    /// Which come first
    #[arg(long, default_value = "used")]
    order: Order,
    /// List at most this many, up to 1000; 0 lists all
    #[arg(
        id = "page_size",
        long = "limit",
        value_name = "N",
        default_value_t = 50,
        value_parser = clap::value_parser!(i32).range(0..=1000)
    )]
    limit: i32,
    /// Continue an earlier list, by the token that it printed
    #[arg(
        id = "page_token",
        long = "after",
        value_name = "TOKEN",
        default_value = "",
        hide_default_value = true
    )]
    after: String,
    /// Print each conversation as JSON, one per line, and an error as JSON on stderr
    #[arg(long)]
    json: bool,
}

/// Lists conversations.
pub async fn list(args: List) -> Result<(), CliError> {
    let connection = Connection::to(&args.remote).await?;
    let (listed, next) = fetch(&connection, &args).await?;
    let mut output = Output::paged();
    if args.json {
        listed.iter().try_for_each(|listed| output.json_line("Conversation", listed))?;
    } else {
        tell(&mut output, &listed, args.all)?;
    }
    output.flush()?;
    match (listed.is_empty(), next.as_str()) {
        (true, _) => note("no conversations"),
        (false, "") => {}
        (false, token) => {
            note(&format!("there are more: --limit 0 lists all, --after {token} continues here"))
        }
    }
    Ok(())
}

/// Fetches one page, or all pages if there is no limit; returns the token of the next page if there are more.
async fn fetch(connection: &Connection, args: &List) -> Result<(Vec<Conversation>, String), CliError> {
    let (mut listed, mut request) = (Vec::new(), request(args));
    loop {
        let page = connection.conversations().list_conversations(request.clone()).await?.into_inner();
        listed.extend(page.conversations);
        if page.next_page_token.is_empty() || args.limit > 0 {
            return Ok((listed, page.next_page_token));
        }
        request.page_token = page.next_page_token;
    }
}

fn request(args: &List) -> ListConversationsRequest {
    let status = args.status.map_or(ConversationStatus::Unspecified, |status| match status {
        Status::Active => ConversationStatus::Active,
        Status::AwaitingAnswer => ConversationStatus::AwaitingAnswer,
        Status::Idle => ConversationStatus::Idle,
        Status::Closed => ConversationStatus::Closed,
    });
    let order = match args.order {
        Order::Used => ConversationOrder::NewestUpdate,
        Order::Started => ConversationOrder::NewestStart,
        Order::LeastUsed => ConversationOrder::OldestUpdate,
        Order::Oldest => ConversationOrder::OldestStart,
    };
    ListConversationsRequest {
        recipient_id: args.recipient.clone(),
        status: status.into(),
        page_size: if args.limit == 0 { MOST } else { args.limit },
        page_token: args.after.clone(),
        all_recipients: args.all,
        conversation_id_prefix: args.prefix.clone(),
        order: order.into(),
    }
}

/// Prints a table on a terminal; elsewhere, tab-separated lines.
fn tell(output: &mut Output, listed: &[Conversation], all: bool) -> std::io::Result<()> {
    if output.width().is_none() {
        return listed.iter().try_for_each(|listed| output.line(&cells(listed).join("\t")));
    }
    if listed.is_empty() {
        return Ok(());
    }
    let head = ["CONVERSATION", "RECIPIENT", "STATUS", "UTTERANCES", "TOKENS", "LAST USE", "TITLE"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(listed.iter().map(shown));
    let lines = match all {
        true => aligned(&rows, [Left, Left, Left, Right, Right, Left, Left]),
        false => {
            let rows: Vec<_> = rows.into_iter().map(|[id, _, a, b, c, d, e]| [id, a, b, c, d, e]).collect();
            aligned(&rows, [Left, Left, Right, Right, Left, Left])
        }
    };
    for (index, line) in lines.iter().enumerate() {
        let line = clipped(line, output.width());
        output.line(&if index == 0 { bold(&line) } else { line })?;
    }
    Ok(())
}

/// The cells for people: with thousands separators, and `*` after a recipient's active conversation.
fn shown(listed: &Conversation) -> [String; 7] {
    let [id, recipient, status, _, _, used, title] = cells(listed);
    let mark = if listed.active { "*" } else { "" };
    let used = used.replace('T', " ").chars().take("2026-11-23 15:20".len()).collect();
    let (utterances, tokens) = (count(listed.utterance_count()), count(listed.window_token_count()));
    [format!("{id}{mark}"), recipient, status, utterances, tokens, used, title]
}

fn cells(listed: &Conversation) -> [String; 7] {
    [
        visible(&listed.conversation_id),
        visible(&listed.recipient_id),
        word(listed.status().as_str_name(), "CONVERSATION_STATUS_"),
        listed.utterance_count().to_string(),
        listed.window_token_count().to_string(),
        second(listed.update_time),
        visible(&listed.title),
    ]
}

/// `2026-11-23T15:20:04Z`: a time without the fraction of its second.
fn second(time: Option<Timestamp>) -> String {
    time.map(|time| Timestamp { nanos: 0, ..time }.to_string()).unwrap_or_default()
}
