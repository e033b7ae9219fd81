//! A server that requires credentials, with one for each namespace that a test uses.

use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use futures::FutureExt as _;
use prost_reflect::DynamicMessage;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tonic::{Streaming, transport::Channel};
use utterd::{
    domain::{Namespace, Timestamp},
    engine::{Caller, Clock, models::llm::LlmSummarizer},
    server::{Models, Server},
    store::Store,
};

use crate::support::{
    connect,
    prelude::*,
    wire::{self, Answer, method},
};

/// A server and a connection to it.
pub struct World {
    pub server: Server,
    clock: Arc<Counting>,
    channel: Channel,
    _credentials: TempDir,
}

/// A clock that stands still, and ids that count up: servers that get the same calls respond the same.
struct Counting(AtomicU64);

impl Counting {
    fn next(&self) -> u128 {
        self.0.fetch_add(1, Ordering::SeqCst).into()
    }
}

impl Clock for Counting {
    fn now(&self) -> Timestamp {
        Timestamp(1_772_366_400_000_000)
    }

    fn unique(&self) -> u128 {
        self.next()
    }

    fn secret(&self) -> Option<[u8; 16]> {
        Some(self.next().to_be_bytes())
    }
}

/// The number of namespaces with a credential, other than Anna's.
const OTHERS: usize = 250;

impl World {
    /// A server over `store`, whose summaries wait for `model`.
    pub async fn over(store: Arc<dyn Store>, model: Option<Arc<dyn LlmSummarizer>>) -> Self {
        let credentials = tempfile::tempdir().expect("a directory");
        let file = credentials.path().join("credentials.toml");
        let names = ["anna".to_owned()].into_iter().chain((0..OTHERS).map(other));
        fs::write(&file, names.map(|name| entry(&name)).collect::<String>()).expect("it is written");
        let settings = Settings { credentials: Some(file), ..Settings::default() };
        let clock = Arc::new(Counting(AtomicU64::new(1)));
        let models = Models { summarizer: model.clone(), embedder: None };
        let server = Server::of_parts(store, models, &settings, clock.clone()).expect("it is put together");
        if model.is_some() {
            tokio::spawn(server.engine().clone().run_llm_summaries());
        }
        Self { channel: connect(&server).await, server, clock, _credentials: credentials }
    }

    /// Makes new ids count from here.
    pub fn count_from(&self, number: u64) {
        self.clock.0.store(number, Ordering::SeqCst);
    }

    /// Calls a method with the credential of `namespace`.
    pub async fn call(&self, namespace: &str, name: &str, messages: &[Value]) -> Answer {
        self.called(Some(&token(namespace)), name, messages).await
    }

    /// Calls a method without any credential.
    pub async fn call_without(&self, name: &str, message: &Value) -> Answer {
        self.called(None, name, std::slice::from_ref(message)).await
    }

    async fn called(&self, token: Option<&str>, name: &str, messages: &[Value]) -> Answer {
        wire::call(self.channel.clone(), token, &method(name), &requests(name, messages)).await
    }

    /// Starts a call that continues.
    pub async fn watch(&self, namespace: &str, name: &str, message: &Value) -> Streaming<Bytes> {
        let requests = requests(name, std::slice::from_ref(message));
        let opened =
            wire::open(self.channel.clone(), Some(&token(namespace)), &method(name), &requests).await;
        opened.expect("the call is accepted")
    }

    /// The response of a call that must succeed.
    pub async fn ask(&self, namespace: &str, name: &str, message: Value) -> Value {
        let answer = self.call(namespace, name, &[message]).await;
        assert_eq!(answer.code, Code::Ok, "{name}: {}", answer.message);
        answer.json(&method(name)).into_iter().next().unwrap_or_default()
    }

    /// The cursor of the namespace's newest event: it advances with each operation.
    pub fn cursor(&self, namespace: &str) -> String {
        let caller = Caller { namespace: Namespace::new(namespace).expect("a name") };
        let events = self.server.engine().watch_events(&caller, None).now_or_never();
        events.expect("events are kept in memory").expect("from now on").cursor().to_string()
    }

    /// Gives `namespace` a conversation of its own, `own-talk`.
    pub async fn furnish(&self, namespace: &str) {
        let create = json!({
            "conversation_id": "own-talk", "recipient_id": "own-recipient",
            "policy": {"llm_summaries": false},
        });
        self.ask(namespace, "CreateConversation", create).await;
        let said = ["one", "two", "three"].map(|text| json!({"role": "ROLE_USER", "content": text}));
        self.ask(namespace, "Memorize", json!({"conversation_id": "own-talk", "utterances": said})).await;
    }
}

/// The name of a namespace other than Anna's.
pub fn other(number: usize) -> String {
    assert!(number < OTHERS, "{number} namespaces: let the world have more");
    format!("other-{number}")
}

fn token(namespace: &str) -> String {
    format!("the-token-of-{namespace}-which-is-long-enough")
}

fn entry(namespace: &str) -> String {
    let digest: String = Sha256::digest(token(namespace)).iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "[[credentials]]\nname = \"{namespace}\"\nnamespace = \"{namespace}\"\nrole = \"read-write\"\nsha256 = \"{digest}\"\n"
    )
}

fn requests(method: &str, messages: &[Value]) -> Vec<DynamicMessage> {
    let read = |message| wire::request(&wire::method(method), message);
    messages.iter().map(|message| read(message).unwrap_or_else(|error| panic!("{method}: {error}"))).collect()
}
