//! Deleting a conversation.

use std::sync::Arc;

use crate::{
    Engine, EngineError, Event, Operation, Result,
    lane::{
        commit::{Extras, Part, Uncommitted},
        completed::complete,
        queued::ATTEMPTS,
    },
};
use utterd_domain::{Conversation, ConversationKey, Refusal};
use utterd_store::{PointerWrite, RecipientKey};

impl Engine {
    /// Removes the conversation if `check` allows it; `None` if there is none.
    pub(crate) async fn remove(
        self: &Arc<Self>,
        key: &ConversationKey,
        operation: Operation,
        check: impl Fn(&Conversation) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Result<Option<Arc<Conversation>>> {
        let (engine, key) = (self.clone(), key.clone());
        complete(async move {
            for _ in 0..ATTEMPTS {
                match engine.try_to_remove(&key, operation, &check).await {
                    Ok(removed) => return Ok(removed),
                    Err(Uncommitted::Conflict(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(EngineError::Contended)
        })
        .await
    }

    async fn try_to_remove(
        self: &Arc<Self>,
        key: &ConversationKey,
        operation: Operation,
        check: &(impl Fn(&Conversation) -> Result<(), Refusal> + Sync),
    ) -> Result<Option<Arc<Conversation>>, Uncommitted> {
        let hold = self.hold(key).await;
        let Some(state) = hold.state().await? else { return Ok(None) };
        check(&state).map_err(EngineError::from)?;
        let pointers = self.release(&state).await?.into_iter().collect();
        // a recipient's own state is removed with the recipient, which has its own event
        let event = state.head.identity.is_listed().then(|| Event::removal(operation, &state));
        let part = Part::new(&hold, Some(state.clone())).deleted(event);
        self.commit(&mut [part], Extras { pointers, outcomes: Vec::new() }).await?;
        self.indexes.remove(state.head.identity.lineage);
        Ok(Some(state))
    }

    /// Returns the pointer write that clears the recipient's active conversation, if it is this one. Its queue
    /// must be held.
    pub(crate) async fn release(&self, state: &Conversation) -> Result<Option<PointerWrite>> {
        let identity = &state.head.identity;
        let active = self.is_active(state).await?;
        Ok(active.then(|| PointerWrite {
            recipient: RecipientKey::of(identity),
            before: Some(identity.key.id.clone()),
            after: None,
        }))
    }
}
