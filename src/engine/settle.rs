//! What becomes of a commit once the store has it.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
};

use parking_lot::Mutex;
use smallvec::SmallVec;
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
};

use crate::{
    engine::{
        Engine, EventLog,
        lane::{Lane, Ticket, Unpublished},
        lanes::Lanes,
        line::Ahead,
    },
    store::{BoxFuture, CommitError, StoreError},
};

/// How a commit ended.
pub(super) type Committed = Result<(), CommitError>;

/// A commit that the store has: it has ended, or waits for its flush.
pub(super) enum Settled {
    Now(Committed),
    Later(Settling),
}

/// A commit that is being settled, whether its caller stays or goes away.
pub(super) enum Settling {
    /// By its caller.
    Alone(Attended),
    /// After those that its stream handed over before.
    InLine(oneshot::Receiver<Committed>),
}

/// A commit that is settled while its caller waits for it, and in a task of its own if the caller
/// does not wait to the end.
///
/// The mutex is never locked: a stream's line is looked at from several threads, this is not.
pub(super) struct Attended(Option<Mutex<BoxFuture<'static, Committed>>>);

/// A change of a commit, and the lane that it was decided on.
pub(super) struct Link {
    pub(super) lane: Arc<Lane>,
    pub(super) ticket: Ticket,
    pub(super) change: Unpublished,
}

/// The changes of one commit, in the order in which they are published: mostly one.
pub(super) type Links = SmallVec<[Link; 1]>;

/// A commit that waits for its flush.
struct Flush {
    lanes: Arc<Lanes>,
    events: Arc<EventLog>,
    answer: BoxFuture<'static, Committed>,
    /// Where its changes wait.
    tickets: SmallVec<[(Arc<Lane>, Ticket); 1]>,
}

/// Settles the commits of a stream in the order they were handed over: one task for all of them,
/// which the store has to wake once for all that share a flush.
pub(super) struct Settler(mpsc::UnboundedSender<(Flush, oneshot::Sender<Committed>)>);

impl Engine {
    /// Publishes the changes of a commit once it is flushed: here when it is already, else while
    /// the caller waits, or in a task when the caller goes away.
    pub(super) fn settle(
        &self,
        mut answer: BoxFuture<'static, Committed>,
        links: Links,
        ahead: Option<&Ahead<'_>>,
    ) -> Settled {
        if let Poll::Ready(result) = answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            for Link { lane, ticket, change } in links {
                match &result {
                    Ok(()) => lane.committed(ticket, change, &self.events),
                    Err(_) => lane.failed(ticket),
                }
            }
            return Settled::Now(result);
        }
        let wait = |Link { lane, ticket, change }: Link| {
            lane.wait(ticket, change);
            (lane, ticket)
        };
        let tickets = links.into_iter().map(wait).collect();
        let flush = Flush { lanes: self.lanes.clone(), events: self.events.clone(), answer, tickets };
        Settled::Later(match ahead {
            Some(ahead) => ahead.settler().take(flush),
            None => Settling::Alone(Attended::to(flush)),
        })
    }
}

impl Settled {
    /// How the commit ended, once it is known.
    pub(super) async fn result(self) -> Committed {
        match self {
            Self::Now(result) => result,
            Self::Later(mut settling) => settling.result().await,
        }
    }
}

impl Settling {
    /// How the commit ended, once it is known. Nothing is lost when the future is dropped before.
    pub(super) async fn result(&mut self) -> Committed {
        let ended = match self {
            Self::Alone(attended) => return attended.result().await,
            Self::InLine(answer) => answer.await.ok(),
        };
        ended.unwrap_or_else(|| Err(interrupted()))
    }
}

impl Attended {
    fn to(flush: Flush) -> Self {
        Self(Some(Mutex::new(Box::pin(flush.settle()))))
    }

    async fn result(&mut self) -> Committed {
        let Some(settling) = &mut self.0 else { return Err(interrupted()) };
        let result = settling.get_mut().await;
        self.0 = None;
        result
    }
}

impl Drop for Attended {
    /// The caller went away: what it has handed over is settled without it.
    fn drop(&mut self) {
        if let Some(settling) = self.0.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(settling.into_inner());
        }
    }
}

impl Flush {
    async fn settle(mut self) -> Committed {
        let result = self.answer.as_mut().await;
        for (lane, ticket) in std::mem::take(&mut self.tickets) {
            match &result {
                Ok(()) => lane.flushed(ticket, &self.events),
                Err(_) => lane.failed(ticket),
            }
            // whoever holds the lane discards it when letting go
            if let Ok(mut pending) = lane.pending.try_lock() {
                self.lanes.discard_unused(&lane, &mut pending);
            }
        }
        result
    }
}

impl Drop for Flush {
    /// The runtime ends before the flush: whoever is left must not wait for it.
    fn drop(&mut self) {
        self.tickets.iter().for_each(|(lane, ticket)| lane.failed(*ticket));
    }
}

impl Settler {
    /// Starts the task; it ends when the settler is dropped and all that it took is settled.
    pub(super) fn start() -> Self {
        let (sender, mut flushes) = mpsc::unbounded_channel::<(Flush, oneshot::Sender<Committed>)>();
        tokio::spawn(async move {
            while let Some((flush, caller)) = flushes.recv().await {
                let _ = caller.send(flush.settle().await);
            }
        });
        Self(sender)
    }

    fn take(&self, flush: Flush) -> Settling {
        let (caller, answer) = oneshot::channel();
        match self.0.send((flush, caller)) {
            Ok(()) => Settling::InLine(answer),
            Err(mpsc::error::SendError((flush, _))) => Settling::Alone(Attended::to(flush)),
        }
    }
}

fn interrupted() -> CommitError {
    CommitError::Store(StoreError::Unavailable("the write was interrupted".to_owned()))
}
