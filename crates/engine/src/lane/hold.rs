//! Holding a conversation's queue.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{runtime::Handle, sync::oneshot};

use crate::{
    Engine, EngineError, Result,
    lane::{
        queue::{Queue, Unqueued},
        queued::Entry,
    },
};
use utterd_domain::ConversationKey;

/// The right to change a conversation: meanwhile, nobody else decides, commits or publishes anything for it.
///
/// Dropping it releases the queue; if entries are waiting there, a task drives it.
pub struct Hold {
    pub engine: Arc<Engine>,
    pub queue: Arc<Queue>,
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
    pub fn begin(&mut self) {
        self.is_on_its_way = false;
    }

    /// Releases the queue unless entries wait. Returns whether it did.
    pub fn let_go(&mut self) -> bool {
        self.engine.queues.charge(&self.queue);
        self.is_over = self.queue.let_go();
        if self.is_over {
            self.engine.queues.discard_unused(&self.queue);
        }
        self.is_over
    }

    /// Passes the queue to whoever asked for it. Returns the hold if the asker is gone.
    pub fn leave_to(mut self, next: oneshot::Sender<()>) -> Option<Self> {
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

/// A wait for a queue.
struct Asked {
    engine: Arc<Engine>,
    queue: Arc<Queue>,
    granted: oneshot::Receiver<()>,
}

impl Future for Asked {
    type Output = Result<Hold>;

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
    pub(crate) fn enqueue(
        self: &Arc<Self>,
        key: &ConversationKey,
        mut entry: Entry,
        most: usize,
    ) -> Result<Option<(Hold, Entry)>> {
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
    pub(crate) fn hold_if_free(self: &Arc<Self>, key: &ConversationKey) -> Option<Hold> {
        let queue = self.queues.of(key);
        queue.hold_if_free().then(|| Hold::new(self.clone(), queue))
    }

    /// Holds a conversation's queue, once everything ahead in it is done.
    pub(crate) async fn hold(self: &Arc<Self>, key: &ConversationKey) -> Result<Hold> {
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
}

/// Returns the hold of a conversation from those held.
pub fn held<'a>(holds: &'a [Hold], key: &ConversationKey) -> Option<&'a Hold> {
    holds.iter().find(|hold| hold.queue.key == *key)
}

/// Holds several queues, in key order, so that no two tasks wait for each other's holds.
pub async fn hold_all(
    engine: &Arc<Engine>,
    keys: &std::collections::BTreeSet<ConversationKey>,
) -> Result<Vec<Hold>> {
    let mut holds = Vec::with_capacity(keys.len());
    for key in keys {
        holds.push(engine.hold(key).await?);
    }
    Ok(holds)
}
