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
        OutcomeKey, RecipientKey, Result, Sharing, Store, StoreError, Upkeep, Write,
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

/// Implements [`Store`] with these methods, and forwards the others to the wrapped store `inner`.
macro_rules! passed_on {
    (impl Store for $store:ty { archived; $($own:item)* }) => {
        #[utterd::store::async_trait]
        impl Store for $store {
            $($own)*
            async fn archived_ids(
                &self,
                key: &ConversationKey,
                ids: &[Box<str>],
            ) -> Result<HashMap<Box<str>, Sequence>> {
                self.inner.archived_ids(key, ids).await
            }

            async fn sharing(
                &self,
                key: &ConversationKey,
            ) -> Result<Vec<(ConversationKey, Sequence)>> {
                self.inner.sharing(key).await
            }

            async fn active(
                &self,
                recipient: &RecipientKey,
            ) -> Result<Option<ConversationId>> {
                self.inner.active(recipient).await
            }

            async fn state(
                &self,
                key: &ConversationKey,
                names: &[Box<str>],
            ) -> Result<Vec<Arc<utterd::domain::state::StateValue>>> {
                self.inner.state(key, names).await
            }

            async fn heads(&self, keys: &[ConversationKey]) -> Result<Vec<Head>> {
                self.inner.heads(keys).await
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

            async fn outcome(
                &self,
                key: &OutcomeKey,
                oldest: Timestamp,
            ) -> Result<Option<Arc<Outcome>>> {
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
    };
    (impl Store for $store:ty { $($own:item)* }) => {
        passed_on! {
            impl Store for $store {
                archived;
                $($own)*

                async fn archived(
                    &self,
                    key: &ConversationKey,
                    wanted: &Ranges,
                ) -> Result<Vec<Arc<Utterance>>> {
                    self.inner.archived(key, wanted).await
                }
            }
        }
    };
}
#[allow(unused_imports)] // each test uses its part
pub(crate) use passed_on;

passed_on! {
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

        async fn load(
            &self,
            key: &ConversationKey,
        ) -> Result<Option<Arc<utterd::domain::Conversation>>> {
            self.inner.load(key).await
        }
    }
}

impl Sharing for Gate {}
impl DerivedData for Gate {}
impl Upkeep for Gate {}
