//! What is written together, and what is kept of it.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::domain::{
    Change, Conversation, ConversationId, ConversationKey, Namespace, Ranges, RecipientId, RequestId,
    Revision, Sequence, Timestamp, capacity::Capacity,
};

/// Names a recipient among all namespaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecipientKey {
    /// The tenant.
    pub namespace: Namespace,
    /// The recipient.
    pub id: RecipientId,
}

/// One atomic step of a store.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// Changes of conversations, at most one for each.
    pub writes: Vec<Write>,
    /// Changes of recipients' active conversations.
    pub pointers: Vec<PointerWrite>,
    /// Outcomes to keep.
    pub outcomes: Vec<(OutcomeKey, Arc<Outcome>)>,
}

/// A change of one conversation.
#[derive(Clone, Debug)]
pub enum Write {
    /// It changes, or is created.
    Change {
        /// The state that it must be in, which [`Head::change`](crate::domain::Head::change) tells; `None` when it must not exist.
        before: Option<Arc<Conversation>>,
        /// What happened, in its order: with the heads before and after, all that a backend has to persist.
        changes: Changes,
        /// The state after it: its head, and the whole for a backend that keeps states in memory.
        after: Arc<Conversation>,
    },
    /// It is removed.
    Delete {
        /// The state that it must be in, which [`Head::change`](crate::domain::Head::change) tells.
        before: Arc<Conversation>,
    },
}

/// The changes that one commit makes to a conversation: mostly one.
pub type Changes = SmallVec<[Arc<Change>; 1]>;

impl Write {
    /// The conversation.
    pub fn key(&self) -> &ConversationKey {
        match self {
            Self::Change { after, .. } => after.key(),
            Self::Delete { before } => before.key(),
        }
    }

    /// The state that the conversation must be in; `None` when it must not exist.
    pub fn before(&self) -> Option<&Arc<Conversation>> {
        match self {
            Self::Change { before, .. } => before.as_ref(),
            Self::Delete { before } => Some(before),
        }
    }

    /// The state that it is in after; `None` when it is removed.
    pub fn after(&self) -> Option<&Arc<Conversation>> {
        match self {
            Self::Change { after, .. } => Some(after),
            Self::Delete { .. } => None,
        }
    }
}

/// A change of a recipient's active conversation; or, where it stays, the demand that it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointerWrite {
    /// The recipient.
    pub recipient: RecipientKey,
    /// What must be active before.
    pub before: Option<ConversationId>,
    /// What is active after.
    pub after: Option<ConversationId>,
}

/// Names one attempt of a mutating call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutcomeKey {
    /// The tenant.
    pub namespace: Namespace,
    /// The call's name, such as `Memorize`.
    pub rpc: &'static str,
    /// The id that the caller gave.
    pub request: RequestId,
}

/// What a mutating call came to: references and numbers, never text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// A hash of the request's body.
    pub body: u128,
    /// When the call took effect.
    pub time: Timestamp,
    /// The conversation; [`ConversationId::of_some_state`] where a recipient's own state was changed.
    pub conversation: ConversationId,
    /// Its revision after the call.
    pub revision: Revision,
    /// Whether it started with the call.
    pub started: bool,
    /// The conversation that ended for it to start.
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
    /// What was to be forgotten, and the summary still tells of.
    pub still_told: Ranges,
    /// Segments rebuilt.
    pub rebuilt_segments: u32,
    /// The window's numbers after the call.
    pub capacity: Capacity,
}

impl Outcome {
    /// About how many bytes it takes in memory, with its key in the maps that it is found by.
    pub fn memory_bytes(&self, key: &OutcomeKey) -> usize {
        let listed = [&self.memorized, &self.evicted, &self.forgotten, &self.restored, &self.still_told];
        let names = 2 * key.request.as_str().len() + 2 * self.conversation.as_str().len();
        2 * size_of::<Self>() + names + listed.iter().map(|ranges| ranges.memory_bytes()).sum::<usize>()
    }
}
