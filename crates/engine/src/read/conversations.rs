//! Creating, listing and deleting conversations, and reading a single one.

use std::{collections::HashMap, sync::Arc, time::Duration};

use crate::{
    Address, Applied, Attempt, Caller, Engine, Operation, PageRoom, Result,
    applied::RuleResult,
    events::Event,
    lane::queued::{IfAbsent, WriteCall},
};
use utterd_domain::{
    Conversation, ConversationId, ConversationKey, Encoding, Head, Policy, RecipientId, Refusal, Revision,
    conversation::Status,
    error::CONVERSATION,
    update::{Create, create},
};
use utterd_store::{List, ListOf, ListOrder, ListedAt, RecipientKey};

/// A conversation to create.
#[derive(Clone, Debug)]
pub struct CreateCall {
    /// Its recipient, and its id if the caller gives one.
    pub address: Address,
    /// Its title.
    pub title: Option<Arc<str>>,
    /// Its limits.
    pub policy: Policy,
    /// The caller's labels.
    pub labels: std::collections::BTreeMap<String, String>,
    /// The encoding in which its tokens are counted.
    pub encoding: Encoding,
    /// Whether it never becomes its recipient's active conversation.
    pub inactive: bool,
    /// The request id of this attempt, if the caller gave one.
    pub attempt: Option<Attempt>,
}

/// The conversations to list.
#[derive(Clone, Debug)]
pub struct ListConversations {
    /// The recipient; `None` for every recipient of the caller's namespace.
    pub recipient: Option<RecipientId>,
    /// Only conversations with this status.
    pub status: Option<Status>,
    /// Only conversations whose ids begin with this.
    pub id_prefix: Box<str>,
    /// Their order.
    pub order: ListOrder,
    /// Only conversations after this place in the list.
    pub after: Option<ListedAt>,
    /// The most entries.
    pub limit: usize,
}

/// A page of conversations.
#[derive(Clone, Debug)]
pub struct ConversationPage {
    /// The heads, in the order of the list, each with true if it is its recipient's active one.
    pub heads: Vec<(Head, bool)>,
    /// Where the next page starts; `None` on the last one.
    pub next: Option<ListedAt>,
}

/// The number of conversations read at a time: each may have labels of some 270 kB.
const HEADS: usize = 64;
/// More conversations than a recipient has; a database takes it as a limit.
const ALL: usize = i32::MAX as usize;

impl Engine {
    /// Creates a conversation. Fails if the id is taken.
    pub async fn create_conversation(
        self: &Arc<Self>,
        caller: &Caller,
        call: CreateCall,
    ) -> Result<Applied<()>> {
        let id = call.address.conversation.clone().unwrap_or_else(|| self.new_conversation_id());
        let address = Address { conversation: Some(id.clone()), ..call.address.clone() };
        let identity = self.identity(caller.key(id.clone()), &address, call.encoding, self.clock.now());
        let command = Create { identity, policy: call.policy, title: call.title, labels: call.labels };
        let write = WriteCall {
            if_absent: if call.inactive { IfAbsent::Create } else { IfAbsent::CreateAndActivate },
            ..WriteCall::new(caller, address, call.attempt, Operation::CreateConversation)
        };
        self.write(write, move |before, context| match before.head.revision {
            Revision::NONE => Ok(RuleResult::of(create(&command, context.now), ())),
            _ => Err(Refusal::Exists { kind: CONVERSATION, name: id.to_string() }.into()),
        })
        .await
    }

    /// Returns a conversation, and whether it is its recipient's active one.
    pub async fn get_conversation(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
    ) -> Result<(Arc<Conversation>, bool)> {
        let state = self.read(caller, address).await?;
        let active = self.is_active_within(address.max_staleness, &state).await?;
        self.events.push(Event::read(Operation::GetConversation, &state, 1));
        Ok((state, active))
    }

    /// Whether the conversation is its recipient's active one, to which Memorize adds if only the recipient
    /// is given.
    pub async fn is_active(&self, state: &Conversation) -> Result<bool> {
        self.is_active_within(Duration::ZERO, state).await
    }

    /// Like [`Self::is_active`], but may miss what other processes have committed within `max_staleness`.
    async fn is_active_within(&self, max_staleness: Duration, state: &Conversation) -> Result<bool> {
        let identity = &state.head.identity;
        let active = self.active_within(max_staleness, &RecipientKey::of(identity)).await?;
        Ok(active.as_ref() == Some(&identity.key.id))
    }

    /// Lists the conversations of a recipient, or of the caller's whole namespace.
    pub async fn list_conversations(
        &self,
        caller: &Caller,
        list: ListConversations,
    ) -> Result<ConversationPage> {
        let (now, timeouts) = (self.moment(), self.defaults.timeouts);
        let wanted = |head: &Head| list.status.is_none_or(|status| head.status(now, timeouts) == status);
        let of = match list.recipient.clone() {
            Some(recipient) => ListOf::Recipient(caller.recipient(recipient)),
            None => ListOf::Namespace(caller.namespace.clone()),
        };
        let (id_prefix, order, limit) = (list.id_prefix.clone(), list.order, HEADS.min(list.limit + 1));
        let mut page = List { of, id_prefix, order, after: list.after.clone(), limit };
        let mut heads = Vec::<Head>::new();
        let mut room = PageRoom::new(list.limit, 0);
        let next = 'page: loop {
            let found = self.store.list(page.clone()).await?;
            let Some(last) = found.last() else { break None };
            page.after = Some(order.place(last));
            for head in found.into_iter().filter(wanted) {
                if !room.takes(head.answer_bytes()) {
                    break 'page heads.last().map(|head| order.place(head));
                }
                heads.push(head);
            }
        };
        let heads = self.with_active(caller, heads).await?;
        let count = heads.len();
        self.events.push(Event::wide(Operation::ListConversations, caller, list.recipient, count));
        Ok(ConversationPage { heads, next })
    }

    /// Returns the keys of all conversations of a recipient, the newest start first.
    pub(crate) async fn keys_of(&self, recipient: &RecipientKey) -> Result<Vec<ConversationKey>> {
        Ok(self.store.newest_keys(recipient, ALL).await?)
    }

    /// Pairs each head with true if it is its recipient's active conversation.
    async fn with_active(&self, caller: &Caller, heads: Vec<Head>) -> Result<Vec<(Head, bool)>> {
        let (mut active, mut listed) = (HashMap::new(), Vec::with_capacity(heads.len()));
        for head in heads {
            let recipient = head.identity.recipient.clone();
            if !active.contains_key(&recipient) {
                active.insert(
                    recipient.clone(),
                    self.store.active(&caller.recipient(recipient.clone())).await?,
                );
            }
            let is_active = active[&recipient].as_ref() == Some(&head.identity.key.id);
            listed.push((head, is_active));
        }
        Ok(listed)
    }

    /// Removes a conversation and everything stored in it. Returns the number of utterances removed.
    pub async fn delete_conversation(
        self: &Arc<Self>,
        caller: &Caller,
        id: ConversationId,
        expected: Option<Revision>,
    ) -> Result<u64> {
        let key = caller.key(id.clone());
        let missing = Address { conversation: Some(id), ..Address::default() };
        let removed =
            self.remove(&key, Operation::DeleteConversation, move |state| state.expect(expected)).await?;
        Ok(removed.ok_or_else(|| missing.not_found())?.head.stored)
    }
}
