//! The store contract.

mod begin;
mod commit;
mod derived;
mod error;
mod listing;
mod quotas;
mod sharing;
mod upkeep;

use std::{collections::HashMap, sync::Arc};

use utterd_domain::{
    ChangeId, Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance,
    state::StateValue,
};

pub use async_trait::async_trait;
pub use begin::{Begin, Begun, Newer, StateOf};
pub use commit::{
    Changes, Commit, Outcome, OutcomeKey, PointerWrite, RecipientKey, Reference, Traced, Write,
};
pub use derived::{Derived, DerivedBlock, DerivedBytes, DerivedData};
pub use error::{CommitError, Conflict, Result, StoreError};
pub use futures::{future::BoxFuture, stream::BoxStream};
pub use listing::{List, ListOf, ListOrder, ListedAt};
pub use quotas::{OverQuota, Quota, Quotas};
pub use sharing::{Claim, Hint, Sharing, TracePage, TracePlace, WorkerId};
pub use upkeep::{EachRecord, Upkeep};

/// A backend that stores conversations.
///
/// The optional abilities of a backend have traits of their own, whose methods all have defaults: [`Sharing`]
/// by several processes, [`DerivedData`], and [`Upkeep`]. Implementations are marked `#[async_trait]`, which is
/// exported next to this trait.
///
/// For all methods:
/// - A key includes its namespace; nothing in one namespace is ever visible in another.
/// - A conversation that holds a recipient's own state ([`ConversationId::is_of_state`]) is in no list, and
///   does not count as a conversation for a quota; its bytes do count. Such a conversation never ends,
///   expires, or waits for a model.
/// - A read sees every commit whose future has returned `Ok`.
/// - A future can be dropped before it completes; its commit then takes effect wholly or not at all.
/// - No method panics because of what the disk or the network returns; it returns [`StoreError`]. A method that panics
///   because of a fault in its code ends that call only: the store must still be usable. A commit that panics took
///   effect wholly, or never will, as if its answer were lost.
#[async_trait]
pub trait Store: Sharing + DerivedData + Upkeep {
    /// What this backend can do. Never changes.
    fn capabilities(&self) -> Capabilities;

    /// Returns the conversation, with its window, its summary and its compactions.
    ///
    /// - `None` if the conversation does not exist, or was deleted.
    async fn load(&self, key: &ConversationKey) -> Result<Option<Arc<Conversation>>>;

    /// Like [`Self::load`], unless the conversation is still in the state that `known` names.
    ///
    /// - By default, loads the conversation and compares the states. A backend whose loads are expensive
    ///   avoids the load if the answer is [`Newer::Known`].
    async fn load_if_newer(&self, key: &ConversationKey, known: Option<ChangeId>) -> Result<Newer> {
        Ok(Newer::than(known, self.load(key).await?))
    }

    /// Returns what a call needs before it is decided, in one round trip: see [`Begin`] and [`Begun`].
    ///
    /// - All parts are from one moment, or each is from some moment after the call.
    /// - If the caller wants the state of the recipient's active conversation, it gets the state of the
    ///   conversation in [`Begun::active`].
    /// - By default, calls [`Self::active`], [`Self::outcome`] and [`Self::load_if_newer`].
    async fn begin(&self, begin: Begin<'_>) -> Result<Begun> {
        let active = match begin.recipient {
            Some(recipient) => self.active(recipient).await?,
            None => None,
        };
        let outcome = match begin.outcome {
            Some((key, oldest)) => self.outcome(key, oldest).await?,
            None => None,
        };
        let state = match begin.wanted(active.as_ref()) {
            Ok((key, known)) => self.load_if_newer(&key, known).await?,
            Err(answer) => answer,
        };
        Ok(Begun { active, outcome, state })
    }

    /// Applies all writes, pointers and outcomes of `commit`, or none.
    ///
    /// - Commits of one conversation take effect in the order in which this method was *called*, no matter
    ///   when their futures are polled.
    /// - [`CommitError::Conflict`], without effect, if a conversation is not in the state that a write
    ///   applies to, a pointer is not as expected, or an outcome with the same key already exists; the error
    ///   says which.
    /// - The state that a write applies to is identified by [`Head::change`] alone: a [`ChangeId`] that no
    ///   other state ever had. So a commit never overwrites a change of another process.
    /// - [`CommitError::Unknown`] if the answer was lost: the commit took effect wholly, or never will.
    ///   [`Self::is_committed`] tells which; for a commit without writes, its outcome does.
    /// - The changes of a write are applied in order: a later one can erase, drop or rewrite what an earlier
    ///   one appended.
    /// - `Ok` only once everything is as durable as [`Capabilities::durable`] says.
    /// - Utterances that a change erases or drops are absent from every later read. After [`Store::scrub`],
    ///   the bytes of erased utterances are unreadable, and so are the bytes of everything else that was
    ///   removed by a change that raised [`Head::erased_at`].
    /// - Once a recipient's last conversation and its pointer are removed, nothing keyed by recipient
    ///   remains. Outcomes are keyed by request, and age out.
    /// - A fork comes with [`Change::inherits`](utterd_domain::Change::inherits) and the trunks of its head:
    ///   the utterances that it shares are not written again, and the cost of the commit does not depend on
    ///   the length of the history.
    /// - A change writes to its own conversation only: other conversations that share the utterances do not
    ///   see them change.
    /// - Utterances that a change drops, and those of a deleted conversation, stay as long as another
    ///   conversation reads them.
    /// - Utterances that a change returns are in the window, and no longer in the archive.
    /// - Compactions are stored as a change writes them, until a later one removes them or the conversation
    ///   is deleted.
    /// - State values are stored the same way: a value that a change sets replaces the previous value of that
    ///   name, and values that the change does not name are not written again.
    /// - Utterances that a change erases are removed for all conversations that share them: the commit
    ///   changes each of these conversations, and lists the utterances in
    ///   [`Change::erased`](utterd_domain::Change::erased) of each.
    /// - [`StoreError::Full`] or [`StoreError::DiskFull`], without effect, if there is no room for what the
    ///   commit adds.
    /// - [`StoreError::OverQuota`], without effect, if the commit would take a namespace beyond the quotas of
    ///   [`Upkeep::set_quotas`].
    /// - [`StoreError::Busy`], without effect, if too much is already waiting to be written.
    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>>;

    /// Whether the commit that brought the conversation to the state `change` took effect, even if others
    /// followed.
    ///
    /// - Remembered for at least a day.
    /// - By default, checks only the present state. That is correct if no other process writes to the store,
    ///   as then no other commit can have followed.
    async fn is_committed(&self, key: &ConversationKey, change: ChangeId) -> Result<bool> {
        let state = self.load(key).await?;
        Ok(state.is_some_and(|state| state.head.change == change))
    }

    /// Returns the archived utterances among `wanted`, ascending.
    ///
    /// - Utterances that are not archived are left out, as is everything of an unknown conversation.
    /// - The caller limits how much it asks for.
    async fn archived(&self, key: &ConversationKey, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>>;

    /// Returns the sequences of the archived utterances to which clients gave these ids.
    ///
    /// - Unknown ids are left out.
    async fn archived_ids(
        &self,
        key: &ConversationKey,
        ids: &[Box<str>],
    ) -> Result<HashMap<Box<str>, Sequence>>;

    /// Returns the conversation's state values with these names, or all of them if `names` is empty. Ordered
    /// by name.
    ///
    /// - All are from one moment.
    /// - Unknown names are left out, as is everything of an unknown conversation.
    async fn state(&self, key: &ConversationKey, names: &[Box<str>]) -> Result<Vec<Arc<StateValue>>>;

    /// Returns the other conversations whose trunks or branch are among the lineages of this one, each with the
    /// last sequence that both share; by key.
    ///
    /// - These are its forks, its parent, the other forks of the parent, and conversations with copies of
    ///   utterances that were said in any of them ([`Head::copies`]). The last shared sequence of a
    ///   conversation that has only copies is 0. Deleted conversations are left out: what they shared with
    ///   others stays shared, and copies stay copies.
    /// - A branch that was never frozen has no other readers, but other conversations can have copies of its
    ///   utterances.
    /// - The other conversation may have dropped or changed an utterance whose sequence is shared.
    /// - Empty for an unknown conversation, and for one that was never forked or imported from an export.
    /// - A fork gives its parent a new state ([`Head::change`]) without a new revision. So the result is
    ///   valid for a commit that changes all of these conversations from the states that they had.
    async fn sharing(&self, key: &ConversationKey) -> Result<Vec<(ConversationKey, Sequence)>>;

    /// Returns the heads of these conversations, without those that do not exist, in any order.
    ///
    /// - Each head is the last one committed when it was read.
    /// - The caller limits how much it asks for.
    /// - By default, loads each conversation. A backend can read the heads alone.
    async fn heads(&self, keys: &[ConversationKey]) -> Result<Vec<Head>> {
        let mut heads = Vec::new();
        for key in keys {
            heads.extend(self.load(key).await?.map(|state| state.head.clone()));
        }
        Ok(heads)
    }

    /// Returns the recipient's active conversation.
    async fn active(&self, recipient: &RecipientKey) -> Result<Option<ConversationId>>;

    /// Returns the heads of a page of a list of conversations, in the list's order.
    ///
    /// - Starts behind `list.after`, whether or not there is still a conversation at that place.
    /// - Each head is the last one committed when it was read. So the pages contain every conversation that
    ///   does not move exactly once. In a list by update, a conversation that is changed meanwhile moves: to
    ///   the end, if the oldest come first.
    /// - Reads indexes that commits maintain, never every head: one by start, one by update with a precision
    ///   of [`UPDATE_SPAN`](utterd_domain::limits::UPDATE_SPAN), so that few commits change it, and one by
    ///   id.
    async fn list(&self, list: List) -> Result<Vec<Head>>;

    /// Returns the keys of a recipient's newest conversations, the newest start first: for callers that already have
    /// most of the states.
    async fn newest_keys(&self, recipient: &RecipientKey, limit: usize) -> Result<Vec<ConversationKey>> {
        let heads = self.list(List::newest(recipient, limit)).await?;
        Ok(heads.into_iter().map(|head| head.identity.key.clone()).collect())
    }

    /// Returns the recipient's ended conversations except the `keep` that ended last: at most `limit`, by
    /// ascending end time, then id.
    ///
    /// - Reads an index that commits maintain.
    async fn ended_beyond(
        &self,
        recipient: &RecipientKey,
        keep: usize,
        limit: usize,
    ) -> Result<Vec<ConversationId>>;

    /// Returns the outcome stored under `key`; `None` if it is older than `oldest`.
    async fn outcome(&self, key: &OutcomeKey, oldest: Timestamp) -> Result<Option<Arc<Outcome>>>;

    /// Returns at most `limit` entries that are due at `now`, the longest due first.
    ///
    /// - Reads an index that commits maintain, never scans.
    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Due>>;

    /// Returns at most `limit` conversations with a segment or a closing that waits for a model
    /// ([`Conversation::awaits_since`]), each with the time since which the first of them has been waiting.
    ///
    /// - Starts behind `after`, whether or not that conversation still waits.
    /// - By ascending time, and for equal times within a namespace by id.
    /// - An ended conversation waits like any other.
    /// - Reads an index that commits maintain, never scans.
    async fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, ConversationKey)>>;

    /// Removes the outcomes older than `oldest`; returns their number.
    async fn remove_outcomes(&self, oldest: Timestamp) -> Result<u64>;

    /// Makes the bytes of everything erased and deleted so far unreadable wherever the backend writes.
    ///
    /// - Costs almost nothing if nothing was erased or deleted since the last scrub.
    async fn scrub(&self) -> Result<()>;
}

/// What a backend can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The backend's name in configuration and in reports.
    pub name: &'static str,
    /// A commit that was answered survives the end of the process.
    pub durable: bool,
    /// Several processes can use one store at the same time: a result can be outdated a moment later, so no
    /// call is answered from a cache alone. The defaults of [`Store::is_committed`], [`Sharing::claim`] and
    /// [`Sharing::hints`] are then insufficient.
    pub shared: bool,
    /// The returned states are those that the backend keeps in this process's memory: caching them takes no
    /// extra room, so the cache is not bounded.
    pub resident: bool,
    /// Data derived from conversations is stored: see [`DerivedData::keep_derived`]. If false, callers need
    /// not serialize such data.
    pub derived: bool,
    /// The events of commits are stored with them, for all processes: see [`Commit::traced`] and
    /// [`Sharing::trace`]. If false, callers need not serialize them.
    pub traced: bool,
}

/// Work that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// The conversation should be removed.
    Expired(ConversationKey),
}
