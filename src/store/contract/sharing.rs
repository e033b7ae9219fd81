//! What processes that share a store learn of one another.

use crate::{
    domain::{ChangeId, ConversationId, ConversationKey, Timestamp},
    store::RecipientKey,
};

/// Reports what should be read again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    /// The conversation was changed, created or removed.
    Changed(ConversationKey),
    /// The recipient's active conversation changed, possibly to none.
    Active(RecipientKey),
    /// Any of this might have happened.
    Missed,
}

/// What a process watches, as it was last seen there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastSeen {
    /// Conversations, each with its state.
    pub conversations: Vec<(ConversationKey, ChangeId)>,
    /// Recipients, each with its active conversation.
    pub recipients: Vec<(RecipientKey, Option<ConversationId>)>,
}

impl LastSeen {
    /// Returns hints that all of it may have changed.
    pub fn hints(&self) -> Vec<Hint> {
        let changed = self.conversations.iter().map(|(key, _)| Hint::Changed(key.clone()));
        let moved = self.recipients.iter().map(|(recipient, _)| Hint::Active(recipient.clone()));
        changed.chain(moved).collect()
    }
}

/// Identifies a worker that processes the waiting work of a store; unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkerId(pub u128);

/// A worker's request to be the only one that has a model process the waiting work of a conversation.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    /// The conversation.
    pub conversation: &'a ConversationKey,
    /// The worker.
    pub worker: WorkerId,
    /// The current time: a claim of another worker that has ended by now does not count.
    pub now: Timestamp,
    /// The time at which this claim ends.
    pub until: Timestamp,
}
