//! `utterd demo`: an in-memory server with example conversations.

use clap::Args;
use futures::stream;
use prost_types::FieldMask;

use super::{
    access::Access, client::Connection, conversations::stored::everything, errors::CliError, serve::log,
};
use utterd_config::{INSPECTOR, Listen, Preset, Settings};
use utterd_rpc::proto::{
    CompactConversationRequest, CreateConversationRequest, EndConversationRequest, ForkConversationRequest,
    ImportConversationRequest, ImportHeader, MemorizeRequest, NewUtterance, Role, UpdateUtteranceRequest,
    import_conversation_request::Message,
};
use utterd_server::{Announce, InProcess};

/// A trip planned with tools.
const TRIP: &str = include_str!("../../../examples/data/trip.json");
/// A short conversation with a shop.
const SHOP: &str = include_str!("../../../examples/data/shop.jsonl");
/// The pinned utterance: the user's diet and allergy.
const PINNED: i64 = 4;
/// The last utterance of the trip that its fork shares: the list of hotels.
const FORKED_AT: i64 = 16;
/// How many utterances of the trip its compaction keeps.
const KEPT: i32 = 12;

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

async fn fill(connection: &Connection) -> Result<(), CliError> {
    let request = CreateConversationRequest {
        conversation_id: "trip".into(),
        recipient_id: "anna".into(),
        title: "A long weekend in Lisbon".into(),
        ..Default::default()
    };
    connection.conversations().create_conversation(request).await?;
    import(connection, "trip", "anna", TRIP).await?;
    pin(connection).await?;
    fork(connection).await?;
    let request = CompactConversationRequest {
        conversation_id: "trip".into(),
        keep_recent: Some(KEPT),
        ..Default::default()
    };
    connection.compactions().compact_conversation(request).await?;
    import(connection, "", "ben", SHOP).await?;
    let request = EndConversationRequest {
        conversation_id: "order-7".into(),
        reason: "task completed".into(),
        ..Default::default()
    };
    connection.conversations().end_conversation(request).await?;
    Ok(())
}

async fn import(
    connection: &Connection,
    conversation: &str,
    recipient: &str,
    text: &str,
) -> Result<(), CliError> {
    let header = ImportHeader {
        conversation_id: conversation.into(),
        recipient_id: recipient.into(),
        into_existing: true,
        ..Default::default()
    };
    let messages = [Message::Header(header), Message::Chunk(text.into())];
    let requests = messages.map(|message| ImportConversationRequest { message: Some(message) });
    connection.conversations().import_conversation(stream::iter(requests)).await?;
    Ok(())
}

async fn pin(connection: &Connection) -> Result<(), CliError> {
    let stored = everything(connection, "trip").await?;
    for utterance in stored.into_iter().filter(|utterance| utterance.sequence == PINNED) {
        let request = UpdateUtteranceRequest {
            conversation_id: "trip".into(),
            utterance_id: utterance.utterance_id,
            pinned: true,
            update_mask: Some(FieldMask { paths: vec!["pinned".into()] }),
            ..Default::default()
        };
        connection.conversations().update_utterance(request).await?;
    }
    Ok(())
}

/// The same trip from the list of hotels on, but by train.
async fn fork(connection: &Connection) -> Result<(), CliError> {
    let request = ForkConversationRequest {
        conversation_id: "trip".into(),
        at_sequence: Some(FORKED_AT),
        new_conversation_id: "trip-by-train".into(),
        title: "The same trip by night train".into(),
        ..Default::default()
    };
    connection.conversations().fork_conversation(request).await?;
    let content = "Wait. What would it look like by night train, without flying at all?";
    let utterance = NewUtterance { role: Role::User.into(), content: content.into(), ..Default::default() };
    let request = MemorizeRequest {
        conversation_id: "trip-by-train".into(),
        utterances: vec![utterance],
        ..Default::default()
    };
    connection.memory().memorize(request).await?;
    Ok(())
}
