//! The store contract.

use std::{collections::HashMap, future::Future, pin::Pin, sync::Arc};

use crate::domain::{
    Change, Conversation, ConversationId, ConversationKey, Head, Namespace, Ranges, RecipientId, RequestId,
    Revision, Sequence, Timestamp, Utterance, capacity::Capacity,
};

/// A future of a store's.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A backend that keeps conversations.
///
/// What holds for all methods:
/// - A key holds its namespace; nothing of one namespace is ever seen under another.
/// - A read sees every commit whose future has answered `Ok`.
/// - A future may be dropped before it answers; a commit then takes effect or not, wholly.
/// - No method panics on what the disk or the network brings; it answers [`StoreError`].
pub trait Store: Send + Sync + 'static {
    /// What this backend can do. Never changes.
    fn capabilities(&self) -> Capabilities;

    /// The conversation, with its window, its summary and its compactions.
    ///
    /// - `None` when there is none, or when it was deleted.
    fn load<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Option<Arc<Conversation>>, StoreError>>;

    /// Makes all writes, pointers and outcomes of `commit` effective, or none.
    ///
    /// - Commits of one conversation take effect in the order in which this method was
    ///   *called*, whenever their futures are polled.
    /// - [`CommitError::Conflict`] and no effect, when a conversation is not in the state that a
    ///   write applies to, when a pointer is not as expected, or when an outcome of the
    ///   same key is kept already.
    /// - `Ok` only once everything is as durable as [`Capabilities::durable`] says.
    /// - Utterances that a change erases or drops are gone from every later read; the bytes of
    ///   those erased are gone after [`Store::scrub`], and so are those of whatever else went with a change
    ///   that raised [`Head::erased_at`].
    /// - With a recipient's last conversation and its pointer nothing is left that is kept by recipient.
    ///   Outcomes are kept by request, and age out.
    /// - A fork comes with [`Change::inherits`] and the trunks of its head: what it shares is not
    ///   written again, and the commit costs the same whatever was said before.
    /// - What a change of a conversation writes is its own: utterances that it shares are not seen to
    ///   change by those that it shares them with.
    /// - Utterances that a change drops, and those of a deleted conversation, stay as long as another
    ///   conversation reads them.
    /// - Utterances that a change returns are in the window, and in the archive no more.
    /// - Compactions are kept as the change writes them, until it removes them or the conversation goes.
    /// - Utterances that a change erases are gone for all that share them: the commit changes each
    ///   of these conversations, and [`Change::erased`] of each tells it.
    /// - [`StoreError::Full`] and no effect when there is no room for what the commit adds.
    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>>;

    /// The archived utterances among `wanted`, ascending.
    ///
    /// - Those that are not archived are left out; so is everything of an unknown conversation.
    /// - The caller bounds what it asks for.
    fn archived<'a>(
        &'a self,
        key: &'a ConversationKey,
        wanted: &'a Ranges,
    ) -> BoxFuture<'a, Result<Vec<Arc<Utterance>>, StoreError>>;

    /// The sequences of the archived utterances to which clients gave these ids.
    ///
    /// - An id that names none is left out.
    fn archived_ids<'a>(
        &'a self,
        key: &'a ConversationKey,
        ids: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<HashMap<Box<str>, Sequence>, StoreError>>;

    /// The other conversations that read a lineage of this one's, each with the last sequence that
    /// both share; by key.
    ///
    /// - They are its forks, what it was forked from, and the other forks of that, as far as each is
    ///   still there; a deleted one is left out and what it shared with others stays shared.
    /// - That an utterance is among those shared does not tell that the other still stores it, nor
    ///   that it has not changed it since.
    /// - None of a conversation that was never forked, or of an unknown one.
    /// - A fork changes its parent's revision: what is answered here holds for a commit that
    ///   changes all of these conversations at the revisions that they were at.
    fn sharing<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Vec<(ConversationKey, Sequence)>, StoreError>>;

    /// The recipient's active conversation.
    fn active<'a>(
        &'a self,
        recipient: &'a RecipientKey,
    ) -> BoxFuture<'a, Result<Option<ConversationId>, StoreError>>;

    /// The heads of a recipient's conversations, by descending start time, then id.
    ///
    /// - Starts behind `page.after`, whether that conversation still exists or not.
    fn conversations<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        page: Page,
    ) -> BoxFuture<'a, Result<Vec<Head>, StoreError>>;

    /// The recipient's ended conversations but for the `keep` that ended last: at most `limit`, by
    /// ascending time of their ends, then id.
    ///
    /// - Answered from an index that commits keep.
    fn ended_beyond<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        keep: usize,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationId>, StoreError>>;

    /// The outcome kept under `key`; `None` when it is older than `oldest`.
    fn outcome<'a>(
        &'a self,
        key: &'a OutcomeKey,
        oldest: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Arc<Outcome>>, StoreError>>;

    /// What is due at `now`, at most `limit`, the longest due first.
    ///
    /// - Answered from an index that commits keep, never by a scan.
    fn due(&self, now: Timestamp, limit: usize) -> BoxFuture<'_, Result<Vec<Due>, StoreError>>;

    /// The conversations of which a segment waits for a model
    /// ([`Summary::awaits_since`](crate::domain::segment::Summary::awaits_since)), each with the time since
    /// which its first does; at most `limit`.
    ///
    /// - Starts behind `after`, whether that conversation still waits or not.
    /// - By ascending time; of one time, those of a namespace by id.
    /// - One that has ended waits like any other.
    /// - Answered from an index that commits keep, never by a scan.
    fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(Timestamp, ConversationKey)>, StoreError>>;

    /// Removes the outcomes older than `oldest`; answers how many.
    fn remove_outcomes(&self, oldest: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Makes the bytes of everything erased and deleted so far unreadable in whatever the
    /// backend writes to.
    ///
    /// - Costs next to nothing when nothing was erased or deleted since the last time.
    fn scrub(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Waits until the backend takes no more writes, and tells why.
    ///
    /// - A backend to which this cannot happen never answers.
    fn failed(&self) -> BoxFuture<'static, StoreError> {
        Box::pin(std::future::pending())
    }
}

/// What a backend can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The backend's name in configuration and in reports.
    pub name: &'static str,
    /// A commit that was answered survives the end of the process.
    pub durable: bool,
    /// Several processes may use one store at once.
    pub shared: bool,
}

/// Names a recipient among all namespaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecipientKey {
    /// The tenant.
    pub namespace: Namespace,
    /// The recipient.
    pub id: RecipientId,
}

/// One atomic step of a store.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// Changes of conversations, at most one for each.
    pub writes: Vec<Write>,
    /// Changes of recipients' active conversations.
    pub pointers: Vec<PointerWrite>,
    /// Outcomes to keep.
    pub outcomes: Vec<(OutcomeKey, Arc<Outcome>)>,
}

/// A change of one conversation.
#[derive(Clone, Debug)]
pub enum Write {
    /// It changes, or is created.
    Change {
        /// The state that it must be in, which its lineage and its revision tell; `None` when it
        /// must not exist.
        before: Option<Arc<Conversation>>,
        /// What happened: with the heads before and after, all that a backend has to persist.
        change: Arc<Change>,
        /// The state after it: its head, and the whole for a backend that keeps states in memory.
        after: Arc<Conversation>,
    },
    /// It is removed.
    Delete {
        /// The state that it must be in, which its lineage and its revision tell.
        before: Arc<Conversation>,
    },
}

impl Write {
    /// The conversation.
    pub fn key(&self) -> &ConversationKey {
        match self {
            Self::Change { after, .. } => after.key(),
            Self::Delete { before } => before.key(),
        }
    }

    /// The state that the conversation must be in; `None` when it must not exist.
    pub fn before(&self) -> Option<&Arc<Conversation>> {
        match self {
            Self::Change { before, .. } => before.as_ref(),
            Self::Delete { before } => Some(before),
        }
    }

    /// The state that it is in after; `None` when it is removed.
    pub fn after(&self) -> Option<&Arc<Conversation>> {
        match self {
            Self::Change { after, .. } => Some(after),
            Self::Delete { .. } => None,
        }
    }
}

/// A change of a recipient's active conversation.
#[derive(Clone, Debug)]
pub struct PointerWrite {
    /// The recipient.
    pub recipient: RecipientKey,
    /// What must be active before.
    pub before: Option<ConversationId>,
    /// What is active after.
    pub after: Option<ConversationId>,
}

/// A place in a list of conversations.
#[derive(Clone, Debug)]
pub struct Page {
    /// The last conversation of the page before.
    pub after: Option<(Timestamp, ConversationId)>,
    /// The most entries.
    pub limit: usize,
}

/// Names one attempt of a mutating call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutcomeKey {
    /// The tenant.
    pub namespace: Namespace,
    /// The call's name, such as `Memorize`.
    pub rpc: &'static str,
    /// The id that the caller gave.
    pub request: RequestId,
}

/// What a mutating call came to: references and numbers, never text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// A hash of the request's body.
    pub body: u128,
    /// When the call took effect.
    pub time: Timestamp,
    /// The conversation.
    pub conversation: ConversationId,
    /// Its revision after the call.
    pub revision: Revision,
    /// Whether it started with the call.
    pub started: bool,
    /// The conversation that ended for it to start.
    pub ended: Option<ConversationId>,
    /// Utterances stored.
    pub memorized: Ranges,
    /// Utterances that left the window.
    pub evicted: Ranges,
    /// Utterances forgotten, softly or hard.
    pub forgotten: Ranges,
    /// Utterances restored.
    pub restored: Ranges,
    /// The utterance that the call named.
    pub target: Option<Sequence>,
    /// Segments rebuilt.
    pub rebuilt_segments: u32,
    /// The window's numbers after the call.
    pub capacity: Capacity,
}

/// Work whose time has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// The conversation is to be removed.
    Expired(ConversationKey),
}

/// A backend that fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no room.
    #[error(
        "the store is full: {used} of {limit} bytes are taken and this write adds {added}; forget or delete something, or raise memory_limit"
    )]
    Full {
        /// Bytes that are taken.
        used: u64,
        /// Bytes that may be taken.
        limit: u64,
        /// Bytes that the commit would add.
        added: u64,
    },
    /// The disk or the network failed.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
}

/// A commit without effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A precondition does not hold; the state has to be loaded anew.
    #[error("a precondition of the commit does not hold")]
    Conflict,
    /// The backend failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
