//! What a call has to know before it is decided.

use std::sync::Arc;

use super::commit::{Outcome, OutcomeKey, RecipientKey};
use crate::domain::{ChangeId, Conversation, ConversationId, ConversationKey, Timestamp};

/// What a call asks for before it is decided.
#[derive(Clone, Copy, Debug, Default)]
pub struct Begin<'a> {
    /// Whose active conversation is wanted.
    pub recipient: Option<&'a RecipientKey>,
    /// The outcome of an earlier attempt, unless it is older.
    pub outcome: Option<(&'a OutcomeKey, Timestamp)>,
    /// The state of a conversation, unless it is the one known.
    pub state: Option<(&'a ConversationKey, Option<ChangeId>)>,
}

/// The answer to a [`Begin`].
#[derive(Clone, Debug)]
pub struct Begun {
    /// The recipient's active conversation.
    pub active: Option<ConversationId>,
    /// The earlier outcome.
    pub outcome: Option<Arc<Outcome>>,
    /// The state; [`Newer::Known`] too when none was asked for.
    pub state: Newer,
}

/// A state beside one that is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Newer {
    /// The conversation is in the state that is known.
    Known,
    /// It does not exist.
    Absent,
    /// It is in this one.
    State(Arc<Conversation>),
}

impl Newer {
    /// What `state` is beside the one that `known` names.
    pub fn than(known: Option<ChangeId>, state: Option<Arc<Conversation>>) -> Self {
        match state {
            None => Self::Absent,
            Some(state) if Some(state.head.change) == known => Self::Known,
            Some(state) => Self::State(state),
        }
    }
}
