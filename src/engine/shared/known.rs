//! What is already known of the conversation a write goes to, so that a single request to the store returns
//! everything else the write needs.

use std::sync::Arc;

use crate::{
    domain::{Conversation, ConversationKey},
    engine::{Address, Engine, lane::queued::Target},
    store::{Newer, PointerWrite, RecipientKey, StateOf},
};

/// The conversation a write most likely goes to, and its state as far as it is known here.
pub(in crate::engine) struct Known {
    /// `None` if the recipient's active conversation is not known.
    key: Option<ConversationKey>,
    state: Option<Arc<Conversation>>,
    by_recipient: bool,
}

impl Engine {
    /// Returns what a write's address most likely means, without asking a store that other processes write to.
    /// The commit is refused if it does not; what is answered without a commit is checked before.
    pub(in crate::engine) fn assumed(&self, address: &Address, recipient: &RecipientKey) -> Option<Target> {
        let last = self.last_active.as_ref()?;
        let by_recipient = address.conversation.is_none();
        let id = address.conversation.clone().or_else(|| last.of(recipient))?;
        let key = ConversationKey { namespace: recipient.namespace.clone(), id: id.clone() };
        let queue = self.queues.get(&key).filter(|queue| !queue.is_contended())?;
        let state = queue.published().state()?;
        if by_recipient && !address.may_mean(&state) {
            return None;
        }
        let (before, after) = (Some(id.clone()), Some(id));
        let pointer = PointerWrite { recipient: recipient.clone(), before, after };
        Some(Target { key, pointer: by_recipient.then_some(pointer), exists: true, seen: None })
    }

    /// Returns what is known of the addressed conversation. `None` if the store need not be asked for its state
    /// along with everything else: because no other process writes to the store, or because the conversation's
    /// queue is held, and its writes share one read of the state.
    pub(in crate::engine) fn known(&self, address: &Address, recipient: &RecipientKey) -> Option<Box<Known>> {
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
    /// Returns the state to ask the store for.
    pub(in crate::engine) fn wanted(&self) -> Option<StateOf<'_>> {
        let change = self.state.as_ref().map(|state| state.head.change);
        match (&self.key, self.by_recipient) {
            (Some(key), false) => Some(StateOf::One(key, change)),
            (key, _) => Some(StateOf::Active(key.as_ref().map(|key| &key.id).zip(change))),
        }
    }

    /// Returns the state according to the store's answer.
    pub(in crate::engine) fn confirmed(self, answer: Newer) -> Option<Arc<Conversation>> {
        match answer {
            Newer::Known => self.state,
            Newer::Absent => None,
            Newer::State(state) => Some(state),
        }
    }
}
