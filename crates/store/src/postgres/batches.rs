//! Sends the requests of concurrent callers to the database in batches.
//!
//! `cargo bench --bench scale` shows why: a Memorize in a batch takes less than a third of the time that it takes the
//! database in a transaction of its own, as pgbench does it (66 and 218 µs), and half as many again fit in a second.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::{Result, StoreError};
use utterd_telemetry::panics::{Panicked, Within};

/// Sends batches of requests.
pub(super) trait Batched: Send + Sync + 'static {
    type Request: Send + 'static;
    type Answer: Send + 'static;

    /// The maximum number of batches in flight.
    const AT_ONCE: usize;
    /// The maximum number of requests in a batch.
    const MOST: usize;

    /// Sends the requests of a batch; returns their answers in the same order.
    fn send(&self, batch: Vec<Self::Request>) -> impl Future<Output = Vec<Self::Answer>> + Send;
}

/// A queue of requests. While the maximum number of batches is in flight, requests wait, and then share a
/// batch. So a lone request is sent at once, and the more requests there are, the less each one costs.
pub(super) struct Batches<B: Batched>(Arc<Inner<B>>);

struct Inner<B: Batched> {
    kind: B,
    queue: Mutex<Queue<B>>,
}

struct Queue<B: Batched> {
    waiting: Vec<(B::Request, Caller<B>)>,
    under_way: usize,
}

type Batch<B> = (Vec<<B as Batched>::Request>, Vec<Caller<B>>);
type Caller<B> = oneshot::Sender<Result<<B as Batched>::Answer>>;

impl<B: Batched> Clone for Batches<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Batched> Batches<B> {
    pub(super) fn new(kind: B) -> Self {
        let queue = Queue { waiting: Vec::new(), under_way: 0 };
        Self(Arc::new(Inner { kind, queue: Mutex::new(queue) }))
    }

    /// Sends the request, alone or with others, even if the caller does not wait for the answer.
    pub(super) async fn ask(&self, request: B::Request) -> Result<B::Answer> {
        let (caller, answer) = oneshot::channel();
        if self.0.is_next((request, caller)) {
            tokio::spawn(Sending { batches: self.0.clone(), is_over: false }.run());
        }
        let dropped = || StoreError::unavailable("a request to the database was dropped");
        answer.await.unwrap_or_else(|_| Err(dropped()))
    }
}

impl<B: Batched> Inner<B> {
    /// Queues a request. Returns whether another batch may be in flight, and then counts it.
    fn is_next(&self, request: (B::Request, Caller<B>)) -> bool {
        let mut queue = self.queue.lock();
        queue.waiting.push(request);
        let is_next = queue.under_way < B::AT_ONCE;
        queue.under_way += usize::from(is_next);
        is_next
    }
}

/// Sends one batch after the other.
struct Sending<B: Batched> {
    batches: Arc<Inner<B>>,
    is_over: bool,
}

impl<B: Batched> Sending<B> {
    async fn run(mut self) {
        loop {
            // lets other callers queue their requests first
            tokio::task::yield_now().await;
            let Some((requests, callers)) = self.next() else { return };
            // an answer cannot be sent if its caller is gone
            match Within::Store.catching(self.batches.kind.send(requests)).await {
                Ok(answers) => {
                    callers
                        .into_iter()
                        .zip(answers)
                        .for_each(|(caller, answer)| drop(caller.send(Ok(answer))));
                }
                Err(Panicked) => {
                    callers.into_iter().for_each(|caller| drop(caller.send(Err(StoreError::Panicked))));
                }
            }
        }
    }

    /// Takes the next batch; `None` if the queue is empty, which ends the sending.
    fn next(&mut self) -> Option<Batch<B>> {
        let mut queue = self.batches.queue.lock();
        if queue.waiting.is_empty() {
            queue.under_way -= 1;
            self.is_over = true;
            return None;
        }
        let many = queue.waiting.len().min(B::MOST);
        Some(queue.waiting.drain(..many).unzip())
    }
}

impl<B: Batched> Drop for Sending<B> {
    fn drop(&mut self) {
        if !self.is_over {
            self.batches.queue.lock().under_way -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    /// Answers each request with the size of its batch, once there is a permit.
    struct Counted(Arc<Semaphore>);

    impl Batched for Counted {
        type Request = u32;
        type Answer = (u32, usize);

        const AT_ONCE: usize = 2;
        const MOST: usize = 3;

        async fn send(&self, batch: Vec<u32>) -> Vec<(u32, usize)> {
            self.0.acquire().await.unwrap().forget();
            batch.iter().map(|request| (*request, batch.len())).collect()
        }
    }

    #[tokio::test]
    async fn those_that_wait_go_together() {
        let may = Arc::new(Semaphore::new(0));
        let batches = Batches::new(Counted(may.clone()));
        let asked = futures::future::join_all((0..6).map(|request| batches.ask(request)));
        let (answers, ()) = tokio::join!(asked, async { may.add_permits(4) });
        let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        assert_eq!(answers, [(0, 3), (1, 3), (2, 3), (3, 3), (4, 3), (5, 3)]);
    }

    #[tokio::test]
    async fn a_lone_request_goes_at_once() {
        let batches = Batches::new(Counted(Arc::new(Semaphore::new(2))));
        assert_eq!(batches.ask(7).await.unwrap(), (7, 1));
        assert_eq!(batches.ask(8).await.unwrap(), (8, 1));
    }

    #[tokio::test]
    async fn what_is_not_answered_is_an_error_and_stops_nothing() {
        let may = Arc::new(Semaphore::new(1));
        let batches = Batches::new(Counted(may.clone()));
        may.close();
        for request in 0..4 {
            assert!(batches.ask(request).await.is_err());
        }
    }
}
