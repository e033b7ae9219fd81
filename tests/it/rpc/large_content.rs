//! The largest content that the server accepts, on every store: said, read, listed, rendered, exported, and
//! still there after a restart.

use std::future::Future;

use utterd::{
    config::Preset,
    domain::limits::MOST_CONTENT_BYTES,
    proto::export_conversation_response::Message as Out,
    store::{
        Store,
        durable::{DurableStore, EngineKind, Options},
    },
};

use crate::support::prelude::*;

/// The message size limit of a client of such a server.
const ANSWER: usize = 40 << 20;

fn settings() -> Settings {
    Settings::of(Preset::Session)
}

/// The largest content, made of words.
fn content() -> String {
    let mut content = "The pump of the tank failed in the night. ".repeat(MOST_CONTENT_BYTES / 42 + 1);
    content.truncate(MOST_CONTENT_BYTES);
    content
}

#[test]
fn in_memory() {
    life(said_and_read(Arc::new(MemoryStore::new(0))));
}

#[test]
fn with_fjall() {
    survives(EngineKind::Fjall);
}

#[test]
fn with_sled() {
    survives(EngineKind::Sled);
}

fn survives(engine: EngineKind) {
    let directory = tempfile::tempdir().unwrap();
    let store = || Arc::new(DurableStore::open(engine, directory.path(), &Options::default()).unwrap());
    life(said_and_read(store()));
    life(async {
        let session = Session::over_with(store(), &settings()).await;
        reads(&session, &content()).await;
    });
}

/// Runs one server: everything it started ends with its runtime.
fn life(run: impl Future<Output = ()>) {
    utterd::server::runtime().unwrap().block_on(run);
}

async fn said_and_read(store: Arc<dyn Store>) {
    let session = Session::over_with(store, &settings()).await;
    let content = content();
    let said = session.memory().memorize(memorize(vec![user(&content)])).await.reply();
    assert!(said.memorized[0].token_count() > 1_000_000, "{said:?}");
    session.say(vec![user("And now?")]).await;
    reads(&session, &content).await;
    let more = memorize(vec![user(&(content + "!"))]);
    let refused = session.memory().memorize(more).await.refusal();
    refused.is(Code::InvalidArgument, "CONTENT_TOO_LARGE").limits_to(16 << 20);
    assert_eq!(session.capacity().await.utterance_count(), 2);
}

async fn reads(session: &Session, content: &str) {
    let mut conversations = session.conversations().max_decoding_message_size(ANSWER);
    let request = ListUtterancesRequest::default();
    let page = conversations.list_utterances(request.clone()).await.reply();
    assert_eq!(page.utterances.len(), 1, "a page holds one at least, and ends before the next");
    assert!(page.utterances[0].content == content);
    let next = ListUtterancesRequest { page_token: page.next_page_token, ..request };
    let page = conversations.list_utterances(next).await.reply();
    assert_eq!((page.utterances.len(), page.utterances[0].content.as_str()), (1, "And now?"));

    let mut contexts = session.context().max_decoding_message_size(ANSWER);
    let context = contexts.build_context(BuildContextRequest::default()).await.reply();
    assert!(context.messages_json.contains(content));

    let mut exported =
        session.conversations().export_conversation(ExportConversationRequest::default()).await.reply();
    let mut bytes = Vec::new();
    while let Some(response) = exported.message().await.unwrap() {
        if let Some(Out::Chunk(chunk)) = response.message {
            bytes.extend(chunk);
        }
    }
    assert!(String::from_utf8(bytes).unwrap().contains(content));
}

/// Extras count as content, and as no tokens unless they are declared.
#[tokio::test]
async fn large_extras_count_no_tokens() {
    let session = Session::with(&settings()).await;
    let extras = format!("{{\"image\":\"{}\"}}", "a".repeat(2 << 20));
    let with = |extras_json: String, extras_token_count| NewUtterance {
        extras_json,
        extras_token_count,
        ..user("What is this?")
    };
    let said = |utterance| MemorizeRequest { ..memorize(vec![utterance]) };
    let tokens =
        async |utterance| session.memory().memorize(said(utterance)).await.reply().memorized[0].token_count();
    let bare = tokens(user("What is this?")).await;
    assert_eq!(tokens(with(extras.clone(), 0)).await, bare);
    assert_eq!(tokens(with(extras, 85)).await, bare + 85);
}
