//! What was said is never in the log, in events, or in the debug output of an error, on any backend.
//!
//! Every text of every request contains a secret, in requests that are accepted and in those that are refused
//! because of it, while everything is logged that a server can log, and more is asked for.

mod calls;
mod log;
mod plant;

use std::{collections::BTreeSet, path::Path, sync::LazyLock};

use futures::StreamExt;
use libtest_mimic::Trial;
use prost_reflect::MethodDescriptor;
use tonic::transport::Channel;
use utterd::{
    config::DurableEngine,
    proto::{
        conversation_service_client::ConversationServiceClient, memory_service_client::MemoryServiceClient,
        trace_service_client::TraceServiceClient,
    },
    server::Server,
};

use crate::support::{connect, prelude::*, schema, schema::Schema, server_in, server_in_memory, wire};
use log::Log;

/// In ids, which events contain.
const NAMED: &str = "named";
/// In any other text.
const PLANTED: &str = "planted";

/// Methods whose request finds nothing to compact, or to undo.
const REFUSED: [&str; 3] = ["CompactConversation", "RevokeShare", "UndoCompaction"];

/// What is logged once the first of these tests runs. They share it: none finds a secret of another either.
static LOG: LazyLock<Log> = LazyLock::new(Log::start);

pub fn trials() -> Vec<Trial> {
    vec![
        trial("memory", |_| server_in_memory(&Settings::default(), &ManualClock::new())),
        trial("fjall", |directory| in_files(directory, DurableEngine::Fjall)),
        trial("sled", |directory| in_files(directory, DurableEngine::Sled)),
        schema::trial("secrets::postgres".into(), |cluster| {
            let schema = Schema::new(cluster);
            // with the events of commits, which are stored
            let settings = Settings { database_events: true, ..schema.settings(&Settings::default()) };
            let server = || Server::new(&settings, ManualClock::new()).expect("the settings go together");
            finish(no_secret_is_logged_or_told_in_events(server));
        }),
    ]
}

fn trial(store: &str, server: fn(&Path) -> Server) -> Trial {
    Trial::test(format!("secrets::{store}"), move || {
        let directory = tempfile::tempdir().expect("a directory");
        finish(no_secret_is_logged_or_told_in_events(|| server(directory.path())));
        Ok(())
    })
}

fn in_files(directory: &Path, engine: DurableEngine) -> Server {
    server_in(directory, engine, &Settings::default(), &ManualClock::new()).expect("a new store opens")
}

fn finish(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime starts").block_on(test);
}

async fn no_secret_is_logged_or_told_in_events(server: impl FnOnce() -> Server) {
    LazyLock::force(&LOG);
    let server = server();
    let channel = connect(&server).await;
    let token = share(&channel).await;
    let mut events = TraceServiceClient::new(channel.clone())
        .watch_events(WatchEventsRequest::default())
        .await
        .unwrap()
        .into_inner();

    let methods = wire::methods();
    let method = |name: &str| methods.iter().find(|it| it.name() == name).unwrap();
    let calls = calls::accepted(&token);
    let called: BTreeSet<_> = calls.iter().map(|(name, _)| *name).collect();
    assert_eq!(called, methods.iter().map(|it| it.name()).collect(), "every method has its secrets here");

    let mut planted = 0;
    for (name, messages) in &calls {
        let answer = call(&channel, method(name), messages).await;
        // not every store supports backups
        let refused = REFUSED.contains(name) || *name == "Backup" && answer.is_err();
        assert_eq!(answer.is_err(), refused, "{name}: {answer:?}");
        for variant in plant::variants(&method(name).input(), messages) {
            // accepted or refused, either is fine
            let _ = call(&channel, method(name), &variant).await;
            planted += 1;
        }
    }
    assert!(planted > 150, "{planted} texts were planted");

    let told = told(&channel, &mut events).await;
    assert!(told.contains(NAMED), "{told}");
    refute(&told, &[PLANTED, &token]);
    let logged = LOG.text();
    assert!(logged.contains("DEBUG"), "everything is logged");
    assert!(logged.contains("INVALID_FIELD"), "what is refused is logged by its reason");
    refute(&logged, &[PLANTED, NAMED, &token]);
}

/// A token for another conversation.
async fn share(channel: &Channel) -> String {
    say(channel, "shared").await;
    let conversation_id = "shared".to_owned();
    let request = ShareConversationRequest { conversation_id, ..Default::default() };
    let mut conversations = ConversationServiceClient::new(channel.clone());
    conversations.share_conversation(request).await.unwrap().into_inner().token
}

/// Calls a method; returns the first error.
async fn call(channel: &Channel, method: &MethodDescriptor, messages: &[Value]) -> Result<(), Status> {
    let requests: Result<Vec<_>, _> = messages.iter().map(|message| wire::request(method, message)).collect();
    let requests = requests.map_err(|error| Status::invalid_argument(error.to_string()))?;
    let mut responses = wire::open(channel.clone(), None, method, &requests).await?;
    while responses.message().await?.is_some() && !wire::is_endless(method) {}
    Ok(())
}

/// The debug output of the events up to one of the conversation `last`.
async fn told(channel: &Channel, events: &mut tonic::Streaming<WatchEventsResponse>) -> String {
    say(channel, "last").await;
    let mut told = String::new();
    while !told.contains("\"last\"") {
        let next = events.next().await.unwrap().unwrap();
        told.push_str(&format!("{next:?}\n"));
    }
    told
}

async fn say(channel: &Channel, conversation: &str) {
    let request =
        MemorizeRequest { conversation_id: conversation.to_owned(), ..memorize(vec![user(PLANTED)]) };
    MemoryServiceClient::new(channel.clone()).memorize(request).await.unwrap();
}

#[track_caller]
fn refute(text: &str, secrets: &[&str]) {
    let lines = text.lines().filter(|line| secrets.iter().any(|secret| line.contains(secret)));
    let found: Vec<&str> = lines.take(10).collect();
    assert!(found.is_empty(), "{} lines, such as:\n{}", found.len(), found.join("\n"));
}
