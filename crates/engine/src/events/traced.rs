//! The stored form of events in a shared store: one line of JSON each. A reader skips events and fields that
//! it does not know.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Facts, Operation,
    events::{Event, Subject},
};
use utterd_domain::{ConversationId, ConversationKey, Namespace, RecipientId, RequestId, Timestamp};

/// A stored event. An absent field has no value, or its default.
#[derive(Serialize, Deserialize)]
struct Record {
    /// Microseconds since 1970.
    time: i64,
    operation: Operation,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipient: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<u32>,
    #[serde(flatten)]
    facts: Facts,
}

/// Returns the stored form of an event.
pub fn written(event: &Event) -> String {
    let record = Record {
        time: event.time.0,
        operation: event.operation,
        conversation: event.subject.conversation().map(|id| id.as_str().to_owned()),
        recipient: event.subject.recipient().map(|id| id.as_str().to_owned()),
        request: event.request.as_ref().map(|id| id.as_str().to_owned()),
        results: event.results,
        facts: event.facts.as_deref().cloned().unwrap_or_default(),
    };
    serde_json::to_string(&record).unwrap_or_default()
}

/// Reads an event of a namespace; `None` if this version does not know its kind.
pub fn read(namespace: &Namespace, text: &str) -> Option<Event> {
    let record: Record = serde_json::from_str(text).ok()?;
    let recipient = record.recipient.map(|id| RecipientId::new(&id)).transpose().ok()?;
    let conversation = record.conversation.map(|id| ConversationId::new(&id)).transpose().ok()?;
    let subject = match (conversation, recipient) {
        (Some(id), Some(recipient)) => {
            Subject::Named(ConversationKey { namespace: namespace.clone(), id }, recipient)
        }
        (_, recipient) => Subject::Wide(namespace.clone(), recipient),
    };
    Some(Event {
        time: Timestamp(record.time),
        request: record.request.map(|id| RequestId::new(&id)).transpose().ok()?,
        results: record.results,
        facts: Some(Arc::new(record.facts)),
        ..Event::bare(record.operation, subject)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_domain::{Ranges, Revision, Sequence};

    fn namespace() -> Namespace {
        Namespace::default()
    }

    /// Later versions must be able to read stored events.
    #[test]
    fn an_event_is_written_as_it_always_was() {
        let key = ConversationKey { namespace: namespace(), id: ConversationId::new("c").unwrap() };
        let subject = Subject::Named(key, RecipientId::new("ann").unwrap());
        let memorized = Ranges::of(Sequence(3), Sequence(4));
        let evicted = Ranges::of(Sequence(1), Sequence(1));
        let event = Event {
            time: Timestamp(7),
            request: Some(RequestId::new("r").unwrap()),
            facts: Some(Arc::new(Facts { revision: Revision(2), memorized, evicted, ..Facts::default() })),
            ..Event::bare(Operation::Memorize, subject)
        };
        let text = written(&event);
        assert_eq!(
            text,
            r#"{"time":7,"operation":"Memorize","conversation":"c","recipient":"ann","request":"r","revision":2,"memorized":[[3,4]],"evicted":[[1,1]]}"#
        );
        assert_eq!(read(&namespace(), &text), Some(event));
    }

    #[test]
    fn what_a_later_version_adds_is_skipped() {
        let later = r#"{"time":7,"operation":"UpdateState","recipient":"ann","later":[1]}"#;
        assert_eq!(read(&namespace(), later).map(|event| event.operation), Some(Operation::UpdateState));
        assert_eq!(read(&namespace(), r#"{"time":7,"operation":"Later"}"#), None);
        assert_eq!(read(&namespace(), "nonsense"), None);
    }
}
