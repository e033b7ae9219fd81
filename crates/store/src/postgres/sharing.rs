//! What processes that share the database learn of each other: claims, changes, and the events of commits.
//!
//! # Changes that no hint announced
//!
//! A process can die between its commit and the notification. So whoever watches something asks for it every few
//! seconds; such questions share statements. The alternative, reading all new rows of `changes`, would need an index that
//! every commit has to write, and each server would read changes that it does not watch.
//!
//! # Events
//!
//! Events are in the order of their transactions' numbers, and within a transaction of several commits in the
//! order of their change ids. A commit can take effect after one with a greater number. So a reader sees only
//! events older than every transaction in flight: no event ever appears before one that was already read.

use tokio_postgres::types::ToSql;

use super::{
    PostgresStore,
    connection::database::Connection,
    place::{Place, PlaceKey},
    read::wrong,
    types::{Time, Uuid},
};
use crate::{
    BoxStream, Claim, Hint, Result, Sharing, StoreError, TracePage, TracePlace, WorkerId, async_trait,
};
use utterd_domain::{ConversationKey, Namespace};

const CLAIM: &str = "INSERT INTO claims AS c (namespace, id, worker, until) VALUES ($1, $2, $3, $4)
    ON CONFLICT (namespace, id) DO UPDATE SET worker = excluded.worker, until = excluded.until
        WHERE c.worker = excluded.worker OR c.until <= $5
    RETURNING 1";

const GIVE_UP: &str = "DELETE FROM claims WHERE namespace = $1 AND id = $2 AND worker = $3";

const KEY: &str = "SELECT key FROM horizon";

const END: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text";

const BOUNDS: &str = "SELECT commit::text, pg_snapshot_xmax(pg_current_snapshot())::text FROM horizon";

// A bare `commit` in ORDER BY would be the text that is selected, in which 1000 precedes 999.
const EVENTS: &str = "SELECT commit::text, events FROM changes
    WHERE namespace = $1 AND commit >= $2::text::xid8 AND events IS NOT NULL
        AND commit < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY changes.commit, change LIMIT $3";

#[async_trait]
impl Sharing for PostgresStore {
    async fn claim(&self, claim: Claim<'_>) -> Result<bool> {
        let key = claim.conversation;
        let params: [&(dyn ToSql + Sync); 5] = [
            &key.namespace.as_str(),
            &key.id.as_str(),
            &Uuid(claim.worker.0.to_be_bytes()),
            &Time(claim.until),
            &Time(claim.now),
        ];
        Ok(!self.database.query(CLAIM, &params).await?.is_empty())
    }

    async fn give_up(&self, key: &ConversationKey, worker: WorkerId) -> Result<()> {
        let worker = Uuid(worker.0.to_be_bytes());
        let params: [&(dyn ToSql + Sync); 3] = [&key.namespace.as_str(), &key.id.as_str(), &worker];
        self.database.query(GIVE_UP, &params).await.map(drop)
    }

    fn hints(&self) -> BoxStream<'static, Hint> {
        self.hints.stream()
    }

    async fn trace_end(&self, namespace: &Namespace) -> Result<TracePlace> {
        let mut connection = self.database.connection().await?;
        let key = self.place_key(&mut connection).await?;
        let rows = connection.query(END, &[]).await?;
        let commit = rows.first().map_or(Ok(0), |row| number(row.get(0)))?;
        Ok(key.seal(namespace, Place { commit, events: 0 }))
    }

    async fn trace(&self, namespace: &Namespace, after: TracePlace, limit: usize) -> Result<TracePage> {
        let mut connection = self.database.connection().await?;
        let key = self.place_key(&mut connection).await?;
        let Some(after) = key.open(namespace, after) else { return Ok(TracePage::Unknown) };
        let events = events(&mut connection, namespace, after, limit).await?;
        // read after the events: if the horizon passed the place meanwhile, some may be missing from the page
        let rows = connection.query(BOUNDS, &[]).await?;
        let Some(row) = rows.first() else { return Ok(TracePage::Gone) };
        let (horizon, next) = (number(row.get(0))?, number(row.get(1))?);
        Ok(match after.commit {
            commit if commit <= horizon => TracePage::Gone,
            commit if commit > next => TracePage::Ahead,
            _ => TracePage::Events(
                events.into_iter().map(|(place, event)| (key.seal(namespace, place), event)).collect(),
            ),
        })
    }
}

impl PostgresStore {
    /// Returns the key of places. It never changes.
    async fn place_key(&self, connection: &mut Connection) -> Result<PlaceKey> {
        if let Some(key) = self.place_key.get() {
            return Ok(*key);
        }
        let rows = connection.query(KEY, &[]).await?;
        let missing = || StoreError::unavailable("the database has no key for events");
        let Uuid(key) = rows.first().ok_or_else(missing)?.get(0);
        Ok(*self.place_key.get_or_init(|| PlaceKey(key)))
    }
}

async fn events(
    connection: &mut Connection,
    namespace: &Namespace,
    after: Place,
    limit: usize,
) -> Result<Vec<(Place, String)>> {
    let (namespace, commit) = (namespace.as_str(), after.commit.to_string());
    // each row has at least one event, so at most `after.events` rows of the place's transaction were already
    // read
    let rows = limit as i64 + i64::from(after.events);
    let mut found = Vec::new();
    let mut last = Place { commit: after.commit, events: 0 };
    for row in connection.query(EVENTS, &[&namespace, &commit, &rows]).await? {
        let commit = number(row.get(0))?;
        for event in row.get::<_, Vec<String>>(1) {
            let events = if commit == last.commit { last.events + 1 } else { 1 };
            last = Place { commit, events };
            if last > after {
                found.push((last, event));
            }
        }
    }
    Ok(found)
}

fn number(text: &str) -> Result<u64> {
    text.parse().map_err(|error| wrong("a transaction's number", error))
}
