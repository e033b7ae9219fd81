//! Work that may take long, on a thread that serves calls.

use tokio::runtime::{Handle, RuntimeFlavor::MultiThread};

/// Text beyond this many bytes is counted aside.
pub const COUNT_ASIDE_BYTES: usize = 32 << 10;

/// Does `work`; when it is `long`, the calls that this thread serves are handed to another one first, so that
/// it holds up none of them.
///
/// A runtime of one thread has no other: there it holds them up.
pub fn aside<T>(long: bool, work: impl FnOnce() -> T) -> T {
    match long && Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == MultiThread) {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::mpsc, time::Duration};

    /// With one thread to serve calls, a call goes on while another takes long.
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
