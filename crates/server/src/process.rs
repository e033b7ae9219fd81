//! What the process asks of the operating system: the time, small pages, many descriptors and few threads.

use std::{io, thread};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    runtime::{Builder, Runtime},
    sync::{oneshot, watch},
};

use super::{Result, ServeError};
use utterd_config::{Backend, Settings};
use utterd_domain::limits::{READING_THREADS, RESERVED_DESCRIPTORS};
use utterd_engine::{SystemClock, most_offloaded};

/// Fails if the clock shows a time that the store cannot record.
pub fn check_clock(settings: &Settings) -> Result<()> {
    match settings.backend != Backend::Memory && SystemClock::shown().is_none() {
        true => Err(ServeError::Clock),
        false => Ok(()),
    }
}

/// Keeps the process's memory in small pages. A huge page cannot be returned to the system while a few bytes of it are
/// in use, so a server would keep gigabytes after a peak of load.
pub fn keep_pages_small() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::warn!(%error, "could not turn off transparent huge pages: memory may stay high after a peak of load");
    }
}

/// Makes the runtime of one thread of the server.
///
/// In addition to that thread, it has threads for long work and for waiting on the disk, as many as are needed at a
/// time.
pub fn runtime() -> io::Result<Runtime> {
    let mut runtime = Builder::new_current_thread();
    runtime.enable_all().max_blocking_threads(most_offloaded() + READING_THREADS).build()
}

/// A thread that works on a runtime of its own.
pub struct Thread {
    stop: oneshot::Sender<()>,
    done: oneshot::Receiver<()>,
}

impl Thread {
    /// Starts `work`, which is to end after the receiver that it gets.
    pub fn start<F: Future<Output = ()>>(
        name: &str,
        work: impl FnOnce(oneshot::Receiver<()>) -> F + Send + 'static,
    ) -> io::Result<Self> {
        let runtime = runtime()?;
        let ((stop, stopped), (finished, done)) = (oneshot::channel(), oneshot::channel::<()>());
        thread::Builder::new().name(name.into()).spawn(move || {
            runtime.block_on(work(stopped));
            drop(runtime);
            drop(finished);
        })?;
        Ok(Self { stop, done })
    }

    /// Asks the work to end; the returned future waits until the thread has ended.
    pub fn stop(self) -> impl Future<Output = ()> {
        let Self { stop, done } = self;
        drop(stop);
        async move {
            let _: Result<(), _> = done.await;
        }
    }
}

/// Waits until `flag` is set, or nobody can set it any more.
pub async fn is_set(mut flag: watch::Receiver<bool>) {
    let _ = flag.wait_for(|is_set| *is_set).await;
}

/// Raises the limit of open descriptors as far as the system allows, and returns it; `None` means no limit.
pub fn raise_descriptor_limit() -> Option<usize> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let holds = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::warn!(%error, "could not raise the limit on open files");
            limit.current
        }
    };
    holds.and_then(|descriptors| usize::try_from(descriptors).ok())
}

/// Returns how many connections `descriptors` leave room for, at most `asked`. If there are few descriptors, half of
/// them are kept for everything else.
pub fn connections(asked: usize, descriptors: Option<usize>) -> usize {
    let Some(descriptors) = descriptors else { return asked };
    let room = descriptors.saturating_sub(RESERVED_DESCRIPTORS).max(descriptors / 2);
    if room < asked {
        tracing::warn!(
            max_connections = room,
            asked,
            "the limit on open files, {descriptors}, is too low for that many connections; raise it (ulimit -n)"
        );
    }
    asked.min(room).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_to_the_store() {
        for (asked, descriptors, room) in [
            (10_000, None, 10_000),
            (10_000, Some(1_048_576), 10_000),
            (10_000, Some(4_096), 3_328),
            (100, Some(4_096), 100),
            (10_000, Some(1_024), 512),
            (10_000, Some(1), 1),
        ] {
            assert_eq!(connections(asked, descriptors), room, "{asked} {descriptors:?}");
        }
    }
}
