//! Reading the conversation an address means.

pub(super) mod context;
pub(super) mod conversations;
pub(super) mod export;
pub(super) mod messages;
pub(super) mod page;
pub(super) mod recalled;
pub(super) mod state;
pub(super) mod stats;
pub(super) mod stored;
pub(super) mod utterances;
pub(super) mod walk;

use std::{sync::Arc, time::Duration};

use crate::{
    domain::{ChangeId, Conversation, ConversationId, Identity, LineageId},
    engine::{
        Address, Caller, Engine, EngineError,
        lane::{
            queue::{Published, Queue},
            queued::ATTEMPTS,
        },
        shared::{
            confirmed::Confirmed,
            last_active::{Before, LastActive},
        },
    },
    store::{Begin, Newer, RecipientKey, StateOf},
};

/// What is known of a recipient's active conversation before the store is asked.
struct KnownActive {
    pointer: Before,
    queue: Option<Arc<Queue>>,
    published: Confirmed<Published>,
}

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
            let key = caller.key(id.clone());
            let state = self.published_within(address.max_staleness, &key).await?;
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
            let known = self.known_active(last, caller, &recipient);
            let asked = self.clock.elapsed();
            if let Some(state) = known.fresh(address, asked) {
                self.meters.hits.inc();
                return Ok(Some(state));
            }
            let wanted = Some(StateOf::Active(known.named()));
            let begin = Begin { recipient: Some(&recipient), outcome: None, state: wanted };
            let begun = self.store.begin(begin).await?;
            if begun.active.is_none() {
                last.answered(&recipient, known.pointer, None, asked);
                return Ok(None);
            }
            let state = match begun.state {
                Newer::Known => {
                    self.meters.hits.inc();
                    known.confirm(asked)
                }
                Newer::Absent => None,
                Newer::State(state) => {
                    self.meters.misses.inc();
                    Some(self.keep(state, asked))
                }
            };
            last.answered(&recipient, known.pointer, begun.active.as_ref(), asked);
            // it may have ended between the two answers
            if let Some(state) = state.filter(|state| address.may_mean(state)) {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    /// Returns what is known of a recipient's active conversation.
    fn known_active(&self, last: &LastActive, caller: &Caller, recipient: &RecipientKey) -> KnownActive {
        let pointer = last.before(recipient);
        let id = pointer.known.value.clone();
        let queue = id.and_then(|id| self.queues.get(&caller.key(id)));
        let published = queue.as_ref().map(|queue| queue.confirmed()).unwrap_or_default();
        KnownActive { pointer, queue, published }
    }

    /// Keeps a state that the store had after `asked`, newer than the known one, for the next reader; unless a
    /// writer is about to publish one.
    pub(super) fn keep(self: &Arc<Self>, state: Arc<Conversation>, asked: Duration) -> Arc<Conversation> {
        if let Some(hold) = self.hold_if_free(state.key()) {
            hold.publish_newer(&state, asked);
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

impl KnownActive {
    fn state(&self) -> Option<Arc<Conversation>> {
        self.published.value.clone().state()
    }

    /// Returns the conversation and the name of its state, for the store to compare.
    fn named(&self) -> Option<(&ConversationId, ChangeId)> {
        self.pointer.known.value.as_ref().zip(self.state().map(|state| state.head.change))
    }

    /// Returns the state if it is recent enough for the read: then the store need not be asked.
    fn fresh(&self, address: &Address, now: Duration) -> Option<Arc<Conversation>> {
        let max = address.max_staleness;
        let is_fresh = self.pointer.known.is_fresh(max, now) && self.published.is_fresh(max, now);
        self.state().filter(|state| is_fresh && address.may_mean(state))
    }

    /// Notes that the state is the newest. Returns it.
    fn confirm(&self, asked: Duration) -> Option<Arc<Conversation>> {
        self.queue.iter().for_each(|queue| queue.confirm(&self.published, asked));
        self.state()
    }
}
