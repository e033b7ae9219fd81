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
    pub state: Option<StateOf<'a>>,
}

/// Whose state is wanted, and which is known.
#[derive(Clone, Copy, Debug)]
pub enum StateOf<'a> {
    /// That of this conversation.
    One(&'a ConversationKey, Option<ChangeId>),
    /// That of the recipient's active one, of which this conversation in this state is known. The name belongs to
    /// it: the states that one commit makes of several conversations have the same [`ChangeId`].
    Active(Option<(&'a ConversationId, ChangeId)>),
}

impl Begin<'_> {
    /// The conversation to look at, and which state of it is known, where `active` is the recipient's active one.
    /// What is answered instead, where there is none to look at.
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
    /// The state; [`Newer::Known`] too when none was asked for, [`Newer::Absent`] too when the recipient has no
    /// active conversation.
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
