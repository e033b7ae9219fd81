//! Possibly long work on a thread that serves calls.

use std::{cell::Cell, num::NonZeroUsize, sync::LazyLock, thread::available_parallelism};

use parking_lot::{Condvar, Mutex};
use tokio::runtime::{Handle, RuntimeFlavor::MultiThread};

/// Text longer than this is counted with `aside`.
pub const COUNT_ASIDE_BYTES: usize = 32 << 10;

/// Slots for long work: one per processor, and at least two. More would finish no sooner, and would take more
/// memory meanwhile.
static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    Places { free: Mutex::new(processors.max(2)), given_back: Condvar::new() }
});

thread_local! {
    /// Whether this thread is doing long work.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Does `work`. If it is `long`, first hands the other calls of this thread to another thread, so that none of
/// them is delayed.
///
/// A single-threaded runtime has no other thread: there, they are delayed.
pub fn aside<T>(long: bool, work: impl FnOnce() -> T) -> T {
    let others = Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == MultiThread);
    match long && others && !WITHIN.get() {
        true => tokio::task::block_in_place(|| {
            let _place = PLACES.take();
            work()
        }),
        false => work(),
    }
}

struct Places {
    free: Mutex<usize>,
    given_back: Condvar,
}

/// The slot of the work this thread is doing.
struct Place(&'static Places);

impl Places {
    fn take(&'static self) -> Place {
        let mut free = self.free.lock();
        self.given_back.wait_while(&mut free, |free| *free == 0);
        *free -= 1;
        WITHIN.set(true);
        Place(self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        WITHIN.set(false);
        *self.0.free.lock() += 1;
        self.0.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::mpsc, time::Duration};

    /// With one thread to serve calls, a call proceeds while another takes a long time.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn long_work_holds_up_no_other_call() {
        let (tell, told) = mpsc::channel();
        let long = tokio::spawn(async move {
            let other = tokio::spawn(async move { tell.send(()) });
            let was_told = aside(true, || told.recv_timeout(Duration::from_secs(60)).is_ok());
            (was_told, other.await.is_ok())
        });
        assert_eq!(long.await.ok(), Some((true, true)));
    }
}
