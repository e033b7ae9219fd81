//! A store as several processes use it at the same time.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::{FutureExt, StreamExt, stream};
use parking_lot::Mutex;
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};
use utterd::{
    domain::{
        Block, ChangeId, Conversation, ConversationId, ConversationKey, Head, Namespace, Ranges, Sequence,
        Timestamp, Utterance,
    },
    store::{
        Begin, Begun, BoxFuture, BoxStream, Capabilities, Claim, Commit, CommitError, Derived, DerivedBlock,
        DerivedBytes, DerivedData, Due, Hint, List, Newer, Outcome, OutcomeKey, Quotas, RecipientKey, Result,
        Sharing, Store, TracePage, TracePlace, Upkeep, WorkerId, async_trait,
    },
};

/// Wraps a store that others write to too: an engine over it answers nothing from its cache alone. A clone is
/// the same process; [`Self::another`] is another one.
#[derive(Clone)]
pub struct Shared {
    inner: Arc<dyn Store>,
    processes: Processes,
    mishap: Arc<Mutex<Option<Mishap>>>,
    /// What happens before the next commits are made, one by one.
    before_commits: Arc<Mutex<VecDeque<BoxFuture<'static, ()>>>>,
    /// What happens after the next answers to who shares what, one by one.
    beside_sharing: Arc<Mutex<VecDeque<BoxFuture<'static, ()>>>>,
    /// What happens before the next read of an archive.
    before_archive: Arc<Mutex<Option<BoxFuture<'static, ()>>>>,
    /// How often this process has made a request that is not a commit.
    questions: Arc<AtomicUsize>,
    /// This process receives no hints.
    is_deaf: Arc<watch::Sender<bool>>,
}

/// How processes know of each other.
#[derive(Clone)]
enum Processes {
    /// By this wrapper: the wrapped store is meant for one process.
    Here(Arc<Between>),
    /// By the wrapped store, which this opens for another process.
    There(Arc<dyn Fn() -> Arc<dyn Store> + Send + Sync>),
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
    /// Lets processes share a store that is meant for one.
    pub fn new(store: Arc<dyn Store>) -> Self {
        let (made, claims) = Default::default();
        let between = Between { made, claims, changed: broadcast::Sender::new(HINTS) };
        Self::of(store, Processes::Here(Arc::new(between)))
    }

    /// A store that `open` opens for each process, and that lets them share it.
    pub fn opened(open: impl Fn() -> Arc<dyn Store> + Send + Sync + 'static) -> Self {
        Self::of(open(), Processes::There(Arc::new(open)))
    }

    fn of(inner: Arc<dyn Store>, processes: Processes) -> Self {
        let (mishap, before_commits, beside_sharing, before_archive, questions, is_deaf) = Default::default();
        Self { inner, processes, mishap, before_commits, beside_sharing, before_archive, questions, is_deaf }
    }

    /// The same store as seen by another process.
    pub fn another(&self) -> Self {
        let inner = match &self.processes {
            Processes::Here(_) => self.inner.clone(),
            Processes::There(open) => open(),
        };
        Self::of(inner, self.processes.clone())
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

    /// Before the next commit is made, `meanwhile` happens; the first that was given happens before the next one.
    pub fn before_commit(&self, meanwhile: impl Future<Output = ()> + Send + 'static) {
        self.before_commits.lock().push_back(Box::pin(meanwhile));
    }

    /// When this process has asked once more which conversations share utterances, and before it knows, `meanwhile`
    /// happens; the first that was given happens at the next question.
    pub fn beside_sharing(&self, meanwhile: impl Future<Output = ()> + Send + 'static) {
        self.beside_sharing.lock().push_back(Box::pin(meanwhile));
    }

    /// Before this process reads an archive once more, `meanwhile` happens.
    pub fn before_archive(&self, meanwhile: impl Future<Output = ()> + Send + 'static) {
        *self.before_archive.lock() = Some(Box::pin(meanwhile));
    }

    /// Commits, and lets the other processes know.
    fn apply(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        match &self.processes {
            Processes::Here(between) => between.apply(&*self.inner, commit),
            Processes::There(_) => self.inner.commit(commit),
        }
    }
}

impl Between {
    /// Commits; records the change and sends hints.
    fn apply(
        self: &Arc<Self>,
        store: &dyn Store,
        commit: Commit,
    ) -> BoxFuture<'static, Result<(), CommitError>> {
        let changed = commit.writes.iter().map(|write| Hint::Changed(write.key().clone()));
        let moved = commit.pointers.iter().filter(|pointer| pointer.moves());
        let moved = moved.map(|pointer| Hint::Active(pointer.recipient.clone()));
        let hints: Vec<_> = changed.chain(moved).collect();
        let after = |state: &Arc<Conversation>| (state.key().clone(), state.head.change);
        let made: Vec<_> = commit.writes.iter().filter_map(|write| write.after()).map(after).collect();
        let (committed, between) = (store.commit(commit), self.clone());
        Box::pin(async move {
            committed.await?;
            between.made.lock().extend(made);
            // nobody might be listening
            hints.into_iter().for_each(|hint| drop(between.changed.send(hint)));
            Ok(())
        })
    }

    fn claim(&self, claim: Claim<'_>) -> bool {
        let mut claims = self.claims.lock();
        let another = claims.get(claim.conversation).filter(|(worker, _)| *worker != claim.worker);
        let is_free = another.is_none_or(|(_, until)| *until <= claim.now);
        if is_free {
            claims.insert(claim.conversation.clone(), (claim.worker, claim.until));
        }
        is_free
    }

    fn hints(&self) -> BoxStream<'static, Hint> {
        let heard = stream::unfold(self.changed.subscribe(), |mut changed| async move {
            match changed.recv().await {
                Ok(hint) => Some((hint, changed)),
                Err(RecvError::Lagged(_)) => Some((Hint::Missed, changed)),
                Err(RecvError::Closed) => None,
            }
        });
        Box::pin(stream::once(std::future::ready(Hint::Missed)).chain(heard))
    }
}

#[async_trait]
impl Store for Shared {
    fn capabilities(&self) -> Capabilities {
        Capabilities { shared: true, resident: false, ..self.inner.capabilities() }
    }

    async fn load(&self, key: &ConversationKey) -> Result<Option<Arc<Conversation>>> {
        self.asked().load(key).await
    }

    async fn load_if_newer(&self, key: &ConversationKey, known: Option<ChangeId>) -> Result<Newer> {
        self.asked().load_if_newer(key, known).await
    }

    async fn begin(&self, begin: Begin<'_>) -> Result<Begun> {
        self.asked().begin(begin).await
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        let meanwhile = self.before_commits.lock().pop_front();
        if let Some(meanwhile) = meanwhile {
            let shared = self.clone();
            return Box::pin(async move {
                meanwhile.await;
                shared.apply(commit).await
            });
        }
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

    async fn is_committed(&self, key: &ConversationKey, change: ChangeId) -> Result<bool> {
        let store = self.asked();
        match &self.processes {
            Processes::Here(between) => Ok(between.made.lock().contains(&(key.clone(), change))),
            Processes::There(_) => store.is_committed(key, change).await,
        }
    }

    async fn archived(&self, key: &ConversationKey, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>> {
        let meanwhile = self.before_archive.lock().take();
        if let Some(meanwhile) = meanwhile {
            meanwhile.await;
        }
        self.asked().archived(key, wanted).await
    }

    async fn archived_ids(
        &self,
        key: &ConversationKey,
        ids: &[Box<str>],
    ) -> Result<HashMap<Box<str>, Sequence>> {
        self.asked().archived_ids(key, ids).await
    }

    async fn sharing(&self, key: &ConversationKey) -> Result<Vec<(ConversationKey, Sequence)>> {
        let sharing = self.asked().sharing(key).await;
        let meanwhile = self.beside_sharing.lock().pop_front();
        if let Some(meanwhile) = meanwhile {
            meanwhile.await;
        }
        sharing
    }

    async fn active(&self, recipient: &RecipientKey) -> Result<Option<ConversationId>> {
        self.asked().active(recipient).await
    }

    async fn state(
        &self,
        key: &ConversationKey,
        names: &[Box<str>],
    ) -> Result<Vec<Arc<utterd::domain::state::StateValue>>> {
        self.asked().state(key, names).await
    }

    async fn heads(&self, keys: &[ConversationKey]) -> Result<Vec<Head>> {
        self.asked().heads(keys).await
    }

    async fn list(&self, list: List) -> Result<Vec<Head>> {
        self.asked().list(list).await
    }

    async fn ended_beyond(
        &self,
        recipient: &RecipientKey,
        keep: usize,
        limit: usize,
    ) -> Result<Vec<ConversationId>> {
        self.asked().ended_beyond(recipient, keep, limit).await
    }

    async fn outcome(&self, key: &OutcomeKey, oldest: Timestamp) -> Result<Option<Arc<Outcome>>> {
        self.asked().outcome(key, oldest).await
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

#[async_trait]
impl Sharing for Shared {
    async fn claim(&self, claim: Claim<'_>) -> Result<bool> {
        match &self.processes {
            Processes::Here(between) => Ok(between.claim(claim)),
            Processes::There(_) => self.inner.claim(claim).await,
        }
    }

    async fn give_up(&self, conversation: &ConversationKey, worker: WorkerId) -> Result<()> {
        match &self.processes {
            Processes::Here(between) => {
                between.claims.lock().retain(|key, (owner, _)| key != conversation || *owner != worker);
                Ok(())
            }
            Processes::There(_) => self.inner.give_up(conversation, worker).await,
        }
    }

    fn hints(&self) -> BoxStream<'static, Hint> {
        let told = match &self.processes {
            Processes::Here(between) => between.hints(),
            Processes::There(_) => self.inner.hints(),
        };
        let heard = stream::unfold((told, self.is_deaf.subscribe()), |(mut told, mut deaf)| async move {
            let was_deaf = *deaf.borrow();
            // a process that is gone receives no more hints
            deaf.wait_for(|deaf| !deaf).await.ok()?;
            if was_deaf {
                // what was told in the meantime is lost
                while let Some(Some(_)) = told.next().now_or_never() {}
                return Some((Hint::Missed, (told, deaf)));
            }
            Some((told.next().await?, (told, deaf)))
        });
        Box::pin(heard)
    }

    async fn trace_end(&self, namespace: &Namespace) -> Result<TracePlace> {
        self.inner.trace_end(namespace).await
    }

    async fn trace(&self, namespace: &Namespace, after: TracePlace, limit: usize) -> Result<TracePage> {
        self.inner.trace(namespace, after, limit).await
    }
}

#[async_trait]
impl DerivedData for Shared {
    async fn derived(
        &self,
        key: &ConversationKey,
        kind: Derived,
        blocks: RangeInclusive<Block>,
    ) -> Result<DerivedBytes> {
        self.inner.derived(key, kind, blocks).await
    }

    async fn keep_derived(&self, derived: DerivedBlock) -> Result<bool> {
        self.inner.keep_derived(derived).await
    }
}

impl Upkeep for Shared {
    fn set_quotas(&self, quotas: Quotas) -> Result<()> {
        self.inner.set_quotas(quotas)
    }

    fn condition(&self) -> BoxStream<'static, Result<()>> {
        self.inner.condition()
    }
}
