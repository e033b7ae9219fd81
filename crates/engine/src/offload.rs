//! Runs long work off the threads that serve calls.

use std::{future::pending, num::NonZeroUsize, sync::LazyLock, thread::available_parallelism};

use tokio::sync::Semaphore;

use utterd_telemetry::blocking;

/// Work on a text longer than this is long.
pub const LONG_TEXT_BYTES: usize = 32 << 10;
/// Work on utterances with more tokens than this is long.
pub const LONG_TOKENS: u64 = 20_000;
/// Work on more utterances than this is long, however short they are.
pub(super) const LONG_LIST: usize = 2_000;

/// The permits for long work in this process.
static TURNS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(most_offloaded()));

/// Returns how many pieces of long work run at a time: one per processor, and at least two. More would finish
/// no sooner, and would take more memory.
pub fn most_offloaded() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get).max(2)
}

/// Does `work`. Long work runs on another thread, so that the caller's thread can serve other calls.
///
/// - Work that waits for a permit is taken in order of arrival. Only admitted calls and background work
///   offload anything, which bounds how much can wait.
/// - If the caller is dropped, work that has not begun is not done. Work that has begun is completed, and its
///   result is dropped.
/// - A panic in `work` panics in the caller.
pub async fn offload<T: Send + 'static>(is_long: bool, work: impl FnOnce() -> T + Send + 'static) -> T {
    if !is_long {
        return work();
    }
    let Ok(turn) = TURNS.acquire().await else { return work() };
    let done = blocking(move || {
        let _turn = turn;
        work()
    });
    match done.await {
        Some(done) => done,
        // the runtime is shutting down, and ends this call
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
            mpsc,
        },
        thread,
    };

    use futures::FutureExt;
    use tokio::task::JoinHandle;

    use super::*;

    /// Held by the one test that takes all permits.
    static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

    /// Takes every permit with work that lasts until the returned sender is dropped.
    async fn take_all_turns() -> (mpsc::Sender<()>, Vec<JoinHandle<thread::ThreadId>>) {
        let (end, ended) = mpsc::channel::<()>();
        let ended = Arc::new(std::sync::Mutex::new(ended));
        let mut taken = Vec::new();
        for _ in 0..most_offloaded() {
            let (begin, begun) = tokio::sync::oneshot::channel();
            let ended = ended.clone();
            taken.push(tokio::spawn(offload(true, move || {
                let _ = begin.send(());
                let _ = ended.lock().map(|ended| ended.recv());
                thread::current().id()
            })));
            begun.await.unwrap();
        }
        (end, taken)
    }

    /// The thread that serves calls needs no permit: it runs this test while all permits are taken.
    #[tokio::test]
    async fn long_work_is_not_done_by_the_thread_that_serves_calls() {
        let _alone = ALONE.lock().await;
        let (end, taken) = take_all_turns().await;
        assert_eq!(offload(false, || 1).await, 1, "short work does not wait for a turn");
        drop(end);
        for work in taken {
            assert_ne!(work.await.unwrap(), thread::current().id());
        }
    }

    #[tokio::test]
    async fn short_work_is_done_at_once() {
        let here = thread::current().id();
        assert_eq!(offload(false, || thread::current().id()).now_or_never(), Some(here));
    }

    #[tokio::test]
    async fn work_whose_caller_is_gone_before_its_turn_is_not_done() {
        let _alone = ALONE.lock().await;
        let (end, taken) = take_all_turns().await;
        let is_done = Arc::new(AtomicBool::new(false));
        let sets = is_done.clone();
        let waiting = offload(true, move || sets.store(true, Ordering::Release)).now_or_never();
        assert!(waiting.is_none(), "all turns are taken");
        drop(end);
        for work in taken {
            work.await.unwrap();
        }
        offload(true, || ()).await;
        assert!(!is_done.load(Ordering::Acquire));
    }

    #[tokio::test]
    async fn a_panic_reaches_the_caller_and_gives_back_the_turn() {
        let _alone = ALONE.lock().await;
        for _ in 0..2 * most_offloaded() {
            let panicked = tokio::spawn(offload(true, || panic!("by the test"))).await;
            assert!(panicked.is_err_and(|error| error.is_panic()));
        }
        assert_eq!(offload(true, || 1).await, 1);
    }
}
