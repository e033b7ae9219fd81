//! Where the servers of a sequence keep what they know.

use std::{path::Path, sync::Arc};

use tempfile::TempDir;
use utterd::{
    config::{Backend, DurableEngine, Settings},
    server::Server,
};

use crate::support::{ManualClock, server_in, server_in_memory};

/// The store of one sequence.
pub enum Place {
    /// It ends with its server.
    Memory,
    /// In a directory of its own.
    Directory(DurableEngine, TempDir),
}

impl Place {
    /// A new store, its directory among `directories`.
    pub fn of(backend: Backend, directories: &Path) -> Self {
        match backend {
            Backend::Memory => Self::Memory,
            Backend::Durable(engine) => {
                Self::Directory(engine, tempfile::tempdir_in(directories).expect("a directory"))
            }
        }
    }

    /// Whether a server finds what the one before has stored.
    pub fn is_durable(&self) -> bool {
        !matches!(self, Self::Memory)
    }

    /// A server over the store, which no other may be using.
    pub fn server(&self, settings: &Settings, clock: &Arc<ManualClock>) -> Result<Server, String> {
        match self {
            Self::Memory => Ok(server_in_memory(settings, clock)),
            Self::Directory(engine, directory) => server_in(directory.path(), *engine, settings, clock)
                .map_err(|error| format!("the server does not start: {error}")),
        }
    }
}
