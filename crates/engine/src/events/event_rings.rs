//! The events that this process keeps, in a ring buffer for each namespace, and their readers.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::sync::Notify;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::{EngineError, Event, Result, events::cursor::EventCursor};
use utterd_domain::{
    LineageId, Namespace,
    limits::{EVENT_BYTES, LEAST_EVENTS_BYTES, MAX_EVENT_NAMESPACES},
};

/// Why a cursor is refused.
pub const AHEAD: &str = "is ahead of the newest event";
pub const TOO_OLD: &str = "is too old: the events after it are no longer kept";
const ANOTHER_RUN: &str = "is from another run of the server, or too old: events are kept in memory only";

/// The number of events a reader copies at a time.
pub const READ_AHEAD: usize = 256;

/// The ring buffers, at most [`MAX_EVENT_NAMESPACES`] unless more are watched.
pub struct Rings {
    /// Identifies this run of the server.
    run: u128,
    /// The most events in each ring.
    capacity: usize,
    rings: DashMap<Namespace, Arc<Ring>>,
    /// The bytes of the events of all rings.
    bytes: AtomicUsize,
    /// The number of uses of all rings so far.
    uses: AtomicU64,
    /// The number of times that unused rings were dropped.
    drops: AtomicU64,
}

/// The events of one namespace.
pub struct Ring {
    /// Identifies the ring. Each new ring of a namespace counts its events from 1 again.
    run: LineageId,
    kept: Mutex<Kept>,
    pub news: Notify,
    used: AtomicU64,
}

#[derive(Default)]
struct Kept {
    /// The number of the newest event.
    newest: u64,
    events: VecDeque<Event>,
    bytes: usize,
}

impl Rings {
    pub fn new(run: u128, capacity: usize) -> Self {
        let (rings, bytes, uses, drops) = Default::default();
        Self { run, capacity, rings, bytes, uses, drops }
    }

    /// Adds an event as the newest of its namespace.
    pub fn push(&self, event: Event) {
        let ring = self.ring(event.subject.namespace());
        let mut kept = ring.kept.lock();
        let before = kept.bytes;
        let oldest = (kept.events.len() >= self.capacity).then(|| kept.pop());
        kept.push(event);
        self.bytes.fetch_add(kept.bytes, Ordering::Relaxed);
        let all = self.bytes.fetch_sub(before, Ordering::Relaxed) - before;
        drop(kept);
        drop(oldest);
        ring.news.notify_waiters();
        if all > self.most_bytes() {
            self.make_room();
        }
        if self.bytes.load(Ordering::Relaxed) > self.most_bytes() {
            // even one event of each namespace is too much
            self.drop_unused();
        }
    }

    /// Returns the ring of a namespace, a new one if there is none.
    pub fn ring(&self, namespace: &Namespace) -> Arc<Ring> {
        let use_ = self.uses.fetch_add(1, Ordering::Relaxed);
        if let Some(ring) = self.existing(namespace) {
            ring.used.store(use_, Ordering::Relaxed);
            return ring;
        }
        if self.rings.len() >= MAX_EVENT_NAMESPACES {
            self.drop_unused();
        }
        let new = || Arc::new(Ring::new(self.run_of(namespace), use_));
        self.rings.entry(namespace.clone()).or_insert_with(new).clone()
    }

    pub fn existing(&self, namespace: &Namespace) -> Option<Arc<Ring>> {
        self.rings.get(namespace).map(|ring| ring.clone())
    }

    /// Returns the identity of a new ring of a namespace. It differs from the identities of all dropped
    /// rings, and reveals nothing about other rings.
    fn run_of(&self, namespace: &Namespace) -> LineageId {
        let named = [&self.run.to_be_bytes(), namespace.as_str().as_bytes()].concat();
        LineageId(xxh3_128_with_seed(&named, self.drops.load(Ordering::Relaxed)).to_be_bytes())
    }

    /// Drops the least recently used rings that nobody reads, at most a quarter of all rings.
    fn drop_unused(&self) {
        self.drops.fetch_add(1, Ordering::Relaxed);
        let is_unread = |ring: &Arc<Ring>| Arc::strong_count(ring) == 1;
        let unread = self.rings.iter().filter(|ring| is_unread(ring.value()));
        let mut unread: Vec<_> =
            unread.map(|ring| (ring.used.load(Ordering::Relaxed), ring.key().clone())).collect();
        unread.sort_unstable();
        for (_, namespace) in unread.into_iter().take(self.rings.len().div_ceil(4)) {
            // another thread may have taken the ring meanwhile, to add an event
            if let Some((_, ring)) = self.rings.remove_if(&namespace, |_, ring| is_unread(ring)) {
                self.bytes.fetch_sub(ring.kept.lock().bytes, Ordering::Relaxed);
            }
        }
    }

    /// Returns the limit in bytes for all events.
    pub fn most_bytes(&self) -> usize {
        self.capacity.saturating_mul(EVENT_BYTES).max(LEAST_EVENTS_BYTES)
    }

    /// Drops the oldest events of each namespace that takes more than three quarters of an even share. The
    /// newest event of each namespace stays.
    fn make_room(&self) {
        let share = self.most_bytes() / 4 * 3 / self.rings.len().max(1);
        for ring in &self.rings {
            let mut kept = ring.kept.lock();
            let before = kept.bytes;
            let mut gone = Vec::new();
            while kept.bytes > share && kept.events.len() > 1 {
                gone.extend(kept.pop());
            }
            self.bytes.fetch_sub(before - kept.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
impl Rings {
    /// Returns the bytes of all events, and checks that the running count agrees.
    pub fn checked_bytes(&self) -> usize {
        let kept = |ring: &Ring| ring.kept.lock().events.iter().map(Event::memory_bytes).sum::<usize>();
        let bytes: usize = self.rings.iter().map(|ring| kept(&ring)).sum();
        assert_eq!(self.bytes.load(Ordering::Relaxed), bytes);
        bytes
    }

    pub fn each_has_events(&self) -> bool {
        self.rings.iter().all(|ring| !ring.kept.lock().events.is_empty())
    }

    pub fn len(&self) -> usize {
        self.rings.len()
    }
}

impl Ring {
    fn new(run: LineageId, used: u64) -> Self {
        let (kept, news) = Default::default();
        Self { run, kept, news, used: AtomicU64::new(used) }
    }
}

impl Kept {
    fn push(&mut self, mut event: Event) {
        self.newest += 1;
        event.number = self.newest;
        self.bytes += event.memory_bytes();
        self.events.push_back(event);
    }

    fn pop(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        self.bytes -= event.memory_bytes();
        Some(event)
    }

    fn first(&self) -> u64 {
        self.newest + 1 - self.events.len() as u64
    }
}

/// A reader of the events that this process keeps.
pub struct KeptEvents {
    ring: Arc<Ring>,
    seen: u64,
    ahead: VecDeque<Event>,
}

/// An item read from the trace.
#[derive(Clone, Debug, PartialEq)]
pub enum Watched {
    /// An event, and the cursor behind it.
    Event(Event, EventCursor),
    /// The reader was too slow: this many events, up to this cursor, are no longer kept.
    Missed(u64, EventCursor),
}

impl KeptEvents {
    /// Creates a reader of the events after `after`, or of those that happen from now on. Refuses a cursor
    /// whose next event is not kept.
    pub fn after(ring: Arc<Ring>, after: Option<EventCursor>) -> Result<Self> {
        let seen = {
            let kept = ring.kept.lock();
            match after {
                None => kept.newest,
                Some(EventCursor::Kept { run, number }) if run == ring.run => match number {
                    number if number > kept.newest => return Err(EngineError::Cursor(AHEAD)),
                    number if number + 1 < kept.first() => return Err(EngineError::Cursor(TOO_OLD)),
                    number => number,
                },
                Some(_) => return Err(EngineError::Cursor(ANOTHER_RUN)),
            }
        };
        Ok(Self { ring, seen, ahead: VecDeque::new() })
    }

    /// Returns the reader's position.
    pub fn cursor(&self) -> EventCursor {
        EventCursor::Kept { run: self.ring.run, number: self.seen }
    }

    /// Waits for the next event, or for a report of missed ones.
    pub async fn next(&mut self) -> Watched {
        loop {
            if let Some(event) = self.ahead.pop_front() {
                let cursor = EventCursor::Kept { run: self.ring.run, number: event.number };
                return Watched::Event(event, cursor);
            }
            let ring = self.ring.clone();
            let news = ring.news.notified();
            if let Some(missed) = self.read_ahead() {
                return missed;
            }
            if self.ahead.is_empty() {
                news.await;
            }
        }
    }

    fn read_ahead(&mut self) -> Option<Watched> {
        let kept = self.ring.kept.lock();
        let first = kept.first();
        if self.seen + 1 < first {
            let missed = first - 1 - self.seen;
            self.seen = first - 1;
            return Some(Watched::Missed(missed, self.cursor()));
        }
        let skip = (self.seen + 1 - first) as usize;
        self.ahead.extend(kept.events.iter().skip(skip).take(READ_AHEAD).cloned());
        self.seen += self.ahead.len() as u64;
        None
    }
}
