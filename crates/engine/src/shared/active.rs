//! A recipient's active conversation. A shared store is asked for its pointer and its state in one request.

use std::{sync::Arc, time::Duration};

use crate::{
    Address, Caller, Engine, Result,
    lane::{
        confirmed::Confirmed,
        queue::{Published, Queue},
        queued::ATTEMPTS,
    },
    shared::last_active::{Before, LastActive},
};
use utterd_domain::{ChangeId, Conversation, ConversationId};
use utterd_store::{Begin, Newer, RecipientKey, StateOf};

/// What is known of a recipient's active conversation before the store is asked.
struct KnownActive {
    pointer: Before,
    queue: Option<Arc<Queue>>,
    published: Confirmed<Published>,
}

impl Engine {
    /// Returns the recipient's active conversation. Each try asks a shared store at most once, for both the
    /// pointer and the state.
    pub(crate) async fn find_active(
        self: &Arc<Self>,
        last: &LastActive,
        caller: &Caller,
        address: &Address,
    ) -> Result<Option<Arc<Conversation>>> {
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
            // the conversation may have ended between the reads of the pointer and the state
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

    /// Returns a recipient's active conversation. The answer may miss what other processes have committed
    /// within `max_staleness`.
    pub(crate) async fn active_within(
        &self,
        max_staleness: Duration,
        recipient: &RecipientKey,
    ) -> Result<Option<ConversationId>> {
        let Some(last) = &self.last_active else { return Ok(self.store.active(recipient).await?) };
        let (before, asked) = (last.before(recipient), self.clock.elapsed());
        if before.known.is_fresh(max_staleness, asked) {
            return Ok(before.known.value);
        }
        let active = self.store.active(recipient).await?;
        last.answered(recipient, before, active.as_ref(), asked);
        Ok(active)
    }
}

impl KnownActive {
    fn state(&self) -> Option<Arc<Conversation>> {
        self.published.value.clone().state()
    }

    /// Returns the id of the conversation and the [`ChangeId`] of its state, for the store to compare.
    fn named(&self) -> Option<(&ConversationId, ChangeId)> {
        self.pointer.known.value.as_ref().zip(self.state().map(|state| state.head.change))
    }

    /// Returns the state if it is recent enough for the read, so that the store need not be asked.
    fn fresh(&self, address: &Address, now: Duration) -> Option<Arc<Conversation>> {
        let max = address.max_staleness;
        let is_fresh = self.pointer.known.is_fresh(max, now) && self.published.is_fresh(max, now);
        self.state().filter(|state| is_fresh && address.may_mean(state))
    }

    /// Notes that the state was still the newest one at `asked`. Returns it.
    fn confirm(&self, asked: Duration) -> Option<Arc<Conversation>> {
        self.queue.iter().for_each(|queue| queue.confirm(&self.published, asked));
        self.state()
    }
}
