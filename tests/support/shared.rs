//! A store as several processes use it at the same time.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::{StreamExt, stream};
use parking_lot::Mutex;
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};
use utterd::{
    domain::{
        ChangeId, Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance,
    },
    store::{
        Begin, Begun, BoxFuture, BoxStream, Capabilities, Claim, Commit, CommitError, Due, Hint, List, Newer,
        Outcome, OutcomeKey, Quotas, RecipientKey, Store, StoreError, WorkerId,
    },
};

/// Wraps a store that claims that others write to it too: an engine over it answers nothing from its cache
/// alone. A clone is the same process; [`Self::another`] is another one.
#[derive(Clone)]
pub struct Shared {
    inner: Arc<dyn Store>,
    between: Arc<Between>,
    mishap: Arc<Mutex<Option<Mishap>>>,
    /// How often this process has made a request that is not a commit.
    questions: Arc<AtomicUsize>,
    /// This process receives no hints.
    is_deaf: Arc<watch::Sender<bool>>,
}

/// Maximum number of hints waiting for a process.
const HINTS: usize = 16;

/// What all processes have in common, in addition to the wrapped store.
struct Between {
    /// The states that commits have made.
    made: Mutex<HashSet<(ConversationKey, ChangeId)>>,
    /// Claims: the worker, and the end of its claim.
    claims: Mutex<HashMap<ConversationKey, (WorkerId, Timestamp)>>,
    /// Hints of changes.
    changed: broadcast::Sender<Hint>,
}

/// What happens to the next commit, and in the meantime.
struct Mishap {
    takes_effect: bool,
    meanwhile: BoxFuture<'static, ()>,
}

#[allow(dead_code)] // each test uses its part
impl Shared {
    pub fn new(store: Arc<dyn Store>) -> Self {
        let (made, claims) = Default::default();
        let between = Between { made, claims, changed: broadcast::Sender::new(HINTS) };
        let (mishap, questions, is_deaf) = Default::default();
        Self { inner: store, between: Arc::new(between), mishap, questions, is_deaf }
    }

    /// The same store as seen by another process.
    pub fn another(&self) -> Self {
        let (mishap, questions, is_deaf) = Default::default();
        Self { inner: self.inner.clone(), between: self.between.clone(), mishap, questions, is_deaf }
    }

    /// How often this process has made a request that is not a commit since the last call.
    pub fn questions(&self) -> usize {
        self.questions.swap(0, Ordering::Relaxed)
    }

    /// Counts a request.
    fn asked(&self) -> &dyn Store {
        self.questions.fetch_add(1, Ordering::Relaxed);
        &*self.inner
    }

    /// Sets whether this process receives no hints.
    pub fn set_deaf(&self, is_deaf: bool) {
        self.is_deaf.send_replace(is_deaf);
    }

    /// The response to the next commit is lost: once it has taken effect, `meanwhile` happens.
    pub fn lose_an_answer(&self, meanwhile: impl Future<Output = ()> + Send + 'static) {
        *self.mishap.lock() = Some(Mishap { takes_effect: true, meanwhile: Box::pin(meanwhile) });
    }

    /// The next commit is lost: it never takes effect, `meanwhile` happens, and there is no response.
    pub fn lose_a_commit(&self, meanwhile: impl Future<Output = ()> + Send + 'static) {
        *self.mishap.lock() = Some(Mishap { takes_effect: false, meanwhile: Box::pin(meanwhile) });
    }

    /// Commits; records the change and sends hints.
    fn apply(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        let changed = commit.writes.iter().map(|write| Hint::Changed(write.key().clone()));
        let moved = commit.pointers.iter().filter(|pointer| pointer.before != pointer.after);
        let moved = moved.map(|pointer| Hint::Active(pointer.recipient.clone()));
        let hints: Vec<_> = changed.chain(moved).collect();
        let after = |state: &Arc<Conversation>| (state.key().clone(), state.head.change);
        let made: Vec<_> = commit.writes.iter().filter_map(|write| write.after()).map(after).collect();
        let (committed, between) = (self.inner.commit(commit), self.between.clone());
        Box::pin(async move {
            committed.await?;
            between.made.lock().extend(made);
            // nobody might be listening
            hints.into_iter().for_each(|hint| drop(between.changed.send(hint)));
            Ok(())
        })
    }
}

impl Store for Shared {
    fn capabilities(&self) -> Capabilities {
        Capabilities { shared: true, resident: false, ..self.inner.capabilities() }
    }

    fn load<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Option<Arc<Conversation>>, StoreError>> {
        self.asked().load(key)
    }

    fn load_if_newer<'a>(
        &'a self,
        key: &'a ConversationKey,
        known: Option<ChangeId>,
    ) -> BoxFuture<'a, Result<Newer, StoreError>> {
        self.asked().load_if_newer(key, known)
    }

    fn begin<'a>(&'a self, begin: Begin<'a>) -> BoxFuture<'a, Result<Begun, StoreError>> {
        self.asked().begin(begin)
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        let Some(Mishap { takes_effect, meanwhile }) = self.mishap.lock().take() else {
            return self.apply(commit);
        };
        let committed = takes_effect.then(|| self.apply(commit));
        Box::pin(async move {
            if let Some(committed) = committed {
                committed.await?;
            }
            meanwhile.await;
            Err(CommitError::Unknown("the answer was lost".to_owned()))
        })
    }

    fn is_committed<'a>(
        &'a self,
        key: &'a ConversationKey,
        change: ChangeId,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.asked();
        let made = self.between.made.lock().contains(&(key.clone(), change));
        Box::pin(std::future::ready(Ok(made)))
    }

    fn archived<'a>(
        &'a self,
        key: &'a ConversationKey,
        wanted: &'a Ranges,
    ) -> BoxFuture<'a, Result<Vec<Arc<Utterance>>, StoreError>> {
        self.asked().archived(key, wanted)
    }

    fn archived_ids<'a>(
        &'a self,
        key: &'a ConversationKey,
        ids: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<HashMap<Box<str>, Sequence>, StoreError>> {
        self.asked().archived_ids(key, ids)
    }

    fn sharing<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Vec<(ConversationKey, Sequence)>, StoreError>> {
        self.asked().sharing(key)
    }

    fn active<'a>(
        &'a self,
        recipient: &'a RecipientKey,
    ) -> BoxFuture<'a, Result<Option<ConversationId>, StoreError>> {
        self.asked().active(recipient)
    }

    fn state<'a>(
        &'a self,
        key: &'a ConversationKey,
        names: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<Vec<Arc<utterd::domain::state::StateValue>>, StoreError>> {
        self.asked().state(key, names)
    }

    fn list(&self, list: List) -> BoxFuture<'_, Result<Vec<Head>, StoreError>> {
        self.asked().list(list)
    }

    fn ended_beyond<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        keep: usize,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationId>, StoreError>> {
        self.asked().ended_beyond(recipient, keep, limit)
    }

    fn outcome<'a>(
        &'a self,
        key: &'a OutcomeKey,
        oldest: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Arc<Outcome>>, StoreError>> {
        self.asked().outcome(key, oldest)
    }

    fn due(&self, now: Timestamp, limit: usize) -> BoxFuture<'_, Result<Vec<Due>, StoreError>> {
        self.inner.due(now, limit)
    }

    fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(Timestamp, ConversationKey)>, StoreError>> {
        self.inner.waiting(after, limit)
    }

    fn claim<'a>(&'a self, claim: Claim<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        let mut claims = self.between.claims.lock();
        let another = claims.get(claim.conversation).filter(|(worker, _)| *worker != claim.worker);
        let is_free = another.is_none_or(|(_, until)| *until <= claim.now);
        if is_free {
            claims.insert(claim.conversation.clone(), (claim.worker, claim.until));
        }
        Box::pin(std::future::ready(Ok(is_free)))
    }

    fn give_up<'a>(
        &'a self,
        conversation: &'a ConversationKey,
        worker: WorkerId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.between.claims.lock().retain(|key, (owner, _)| key != conversation || *owner != worker);
        Box::pin(std::future::ready(Ok(())))
    }

    fn remove_outcomes(&self, oldest: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.inner.remove_outcomes(oldest)
    }

    fn scrub(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.scrub()
    }

    fn set_quotas(&self, quotas: Quotas) -> Result<(), StoreError> {
        self.inner.set_quotas(quotas)
    }

    fn hints(&self) -> BoxStream<'static, Hint> {
        let hearing = (self.between.changed.subscribe(), self.is_deaf.subscribe());
        let heard = stream::unfold(hearing, |(mut changed, mut deaf)| async move {
            // a process that is gone receives no more hints
            deaf.wait_for(|deaf| !deaf).await.ok()?;
            let hint = match changed.recv().await {
                Ok(hint) => hint,
                Err(RecvError::Lagged(_)) => Hint::Missed,
                Err(RecvError::Closed) => return None,
            };
            Some((hint, (changed, deaf)))
        });
        Box::pin(stream::once(std::future::ready(Hint::Missed)).chain(heard))
    }

    fn condition(&self) -> BoxStream<'static, Result<(), StoreError>> {
        self.inner.condition()
    }
}
