//! A store whose commits wait until a test releases or fails them.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use futures::FutureExt;
use tokio::sync::{oneshot, watch};
use utterd::{
    domain::{ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance},
    store::{
        BoxFuture, Capabilities, Commit, CommitError, DerivedData, Due, List, MemoryStore, Outcome,
        OutcomeKey, RecipientKey, Sharing, Store, StoreError, Upkeep, Write,
    },
};

type Committed = Result<(), CommitError>;

/// A memory store behind a gate, open at first.
pub struct Gate {
    inner: MemoryStore,
    held: Mutex<Held>,
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct Held {
    shut: bool,
    commits: VecDeque<(Commit, oneshot::Sender<Committed>)>,
}

impl Gate {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { inner: MemoryStore::new(0), held: Mutex::default(), count: watch::Sender::new(0) })
    }

    /// Makes commits wait from now on.
    pub fn shut(&self) {
        self.held.lock().unwrap().shut = true;
    }

    /// Waits until this many commits wait.
    pub async fn holds(&self, count: usize) {
        self.count.subscribe().wait_for(|held| *held >= count).await.unwrap();
    }

    /// The number of waiting commits.
    pub fn held(&self) -> usize {
        self.held.lock().unwrap().commits.len()
    }

    /// The number of changes in the waiting commits.
    pub fn changes(&self) -> usize {
        let held = self.held.lock().unwrap();
        let writes = held.commits.iter().flat_map(|(commit, _)| &commit.writes);
        let changes = writes.map(|write| match write {
            Write::Change { changes, .. } => changes.len(),
            Write::Delete { .. } => 0,
        });
        changes.sum()
    }

    /// Lets the first `count` waiting commits take effect, in the order of their calls.
    pub fn release(&self, count: usize) {
        for _ in 0..count {
            self.answer(|commit| self.apply(commit));
        }
    }

    /// Makes the first waiting commit take effect without answering it: the returned function answers.
    pub fn take_effect(&self) -> impl FnOnce() + use<> {
        let mut held = self.held.lock().unwrap();
        let (commit, caller) = held.commits.pop_front().expect("a commit waits");
        self.count.send_replace(held.commits.len());
        let answer = self.apply(commit);
        move || drop(caller.send(answer))
    }

    /// Fails the first `count` waiting commits.
    pub fn fail(&self, count: usize) {
        for _ in 0..count {
            self.answer(|_| Err(StoreError::Unavailable("the disk is gone".to_owned()).into()));
        }
    }

    /// Lets all waiting commits take effect; no commit waits any more.
    pub fn open(&self) {
        let mut held = self.held.lock().unwrap();
        held.shut = false;
        for (commit, caller) in std::mem::take(&mut held.commits) {
            let _ = caller.send(self.apply(commit));
        }
        self.count.send_replace(0);
    }

    fn answer(&self, decide: impl FnOnce(Commit) -> Committed) {
        let mut held = self.held.lock().unwrap();
        let (commit, caller) = held.commits.pop_front().expect("a commit waits");
        self.count.send_replace(held.commits.len());
        let _ = caller.send(decide(commit));
    }

    fn apply(&self, commit: Commit) -> Committed {
        self.inner.commit(commit).now_or_never().expect("the memory store answers at once")
    }
}

/// Methods of a [`Store`] that are forwarded to the wrapped store `inner`, with or without the first.
macro_rules! passed_on {
    () => {
        fn archived<'a>(
            &'a self,
            key: &'a ConversationKey,
            wanted: &'a Ranges,
        ) -> BoxFuture<'a, Result<Vec<Arc<Utterance>>, StoreError>> {
            self.inner.archived(key, wanted)
        }

        passed_on!(but archived);
    };
    (but archived) => {
        fn archived_ids<'a>(
            &'a self,
            key: &'a ConversationKey,
            ids: &'a [Box<str>],
        ) -> BoxFuture<'a, Result<HashMap<Box<str>, Sequence>, StoreError>> {
            self.inner.archived_ids(key, ids)
        }

        fn sharing<'a>(
            &'a self,
            key: &'a ConversationKey,
        ) -> BoxFuture<'a, Result<Vec<(ConversationKey, Sequence)>, StoreError>> {
            self.inner.sharing(key)
        }

        fn active<'a>(
            &'a self,
            recipient: &'a RecipientKey,
        ) -> BoxFuture<'a, Result<Option<ConversationId>, StoreError>> {
            self.inner.active(recipient)
        }

        fn state<'a>(
            &'a self,
            key: &'a ConversationKey,
            names: &'a [Box<str>],
        ) -> BoxFuture<'a, Result<Vec<Arc<utterd::domain::state::StateValue>>, StoreError>> {
            self.inner.state(key, names)
        }

        fn heads<'a>(&'a self, keys: &'a [ConversationKey]) -> BoxFuture<'a, Result<Vec<Head>, StoreError>> {
            self.inner.heads(keys)
        }

        fn list(&self, list: List) -> BoxFuture<'_, Result<Vec<Head>, StoreError>> {
            self.inner.list(list)
        }

        fn ended_beyond<'a>(
            &'a self,
            recipient: &'a RecipientKey,
            keep: usize,
            limit: usize,
        ) -> BoxFuture<'a, Result<Vec<ConversationId>, StoreError>> {
            self.inner.ended_beyond(recipient, keep, limit)
        }

        fn outcome<'a>(
            &'a self,
            key: &'a OutcomeKey,
            oldest: Timestamp,
        ) -> BoxFuture<'a, Result<Option<Arc<Outcome>>, StoreError>> {
            self.inner.outcome(key, oldest)
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

        fn remove_outcomes(&self, oldest: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
            self.inner.remove_outcomes(oldest)
        }

        fn scrub(&self) -> BoxFuture<'_, Result<(), StoreError>> {
            self.inner.scrub()
        }
    };
}
pub(crate) use passed_on;

impl Store for Gate {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Committed> {
        let mut held = self.held.lock().unwrap();
        if !held.shut {
            return self.inner.commit(commit);
        }
        let (caller, answer) = oneshot::channel();
        held.commits.push_back((commit, caller));
        self.count.send_replace(held.commits.len());
        Box::pin(async move { answer.await.expect("the gate answers what it holds") })
    }

    fn load<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Option<Arc<utterd::domain::Conversation>>, StoreError>> {
        self.inner.load(key)
    }

    passed_on!();
}

impl Sharing for Gate {}
impl DerivedData for Gate {}
impl Upkeep for Gate {}
