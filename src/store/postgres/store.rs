//! [`PostgresStore`], which implements the store contract.

use std::{
    collections::HashMap,
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio_postgres::types::ToSql;

use super::{
    Options,
    connection::database::Database,
    hints::{self, Hints},
    read::{Reader, kind_number},
    types::{Sequences, Uuid},
    write::{
        commit::{Commits, settle_once},
        lanes::Lanes,
        plan::{Logged, Plan},
        quotas::Ledger,
    },
};
use crate::{
    domain::{
        Block, ChangeId, Conversation, ConversationId, ConversationKey, Head, Namespace, Ranges, Sequence,
        Timestamp, Utterance, state::StateValue,
    },
    store::{
        Begin, Begun, BoxFuture, BoxStream, Capabilities, Claim, Commit, CommitError, Derived, DerivedBlock,
        DerivedBytes, DerivedData, Due, Hint, LastSeen, List, Newer, Outcome, OutcomeKey, Page, Quotas,
        RecipientKey, Result, Sharing, StateOf, Store, TracePage, TracePlace, Upkeep, WorkerId, Write,
        async_trait,
        durable::records::{self, BlockBytes, BlockName, Blocks},
    },
    telemetry::{Registry, panics::joined},
};

/// Stores data derived from a block, unless the conversation was deleted, has erased or replaced text since, or
/// has no utterance of the block.
const KEEP_DERIVED: &str = "INSERT INTO derived (lineage, kind, block, record)
    SELECT c.lineage, $4, $5, $6 FROM (
        SELECT lineage FROM conversations WHERE namespace = $1 AND id = $2 AND lineage = $3
            AND erased_at = $7 AND (live && $8 OR archived && $8) FOR SHARE
    ) c
    ON CONFLICT (lineage, kind, block) DO UPDATE SET record = excluded.record
    RETURNING 1";

const LINEAGE: &str = "SELECT lineage FROM conversations WHERE namespace = $1 AND id = $2";

/// Stores conversations in PostgreSQL, shared with other processes.
///
/// - While the database cannot be reached, every call fails at once, and one task retries until the database is
///   back.
/// - Uses the runtime that it was opened on.
pub struct PostgresStore {
    database: Database,
    reader: Reader,
    commits: Commits,
    lanes: Lanes,
    hints: Hints,
    ledger: Ledger,
    has_events: bool,
    /// Whether something was erased or deleted since the last scrub.
    unscrubbed: Arc<AtomicBool>,
}

impl PostgresStore {
    /// Opens the store without connecting: the first call that needs the database connects. See
    /// [`pending`](super::pending) for whether the schema is up to date.
    pub fn open(options: &Options) -> Result<Self> {
        let database = Database::open(options)?;
        Ok(Self {
            reader: Reader::new(database.clone()),
            commits: Commits::new(&database),
            lanes: Lanes::default(),
            hints: Hints::start(options, database.clone()),
            ledger: Ledger::default(),
            has_events: options.events,
            unscrubbed: Arc::new(AtomicBool::new(true)),
            database,
        })
    }

    /// Returns the recipient's active conversation, and the requested state.
    async fn found(&self, begin: Begin<'_>) -> Result<(Option<ConversationId>, Newer)> {
        match (begin.recipient, begin.state) {
            (None, None) => Ok((None, Newer::Known)),
            (None, Some(StateOf::Active(_))) => Ok((None, Newer::Absent)),
            (None, Some(StateOf::One(key, known))) => {
                Ok((None, self.reader.load_if_newer(key, known).await?))
            }
            (Some(recipient), None) => {
                Ok((self.reader.active(recipient).await?.map(|(id, _)| id), Newer::Known))
            }
            (Some(recipient), Some(StateOf::Active(None))) => self.load_active(recipient).await,
            (Some(recipient), Some(StateOf::Active(Some((id, known))))) => {
                let known = (id.clone(), known);
                match self.reader.active_unless(recipient, Some(known)).await? {
                    None => Ok((Some(id.clone()), Newer::Known)),
                    Some(None) => Ok((None, Newer::Absent)),
                    Some(Some((active, _))) => {
                        let key = key_of(recipient, &active);
                        let state = self.reader.load_if_newer(&key, None).await?;
                        Ok((Some(active), state))
                    }
                }
            }
            (Some(recipient), Some(StateOf::One(key, known))) => {
                let active = async { Ok(self.reader.active(recipient).await?.map(|(id, _)| id)) };
                tokio::try_join!(active, self.reader.load_if_newer(key, known))
            }
        }
    }

    async fn load_active(&self, recipient: &RecipientKey) -> Result<(Option<ConversationId>, Newer)> {
        if let Some(state) = self.reader.load(&recipient.namespace, None, Some(recipient)).await? {
            return Ok((Some(state.key().id.clone()), Newer::State(state)));
        }
        // there is no pointer, or its conversation does not exist
        let active = self.reader.active(recipient).await?;
        match active {
            None => Ok((None, Newer::Absent)),
            Some((id, _)) => {
                let state = self.reader.load_if_newer(&key_of(recipient, &id), None).await?;
                Ok((Some(id), state))
            }
        }
    }
}

fn key_of(recipient: &RecipientKey, id: &ConversationId) -> ConversationKey {
    ConversationKey { namespace: recipient.namespace.clone(), id: id.clone() }
}

/// Whether the commit removes text that must become unreadable.
fn erases(commit: &Commit) -> bool {
    commit.writes.iter().any(|write| match write {
        Write::Delete { .. } => true,
        Write::Change { before, changes, after } => {
            let erased_at = before.as_ref().map_or(after.head.erased_at, |before| before.head.erased_at);
            erased_at != after.head.erased_at || changes.iter().any(|change| !change.state_deleted.is_empty())
        }
    })
}

#[async_trait]
impl Store for PostgresStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            name: "postgres",
            durable: true,
            shared: true,
            resident: false,
            derived: true,
            traced: self.has_events,
        }
    }

    async fn load(&self, key: &ConversationKey) -> Result<Option<Arc<Conversation>>> {
        self.reader.load(&key.namespace, Some(&key.id), None).await
    }

    async fn load_if_newer(&self, key: &ConversationKey, known: Option<ChangeId>) -> Result<Newer> {
        self.reader.load_if_newer(key, known).await
    }

    async fn begin(&self, begin: Begin<'_>) -> Result<Begun> {
        let outcome = async {
            match begin.outcome {
                Some((key, oldest)) => self.reader.outcome(key, oldest).await,
                None => Ok(None),
            }
        };
        let ((active, state), outcome) = tokio::try_join!(self.found(begin), outcome)?;
        Ok(Begun { active, outcome, state })
    }

    fn commit(&self, step: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        if step.is_empty() {
            return Box::pin(std::future::ready(Ok(())));
        }
        let mut turn = self.lanes.turn(&step);
        let (commits, waiting) = (self.commits.clone(), self.hints.waiting());
        let (ledger, unscrubbed) = (self.ledger.clone(), self.unscrubbed.clone());
        // a task, so that the commit goes on if the caller drops its future
        let made = tokio::spawn(async move {
            turn.comes().await;
            let taken = ledger.taken(&commits.database, &step).await?;
            let plan = Plan::of(&step, taken, ChangeId(ulid::Ulid::new().0.to_be_bytes()));
            let made = commits.make(&plan).await;
            if made.is_ok() {
                waiting.add(hints::of(&step));
                if erases(&step) {
                    unscrubbed.store(true, Ordering::Release);
                }
            }
            drop(turn);
            made
        });
        Box::pin(async move {
            let stopping = || Err(CommitError::Unknown("the server is stopping".to_owned()));
            joined(made.await).unwrap_or_else(stopping)
        })
    }

    /// Tries once: a commit whose answer was lost has already retried this for a while.
    async fn is_committed(&self, key: &ConversationKey, change: ChangeId) -> Result<bool> {
        let (namespace, id) = (key.namespace.as_str().to_owned(), key.id.as_str().to_owned());
        settle_once(&self.database, &Logged { change: Uuid(change.0), namespace, id }).await
    }

    async fn archived(&self, key: &ConversationKey, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>> {
        self.reader.archived(key, wanted).await
    }

    async fn archived_ids(
        &self,
        key: &ConversationKey,
        ids: &[Box<str>],
    ) -> Result<HashMap<Box<str>, Sequence>> {
        self.reader.archived_ids(key, ids).await
    }

    async fn state(&self, key: &ConversationKey, names: &[Box<str>]) -> Result<Vec<Arc<StateValue>>> {
        self.reader.state(key, names).await
    }

    async fn heads(&self, keys: &[ConversationKey]) -> Result<Vec<Head>> {
        self.reader.heads(keys).await
    }

    async fn sharing(&self, key: &ConversationKey) -> Result<Vec<(ConversationKey, Sequence)>> {
        self.reader.sharing(key).await
    }

    async fn active(&self, recipient: &RecipientKey) -> Result<Option<ConversationId>> {
        Ok(self.reader.active(recipient).await?.map(|(id, _)| id))
    }

    async fn list(&self, list: List) -> Result<Vec<Head>> {
        self.reader.list(&list).await
    }

    async fn conversation_keys(&self, recipient: &RecipientKey, page: Page) -> Result<Vec<ConversationKey>> {
        self.reader.conversation_keys(recipient, page).await
    }

    async fn ended_beyond(
        &self,
        recipient: &RecipientKey,
        keep: usize,
        limit: usize,
    ) -> Result<Vec<ConversationId>> {
        self.reader.ended_beyond(recipient, keep, limit).await
    }

    async fn outcome(&self, key: &OutcomeKey, oldest: Timestamp) -> Result<Option<Arc<Outcome>>> {
        self.reader.outcome(key, oldest).await
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Due>> {
        self.reader.due(now, limit).await
    }

    async fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, ConversationKey)>> {
        self.reader.waiting(after, limit).await
    }

    async fn remove_outcomes(&self, oldest: Timestamp) -> Result<u64> {
        self.database.remove_old(oldest).await
    }

    /// Vacuums, so that new rows can overwrite removed ones. Copies elsewhere, such as in the write-ahead log,
    /// are out of the store's reach.
    async fn scrub(&self) -> Result<()> {
        if !self.unscrubbed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let vacuumed = self.database.vacuum().await;
        if vacuumed.is_err() {
            self.unscrubbed.store(true, Ordering::Release);
        }
        vacuumed
    }
}

#[async_trait]
impl Sharing for PostgresStore {
    async fn claim(&self, claim: Claim<'_>) -> Result<bool> {
        self.database.claim(claim).await
    }

    async fn give_up(&self, conversation: &ConversationKey, worker: WorkerId) -> Result<()> {
        self.database.give_up(conversation, worker).await
    }

    fn hints(&self) -> BoxStream<'static, Hint> {
        self.hints.stream()
    }

    async fn outdated(&self, seen: &LastSeen) -> Result<Vec<Hint>> {
        self.reader.outdated(seen).await
    }

    async fn trace_end(&self, namespace: &Namespace) -> Result<TracePlace> {
        self.database.trace_end(namespace).await
    }

    async fn trace(&self, namespace: &Namespace, after: TracePlace, limit: usize) -> Result<TracePage> {
        self.database.trace(namespace, after, limit).await
    }
}

#[async_trait]
impl DerivedData for PostgresStore {
    async fn derived(
        &self,
        key: &ConversationKey,
        kind: Derived,
        blocks: RangeInclusive<Block>,
    ) -> Result<DerivedBytes> {
        self.reader.derived(key, kind, &blocks).await
    }

    async fn keep_derived(&self, derived: DerivedBlock) -> Result<bool> {
        if self.database.is_busy() {
            return Ok(false);
        }
        let DerivedBlock { conversation, kind, block, erased_at, bytes } = derived;
        let (namespace, id) = (conversation.namespace.as_str(), conversation.id.as_str());
        let mut connection = self.database.connection().await?;
        let rows = connection.query(LINEAGE, &[&namespace, &id]).await?;
        let Some(lineage) = rows.first().map(|row| row.get::<_, Uuid>(0)) else { return Ok(false) };
        let name = (crate::domain::LineageId(lineage.0), BlockName { kind, block });
        let record = records::pair::<Blocks>(&name, &BlockBytes(bytes)).1;
        let (number, erased_at) = (block.0 as i64, erased_at.0 as i64);
        let params: [&(dyn ToSql + Sync); 8] = [
            &namespace,
            &id,
            &lineage,
            &kind_number(kind),
            &number,
            &record,
            &erased_at,
            &Sequences(block.ranges()),
        ];
        Ok(!connection.query(KEEP_DERIVED, &params).await?.is_empty())
    }
}

impl Upkeep for PostgresStore {
    fn describe(&self, registry: &Registry) {
        self.commits.meters.register(registry);
        self.database.describe(registry);
    }

    /// Sets the quotas. The first commit with quotas counts everything that is stored, while no server writes.
    fn set_quotas(&self, quotas: Quotas) -> Result<()> {
        self.ledger.set(quotas);
        Ok(())
    }

    fn is_behind(&self) -> bool {
        self.database.is_behind()
    }

    fn condition(&self) -> BoxStream<'static, Result<()>> {
        self.database.conditions()
    }
}
