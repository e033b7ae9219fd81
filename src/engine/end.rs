//! Ending a conversation.

use std::sync::Arc;

use crate::{
    domain::{
        Conversation, ConversationKey, Verdict,
        end::{End, end},
    },
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation,
        queued::{Decision, WriteCall},
    },
    store::PointerWrite,
};

/// The conversation to end, and why.
#[derive(Clone, Debug)]
pub struct EndCall {
    /// The conversation.
    pub address: Address,
    /// How to end it.
    pub end: End,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// The result.
pub type EndReply = Applied<()>;

impl Engine {
    /// Ends a conversation, and clears its recipient's active pointer if that pointed to it.
    pub async fn end_conversation(
        self: &Arc<Self>,
        caller: &Caller,
        call: EndCall,
    ) -> Result<EndReply, EngineError> {
        let write = WriteCall::new(caller, call.address, call.attempt, Operation::EndConversation);
        self.write(write, move |before, context| {
            let transition = Some(end(before, &call.end, context)?);
            Ok(Verdict::Decided(Decision::of(transition, None, ())))
        })
        .await
    }

    /// Returns the pointer write that clears the recipient's active conversation, if it is this one. Its queue
    /// must be held.
    pub(super) async fn release(&self, state: &Conversation) -> Result<Option<PointerWrite>, EngineError> {
        let identity = &state.head.identity;
        let caller = Caller { namespace: identity.key.namespace.clone() };
        let active = self.is_active(state).await?;
        Ok(active.then(|| PointerWrite {
            recipient: caller.recipient(identity.recipient.clone()),
            before: Some(identity.key.id.clone()),
            after: None,
        }))
    }

    /// Returns the conversation that follows one that ended, before its first revision.
    pub(super) fn successor(&self, key: ConversationKey, ended: &Conversation) -> Arc<Conversation> {
        let (recipient, encoding) = (&ended.head.identity.recipient, ended.head.identity.encoding);
        let address = Address { recipient: Some(recipient.clone()), ..Address::default() };
        let identity = self.identity(key, &address, encoding, self.now_for(ended));
        Arc::new(Conversation::new(identity, ended.head.policy.clone()))
    }
}
