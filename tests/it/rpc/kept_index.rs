//! The stored index of a conversation: a search after a restart reads it.

use std::{
    collections::{BTreeMap, HashMap},
    ops::RangeInclusive,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use tokio::sync::Notify;
use utterd::{
    domain::{
        Block, Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance,
    },
    proto::{ForgetMode, MemorizeRequest, NewUtterance, Policy, RememberRequest},
    store::{
        BoxFuture, Capabilities, Commit, CommitError, Derived, DerivedBlock, DerivedBytes, DerivedData, Due,
        List, MemoryStore, Outcome, OutcomeKey, RecipientKey, Result, Sharing, Store, Upkeep, async_trait,
    },
};

use crate::support::{
    gate::passed_on,
    session::{Reply, Session, memorize, user},
};

/// A store that keeps derived data, and counts what is written and read.
struct Keeping {
    inner: MemoryStore,
    kept: Mutex<BTreeMap<Block, Vec<u8>>>,
    was_kept: Notify,
    reads: AtomicUsize,
    /// The most archived utterances that were read at a time.
    most_at_a_time: AtomicU64,
}

passed_on! {
    impl Store for Keeping {
        archived;

        fn capabilities(&self) -> Capabilities {
            Capabilities { derived: true, ..self.inner.capabilities() }
        }

        async fn load(&self, key: &ConversationKey) -> Result<Option<Arc<Conversation>>> {
            self.inner.load(key).await
        }

        fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
            self.inner.commit(commit)
        }

        async fn archived(
            &self,
            key: &ConversationKey,
            wanted: &Ranges,
        ) -> Result<Vec<Arc<Utterance>>> {
            self.most_at_a_time.fetch_max(wanted.count(), Ordering::SeqCst);
            self.inner.archived(key, wanted).await
        }
    }
}

impl Sharing for Keeping {}
#[async_trait]
impl DerivedData for Keeping {
    async fn derived(
        &self,
        _: &ConversationKey,
        kind: Derived,
        blocks: RangeInclusive<Block>,
    ) -> Result<DerivedBytes> {
        assert_eq!(kind, Derived::Index);
        let kept = self.kept.lock().unwrap();
        let read: DerivedBytes = kept.range(blocks).map(|(block, bytes)| (*block, bytes.clone())).collect();
        self.reads.fetch_add(read.len(), Ordering::SeqCst);
        Ok(read)
    }

    async fn keep_derived(&self, derived: DerivedBlock) -> Result<bool> {
        self.kept.lock().unwrap().insert(derived.block, derived.bytes);
        self.was_kept.notify_one();
        Ok(true)
    }
}

impl Upkeep for Keeping {}

impl Keeping {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryStore::new(0),
            kept: Mutex::default(),
            was_kept: Notify::new(),
            reads: AtomicUsize::new(0),
            most_at_a_time: AtomicU64::new(0),
        })
    }

    /// The stored blocks, once there are this many.
    async fn kept(&self, count: usize) -> Vec<u64> {
        loop {
            let kept: Vec<u64> = self.kept.lock().unwrap().keys().map(|block| block.0).collect();
            if kept.len() == count {
                return kept;
            }
            self.was_kept.notified().await;
        }
    }
}

/// Two whole blocks and part of a third.
const SAID: i64 = 2_500;

async fn say(session: &Session) {
    session.create_with(Policy { max_utterances: Some(0), max_tokens: Some(0), ..Policy::default() }).await;
    for first in (1..=SAID).step_by(500) {
        let said = (first..first + 500)
            .map(|number| user(&format!("Parcel P{number:04} went by train {}", number % 7)));
        session.memory().memorize(MemorizeRequest { ..memorize(said.collect()) }).await.reply();
    }
}

async fn find(session: &Session, prompt: &str) -> Vec<i64> {
    let request = RememberRequest { prompt: prompt.to_owned(), page_size: 20, ..Default::default() };
    let found = session.memory().remember(request).await.reply().matches;
    found.iter().map(|one| one.utterance.as_ref().unwrap().sequence).collect()
}

#[tokio::test]
async fn a_search_after_a_restart_reads_what_is_kept() {
    let store = Keeping::new();
    let session = Session::over(store.clone()).await;
    say(&session).await;
    let found = find(&session, "P0077").await;
    assert_eq!(found[0], 77);
    assert_eq!(store.kept(2).await, [0, 1], "the whole blocks");
    assert_eq!(store.reads.load(Ordering::SeqCst), 0);

    let again = Session::over(store.clone()).await;
    assert_eq!(find(&again, "P0077").await, found);
    assert_eq!(store.reads.load(Ordering::SeqCst), 2);
    assert_eq!(find(&again, "P2400").await[0], 2_400);
    assert_eq!(store.reads.load(Ordering::SeqCst), 2, "it is in memory by then");
}

/// A block can have a thousand pictures, which would not fit in memory together.
#[tokio::test]
async fn what_is_large_is_read_in_parts() {
    let store = Keeping::new();
    let session = Session::over(store.clone()).await;
    let picture = format!("{{\"picture\":\"{}\"}}", "A".repeat(1 << 20));
    for first in (1..=50).step_by(10) {
        let said = (first..first + 10).map(|number| NewUtterance {
            extras_json: picture.clone(),
            ..user(&format!("Parcel P{number:04} is in the picture"))
        });
        session.memory().memorize(memorize(said.collect())).await.reply();
    }
    for sequence in [1, 17, 30] {
        assert_eq!(find(&session, &format!("P{sequence:04}")).await[0], sequence);
    }
    assert!(store.most_at_a_time.load(Ordering::SeqCst) <= 8);
}

#[tokio::test]
async fn damaged_blocks_are_made_anew() {
    let store = Keeping::new();
    let session = Session::over(store.clone()).await;
    say(&session).await;
    let found = find(&session, "P1100 by train 1").await;
    store.kept(2).await;
    store.kept.lock().unwrap().values_mut().for_each(|bytes| bytes.truncate(100));
    assert_eq!(find(&Session::over(store.clone()).await, "P1100 by train 1").await, found);
}

#[tokio::test]
async fn what_is_forgotten_is_in_no_block_that_is_kept_later() {
    let store = Keeping::new();
    let session = Session::over(store.clone()).await;
    say(&session).await;
    find(&session, "P0077").await;
    store.kept(2).await;
    // As a store does in the commit that erases.
    store.kept.lock().unwrap().remove(&Block(0));
    session.forget("sequence:77", ForgetMode::Hard).await;
    assert!(!find(&session, "P0077").await.contains(&77));
    store.kept(2).await;
    let kept = store.kept.lock().unwrap();
    let holds = |text: &[u8]| kept.values().any(|bytes| memchr::memmem::find(bytes, text).is_some());
    assert!(holds(b"p0078") && !holds(b"p0077"));
}
