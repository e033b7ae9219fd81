//! Why a server does not run.

use std::{io, path::PathBuf};

use super::{database::DatabaseError, watched::FileError};
use utterd_config::{Listen, Settings, Unbuilt};
use utterd_domain::Refusal;
#[cfg(feature = "llm")]
use utterd_models::summarizer::SetupError;
use utterd_store::{StoreError, durable::OpenError};

/// Refuses to serve `address` if others can reach it and something is missing.
pub(super) fn refuse_exposed(settings: &Settings, address: &Listen) -> Result<()> {
    match settings.exposed(address) {
        Some(lacking) => Err(ServeError::Exposed { address: address.clone(), lacking }),
        None => Ok(()),
    }
}

/// What assembling and starting a server returns.
pub type Result<T, E = ServeError> = std::result::Result<T, E>;

/// Why a server cannot start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}: {error}; choose another address with --{flag}")]
    Listen {
        /// The flag that names the address.
        flag: &'static str,
        /// The address.
        address: Listen,
        /// The system's error.
        error: io::Error,
    },
    /// The socket that was passed to the process cannot be used.
    #[error("cannot listen on the socket that was passed (LISTEN_FDS): {0}")]
    Passed(io::Error),
    /// The process cannot handle signals.
    #[error("cannot handle signals: {0}")]
    Signals(io::Error),
    /// Other machines can reach the address, and it is not protected.
    #[error("refusing to listen on {address}: {lacking}")]
    Exposed {
        /// The address.
        address: Listen,
        /// What is missing.
        lacking: &'static str,
    },
    /// A setting for TLS is missing.
    #[error("TLS: set tls_cert and tls_key together, and tls_client_ca only with them")]
    IncompleteTls,
    /// A file of certificates, credentials or keys cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The store cannot enforce the namespace quotas that are set.
    #[error("cannot enforce the namespace quotas: {0}")]
    Quotas(StoreError),
    /// The clock shows a time that a store cannot record.
    #[error(
        "the clock is before 1970 or after 9999, and the store needs the time: set the clock, or use --backend memory"
    )]
    Clock,
    /// The settings contradict each other.
    #[error("the settings contradict each other: {0}")]
    Settings(#[from] Refusal),
    /// The settings need a part of the program that this build lacks.
    #[error("the settings cannot be used: this program is {0}")]
    Unbuilt(#[from] Unbuilt),
    /// A model for summaries or embeddings cannot be set up.
    #[cfg(feature = "llm")]
    #[error(transparent)]
    Model(#[from] SetupError),
    /// A history cannot be migrated.
    #[error("cannot migrate {}: {reason}; nothing was stored", file.display())]
    Migrate {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The server of this process is ending.
    #[error("this process is ending")]
    Ending,
    /// A worker thread or its runtime could not be started.
    #[error("cannot start a worker: {0}")]
    Worker(io::Error),
    /// The descriptors for reflection are broken.
    #[error("cannot serve reflection: {0}")]
    Reflection(String),
}
