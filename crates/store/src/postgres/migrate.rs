//! The versions of the schema.

use tokio_postgres::Client;

use super::{
    Options,
    connection::{
        connect::{connected, quoted},
        fault::unavailable,
    },
};
use crate::{Result, StoreError};

/// A version of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// Its number, from 1.
    pub version: i32,
    sql: &'static str,
}

/// Every version, ascending.
const MIGRATIONS: [Migration; 1] = [Migration { version: 1, sql: include_str!("migrations/1.sql") }];

/// A migration keeps the servers of earlier versions working. One that cannot has the next multiple of this number, and
/// those servers refuse the schema.
const BREAKING: i32 = 100;

/// The key of the advisory lock that makes concurrent migrations run one after the other.
const LOCK: i64 = 0x7574_7465_7264;

/// The versions before and after a migration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migrated {
    /// The version before.
    pub from: i32,
    /// The version now.
    pub to: i32,
}

/// Brings the schema to the newest version.
///
/// - Each version is applied in a transaction: entirely, or not at all.
/// - Leaves a newer schema as it is. Fails if servers of this version cannot use it.
pub async fn migrate(options: &Options) -> Result<Migrated> {
    let client = connected(options).await?;
    let schema = quoted(&options.schema);
    let begin = format!(
        "BEGIN; SELECT pg_advisory_xact_lock({LOCK}); CREATE SCHEMA IF NOT EXISTS {schema};
        SET LOCAL search_path = {schema};
        CREATE TABLE IF NOT EXISTS migrations (
            version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now()
        )"
    );
    let run = async |sql: &str| client.batch_execute(sql).await.map_err(|error| unavailable(&error));
    run(&begin).await?;
    let from = version(&client).await?;
    check_known(from)?;
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > from) {
        run(migration.sql).await?;
        run(&format!("INSERT INTO migrations (version) VALUES ({})", migration.version)).await?;
    }
    run("COMMIT").await?;
    Ok(Migrated { from, to: from.max(newest()) })
}

/// Returns the versions that are not applied yet. Changes nothing.
pub async fn pending(options: &Options) -> Result<Vec<Migration>> {
    let client = connected(options).await?;
    let table = format!("{}.migrations", quoted(&options.schema));
    let exists = client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&table]).await;
    let from = match exists.map_err(|error| unavailable(&error))?.get(0) {
        true => {
            let path = format!("SET search_path = {}", quoted(&options.schema));
            client.batch_execute(&path).await.map_err(|error| unavailable(&error))?;
            version(&client).await?
        }
        false => 0,
    };
    check_known(from)?;
    Ok(MIGRATIONS.into_iter().filter(|migration| migration.version > from).collect())
}

fn newest() -> i32 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0)
}

fn check_known(version: i32) -> Result<()> {
    match version / BREAKING > newest() / BREAKING {
        true => Err(StoreError::Unavailable(format!(
            "the schema is of version {version}, and this program knows versions up to {}: use a newer utterd",
            newest()
        ))),
        false => Ok(()),
    }
}

async fn version(client: &Client) -> Result<i32> {
    let row = client.query_one("SELECT coalesce(max(version), 0) FROM migrations", &[]).await;
    Ok(row.map_err(|error| unavailable(&error))?.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbered_in_order() {
        let versions: Vec<_> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert_eq!(versions, (1..=newest()).collect::<Vec<_>>());
    }
}
