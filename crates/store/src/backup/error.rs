//! Why a backup cannot be used.

use std::{io, path::PathBuf};

use super::block::{FORMAT, TITLE};
use crate::{StoreError, records::BadRecord};

/// Why a backup cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is not a backup.
    #[error("{} is not a backup: a backup begins with the line `{TITLE}`", .0.display())]
    Foreign(PathBuf),
    /// A newer version wrote the backup.
    #[error(
        "the backup {} has format {format}, and this version reads formats up to {FORMAT}; use the version that wrote it, or a newer one",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The backup's format.
        format: u32,
    },
    /// The end is missing.
    #[error("the backup {} is incomplete: it ends before its last block; use another", .0.display())]
    Cut(PathBuf),
    /// The content differs from what was written.
    #[error("the backup {} is damaged at byte {at}; use another", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset of the damaged part.
        at: u64,
    },
    /// A record in the backup is not readable.
    #[error("a record in the backup {} is not readable: {bad}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The record, and its fault.
        bad: BadRecord,
    },
}

/// Why a backup cannot be restored to a store.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// There is a store already, in a directory or a schema.
    #[error("it already holds a store; choose an empty {0}, or one that does not exist")]
    Taken(&'static str),
    /// The store in the directory or schema is not the one in the backup.
    #[error(
        "what it holds now is not what the backup holds: {record} differs; remove the {what} and restore again"
    )]
    Differs {
        /// The first record that differs.
        record: Box<str>,
        /// Where the store is.
        what: &'static str,
    },
    /// A record that belongs to another one is missing.
    #[error("the records of the backup do not fit together: {0}")]
    Unfit(String),
    /// The backup cannot be read.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The store cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<BadRecord> for RestoreError {
    fn from(bad: BadRecord) -> Self {
        Self::Unfit(bad.to_string())
    }
}
