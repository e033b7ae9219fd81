//! The store contract.

use std::{collections::HashMap, future::Future, pin::Pin, sync::Arc};

use smallvec::SmallVec;

use crate::domain::{
    Change, ChangeId, Conversation, ConversationId, ConversationKey, Head, Namespace, Ranges, RecipientId,
    RequestId, Revision, Sequence, Timestamp, Utterance, capacity::Capacity,
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

    /// The same, unless the conversation is still in the state that `known` names.
    ///
    /// - By default loads it and compares. A backend to which a load is dear answers
    ///   [`Newer::Known`] without one.
    fn load_if_newer<'a>(
        &'a self,
        key: &'a ConversationKey,
        known: Option<ChangeId>,
    ) -> BoxFuture<'a, Result<Newer, StoreError>> {
        Box::pin(async move { Ok(Newer::than(known, self.load(key).await?)) })
    }

    /// What a call has to know before it is decided, in one round trip: see [`Begin`] and [`Begun`].
    ///
    /// - All of it is as it stood at one moment, or each part at a moment of its own after the call.
    /// - By default asks [`Self::active`], [`Self::outcome`] and [`Self::load_if_newer`].
    fn begin<'a>(&'a self, begin: Begin<'a>) -> BoxFuture<'a, Result<Begun, StoreError>> {
        Box::pin(async move {
            let active = match begin.recipient {
                Some(recipient) => self.active(recipient).await?,
                None => None,
            };
            let outcome = match begin.outcome {
                Some((key, oldest)) => self.outcome(key, oldest).await?,
                None => None,
            };
            let state = match begin.state {
                Some((key, known)) => self.load_if_newer(key, known).await?,
                None => Newer::Known,
            };
            Ok(Begun { active, outcome, state })
        })
    }

    /// Makes all writes, pointers and outcomes of `commit` effective, or none.
    ///
    /// - Commits of one conversation take effect in the order in which this method was
    ///   *called*, whenever their futures are polled.
    /// - [`CommitError::Conflict`] and no effect, when a conversation is not in the state that a
    ///   write applies to, when a pointer is not as expected, or when an outcome of the
    ///   same key is kept already; it says which.
    /// - The state that a write applies to is told by [`Head::change`] alone: by a [`ChangeId`] that no other
    ///   state ever had. So no change of another process is overwritten.
    /// - [`CommitError::Unknown`] when the answer was lost: the commit took effect, wholly, or never will.
    ///   [`Self::is_committed`] tells which.
    /// - The changes of a write are made one after another: what a later one erases, drops or rewrites may
    ///   have been appended by an earlier one.
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

    /// Whether the commit that brought the conversation to the state `change` took effect, be it that others
    /// followed.
    ///
    /// - Told at least for a day.
    /// - By default looks at the present state alone: right where no one else can have followed, which is
    ///   where no other process writes to the store.
    fn is_committed<'a>(
        &'a self,
        key: &'a ConversationKey,
        change: ChangeId,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let state = self.load(key).await?;
            Ok(state.is_some_and(|state| state.head.change == change))
        })
    }

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
    /// Several processes may use one store at once: what was read may be old a moment later, so nothing is
    /// answered from a cache alone.
    pub shared: bool,
    /// States that are answered are those that the backend keeps in this process's memory: a cache of them
    /// takes no room of its own, and is not bounded.
    pub resident: bool,
}

/// What a call asks for before it is decided.
#[derive(Clone, Copy, Debug, Default)]
pub struct Begin<'a> {
    /// Whose active conversation is wanted.
    pub recipient: Option<&'a RecipientKey>,
    /// The outcome of an earlier attempt, unless it is older.
    pub outcome: Option<(&'a OutcomeKey, Timestamp)>,
    /// The state of a conversation, unless it is the one known.
    pub state: Option<(&'a ConversationKey, Option<ChangeId>)>,
}

/// The answer to a [`Begin`].
#[derive(Clone, Debug)]
pub struct Begun {
    /// The recipient's active conversation.
    pub active: Option<ConversationId>,
    /// The earlier outcome.
    pub outcome: Option<Arc<Outcome>>,
    /// The state; [`Newer::Known`] too when none was asked for.
    pub state: Newer,
}

/// A state beside one that is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Newer {
    /// The conversation is in the state that is known.
    Known,
    /// It does not exist.
    Absent,
    /// It is in this one.
    State(Arc<Conversation>),
}

impl Newer {
    /// What `state` is beside the one that `known` names.
    pub fn than(known: Option<ChangeId>, state: Option<Arc<Conversation>>) -> Self {
        match state {
            None => Self::Absent,
            Some(state) if Some(state.head.change) == known => Self::Known,
            Some(state) => Self::State(state),
        }
    }
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
        /// The state that it must be in, which [`Head::change`] tells; `None` when it must not exist.
        before: Option<Arc<Conversation>>,
        /// What happened, in its order: with the heads before and after, all that a backend has to persist.
        changes: Changes,
        /// The state after it: its head, and the whole for a backend that keeps states in memory.
        after: Arc<Conversation>,
    },
    /// It is removed.
    Delete {
        /// The state that it must be in, which [`Head::change`] tells.
        before: Arc<Conversation>,
    },
}

/// The changes that one commit makes to a conversation: mostly one.
pub type Changes = SmallVec<[Arc<Change>; 1]>;

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

/// A change of a recipient's active conversation; or, where it stays, the demand that it does.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// A commit that was not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A precondition does not hold, and nothing took effect: what was decided has to be decided anew.
    #[error("a precondition of the commit does not hold: {0}")]
    Conflict(Conflict),
    /// The answer was lost: it is not known whether the commit took effect.
    #[error("it is not known whether the write took effect: {0}")]
    Unknown(String),
    /// The backend failed, and nothing took effect.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The precondition that does not hold; where several do not, one of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The conversation is in another state, or does not exist, or exists already.
    #[error("conversation {} is in another state", .0.id)]
    State(ConversationKey),
    /// Another conversation is the recipient's active one.
    #[error("another conversation of recipient {} is active", .0.id)]
    Pointer(RecipientKey),
    /// An outcome is kept for the attempt.
    #[error("an outcome of request {} is kept", .0.request)]
    Outcome(OutcomeKey),
}

impl From<Conflict> for CommitError {
    fn from(conflict: Conflict) -> Self {
        Self::Conflict(conflict)
    }
}
