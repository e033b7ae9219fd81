//! Background work: finds conversations that are due or wait for a model, and removes old rows.

use tokio_postgres::types::ToSql;

use super::{
    connection::{connect::quoted, database::Database},
    types::{Time, Uuid},
};
use crate::Result;
use utterd_domain::Timestamp;

pub(super) const DUE: &str = "SELECT namespace, id FROM conversations WHERE listed AND expire_time <= $1
    ORDER BY expire_time LIMIT $2";

pub(super) const WAITING: &str = "SELECT namespace, id, waits_since FROM conversations
    WHERE listed AND waits_since IS NOT NULL AND (waits_since, namespace, id) > ($1, $2, $3)
    ORDER BY waits_since, namespace, id LIMIT $4";

/// Removes a batch of old outcomes. Skips those that another process is removing.
const REMOVE_OUTCOMES: &str = "DELETE FROM outcomes WHERE (namespace, request, rpc) IN (
        SELECT namespace, request, rpc FROM outcomes WHERE time < $1 ORDER BY time LIMIT $2
        FOR UPDATE SKIP LOCKED
    )";

/// Removes a batch of old changes in the same way, and moves the horizon, which shows what events are gone.
const REMOVE_CHANGES: &str = "WITH removed AS (
        DELETE FROM changes WHERE (change, namespace, id) IN (
            SELECT change, namespace, id FROM changes WHERE change < $1 ORDER BY change LIMIT $2
            FOR UPDATE SKIP LOCKED
        ) RETURNING commit, events
    ), moved AS (
        UPDATE horizon SET commit = last.commit FROM (
            SELECT commit FROM removed WHERE events IS NOT NULL ORDER BY commit DESC LIMIT 1
        ) AS last WHERE horizon.commit < last.commit
    )
    SELECT FROM removed";

const REMOVE_CLAIMS: &str = "DELETE FROM claims WHERE until < $1";

/// Rows removed by one statement.
const BATCH: i64 = 1_000;

/// The tables that hold text of conversations.
const CONTENTS: [&str; 4] = ["conversations", "utterances", "records", "derived"];

impl Database {
    /// Removes old outcomes, changes and claims; returns the number of removed outcomes.
    pub(super) async fn remove_old(&self, oldest: Timestamp) -> Result<u64> {
        let mut connection = self.connection().await?;
        let removed = connection.repeat(REMOVE_OUTCOMES, &Time(oldest)).await?;
        connection.repeat(REMOVE_CHANGES, &Uuid(first_at(oldest))).await?;
        connection.query(REMOVE_CLAIMS, &[&Time(oldest)]).await?;
        Ok(removed)
    }

    /// Frees the space of removed rows, so that new rows overwrite them.
    pub(super) async fn vacuum(&self) -> Result<()> {
        let connection = self.connection().await?;
        let tables = CONTENTS.map(quoted).join(", ");
        connection.run_long(&format!("VACUUM {tables}")).await
    }
}

impl super::connection::database::Connection {
    /// Runs a statement that removes a batch until nothing is left to remove; returns the number of removed
    /// rows.
    async fn repeat(&mut self, sql: &'static str, before: &(dyn ToSql + Sync)) -> Result<u64> {
        let mut all = 0;
        loop {
            let removed = self.execute(sql, &[before, &BATCH]).await?;
            all += removed;
            if removed < BATCH as u64 {
                return Ok(all);
            }
        }
    }
}

/// Returns the first change id of a time. A change id is a ULID, which begins with the milliseconds since 1970.
fn first_at(time: Timestamp) -> [u8; 16] {
    let millis = (time.0 / 1_000).max(0) as u128;
    (millis << 80).to_be_bytes()
}
