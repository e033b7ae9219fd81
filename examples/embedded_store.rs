//! A server embedded in a program, with a custom store: `cargo run --example embedded_store`.
//!
//! The store is the memory store with a log of what was committed. A store that keeps conversations elsewhere
//! implements the same methods; the feature `conformance` has the tests that it must pass.

use std::{
    collections::HashMap,
    error::Error,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{net::TcpListener, sync::oneshot};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Endpoint;
use utterd::{
    config::Settings,
    domain::{Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance},
    engine::SystemClock,
    proto::{MemorizeRequest, NewUtterance, Role, memory_service_client::MemoryServiceClient},
    server::Server,
    store::{
        BoxFuture, Capabilities, Commit, CommitError, DerivedData, Due, List, MemoryStore, Outcome,
        OutcomeKey, Quotas, RecipientKey, Result, Sharing, Store, Upkeep, async_trait,
    },
};

/// Assembles a server, calls it, and prints what the store has seen.
#[tokio::main]
pub async fn main() -> Result<(), Box<dyn Error>> {
    for line in run().await? {
        println!("{line}");
    }
    Ok(())
}

/// The lines that are printed.
pub async fn run() -> Result<Vec<String>, Box<dyn Error>> {
    let log = Log::default();
    let store = Arc::new(LoggedStore::new(log.clone()));
    let server = Server::over(store, &Settings::default(), Arc::new(SystemClock))?;

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve_connections(TcpListenerStream::new(listener), async {
        let _ = stopped.await;
    }));

    let channel = Endpoint::from_shared(format!("http://{address}"))?.connect().await?;
    let mut memory = MemoryServiceClient::new(channel);
    for (role, content) in [(Role::User, "To Oslo, on Monday."), (Role::Assistant, "By train?")] {
        let said = NewUtterance { role: role.into(), content: content.to_owned(), ..Default::default() };
        let request = MemorizeRequest {
            conversation_id: "trip".to_owned(),
            utterances: vec![said],
            ..Default::default()
        };
        let response = memory.memorize(request).await?.into_inner();
        log.add(format!("answered: trip is at revision {}", response.revision));
    }

    drop(memory); // with its connection, which the server waits for when it ends
    let _ = stop.send(());
    serving.await?;
    Ok(log.lines())
}

/// What has happened, one line per event.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The memory store, which logs each commit that took effect.
pub struct LoggedStore {
    inner: MemoryStore,
    log: Log,
}

impl LoggedStore {
    /// An empty store, which logs to `log`.
    pub fn new(log: Log) -> Self {
        Self { inner: MemoryStore::new(0), log }
    }
}

#[async_trait]
impl Store for LoggedStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: "logged", ..self.inner.capabilities() }
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        let states = commit.writes.iter().filter_map(|write| write.after());
        let lines: Vec<String> = states
            .map(|after| format!("committed: {} has {} utterances", after.key().id, after.head.stored))
            .collect();
        // called here and not in the future: commits take effect in the order of these calls
        let committed = self.inner.commit(commit);
        let log = self.log.clone();
        Box::pin(async move {
            committed.await?;
            lines.into_iter().for_each(|line| log.add(line));
            Ok(())
        })
    }

    async fn load(&self, key: &ConversationKey) -> Result<Option<Arc<Conversation>>> {
        self.inner.load(key).await
    }

    async fn archived(&self, key: &ConversationKey, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>> {
        self.inner.archived(key, wanted).await
    }

    async fn archived_ids(
        &self,
        key: &ConversationKey,
        ids: &[Box<str>],
    ) -> Result<HashMap<Box<str>, Sequence>> {
        self.inner.archived_ids(key, ids).await
    }

    async fn sharing(&self, key: &ConversationKey) -> Result<Vec<(ConversationKey, Sequence)>> {
        self.inner.sharing(key).await
    }

    async fn active(&self, recipient: &RecipientKey) -> Result<Option<ConversationId>> {
        self.inner.active(recipient).await
    }

    async fn state(
        &self,
        key: &ConversationKey,
        names: &[Box<str>],
    ) -> Result<Vec<Arc<utterd::domain::state::StateValue>>> {
        self.inner.state(key, names).await
    }

    async fn list(&self, list: List) -> Result<Vec<Head>> {
        self.inner.list(list).await
    }

    async fn ended_beyond(
        &self,
        recipient: &RecipientKey,
        keep: usize,
        limit: usize,
    ) -> Result<Vec<ConversationId>> {
        self.inner.ended_beyond(recipient, keep, limit).await
    }

    async fn outcome(&self, key: &OutcomeKey, oldest: Timestamp) -> Result<Option<Arc<Outcome>>> {
        self.inner.outcome(key, oldest).await
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Due>> {
        self.inner.due(now, limit).await
    }

    async fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, ConversationKey)>> {
        self.inner.waiting(after, limit).await
    }

    async fn remove_outcomes(&self, oldest: Timestamp) -> Result<u64> {
        self.inner.remove_outcomes(oldest).await
    }

    async fn scrub(&self) -> Result<()> {
        self.inner.scrub().await
    }
}

impl Sharing for LoggedStore {}
impl DerivedData for LoggedStore {}
impl Upkeep for LoggedStore {
    fn set_quotas(&self, quotas: Quotas) -> Result<()> {
        self.inner.set_quotas(quotas)
    }
}
