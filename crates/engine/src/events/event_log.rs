//! The trace, as far as this process keeps it.

use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

use crate::{
    Clock, Event, Result,
    events::{
        cursor::EventCursor,
        event_rings::{KeptEvents, Ring, Rings},
    },
    meters::Meters,
};
use utterd_domain::Namespace;

/// The events of this run of the server, unless the store keeps the events of all servers.
pub struct EventLog {
    clock: Arc<dyn Clock>,
    meters: Arc<Meters>,
    /// Whether the store keeps the events of changes, with the changes. Reads then have no events.
    pub is_stored: bool,
    rings: Rings,
    /// Notified of each change that may leave work for a model, if anyone subscribed.
    waiting: OnceLock<Arc<Notify>>,
}

impl EventLog {
    pub fn new(clock: Arc<dyn Clock>, meters: Arc<Meters>, capacity: usize, is_stored: bool) -> Self {
        let rings = Rings::new(clock.unique(), capacity.max(1));
        Self { clock, meters, is_stored, rings, waiting: OnceLock::new() }
    }

    /// Returns the notification of later changes that may leave work for a model.
    pub fn tell_of_waiting(&self) -> Arc<Notify> {
        self.waiting.get_or_init(Arc::default).clone()
    }

    /// Counts an event, and adds it as the newest of its namespace unless the store keeps the events.
    pub fn push(&self, mut event: Event) {
        event.time = self.clock.now();
        self.meters.happened(event.operation, event.facts.as_deref());
        if let Some(waiting) = self.waiting.get().filter(|_| event.may_wait) {
            waiting.notify_one();
        }
        if self.is_stored {
            return self.tell(event.subject.namespace());
        }
        self.rings.push(event);
    }

    /// Returns the events after `after`, or those that happen from now on.
    ///
    /// Refuses a cursor from another run of the server, one ahead of the newest event, and one whose next event
    /// is no longer kept.
    pub fn watch(&self, namespace: &Namespace, after: Option<EventCursor>) -> Result<KeptEvents> {
        KeptEvents::after(self.rings.ring(namespace), after)
    }

    /// Returns the ring whose readers are notified of new events in a namespace.
    pub fn news(&self, namespace: &Namespace) -> Arc<Ring> {
        self.rings.ring(namespace)
    }

    /// Notifies the readers of a namespace that there may be new events.
    pub fn tell(&self, namespace: &Namespace) {
        self.rings.existing(namespace).into_iter().for_each(|ring| ring.news.notify_waiters());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Facts, Operation, Subject, events::event_rings::Watched};
    use utterd_domain::{Ranges, Sequence, Timestamp, limits::MAX_EVENT_NAMESPACES};

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
        let facts = Some(Arc::new(Facts { memorized, ..Facts::default() }));
        Event { facts, ..Event::bare(Operation::Forget, Subject::Wide(namespace.clone(), None)) }
    }

    /// The events stay within the limit, however large they are and however many namespaces there are.
    #[test]
    fn events_of_much_are_fewer() {
        let log = EventLog::new(Arc::new(Still), Meters::new(), 100, false);
        let namespaces = ["a", "b", "c"].map(|name| Namespace::new(name).unwrap_or_default());
        for step in 0..300 {
            log.push(event(&namespaces[step % 3], 1_000 * (step as u64 % 5)));
            let bytes = log.rings.checked_bytes();
            assert!(bytes <= log.rings.most_bytes(), "{bytes} after {step}");
        }
        assert!(log.rings.each_has_events());
    }

    fn numbered(number: usize) -> Namespace {
        Namespace::new(&format!("n{number}")).unwrap_or_default()
    }

    /// Only the watched and the newest namespaces are kept, however many come and go.
    #[tokio::test]
    async fn namespaces_that_nobody_watches_are_dropped() {
        // with room for one event of each namespace, and without
        for capacity in [100_000, 100] {
            few_are_kept(capacity).await;
        }
    }

    async fn few_are_kept(capacity: usize) {
        let log = EventLog::new(Arc::new(Still), Meters::new(), capacity, false);
        log.push(event(&numbered(0), 1));
        log.push(event(&numbered(1), 1));
        let dropped = log.watch(&numbered(0), None).map(|watch| watch.cursor());
        let mut watched = log.watch(&numbered(1), None).unwrap();
        for number in 2..3 * MAX_EVENT_NAMESPACES {
            log.push(event(&numbered(number), 1));
            assert!(log.rings.len() <= MAX_EVENT_NAMESPACES);
        }
        assert!(log.rings.checked_bytes() <= log.rings.most_bytes());
        log.push(event(&numbered(0), 1));
        let refused = log.watch(&numbered(0), dropped.ok()).err().unwrap();
        assert!(refused.to_string().contains("another run of the server"), "{refused}");
        log.push(event(&numbered(1), 1));
        assert!(matches!(watched.next().await, Watched::Event(event, _) if event.number == 2));
        let last = numbered(3 * MAX_EVENT_NAMESPACES - 1);
        let cursor = log.watch(&last, None).unwrap().cursor();
        assert!(log.watch(&last, Some(cursor)).is_ok());
    }

    /// A namespace that is only watched, and has no events of its own, does not stay either.
    #[test]
    fn watches_that_ended_leave_nothing() {
        let log = EventLog::new(Arc::new(Still), Meters::new(), 100, true);
        for number in 0..3 * MAX_EVENT_NAMESPACES {
            drop(log.news(&numbered(number)));
            assert!(log.rings.len() <= MAX_EVENT_NAMESPACES);
        }
    }
}
