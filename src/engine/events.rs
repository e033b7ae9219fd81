//! The trace: what happened, in a ring buffer per namespace.

use std::{
    collections::VecDeque,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{
    domain::{
        Conversation, ConversationId, ConversationKey, Identity, LineageId, Namespace, RecipientId,
        RequestId, Timestamp,
        limits::{EVENT_BYTES, LEAST_EVENTS_BYTES},
    },
    engine::{
        Attempt, Caller, Clock, EngineError, Facts, Operation, applied::Decided, cursor::EventCursor,
        meters::Meters,
    },
};

/// One operation. It refers to utterances and contains no text.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Counted from 1 per namespace and run of the server.
    pub number: u64,
    /// The time it was published.
    pub time: Timestamp,
    /// The operation.
    pub operation: Operation,
    /// The object of the operation.
    pub subject: Subject,
    /// The caller's id for the attempt.
    pub request: Option<RequestId>,
    /// For a read: the number of results.
    pub results: Option<u32>,
    /// For a change: its facts.
    pub facts: Option<Arc<Facts>>,
    /// Whether it wrote a segment or an ending that may be waiting for a model.
    pub(super) may_wait: bool,
}

/// The object of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// One conversation.
    Conversation(Arc<Identity>),
    /// The same, as read from a store.
    Named(ConversationKey, RecipientId),
    /// Several conversations of a recipient, its own state, or nothing at all.
    Wide(Namespace, Option<RecipientId>),
}

impl Subject {
    /// Returns the conversation; for a recipient's own state, the recipient.
    fn of(identity: &Arc<Identity>) -> Self {
        match identity.is_listed() {
            true => Self::Conversation(identity.clone()),
            false => Self::Wide(identity.key.namespace.clone(), Some(identity.recipient.clone())),
        }
    }

    /// The namespace.
    pub fn namespace(&self) -> &Namespace {
        match self {
            Self::Conversation(identity) => &identity.key.namespace,
            Self::Named(key, _) => &key.namespace,
            Self::Wide(namespace, _) => namespace,
        }
    }

    /// The conversation.
    pub fn conversation(&self) -> Option<&ConversationId> {
        match self {
            Self::Conversation(identity) => Some(&identity.key.id),
            Self::Named(key, _) => Some(&key.id),
            Self::Wide(..) => None,
        }
    }

    /// The recipient.
    pub fn recipient(&self) -> Option<&RecipientId> {
        match self {
            Self::Conversation(identity) => Some(&identity.recipient),
            Self::Named(_, recipient) => Some(recipient),
            Self::Wide(_, recipient) => recipient.as_ref(),
        }
    }
}

impl Event {
    /// The event of a change.
    pub(super) fn of(operation: Operation, attempt: Option<&Attempt>, decided: &Decided) -> Self {
        Self {
            request: attempt.map(|attempt| attempt.id.clone()),
            facts: Some(decided.facts.clone()),
            may_wait: !decided.facts.more().segments_written.is_empty()
                || decided.after.head.ended.as_ref().is_some_and(|ending| ending.awaits.is_some()),
            ..Self::bare(operation, Subject::of(&decided.after.head.identity))
        }
    }

    /// The event of a deletion.
    pub(super) fn removal(operation: Operation, conversation: &Conversation) -> Self {
        Self { results: None, ..Self::read(operation, conversation, 0) }
    }

    /// The event of a read of `conversation`, or of its recipient if the conversation does not exist.
    pub(super) fn read(operation: Operation, conversation: &Conversation, results: usize) -> Self {
        let results = Some(u32::try_from(results).unwrap_or(u32::MAX));
        let identity = &conversation.head.identity;
        let subject = match conversation.exists() {
            true => Subject::of(identity),
            false => Subject::Wide(identity.key.namespace.clone(), Some(identity.recipient.clone())),
        };
        Self { results, ..Self::bare(operation, subject) }
    }

    /// The event of a read that is not about a single conversation.
    pub(super) fn wide(
        operation: Operation,
        caller: &Caller,
        recipient: Option<RecipientId>,
        results: usize,
    ) -> Self {
        let results = Some(u32::try_from(results).unwrap_or(u32::MAX));
        Self { results, ..Self::bare(operation, Subject::Wide(caller.namespace.clone(), recipient)) }
    }

    /// Returns its approximate size in memory, in bytes.
    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.facts.as_ref().map_or(0, |facts| facts.memory_bytes())
    }

    pub(super) fn bare(operation: Operation, subject: Subject) -> Self {
        let time = Timestamp::default();
        Self {
            number: 0,
            time,
            operation,
            subject,
            request: None,
            results: None,
            facts: None,
            may_wait: false,
        }
    }
}

/// The events of this run of the server, unless the store keeps those of all servers.
pub struct EventLog {
    clock: Arc<dyn Clock>,
    meters: Arc<Meters>,
    run: LineageId,
    /// Whether the events of changes are stored with them; reads are not events then.
    is_stored: bool,
    capacity: usize,
    rings: DashMap<Namespace, Arc<Ring>>,
    /// The bytes of the events of all rings.
    bytes: AtomicUsize,
    /// Notified of each change that may be waiting for a model, if anyone subscribed.
    waiting: OnceLock<Arc<Notify>>,
}

#[derive(Default)]
pub(super) struct Ring {
    kept: Mutex<Kept>,
    pub(super) news: Notify,
}

#[derive(Default)]
struct Kept {
    /// The number of the newest event.
    newest: u64,
    events: VecDeque<Event>,
    bytes: usize,
}

/// Why a cursor is refused.
pub(super) const AHEAD: &str = "is ahead of the newest event";
pub(super) const TOO_OLD: &str = "is too old: the events after it are no longer kept";

impl EventLog {
    pub(super) fn new(clock: Arc<dyn Clock>, meters: Arc<Meters>, capacity: usize, is_stored: bool) -> Self {
        let run = LineageId(clock.unique().to_be_bytes());
        let (rings, bytes, waiting) = Default::default();
        Self { clock, meters, run, is_stored, capacity: capacity.max(1), rings, bytes, waiting }
    }

    /// Returns a notification for every later change that writes something that may be waiting for a model.
    pub(super) fn tell_of_waiting(&self) -> Arc<Notify> {
        self.waiting.get_or_init(Arc::default).clone()
    }

    /// Adds an event as the newest of its namespace.
    pub(super) fn push(&self, mut event: Event) {
        event.time = self.clock.now();
        self.meters.happened(event.operation, event.facts.as_deref());
        if let Some(waiting) = self.waiting.get().filter(|_| event.may_wait) {
            waiting.notify_one();
        }
        if self.is_stored {
            return self.tell(event.subject.namespace());
        }
        let ring = match self.rings.get(event.subject.namespace()) {
            Some(ring) => ring,
            None => self.rings.entry(event.subject.namespace().clone()).or_default().downgrade(),
        };
        let mut kept = ring.kept.lock();
        let before = kept.bytes;
        let oldest = (kept.events.len() >= self.capacity).then(|| kept.pop());
        kept.push(event);
        self.bytes.fetch_add(kept.bytes, Ordering::Relaxed);
        let all = self.bytes.fetch_sub(before, Ordering::Relaxed) - before;
        drop(kept);
        drop(oldest);
        ring.news.notify_waiters();
        drop(ring);
        if all > self.most_bytes() {
            self.make_room();
        }
    }

    /// Returns the limit in bytes for all events.
    fn most_bytes(&self) -> usize {
        self.capacity.saturating_mul(EVENT_BYTES).max(LEAST_EVENTS_BYTES)
    }

    /// Drops the oldest events of the namespaces that exceed three quarters of an even share. The newest event
    /// always stays.
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

    /// Returns the events after `after`, or those that happen from now on.
    ///
    /// Refuses a cursor from another run of the server, one ahead of the newest event, and one whose next event
    /// is no longer kept.
    pub(super) fn watch(
        &self,
        namespace: &Namespace,
        after: Option<EventCursor>,
    ) -> Result<KeptEvents, EngineError> {
        let ring = self.ring(namespace);
        let seen = {
            let kept = ring.kept.lock();
            match after {
                None => kept.newest,
                Some(EventCursor::Kept { run, number }) if run == self.run => match number {
                    number if number > kept.newest => return Err(EngineError::Cursor(AHEAD)),
                    number if number + 1 < kept.first() => return Err(EngineError::Cursor(TOO_OLD)),
                    number => number,
                },
                Some(_) => {
                    return Err(EngineError::Cursor(
                        "is from another run of the server; events are kept in memory only",
                    ));
                }
            }
        };
        Ok(KeptEvents { ring, run: self.run, seen, ahead: VecDeque::new() })
    }

    /// Returns what tells of news in a namespace.
    pub(super) fn news(&self, namespace: &Namespace) -> Arc<Ring> {
        self.ring(namespace)
    }

    /// Notifies the readers of a namespace that there may be news.
    pub(super) fn tell(&self, namespace: &Namespace) {
        if let Some(ring) = self.rings.get(namespace) {
            ring.news.notify_waiters();
        }
    }

    fn ring(&self, namespace: &Namespace) -> Arc<Ring> {
        if let Some(ring) = self.rings.get(namespace) {
            return ring.clone();
        }
        self.rings.entry(namespace.clone()).or_default().clone()
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
pub(super) struct KeptEvents {
    ring: Arc<Ring>,
    run: LineageId,
    seen: u64,
    ahead: VecDeque<Event>,
}

/// An item read from the trace.
#[derive(Clone, Debug, PartialEq)]
pub enum Watched {
    /// An event, and the place behind it.
    Event(Event, EventCursor),
    /// The reader was too slow: this many events, up to this cursor, are no longer kept.
    Missed(u64, EventCursor),
}

/// The number of events a reader copies at a time.
pub(super) const READ_AHEAD: usize = 256;

impl KeptEvents {
    /// Returns the reader's position.
    pub(super) fn cursor(&self) -> EventCursor {
        EventCursor::Kept { run: self.run, number: self.seen }
    }

    /// Waits for the next event, or for a report of missed ones.
    pub(super) async fn next(&mut self) -> Watched {
        loop {
            if let Some(event) = self.ahead.pop_front() {
                let cursor = EventCursor::Kept { run: self.run, number: event.number };
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
            return Some(Watched::Missed(missed, EventCursor::Kept { run: self.run, number: self.seen }));
        }
        let skip = (self.seen + 1 - first) as usize;
        self.ahead.extend(kept.events.iter().skip(skip).take(READ_AHEAD).cloned());
        self.seen += self.ahead.len() as u64;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Ranges, Sequence};

    struct Still;

    impl Clock for Still {
        fn now(&self) -> Timestamp {
            Timestamp(1)
        }

        fn unique(&self) -> u128 {
            1
        }
    }

    fn event(namespace: &Namespace, ranges: u64) -> Event {
        let memorized: Ranges = (1..=ranges).map(|place| Sequence(2 * place)).collect();
        let facts = Some(Arc::new(Facts::of_memorized(memorized)));
        Event { facts, ..Event::bare(Operation::Forget, Subject::Wide(namespace.clone(), None)) }
    }

    /// However large the events and however many the namespaces, they stay within the limit.
    #[test]
    fn events_of_much_are_fewer() {
        let log = EventLog::new(Arc::new(Still), Meters::new(), 100, false);
        let namespaces = ["a", "b", "c"].map(|name| Namespace::new(name).unwrap_or_default());
        for step in 0..300 {
            log.push(event(&namespaces[step % 3], 1_000 * (step as u64 % 5)));
            let kept = |ring: &Ring| ring.kept.lock().events.iter().map(Event::memory_bytes).sum::<usize>();
            let bytes: usize = log.rings.iter().map(|ring| kept(&ring)).sum();
            assert_eq!(log.bytes.load(Ordering::Relaxed), bytes);
            assert!(bytes <= log.most_bytes(), "{bytes} after {step}");
        }
        assert!(log.rings.iter().all(|ring| !ring.kept.lock().events.is_empty()));
    }
}
