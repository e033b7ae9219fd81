//! Events: the operations that took place. They refer to utterances and contain no text.

pub(super) mod cursor;
pub(super) mod event_log;
pub(super) mod event_rings;
pub(super) mod facts;
pub(super) mod references;
pub(super) mod trace;
pub(super) mod traced;

use std::sync::Arc;

use crate::{Attempt, Caller, Facts, Operation, applied::Decided};
use utterd_domain::{
    Conversation, ConversationId, ConversationKey, Identity, Namespace, RecipientId, RequestId, Timestamp,
};

/// The event of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Counted from 1 per namespace and run of the server; 0 if the store keeps the events.
    pub number: u64,
    /// The time it was published.
    pub time: Timestamp,
    /// The operation.
    pub operation: Operation,
    /// The object of the operation.
    pub subject: Subject,
    /// The request id of the attempt.
    pub request: Option<RequestId>,
    /// For a read: the number of results.
    pub results: Option<u32>,
    /// For a change: its facts.
    pub facts: Option<Arc<Facts>>,
    /// Whether the operation wrote a segment or an ending that may be waiting for a model.
    pub(super) may_wait: bool,
}

/// The object of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// One conversation.
    Conversation(Arc<Identity>),
    /// One conversation, in an event read from a store.
    Named(ConversationKey, RecipientId),
    /// Several conversations of a recipient, the recipient's own state or, without a recipient, only the
    /// namespace.
    Wide(Namespace, Option<RecipientId>),
}

impl Subject {
    /// Returns the subject of a change to one conversation; for a recipient's own state, the recipient.
    fn of(identity: &Arc<Identity>) -> Self {
        match identity.is_listed() {
            true => Self::Conversation(identity.clone()),
            false => Self::Wide(identity.key.namespace.clone(), Some(identity.recipient.clone())),
        }
    }

    /// Returns the namespace.
    pub fn namespace(&self) -> &Namespace {
        match self {
            Self::Conversation(identity) => &identity.key.namespace,
            Self::Named(key, _) => &key.namespace,
            Self::Wide(namespace, _) => namespace,
        }
    }

    /// Returns the id of the conversation, if it is about a single one.
    pub fn conversation(&self) -> Option<&ConversationId> {
        match self {
            Self::Conversation(identity) => Some(&identity.key.id),
            Self::Named(key, _) => Some(&key.id),
            Self::Wide(..) => None,
        }
    }

    /// Returns the recipient, if it is about one.
    pub fn recipient(&self) -> Option<&RecipientId> {
        match self {
            Self::Conversation(identity) => Some(&identity.recipient),
            Self::Named(_, recipient) => Some(recipient),
            Self::Wide(_, recipient) => recipient.as_ref(),
        }
    }
}

impl Event {
    /// Creates the event of a change.
    pub(super) fn of(operation: Operation, attempt: Option<&Attempt>, decided: &Decided) -> Self {
        Self {
            request: attempt.map(|attempt| attempt.id.clone()),
            facts: Some(decided.facts.clone()),
            may_wait: !decided.facts.segments_written.is_empty()
                || decided.after.head.ended.as_ref().is_some_and(|ending| ending.awaits.is_some()),
            ..Self::bare(operation, Subject::of(&decided.after.head.identity))
        }
    }

    /// Creates the event of a deletion.
    pub(super) fn removal(operation: Operation, conversation: &Conversation) -> Self {
        Self { results: None, ..Self::read(operation, conversation, 0) }
    }

    /// Creates the event of a read of `conversation`, or of its recipient if the conversation does not exist.
    pub(super) fn read(operation: Operation, conversation: &Conversation, results: usize) -> Self {
        let results = Some(u32::try_from(results).unwrap_or(u32::MAX));
        let identity = &conversation.head.identity;
        let subject = match conversation.exists() {
            true => Subject::of(identity),
            false => Subject::Wide(identity.key.namespace.clone(), Some(identity.recipient.clone())),
        };
        Self { results, ..Self::bare(operation, subject) }
    }

    /// Creates the event of an operation that is not about a single conversation.
    pub(super) fn wide(
        operation: Operation,
        caller: &Caller,
        recipient: Option<RecipientId>,
        results: usize,
    ) -> Self {
        let results = Some(u32::try_from(results).unwrap_or(u32::MAX));
        Self { results, ..Self::bare(operation, Subject::Wide(caller.namespace.clone(), recipient)) }
    }

    /// Returns the approximate size of the event in memory, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
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
