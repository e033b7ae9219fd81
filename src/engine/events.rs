//! The trace: what happened, in a ring for each namespace.

use std::{
    collections::VecDeque,
    fmt,
    str::FromStr,
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
        Conversation, ConversationId, Identity, LineageId, Namespace, RecipientId, RequestId, Timestamp,
        limits::{EVENT_BYTES, LEAST_EVENTS_BYTES},
    },
    engine::{Attempt, Caller, Clock, EngineError, Facts, applied::Decided},
};

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is the call of its name
pub enum Operation {
    Memorize,
    Remember,
    Forget,
    Erase,
    Restore,
    Summarize,
    GetCapacity,
    CreateConversation,
    GetConversation,
    ListConversations,
    UpdateConversation,
    GetState,
    UpdateState,
    DeleteConversation,
    ListUtterances,
    GetSummary,
    UpdateUtterance,
    ExpireConversation,
    CountTokens,
    ExportConversation,
    ImportConversation,
    EndConversation,
    RetireConversation,
    GetStats,
    DeleteRecipient,
    ShareConversation,
    RevokeShare,
    ReadShared,
    BuildContext,
    ForkConversation,
    PrepareHistory,
    CompactConversation,
    UndoCompaction,
    ListCompactions,
    AnswerCompactionPrompt,
    SummarizeByLlm,
}

/// One operation. Refers to utterances and holds no text.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Counts from 1 in its namespace, in one run of the server.
    pub number: u64,
    /// When it was published.
    pub time: Timestamp,
    /// What was done.
    pub operation: Operation,
    /// What it was done to.
    pub subject: Subject,
    /// The caller's id for the attempt.
    pub request: Option<RequestId>,
    /// For a read: how many results it returned.
    pub results: Option<u32>,
    /// For a change: what changed.
    pub facts: Option<Arc<Facts>>,
    /// A model may have to tell what it wrote.
    may_wait: bool,
}

/// What an operation was done to.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// One conversation.
    Conversation(Arc<Identity>),
    /// Several of a recipient's, its own state, or none at all.
    Wide(Namespace, Option<RecipientId>),
}

impl Subject {
    /// A conversation; of what keeps a recipient's own state, the recipient.
    fn of(identity: &Arc<Identity>) -> Self {
        match identity.is_listed() {
            true => Self::Conversation(identity.clone()),
            false => Self::Wide(identity.key.namespace.clone(), Some(identity.recipient.clone())),
        }
    }

    /// The tenant.
    pub fn namespace(&self) -> &Namespace {
        match self {
            Self::Conversation(identity) => &identity.key.namespace,
            Self::Wide(namespace, _) => namespace,
        }
    }

    /// The conversation.
    pub fn conversation(&self) -> Option<&ConversationId> {
        match self {
            Self::Conversation(identity) => Some(&identity.key.id),
            Self::Wide(..) => None,
        }
    }

    /// The recipient.
    pub fn recipient(&self) -> Option<&RecipientId> {
        match self {
            Self::Conversation(identity) => Some(&identity.recipient),
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

    /// The event of a read of `conversation`; of its recipient where it does not exist.
    pub(super) fn read(operation: Operation, conversation: &Conversation, results: usize) -> Self {
        let results = Some(u32::try_from(results).unwrap_or(u32::MAX));
        let identity = &conversation.head.identity;
        let subject = match conversation.exists() {
            true => Subject::of(identity),
            false => Subject::Wide(identity.key.namespace.clone(), Some(identity.recipient.clone())),
        };
        Self { results, ..Self::bare(operation, subject) }
    }

    /// The event of a read that is not of one conversation.
    pub(super) fn wide(
        operation: Operation,
        caller: &Caller,
        recipient: Option<RecipientId>,
        results: usize,
    ) -> Self {
        let results = Some(u32::try_from(results).unwrap_or(u32::MAX));
        Self { results, ..Self::bare(operation, Subject::Wide(caller.namespace.clone(), recipient)) }
    }

    /// About how many bytes it takes in memory.
    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.facts.as_ref().map_or(0, |facts| facts.memory_bytes())
    }

    fn bare(operation: Operation, subject: Subject) -> Self {
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

/// The events of this run of the server.
pub struct EventLog {
    clock: Arc<dyn Clock>,
    run: LineageId,
    capacity: usize,
    rings: DashMap<Namespace, Arc<Ring>>,
    /// What the events of all rings take.
    bytes: AtomicUsize,
    /// Told of each change that writes what may wait for a model, if anybody wants to know.
    waiting: OnceLock<Arc<Notify>>,
}

#[derive(Default)]
struct Ring {
    kept: Mutex<Kept>,
    news: Notify,
}

#[derive(Default)]
struct Kept {
    /// The number of the newest event.
    newest: u64,
    events: VecDeque<Event>,
    bytes: usize,
}

impl EventLog {
    pub(super) fn new(clock: Arc<dyn Clock>, capacity: usize) -> Self {
        let run = LineageId(clock.unique().to_be_bytes());
        let (rings, bytes, waiting) = Default::default();
        Self { clock, run, capacity: capacity.max(1), rings, bytes, waiting }
    }

    /// Is told from now on whenever a change has written what may wait for a model.
    pub(super) fn tell_of_waiting(&self) -> Arc<Notify> {
        self.waiting.get_or_init(Arc::default).clone()
    }

    /// Adds an event as the newest of its namespace.
    pub(super) fn push(&self, mut event: Event) {
        event.time = self.clock.now();
        if let Some(waiting) = self.waiting.get().filter(|_| event.may_wait) {
            waiting.notify_one();
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

    /// What all events may take.
    fn most_bytes(&self) -> usize {
        self.capacity.saturating_mul(EVENT_BYTES).max(LEAST_EVENTS_BYTES)
    }

    /// Gives up the oldest events of the namespaces that have more than three quarters of an even share. The newest
    /// one always stays.
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

    /// The events behind `after`, or those that happen from now on.
    ///
    /// Refuses a cursor of another run of the server, one ahead of the newest event, and one
    /// whose next event is no longer kept.
    pub fn watch(&self, caller: &Caller, after: Option<EventCursor>) -> Result<EventStream, EngineError> {
        let ring = self.ring(&caller.namespace);
        let seen = {
            let kept = ring.kept.lock();
            match after {
                None => kept.newest,
                Some(cursor) if cursor.run != self.run => {
                    return Err(EngineError::Cursor(
                        "is of another run of the server; events are kept in memory only",
                    ));
                }
                Some(cursor) if cursor.number > kept.newest => {
                    return Err(EngineError::Cursor("is ahead of the newest event"));
                }
                Some(cursor) if cursor.number + 1 < kept.first() => {
                    return Err(EngineError::Cursor("is too old: events behind it are no longer kept"));
                }
                Some(cursor) => cursor.number,
            }
        };
        Ok(EventStream { ring, run: self.run, seen, ahead: VecDeque::new() })
    }

    /// The cursor of an event.
    pub fn cursor(&self, number: u64) -> EventCursor {
        EventCursor { run: self.run, number }
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

/// A reader of the trace.
pub struct EventStream {
    ring: Arc<Ring>,
    run: LineageId,
    seen: u64,
    ahead: VecDeque<Event>,
}

/// What a reader of the trace sees.
#[derive(Clone, Debug, PartialEq)]
pub enum Watched {
    /// Something happened.
    Event(Event),
    /// The reader was too slow: so many events, up to this one, are no longer kept.
    Missed(u64, EventCursor),
}

/// Events that a reader copies at a time.
const READ_AHEAD: usize = 256;

impl EventStream {
    /// Where the reader stands.
    pub fn cursor(&self) -> EventCursor {
        EventCursor { run: self.run, number: self.seen }
    }

    /// The next event, or how many were missed; waits for it.
    pub async fn next(&mut self) -> Watched {
        loop {
            if let Some(event) = self.ahead.pop_front() {
                return Watched::Event(event);
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
            return Some(Watched::Missed(missed, EventCursor { run: self.run, number: self.seen }));
        }
        let skip = (self.seen + 1 - first) as usize;
        self.ahead.extend(kept.events.iter().skip(skip).take(READ_AHEAD).cloned());
        self.seen += self.ahead.len() as u64;
        None
    }
}

/// A place in the trace of one run of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCursor {
    run: LineageId,
    number: u64,
}

impl fmt::Display for EventCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.run, self.number)
    }
}

impl FromStr for EventCursor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const NOT_ONE: &str = "is no cursor; accepted is the event_id of an event";
        let (run, number) = text.rsplit_once('-').ok_or(NOT_ONE)?;
        let run = run.parse::<ulid::Ulid>().map_err(|_| NOT_ONE)?;
        let number = number.parse().map_err(|_| NOT_ONE)?;
        Ok(Self { run: LineageId(run.to_bytes()), number })
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

    /// However much events tell, and in however many namespaces, they take no more than so much.
    #[test]
    fn events_of_much_are_fewer() {
        let log = EventLog::new(Arc::new(Still), 100);
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
