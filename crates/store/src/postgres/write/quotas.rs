//! Enforces quotas on what namespaces store, which is counted in the database.
//!
//! With quotas, the commits of a namespace wait for each other, as each updates the namespace's row in `usage`.
//! A server without quotas does not update `usage`, so a server with quotas counts everything anew before its
//! first commit.

use std::sync::Arc;

use parking_lot::RwLock;
use tokio::sync::OnceCell;

use crate::postgres::connection::database::Database;
use crate::{
    Commit, Quotas, Result, StoreError,
    quotas::{Growth, Usage, check},
};
use utterd_domain::Namespace;

/// Adds to the usage of a namespace; fails if that exceeds a quota.
pub const TAKE: &str = "WITH taken AS (
        INSERT INTO usage AS u (namespace, conversations, bytes) VALUES ($1, $2, $3)
        ON CONFLICT (namespace) DO UPDATE
            SET conversations = u.conversations + $2, bytes = u.bytes + $3
        RETURNING conversations, bytes
    )
    SELECT expect(
        ($2 <= 0 OR $4::int8 IS NULL OR conversations <= $4) AND ($3 <= 0 OR $5::int8 IS NULL OR bytes <= $5),
        'the quota'
    ) FROM taken";

const USED: &str = "SELECT conversations, bytes FROM usage WHERE namespace = $1";

/// Counts the usage of all namespaces while no server writes.
const COUNT: &str = "BEGIN; SET LOCAL statement_timeout = 0;
    LOCK TABLE conversations IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM usage;
    INSERT INTO usage (namespace, conversations, bytes)
        SELECT namespace, count(*) FILTER (WHERE listed), sum(bytes) FROM conversations GROUP BY namespace;
    COMMIT";

/// The quotas, if any are set. Clones share them.
#[derive(Clone, Default)]
pub struct Ledger(Arc<Inner>);

#[derive(Default)]
struct Inner {
    quotas: RwLock<Option<Quotas>>,
    counted: OnceCell<()>,
}

/// What a commit adds to a namespace with quotas.
#[derive(Clone, Debug)]
pub struct Taken {
    pub namespace: Namespace,
    pub added: Usage,
    pub quotas: Quotas,
}

impl Ledger {
    /// Sets the quotas. The first commit with quotas counts everything that is stored.
    pub fn set(&self, quotas: Quotas) {
        *self.0.quotas.write() = Some(quotas);
    }

    /// Returns what the commit adds to each namespace; nothing if there are no quotas.
    pub async fn taken(&self, database: &Database, commit: &Commit) -> Result<Vec<Taken>> {
        let Some(quotas) = *self.0.quotas.read() else { return Ok(Vec::new()) };
        self.0.counted.get_or_try_init(|| count(database)).await?;
        let growth = Growth::of(commit);
        let taken = growth.each().filter(|(_, added)| *added != Usage::default());
        Ok(taken
            .map(|(namespace, added)| Taken { namespace: namespace.clone(), added: *added, quotas })
            .collect())
    }
}

async fn count(database: &Database) -> Result<()> {
    database.connection().await?.run_long(COUNT).await
}

impl Taken {
    /// Returns why the growth was refused; `None` if there is room for it by now.
    pub async fn refusal(&self, database: &Database) -> Result<Option<StoreError>> {
        let rows = database.query(USED, &[&self.namespace.as_str()]).await?;
        let used = rows
            .first()
            .map_or(Usage::default(), |row| Usage { conversations: row.get(0), bytes: row.get(1) });
        Ok(check(&self.quotas, &self.namespace, used, self.added).err())
    }
}
