//! A store as several processes use it at once.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use utterd::{
    domain::{
        ChangeId, Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance,
    },
    store::{
        Begin, Begun, BoxFuture, Capabilities, Commit, CommitError, Due, Newer, Outcome, OutcomeKey, Page,
        RecipientKey, Store, StoreError,
    },
};

/// The store within, which says that others write to it too: an engine over it answers nothing from what it
/// remembers alone.
#[derive(Clone)]
pub struct Shared(Arc<dyn Store>, Arc<Mutex<Option<BoxFuture<'static, ()>>>>);

impl Shared {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store, Arc::default())
    }

    /// The answer to the next commit is lost: once that has taken effect, `meanwhile` happens.
    #[allow(dead_code)] // not each test loses one
    pub fn lose_an_answer(&self, meanwhile: impl Future<Output = ()> + Send + 'static) {
        *self.1.lock() = Some(Box::pin(meanwhile));
    }
}

impl Store for Shared {
    fn capabilities(&self) -> Capabilities {
        Capabilities { shared: true, resident: false, ..self.0.capabilities() }
    }

    fn load<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Option<Arc<Conversation>>, StoreError>> {
        self.0.load(key)
    }

    fn load_if_newer<'a>(
        &'a self,
        key: &'a ConversationKey,
        known: Option<ChangeId>,
    ) -> BoxFuture<'a, Result<Newer, StoreError>> {
        self.0.load_if_newer(key, known)
    }

    fn begin<'a>(&'a self, begin: Begin<'a>) -> BoxFuture<'a, Result<Begun, StoreError>> {
        self.0.begin(begin)
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        let committed = self.0.commit(commit);
        match self.1.lock().take() {
            None => committed,
            Some(meanwhile) => Box::pin(async move {
                committed.await?;
                meanwhile.await;
                Err(CommitError::Unknown("the answer was lost".to_owned()))
            }),
        }
    }

    fn is_committed<'a>(
        &'a self,
        key: &'a ConversationKey,
        change: ChangeId,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.0.is_committed(key, change)
    }

    fn archived<'a>(
        &'a self,
        key: &'a ConversationKey,
        wanted: &'a Ranges,
    ) -> BoxFuture<'a, Result<Vec<Arc<Utterance>>, StoreError>> {
        self.0.archived(key, wanted)
    }

    fn archived_ids<'a>(
        &'a self,
        key: &'a ConversationKey,
        ids: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<HashMap<Box<str>, Sequence>, StoreError>> {
        self.0.archived_ids(key, ids)
    }

    fn sharing<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Vec<(ConversationKey, Sequence)>, StoreError>> {
        self.0.sharing(key)
    }

    fn active<'a>(
        &'a self,
        recipient: &'a RecipientKey,
    ) -> BoxFuture<'a, Result<Option<ConversationId>, StoreError>> {
        self.0.active(recipient)
    }

    fn conversations<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        page: Page,
    ) -> BoxFuture<'a, Result<Vec<Head>, StoreError>> {
        self.0.conversations(recipient, page)
    }

    fn ended_beyond<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        keep: usize,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationId>, StoreError>> {
        self.0.ended_beyond(recipient, keep, limit)
    }

    fn outcome<'a>(
        &'a self,
        key: &'a OutcomeKey,
        oldest: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Arc<Outcome>>, StoreError>> {
        self.0.outcome(key, oldest)
    }

    fn due(&self, now: Timestamp, limit: usize) -> BoxFuture<'_, Result<Vec<Due>, StoreError>> {
        self.0.due(now, limit)
    }

    fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(Timestamp, ConversationKey)>, StoreError>> {
        self.0.waiting(after, limit)
    }

    fn remove_outcomes(&self, oldest: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.0.remove_outcomes(oldest)
    }

    fn scrub(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.0.scrub()
    }

    fn failed(&self) -> BoxFuture<'static, StoreError> {
        self.0.failed()
    }
}
