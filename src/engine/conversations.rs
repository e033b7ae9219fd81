//! Creating, listing and deleting conversations, and reading one's numbers.

use std::sync::Arc;

use crate::{
    domain::{
        Conversation, ConversationId, ConversationKey, Encoding, Head, Policy, Refusal, Revision, Timestamp,
        Verdict,
        conversation::Status,
        error::CONVERSATION,
        update::{Create, create},
    },
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation,
        events::Event,
        lane::{Lane, Pending},
        settle::{Links, Settled},
        write::{Decision, Missing, WriteCall},
    },
    store::{Commit, CommitError, Page, PointerWrite, Write},
};

/// A conversation to create.
#[derive(Clone, Debug)]
pub struct CreateCall {
    /// Its id, or none for a new one; and its recipient.
    pub address: Address,
    /// Its title.
    pub title: Option<Arc<str>>,
    /// Its limits.
    pub policy: Policy,
    /// The caller's labels.
    pub labels: std::collections::BTreeMap<String, String>,
    /// What its tokens are counted in.
    pub encoding: Encoding,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// Which conversations to list.
#[derive(Clone, Debug)]
pub struct ListConversations {
    /// Whose.
    pub recipient: crate::domain::RecipientId,
    /// Only those with this status.
    pub status: Option<Status>,
    /// Behind this one.
    pub after: Option<(Timestamp, ConversationId)>,
    /// The most entries.
    pub limit: usize,
}

/// A page of conversations.
#[derive(Clone, Debug)]
pub struct ConversationPage {
    /// The heads, the newest start first.
    pub heads: Vec<Head>,
    /// The recipient's active conversation.
    pub active: Option<ConversationId>,
    /// Where the next page starts; `None` on the last one.
    pub next: Option<(Timestamp, ConversationId)>,
}

impl Engine {
    /// Creates a conversation; refuses an id that is taken.
    pub async fn create_conversation(
        &self,
        caller: &Caller,
        call: CreateCall,
    ) -> Result<Applied<()>, EngineError> {
        let id = call.address.conversation.clone().unwrap_or_else(|| self.new_conversation_id());
        let address = Address { conversation: Some(id.clone()), recipient: call.address.recipient.clone() };
        let identity = self.identity(caller.key(id.clone()), &address, call.encoding, self.clock.now());
        let command = Create { identity, policy: call.policy, title: call.title, labels: call.labels };
        let write = WriteCall {
            caller,
            address: &address,
            attempt: call.attempt.as_ref(),
            operation: Operation::CreateConversation,
            missing: Missing::CreateActive,
            releases: false,
            resolved: None,
        };
        self.write(write, |before, context| match before.head.revision {
            Revision::NONE => {
                let transition = Some(create(&command, context.now));
                Ok(Verdict::Decided(Decision { transition, target: None, value: () }))
            }
            _ => Err(Refusal::Exists { kind: CONVERSATION, name: id.to_string() }),
        })
        .await
    }

    /// Reads a conversation; whether it is its recipient's active one comes along.
    pub async fn get_conversation(
        &self,
        caller: &Caller,
        address: &Address,
    ) -> Result<(Arc<Conversation>, bool), EngineError> {
        let state = self.read(caller, address).await?;
        let active = self.is_active(&state).await?;
        self.events.push(Event::read(Operation::GetConversation, &state, 1));
        Ok((state, active))
    }

    /// Whether Memorize with only its recipient goes to the conversation.
    pub async fn is_active(&self, state: &Conversation) -> Result<bool, EngineError> {
        let identity = &state.head.identity;
        let caller = Caller { namespace: identity.key.namespace.clone() };
        let active = self.store.active(&caller.recipient(identity.recipient.clone())).await?;
        Ok(active.as_ref() == Some(&identity.key.id))
    }

    /// Lists a recipient's conversations, the newest start first.
    pub async fn list_conversations(
        &self,
        caller: &Caller,
        list: ListConversations,
    ) -> Result<ConversationPage, EngineError> {
        let recipient = caller.recipient(list.recipient.clone());
        let (now, idle) = (self.clock.now(), self.defaults.idle_timeout);
        let (mut heads, mut after) = (Vec::new(), list.after);
        let next = loop {
            let page = Page { after: after.clone(), limit: list.limit + 1 };
            let found = self.store.conversations(&recipient, page).await?;
            let Some(last) = found.last() else { break None };
            after = Some(place(last));
            let wanted = |head: &Head| list.status.is_none_or(|status| head.status(now, idle) == status);
            heads.extend(found.into_iter().filter(wanted));
            if heads.len() > list.limit {
                heads.truncate(list.limit);
                break heads.last().map(place);
            }
        };
        let active = self.store.active(&recipient).await?;
        self.events.push(Event::wide(
            Operation::ListConversations,
            caller,
            Some(list.recipient),
            heads.len(),
        ));
        Ok(ConversationPage { heads, active, next })
    }

    /// Removes a conversation and all that is stored in it; answers how many utterances.
    pub async fn delete_conversation(
        &self,
        caller: &Caller,
        id: ConversationId,
        expected: Option<Revision>,
    ) -> Result<u64, EngineError> {
        let key = caller.key(id.clone());
        let missing = Address { conversation: Some(id), recipient: None };
        let removed =
            self.remove(&key, Operation::DeleteConversation, |state| state.expect(expected)).await?;
        Ok(removed.ok_or_else(|| missing.not_found())?.head.stored)
    }

    /// Removes the conversation if `check` lets it; `None` when there is none.
    pub(super) async fn remove(
        &self,
        key: &ConversationKey,
        operation: Operation,
        check: impl Fn(&Conversation) -> Result<(), Refusal>,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        loop {
            let lane = self.lanes.lane(key);
            let mut pending = lane.pending.lock().await;
            if pending.removed {
                continue;
            }
            let handed_over = self.hand_over_removal(&lane, &mut pending, operation, &check).await;
            self.let_go(&lane, &mut pending);
            drop(pending);
            let Some((state, settled)) = handed_over? else { return Ok(None) };
            match settled.result().await {
                Ok(()) => {
                    self.indexes.remove(state.head.identity.lineage);
                    return Ok(Some(state));
                }
                Err(CommitError::Conflict) => {}
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
    }

    /// Hands the deletion of a conversation to the store; `None` when there is none. The lane is held.
    async fn hand_over_removal(
        &self,
        lane: &Arc<Lane>,
        pending: &mut Pending,
        operation: Operation,
        check: &impl Fn(&Conversation) -> Result<(), Refusal>,
    ) -> Result<Option<(Arc<Conversation>, Settled)>, EngineError> {
        // the pointer that is to go may be in flight
        lane.land().await;
        let Some(state) = self.newest_state(lane, pending).await? else { return Ok(None) };
        check(&state)?;
        let flush = self.store.commit(self.removal(&state).await?);
        let deletion = pending.delete(lane, Event::removal(operation, &state));
        Ok(Some((state, self.settle(flush, Links::from_iter([deletion]), None))))
    }

    async fn removal(&self, state: &Arc<Conversation>) -> Result<Commit, EngineError> {
        let pointers = self.release(state).await?.into_iter().collect();
        let delete = Write::Delete { before: state.clone() };
        Ok(Commit { writes: vec![delete], pointers, outcomes: Vec::new() })
    }

    /// What takes a conversation from its recipient, if it is the active one. Nothing of its lane is
    /// in flight.
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
}

/// Where a list of conversations goes on behind `head`.
pub(super) fn place(head: &Head) -> (Timestamp, ConversationId) {
    (head.identity.start_time, head.identity.key.id.clone())
}
