//! Reads the conversation that an address means.

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
pub(super) mod watch;

use std::sync::Arc;

use crate::{Address, Caller, Engine, Result, lane::queued::ATTEMPTS};
use utterd_domain::{Conversation, ConversationId, Identity, LineageId};

impl Engine {
    /// Returns the id of the addressed conversation; `None` if the recipient has no active one.
    pub(super) async fn resolve(&self, caller: &Caller, address: &Address) -> Result<Option<ConversationId>> {
        match &address.conversation {
            Some(id) => Ok(Some(id.clone())),
            None => Ok(self.store.active(&caller.recipient(address.recipient_or_default())).await?),
        }
    }

    /// Returns the published state of the addressed conversation.
    pub async fn read(self: &Arc<Self>, caller: &Caller, address: &Address) -> Result<Arc<Conversation>> {
        self.find(caller, address).await?.ok_or_else(|| address.not_found().into())
    }

    /// Like [`Self::read`], but if a recipient has no conversation, or no state, returns a blank one, as the
    /// next one would start, before any revision.
    pub(super) async fn read_or_blank(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
    ) -> Result<Arc<Conversation>> {
        match self.find(caller, address).await? {
            Some(state) => Ok(state),
            None if address.conversation.is_none() || address.is_of_state() => {
                self.unstarted(caller, address).await
            }
            None => Err(address.not_found().into()),
        }
    }

    async fn find(self: &Arc<Self>, caller: &Caller, address: &Address) -> Result<Option<Arc<Conversation>>> {
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

    /// Returns a blank conversation, as a recipient's next one would start. It has no lineage, and its id is
    /// never shown.
    async fn unstarted(&self, caller: &Caller, address: &Address) -> Result<Arc<Conversation>> {
        let identity = Identity {
            key: caller.key(ConversationId::assigned(0)),
            recipient: address.recipient_or_default(),
            lineage: LineageId([0; 16]),
            start_time: self.clock.now(),
            encoding: self.defaults.encoding,
        };
        let policy = self.next_policy(&caller.recipient(address.recipient_or_default())).await?;
        Ok(Arc::new(Conversation::new(identity, policy)))
    }
}
