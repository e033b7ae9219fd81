//! Work on whole stores: on files while no server uses them, and on databases.

use std::path::{Path, PathBuf};

use crate::{
    config::{Database, Files, Place, Settings},
    server::{
        database::{self, DatabaseError},
        stores,
    },
    store::{
        StoreError,
        durable::{
            self, Backup, BackupError, CopyError, CopyPlace, Directory, OpenError, key_value::Ordered,
        },
        postgres,
    },
};

pub use crate::store::durable::{Copied, Held, Report, Scrubbed};

/// Why a store cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum UpkeepError {
    /// The files do not belong to a store or belong to another engine, are in use, or are damaged.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The store cannot be checked or rewritten.
    #[error("{0}: {1}")]
    Store(Place, StoreError),
    /// The store cannot be copied.
    #[error("cannot copy {0} to {1}: {2}")]
    Copy(Place, Place, Box<CopyError>),
    /// The backup cannot be used.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The backup cannot be restored to a store.
    #[error("cannot restore {0} to {1}: {2}")]
    Restore(PathBuf, Files, Box<CopyError>),
}

/// The progress of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copying {
    /// This much of a backup is read and intact.
    Checked(Held),
    /// This much is copied and compared.
    Copied(Copied),
    /// Everything is copied, and this many records of the copy are verified.
    Verified(u64),
}

/// Copies a store, compares both, and verifies the copy. The settings say how databases are reached.
///
/// - Creates the target store if there is none, and completes one that holds an interrupted copy of
///   the same store.
/// - Copies a database as of one moment. Servers may use it, but not a database that is copied to.
/// - Reports to `progress` from time to time.
pub fn copy(
    from: &Place,
    to: &Place,
    settings: &Settings,
    progress: &mut dyn FnMut(Copying),
) -> Result<(Copied, Report), UpkeepError> {
    match from {
        Place::Files(files) => {
            if let Place::Files(target) = to
                && durable::is_same(&files.directory, &target.directory)
            {
                let same = CopyError::Same(files.directory.as_path().into());
                return Err(UpkeepError::Copy(from.clone(), to.clone(), Box::new(same)));
            }
            let source = open(files)?;
            source.check_finished()?;
            copy_records(&source.pairs(), from, to, settings, progress)
        }
        Place::Database(database) => {
            let options = finished(settings, database)?;
            if let Place::Database(target) = to
                && is_same(&options, &options_of(settings, target)?)
            {
                let same = CopyError::Same(CopyPlace::Schema(options.schema, options.url.to_string()));
                return Err(UpkeepError::Copy(from.clone(), to.clone(), Box::new(same)));
            }
            let work = |source: &postgres::Snapshot<'_>| copy_records(source, from, to, settings, progress);
            postgres::read(&options, work).map_err(|error| UpkeepError::Store(from.clone(), error))?
        }
    }
}

fn copy_records(
    source: &dyn Ordered,
    from: &Place,
    to: &Place,
    settings: &Settings,
    progress: &mut dyn FnMut(Copying),
) -> Result<(Copied, Report), UpkeepError> {
    let failed = |error| UpkeepError::Copy(from.clone(), to.clone(), Box::new(error));
    match to {
        Place::Files(files) => {
            let target = open_or_create(files)?;
            let copied = durable::copy(source, &target, &mut |it| progress(Copying::Copied(it)));
            Ok((copied.map_err(failed)?, verified(&target, to, progress)?))
        }
        Place::Database(database) => {
            let options = options_of(settings, database)?;
            let copied = postgres::copy(source, &from.to_string(), &options, &mut |it| {
                progress(Copying::Copied(it));
            });
            let copied = copied.map_err(failed)?;
            Ok((copied, verify(to, settings, &mut |records| progress(Copying::Verified(records)))?))
        }
    }
}

fn is_same(one: &postgres::Options, other: &postgres::Options) -> bool {
    (&one.url, &one.schema) == (&other.url, &other.schema)
}

/// How a database is reached: the settings, and what the place names instead.
fn options_of(settings: &Settings, place: &Database) -> Result<postgres::Options, DatabaseError> {
    database::options(&named(settings, place))
}

/// The same, for a schema that must be complete.
fn finished(settings: &Settings, place: &Database) -> Result<postgres::Options, UpkeepError> {
    let settings = named(settings, place);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| DatabaseError::Store(StoreError::Unavailable(error.to_string())))?;
    runtime.block_on(database::check_finished(&settings))?;
    Ok(database::options(&settings)?)
}

fn named(settings: &Settings, place: &Database) -> Settings {
    let Database { url, schema } = place.clone();
    let settings = settings.clone();
    Settings {
        database_url: url.or(settings.database_url),
        database_schema: schema.unwrap_or(settings.database_schema),
        ..settings
    }
}

/// Reads a whole backup and returns what it holds; reports to `progress` from time to time.
pub fn check_backup(file: &Path, progress: &mut dyn FnMut(Held)) -> Result<Held, UpkeepError> {
    Ok(Backup::check(file, progress)?.1)
}

/// Restores a backup to a store, compares both, and verifies the store.
///
/// - Reads the whole file first: nothing is restored from one that is truncated or damaged.
/// - Creates the store if there is none, and completes one that holds an interrupted restore of the same backup.
/// - Reports to `progress` from time to time.
pub fn restore(
    file: &Path,
    to: &Files,
    progress: &mut dyn FnMut(Copying),
) -> Result<(Copied, Report), UpkeepError> {
    let (backup, _) = Backup::check(file, &mut |held| progress(Copying::Checked(held)))?;
    let target = open_or_create(to)?;
    let copied = durable::copy(&backup, &target, &mut |copied| progress(Copying::Copied(copied)));
    let copied =
        copied.map_err(|error| UpkeepError::Restore(file.to_owned(), to.clone(), Box::new(error)))?;
    Ok((copied, verified(&target, &Place::Files(to.clone()), progress)?))
}

fn verified(
    target: &Directory,
    place: &Place,
    progress: &mut dyn FnMut(Copying),
) -> Result<Report, UpkeepError> {
    let report = durable::verify(target, &mut |records| progress(Copying::Verified(records)));
    report.map_err(|error| UpkeepError::Store(place.clone(), error))
}

/// Checks every record of a store; reports the number read to `progress` from time to time. Servers may use a
/// database meanwhile: the settings say how it is reached.
pub fn verify(
    place: &Place,
    settings: &Settings,
    progress: &mut dyn FnMut(u64),
) -> Result<Report, UpkeepError> {
    let report = match place {
        Place::Files(files) => durable::verify(&open(files)?, progress),
        Place::Database(database) => postgres::verify(&finished(settings, database)?, progress),
    };
    report.map_err(|error| UpkeepError::Store(place.clone(), error))
}

/// Rewrites the files of a store without the records that were removed.
pub fn scrub(files: &Files) -> Result<Scrubbed, UpkeepError> {
    let scrubbed = durable::scrub(&mut open(files)?);
    scrubbed.map_err(|error| UpkeepError::Store(Place::Files(files.clone()), error))
}

fn open(files: &Files) -> Result<Directory, OpenError> {
    Directory::open(stores::kind(files.engine), &files.directory)
}

fn open_or_create(files: &Files) -> Result<Directory, OpenError> {
    Directory::open_or_create(stores::kind(files.engine), &files.directory)
}
