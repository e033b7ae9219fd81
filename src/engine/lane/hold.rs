//! Holding a conversation's queue, and reading the published state.

use std::{
    cmp::Ordering,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{runtime::Handle, sync::oneshot};

use crate::{
    domain::{Conversation, ConversationKey},
    engine::{
        Engine, EngineError,
        lane::{
            queue::{Published, Queue, Unqueued},
            queued::{Entry, Seen},
        },
    },
    store::Newer,
};

/// The right to change a conversation: meanwhile, nobody else decides, commits or publishes anything for it.
///
/// Dropping it releases the queue; if entries are waiting there, a task drives it.
pub(in crate::engine) struct Hold {
    pub(in crate::engine) engine: Arc<Engine>,
    pub(in crate::engine) queue: Arc<Queue>,
    /// The hold has passed to someone else, or was released.
    is_over: bool,
    /// It was handed to a task that has not started yet.
    is_on_its_way: bool,
}

impl Hold {
    fn new(engine: Arc<Engine>, queue: Arc<Queue>) -> Self {
        Self { engine, queue, is_over: false, is_on_its_way: false }
    }

    /// Marks that the task it was handed to has started.
    pub(in crate::engine) fn begin(&mut self) {
        self.is_on_its_way = false;
    }

    /// Returns the last committed state. Loads it if it is not known, or if the store is shared and has a newer
    /// one.
    pub(in crate::engine) async fn state(&self) -> Result<Option<Arc<Conversation>>, EngineError> {
        let (engine, key) = (&self.engine, &self.queue.key);
        let published = self.queue.confirmed();
        let known = match &published.value {
            Published::Unknown => {
                let asked = engine.asking();
                engine.meters.misses.inc();
                let state = engine.store.load(key).await?;
                self.queue.publish_loaded(state.clone(), asked);
                return Ok(state);
            }
            known => known.clone().state(),
        };
        let Some(asked) = engine.asking() else {
            engine.meters.hits.inc();
            return Ok(known);
        };
        let change = known.as_ref().map(|state| state.head.change);
        let state = match engine.store.load_if_newer(key, change).await? {
            Newer::Known => {
                engine.meters.hits.inc();
                self.queue.confirm(&published, asked);
                return Ok(known);
            }
            Newer::Absent => None,
            Newer::State(state) => Some(state),
        };
        engine.meters.misses.inc();
        self.queue.publish_loaded(state.clone(), Some(asked));
        Ok(state)
    }

    /// Like [`Self::state`], for a single call that may have `seen` the state since it began: returns that
    /// state or a newer one, and asks the store only if it is unclear which of the two is newer.
    pub(in crate::engine) async fn state_since(
        &self,
        seen: Option<Seen>,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
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
        self.queue.publish_loaded(seen.clone(), None);
        Ok(seen)
    }

    /// Returns the last known state, which may be outdated if the store is shared: what is decided on it must be
    /// committed, or confirmed. A single call may have `seen` a newer one.
    pub(in crate::engine) async fn likely_state(
        &self,
        seen: Option<Seen>,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        match (self.queue.published(), seen) {
            (Published::State(known), None) if !self.queue.is_contended() => Ok(Some(known)),
            (_, seen) => self.state_since(seen).await,
        }
    }

    /// Publishes a state that the store had after `asked`, unless it is known to precede the known one.
    pub(in crate::engine) fn publish_newer(&self, state: &Arc<Conversation>, asked: Duration) {
        let asked = match self.queue.published() {
            // what was known, and forgotten since, may have been newer
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
        self.queue.publish_loaded(Some(state.clone()), asked);
    }

    /// Releases the queue unless entries wait. Returns whether it did.
    pub(in crate::engine) fn let_go(&mut self) -> bool {
        self.engine.queues.charge(&self.queue);
        self.is_over = self.queue.let_go();
        if self.is_over {
            self.engine.queues.discard_unused(&self.queue);
        }
        self.is_over
    }

    /// Passes the queue to whoever asked for it. Returns the hold if the asker is gone.
    pub(in crate::engine) fn leave_to(mut self, next: oneshot::Sender<()>) -> Option<Self> {
        self.engine.queues.charge(&self.queue);
        self.is_over = next.send(()).is_ok();
        (!self.is_over).then_some(self)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.is_over || self.let_go() {
            return;
        }
        match Handle::try_current() {
            Ok(runtime) if !self.is_on_its_way => {
                let (engine, queue) = (self.engine.clone(), self.queue.clone());
                let next = Self { engine, queue, is_over: false, is_on_its_way: true };
                runtime.spawn(Engine::drive(next, None));
            }
            // the runtime has shut down: the waiters see their channels close
            _ => self.queue.abandon(),
        }
    }
}

/// Which of two states came first; `None` if only the store can tell: those of two conversations of one name, or
/// before and after another conversation has got something of it, which changes no revision.
fn order(one: &Conversation, other: &Conversation) -> Option<Ordering> {
    let (one, other) = (&one.head, &other.head);
    match one.revision.cmp(&other.revision) {
        _ if one.identity.lineage != other.identity.lineage => None,
        Ordering::Equal if one.change != other.change => None,
        order => Some(order),
    }
}

/// A wait for a queue.
struct Asked {
    engine: Arc<Engine>,
    queue: Arc<Queue>,
    granted: oneshot::Receiver<()>,
}

impl Future for Asked {
    type Output = Result<Hold, EngineError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let granted = ready!(Pin::new(&mut self.granted).poll(context));
        let hold = || Hold::new(self.engine.clone(), self.queue.clone());
        Poll::Ready(granted.map(|()| hold()).map_err(|_| EngineError::Interrupted))
    }
}

impl Drop for Asked {
    /// Releases a hold that was granted but not taken.
    fn drop(&mut self) {
        self.granted.close();
        if self.granted.try_recv().is_ok() {
            drop(Hold::new(self.engine.clone(), self.queue.clone()));
        }
    }
}

impl Engine {
    /// Puts an entry in a conversation's queue. If nobody holds the queue, returns the entry with the hold.
    /// Refuses it if `most` entries already wait.
    pub(in crate::engine) fn enqueue(
        self: &Arc<Self>,
        key: &ConversationKey,
        mut entry: Entry,
        most: usize,
    ) -> Result<Option<(Hold, Entry)>, EngineError> {
        loop {
            let queue = self.queues.of(key);
            match queue.hold_or_wait(entry, most) {
                Ok(None) => return Ok(None),
                Ok(Some(entry)) => return Ok(Some((Hold::new(self.clone(), queue), entry))),
                Err(Unqueued::Discarded(again)) => entry = again,
                Err(Unqueued::Full) => return Err(EngineError::QueueFull),
            }
        }
    }

    /// Holds a conversation's queue if nobody does.
    pub(in crate::engine) fn hold_if_free(self: &Arc<Self>, key: &ConversationKey) -> Option<Hold> {
        let queue = self.queues.of(key);
        queue.hold_if_free().then(|| Hold::new(self.clone(), queue))
    }

    /// Holds a conversation's queue, once everything ahead in it is done.
    pub(in crate::engine) async fn hold(
        self: &Arc<Self>,
        key: &ConversationKey,
    ) -> Result<Hold, EngineError> {
        loop {
            let queue = self.queues.of(key);
            let (grant, granted) = oneshot::channel();
            match queue.hold_or_wait(Entry::Hold(grant), usize::MAX) {
                Ok(None) => return Asked { engine: self.clone(), queue, granted }.await,
                Ok(Some(_)) => return Ok(Hold::new(self.clone(), queue)),
                Err(Unqueued::Discarded(_)) => {}
                Err(Unqueued::Full) => return Err(EngineError::QueueFull),
            }
        }
    }

    /// Returns the published state of a conversation, loading it if it is not in memory.
    pub(crate) async fn published(
        self: &Arc<Self>,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        self.published_within(Duration::ZERO, key).await
    }

    /// Like [`Self::published`], but the state may lack what other processes have committed within
    /// `max_staleness`.
    pub(in crate::engine) async fn published_within(
        self: &Arc<Self>,
        max_staleness: Duration,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        let Some(queue) = self.queues.get(key) else { return self.settled(key).await };
        let published = queue.confirmed();
        let known = match &published.value {
            Published::Unknown => return self.settled(key).await,
            // someone is creating it: wait until that is published
            Published::Absent => {
                return match self.store.load(key).await? {
                    Some(_) => self.settled(key).await,
                    None => Ok(None),
                };
            }
            Published::State(known) => known,
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

    /// Returns the published state, after everything the store may already have shown is published.
    pub(in crate::engine) async fn settled(
        self: &Arc<Self>,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        // boxed: rarely needed, and large
        Box::pin(async { self.hold(key).await?.state().await }).await
    }
}

/// Returns the hold of a conversation from those held.
pub(in crate::engine) fn held<'a>(holds: &'a [Hold], key: &ConversationKey) -> Option<&'a Hold> {
    holds.iter().find(|hold| hold.queue.key == *key)
}

/// Holds several queues, in key order, so that no two tasks wait for each other's holds.
pub(in crate::engine) async fn hold_all(
    engine: &Arc<Engine>,
    keys: &std::collections::BTreeSet<ConversationKey>,
) -> Result<Vec<Hold>, EngineError> {
    let mut holds = Vec::with_capacity(keys.len());
    for key in keys {
        holds.push(engine.hold(key).await?);
    }
    Ok(holds)
}
