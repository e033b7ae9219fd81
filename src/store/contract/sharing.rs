//! What processes over one store learn of one another.

use crate::{
    domain::{ConversationKey, Timestamp},
    store::RecipientKey,
};

/// Tells of what may be read anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The conversation was changed, created or removed.
    Changed(ConversationKey),
    /// Another conversation is the recipient's active one, or none is.
    Active(RecipientKey),
    /// Any of this may have happened.
    Missed,
}

/// Names one of those who work on what waits in a store: no two have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkerId(pub u128);

/// A worker wants to be the only one who has a model tell what waits in a conversation.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    /// The conversation.
    pub conversation: &'a ConversationKey,
    /// Who claims.
    pub worker: WorkerId,
    /// The time: a claim of another worker that has ended by then is none.
    pub now: Timestamp,
    /// When this one ends.
    pub until: Timestamp,
}
