//! What processes that share a store learn of one another.

use std::future::ready;

use futures::stream;

use crate::{
    domain::{ChangeId, ConversationId, ConversationKey, Namespace, Timestamp},
    store::{BoxFuture, BoxStream, RecipientKey, StoreError, TracePage, TracePlace},
};

/// A store that several processes may use at the same time.
///
/// The defaults are right for a store that one process uses alone.
pub trait Sharing: Send + Sync + 'static {
    /// Claims the waiting work of a conversation ([`Store::waiting`](crate::store::Store::waiting)) for a worker, until a given time;
    /// returns whether it was granted. This way, work that costs money and time is done once, no matter how
    /// many processes could do it.
    ///
    /// - Refused while another worker has the claim; of several concurrent claims, one is granted.
    /// - A claim ends at its time, whatever happened to the worker, or when it is [given up](Self::give_up).
    ///   The worker that has it can claim again, to extend it.
    /// - It is not a precondition of a commit, and prevents nobody from changing the conversation. If it ends
    ///   before the work does, something is paid for twice and nothing is wrong.
    /// - The conversation need not exist. The record of a claim can be removed once it has ended.
    /// - Work that is cheap and harmless if done twice needs no claim: removing what is due, ended
    ///   conversations and old outcomes, and scrubbing.
    /// - By default, granted: correct if no other process works on the store.
    fn claim<'a>(&'a self, _claim: Claim<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(ready(Ok(true)))
    }

    /// Ends a worker's claim, if it still has it.
    fn give_up<'a>(
        &'a self,
        _conversation: &'a ConversationKey,
        _worker: WorkerId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }

    /// Returns hints of what any process changes: each call returns a separate stream.
    ///
    /// - It starts with [`Hint::Missed`] once it is listening: whatever takes effect from then on is
    ///   reported.
    /// - Once a commit has taken effect, there is a [`Hint::Changed`] for each conversation that it changes,
    ///   creates or removes, and then a [`Hint::Active`] for each recipient whose pointer it moves. A hint
    ///   can come late, and more than once.
    /// - Lost hints, whether the reader is slow or a connection breaks, are reported by a [`Hint::Missed`]
    ///   once the stream is listening again. No commit waits for a reader.
    /// - A backend that can lose hints unnoticed yields a [`Hint::Missed`] every few seconds.
    /// - It does not end as long as the store exists.
    /// - By default, it never yields: correct if no other process writes to the store.
    fn hints(&self) -> BoxStream<'static, Hint> {
        Box::pin(stream::pending())
    }

    /// Returns hints of what has changed among what was `seen`: asked after a [`Hint::Missed`].
    ///
    /// - A hint can be wrong, but none is missing. If it fails, it is asked again after the next
    ///   [`Hint::Missed`].
    /// - By default, returns all of them. A backend to which comparing is cheaper than the reads that follow
    ///   a hint compares.
    fn outdated<'a>(&'a self, seen: &'a LastSeen) -> BoxFuture<'a, Result<Vec<Hint>, StoreError>> {
        Box::pin(ready(Ok(seen.hints())))
    }

    /// Returns the place behind every event that can be read: the events of all later commits are behind it, and
    /// those of commits that were answered just before may be.
    ///
    /// - By default, fails: the backend stores no events.
    fn trace_end<'a>(&'a self, _namespace: &'a Namespace) -> BoxFuture<'a, Result<TracePlace, StoreError>> {
        Box::pin(ready(Err(no_trace())))
    }

    /// Returns the events of a namespace behind a place, at most about `limit`.
    ///
    /// - In one order for all readers, in which the events of a conversation are in the order of its revisions.
    ///   No event ever appears before one that was returned.
    /// - An event can be returned some time after its commit was answered: as long as older transactions are
    ///   under way.
    /// - Events are kept for at least a day.
    /// - By default, fails.
    fn trace<'a>(
        &'a self,
        _namespace: &'a Namespace,
        _after: TracePlace,
        _limit: usize,
    ) -> BoxFuture<'a, Result<TracePage, StoreError>> {
        Box::pin(ready(Err(no_trace())))
    }
}

fn no_trace() -> StoreError {
    StoreError::Unavailable("the backend stores no events".to_owned())
}

/// Reports what should be read again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    /// The conversation was changed, created or removed.
    Changed(ConversationKey),
    /// The recipient's active conversation changed, possibly to none.
    Active(RecipientKey),
    /// Any of this might have happened.
    Missed,
}

/// What a process watches, as it was last seen there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastSeen {
    /// Conversations, each with its state.
    pub conversations: Vec<(ConversationKey, ChangeId)>,
    /// Recipients, each with its active conversation.
    pub recipients: Vec<(RecipientKey, Option<ConversationId>)>,
}

impl LastSeen {
    /// Returns hints that all of it may have changed.
    pub fn hints(&self) -> Vec<Hint> {
        let changed = self.conversations.iter().map(|(key, _)| Hint::Changed(key.clone()));
        let moved = self.recipients.iter().map(|(recipient, _)| Hint::Active(recipient.clone()));
        changed.chain(moved).collect()
    }
}

/// Identifies a worker that processes the waiting work of a store; unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkerId(pub u128);

/// A worker's request to be the only one that has a model process the waiting work of a conversation.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    /// The conversation.
    pub conversation: &'a ConversationKey,
    /// The worker.
    pub worker: WorkerId,
    /// The current time: a claim of another worker that has ended by now does not count.
    pub now: Timestamp,
    /// The time at which this claim ends.
    pub until: Timestamp,
}
