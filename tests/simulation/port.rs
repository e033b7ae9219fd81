//! The disk as seen by one life of a process: once that ends, nothing is answered any more.

use std::{collections::HashMap, sync::Arc};

use tokio::time::sleep;
use utterd::{
    domain::{
        ChangeId, Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance,
    },
    store::{
        BoxFuture, Capabilities, Commit, CommitError, DerivedData, Due, List, Outcome, OutcomeKey,
        RecipientKey, Result, Sharing, Store, Upkeep, async_trait,
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
    async fn read<'a, T: Send>(
        &'a self,
        read: impl FnOnce(&'a dyn Store) -> BoxFuture<'a, Result<T>> + Send + 'a,
    ) -> Result<T> {
        self.travel().await;
        let refused = {
            let mut dice = self.disk.dice.lock();
            let refuse = dice.percent(self.disk.faults.lock().refuse / 2);
            refuse.then(|| refusal(&mut dice))
        };
        let result = match refused {
            Some(error) => Err(error),
            None => self.disk.inner.ask(read),
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

#[async_trait]
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

    async fn is_committed(&self, key: &ConversationKey, change: ChangeId) -> Result<bool> {
        let ledger = &self.disk.ledger;
        self.read(move |_| Box::pin(async move { Ok(ledger.lock().took(&key.id, change)) })).await
    }

    async fn load(&self, key: &ConversationKey) -> Result<Option<Arc<Conversation>>> {
        self.read(|store| store.load(key)).await
    }

    async fn archived(&self, key: &ConversationKey, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>> {
        self.read(|store| store.archived(key, wanted)).await
    }

    async fn archived_ids(
        &self,
        key: &ConversationKey,
        ids: &[Box<str>],
    ) -> Result<HashMap<Box<str>, Sequence>> {
        self.read(|store| store.archived_ids(key, ids)).await
    }

    async fn sharing(&self, key: &ConversationKey) -> Result<Vec<(ConversationKey, Sequence)>> {
        self.read(|store| store.sharing(key)).await
    }

    async fn active(&self, recipient: &RecipientKey) -> Result<Option<ConversationId>> {
        self.read(|store| store.active(recipient)).await
    }

    async fn state(
        &self,
        key: &ConversationKey,
        names: &[Box<str>],
    ) -> Result<Vec<Arc<utterd::domain::state::StateValue>>> {
        self.read(move |store| store.state(key, names)).await
    }

    async fn list(&self, list: List) -> Result<Vec<Head>> {
        self.read(|store| store.list(list)).await
    }

    async fn ended_beyond(
        &self,
        recipient: &RecipientKey,
        keep: usize,
        limit: usize,
    ) -> Result<Vec<ConversationId>> {
        self.read(move |store| store.ended_beyond(recipient, keep, limit)).await
    }

    async fn outcome(&self, key: &OutcomeKey, oldest: Timestamp) -> Result<Option<Arc<Outcome>>> {
        self.read(move |store| store.outcome(key, oldest)).await
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Due>> {
        self.read(move |store| store.due(now, limit)).await
    }

    async fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, ConversationKey)>> {
        self.read(move |store| store.waiting(after, limit)).await
    }

    async fn remove_outcomes(&self, oldest: Timestamp) -> Result<u64> {
        self.read(move |store| store.remove_outcomes(oldest)).await
    }

    async fn scrub(&self) -> Result<()> {
        self.read(|store| store.scrub()).await
    }
}

impl Sharing for Port {}
impl DerivedData for Port {}
impl Upkeep for Port {}
