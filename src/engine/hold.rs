//! Holding a conversation's queue, and reading what is published.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{runtime::Handle, sync::oneshot};

use crate::{
    domain::{Conversation, ConversationKey},
    engine::{
        Engine, EngineError,
        queue::{Published, Queue, Unqueued},
        queued::{Entry, Seen},
    },
    store::Newer,
};

/// The right to change a conversation: nobody else decides, commits or publishes anything of it meanwhile.
///
/// Dropped, it lets the queue go; when something waits there, a task drives it.
pub(super) struct Hold {
    pub(super) engine: Arc<Engine>,
    pub(super) queue: Arc<Queue>,
    /// Somebody else has it, or nobody.
    is_over: bool,
    /// It was handed to a task that has not begun.
    is_on_its_way: bool,
}

impl Hold {
    fn new(engine: Arc<Engine>, queue: Arc<Queue>) -> Self {
        Self { engine, queue, is_over: false, is_on_its_way: false }
    }

    /// Whoever was handed it has begun.
    pub(super) fn begin(&mut self) {
        self.is_on_its_way = false;
    }

    /// The state that was committed last. What is not known is loaded; over a store that others write to, so
    /// is what they have changed.
    pub(super) async fn state(&self) -> Result<Option<Arc<Conversation>>, EngineError> {
        let engine = &self.engine;
        match self.queue.published() {
            Published::Unknown => {
                let state = engine.store.load(&self.queue.key).await?;
                self.queue.publish_loaded(state.clone());
                Ok(state)
            }
            known if engine.is_shared => {
                let known = known.state();
                let change = known.as_ref().map(|state| state.head.change);
                let state = match engine.store.load_if_newer(&self.queue.key, change).await? {
                    Newer::Known => return Ok(known),
                    Newer::Absent => None,
                    Newer::State(state) => Some(state),
                };
                self.queue.publish_loaded(state.clone());
                Ok(state)
            }
            known => Ok(known.state()),
        }
    }

    /// The same for a single call that may have `seen` the state since it began: that or a newer one is told, and
    /// the store is asked only where it is not clear which of the two is newer.
    pub(super) async fn state_since(
        &self,
        seen: Option<Seen>,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        let Some(seen) = seen else { return self.state().await };
        match (self.queue.published(), &seen) {
            (Published::Unknown, _) => {}
            (Published::Absent, None) => return Ok(None),
            (Published::State(known), Some(seen))
                if known.head.identity.lineage == seen.head.identity.lineage =>
            {
                if known.head.revision >= seen.head.revision {
                    return Ok(Some(known));
                }
            }
            _ => return self.state().await,
        }
        self.queue.publish_loaded(seen.clone());
        Ok(seen)
    }

    /// Lets the queue go unless something waits; answers whether it did.
    pub(super) fn let_go(&mut self) -> bool {
        self.engine.queues.charge(&self.queue);
        self.is_over = self.queue.let_go();
        if self.is_over {
            self.engine.queues.discard_unused(&self.queue);
        }
        self.is_over
    }

    /// Leaves the queue to the one who asked for it; comes back when that one went away.
    pub(super) fn leave_to(mut self, next: oneshot::Sender<()>) -> Option<Self> {
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
            // the runtime has ended: whoever waits is told by the end of the wait
            _ => self.queue.abandon(),
        }
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
    /// What was granted and not taken is let go.
    fn drop(&mut self) {
        self.granted.close();
        if self.granted.try_recv().is_ok() {
            drop(Hold::new(self.engine.clone(), self.queue.clone()));
        }
    }
}

impl Engine {
    /// Puts an entry in a conversation's queue. When nobody holds that, it comes back with the hold. Refuses it when
    /// `most` wait.
    pub(super) fn enqueue(
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

    /// Holds a conversation's queue, once what stands in it before is done.
    pub(super) async fn hold(self: &Arc<Self>, key: &ConversationKey) -> Result<Hold, EngineError> {
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

    /// The published state of a conversation; loads it when it is not in memory.
    pub(crate) async fn published(
        self: &Arc<Self>,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        let published = self.queues.get(key).map_or(Published::Unknown, |queue| queue.published());
        match published {
            Published::Unknown => self.settled(key).await,
            // somebody makes it: it is there as soon as the store tells of it
            Published::Absent => match self.store.load(key).await? {
                Some(_) => self.settled(key).await,
                None => Ok(None),
            },
            known if self.is_shared => {
                let known = known.state();
                let change = known.as_ref().map(|state| state.head.change);
                Ok(match self.store.load_if_newer(key, change).await? {
                    Newer::Known => known,
                    Newer::Absent => None,
                    Newer::State(state) => Some(state),
                })
            }
            known => Ok(known.state()),
        }
    }

    /// The published state once all is published that the store may have told of before.
    pub(super) async fn settled(
        self: &Arc<Self>,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        // boxed: seldom needed, and large
        Box::pin(async { self.hold(key).await?.state().await }).await
    }
}

/// The hold of a conversation among those that are held.
pub(super) fn held<'a>(holds: &'a [Hold], key: &ConversationKey) -> Option<&'a Hold> {
    holds.iter().find(|hold| hold.queue.key == *key)
}

/// Holds of several conversations, so that nobody who has some waits for one who has others: they are taken in
/// the order of the keys.
pub(super) async fn hold_all(
    engine: &Arc<Engine>,
    keys: &std::collections::BTreeSet<ConversationKey>,
) -> Result<Vec<Hold>, EngineError> {
    let mut holds = Vec::with_capacity(keys.len());
    for key in keys {
        holds.push(engine.hold(key).await?);
    }
    Ok(holds)
}
