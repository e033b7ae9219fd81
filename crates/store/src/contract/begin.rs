//! The first reads of a call.

use std::sync::Arc;

use super::commit::{Outcome, OutcomeKey, RecipientKey};
use utterd_domain::{ChangeId, Conversation, ConversationId, ConversationKey, Timestamp};

/// The reads that a call needs before it is decided.
#[derive(Clone, Copy, Debug, Default)]
pub struct Begin<'a> {
    /// The recipient whose active conversation is wanted.
    pub recipient: Option<&'a RecipientKey>,
    /// The outcome of an earlier attempt, unless it is older than this time.
    pub outcome: Option<(&'a OutcomeKey, Timestamp)>,
    /// The state of a conversation, unless it is the known one.
    pub state: Option<StateOf<'a>>,
}

/// The conversation whose state is wanted, and the state that is already known.
#[derive(Clone, Copy, Debug)]
pub enum StateOf<'a> {
    /// This conversation.
    One(&'a ConversationKey, Option<ChangeId>),
    /// The recipient's active conversation. The known state comes with the id of its conversation, because
    /// the states that one commit makes of several conversations have the same [`ChangeId`].
    Active(Option<(&'a ConversationId, ChangeId)>),
}

impl Begin<'_> {
    /// Returns the conversation to look up, and its known state, given that `active` is the recipient's
    /// active conversation. If there is nothing to look up, returns the answer.
    pub fn wanted(
        &self,
        active: Option<&ConversationId>,
    ) -> Result<(ConversationKey, Option<ChangeId>), Newer> {
        match (self.state, self.recipient, active) {
            (None, ..) => Err(Newer::Known),
            (Some(StateOf::One(key, known)), ..) => Ok((key.clone(), known)),
            (Some(StateOf::Active(known)), Some(recipient), Some(id)) => {
                let key = ConversationKey { namespace: recipient.namespace.clone(), id: id.clone() };
                Ok((key, known.filter(|(known, _)| *known == id).map(|(_, change)| change)))
            }
            (Some(StateOf::Active(_)), ..) => Err(Newer::Absent),
        }
    }
}

/// The answer to a [`Begin`].
#[derive(Clone, Debug)]
pub struct Begun {
    /// The recipient's active conversation.
    pub active: Option<ConversationId>,
    /// The earlier outcome.
    pub outcome: Option<Arc<Outcome>>,
    /// The state; also [`Newer::Known`] if no state was wanted, and [`Newer::Absent`] if the recipient has no
    /// active conversation.
    pub state: Newer,
}

/// A state, compared with a known one.
#[derive(Clone, Debug, PartialEq)]
pub enum Newer {
    /// The conversation is in the known state.
    Known,
    /// The conversation does not exist.
    Absent,
    /// The conversation is in this state.
    State(Arc<Conversation>),
}

impl Newer {
    /// Returns the state, which is `known` if it is the known one; `None` if the conversation does not exist.
    pub fn or(self, known: Option<Arc<Conversation>>) -> Option<Arc<Conversation>> {
        match self {
            Self::Known => known,
            Self::Absent => None,
            Self::State(state) => Some(state),
        }
    }

    /// Compares `state` with the one that `known` names.
    pub fn than(known: Option<ChangeId>, state: Option<Arc<Conversation>>) -> Self {
        match state {
            None => Self::Absent,
            Some(state) if Some(state.head.change) == known => Self::Known,
            Some(state) => Self::State(state),
        }
    }
}
