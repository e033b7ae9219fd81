//! A commit, and the outcome that is stored with it.

use std::sync::Arc;

use smallvec::SmallVec;

use utterd_domain::{
    Change, Conversation, ConversationId, ConversationKey, Identity, Namespace, Ranges, RecipientId,
    RequestId, Revision, Role, Sequence, Timestamp, UtteranceId, capacity::Capacity,
    forget::erasure::InForks,
};

/// Identifies a recipient across namespaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecipientKey {
    /// The tenant.
    pub namespace: Namespace,
    /// The recipient.
    pub id: RecipientId,
}

impl RecipientKey {
    /// The recipient of a conversation.
    pub fn of(conversation: &Identity) -> Self {
        Self { namespace: conversation.key.namespace.clone(), id: conversation.recipient.clone() }
    }
}

/// One atomic step of a store.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// Changes of conversations, at most one for each conversation.
    pub writes: Vec<Write>,
    /// Changes of recipients' active conversations.
    pub pointers: Vec<PointerWrite>,
    /// The outcomes to store.
    pub outcomes: Vec<(OutcomeKey, Arc<Outcome>)>,
    /// The events to store; only for a backend [that stores events](super::Capabilities::traced).
    pub traced: Option<Traced>,
    /// Whether other processes have recently written to these conversations, so that the commit may well
    /// conflict.
    pub is_contended: bool,
}

impl Commit {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
            && self.pointers.is_empty()
            && self.outcomes.is_empty()
            && self.traced.is_none()
    }
}

/// A change of one conversation.
#[derive(Clone, Debug)]
pub enum Write {
    /// The conversation is changed or created.
    Change {
        /// The state that the conversation must be in, identified by
        /// [`Head::change`](utterd_domain::Head::change); `None` if it must not exist.
        before: Option<Arc<Conversation>>,
        /// The changes, in order. Together with the heads before and after, this is all that a backend has to
        /// persist.
        changes: Changes,
        /// The resulting state: its head, and all of it for a backend that keeps states in memory.
        after: Arc<Conversation>,
    },
    /// The conversation is removed.
    Delete {
        /// The state that the conversation must be in, identified by
        /// [`Head::change`](utterd_domain::Head::change).
        before: Arc<Conversation>,
    },
}

/// The changes that one commit makes to a conversation: usually one.
pub type Changes = SmallVec<[Arc<Change>; 1]>;

impl Write {
    /// The conversation.
    pub fn key(&self) -> &ConversationKey {
        match self {
            Self::Change { after, .. } => after.key(),
            Self::Delete { before } => before.key(),
        }
    }

    /// The state that the conversation must be in; `None` if it must not exist.
    pub fn before(&self) -> Option<&Arc<Conversation>> {
        match self {
            Self::Change { before, .. } => before.as_ref(),
            Self::Delete { before } => Some(before),
        }
    }

    /// The resulting state; `None` if the conversation is removed.
    pub fn after(&self) -> Option<&Arc<Conversation>> {
        match self {
            Self::Change { after, .. } => Some(after),
            Self::Delete { .. } => None,
        }
    }
}

/// Changes a recipient's active conversation. If `before` and `after` are equal, only checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointerWrite {
    /// The recipient.
    pub recipient: RecipientKey,
    /// The conversation that must be active before.
    pub before: Option<ConversationId>,
    /// The conversation that is active afterwards.
    pub after: Option<ConversationId>,
}

impl PointerWrite {
    /// Whether another conversation is active afterwards, or none.
    pub fn moves(&self) -> bool {
        self.before != self.after
    }
}

/// The events that a commit adds to the trace of a namespace, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The namespace.
    pub namespace: Namespace,
    /// The events, which are opaque to a store: text without control characters.
    pub events: Vec<String>,
}

/// Identifies one attempt of a mutating call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutcomeKey {
    /// The tenant.
    pub namespace: Namespace,
    /// The call's name, such as `Memorize`.
    pub rpc: &'static str,
    /// The id that the caller gave.
    pub request: RequestId,
}

/// An utterance that a call named, as it was when the call took effect, without its text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reference {
    /// Its place in the conversation.
    pub sequence: Sequence,
    /// Its id.
    pub id: UtteranceId,
    /// The speaker's role.
    pub role: Role,
    /// Its turn.
    pub turn: u32,
    /// Its token count.
    pub tokens: u32,
    /// Its position in the window after the call, from 1; `None` outside the window.
    pub position: Option<u32>,
    /// Whether it is a tool result that came late.
    pub late: bool,
}

/// The result of a mutating call: references and numbers, never text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Outcome {
    /// A hash of the request's body.
    pub body: u128,
    /// The time at which the call took effect.
    pub time: Timestamp,
    /// The conversation; [`ConversationId::of_some_state`] if a recipient's own state was changed.
    pub conversation: ConversationId,
    /// Its revision after the call.
    pub revision: Revision,
    /// Whether the call started the conversation.
    pub started: bool,
    /// The conversation that the call ended to start this one.
    pub ended: Option<ConversationId>,
    /// Utterances stored.
    pub memorized: Ranges,
    /// Utterances that left the window.
    pub evicted: Ranges,
    /// Utterances forgotten, softly or hard.
    pub forgotten: Ranges,
    /// Utterances restored.
    pub restored: Ranges,
    /// The utterance that the call named.
    pub target: Option<Sequence>,
    /// Selected utterances that are no longer stored, but still in the summary.
    pub still_told: Ranges,
    /// Segments rebuilt.
    pub rebuilt_segments: u32,
    /// The window's numbers after the call.
    pub capacity: Capacity,
    /// References to the utterances in these sets, ascending. A long set has references only to its first
    /// utterances.
    pub references: Vec<Reference>,
    /// The counts of what a hard forget removed from other conversations.
    pub in_forks: Option<InForks>,
}

impl Outcome {
    /// Returns the sets of utterances that have references.
    pub fn sets(&self) -> [&Ranges; 4] {
        [&self.memorized, &self.evicted, &self.forgotten, &self.restored]
    }

    /// Returns the reference to an utterance.
    pub fn reference(&self, sequence: Sequence) -> Option<&Reference> {
        let place = self.references.binary_search_by_key(&sequence, |reference| reference.sequence).ok()?;
        self.references.get(place)
    }

    /// Returns the approximate memory use, including the key in the maps that contain the outcome.
    pub fn memory_bytes(&self, key: &OutcomeKey) -> usize {
        let listed = self.sets().into_iter().chain([&self.still_told]).map(Ranges::memory_bytes);
        let names = 2 * key.request.as_str().len() + 2 * self.conversation.as_str().len();
        let references = self.references.iter().map(Reference::memory_bytes);
        2 * size_of::<Self>() + names + listed.chain(references).sum::<usize>()
    }
}

impl Reference {
    fn memory_bytes(&self) -> usize {
        let id = match &self.id {
            UtteranceId::Given(id) => id.len(),
            UtteranceId::Assigned(_) => 0,
        };
        size_of::<Self>() + id
    }
}
