//! Group commit: all waiting requests go into one batch and one flush.
//!
//! A single thread writes. It takes all waiting requests, checks each against the stored data and the writes
//! of the requests before it in the group, and applies the resulting writes as one batch. A caller is
//! answered when its batch is as durable as [`Flush`] requires, and the directory is still where it was
//! opened. After a failure the state on disk is unknown, so nothing more is written until the store is
//! reopened.
#![allow(clippy::disallowed_methods, reason = "intervals between flushes are measured, no time is kept")]

mod caller;
mod group;
#[cfg(test)]
mod place_tests;
mod queue;
#[cfg(test)]
mod room_tests;
#[cfg(test)]
mod tests;

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    Flush,
    disk::{directory::Directory, room::Room},
    key_value::{Durability, KeyValueError, Writes},
    request::Request,
};
use crate::{StoreError, meters::Meters, quotas::Keeper};
pub(super) use caller::Answer;
use caller::{Caller, Outcome, answer_all};
use group::{Group, States};
pub(super) use queue::Queue;
use queue::WaitingRequest;
use utterd_telemetry::panics::{Panicked, Within};

/// Maximum bytes of a batch, unless one request alone is larger.
const GROUP_BYTES: usize = 4 << 20;
/// Maximum time between a flush and the update of the mark.
const MARK_INTERVAL: Duration = Duration::from_secs(1);
/// How often to recheck a full disk.
const ROOM_INTERVAL: Duration = Duration::from_millis(500);
/// Gathering a group takes at most 1 / `GATHER_PART` of the last group's apply time beyond `GATHER_FROM`, and
/// at most `GATHER_MOST`. Quick groups are not gathered: it is better to answer callers while others are
/// flushed.
const GATHER_PART: u32 = 4;
const GATHER_FROM: Duration = Duration::from_micros(500);
const GATHER_MOST: Duration = Duration::from_millis(2);
/// Number of conversations whose states are cached.
const STATES: usize = 1 << 16;

/// The writing thread, and its queue. When dropped, waits until all submitted requests are written.
pub(super) struct GroupCommit {
    /// The requests and their answers.
    pub(super) queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl GroupCommit {
    /// Starts the thread that writes to `directory`.
    pub(super) fn start(
        directory: Arc<Directory>,
        room: Arc<Room>,
        quotas: Arc<Keeper>,
        meters: Meters,
        flush: Flush,
    ) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let (group, links, now) = (directory.group, directory.links.clone(), Instant::now());
        let writer = Writer {
            directory,
            room,
            quotas,
            meters,
            queue: queue.clone(),
            flush,
            states: States::new(STATES),
            group,
            links,
            flushed: group,
            marked: group,
            answered: 0,
            apply_time: Duration::ZERO,
            flush_time: now,
            mark_time: now,
        };
        let thread = thread::Builder::new().name("utterd-writer".into()).spawn(move || writer.run())?;
        Ok(Self { queue, thread: Some(thread) })
    }
}

impl Drop for GroupCommit {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Writer {
    directory: Arc<Directory>,
    room: Arc<Room>,
    quotas: Arc<Keeper>,
    meters: Meters,
    queue: Arc<Queue>,
    flush: Flush,
    states: States,
    /// The last group applied, and the current links.
    group: u64,
    links: Vec<u64>,
    /// The last group on disk, and the last one in the mark.
    flushed: u64,
    marked: u64,
    /// Number of requests in the last group, and how long it took to apply.
    answered: usize,
    apply_time: Duration,
    /// When the disk and the mark were last updated.
    flush_time: Instant,
    mark_time: Instant,
}

/// Callers still waiting when the thread ends, for any reason, get an answer.
impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.fail(&StoreError::unavailable("the store is closed"));
    }
}

impl Writer {
    fn run(mut self) {
        while let Some(requests) = self.next_group() {
            if let Err(error) =
                self.unless_panicked(|writer| writer.write(requests).and_then(|()| writer.catch_up()))
            {
                return self.give_up(&error);
            }
        }
        if let Err(error) = self.flush().and_then(|()| self.mark()) {
            self.give_up(&error);
        }
    }

    /// Does `work`. A panic is an error: it is then unknown what is stored.
    fn unless_panicked(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), KeyValueError>,
    ) -> Result<(), KeyValueError> {
        let done = Within::Store.caught(|| work(self));
        done.unwrap_or_else(|Panicked| Err(KeyValueError("the writing thread panicked".to_owned())))
    }

    /// Checks and applies a group, and answers its callers. Fails if it is unknown how much of the group is
    /// stored.
    fn write(&mut self, waiting: Vec<WaitingRequest>) -> Result<(), KeyValueError> {
        if waiting.is_empty() {
            return Ok(());
        }
        if let Err(full) = self.look_for_room() {
            answer_all(waiting.into_iter().map(|waiting| (waiting.caller, Err(full.clone().into()))));
            return Ok(());
        }
        let durability = self.durability(&waiting);
        let pairs = self.directory.pairs();
        let mut group = Group::new(self.group + 1, &self.links, pairs, &mut self.states, &self.quotas);
        let admit = |WaitingRequest { request, caller, .. }| {
            // the writes of a request are added to the group as its last step: a request that panics before
            // leaves no trace
            let admitted = Within::Store.caught(|| group.admit(request));
            (caller, admitted.unwrap_or(Err(StoreError::Panicked.into())))
        };
        let admitted: Vec<(Caller, Outcome)> = waiting.into_iter().map(admit).collect();
        self.answered = admitted.len();
        if let Some(writes) = group.writes()
            && let Err(error) = self.apply(writes, durability)
        {
            let failed = failure(&error);
            answer_all(admitted.into_iter().map(|(caller, _)| (caller, Err(failed.clone().into()))));
            return Err(error);
        }
        // refusals are answered only now: the caller can then read the state that its request conflicts with
        answer_all(admitted);
        Ok(())
    }

    /// Fails while the disk is full; nothing is written then.
    fn look_for_room(&self) -> Result<(), StoreError> {
        let (room, was_full) = (self.room.check(), self.queue.is_full());
        match &room {
            Err(full) if !was_full => tracing::error!(%full, "no writes are accepted until there is room"),
            Ok(()) if was_full => tracing::info!("there is room on the disk: writes are accepted again"),
            _ => {}
        }
        self.queue.become_unless_failed(room.clone());
        room
    }

    /// Returns how durable a group must be before it is answered.
    fn durability(&self, waiting: &[WaitingRequest]) -> Durability {
        match self.flush {
            Flush::Each if !waiting.iter().all(|waiting| waiting.request.may_be_lost) => Durability::Disk,
            Flush::Each | Flush::Interval(_) => Durability::Process,
        }
    }

    fn apply(&mut self, writes: Writes, durability: Durability) -> Result<(), KeyValueError> {
        let group = self.group + 1;
        let pairs = self.directory.pairs();
        if pairs.visible_before_flush() {
            self.queue.show(group);
        }
        let started = Instant::now();
        pairs.apply(writes, durability)?;
        if durability == Durability::Disk {
            self.flushed = group;
        }
        self.directory.check_place()?;
        self.apply_time = started.elapsed();
        self.meters.write.observe(self.apply_time.as_secs_f64());
        self.meters.batch.observe(self.answered as f64);
        self.group = group;
        self.links = vec![group];
        self.queue.settle(group);
        Ok(())
    }

    /// Does the periodic work between groups.
    fn catch_up(&mut self) -> Result<(), KeyValueError> {
        if self.queue.is_full() {
            let _told = self.look_for_room();
        }
        if let Flush::Interval(interval) = self.flush
            && self.flush_time.elapsed() >= interval
        {
            self.flush()?;
        }
        if self.mark_time.elapsed() >= MARK_INTERVAL { self.mark() } else { Ok(()) }
    }

    /// Returns how long to wait for requests before other work is due.
    fn patience(&self) -> Option<Duration> {
        let until = |interval: Duration, last: Instant| interval.saturating_sub(last.elapsed());
        let flush = match self.flush {
            Flush::Interval(interval) if self.flushed < self.group => Some(until(interval, self.flush_time)),
            _ => None,
        };
        let mark = (self.marked < self.flushed).then(|| until(MARK_INTERVAL, self.mark_time));
        let room = self.queue.is_full().then_some(ROOM_INTERVAL);
        flush.into_iter().chain(mark).chain(room).min()
    }

    /// Takes the next group from the queue, gathering it for a while. The callers answered last may send their next
    /// requests immediately; waiting for them makes the group as large as possible.
    fn next_group(&self) -> Option<Vec<WaitingRequest>> {
        let gathering = (self.apply_time.saturating_sub(GATHER_FROM) / GATHER_PART).min(GATHER_MOST);
        self.queue.take(GROUP_BYTES, self.patience(), self.answered, gathering)
    }

    fn flush(&mut self) -> Result<(), KeyValueError> {
        if self.flushed < self.group {
            self.directory.pairs().sync()?;
            self.directory.check_place()?;
            self.flushed = self.group;
        }
        self.flush_time = Instant::now();
        Ok(())
    }

    fn mark(&mut self) -> Result<(), KeyValueError> {
        if self.marked < self.flushed {
            self.directory.mark(self.flushed)?;
            self.marked = self.flushed;
        }
        self.mark_time = Instant::now();
        Ok(())
    }

    fn give_up(&self, error: &KeyValueError) {
        tracing::error!(%error, "the store failed: it accepts no more writes until it is reopened");
        self.queue.fail(&failure(error));
    }
}

fn failure(error: &KeyValueError) -> StoreError {
    StoreError::Unavailable(format!(
        "a write failed, and no more are accepted until the server is restarted: {error}; if the files are damaged, \
         run utterd verify for details"
    ))
}
