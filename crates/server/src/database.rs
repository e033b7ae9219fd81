//! The database that the settings name.

use std::sync::Arc;

use utterd_config::Settings;
use utterd_store::{
    EachRecord, Store, StoreError,
    backup::{Backup, RestoreError},
    postgres::{self, Options, PostgresStore},
};

pub use utterd_store::postgres::Migrated;

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The settings name none, or name it wrongly.
    #[error("database_url {0}")]
    Url(String),
    /// It cannot be reached, or its schema is not the expected one.
    #[error("{0}")]
    Store(StoreError),
    /// Its schema is of an older version.
    #[error(
        "the schema {schema} of {database} needs version {version}: run `utterd migrate` with the same settings"
    )]
    Behind {
        /// The schema.
        schema: String,
        /// The database.
        database: String,
        /// The first version that it lacks.
        version: i32,
    },
}

/// The database, and how to use it.
fn options(settings: &Settings) -> Result<Options, DatabaseError> {
    let url = settings.database_url.as_ref();
    let url =
        url.ok_or_else(|| DatabaseError::Url("is not set; accepted: the URL of a database".to_owned()))?;
    Ok(Options {
        url: url.with_password().parse().map_err(DatabaseError::Url)?,
        schema: settings.database_schema.clone(),
        connections: settings.database_connections,
        authorities: settings.database_ca.clone(),
        events: settings.database_events,
    })
}

/// Fails unless the database can be reached and its schema is of the version that this program uses.
pub async fn check(settings: &Settings) -> Result<(), DatabaseError> {
    let options = options(settings)?;
    match postgres::pending(&options).await.map_err(DatabaseError::Store)?.first() {
        None => Ok(()),
        Some(first) => Err(DatabaseError::Behind {
            schema: options.schema,
            database: options.url.to_string(),
            version: first.version,
        }),
    }
}

/// Makes the schema, or brings it to the version that this program uses.
pub async fn migrate(settings: &Settings) -> Result<Migrated, DatabaseError> {
    postgres::migrate(&options(settings)?).await.map_err(DatabaseError::Store)
}

/// Opens the store in the database.
pub(super) fn open(settings: &Settings) -> Result<Arc<dyn Store>, DatabaseError> {
    let store = PostgresStore::open(&options(settings)?).map_err(DatabaseError::Store)?;
    Ok(Arc::new(store))
}

/// Passes every record of the database to `each`.
pub(super) fn each_record(
    settings: &Settings,
    each: &mut EachRecord<'_>,
) -> Result<Result<(), StoreError>, DatabaseError> {
    Ok(postgres::each_record(&options(settings)?, each))
}

/// Restores a backup to the database, and compares both.
pub(super) fn restore(
    settings: &Settings,
    backup: &Backup,
) -> Result<Result<(), RestoreError>, DatabaseError> {
    Ok(postgres::restore(backup, &options(settings)?))
}
