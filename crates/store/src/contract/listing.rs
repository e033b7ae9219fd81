//! Lists of conversations.

use crate::RecipientKey;
use utterd_domain::{ConversationId, ConversationKey, Head, Namespace, RecipientId, Timestamp};

/// A page of a list of conversations.
#[derive(Clone, Debug)]
pub struct List {
    /// The owner of the conversations.
    pub of: ListOf,
    /// The prefix of their ids; an empty one matches all.
    pub id_prefix: Box<str>,
    /// Their order.
    pub order: ListOrder,
    /// The place of the last conversation of the previous page.
    pub after: Option<ListedAt>,
    /// The maximum number of entries.
    pub limit: usize,
}

impl List {
    /// A recipient's newest conversations, the newest start first.
    pub fn newest(recipient: &RecipientKey, limit: usize) -> Self {
        let of = ListOf::Recipient(recipient.clone());
        Self { of, id_prefix: "".into(), order: ListOrder::NEWEST_START, after: None, limit }
    }
}

/// The owner of the listed conversations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ListOf {
    /// All recipients of a namespace.
    Namespace(Namespace),
    /// One recipient.
    Recipient(RecipientKey),
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListOrder {
    /// By the time of the last change; if false, by the time of the start. Equal times are ordered by id.
    pub by_update: bool,
    /// The latest time first, and for equal times the greatest id first.
    pub newest_first: bool,
}

/// A conversation's place in a list: the time that orders it, and its id.
pub type ListedAt = (Timestamp, ConversationId);

impl ListOrder {
    /// By start, the newest first.
    pub const NEWEST_START: Self = Self { by_update: false, newest_first: true };

    /// The place of a conversation.
    pub fn place(self, head: &Head) -> ListedAt {
        let time = if self.by_update { head.update_time } else { head.identity.start_time };
        (time, head.identity.key.id.clone())
    }

    /// Whether `place` comes behind `other`.
    pub fn is_behind(self, place: &ListedAt, other: &ListedAt) -> bool {
        if self.newest_first { place < other } else { place > other }
    }
}

impl ListOf {
    /// The namespace of the conversations.
    pub fn namespace(&self) -> &Namespace {
        match self {
            Self::Namespace(namespace) => namespace,
            Self::Recipient(recipient) => &recipient.namespace,
        }
    }

    /// Whether the list includes the conversations of a recipient.
    pub fn has(&self, recipient: &RecipientId) -> bool {
        match self {
            Self::Namespace(_) => true,
            Self::Recipient(key) => key.id == *recipient,
        }
    }

    /// The key of one of the conversations.
    pub fn key(&self, id: ConversationId) -> ConversationKey {
        ConversationKey { namespace: self.namespace().clone(), id }
    }
}
