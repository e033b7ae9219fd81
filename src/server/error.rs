//! Why there is no server.

use std::{io, path::PathBuf};

use super::tls::TlsError;
use crate::{
    config::Listen,
    domain::Refusal,
    server::guard::GuardError,
    store::{StoreError, durable::OpenError},
    summarizer::SetupError,
};

/// Why a server cannot start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}; choose another address with --listen")]
    Listen {
        /// The address.
        address: Listen,
        /// What the system says.
        error: io::Error,
    },
    /// Others could reach the address, and it is not guarded.
    #[error("does not listen on {address}: {lacking}")]
    Exposed {
        /// The address.
        address: Listen,
        /// What is missing.
        lacking: &'static str,
    },
    /// Connections cannot be encrypted.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The store does not hold namespaces to the quotas that are set.
    #[error("namespaces cannot be held to their quotas: {0}")]
    Quotas(StoreError),
    /// The clock shows no time that a store can write down.
    #[error(
        "the clock is before 1970 or after 9999, and the store needs the time: set the clock, or use --backend memory"
    )]
    Clock,
    /// The settings do not go together.
    #[error("the settings do not go together: {0}")]
    Settings(#[from] Refusal),
    /// The credentials cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// A model that is to make summaries, or to embed, cannot be asked.
    #[error(transparent)]
    Model(#[from] SetupError),
    /// A history cannot be migrated.
    #[error("cannot migrate {}: {reason}; nothing of it was stored", file.display())]
    Migrate {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A worker thread or its runtime could not be started.
    #[error("cannot start a worker: {0}")]
    Worker(io::Error),
    /// The descriptors for reflection are broken.
    #[error("cannot serve reflection: {0}")]
    Reflection(String),
}
