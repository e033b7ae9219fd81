//! Reading the trace: the events that this process keeps, or those that the store keeps for all processes.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::timeout;

use crate::{
    Caller, Clock, Engine, EngineError, Event, Result,
    events::{
        cursor::EventCursor,
        event_rings::{AHEAD, KeptEvents, READ_AHEAD, Ring, TOO_OLD, Watched},
        traced,
    },
};
use utterd_domain::Namespace;
use utterd_store::{Commit, Store, StoreError, TracePage, TracePlace, Traced};
use utterd_telemetry::Histogram;

/// How long to wait for a hint before the store is asked again, at first and at most: an event can appear in
/// the trace after its hint, and a hint can be lost.
const PAUSES: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];

/// A reader of the trace.
pub struct EventStream {
    source: Source,
    clock: Arc<dyn Clock>,
    delivery: Histogram,
}

enum Source {
    Kept(KeptEvents),
    Stored(StoredEvents),
}

/// A reader of the events that the store keeps.
struct StoredEvents {
    store: Arc<dyn Store>,
    namespace: Namespace,
    news: Arc<Ring>,
    seen: TracePlace,
    ahead: VecDeque<(TracePlace, String)>,
}

impl Engine {
    /// Returns the events after `after`, or those that happen from now on.
    ///
    /// Refuses a cursor whose next event is no longer kept, or that is ahead of the newest event.
    pub async fn watch_events(&self, caller: &Caller, after: Option<EventCursor>) -> Result<EventStream> {
        let namespace = caller.namespace.clone();
        if !self.events.is_stored {
            return Ok(self.stream(Source::Kept(self.events.watch(&namespace, after)?)));
        }
        let seen = match after {
            None => self.store.trace_end(&namespace).await?,
            Some(EventCursor::Stored(place)) => place,
            Some(EventCursor::Kept { .. }) => {
                return Err(EngineError::Cursor("is from a server with another backend"));
            }
        };
        let (store, news, ahead) = (self.store.clone(), self.events.news(&namespace), VecDeque::new());
        let mut events = StoredEvents { store, namespace, news, seen, ahead };
        if after.is_some() {
            // a cursor is refused now, not at the first read
            events.read_ahead().await?;
        }
        Ok(self.stream(Source::Stored(events)))
    }

    fn stream(&self, source: Source) -> EventStream {
        EventStream { source, clock: self.clock.source(), delivery: self.meters.delivery.clone() }
    }

    /// Returns the events of a commit in the store's form, and sets their time; `None` if there are no events
    /// or the store keeps none.
    pub(crate) fn traced<'a>(&self, events: impl Iterator<Item = &'a mut Event>) -> Option<Traced> {
        let time = self.clock.now();
        let mut events = events.filter(|_| self.events.is_stored).peekable();
        let namespace = events.peek()?.subject.namespace().clone();
        let events = events.map(|event| {
            event.time = time;
            traced::written(event)
        });
        Some(Traced { namespace, events: events.collect() })
    }

    /// Records an event that has no change.
    pub(crate) async fn record(&self, mut event: Event) -> Result<()> {
        let committed = match self.traced(std::iter::once(&mut event)) {
            None => Ok(()),
            traced => self.store.commit(Commit { traced, ..Commit::default() }).await,
        };
        self.events.push(event);
        committed.map_err(|error| StoreError::Unavailable(error.to_string()).into())
    }
}

impl EventStream {
    /// Returns the reader's position.
    pub fn cursor(&self) -> EventCursor {
        match &self.source {
            Source::Kept(events) => events.cursor(),
            Source::Stored(events) => EventCursor::Stored(events.seen),
        }
    }

    /// Waits for the next event, or for a report of missed ones. Fails if the store no longer keeps the event
    /// after the last one.
    pub async fn next(&mut self) -> Result<Watched> {
        let watched = match &mut self.source {
            Source::Kept(events) => events.next().await,
            Source::Stored(events) => events.next().await?,
        };
        if let Watched::Event(event, _) = &watched {
            let age = self.clock.now().0.saturating_sub(event.time.0).max(0);
            self.delivery.observe(age as f64 / 1e6);
        }
        Ok(watched)
    }
}

impl StoredEvents {
    async fn next(&mut self) -> Result<Watched> {
        let [mut pause, longest] = PAUSES;
        loop {
            while let Some((place, text)) = self.ahead.pop_front() {
                self.seen = place;
                if let Some(event) = traced::read(&self.namespace, &text) {
                    return Ok(Watched::Event(event, EventCursor::Stored(place)));
                }
            }
            let ring = self.news.clone();
            let news = ring.news.notified();
            match self.read_ahead().await {
                // a store that fails is asked again
                Ok(()) | Err(EngineError::Store(_)) => {}
                Err(error) => return Err(error),
            }
            if self.ahead.is_empty() {
                let is_news = timeout(pause, news).await.is_ok();
                pause = if is_news { PAUSES[0] } else { (pause * 2).min(longest) };
            }
        }
    }

    async fn read_ahead(&mut self) -> Result<()> {
        match self.store.trace(&self.namespace, self.seen, READ_AHEAD).await? {
            TracePage::Events(events) => self.ahead.extend(events),
            TracePage::Gone => return Err(EngineError::Cursor(TOO_OLD)),
            TracePage::Ahead => return Err(EngineError::Cursor(AHEAD)),
            TracePage::Unknown => {
                return Err(EngineError::Cursor("is from another store"));
            }
        }
        Ok(())
    }
}
