//! The store contract.

mod begin;
mod commit;
mod derived;
mod error;
mod listing;
mod quotas;
mod sharing;

use std::{
    collections::HashMap,
    future::{Future, ready},
    ops::RangeInclusive,
    pin::Pin,
    sync::Arc,
};

use futures::{Stream, StreamExt as _, stream};

use crate::domain::{
    Block, ChangeId, Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp,
    Utterance, state::StateValue,
};

pub use begin::{Begin, Begun, Newer, StateOf};
pub use commit::{Changes, Commit, Outcome, OutcomeKey, PointerWrite, RecipientKey, Write};
pub use derived::{Derived, DerivedBlock, DerivedBytes};
pub use error::{BackupRefused, CommitError, Conflict, StoreError};
pub use listing::{List, ListOf, ListOrder, ListedAt};
pub use quotas::{OverQuota, Quota, Quotas};
pub use sharing::{Claim, Hint, WorkerId};

/// A future of a store's.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A stream of a store's.
pub type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;

/// A backend that keeps conversations.
///
/// What holds for all methods:
/// - A key holds its namespace; nothing of one namespace is ever seen under another.
/// - A conversation that keeps a recipient's own state ([`ConversationId::is_of_state`]) is in no list, and none that
///   counts for a quota; its bytes do. It never ends, expires, or waits for a model.
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
    /// - A state of the recipient's active conversation is that of the one which is answered as active.
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
            let state = match begin.wanted(active.as_ref()) {
                Ok((key, known)) => self.load_if_newer(&key, known).await?,
                Err(answer) => answer,
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
    ///   [`Self::is_committed`] tells which; of one that writes nothing, the outcome that it keeps.
    /// - The changes of a write are made one after another: what a later one erases, drops or rewrites may
    ///   have been appended by an earlier one.
    /// - `Ok` only once everything is as durable as [`Capabilities::durable`] says.
    /// - Utterances that a change erases or drops are gone from every later read; the bytes of
    ///   those erased are gone after [`Store::scrub`], and so are those of whatever else went with a change
    ///   that raised [`Head::erased_at`].
    /// - With a recipient's last conversation and its pointer nothing is left that is kept by recipient.
    ///   Outcomes are kept by request, and age out.
    /// - A fork comes with [`Change::inherits`](crate::domain::Change::inherits) and the trunks of its head: what
    ///   it shares is not written again, and the commit costs the same whatever was said before.
    /// - What a change of a conversation writes is its own: utterances that it shares are not seen to
    ///   change by those that it shares them with.
    /// - Utterances that a change drops, and those of a deleted conversation, stay as long as another
    ///   conversation reads them.
    /// - Utterances that a change returns are in the window, and in the archive no more.
    /// - Compactions are kept as the change writes them, until it removes them or the conversation goes.
    /// - So are values of the state: what a change sets replaces what there was of the name, and what it does not name
    ///   is not written again.
    /// - Utterances that a change erases are gone for all that share them: the commit changes each
    ///   of these conversations, and [`Change::erased`](crate::domain::Change::erased) of each tells it.
    /// - [`StoreError::Full`] or [`StoreError::DiskFull`] and no effect when there is no room for what the commit adds.
    /// - [`StoreError::OverQuota`] and no effect when the commit would take a namespace beyond what
    ///   [`Self::set_quotas`] lets it store.
    /// - [`StoreError::Busy`] and no effect when too much waits to be written already.
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

    /// The values of the conversation's state that have one of these names; all of them where none is named. By name.
    ///
    /// - All are of one moment.
    /// - A name that there is not is left out; so is everything of an unknown conversation.
    fn state<'a>(
        &'a self,
        key: &'a ConversationKey,
        names: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<Vec<Arc<StateValue>>, StoreError>>;

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

    /// The heads of a page of a list of conversations, in its order.
    ///
    /// - Starts behind `list.after`, whether there is still a conversation at that place or not.
    /// - Each is as it was committed last when it was read. So pages give each conversation once that stays where it
    ///   is; one that is changed meanwhile moves in a list by update, to the end of one whose oldest come first.
    /// - Answered from indexes that commits keep, never by a look at every head: one by start, one by update that is
    ///   exact to [`UPDATE_SPAN`](crate::domain::limits::UPDATE_SPAN), so that few commits change it, and one by id.
    fn list(&self, list: List) -> BoxFuture<'_, Result<Vec<Head>, StoreError>>;

    /// The heads of a recipient's conversations, by descending start time, then id.
    ///
    /// - Starts behind `page.after`, whether that conversation still exists or not.
    fn conversations<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        page: Page,
    ) -> BoxFuture<'a, Result<Vec<Head>, StoreError>> {
        self.list(page.of(recipient))
    }

    /// The keys of the same conversations, in the same order: for those who know most of their states already.
    fn conversation_keys<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        page: Page,
    ) -> BoxFuture<'a, Result<Vec<ConversationKey>, StoreError>> {
        Box::pin(async {
            let heads = self.conversations(recipient, page).await?;
            Ok(heads.into_iter().map(|head| head.identity.key.clone()).collect())
        })
    }

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

    /// The conversations of which a segment, or the closing, waits for a model
    /// ([`Conversation::awaits_since`]), each with the time since which its first does; at most `limit`.
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

    /// Claims what waits in a conversation ([`Self::waiting`]) for a worker, for a time; answers whether it has it.
    /// So what costs money and time is done once, however many processes would do it.
    ///
    /// - Refused while another worker has it; of several that claim at once, one has it.
    /// - A claim ends at its time, whatever became of the worker, or is [given up](Self::give_up). The worker that
    ///   has it may claim again, to have it for longer.
    /// - It is no condition of a commit, and keeps nobody from changing the conversation. When it ends before the
    ///   work does, something is paid for twice and nothing is wrong.
    /// - The conversation need not exist. What is kept of a claim may go once it has ended.
    /// - What is cheap, and does no harm when it is done twice, is done without one: the removal of what is due, of
    ///   what has ended and of old outcomes, and a scrub.
    /// - By default granted: right where no other process works on the store.
    fn claim<'a>(&'a self, _claim: Claim<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(ready(Ok(true)))
    }

    /// Ends a worker's claim, if it has it still.
    fn give_up<'a>(
        &'a self,
        _conversation: &'a ConversationKey,
        _worker: WorkerId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }

    /// What is kept of a kind that was derived from these blocks of a conversation's utterances; ascending.
    ///
    /// - Blocks of which nothing is kept are left out, and so is everything of an unknown conversation. What was kept
    ///   by [`Self::keep_derived`] may be lost at any time: it is derived anew then.
    /// - Nothing of an utterance that was erased or edited is in it, from the commit on that did so, which takes out
    ///   the blocks that hold it. A commit that appends, evicts, forgets softly or restores leaves them as they are;
    ///   what it drops may be told of in them, unless they hold nothing else.
    /// - It is never torn, nor another block's.
    /// - A fork has its own. With a conversation goes all that was derived from it.
    /// - The caller bounds what it asks for.
    /// - By default nothing is kept.
    fn derived<'a>(
        &'a self,
        _key: &'a ConversationKey,
        _kind: Derived,
        _blocks: RangeInclusive<Block>,
    ) -> BoxFuture<'a, Result<DerivedBytes, StoreError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    /// Keeps what was derived from a block of a conversation's utterances; answers whether it did.
    ///
    /// - Refused unless the conversation stands, [`Head::erased_at`] of its head is still the one that it was derived
    ///   at, and it has any utterance of the block. So what was derived from a text never comes behind the commit
    ///   that erases it.
    /// - Refused as well while there is much else to write.
    /// - It is no change of the conversation: no other state, no hint, nothing that counts for a quota.
    /// - It replaces what is kept of the kind and the block.
    /// - It is less durable than a commit: a loss of power may take it, whole.
    /// - By default always refused.
    fn keep_derived(&self, _derived: DerivedBlock) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(ready(Ok(false)))
    }

    /// Removes the outcomes older than `oldest`; answers how many.
    fn remove_outcomes(&self, oldest: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Makes the bytes of everything erased and deleted so far unreadable in whatever the
    /// backend writes to.
    ///
    /// - Costs next to nothing when nothing was erased or deleted since the last time.
    fn scrub(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Holds what each namespace stores to `quotas`, from now on; before it is called, nothing is held to any.
    ///
    /// - What a namespace has is told by what is stored, whoever stored it and whenever: its conversations, ended
    ///   ones too, and the [bytes](Head::counted_bytes) that their heads count. What was stored before counts, and
    ///   what is deleted, erased or dropped no longer does with the commit that takes it out.
    /// - A commit is refused for what it adds in all: one that adds nothing of a kind is never refused for that
    ///   kind, however much there is. Of several that come at once, no more are taken than fit.
    /// - A commit that has no effect counts nothing.
    /// - Called before the first commit; later, other quotas may be set. May take as long as a look at each head.
    /// - Where several processes share the store, what all of them have stored counts, and each holds its own
    ///   commits to the quotas that it was given.
    /// - By default refused: a backend that keeps no quotas says so.
    fn set_quotas(&self, _quotas: Quotas) -> Result<(), StoreError> {
        Err(StoreError::Unavailable(format!("the backend {} keeps no quotas", self.capabilities().name)))
    }

    /// Begins a backup: the bytes of a file that holds everything stored, of every namespace, as it is at one moment
    /// between two commits.
    ///
    /// - Every commit that was answered before this call is in it; of one that takes effect meanwhile, all or
    ///   nothing.
    /// - Commits and reads go on.
    /// - Chunks of [`MAX_BACKUP_CHUNK_BYTES`](crate::domain::limits::MAX_BACKUP_CHUNK_BYTES) at most. An error is the
    ///   last item; without one the file is whole when the stream ends.
    /// - One at a time. It ends when the stream is dropped, or with an error when nothing of it is taken for
    ///   [`BACKUP_PATIENCE`](crate::domain::limits::BACKUP_PATIENCE).
    /// - By default refused.
    fn backup(&self) -> Result<BoxStream<'static, Result<Vec<u8>, StoreError>>, BackupRefused> {
        Err(BackupRefused::Unsupported)
    }

    /// Hints of what is changed, by whichever process: a stream of its own for each call.
    ///
    /// - It starts with [`Hint::Missed`] once it hears: what takes effect from then on is told.
    /// - A commit is told when it has taken effect, by a [`Hint::Changed`] for each conversation that it changes,
    ///   creates or removes, and then by a [`Hint::Active`] for each recipient whose pointer it moves. A hint may
    ///   come late, and more than once.
    /// - Hints that are lost, be it that the reader is slow or a connection breaks, are told by a
    ///   [`Hint::Missed`] once it hears again. No commit waits for a reader.
    /// - It does not end as long as the store is there.
    /// - By default it never yields: right where no other process writes to the store.
    fn hints(&self) -> BoxStream<'static, Hint> {
        Box::pin(stream::pending())
    }

    /// Whether commits wait for long, and more wait than the backend writes at once: what would add to them had
    /// better be refused.
    ///
    /// - Cheap: it is asked before each write. Commits are taken nevertheless.
    /// - By default it never is.
    fn is_behind(&self) -> bool {
        false
    }

    /// Whether writes are taken: how it is, and then each change; an error tells why none are.
    ///
    /// - A reader who is slow may miss what has changed again.
    /// - By default they always are.
    fn condition(&self) -> BoxStream<'static, Result<(), StoreError>> {
        Box::pin(stream::once(ready(Ok(()))).chain(stream::pending()))
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
    /// answered from a cache alone. What [`Store::is_committed`], [`Store::claim`] and [`Store::hints`] do
    /// by default is not enough then.
    pub shared: bool,
    /// States that are answered are those that the backend keeps in this process's memory: a cache of them
    /// takes no room of its own, and is not bounded.
    pub resident: bool,
    /// What is derived from conversations is kept: see [`Store::keep_derived`]. Without it, nothing need be put into
    /// bytes for that.
    pub derived: bool,
}

/// A place in a list of conversations.
#[derive(Clone, Debug)]
pub struct Page {
    /// The last conversation of the page before.
    pub after: Option<(Timestamp, ConversationId)>,
    /// The most entries.
    pub limit: usize,
}

impl Page {
    /// The page of a recipient's list, the newest start first.
    pub fn of(self, recipient: &RecipientKey) -> List {
        let Self { after, limit } = self;
        let (of, order) = (ListOf::Recipient(recipient.clone()), ListOrder::NEWEST_START);
        List { of, id_prefix: "".into(), order, after, limit }
    }
}

/// Work whose time has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// The conversation is to be removed.
    Expired(ConversationKey),
}
