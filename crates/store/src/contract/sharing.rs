//! How processes that share a store coordinate, and the events that they store with their commits.

use futures::stream;

use crate::{BoxStream, RecipientKey, Result, StoreError, async_trait};
use utterd_domain::{ConversationKey, Namespace, Timestamp};

/// A store that several processes may use at the same time.
///
/// The defaults are right for a store that one process uses alone.
#[async_trait]
pub trait Sharing: Send + Sync + 'static {
    /// Claims the waiting work of a conversation ([`Store::waiting`](crate::Store::waiting)) for a
    /// worker, until a given time; returns whether the claim was granted. This way, work that costs money and
    /// time is done once, no matter how many processes could do it.
    ///
    /// - Refused while another worker has the claim; exactly one of several concurrent claims is granted.
    /// - A claim ends at its time, even if the worker has failed, or when it is [given up](Self::give_up).
    ///   The worker that has it can claim again, to extend it.
    /// - A claim is not a precondition of a commit, and prevents nobody from changing the conversation. If
    ///   the claim ends before the work does, the work may be paid for twice, but nothing breaks.
    /// - The conversation need not exist. The record of a claim can be removed once it has ended.
    /// - Work that is cheap and harmless if done twice needs no claim: removing expired conversations, ended
    ///   conversations and old outcomes, and scrubbing.
    /// - By default, granted: correct if no other process works on the store.
    async fn claim(&self, _claim: Claim<'_>) -> Result<bool> {
        Ok(true)
    }

    /// Ends a worker's claim, if it still has it.
    async fn give_up(&self, _conversation: &ConversationKey, _worker: WorkerId) -> Result<()> {
        Ok(())
    }

    /// Returns hints of the changes that any process makes. Each call returns a separate stream.
    ///
    /// - The stream starts with [`Hint::Missed`] once it is listening: every change that takes effect from
    ///   then on is reported.
    /// - Once a commit has taken effect, there is a [`Hint::Changed`] for each conversation that it changes,
    ///   creates or removes, and then a [`Hint::Active`] for each recipient whose pointer it moves. A hint
    ///   can come late, and more than once.
    /// - Lost hints, whether the reader is slow or a connection breaks, are reported by a [`Hint::Missed`]
    ///   once the stream is listening again. No commit waits for a reader.
    /// - A backend that can lose hints unnoticed yields a [`Hint::Missed`] every few seconds.
    /// - The stream does not end as long as the store exists.
    /// - By default, the stream never yields: correct if no other process writes to the store.
    fn hints(&self) -> BoxStream<'static, Hint> {
        Box::pin(stream::pending())
    }

    /// Returns the place behind every event that can be read. All events of later commits are behind this
    /// place, and possibly those of commits that were answered just before.
    ///
    /// - By default, fails: the backend stores no events.
    async fn trace_end(&self, _namespace: &Namespace) -> Result<TracePlace> {
        Err(no_trace())
    }

    /// Returns the events of a namespace behind a place, at most about `limit`.
    ///
    /// - The order is the same for all readers, and the events of a conversation are in the order of its
    ///   revisions. No event ever appears before one that was returned.
    /// - An event can become readable some time after its commit was answered: once older transactions have
    ///   ended.
    /// - Events are kept for at least a day.
    /// - By default, fails.
    async fn trace(&self, _namespace: &Namespace, _after: TracePlace, _limit: usize) -> Result<TracePage> {
        Err(no_trace())
    }
}

fn no_trace() -> StoreError {
    StoreError::unavailable("the backend stores no events")
}

/// A report that some data should be read again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    /// The conversation was changed, created or removed.
    Changed(ConversationKey),
    /// The recipient's active conversation changed, possibly to none.
    Active(RecipientKey),
    /// Any of this might have happened.
    Missed,
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

/// A place in the trace of a namespace: behind an event, or between two commits.
///
/// Clients receive places. A place must not reveal how much is written in other namespaces, as the number of
/// a commit would.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TracePlace(pub [u8; 16]);

/// Events behind a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TracePage {
    /// The events, each with the place behind it.
    Events(Vec<(TracePlace, String)>),
    /// Events behind the place are no longer kept.
    Gone,
    /// The place is beyond the end of the trace.
    Ahead,
    /// The bytes are not a place in the trace of this namespace in this store.
    Unknown,
}
