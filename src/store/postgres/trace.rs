//! The events of commits.
//!
//! Events are in the order of their transactions' numbers, and within a transaction of several commits in the
//! order of their change ids. A commit can take effect after one with a greater number. So a reader sees only
//! events older than every transaction in flight: no event ever appears before one that was already read.

use super::{
    connection::database::{Connection, Database},
    place::{Place, PlaceKey},
    read::wrong,
    types::Uuid,
};
use crate::{
    domain::Namespace,
    store::{Result, StoreError, TracePage, TracePlace},
};

const KEY: &str = "SELECT key FROM horizon";

const END: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text";

const BOUNDS: &str = "SELECT commit::text, pg_snapshot_xmax(pg_current_snapshot())::text FROM horizon";

const EVENTS: &str = "SELECT commit::text, events FROM changes
    WHERE namespace = $1 AND commit >= $2::text::xid8 AND events IS NOT NULL
        AND commit < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY commit, change LIMIT $3";

impl Database {
    /// Returns the place behind every event that can be read.
    pub(super) async fn trace_end(&self, namespace: &Namespace) -> Result<TracePlace> {
        let mut connection = self.connection().await?;
        let key = self.key(&mut connection).await?;
        let rows = connection.query(END, &[]).await?;
        let commit = rows.first().map_or(Ok(0), |row| number(row.get(0)))?;
        Ok(key.seal(namespace, Place { commit, events: 0 }))
    }

    /// Returns the events behind a place.
    pub(super) async fn trace(
        &self,
        namespace: &Namespace,
        after: TracePlace,
        limit: usize,
    ) -> Result<TracePage> {
        let mut connection = self.connection().await?;
        let key = self.key(&mut connection).await?;
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

    /// Returns the key of places. It never changes.
    async fn key(&self, connection: &mut Connection) -> Result<PlaceKey> {
        if let Some(key) = self.place_key().get() {
            return Ok(*key);
        }
        let rows = connection.query(KEY, &[]).await?;
        let missing = || StoreError::Unavailable("the database has no key for events".to_owned());
        let Uuid(key) = rows.first().ok_or_else(missing)?.get(0);
        Ok(*self.place_key().get_or_init(|| PlaceKey(key)))
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
