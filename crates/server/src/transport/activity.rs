//! The activity on one connection, which decides when the connection has to end.
//!
//! Only the calls of known callers count: those with a verified credential, or all but health checks and reflection if
//! the server asks for none. Calls that anybody can make keep no connection open.

use std::{
    future::pending,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, sleep_until},
};

use utterd_domain::limits::{
    HANDSHAKE_TIMEOUT, IDLE_CONNECTION_TIMEOUT, LEAST_MESSAGE_RATE, UNREAD_PATIENCE,
};

/// The calls of known callers on a connection, or how long it has had none.
#[derive(Debug)]
pub struct Activity {
    opened: Instant,
    /// Whether the client has begun to use the connection.
    greeted: AtomicBool,
    calls: AtomicUsize,
    /// The milliseconds from `opened` to the end of the last call.
    idle_since: AtomicU64,
    evicted: Notify,
    /// Changes when the client can no longer be trusted.
    distrust: OnceLock<watch::Receiver<()>>,
    /// The bytes of answers that the client has not read.
    unread: AtomicUsize,
    /// The bytes of answers that the client has read.
    read: AtomicUsize,
}

/// Why a connection has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client has sent nothing in time.
    Silent,
    /// There was no call for a long time.
    Idle,
    /// Another connection takes its place.
    Evicted,
    /// The client has not read answers for a long time.
    Unread,
    /// An authority that may have let the client in was removed.
    Untrusted,
}

impl Activity {
    /// The activity of a connection that is opened now.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            opened: Instant::now(),
            greeted: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
            idle_since: AtomicU64::new(0),
            evicted: Notify::new(),
            distrust: OnceLock::new(),
            unread: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
        })
    }

    /// Notes that the client has begun to use the connection.
    pub fn greet(&self) {
        self.greeted.store(true, Ordering::Relaxed);
    }

    /// Counts a call of a known caller until the returned value is dropped.
    pub fn call(self: &Arc<Self>) -> Call {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Call(self.clone())
    }

    /// Returns since when there has been no call; `None` while there is one.
    pub fn idle_since(&self) -> Option<Instant> {
        match self.calls.load(Ordering::Relaxed) {
            0 => Some(self.opened + Duration::from_millis(self.idle_since.load(Ordering::Relaxed))),
            _ => None,
        }
    }

    /// Counts `bytes` as unread until the returned value is dropped.
    pub fn unread(self: &Arc<Self>, bytes: usize) -> Unread {
        self.unread.fetch_add(bytes, Ordering::Relaxed);
        Unread { activity: self.clone(), bytes }
    }

    /// Asks the connection to end when `distrust` changes.
    pub fn end_with(&self, distrust: watch::Receiver<()>) {
        // a connection has one handshake
        let _ = self.distrust.set(distrust);
    }

    /// Asks the connection to end in favour of another one.
    pub fn evict(&self) {
        self.evicted.notify_one();
    }

    /// Waits until the connection has to end, and returns why.
    pub async fn end(&self) -> End {
        tokio::select! {
            () = self.evicted.notified() => End::Evicted,
            end = self.timeout() => end,
            () = self.not_read() => End::Unread,
            () = self.distrusted() => End::Untrusted,
        }
    }

    async fn distrusted(&self) {
        let Some(distrust) = self.distrust.get() else { return pending().await };
        // the server stops: nobody is distrusted any more
        if distrust.clone().changed().await.is_err() {
            pending::<()>().await;
        }
    }

    /// Waits for an [`UNREAD_PATIENCE`] in which the client read neither all that was unread nor as much as the least
    /// rate requires.
    async fn not_read(&self) {
        loop {
            let (unread, read) = (self.unread.load(Ordering::Relaxed), self.read.load(Ordering::Relaxed));
            sleep(UNREAD_PATIENCE).await;
            let enough = unread.min(LEAST_MESSAGE_RATE * UNREAD_PATIENCE.as_secs() as usize);
            if self.read.load(Ordering::Relaxed).wrapping_sub(read) < enough {
                return;
            }
        }
    }

    async fn timeout(&self) -> End {
        sleep(HANDSHAKE_TIMEOUT).await;
        if !self.greeted.load(Ordering::Relaxed) {
            return End::Silent;
        }
        loop {
            let since = self.idle_since().unwrap_or_else(Instant::now);
            if since.elapsed() >= IDLE_CONNECTION_TIMEOUT {
                return End::Idle;
            }
            sleep_until(since + IDLE_CONNECTION_TIMEOUT).await;
        }
    }
}

/// A call in progress.
#[derive(Debug)]
pub struct Call(Arc<Activity>);

impl Drop for Call {
    fn drop(&mut self) {
        let activity = &self.0;
        let elapsed = u64::try_from(activity.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        activity.idle_since.store(elapsed, Ordering::Relaxed);
        activity.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Unread bytes of an answer.
pub struct Unread {
    activity: Arc<Activity>,
    bytes: usize,
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.activity.unread.fetch_sub(self.bytes, Ordering::Relaxed);
        self.activity.read.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn end_after(activity: &Activity) -> (End, Duration) {
        let started = Instant::now();
        (activity.end().await, started.elapsed())
    }

    fn is_about(duration: Duration, expected: Duration) -> bool {
        duration >= expected && duration <= expected + Duration::from_millis(10)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_says_nothing_is_not_waited_for() {
        let (end, after) = end_after(&Activity::new()).await;
        assert_eq!(end, End::Silent);
        assert!(is_about(after, HANDSHAKE_TIMEOUT), "{after:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_call_ends() {
        let activity = Activity::new();
        activity.greet();
        let (end, after) = end_after(&activity).await;
        assert_eq!(end, End::Idle);
        assert!(is_about(after, IDLE_CONNECTION_TIMEOUT), "{after:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_keeps_a_connection() {
        let activity = Activity::new();
        activity.greet();
        let call = activity.call();
        let waiting = tokio::spawn({
            let activity = activity.clone();
            async move { end_after(&activity).await }
        });
        sleep(3 * IDLE_CONNECTION_TIMEOUT + Duration::from_secs(60)).await;
        assert_eq!(activity.idle_since(), None);
        drop(call);
        let (end, after) = waiting.await.unwrap();
        assert_eq!(end, End::Idle);
        assert!(is_about(after, 4 * IDLE_CONNECTION_TIMEOUT + Duration::from_secs(60)), "{after:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn answers_have_to_be_read() {
        let activity = Activity::new();
        activity.greet();
        let _call = activity.call();
        let unread = activity.unread(1_000_000);
        let end = end_after(&activity).await;
        assert_eq!((end.0, is_about(end.1, UNREAD_PATIENCE)), (End::Unread, true));
        let ending = end_after(&activity);
        let (end, ()) = tokio::join!(ending, async {
            sleep(UNREAD_PATIENCE / 2).await;
            drop(unread);
            sleep(UNREAD_PATIENCE).await;
            std::mem::forget(activity.unread(1));
        });
        assert_eq!((end.0, is_about(end.1, 3 * UNREAD_PATIENCE)), (End::Unread, true), "read, then not");
    }

    #[tokio::test(start_paused = true)]
    async fn an_eviction_is_heard_whenever_it_comes() {
        let activity = Activity::new();
        activity.evict();
        assert_eq!(end_after(&activity).await, (End::Evicted, Duration::ZERO));
    }
}
