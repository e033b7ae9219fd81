//! Stands for the database in a build without PostgreSQL: none can be used.

use std::sync::Arc;

use utterd_config::{Part, Settings, Unbuilt};
use utterd_store::{
    EachRecord, Store, StoreError,
    backup::{Backup, RestoreError},
};

/// A database cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("this program is {0}")]
pub struct DatabaseError(Unbuilt);

/// The versions of a schema before and after.
#[derive(Clone, Copy, Debug)]
pub struct Migrated {
    /// Before.
    pub from: i32,
    /// After.
    pub to: i32,
}

const UNBUILT: DatabaseError = DatabaseError(Unbuilt(Part::Postgres));

/// Fails.
pub async fn check(_settings: &Settings) -> Result<(), DatabaseError> {
    Err(UNBUILT)
}

/// Fails.
pub async fn migrate(_settings: &Settings) -> Result<Migrated, DatabaseError> {
    Err(UNBUILT)
}

/// Fails.
pub(super) fn open(_settings: &Settings) -> Result<Arc<dyn Store>, DatabaseError> {
    Err(UNBUILT)
}

/// Fails.
pub(super) fn each_record(
    _settings: &Settings,
    _each: &mut EachRecord<'_>,
) -> Result<Result<(), StoreError>, DatabaseError> {
    Err(UNBUILT)
}

/// Fails.
pub(super) fn restore(
    _settings: &Settings,
    _backup: &Backup,
) -> Result<Result<(), RestoreError>, DatabaseError> {
    Err(UNBUILT)
}
