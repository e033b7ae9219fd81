//! The durable store: commits through the group commit, reads through the reader.

use std::{collections::HashMap, ops::RangeInclusive, path::Path, sync::Arc};

use super::{
    Directory, EngineKind, Flush, OpenError, Options,
    disk::room::Room,
    group_commit::{Answer, GroupCommit, Queue},
    reader::Reader,
    request::{Request, Step},
};
use crate::{
    Begin, Begun, BoxFuture, BoxStream, Capabilities, Commit, CommitError, Derived, DerivedBlock,
    DerivedBytes, DerivedData, Due, EachRecord, List, Outcome, OutcomeKey, Quotas, RecipientKey, Result,
    Sharing, Store, StoreError, Upkeep, async_trait,
    entries::Entries as _,
    listing::{self, Lists as _},
    meters::Meters,
    quotas::Keeper,
    records::OutcomeName,
};
use utterd_domain::{
    Block, Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance,
    state::StateValue,
};
use utterd_telemetry::{Registry, blocking};

/// Outcomes removed per request.
const OUTCOME_BATCH: usize = 1_000;
/// Keeps conversations in files.
///
/// - Reads that may often touch the disk run on tokio's blocking threads; single-key lookups run in place.
/// - After a failed write, no more writes are accepted: the state on disk is unknown until the store is
///   reopened.
/// - When dropped, waits until all commits are written.
pub struct DurableStore {
    queue: Arc<Queue>,
    reader: Reader,
    room: Arc<Room>,
    name: &'static str,
    quotas: Arc<Keeper>,
    meters: Meters,
    _writing: GroupCommit,
}

impl DurableStore {
    /// Opens the store in a directory; creates one if the directory is empty or does not exist.
    pub fn open(engine: EngineKind, path: &Path, options: &Options) -> Result<Self, OpenError> {
        let directory = Directory::open_or_create(engine, path)?;
        Self::over(directory, options.flush, Room::new(path, options.reserve_bytes))
    }

    pub(super) fn over(directory: Directory, flush: Flush, room: Room) -> Result<Self, OpenError> {
        directory.check_finished()?;
        let (path, name) = (directory.path().to_owned(), directory.engine().name());
        let (directory, room) = (Arc::new(directory), Arc::new(room));
        let (quotas, meters) = (Arc::new(Keeper::default()), Meters::default());
        let (shared, counted) = (quotas.clone(), meters.clone());
        let writing = GroupCommit::start(directory.clone(), room.clone(), shared, counted, flush);
        let writing = writing.map_err(|error| OpenError::File { path, error })?;
        let queue = writing.queue.clone();
        Ok(Self { queue, reader: Reader(directory), room, name, quotas, meters, _writing: writing })
    }

    /// Reads on a blocking thread; returns once the data read is settled.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let reader = self.reader.clone();
        let read = blocking(move || read(&reader)).await;
        let read = read.unwrap_or_else(|| Err(StoreError::unavailable("the server is stopping")))?;
        self.queue.settled().await?;
        Ok(read)
    }

    /// Returns the result of a lookup made in place, once the data read is settled.
    async fn look<T>(&self, read: Result<T>) -> Result<T> {
        self.queue.settled().await?;
        read
    }

    /// Waits until no more writes are accepted, and returns the reason.
    #[cfg(test)]
    pub(super) async fn failed(&self) -> StoreError {
        self.queue.failed().await
    }

    async fn write(&self, request: Request) -> Result<()> {
        answered(self.queue.push(request)).await.map_err(|error| match error {
            CommitError::Store(error) => error,
            error => StoreError::unavailable(error),
        })
    }

    /// Returns the outcome. If it is older than `oldest`, removes it and returns `None`.
    async fn unless_old(
        &self,
        key: &OutcomeKey,
        outcome: Option<Arc<Outcome>>,
        oldest: Timestamp,
    ) -> Result<Option<Arc<Outcome>>> {
        let Some(old) = outcome.as_ref().filter(|outcome| outcome.time < oldest) else { return Ok(outcome) };
        let mut request = Request::default();
        request.remove_outcome(&OutcomeName::of(key), old.time, oldest);
        self.write(request).await?;
        Ok(None)
    }
}

#[async_trait]
impl Store for DurableStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            name: self.name,
            durable: true,
            shared: false,
            resident: false,
            derived: true,
            traced: false,
        }
    }

    async fn load(&self, key: &ConversationKey) -> Result<Option<Arc<Conversation>>> {
        let key = key.clone();
        self.read(move |reader| Ok(reader.load(&key)?.map(Arc::new))).await
    }

    async fn begin(&self, begin: Begin<'_>) -> Result<Begun> {
        let active = begin.recipient.map(|recipient| self.reader.active(recipient)).transpose()?.flatten();
        let outcome = begin.outcome.map(|(key, _)| self.reader.outcome(key)).transpose()?.flatten();
        self.queue.settled().await?;
        let state = match begin.wanted(active.as_ref()) {
            Ok((key, known)) => self.load_if_newer(&key, known).await?,
            Err(answer) => answer,
        };
        let outcome = match begin.outcome {
            Some((key, oldest)) => self.unless_old(key, outcome, oldest).await?,
            None => None,
        };
        Ok(Begun { active, outcome, state })
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        let request = Request { growth: self.quotas.growth(&commit), ..Request::of(&commit) };
        Box::pin(answered(self.queue.push(request)))
    }

    async fn archived(&self, key: &ConversationKey, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>> {
        let (key, wanted) = (key.clone(), wanted.clone());
        self.read(move |reader| reader.archived(&key, &wanted)).await
    }

    async fn archived_ids(
        &self,
        key: &ConversationKey,
        ids: &[Box<str>],
    ) -> Result<HashMap<Box<str>, Sequence>> {
        let (key, ids) = (key.clone(), ids.to_vec());
        self.read(move |reader| reader.archived_ids(&key, &ids)).await
    }

    async fn state(&self, key: &ConversationKey, names: &[Box<str>]) -> Result<Vec<Arc<StateValue>>> {
        let (key, names) = (key.clone(), names.to_vec());
        self.read(move |reader| reader.state(&key, &names)).await
    }

    async fn sharing(&self, key: &ConversationKey) -> Result<Vec<(ConversationKey, Sequence)>> {
        let key = key.clone();
        self.read(move |reader| reader.sharing(&key)).await
    }

    async fn heads(&self, keys: &[ConversationKey]) -> Result<Vec<Head>> {
        let keys = keys.to_vec();
        self.read(move |reader| keys.iter().filter_map(|key| reader.head(key).transpose()).collect()).await
    }

    async fn active(&self, recipient: &RecipientKey) -> Result<Option<ConversationId>> {
        self.look(self.reader.active(recipient)).await
    }

    async fn list(&self, list: List) -> Result<Vec<Head>> {
        self.read(move |reader| listing::page(&list, reader)).await
    }

    async fn newest_keys(&self, recipient: &RecipientKey, limit: usize) -> Result<Vec<ConversationKey>> {
        let recipient = recipient.clone();
        self.read(move |reader| reader.newest_keys(&recipient, limit)).await
    }

    async fn ended_beyond(
        &self,
        recipient: &RecipientKey,
        keep: usize,
        limit: usize,
    ) -> Result<Vec<ConversationId>> {
        let recipient = recipient.clone();
        self.read(move |reader| reader.ended_beyond(&recipient, keep, limit)).await
    }

    async fn outcome(&self, key: &OutcomeKey, oldest: Timestamp) -> Result<Option<Arc<Outcome>>> {
        let outcome = self.look(self.reader.outcome(key)).await?;
        self.unless_old(key, outcome, oldest).await
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Due>> {
        self.read(move |reader| reader.due(now, limit)).await
    }

    async fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, ConversationKey)>> {
        self.read(move |reader| reader.waiting(after.as_ref(), limit)).await
    }

    async fn remove_outcomes(&self, oldest: Timestamp) -> Result<u64> {
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

    /// Commits and reads continue meanwhile. Takes disk space in proportion to the whole store.
    async fn scrub(&self) -> Result<()> {
        let Some(group) = self.read(Reader::unscrubbed).await? else { return Ok(()) };
        let room = self.room.clone();
        self.read(move |reader| {
            let pairs = reader.0.pairs();
            room.check_copy(pairs.disk_bytes().map_err(StoreError::unavailable)?)?;
            pairs.scrub().map_err(StoreError::unavailable)
        })
        .await?;
        self.write(Request { steps: vec![Step::Scrubbed(group)], ..Request::default() }).await
    }
}

impl Sharing for DurableStore {}
#[async_trait]
impl DerivedData for DurableStore {
    async fn derived(
        &self,
        key: &ConversationKey,
        kind: Derived,
        blocks: RangeInclusive<Block>,
    ) -> Result<DerivedBytes> {
        let key = key.clone();
        self.read(move |reader| reader.derived(&key, kind, &blocks)).await
    }

    async fn keep_derived(&self, derived: DerivedBlock) -> Result<bool> {
        if !self.queue.is_short() {
            return Ok(false);
        }
        let lineage = self.look(self.reader.lineage(&derived.conversation)).await?;
        let Some(lineage) = lineage else { return Ok(false) };
        match answered(self.queue.push(Request::keeping(lineage, derived))).await {
            Ok(()) => Ok(true),
            Err(CommitError::Conflict(_) | CommitError::Store(StoreError::Busy { .. })) => Ok(false),
            Err(CommitError::Store(error)) => Err(error),
            Err(error) => Err(StoreError::unavailable(error)),
        }
    }
}

impl Upkeep for DurableStore {
    fn describe(&self, registry: &Registry) {
        self.meters.register(registry);
        let room = self.room.clone();
        registry.gauge(
            "utterd_store_free_bytes",
            "Space that is free on the disk of the store, disk_reserve included.",
            move || room.free().map_or(f64::NAN, |free| free as f64),
        );
    }

    fn set_quotas(&self, quotas: Quotas) -> Result<()> {
        self.quotas.set(quotas, |ledger| self.reader.each_head(|head| ledger.count(head)))
    }

    /// The copy that sled makes of its files first must fit on the disk.
    fn each_record(&self, each: &mut EachRecord<'_>) -> Result<()> {
        let pairs = self.reader.0.pairs();
        let copied = pairs.snapshot_bytes().map_err(StoreError::unavailable)?;
        if copied > 0 {
            self.room.check_copy(copied)?;
        }
        let mut records = pairs.snapshot().map_err(StoreError::unavailable)?;
        records.try_for_each(|record| each(record.map_err(StoreError::unavailable)))
    }

    fn is_behind(&self) -> bool {
        self.queue.is_behind()
    }

    fn condition(&self) -> BoxStream<'static, Result<()>> {
        self.queue.conditions()
    }
}

async fn answered(answer: Answer) -> Result<(), CommitError> {
    answer.await.unwrap_or_else(|_| Err(StoreError::unavailable("the write was interrupted").into()))
}
