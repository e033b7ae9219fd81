//! Panics: each is logged with its place, counted, and ends only the work in which it happened.
//!
//! The panic hook logs, and the code that catches a panic counts it. A panic that is passed on to another task
//! is resumed there without calling the hook again, so it is logged once and counted once.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    future::Future,
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    pin::Pin,
    sync::{LazyLock, Once},
    task::{Context, Poll, ready},
    time::Duration,
};

use pin_project_lite::pin_project;
use tokio::{task::JoinError, time::Instant};

use super::{
    metric::by,
    parted::{IntCounter, IntCounterVec},
    registry::Registry,
};

/// The target of the log entries.
const TARGET: &str = "utterd::panics";
/// How long background work pauses after a panic, at first and at most.
const RESTS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// The kind of work that a panic interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// A call, which ends with INTERNAL.
    Call,
    /// The queue of a conversation: one of its writes fails, and the others go on.
    Queue,
    /// A store.
    Store,
    /// Work that nobody waits for.
    Background,
}

/// A panic that was caught, logged and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

/// The metrics of panics, which belong to the process and not to a server.
struct Meters {
    all: IntCounterVec,
    of: [IntCounter; 4],
}

static METERS: LazyLock<Meters> = LazyLock::new(|| {
    let all = by(
        &["within"],
        "utterd_panics_total",
        "Panics, which are faults of the server, by what they interrupted: a call, a queue, the store, or background work.",
    );
    let of = ["call", "queue", "store", "background"].map(|within| all.with_label_values(&[within]));
    Meters { all, of }
});

/// Adds the number of panics to the metrics of a server.
pub fn register(registry: &Registry) {
    registry.add(&METERS.all);
}

impl Within {
    /// Counts a panic.
    pub fn count(self) {
        METERS.of[self as usize].inc();
    }

    /// The number of panics so far.
    pub fn panics(self) -> u64 {
        METERS.of[self as usize].get()
    }

    /// Returns the result of `work`, or catches its panic.
    ///
    /// After a panic, data that `work` was changing may be changed in part: the caller must drop or repair it.
    pub fn caught<T>(self, work: impl FnOnce() -> T) -> Result<T, Panicked> {
        panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
            self.count();
            Panicked
        })
    }

    /// Returns a future with the result of `work`, or catches its panic, like [`Self::caught`].
    pub fn catching<F: Future>(self, work: F) -> Catching<F> {
        Catching { work, within: self }
    }
}

pin_project! {
    /// The future of [`Within::catching`].
    pub struct Catching<F> {
        #[pin]
        work: F,
        within: Within,
    }
}

impl<F: Future> Future for Catching<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        Poll::Ready(match this.within.caught(|| this.work.poll(context)) {
            Ok(polled) => Ok(ready!(polled)),
            Err(panicked) => Err(panicked),
        })
    }
}

/// Does endless background work. After a panic, pauses and begins the work again; the pause grows if panics
/// follow each other quickly.
pub async fn begin_anew<F: Future<Output = ()>>(what: &str, mut work: impl FnMut() -> F) {
    let [mut rest, longest] = RESTS;
    loop {
        let begun = Instant::now();
        if Within::Background.catching(work()).await.is_ok() {
            return;
        }
        if begun.elapsed() > longest {
            rest = RESTS[0];
        }
        tracing::error!(target: TARGET, "{what} panicked, and begins anew in {rest:?}");
        tokio::time::sleep(rest).await;
        rest = (rest * 2).min(longest);
    }
}

/// Returns the result of a task; `None` if it was cancelled. If the task panicked, resumes its panic here.
pub fn joined<T>(result: Result<T, JoinError>) -> Option<T> {
    match result.map_err(JoinError::try_into_panic) {
        Ok(value) => Some(value),
        Err(Ok(panic)) => panic::resume_unwind(panic),
        Err(Err(_cancelled)) => None,
    }
}

/// Logs all later panics of the process, instead of printing them to stderr. Without a log, they are still printed.
pub fn log_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(
            move |info| match tracing::enabled!(target: TARGET, tracing::Level::ERROR) {
                true => log(info),
                false => print(info),
            },
        ));
    });
}

/// Logs the place of a panic. Its message is logged only if it is a constant: a formatted message can quote the
/// text of a conversation.
fn log(info: &PanicHookInfo<'_>) {
    let place = info.location().map_or_else(String::new, ToString::to_string);
    let message = info.payload().downcast_ref::<&'static str>();
    let backtrace = Backtrace::capture();
    let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
    let thread = std::thread::current();
    tracing::error!(target: TARGET, place, message, thread = thread.name(), backtrace, "a panic: a fault of the server");
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, io, rc::Rc, sync::Arc};

    use parking_lot::Mutex;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn background_work_that_panics_begins_anew() {
        let before = Within::Background.panics();
        let rounds = Rc::new(Cell::new(0));
        let counted = rounds.clone();
        let begun = Instant::now();
        begin_anew("a test", move || {
            let round = counted.replace(counted.get() + 1);
            async move { assert!(round == 3, "round {round}") }
        })
        .await;
        assert_eq!(rounds.get(), 4);
        assert_eq!(begun.elapsed().as_secs(), 1 + 2 + 4);
        assert!(Within::Background.panics() >= before + 3);
    }

    #[tokio::test]
    async fn the_panic_of_a_task_goes_on_in_who_waits() {
        let before = Within::Queue.panics();
        let waiting = async { joined(tokio::spawn(async { panic!("in a task") }).await) };
        assert_eq!(Within::Queue.catching(waiting).await, Err::<Option<()>, _>(Panicked));
        assert!(Within::Queue.panics() > before);
        let task = tokio::spawn(std::future::pending::<()>());
        task.abort();
        assert_eq!(joined(task.await), None);
    }

    /// Collects the log.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_is_logged_once_with_its_place_and_without_what_was_said() {
        log_panics();
        let lines = Lines::default();
        let writer = lines.clone();
        let log = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
        tracing::subscriber::with_default(log, || {
            let said = String::from("planted");
            Within::Call.caught(|| assert!(said.is_empty(), "{said}")).unwrap_err();
            Within::Call.caught(|| panic!("a constant")).unwrap_err();
        });
        let text = String::from_utf8(lines.0.lock().clone()).unwrap();
        assert_eq!(text.matches("a panic: a fault of the server").count(), 2, "{text}");
        let place = format!("place=\"{}", file!());
        assert_eq!(text.matches(&place).count(), 2, "{text}");
        assert!(text.contains("a constant") && !text.contains("planted"), "{text}");
    }
}
