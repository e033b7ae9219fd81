//! Work on whole stores: on files while no server uses them, and on databases.

use std::{
    cell::Cell,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::runtime::Runtime;

use crate::{
    database::{self, DatabaseError},
    process, stores,
};
use utterd_config::{Database, Files, Place, Settings};
use utterd_store::{
    EachRecord, Store, StoreError,
    backup::{self, Backup, BackupError, RestoreError},
    durable::{self, Directory, DurableStore, OpenError, Options},
    verify::Survey,
};

pub use utterd_store::{backup::Held, durable::Scrubbed, verify::Report};

/// Why a store cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum UpkeepError {
    /// The files do not belong to a store or belong to another engine, are in use, or are damaged.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The store cannot be read or rewritten.
    #[error("{0}: {1}")]
    Store(Place, StoreError),
    /// The backup cannot be used.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The backup cannot be restored to a store.
    #[error("cannot restore {0} to {1}: {2}")]
    Restore(PathBuf, Place, Box<RestoreError>),
    /// What is written cannot be put away, or the process can start nothing.
    #[error(transparent)]
    File(#[from] io::Error),
}

/// Passes the bytes of a backup of a store to `send`, as of one moment. Servers may use a database meanwhile; the
/// settings say how it is reached.
pub fn backup(
    from: &Place,
    settings: &Settings,
    send: &mut dyn FnMut(Vec<u8>) -> io::Result<()>,
) -> Result<(), UpkeepError> {
    let failed = Cell::new(None);
    // the first error is the cause of those that follow it
    let told = |error: UpkeepError| {
        let told = StoreError::Unavailable(error.to_string());
        failed.set(failed.take().or(Some(error)));
        told
    };
    let written = backup::write(|each| each_record(from, settings, each).map_err(told), &mut |bytes| {
        send(bytes).map_err(|error| told(error.into()))
    });
    match failed.take() {
        Some(error) => Err(error),
        None => written.map_err(|error| UpkeepError::Store(from.clone(), error)),
    }
}

/// Reads a whole backup and returns what it holds.
pub fn check_backup(file: &Path) -> Result<Held, UpkeepError> {
    Ok(Backup::check(file)?.1)
}

/// Restores a backup to a store, compares both, and verifies the store. The settings say how a database is reached.
///
/// - Reads the whole file first: nothing is restored from one that is truncated or damaged.
/// - Creates the store if there is none. Completes one in files that an interrupted restore of the same backup began;
///   in a database, an interrupted restore leaves nothing.
pub fn restore(file: &Path, to: &Place, settings: &Settings) -> Result<(Held, Report), UpkeepError> {
    let (backup, held) = Backup::check(file)?;
    let restored = match to {
        Place::Files(Files { engine, directory }) => {
            let directory = Directory::open_or_create(stores::kind(*engine), directory)?;
            durable::restore(&backup, directory)
        }
        Place::Database(database) => database::restore(&named(settings, database), &backup)?,
    };
    restored.map_err(|error| UpkeepError::Restore(file.to_owned(), to.clone(), Box::new(error)))?;
    Ok((held, verify(to, settings)?))
}

/// Checks everything in a store. Servers may use a database meanwhile: the settings say how it is reached.
pub fn verify(place: &Place, settings: &Settings) -> Result<Report, UpkeepError> {
    let mut survey = Survey::default();
    each_record(place, settings, &mut |record| {
        survey.record(record);
        Ok(())
    })?;
    let runtime = process::runtime()?;
    let store = open(place, settings, &runtime)?;
    Ok(runtime.block_on(survey.check(&*store)))
}

/// Passes every record of a store to `each`.
fn each_record(place: &Place, settings: &Settings, each: &mut EachRecord<'_>) -> Result<(), UpkeepError> {
    let passed = match place {
        Place::Files(files) => finished(files)?.each_record(each),
        Place::Database(database) => {
            let (settings, runtime) = (named(settings, database), process::runtime()?);
            runtime.block_on(database::check(&settings))?;
            database::each_record(&settings, each)?
        }
    };
    passed.map_err(|error| UpkeepError::Store(place.clone(), error))
}

/// Opens a store that exists.
fn open(place: &Place, settings: &Settings, runtime: &Runtime) -> Result<Arc<dyn Store>, UpkeepError> {
    let _entered = runtime.enter();
    Ok(match place {
        Place::Files(Files { engine, directory }) => {
            Arc::new(DurableStore::open(stores::kind(*engine), directory, &Options::default())?)
        }
        Place::Database(database) => database::open(&named(settings, database))?,
    })
}

/// How a database is reached: the settings, and what the place names instead.
fn named(settings: &Settings, place: &Database) -> Settings {
    let Database { url, schema } = place.clone();
    let settings = settings.clone();
    Settings {
        database_url: url.or(settings.database_url),
        database_schema: schema.unwrap_or(settings.database_schema),
        ..settings
    }
}

/// Rewrites the files of a store without the records that were removed.
pub fn scrub(files: &Files) -> Result<Scrubbed, UpkeepError> {
    let scrubbed = durable::scrub(&mut finished(files)?);
    scrubbed.map_err(|error| UpkeepError::Store(Place::Files(files.clone()), error))
}

/// Opens files that are not the beginning of a restore.
fn finished(files: &Files) -> Result<Directory, OpenError> {
    let directory = Directory::open(stores::kind(files.engine), &files.directory)?;
    directory.check_finished()?;
    Ok(directory)
}
