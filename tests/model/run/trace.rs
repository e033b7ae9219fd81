//! The trace: every event, as it arrives.

use std::pin::Pin;

use futures::{FutureExt, Stream, StreamExt};
use prost::Message;
use tonic::{Request, Status};
use utterd::{
    proto::{
        Event, Operation, SequenceRange, WatchEventsRequest, WatchEventsResponse,
        trace_service_server::TraceService, watch_events_response::Message as Watched,
    },
    rpc::Services,
};

use super::send::reason;
use crate::{checks::same, ensure, naive::Facts, text::markers};

type Events = Pin<Box<dyn Stream<Item = Result<WatchEventsResponse, Status>> + Send>>;

/// A reader of the trace that has seen everything since the server started.
pub struct Trace {
    stream: Events,
    pub seen: Vec<Event>,
}

impl Trace {
    /// Starts to read, after an event or with the next one.
    pub async fn open(services: &Services, after_event: &str) -> Result<Self, String> {
        let request = WatchEventsRequest { after_event: after_event.to_owned(), ..Default::default() };
        let response = services.watch_events(Request::new(request)).await;
        let mut stream = response.map_err(|status| format!("the trace is refused: {status:?}"))?.into_inner();
        match stream.next().await {
            Some(Ok(WatchEventsResponse { message: Some(Watched::Started(_)) })) => {
                Ok(Self { stream, seen: Vec::new() })
            }
            other => Err(format!("the trace starts with {other:?}")),
        }
    }

    /// Disconnects from the server.
    pub fn close(&mut self) {
        self.stream = Box::pin(futures::stream::empty());
    }

    /// An event of an earlier server is not a valid start.
    pub async fn refuse(services: &Services, after_event: &str) -> Result<(), String> {
        let request = WatchEventsRequest { after_event: after_event.to_owned(), ..Default::default() };
        match services.watch_events(Request::new(request)).await {
            Ok(_) => Err("an event of another server is taken".to_owned()),
            Err(status) => same("the reason of the refusal", &reason(&status).as_str(), &"EVENTS_NOT_KEPT"),
        }
    }

    /// The events since the last time.
    pub fn news(&mut self) -> Result<Vec<Event>, String> {
        let start = self.seen.len();
        while let Some(next) = self.stream.next().now_or_never() {
            match next {
                Some(Ok(WatchEventsResponse { message: Some(Watched::Event(event)) })) => {
                    ensure!(markers(&event.encode_to_vec()).is_empty(), "an event holds text: {event:?}");
                    self.seen.push(event);
                }
                other => return Err(format!("the trace says {other:?}")),
            }
        }
        Ok(self.seen[start..].to_vec())
    }

    /// The news must be exactly this event, with this time; or nothing.
    pub fn expect(&mut self, expected: Option<Event>, now: i64) -> Result<(), String> {
        let news = self.news()?;
        let time = Some(crate::naive::time(now));
        ensure!(news.iter().all(|event| event.time == time), "an event is of another time: {news:?}");
        let bare = |event: &Event| Event { event_id: String::new(), time: None, ..event.clone() };
        same("the events of the call", &news.iter().map(bare).collect(), &Vec::from_iter(expected))
    }
}

/// The event of a read.
pub fn read(operation: Operation, conversation: &str, recipient: &str, results: usize) -> Event {
    Event {
        operation: operation.into(),
        conversation_id: conversation.to_owned(),
        recipient_id: recipient.to_owned(),
        result_count: Some(results as i32),
        ..Event::default()
    }
}

/// The event of a change, without conversation, request and segments.
pub fn change(operation: Operation, facts: &Facts) -> Event {
    Event {
        operation: operation.into(),
        revision: facts.removed.is_none().then_some(facts.revision),
        started_conversation: facts.started,
        memorized: ranges(&facts.memorized),
        evicted: ranges(&facts.evicted),
        dropped: ranges(&facts.dropped),
        forgotten: ranges(&facts.forgotten),
        erased: ranges(&facts.erased),
        restored: ranges(&facts.restored),
        updated: ranges(&facts.updated),
        returned: ranges(&facts.returned),
        ..Event::default()
    }
}

/// Ascending sequences as ranges.
pub fn ranges(sequences: &[i64]) -> Vec<SequenceRange> {
    let runs = sequences.chunk_by(|one, next| one + 1 == *next);
    runs.map(|run| SequenceRange { first: run[0], last: run[run.len() - 1] }).collect()
}
