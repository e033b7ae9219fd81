//! `utterd demo`: an in-memory server with example conversations.

use clap::Args;
use futures::stream;

use super::{
    access::Access, call::make, client::Connection, conversations::stored::everything, errors::CliError,
    serve::log,
};
use utterd_config::{INSPECTOR, Listen, Preset, Settings};
use utterd_rpc::proto::{ImportConversationRequest, ImportHeader, import_conversation_request::Message};
use utterd_server::{Announce, InProcess};

/// A trip planned with tools.
const TRIP: &str = include_str!("../../../examples/data/trip.json");
/// A short conversation with a shop.
const SHOP: &str = include_str!("../../../examples/data/shop.jsonl");
/// The pinned utterance: the user's diet and allergy.
const PINNED: i64 = 4;
/// What is done with them: a method and its request a line, as `utterd call` takes them.
const CALLS: &str = include_str!("demo.tsv");

/// Run a server with example conversations, in memory
///
/// The examples are the plan of a trip, with tool calls, a pin and a compaction; a fork of it; and a conversation that
/// has ended. The server names three commands to try. Ctrl-C ends it, and deletes everything in it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd demo
  utterd demo --inspector
  utterd demo --listen 127.0.0.1:50052")]
pub struct Demo {
    /// The address to listen on: HOST:PORT, or unix:PATH
    #[arg(long, value_name = "ADDRESS", value_parser = address, default_value = "127.0.0.1:50051")]
    listen: Listen,
    /// Also serve the inspector, a page for browsers, on HOST:PORT [default: 127.0.0.1:50080]
    #[arg(long, value_name = "ADDRESS", value_parser = address, num_args = 0..=1, default_missing_value = INSPECTOR)]
    inspector: Option<Listen>,
}

fn address(text: &str) -> Result<Listen, String> {
    Listen::parse(text).ok_or_else(|| "must be an address, such as 127.0.0.1:50051, or unix:PATH".into())
}

/// Fills a server within this process, and serves until the process is asked to end.
pub async fn demo(args: Demo) -> Result<(), CliError> {
    let Demo { listen, inspector } = args;
    let settings = Settings { listen, inspector, log: "warn".into(), ..Settings::of(Preset::Session) };
    log(&settings.log, settings.log_format);
    let server = InProcess::start(&settings).await?;
    fill(&Connection::within(server.connector(), &Access::default()).await?).await?;
    Ok(server.listen(&settings, Announce::Tour(tour)).await?)
}

/// What the server holds, and what to try.
fn tour(address: &Listen) -> String {
    let server = match address {
        Listen::Tcp(address) if address.port() == 50051 && address.ip().is_loopback() => String::new(),
        other => format!(" --server {}", other.reached()),
    };
    format!(
        "in memory, until Ctrl-C: a trip being planned (trip), a fork of it (trip-by-train), and a question about an \
        order (order-7)\ntry it in another terminal:\n  utterd list --all{server}\n  utterd show trip{server}\n  utterd \
        remember trip 'nuts at breakfast'{server}"
    )
}

/// Imports the conversations, and makes the calls.
async fn fill(connection: &Connection) -> Result<(), CliError> {
    for (conversation, recipient, text) in [("trip", "anna", TRIP), ("", "ben", SHOP)] {
        let header = ImportHeader {
            conversation_id: conversation.into(),
            recipient_id: recipient.into(),
            ..Default::default()
        };
        let messages = [Message::Header(header), Message::Chunk(text.into())];
        let requests = messages.map(|message| ImportConversationRequest { message: Some(message) });
        connection.conversations().import_conversation(stream::iter(requests)).await?;
    }
    let pinned = everything(connection, "trip").await?.into_iter().find(|it| it.sequence == PINNED);
    let pinned = pinned.unwrap_or_default().utterance_id;
    for (method, request) in CALLS.lines().filter_map(|line| line.split_once('\t')) {
        make(connection, method, request.replace("PINNED", &pinned)).await?;
    }
    Ok(())
}
