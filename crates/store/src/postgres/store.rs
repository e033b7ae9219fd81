//! [`PostgresStore`], which implements the store contract.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio_postgres::types::ToSql;

use super::{
    Options,
    batches::Batches,
    checks::{self, Checks, Question},
    chores::{DUE, WAITING},
    connection::database::Database,
    hints::{self, Hints},
    list::{ENDED_BEYOND, HEAD, HEADS, page},
    place::PlaceKey,
    read::{
        self, ARCHIVED, ARCHIVED_IDS, OUTCOME, REMOVE_OUTCOME, SHARING, STATE, active_unless,
        conversation_id, decoded, head, key_of, record, sequence, utterances,
    },
    types::{Sequences, Time, Uuid},
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
    Outcome, OutcomeKey, Quotas, RecipientKey, Result, StateOf, Store, Upkeep, async_trait,
    records::{OutcomeName, Outcomes, Record},
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
    /// Checks of states, and of active conversations with their states.
    states: Batches<Checks>,
    actives: Batches<Checks>,
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
        let checks = |sql| Batches::new(Checks { database: database.clone(), sql });
        Ok(Self {
            states: checks(checks::STATE),
            actives: checks(checks::ACTIVE),
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
        if let (Some(recipient), Some(StateOf::Active(known))) = (begin.recipient, begin.state) {
            return self.found_active(recipient, known).await;
        }
        let active = async {
            match begin.recipient {
                Some(recipient) => self.active(recipient).await,
                None => Ok(None),
            }
        };
        let state = async {
            match begin.wanted(None) {
                Ok((key, known)) => self.load_if_newer(&key, known).await,
                Err(answer) => Ok(answer),
            }
        };
        tokio::try_join!(active, state)
    }

    /// Returns the recipient's active conversation and its state, unless both are as known.
    async fn found_active(
        &self,
        recipient: &RecipientKey,
        known: Option<(&ConversationId, ChangeId)>,
    ) -> Result<(Option<ConversationId>, Newer)> {
        let Some((id, change)) = known else { return self.load_active(recipient).await };
        match active_unless(&self.actives, recipient, Some((id.clone(), change))).await? {
            None => Ok((Some(id.clone()), Newer::Known)),
            Some(active) => self.load_named(recipient, active).await,
        }
    }

    async fn load_active(&self, recipient: &RecipientKey) -> Result<(Option<ConversationId>, Newer)> {
        if let Some(state) = read::load(&self.database, &recipient.namespace, None, Some(recipient)).await? {
            return Ok((Some(state.key().id.clone()), Newer::State(state)));
        }
        // there is no pointer, or its conversation does not exist
        let active = self.active(recipient).await?;
        self.load_named(recipient, active).await
    }

    async fn load_named(
        &self,
        recipient: &RecipientKey,
        active: Option<ConversationId>,
    ) -> Result<(Option<ConversationId>, Newer)> {
        let Some(id) = active else { return Ok((None, Newer::Absent)) };
        let key = ConversationKey { namespace: recipient.namespace.clone(), id: id.clone() };
        Ok((Some(id), self.load_if_newer(&key, None).await?))
    }
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
        read::load(&self.database, &key.namespace, Some(&key.id), None).await
    }

    async fn load_if_newer(&self, key: &ConversationKey, known: Option<ChangeId>) -> Result<Newer> {
        if let Some(known) = known {
            let name = key.id.as_str().to_owned();
            let known = Some((key.id.clone(), known));
            let asked = Question { namespace: key.namespace.clone(), name, known };
            match self.states.ask(asked).await?? {
                None => return Ok(Newer::Known),
                Some(row) if row.get::<_, Option<Uuid>>(2).is_none() => return Ok(Newer::Absent),
                Some(_) => {}
            }
        }
        Ok(Newer::than(known, read::load(&self.database, &key.namespace, Some(&key.id), None).await?))
    }

    async fn begin(&self, begin: Begin<'_>) -> Result<Begun> {
        let outcome = async {
            match begin.outcome {
                Some((key, oldest)) => self.outcome(key, oldest).await,
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
        let (namespace, id) = (key.namespace.as_str(), key.id.as_str());
        let params: [&(dyn ToSql + Sync); 3] = [&namespace, &id, &Sequences(wanted.clone())];
        utterances(self.database.query(ARCHIVED, &params).await?.iter())
    }

    async fn archived_ids(
        &self,
        key: &ConversationKey,
        ids: &[Box<str>],
    ) -> Result<HashMap<Box<str>, Sequence>> {
        let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
        let rows =
            self.database.query(ARCHIVED_IDS, &[&key.namespace.as_str(), &key.id.as_str(), &ids]).await?;
        // rows of newer lineages come later, and override the others
        let found = rows.iter().map(|row| (row.get::<_, &str>(0).into(), sequence(row.get(1))));
        Ok(found.collect())
    }

    async fn state(&self, key: &ConversationKey, names: &[Box<str>]) -> Result<Vec<Arc<StateValue>>> {
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let rows = self.database.query(STATE, &[&key.namespace.as_str(), &key.id.as_str(), &names]).await?;
        let mut values = Vec::new();
        for row in rows {
            if let Record::StateValues(_, value) = record(&row)? {
                values.push(value);
            }
        }
        Ok(values)
    }

    async fn heads(&self, keys: &[ConversationKey]) -> Result<Vec<Head>> {
        let namespaces: Vec<_> = keys.iter().map(|key| key.namespace.as_str()).collect();
        let ids: Vec<_> = keys.iter().map(|key| key.id.as_str()).collect();
        let rows = self.database.query(HEADS, &[&namespaces, &ids]).await?;
        rows.iter().map(|row| Ok(head(&key_of(row)?.namespace, row)?.head)).collect()
    }

    async fn sharing(&self, key: &ConversationKey) -> Result<Vec<(ConversationKey, Sequence)>> {
        let rows = self.database.query(SHARING, &[&key.namespace.as_str(), &key.id.as_str()]).await?;
        rows.iter().map(|row| Ok((key_of(row)?, sequence(row.get(2))))).collect()
    }

    async fn active(&self, recipient: &RecipientKey) -> Result<Option<ConversationId>> {
        Ok(active_unless(&self.actives, recipient, None).await?.flatten())
    }

    async fn list(&self, list: List) -> Result<Vec<Head>> {
        let rows = page(&self.database, &list, HEAD).await?;
        rows.iter().map(|row| Ok(head(list.of.namespace(), row)?.head)).collect()
    }

    async fn newest_keys(&self, recipient: &RecipientKey, limit: usize) -> Result<Vec<ConversationKey>> {
        let list = List::newest(recipient, limit);
        let rows = page(&self.database, &list, "id").await?;
        rows.iter().map(|row| Ok(list.of.key(conversation_id(row.get("id"))?))).collect()
    }

    async fn ended_beyond(
        &self,
        recipient: &RecipientKey,
        keep: usize,
        limit: usize,
    ) -> Result<Vec<ConversationId>> {
        let (keep, limit) = (keep as i64, limit as i64);
        let (namespace, id) = (recipient.namespace.as_str(), recipient.id.as_str());
        let params: [&(dyn ToSql + Sync); 4] = [&namespace, &id, &keep, &limit];
        let rows = self.database.query(ENDED_BEYOND, &params).await?;
        rows.iter().map(|row| conversation_id(row.get(0))).collect()
    }

    /// An outcome that is older than `oldest` is removed.
    async fn outcome(&self, key: &OutcomeKey, oldest: Timestamp) -> Result<Option<Arc<Outcome>>> {
        let mut connection = self.database.connection().await?;
        let (namespace, request) = (key.namespace.as_str(), key.request.as_str());
        let rows = connection.query(OUTCOME, &[&namespace, &request, &key.rpc]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        if row.get::<_, Time>(0).0 < oldest {
            let params: [&(dyn ToSql + Sync); 4] = [&namespace, &request, &key.rpc, &Time(oldest)];
            connection.query(REMOVE_OUTCOME, &params).await?;
            return Ok(None);
        }
        Ok(Some(decoded::<Outcomes>(&OutcomeName::of(key), row.get(1))?))
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Due>> {
        let rows = self.database.query(DUE, &[&Time(now), &(limit as i64)]).await?;
        rows.iter().map(|row| Ok(Due::Expired(key_of(row)?))).collect()
    }

    async fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, ConversationKey)>> {
        let time = Time(after.as_ref().map_or(Timestamp(i64::MIN), |(time, _)| *time));
        let namespace = after.as_ref().map_or("", |(_, key)| key.namespace.as_str());
        let id = after.as_ref().map_or("", |(_, key)| key.id.as_str());
        let params: [&(dyn ToSql + Sync); 4] = [&time, &namespace, &id, &(limit as i64)];
        let rows = self.database.query(WAITING, &params).await?;
        rows.iter().map(|row| Ok((row.get::<_, Time>(2).0, key_of(row)?))).collect()
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
