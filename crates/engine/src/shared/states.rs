//! The state of a conversation: the one in memory, if the store cannot have a newer one or the caller accepts
//! a stale one; otherwise the one in the store.

use std::{cmp::Ordering, sync::Arc, time::Duration};

use crate::{
    Engine, Result,
    lane::{hold::Hold, queue::Published, queued::Seen},
};
use utterd_domain::{Conversation, ConversationKey};
use utterd_store::Newer;

impl Engine {
    /// Returns the published state of a conversation. Loads it if it is not in memory.
    pub(crate) async fn published(
        self: &Arc<Self>,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>> {
        self.published_within(Duration::ZERO, key).await
    }

    /// Like [`Self::published`], but the state may miss what other processes have committed within
    /// `max_staleness`.
    pub(crate) async fn published_within(
        self: &Arc<Self>,
        max_staleness: Duration,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>> {
        let Some(queue) = self.queues.get(key) else { return self.settled(key).await };
        let published = queue.confirmed();
        let Published::State(known) = &published.value else {
            drop(queue);
            // another writer may be creating it: if the store has it, wait until it is published
            let is_absent =
                matches!(published.value, Published::Absent) && self.store.load(key).await?.is_none();
            return if is_absent { Ok(None) } else { self.settled(key).await };
        };
        let asked = self.asking().filter(|now| !published.is_fresh(max_staleness, *now));
        let Some(asked) = asked else {
            self.meters.hits.inc();
            return Ok(Some(known.clone()));
        };
        Ok(match self.store.load_if_newer(key, Some(known.head.change)).await? {
            Newer::Known => {
                self.meters.hits.inc();
                queue.confirm(&published, asked);
                Some(known.clone())
            }
            Newer::Absent => None,
            Newer::State(state) => {
                self.meters.misses.inc();
                Some(self.keep(state, asked))
            }
        })
    }

    /// Returns the published state, once everything that the store may have returned already is published.
    pub(crate) async fn settled(
        self: &Arc<Self>,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>> {
        // boxed: rarely needed, and large
        Box::pin(async { self.hold(key).await.state().await }).await
    }

    /// Publishes a newer state, which the store had after `asked`, for the next readers. If a writer holds
    /// the queue, leaves that to the writer. Returns the state.
    pub(crate) fn keep(self: &Arc<Self>, state: Arc<Conversation>, asked: Duration) -> Arc<Conversation> {
        if let Some(hold) = self.hold_if_free(state.key()) {
            hold.publish_newer(&state, asked);
        }
        state
    }
}

impl Hold {
    /// Returns the last committed state. Loads it if it is not known, or if the store is shared and has a
    /// newer one.
    pub async fn state(&self) -> Result<Option<Arc<Conversation>>> {
        let (engine, published, asked) = (&self.engine, self.queue.confirmed(), self.engine.asking());
        let (is_known, known) = (published.value.is_known(), published.value.clone().state());
        if is_known && asked.is_none() {
            engine.meters.hits.inc();
            return Ok(known);
        }
        let change = known.as_ref().map(|state| state.head.change);
        let newer = engine.store.load_if_newer(&self.queue.key, change).await?;
        if newer == Newer::Known {
            engine.meters.hits.inc();
            asked.into_iter().for_each(|asked| self.queue.confirm(&published, asked));
            return Ok(known);
        }
        engine.meters.misses.inc();
        let state = newer.or(None);
        self.queue.publish(state.clone(), asked);
        Ok(state)
    }

    /// Like [`Self::state`], for a single call that may have `seen` the state since it began: returns that
    /// state or a newer one, and asks the store only if it is unclear which of the two is newer.
    pub async fn state_since(&self, seen: Option<Seen>) -> Result<Option<Arc<Conversation>>> {
        let Some(seen) = seen else { return self.state().await };
        match (&self.queue.published(), &seen) {
            (Published::Unknown, _) => {}
            (Published::Absent, None) => return Ok(None),
            (Published::State(known), Some(seen)) => match order(known, seen) {
                Some(Ordering::Less) => {}
                Some(_) => return Ok(Some(known.clone())),
                None => return self.state().await,
            },
            _ => return self.state().await,
        }
        self.queue.publish(seen.clone(), None);
        Ok(seen)
    }

    /// Returns the last known state, which may be outdated if the store is shared. A decision based on it
    /// must be committed or confirmed. A single call may have `seen` a newer state.
    pub async fn likely_state(&self, seen: Option<Seen>) -> Result<Option<Arc<Conversation>>> {
        match (self.queue.published(), seen) {
            (Published::State(known), None) if !self.queue.is_contended() => Ok(Some(known)),
            (_, seen) => self.state_since(seen).await,
        }
    }

    /// Publishes a state that the store had after `asked`, unless it is known to be older than the published
    /// one.
    pub fn publish_newer(&self, state: &Arc<Conversation>, asked: Duration) {
        let asked = match self.queue.published() {
            // a state that was known here, and dropped since, may have been newer
            Published::Unknown => None,
            Published::State(known) if known.head.identity.lineage == state.head.identity.lineage => {
                match order(&known, state) {
                    Some(Ordering::Less) => Some(asked),
                    Some(_) => return,
                    None => None,
                }
            }
            Published::Absent | Published::State(_) => return,
        };
        self.queue.publish(Some(state.clone()), asked);
    }
}

/// Returns the order of two states; `None` if only the store can tell. That is so for states of two
/// conversations with the same id, and for states before and after a fork or a copy froze the branch, which
/// changes no revision.
fn order(one: &Conversation, other: &Conversation) -> Option<Ordering> {
    let (one, other) = (&one.head, &other.head);
    match one.revision.cmp(&other.revision) {
        _ if one.identity.lineage != other.identity.lineage => None,
        Ordering::Equal if one.change != other.change => None,
        order => Some(order),
    }
}
