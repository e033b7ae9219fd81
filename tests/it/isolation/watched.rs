//! A store that records which namespaces it was asked about, and which ones its answers name.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex},
};

use utterd::{
    domain::{
        Conversation, ConversationId, ConversationKey, Head, Namespace, Ranges, Sequence, Timestamp,
        Utterance,
    },
    store::{
        BoxFuture, Capabilities, Commit, CommitError, DerivedData, Due, List, MemoryStore, Outcome,
        OutcomeKey, RecipientKey, Result, Sharing, Store, Upkeep, async_trait,
    },
};

/// A memory store that is observed.
pub struct Watched {
    inner: MemoryStore,
    named: Mutex<BTreeSet<String>>,
}

impl Watched {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { inner: MemoryStore::new(0), named: Mutex::default() })
    }

    /// The namespaces named since the last call.
    pub fn named(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.named.lock().unwrap())
    }

    fn note(&self, namespace: &Namespace) -> &MemoryStore {
        self.named.lock().unwrap().insert(namespace.as_str().to_owned());
        &self.inner
    }

    /// Records what an answer names.
    fn noting<'a, T: 'a>(
        &'a self,
        answer: BoxFuture<'a, Result<T>>,
        keys: impl Fn(&T) -> Vec<&ConversationKey> + Send + 'a,
    ) -> BoxFuture<'a, Result<T>> {
        Box::pin(async move {
            let answer = answer.await?;
            keys(&answer).into_iter().for_each(|key| _ = self.note(&key.namespace));
            Ok(answer)
        })
    }
}

#[async_trait]
impl Store for Watched {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn load(&self, key: &ConversationKey) -> Result<Option<Arc<Conversation>>> {
        let answer = self.note(&key.namespace).load(key);
        self.noting(answer, |state| state.iter().map(|state| state.key()).collect()).await
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        let pointers = commit.pointers.iter().map(|pointer| &pointer.recipient.namespace);
        let outcomes = commit.outcomes.iter().map(|(key, _)| &key.namespace);
        let writes = commit.writes.iter().map(|write| &write.key().namespace);
        writes.chain(pointers).chain(outcomes).for_each(|namespace| _ = self.note(namespace));
        self.inner.commit(commit)
    }

    async fn archived(&self, key: &ConversationKey, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>> {
        self.note(&key.namespace).archived(key, wanted).await
    }

    async fn archived_ids(
        &self,
        key: &ConversationKey,
        ids: &[Box<str>],
    ) -> Result<HashMap<Box<str>, Sequence>> {
        self.note(&key.namespace).archived_ids(key, ids).await
    }

    async fn sharing(&self, key: &ConversationKey) -> Result<Vec<(ConversationKey, Sequence)>> {
        let answer = self.note(&key.namespace).sharing(key);
        self.noting(answer, |others| others.iter().map(|(key, _)| key).collect()).await
    }

    async fn active(&self, recipient: &RecipientKey) -> Result<Option<ConversationId>> {
        self.note(&recipient.namespace).active(recipient).await
    }

    async fn state(
        &self,
        key: &ConversationKey,
        names: &[Box<str>],
    ) -> Result<Vec<Arc<utterd::domain::state::StateValue>>> {
        self.note(&key.namespace).state(key, names).await
    }

    async fn list(&self, list: List) -> Result<Vec<Head>> {
        let answer = self.note(list.of.namespace()).list(list);
        self.noting(answer, |heads| heads.iter().map(|head| &head.identity.key).collect()).await
    }

    async fn ended_beyond(
        &self,
        recipient: &RecipientKey,
        keep: usize,
        limit: usize,
    ) -> Result<Vec<ConversationId>> {
        self.note(&recipient.namespace).ended_beyond(recipient, keep, limit).await
    }

    async fn outcome(&self, key: &OutcomeKey, oldest: Timestamp) -> Result<Option<Arc<Outcome>>> {
        self.note(&key.namespace).outcome(key, oldest).await
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Due>> {
        self.noting(self.inner.due(now, limit), |due| due.iter().map(|Due::Expired(key)| key).collect()).await
    }

    async fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, ConversationKey)>> {
        self.noting(self.inner.waiting(after, limit), |waiting| waiting.iter().map(|(_, key)| key).collect())
            .await
    }

    async fn remove_outcomes(&self, oldest: Timestamp) -> Result<u64> {
        self.inner.remove_outcomes(oldest).await
    }

    async fn scrub(&self) -> Result<()> {
        self.inner.scrub().await
    }
}

impl Sharing for Watched {}
impl DerivedData for Watched {}
impl Upkeep for Watched {}
