//! Reading the conversation an address means.

use std::sync::Arc;

use crate::{
    domain::{Conversation, ConversationId, Identity, LineageId},
    engine::{Address, Caller, Engine, EngineError, last_active::LastActive, queued::ATTEMPTS},
    store::{Begin, Newer, StateOf},
};

impl Engine {
    /// Returns the id of the addressed conversation; `None` if the recipient has no active one.
    pub(super) async fn resolve(
        &self,
        caller: &Caller,
        address: &Address,
    ) -> Result<Option<ConversationId>, EngineError> {
        match &address.conversation {
            Some(id) => Ok(Some(id.clone())),
            None => Ok(self.store.active(&caller.recipient(address.recipient_or_default())).await?),
        }
    }

    /// Returns the published state of the addressed conversation.
    pub async fn read(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
    ) -> Result<Arc<Conversation>, EngineError> {
        self.find(caller, address).await?.ok_or_else(|| address.not_found().into())
    }

    /// Like [`Self::read`]; but if a recipient has no conversation, or no state, returns what its next one
    /// starts with: the server's defaults, before any revision.
    pub(super) async fn read_or_blank(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
    ) -> Result<Arc<Conversation>, EngineError> {
        match self.find(caller, address).await? {
            Some(state) => Ok(state),
            None if address.conversation.is_none() || address.is_of_state() => {
                Ok(self.unstarted(caller, address))
            }
            None => Err(address.not_found().into()),
        }
    }

    async fn find(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        if let (Some(last), None) = (&self.last_active, &address.conversation) {
            return self.find_active(last, caller, address).await;
        }
        let mut before = None;
        for _ in 0..ATTEMPTS {
            let Some(id) = self.resolve(caller, address).await? else { return Ok(None) };
            let state = self.published(&caller.key(id.clone())).await?;
            // the recipient's conversation may have ended since, so the address means another one
            let is_last = address.conversation.is_some() || before.as_ref() == Some(&id);
            match state {
                Some(state) if is_last || address.may_mean(&state) => {
                    address.check_recipient(&state)?;
                    return Ok(Some(state));
                }
                None if is_last => break,
                _ => before = Some(id),
            }
        }
        Ok(None)
    }

    /// Returns the recipient's active conversation: asks a shared store once, for both the pointer and the state.
    async fn find_active(
        self: &Arc<Self>,
        last: &LastActive,
        caller: &Caller,
        address: &Address,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        let recipient = caller.recipient(address.recipient_or_default());
        for _ in 0..ATTEMPTS {
            let id = last.of(&recipient);
            let queue = id.as_ref().and_then(|id| self.queues.get(&caller.key(id.clone())));
            let known = queue.and_then(|queue| queue.published().state());
            let change = known.as_ref().map(|state| state.head.change);
            let wanted = StateOf::Active(id.as_ref().zip(change));
            let begin = Begin { recipient: Some(&recipient), outcome: None, state: Some(wanted) };
            let begun = self.store.begin(begin).await?;
            let Some(active) = begun.active else { return Ok(None) };
            last.note(&recipient, &active);
            let state = match begun.state {
                Newer::Known => known,
                Newer::Absent => None,
                Newer::State(state) => Some(self.keep(state)),
            };
            // it may have ended between the two answers
            if let Some(state) = state.filter(|state| address.may_mean(state)) {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    /// Keeps a newer state than the known one for the next reader, unless a writer is about to publish one.
    pub(super) fn keep(self: &Arc<Self>, state: Arc<Conversation>) -> Arc<Conversation> {
        if let Some(hold) = self.hold_if_free(state.key()) {
            hold.publish_newer(&state);
        }
        state
    }

    /// Returns what a recipient's next conversation starts with. It has no lineage, and its id is never shown.
    fn unstarted(&self, caller: &Caller, address: &Address) -> Arc<Conversation> {
        let identity = Identity {
            key: caller.key(ConversationId::assigned(0)),
            recipient: address.recipient_or_default(),
            lineage: LineageId([0; 16]),
            start_time: self.clock.now(),
            encoding: self.defaults.encoding,
        };
        Arc::new(Conversation::new(identity, self.defaults.policy.clone()))
    }
}
