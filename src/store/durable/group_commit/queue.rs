//! What waits for the writing thread.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use parking_lot::{Condvar, Mutex};
use tokio::sync::{oneshot, watch};

use super::Request;
use crate::store::{CommitError, StoreError};

/// What became of a request, once it is known.
pub(in crate::store::durable) type Answer = oneshot::Receiver<Result<(), CommitError>>;
/// Who waits for the answer.
pub(super) type Caller = oneshot::Sender<Result<(), CommitError>>;

/// Requests in the order they were handed over, and what is known of the writing thread.
pub(in crate::store::durable) struct Queue {
    state: Mutex<State>,
    wake: Condvar,
    failure: watch::Sender<Option<StoreError>>,
    /// The newest group that an engine may show to readers.
    shown: AtomicU64,
    /// The newest group that is settled.
    settled: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    requests: VecDeque<(Request, Caller)>,
    closed: bool,
}

/// What the writing thread gets when it asks for work.
pub(super) enum Taken {
    /// Requests that go together.
    Group(Vec<(Request, Caller)>),
    /// There was nothing to do for so long.
    Idle,
    /// There never will be anything to do again.
    Closed,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            wake: Condvar::new(),
            failure: watch::Sender::new(None),
            shown: AtomicU64::new(0),
            settled: watch::Sender::new(0),
        }
    }
}

impl Queue {
    /// Hands a request over.
    pub(super) fn push(&self, request: Request) -> Answer {
        let (caller, answer) = oneshot::channel();
        let mut state = self.state.lock();
        match state.closed {
            true => {
                let _ = caller.send(Err(self.failure().unwrap_or_else(closed).into()));
            }
            false => {
                state.requests.push_back((request, caller));
                self.wake.notify_one();
            }
        }
        answer
    }

    /// Takes what waits, up to `bytes` of it; waits for something for `patience` at most.
    pub(super) fn take(&self, bytes: usize, patience: Option<Duration>) -> Taken {
        let mut state = self.state.lock();
        while state.requests.is_empty() {
            if state.closed {
                return Taken::Closed;
            }
            match patience {
                None => self.wake.wait(&mut state),
                Some(patience) => {
                    if self.wake.wait_for(&mut state, patience).timed_out() && state.requests.is_empty() {
                        return Taken::Idle;
                    }
                }
            }
        }
        state.take(bytes)
    }

    /// Takes no more requests; the writing thread does those that wait.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.wake.notify_one();
    }

    /// Takes no more requests, and fails those that wait.
    pub(super) fn fail(&self, error: &StoreError) {
        self.failure.send_if_modified(|failure| {
            let first = failure.is_none();
            failure.get_or_insert_with(|| error.clone());
            first
        });
        let mut state = self.state.lock();
        state.closed = true;
        for (_, caller) in state.requests.drain(..) {
            let _ = caller.send(Err(error.clone().into()));
        }
    }

    /// Why nothing is written any more.
    pub(in crate::store::durable) fn failure(&self) -> Option<StoreError> {
        self.failure.borrow().clone()
    }

    /// Waits until nothing is written any more, and tells why.
    pub(in crate::store::durable) async fn failed(&self) -> StoreError {
        let mut failure = self.failure.subscribe();
        match failure.wait_for(Option::is_some).await {
            Ok(failure) => failure.clone().unwrap_or_else(closed),
            Err(_) => closed(),
        }
    }

    /// Readers may now see what `group` writes, before it is settled.
    pub(super) fn show(&self, group: u64) {
        self.shown.store(group, Ordering::SeqCst);
    }

    /// What `group` has written is as safe as it is going to be.
    pub(super) fn settle(&self, group: u64) {
        self.settled.send_replace(group);
    }

    /// Waits until everything that a reader may have seen so far is settled.
    pub(in crate::store::durable) async fn settled(&self) -> Result<(), StoreError> {
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
    fn take(&mut self, most: usize) -> Taken {
        let (mut group, mut bytes) = (Vec::new(), 0);
        while let Some((request, _)) = self.requests.front() {
            bytes += request.bytes();
            if bytes > most && !group.is_empty() {
                break;
            }
            group.extend(self.requests.pop_front());
        }
        Taken::Group(group)
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".to_owned())
}
