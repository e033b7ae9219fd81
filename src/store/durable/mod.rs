//! Durable stores: conversations in files, over an engine of ordered keys.
//!
//! ```text
//! DurableStore ─ commit → Request → group commit: one thread, one batch, one flush
//!              └ load … → Reader                        │
//!                                   records: what keys and values are made of
//!                                   Directory: locked, labelled, marked
//!                                   KeyValue: fjall, sled
//! ```
//!
//! | file in the directory | what it is for |
//! |---|---|
//! | `LOCK` | locked while the store is open |
//! | `STORE` | which engine keeps the files, and in which format |
//! | `mark` | how far the store has been flushed, so that files which lost the end are noticed |
//! | `fjall`, `sled` | the engine's files |
//!
//! # What forks share
//!
//! Utterances, and the ids that clients gave them, stand under the lineage that they were written to.
//! A conversation that was forked, or is a fork, reads its branch and then its trunks, the newest first:
//! the first record of a sequence is the utterance. It writes to its branch alone; so what it changes of
//! what it shares overrides that for itself. A record of each trunk tells who reads it, and how far.
//! Utterances that a reader drops, or has when it is deleted, are removed unless the head of another
//! reader still counts them in; what is erased is removed in every lineage.

mod copy;
mod directory;
mod files;
mod fjall;
mod generations;
mod group_commit;
pub mod key_value;
mod label;
mod mark;
mod panics;
mod reader;
pub mod records;
mod request;
mod scrub;
mod sled;
mod verify;

/// Makes a test of each case on each engine, `ENGINE::CASE`.
#[cfg(test)]
macro_rules! on_each_engine {
    ($($case:ident)*) => {
        mod fjall {
            $(#[test] fn $case() { super::$case::<super::FjallEngine>(); })*
        }
        mod sled {
            $(#[test] fn $case() { super::$case::<super::SledEngine>(); })*
        }
    };
}

#[cfg(test)]
mod engine_tests;
#[cfg(test)]
mod generations_tests;
#[cfg(test)]
mod test_conversation;

use std::{collections::HashMap, fmt, path::Path, sync::Arc, time::Duration};

pub use copy::{Copied, CopyError, copy, is_same};
pub use directory::{Directory, OpenError};
pub use label::{EngineKind, UnknownEngine};
pub use scrub::{Scrubbed, scrub};
pub use verify::{MAX_PROBLEMS, Problem, Report, verify};

use crate::{
    domain::{Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance},
    store::{
        BoxFuture, Capabilities, Commit, CommitError, Due, Outcome, OutcomeKey, Page, RecipientKey, Store,
        StoreError,
    },
};
use group_commit::{Answer, GroupCommit};
use reader::Reader;
use records::OutcomeName;
use request::{Request, Step};

/// Outcomes that are removed in one request.
const OUTCOME_BATCH: usize = 1_000;
/// What an engine keeps of its files in memory, unless told otherwise.
const CACHE_BYTES: u64 = 64 << 20;

/// When a commit is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Once it is on the disk: it survives a loss of power.
    Each,
    /// Once the operating system has it: it survives the end of the process. The disk has it so
    /// long after at most; a loss of power loses what came since.
    Interval(Duration),
}

/// How a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// When a commit is answered.
    pub flush: Flush,
    /// About how many bytes the engine keeps of its files in memory.
    pub cache_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { flush: Flush::Each, cache_bytes: CACHE_BYTES }
    }
}

/// Keeps conversations in files.
///
/// - Reads that may touch the disk often run on tokio's threads for blocking work; single looks
///   at a key run where they are.
/// - After a write failed, no write is taken: what is on the disk is not known until the store is
///   opened anew.
/// - Dropped, it waits until everything that was committed is written.
pub struct DurableStore {
    commits: Arc<GroupCommit>,
    reader: Reader,
    name: &'static str,
}

impl DurableStore {
    /// Opens the store in a directory; makes one when the directory is empty or does not exist.
    pub fn open(engine: EngineKind, path: &Path, options: &Options) -> Result<Self, OpenError> {
        Self::over(Directory::open_or_create(engine, path, options.cache_bytes)?, options.flush)
    }

    fn over(directory: Directory, flush: Flush) -> Result<Self, OpenError> {
        directory.check_finished()?;
        let (path, name) = (directory.path().to_owned(), directory.engine().name());
        let directory = Arc::new(directory);
        let commits = GroupCommit::start(directory.clone(), flush);
        let commits = commits.map_err(|error| OpenError::File { path, error })?;
        Ok(Self { commits: Arc::new(commits), reader: Reader(directory), name })
    }

    /// Reads on a thread for blocking work; what was read is settled when it is answered.
    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let (reader, commits) = (self.reader.clone(), self.commits.clone());
        Box::pin(async move {
            let read = tokio::task::spawn_blocking(move || read(&reader)).await;
            let read = read.unwrap_or_else(|error| Err(unavailable(error)))?;
            commits.queue().settled().await?;
            Ok(read)
        })
    }

    /// Looks at a key here and now; what was read is settled when it is answered.
    async fn look<T>(&self, read: Result<T, StoreError>) -> Result<T, StoreError> {
        self.commits.queue().settled().await?;
        read
    }

    async fn write(&self, request: Request) -> Result<(), StoreError> {
        answered(self.commits.submit(request)).await.map_err(|error| match error {
            CommitError::Store(error) => error,
            CommitError::Conflict => unavailable("a write without preconditions was refused"),
        })
    }

    async fn scrub_files(&self) -> Result<(), StoreError> {
        let Some(group) = self.read(Reader::unscrubbed).await? else { return Ok(()) };
        self.read(|reader| reader.0.pairs().scrub().map_err(unavailable)).await?;
        self.write(Request { steps: vec![Step::Scrubbed(group)], ..Request::default() }).await
    }

    async fn remove_old_outcomes(&self, oldest: Timestamp) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let old = self.read(move |reader| reader.old_outcomes(oldest, OUTCOME_BATCH)).await?;
            let mut request = Request::default();
            old.iter().for_each(|(time, name)| request.remove_outcome(name, *time, oldest));
            removed += old.len() as u64;
            if !old.is_empty() {
                self.write(request).await?;
            }
            if old.len() < OUTCOME_BATCH {
                return Ok(removed);
            }
        }
    }
}

impl Store for DurableStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: self.name, durable: true, shared: false }
    }

    fn load<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Option<Arc<Conversation>>, StoreError>> {
        let key = key.clone();
        self.read(move |reader| Ok(reader.load(&key)?.map(Arc::new)))
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        let answer = self.commits.submit(Request::of(&commit));
        Box::pin(answered(answer))
    }

    fn archived<'a>(
        &'a self,
        key: &'a ConversationKey,
        wanted: &'a Ranges,
    ) -> BoxFuture<'a, Result<Vec<Arc<Utterance>>, StoreError>> {
        let (key, wanted) = (key.clone(), wanted.clone());
        self.read(move |reader| reader.archived(&key, &wanted))
    }

    fn archived_ids<'a>(
        &'a self,
        key: &'a ConversationKey,
        ids: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<HashMap<Box<str>, Sequence>, StoreError>> {
        let (key, ids) = (key.clone(), ids.to_vec());
        self.read(move |reader| reader.archived_ids(&key, &ids))
    }

    fn sharing<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Vec<(ConversationKey, Sequence)>, StoreError>> {
        let key = key.clone();
        self.read(move |reader| reader.sharing(&key))
    }

    fn active<'a>(
        &'a self,
        recipient: &'a RecipientKey,
    ) -> BoxFuture<'a, Result<Option<ConversationId>, StoreError>> {
        Box::pin(self.look(self.reader.active(recipient)))
    }

    fn conversations<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        page: Page,
    ) -> BoxFuture<'a, Result<Vec<Head>, StoreError>> {
        let recipient = recipient.clone();
        self.read(move |reader| reader.conversations(&recipient, page))
    }

    fn ended_beyond<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        keep: usize,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationId>, StoreError>> {
        let recipient = recipient.clone();
        self.read(move |reader| reader.ended_beyond(&recipient, keep, limit))
    }

    fn outcome<'a>(
        &'a self,
        key: &'a OutcomeKey,
        oldest: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Arc<Outcome>>, StoreError>> {
        Box::pin(async move {
            let outcome = self.look(self.reader.outcome(key)).await?;
            let Some(old) = outcome.as_ref().filter(|outcome| outcome.time < oldest) else {
                return Ok(outcome);
            };
            let mut request = Request::default();
            request.remove_outcome(&OutcomeName::of(key), old.time, oldest);
            self.write(request).await?;
            Ok(None)
        })
    }

    fn due(&self, now: Timestamp, limit: usize) -> BoxFuture<'_, Result<Vec<Due>, StoreError>> {
        self.read(move |reader| reader.due(now, limit))
    }

    fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(Timestamp, ConversationKey)>, StoreError>> {
        self.read(move |reader| reader.waiting(after.as_ref(), limit))
    }

    fn remove_outcomes(&self, oldest: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.remove_old_outcomes(oldest))
    }

    /// Commits and reads go on meanwhile; it takes room on the disk as the whole store does.
    fn scrub(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.scrub_files())
    }

    fn failed(&self) -> BoxFuture<'static, StoreError> {
        let queue = self.commits.queue().clone();
        Box::pin(async move { queue.failed().await })
    }
}

async fn answered(answer: Answer) -> Result<(), CommitError> {
    answer.await.unwrap_or_else(|_| Err(unavailable("the write was interrupted").into()))
}

fn unavailable(error: impl fmt::Display) -> StoreError {
    StoreError::Unavailable(error.to_string())
}
