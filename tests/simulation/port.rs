//! The disk as seen by one life of a process: once that ends, nothing is answered any more.

use std::{collections::HashMap, sync::Arc};

use tokio::time::sleep;
use utterd::{
    domain::{
        ChangeId, Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance,
    },
    store::{
        BoxFuture, Capabilities, Commit, CommitError, DerivedData, Due, List, MemoryStore, Outcome,
        OutcomeKey, RecipientKey, Sharing, Store, StoreError, Upkeep,
    },
};

use crate::{
    disk::{Committed, Disk, Life},
    faults::refusal,
};

/// A store for one engine.
pub struct Port {
    pub disk: Arc<Disk>,
    pub life: Life,
    /// Whether other processes can use the store too.
    pub shared: bool,
}

impl Port {
    /// A read: it can take time before and after, and be refused.
    async fn read<'a, T>(
        &'a self,
        read: impl FnOnce(&'a MemoryStore) -> BoxFuture<'a, Result<T, StoreError>> + Send + 'a,
    ) -> Result<T, StoreError> {
        self.travel().await;
        let refused = {
            let mut dice = self.disk.dice.lock();
            let refuse = dice.percent(self.disk.faults.lock().refuse / 2);
            refuse.then(|| refusal(&mut dice))
        };
        let result = match refused {
            Some(error) => Err(error),
            None => read(&self.disk.inner).await,
        };
        self.travel().await;
        result
    }

    async fn travel(&self) {
        if let Some(pause) = self.disk.pause() {
            sleep(pause).await;
        }
        if self.life.end.has_come() {
            std::future::pending::<()>().await;
        }
    }
}

impl Store for Port {
    fn capabilities(&self) -> Capabilities {
        Capabilities { shared: self.shared, resident: false, ..self.disk.inner.capabilities() }
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Committed> {
        match self.life.end.has_come() {
            true => Box::pin(std::future::pending()),
            false => {
                let (panics, committed) = (self.disk.panics(), self.disk.commit(&self.life, commit));
                Box::pin(async move {
                    let committed = committed.await;
                    let failed = matches!(committed, Err(CommitError::Unknown(_) | CommitError::Store(_)));
                    assert!(!(panics && failed), "the store of a simulation");
                    committed
                })
            }
        }
    }

    fn is_committed<'a>(
        &'a self,
        key: &'a ConversationKey,
        change: ChangeId,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let ledger = &self.disk.ledger;
        Box::pin(self.read(move |_| Box::pin(async move { Ok(ledger.lock().took(&key.id, change)) })))
    }

    fn load<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Option<Arc<Conversation>>, StoreError>> {
        Box::pin(self.read(|store| store.load(key)))
    }

    fn archived<'a>(
        &'a self,
        key: &'a ConversationKey,
        wanted: &'a Ranges,
    ) -> BoxFuture<'a, Result<Vec<Arc<Utterance>>, StoreError>> {
        Box::pin(self.read(|store| store.archived(key, wanted)))
    }

    fn archived_ids<'a>(
        &'a self,
        key: &'a ConversationKey,
        ids: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<HashMap<Box<str>, Sequence>, StoreError>> {
        Box::pin(self.read(|store| store.archived_ids(key, ids)))
    }

    fn sharing<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Vec<(ConversationKey, Sequence)>, StoreError>> {
        Box::pin(self.read(|store| store.sharing(key)))
    }

    fn active<'a>(
        &'a self,
        recipient: &'a RecipientKey,
    ) -> BoxFuture<'a, Result<Option<ConversationId>, StoreError>> {
        Box::pin(self.read(|store| store.active(recipient)))
    }

    fn state<'a>(
        &'a self,
        key: &'a ConversationKey,
        names: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<Vec<Arc<utterd::domain::state::StateValue>>, StoreError>> {
        Box::pin(self.read(move |store| store.state(key, names)))
    }

    fn list(&self, list: List) -> BoxFuture<'_, Result<Vec<Head>, StoreError>> {
        Box::pin(self.read(|store| store.list(list)))
    }

    fn ended_beyond<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        keep: usize,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationId>, StoreError>> {
        Box::pin(self.read(move |store| store.ended_beyond(recipient, keep, limit)))
    }

    fn outcome<'a>(
        &'a self,
        key: &'a OutcomeKey,
        oldest: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Arc<Outcome>>, StoreError>> {
        Box::pin(self.read(move |store| store.outcome(key, oldest)))
    }

    fn due(&self, now: Timestamp, limit: usize) -> BoxFuture<'_, Result<Vec<Due>, StoreError>> {
        Box::pin(self.read(move |store| store.due(now, limit)))
    }

    fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(Timestamp, ConversationKey)>, StoreError>> {
        Box::pin(self.read(move |store| store.waiting(after, limit)))
    }

    fn remove_outcomes(&self, oldest: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.read(move |store| store.remove_outcomes(oldest)))
    }

    fn scrub(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.read(|store| store.scrub()))
    }
}

impl Sharing for Port {}
impl DerivedData for Port {}
impl Upkeep for Port {}
