//! The requests waiting for the writing thread.
#![allow(clippy::disallowed_methods, reason = "waits are measured, no time is kept")]

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use futures::StreamExt as _;
use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;
use tokio_stream::wrappers::WatchStream;

use super::{
    Request,
    caller::{Answer, Caller, answer_all},
};
use crate::{BoxStream, Result, StoreError, overload::Overload};
use utterd_domain::limits::MAX_BACKLOG_BYTES;

/// Requests are refused while this many bytes or more wait: enough for many batches, so a working disk never
/// reaches the limit.
pub(super) const WAITING_BYTES: usize = 32 << 20;

/// Requests in order of arrival, and the state of the writing thread.
pub(in crate::durable) struct Queue {
    state: Mutex<State>,
    wake: Condvar,
    /// The bytes that the waiting requests write; changed under the lock of `state`.
    bytes: AtomicUsize,
    overload: Overload,
    /// Whether requests are accepted: `DiskFull` until there is space on the disk; any other error is for good.
    condition: watch::Sender<Result<()>>,
    /// The newest group that an engine may already show to readers.
    shown: AtomicU64,
    /// The newest group that is settled.
    settled: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    requests: VecDeque<WaitingRequest>,
    /// The number of requests that wakes the writing thread.
    wanted: usize,
    closed: bool,
}

/// A waiting request.
pub(super) struct WaitingRequest {
    pub(super) request: Request,
    pub(super) caller: Caller,
    bytes: usize,
    /// When the request arrived, and how many requests were waiting then.
    came: Instant,
    before: usize,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            wake: Condvar::new(),
            bytes: AtomicUsize::new(0),
            overload: Overload::default(),
            condition: watch::Sender::new(Ok(())),
            shown: AtomicU64::new(0),
            settled: watch::Sender::new(0),
        }
    }
}

impl Queue {
    /// Adds a request, unless too many bytes wait. Requests take effect in the order of these calls.
    pub(in crate::durable) fn push(&self, request: Request) -> Answer {
        let (caller, answer) = Caller::new();
        let mut state = self.state.lock();
        if state.closed {
            caller.answer(Err(self.failure().into()));
            return answer;
        }
        let waiting = self.bytes.load(Ordering::Relaxed);
        if waiting >= WAITING_BYTES {
            caller.answer(Err(StoreError::Busy { waiting: waiting as u64 }.into()));
            return answer;
        }
        let (bytes, came, before) = (request.bytes(), Instant::now(), state.requests.len());
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        state.requests.push_back(WaitingRequest { request, caller, bytes, came, before });
        if state.requests.len() >= state.wanted {
            self.wake.notify_one();
        }
        answer
    }

    /// Takes waiting requests with at most `bytes` bytes, or one larger request; waits for at most `patience`
    /// for the first one, and then takes none. `None` once the queue is closed and empty.
    ///
    /// Gathers first, for at most the time `gathering`: waits until as many requests as were `answered` last have
    /// arrived in addition to those already waiting.
    pub(super) fn take(
        &self,
        bytes: usize,
        patience: Option<Duration>,
        answered: usize,
        gathering: Duration,
    ) -> Option<Vec<WaitingRequest>> {
        let mut state = self.state.lock();
        state.wanted = answered + state.requests.len();
        self.wake.wait_while_for(&mut state, State::lacks, gathering);
        state.wanted = 1;
        match patience {
            None => self.wake.wait_while(&mut state, State::lacks),
            Some(patience) => {
                self.wake.wait_while_for(&mut state, State::lacks, patience);
            }
        }
        let Some(first) = state.requests.front() else { return (!state.closed).then(Vec::new) };
        self.overload.note(first.came.elapsed(), first.before, state.requests.len() - 1);
        let (group, taken) = state.take(bytes);
        self.bytes.fetch_sub(taken, Ordering::Relaxed);
        Some(group)
    }

    /// Whether new writes should be refused: the writing thread is behind, and too many bytes wait.
    pub(in crate::durable) fn is_behind(&self) -> bool {
        self.overload.refuses(!self.is_short())
    }

    /// Whether the queue is short enough to add optional writes.
    pub(in crate::durable) fn is_short(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) <= MAX_BACKLOG_BYTES
    }

    /// Accepts no more requests; the writing thread still handles the waiting ones.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.wake.notify_one();
    }

    /// Accepts no more requests, and fails the waiting ones.
    pub(super) fn fail(&self, error: &StoreError) {
        self.become_unless_failed(Err(error.clone()));
        let mut state = self.state.lock();
        state.closed = true;
        self.bytes.store(0, Ordering::Relaxed);
        let waiting = state.requests.drain(..);
        answer_all(waiting.map(|waiting| (waiting.caller, Err(error.clone().into()))));
    }

    /// Returns why nothing more is written.
    fn failure(&self) -> StoreError {
        let failure = self.condition.borrow().clone().err().filter(has_failed);
        failure.unwrap_or_else(|| StoreError::unavailable("the store is closed"))
    }

    /// Whether requests are refused because the disk is full.
    pub(super) fn is_full(&self) -> bool {
        self.condition.borrow().as_ref().is_err_and(|error| !has_failed(error))
    }

    /// Streams whether requests are accepted: the current condition, then each change.
    pub(in crate::durable) fn conditions(&self) -> BoxStream<'static, Result<()>> {
        WatchStream::new(self.condition.subscribe()).boxed()
    }

    /// Sets the condition and notifies watchers, if its kind changes. A failure is permanent.
    pub(super) fn become_unless_failed(&self, next: Result<()>) {
        let kind = |condition: &Result<()>| condition.as_ref().err().map(has_failed);
        self.condition.send_if_modified(|condition| {
            let changes = kind(condition) != Some(true) && kind(condition) != kind(&next);
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
        let _ = condition.wait_for(|condition| condition.as_ref().is_err_and(has_failed)).await;
        self.failure()
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

    /// Takes the first requests, and returns their bytes: at most `most`, unless the first one has more.
    fn take(&mut self, most: usize) -> (Vec<WaitingRequest>, usize) {
        let (mut group, mut bytes) = (Vec::new(), 0);
        while let Some(first) = self.requests.front()
            && (group.is_empty() || bytes + first.bytes <= most)
        {
            bytes += first.bytes;
            group.extend(self.requests.pop_front());
        }
        (group, bytes)
    }
}

/// Whether an error is for good.
fn has_failed(error: &StoreError) -> bool {
    !matches!(error, StoreError::DiskFull { .. })
}
