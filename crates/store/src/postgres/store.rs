//! [`PostgresStore`], which implements the store contract.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    Options,
    connection::database::Database,
    hints::{self, Hints},
    place::PlaceKey,
    read::Reader,
    types::Uuid,
    whole::snapshot,
    write::{
        commit::{Commits, settle_once},
        lanes::Lanes,
        plan::{Logged, Plan},
        quotas::Ledger,
    },
};
use crate::{
    Begin, Begun, BoxFuture, BoxStream, Capabilities, Commit, CommitError, Due, EachRecord, List, Newer,
    Outcome, OutcomeKey, Page, Quotas, RecipientKey, Result, StateOf, Store, Upkeep, async_trait,
};
use utterd_domain::{
    ChangeId, Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance,
    state::StateValue,
};
use utterd_telemetry::{Registry, panics::joined};

/// Stores conversations in PostgreSQL, shared with other processes.
///
/// - While the database cannot be reached, every call fails at once, and one task retries until the database is
///   back.
/// - Uses the runtime that it was opened on.
pub struct PostgresStore {
    pub(super) database: Database,
    reader: Reader,
    commits: Commits,
    lanes: Lanes,
    pub(super) hints: Hints,
    /// The key of places in the trace, once it was read.
    pub(super) place_key: OnceLock<PlaceKey>,
    ledger: Ledger,
    /// How to reach the database for a backup.
    options: Options,
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
            place_key: OnceLock::new(),
            ledger: Ledger::default(),
            options: options.clone(),
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

#[async_trait]
impl Store for PostgresStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            name: "postgres",
            durable: true,
            shared: true,
            resident: false,
            derived: true,
            traced: self.options.events,
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
                if plan.erases {
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

    /// Over a connection of its own.
    fn each_record(&self, each: &mut EachRecord<'_>) -> Result<()> {
        snapshot::each_record(&self.options, each)
    }

    fn is_behind(&self) -> bool {
        self.database.is_behind()
    }

    fn condition(&self) -> BoxStream<'static, Result<()>> {
        self.database.conditions()
    }
}
