//! Work on the files of durable stores while no server uses them.

use std::path::{Path, PathBuf};

use crate::{
    config::Place,
    domain::{ConversationId, ConversationKey, IdError, Namespace, RecipientId},
    server::stores,
    store::{
        RecipientKey, StoreError,
        durable::{self, Backup, BackupError, CopyError, Directory, OpenError, Options},
    },
};

pub use crate::store::durable::{Copied, Held, Reindexed, Report, Scope, Scrubbed};

/// Why the files of a store cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum UpkeepError {
    /// The files do not belong to a store or belong to another engine, are in use, or are damaged.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The files cannot be checked or rewritten.
    #[error("{0}: {1}")]
    Store(Place, StoreError),
    /// The files cannot be copied.
    #[error("cannot copy {0} to {1}: {2}")]
    Copy(Place, Place, CopyError),
    /// The backup cannot be used.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The named recipient or conversation is not in the store.
    #[error("there is no {1} in {0}")]
    Missing(Place, String),
    /// The backup cannot be restored to a store.
    #[error("cannot restore {0} to {1}: {2}")]
    Restore(PathBuf, Place, CopyError),
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

/// Copies a store, compares both, and verifies the copy.
///
/// - Creates the target store if there is none, and completes one that holds an interrupted copy of
///   the same store.
/// - Reports to `progress` from time to time.
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
    let target = open_or_create(to)?;
    let copied = durable::copy(&source, &target, &mut |copied| progress(Copying::Copied(copied)));
    Ok((copied.map_err(failed)?, verified(&target, to, progress)?))
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
    to: &Place,
    progress: &mut dyn FnMut(Copying),
) -> Result<(Copied, Report), UpkeepError> {
    let (backup, _) = Backup::check(file, &mut |held| progress(Copying::Checked(held)))?;
    let target = open_or_create(to)?;
    let copied = durable::restore(&backup, &target, &mut |copied| progress(Copying::Copied(copied)));
    let copied = copied.map_err(|error| UpkeepError::Restore(file.to_owned(), to.clone(), error))?;
    Ok((copied, verified(&target, to, progress)?))
}

fn verified(
    target: &Directory,
    place: &Place,
    progress: &mut dyn FnMut(Copying),
) -> Result<Report, UpkeepError> {
    let report = durable::verify(target, &mut |records| progress(Copying::Verified(records)));
    report.map_err(|error| UpkeepError::Store(place.clone(), error))
}

/// Checks every record of a store; reports the number read to `progress` from time to time.
pub fn verify(place: &Place, progress: &mut dyn FnMut(u64)) -> Result<Report, UpkeepError> {
    durable::verify(&open(place)?, progress).map_err(|error| UpkeepError::Store(place.clone(), error))
}

/// Returns the scope of one conversation or one recipient of a namespace; everything in all namespaces if neither is
/// named. The error says which name is wrong.
pub fn scope(namespace: &str, recipient: Option<&str>, conversation: Option<&str>) -> Result<Scope, String> {
    let wrong = |what: &'static str| move |error: IdError| format!("{what} {error}");
    let namespace = Namespace::new(namespace).map_err(wrong("the namespace"))?;
    Ok(match (recipient, conversation) {
        (_, Some(id)) => {
            let id = ConversationId::new(id).map_err(wrong("the conversation"))?;
            Scope::Conversation(ConversationKey { namespace, id })
        }
        (Some(id), None) => {
            let id = RecipientId::new(id).map_err(wrong("the recipient"))?;
            Scope::Recipient(RecipientKey { namespace, id })
        }
        (None, None) => Scope::All,
    })
}

/// Rebuilds the stored search index of conversations; reports the number of index blocks seen to `progress` from time
/// to time.
///
/// - Fails if a named recipient or conversation is not in the store.
pub fn reindex(
    place: &Place,
    scope: &Scope,
    progress: &mut dyn FnMut(u64),
) -> Result<Reindexed, UpkeepError> {
    let reindexed = durable::reindex(open(place)?, scope, progress)
        .map_err(|error| UpkeepError::Store(place.clone(), error))?;
    let missing = match scope {
        Scope::Recipient(recipient) => {
            format!("conversation of recipient {} in namespace {}", recipient.id, recipient.namespace)
        }
        Scope::Conversation(key) => format!("conversation {} in namespace {}", key.id, key.namespace),
        Scope::All => return Ok(reindexed),
    };
    match reindexed.conversations {
        0 => Err(UpkeepError::Missing(place.clone(), missing)),
        _ => Ok(reindexed),
    }
}

/// Rewrites the files of a store without what was removed from it.
pub fn scrub(place: &Place) -> Result<Scrubbed, UpkeepError> {
    durable::scrub(&open(place)?).map_err(|error| UpkeepError::Store(place.clone(), error))
}

fn open(place: &Place) -> Result<Directory, OpenError> {
    Directory::open(stores::kind(place.engine), &place.directory, cache_bytes())
}

fn open_or_create(place: &Place) -> Result<Directory, OpenError> {
    Directory::open_or_create(stores::kind(place.engine), &place.directory, cache_bytes())
}

/// The memory for an engine's cache: as much as a server's store has.
fn cache_bytes() -> u64 {
    Options::default().cache_bytes
}
