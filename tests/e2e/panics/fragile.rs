//! A store that panics when a test says so.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use tokio::task::yield_now;
use utterd::{
    domain::{Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance},
    store::{
        BoxFuture, Capabilities, Commit, CommitError, DerivedData, Due, List, MemoryStore, Outcome,
        OutcomeKey, RecipientKey, Result, Sharing, Store, Upkeep, Write,
    },
};

use crate::support::gate::passed_on;

/// A memory store that panics in some calls.
pub struct Fragile {
    inner: Arc<MemoryStore>,
    panics: Mutex<Option<Panics>>,
}

/// When it panics, until it is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panics {
    /// In a commit that adds an utterance with this text: when it is called, before it takes effect, or after.
    Called(&'static str),
    Before(&'static str),
    After(&'static str),
    /// When this conversation is loaded.
    Load(&'static str),
}

impl Fragile {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { inner: Arc::new(MemoryStore::new(0)), panics: Mutex::default() })
    }

    pub fn panics(&self, when: Panics) {
        *self.panics.lock().unwrap() = Some(when);
    }

    pub fn mend(&self) {
        *self.panics.lock().unwrap() = None;
    }

    fn when(&self) -> Option<Panics> {
        *self.panics.lock().unwrap()
    }
}

fn adds(commit: &Commit, text: &str) -> bool {
    commit.writes.iter().any(|write| match write {
        Write::Change { changes, .. } => {
            changes.iter().flat_map(|change| &change.appended).any(|utterance| &*utterance.content == text)
        }
        Write::Delete { .. } => false,
    })
}

passed_on! {
    impl Store for Fragile {
        fn capabilities(&self) -> Capabilities {
            // what is in memory is forgotten, so that conversations are loaded again
            Capabilities { resident: false, ..self.inner.capabilities() }
        }

        fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
            let (inner, when) = (self.inner.clone(), self.when());
            assert!(!matches!(when, Some(Panics::Called(text)) if adds(&commit, text)), "the store of a test");
            Box::pin(async move {
                // others enter the queue meanwhile
                yield_now().await;
                assert!(
                    !matches!(when, Some(Panics::Before(text)) if adds(&commit, text)),
                    "the store of a test"
                );
                let is_after = matches!(when, Some(Panics::After(text)) if adds(&commit, text));
                let committed = inner.commit(commit).await;
                assert!(!is_after, "the store of a test");
                committed
            })
        }

        async fn load(&self, key: &ConversationKey) -> Result<Option<Arc<Conversation>>> {
            let panics = matches!(self.when(), Some(Panics::Load(id)) if key.id.as_str() == id);
            assert!(!panics, "the store of a test");
            self.inner.load(key).await
        }
    }
}

impl Sharing for Fragile {}
impl DerivedData for Fragile {}
impl Upkeep for Fragile {}
