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
        OutcomeKey, RecipientKey, Sharing, Store, StoreError, Upkeep,
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
        answer: BoxFuture<'a, Result<T, StoreError>>,
        keys: impl Fn(&T) -> Vec<&ConversationKey> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        Box::pin(async move {
            let answer = answer.await?;
            keys(&answer).into_iter().for_each(|key| _ = self.note(&key.namespace));
            Ok(answer)
        })
    }
}

impl Store for Watched {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn load<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Option<Arc<Conversation>>, StoreError>> {
        let answer = self.note(&key.namespace).load(key);
        self.noting(answer, |state| state.iter().map(|state| state.key()).collect())
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        let pointers = commit.pointers.iter().map(|pointer| &pointer.recipient.namespace);
        let outcomes = commit.outcomes.iter().map(|(key, _)| &key.namespace);
        let writes = commit.writes.iter().map(|write| &write.key().namespace);
        writes.chain(pointers).chain(outcomes).for_each(|namespace| _ = self.note(namespace));
        self.inner.commit(commit)
    }

    fn archived<'a>(
        &'a self,
        key: &'a ConversationKey,
        wanted: &'a Ranges,
    ) -> BoxFuture<'a, Result<Vec<Arc<Utterance>>, StoreError>> {
        self.note(&key.namespace).archived(key, wanted)
    }

    fn archived_ids<'a>(
        &'a self,
        key: &'a ConversationKey,
        ids: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<HashMap<Box<str>, Sequence>, StoreError>> {
        self.note(&key.namespace).archived_ids(key, ids)
    }

    fn sharing<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Vec<(ConversationKey, Sequence)>, StoreError>> {
        let answer = self.note(&key.namespace).sharing(key);
        self.noting(answer, |others| others.iter().map(|(key, _)| key).collect())
    }

    fn active<'a>(
        &'a self,
        recipient: &'a RecipientKey,
    ) -> BoxFuture<'a, Result<Option<ConversationId>, StoreError>> {
        self.note(&recipient.namespace).active(recipient)
    }

    fn state<'a>(
        &'a self,
        key: &'a ConversationKey,
        names: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<Vec<Arc<utterd::domain::state::StateValue>>, StoreError>> {
        self.note(&key.namespace).state(key, names)
    }

    fn list(&self, list: List) -> BoxFuture<'_, Result<Vec<Head>, StoreError>> {
        let answer = self.note(list.of.namespace()).list(list);
        self.noting(answer, |heads| heads.iter().map(|head| &head.identity.key).collect())
    }

    fn ended_beyond<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        keep: usize,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationId>, StoreError>> {
        self.note(&recipient.namespace).ended_beyond(recipient, keep, limit)
    }

    fn outcome<'a>(
        &'a self,
        key: &'a OutcomeKey,
        oldest: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Arc<Outcome>>, StoreError>> {
        self.note(&key.namespace).outcome(key, oldest)
    }

    fn due(&self, now: Timestamp, limit: usize) -> BoxFuture<'_, Result<Vec<Due>, StoreError>> {
        self.noting(self.inner.due(now, limit), |due| due.iter().map(|Due::Expired(key)| key).collect())
    }

    fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(Timestamp, ConversationKey)>, StoreError>> {
        self.noting(self.inner.waiting(after, limit), |waiting| waiting.iter().map(|(_, key)| key).collect())
    }

    fn remove_outcomes(&self, oldest: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.inner.remove_outcomes(oldest)
    }

    fn scrub(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.scrub()
    }
}

impl Sharing for Watched {}
impl DerivedData for Watched {}
impl Upkeep for Watched {}
