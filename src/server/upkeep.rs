//! What is done with the files of durable stores while no server uses them.

use crate::{
    config::Place,
    server::stores,
    store::{
        StoreError,
        durable::{self, CopyError, Directory, OpenError, Options},
    },
};

pub use crate::store::durable::{Copied, Report, Scrubbed};

/// Why the files of a store cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum UpkeepError {
    /// The files are no store's, are another engine's, are in use or damaged.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The files cannot be checked or rewritten.
    #[error("{0}: {1}")]
    Store(Place, StoreError),
    /// The files cannot be copied.
    #[error("cannot copy {0} to {1}: {2}")]
    Copy(Place, Place, CopyError),
}

/// How far a copy has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copying {
    /// So much is copied and compared.
    Copied(Copied),
    /// All is copied, and so many records of the copy are verified.
    Verified(u64),
}

/// Copies a store, compares both, and verifies the copy.
///
/// - The store to copy into is created where there is none; one that holds an interrupted copy of
///   the same store is completed.
/// - Tells `progress` now and then how far it is.
pub fn copy(
    from: &Place,
    to: &Place,
    progress: &mut dyn FnMut(Copying),
) -> Result<(Copied, Report), UpkeepError> {
    let failed = |error| UpkeepError::Copy(from.clone(), to.clone(), error);
    if durable::is_same(&from.directory, &to.directory) {
        return Err(failed(CopyError::Same(from.directory.clone())));
    }
    let source = open(from)?;
    let target = Directory::open_or_create(stores::kind(to.engine), &to.directory, cache_bytes())?;
    let copied = durable::copy(&source, &target, &mut |copied| progress(Copying::Copied(copied)));
    let copied = copied.map_err(failed)?;
    let report = durable::verify(&target, &mut |records| progress(Copying::Verified(records)));
    Ok((copied, report.map_err(|error| UpkeepError::Store(to.clone(), error))?))
}

/// Looks at every record of a store; tells `progress` now and then how many were read.
pub fn verify(place: &Place, progress: &mut dyn FnMut(u64)) -> Result<Report, UpkeepError> {
    durable::verify(&open(place)?, progress).map_err(|error| UpkeepError::Store(place.clone(), error))
}

/// Rewrites the files of a store without what was removed from it.
pub fn scrub(place: &Place) -> Result<Scrubbed, UpkeepError> {
    durable::scrub(&open(place)?).map_err(|error| UpkeepError::Store(place.clone(), error))
}

fn open(place: &Place) -> Result<Directory, OpenError> {
    Directory::open(stores::kind(place.engine), &place.directory, cache_bytes())
}

/// Memory for an engine's cache: what a server's store has.
fn cache_bytes() -> u64 {
    Options::default().cache_bytes
}
