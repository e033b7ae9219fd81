//! What is known of the conversation that a write goes to, so that one question to the store tells all that a
//! write has to know.

use std::sync::Arc;

use crate::{
    domain::{Conversation, ConversationKey},
    engine::{Address, Engine},
    store::{Newer, RecipientKey, StateOf},
};

/// The conversation that a write most likely goes to, and its state as far as that is known here.
pub(super) struct Known {
    /// `None` when it is not known which one is the recipient's.
    key: Option<ConversationKey>,
    state: Option<Arc<Conversation>>,
    by_recipient: bool,
}

impl Engine {
    /// What is known of the conversation that is addressed; `None` when the store need not be asked for its
    /// state with all else: because nobody else writes to it, or because others write to the conversation here,
    /// with whom the state is read together.
    pub(super) fn known(&self, address: &Address, recipient: &RecipientKey) -> Option<Box<Known>> {
        let last = self.last_active.as_ref()?;
        let by_recipient = address.conversation.is_none();
        let id = address.conversation.clone().or_else(|| last.of(recipient));
        let key = id.map(|id| ConversationKey { namespace: recipient.namespace.clone(), id });
        let queue = key.as_ref().and_then(|key| self.queues.get(key));
        if queue.as_ref().is_some_and(|queue| queue.is_held()) {
            return None;
        }
        let state = queue.and_then(|queue| queue.published().state());
        Some(Box::new(Known { key, state, by_recipient }))
    }
}

impl Known {
    /// What the store is asked for.
    pub(super) fn wanted(&self) -> Option<StateOf<'_>> {
        let change = self.state.as_ref().map(|state| state.head.change);
        match (&self.key, self.by_recipient) {
            (Some(key), false) => Some(StateOf::One(key, change)),
            (key, _) => Some(StateOf::Active(key.as_ref().map(|key| &key.id).zip(change))),
        }
    }

    /// The state that the store has answered.
    pub(super) fn confirmed(self, answer: Newer) -> Option<Arc<Conversation>> {
        match answer {
            Newer::Known => self.state,
            Newer::Absent => None,
            Newer::State(state) => Some(state),
        }
    }
}
