//! The requests waiting for the writing thread.
#![allow(clippy::disallowed_methods, reason = "waits are measured, no time is kept")]

use std::{
    collections::VecDeque,
    mem::discriminant,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use futures::StreamExt as _;
use parking_lot::{Condvar, Mutex};
use tokio::sync::{oneshot, watch};
use tokio_stream::wrappers::WatchStream;

use super::{
    Request,
    backlog::Backlog,
    mailbox::{Caller, Outcome, answer_all},
};
use crate::{BoxStream, Result, StoreError};

/// Requests are refused while this many bytes or more wait: enough for many batches, so a working disk never
/// reaches the limit.
pub(super) const WAITING_BYTES: usize = 32 << 20;

/// Receives the result of a request.
pub(in crate::durable) type Answer = oneshot::Receiver<Outcome>;

/// Requests in order of arrival, and the state of the writing thread.
pub(in crate::durable) struct Queue {
    state: Mutex<State>,
    wake: Condvar,
    backlog: Backlog,
    condition: watch::Sender<Condition>,
    /// The newest group that an engine may already show to readers.
    shown: AtomicU64,
    /// The newest group that is settled.
    settled: watch::Sender<u64>,
}

/// Whether requests are accepted.
#[derive(Clone)]
enum Condition {
    Taking,
    /// Refused until there is space on the disk.
    Full(StoreError),
    /// Refused for good.
    Failed(StoreError),
}

#[derive(Default)]
struct State {
    requests: VecDeque<Waiting>,
    /// The bytes that the requests write.
    bytes: usize,
    /// The number of requests that wakes the writing thread.
    wanted: usize,
    closed: bool,
}

/// A waiting request.
struct Waiting {
    request: Request,
    caller: Caller,
    bytes: usize,
    /// When the request arrived, and how many requests were waiting then.
    came: Instant,
    before: usize,
}

/// How long the writing thread waits before it takes a group.
#[derive(Clone, Copy)]
pub(super) struct Gather {
    /// Number of callers answered last, which may send their next requests immediately.
    pub(super) answered: usize,
    /// Maximum time to wait for them.
    pub(super) patience: Duration,
}

/// The writing thread's next work.
pub(super) enum Taken {
    /// Requests that form a group.
    Group(Vec<(Request, Caller)>),
    /// No request arrived in time.
    Idle,
    /// The queue is closed and empty.
    Closed,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            wake: Condvar::new(),
            backlog: Backlog::default(),
            condition: watch::Sender::new(Condition::Taking),
            shown: AtomicU64::new(0),
            settled: watch::Sender::new(0),
        }
    }
}

impl Queue {
    /// Adds a request, unless too many bytes wait.
    pub(super) fn push(&self, request: Request) -> Answer {
        let (caller, answer) = Caller::new();
        let mut state = self.state.lock();
        if state.closed {
            caller.answer(Err(self.failure().unwrap_or_else(closed).into()));
            return answer;
        }
        if state.bytes >= WAITING_BYTES {
            caller.answer(Err(StoreError::Busy { waiting: state.bytes as u64 }.into()));
            return answer;
        }
        state.push(request, caller);
        self.backlog.set(state.bytes);
        if state.requests.len() >= state.wanted {
            self.wake.notify_one();
        }
        answer
    }

    /// Takes waiting requests with at most `bytes` bytes, or one larger request; waits for at most `patience`
    /// for the first one.
    ///
    /// Gathers first: waits until as many requests as were answered last have arrived in addition to those
    /// already waiting.
    pub(super) fn take(&self, bytes: usize, patience: Option<Duration>, gather: Gather) -> Taken {
        let mut state = self.state.lock();
        state.wanted = gather.answered + state.requests.len();
        self.wake.wait_while_for(&mut state, State::lacks, gather.patience);
        state.wanted = 1;
        match patience {
            None => self.wake.wait_while(&mut state, State::lacks),
            Some(patience) => {
                self.wake.wait_while_for(&mut state, State::lacks, patience);
            }
        }
        if let Some(first) = state.requests.front() {
            self.backlog.take(first.came.elapsed(), first.before, state.requests.len() - 1);
        }
        match state.requests.is_empty() {
            false => {
                let group = state.take(bytes);
                self.backlog.set(state.bytes);
                Taken::Group(group)
            }
            true if state.closed => Taken::Closed,
            true => Taken::Idle,
        }
    }

    /// The size of the backlog.
    pub(in crate::durable) fn backlog(&self) -> &Backlog {
        &self.backlog
    }

    /// Accepts no more requests; the writing thread still handles the waiting ones.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.wake.notify_one();
    }

    /// Accepts no more requests, and fails the waiting ones.
    pub(super) fn fail(&self, error: &StoreError) {
        self.become_unless_failed(Condition::Failed(error.clone()));
        let mut state = self.state.lock();
        (state.closed, state.bytes) = (true, 0);
        let waiting = state.requests.drain(..);
        answer_all(waiting.map(|waiting| (waiting.caller, Err(error.clone().into()))));
    }

    /// Returns the failure after which nothing more is written.
    pub(in crate::durable) fn failure(&self) -> Option<StoreError> {
        match &*self.condition.borrow() {
            Condition::Failed(error) => Some(error.clone()),
            Condition::Taking | Condition::Full(_) => None,
        }
    }

    /// Whether requests are refused because the disk is full.
    pub(super) fn is_full(&self) -> bool {
        matches!(*self.condition.borrow(), Condition::Full(_))
    }

    /// Records whether there is space on the disk, and if not, how much is needed.
    pub(super) fn tell_room(&self, room: Result<()>) {
        self.become_unless_failed(room.map_or_else(Condition::Full, |()| Condition::Taking));
    }

    /// Streams whether requests are accepted: the current condition, then each change.
    pub(in crate::durable) fn conditions(&self) -> BoxStream<'static, Result<()>> {
        let conditions = WatchStream::new(self.condition.subscribe());
        Box::pin(conditions.map(|condition| match condition {
            Condition::Taking => Ok(()),
            Condition::Full(error) | Condition::Failed(error) => Err(error),
        }))
    }

    /// Sets the condition and notifies watchers, if its kind changes. A failure is permanent.
    fn become_unless_failed(&self, next: Condition) {
        self.condition.send_if_modified(|condition| {
            let changes =
                !matches!(condition, Condition::Failed(_)) && discriminant(condition) != discriminant(&next);
            if changes {
                *condition = next;
            }
            changes
        });
    }

    /// Waits until the store accepts no more writes, and returns the reason.
    pub(in crate::durable) async fn failed(&self) -> StoreError {
        let mut condition = self.condition.subscribe();
        // ignored: the condition is read below; either it failed, or the queue was dropped
        let _ = condition.wait_for(|condition| matches!(condition, Condition::Failed(_))).await;
        self.failure().unwrap_or_else(closed)
    }

    /// Notes that readers may now see the writes of `group`, before it is settled.
    pub(super) fn show(&self, group: u64) {
        self.shown.store(group, Ordering::SeqCst);
    }

    /// Notes that the writes of `group` are as durable as requested.
    pub(super) fn settle(&self, group: u64) {
        self.settled.send_replace(group);
    }

    /// Waits until everything a reader may have seen so far is settled.
    pub(in crate::durable) async fn settled(&self) -> Result<()> {
        let shown = self.shown.load(Ordering::SeqCst);
        if *self.settled.borrow() >= shown {
            return Ok(());
        }
        let mut settled = self.settled.subscribe();
        tokio::select! {
            _ = settled.wait_for(|settled| *settled >= shown) => Ok(()),
            error = self.failed() => Err(error),
        }
    }
}

impl State {
    fn lacks(&mut self) -> bool {
        self.requests.len() < self.wanted && !self.closed
    }

    fn push(&mut self, request: Request, caller: Caller) {
        let (bytes, came, before) = (request.bytes(), Instant::now(), self.requests.len());
        self.bytes += bytes;
        self.requests.push_back(Waiting { request, caller, bytes, came, before });
    }

    fn take(&mut self, most: usize) -> Vec<(Request, Caller)> {
        let (mut group, mut bytes) = (Vec::new(), 0);
        while let Some(first) = self.requests.front() {
            bytes += first.bytes;
            if bytes > most && !group.is_empty() {
                break;
            }
            if let Some(first) = self.requests.pop_front() {
                self.bytes -= first.bytes;
                group.push((first.request, first.caller));
            }
        }
        group
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".to_owned())
}
