//! Where the servers of a sequence store their data.

use std::{path::Path, sync::Arc};

use tempfile::TempDir;
use utterd::{
    config::{DurableEngine, Settings},
    server::Server,
    store::MemoryStore,
};

use crate::{
    shared::Shared,
    support::{ManualClock, postgres::Cluster, schema::Schema, server_in, server_in_memory},
};

/// The stores that the sequences of a test run over.
#[derive(Clone, Copy)]
pub enum Over {
    /// The memory store, for one server.
    Memory,
    /// A durable store in files, for one server.
    Files(DurableEngine),
    /// A memory store that two servers share.
    Two,
    /// PostgreSQL, for one server.
    Postgres(&'static Cluster),
    /// PostgreSQL, for two servers.
    TwoOfPostgres(&'static Cluster),
}

/// The store of one sequence.
pub enum Place {
    /// It disappears with its server.
    Memory,
    /// In memory, and outlives its servers.
    Shared(Shared),
    /// In its own directory.
    Directory(DurableEngine, TempDir),
    /// In its own schema, for so many servers.
    Schema(Schema, usize),
}

impl Place {
    /// A new store, its directory below `directories`.
    pub fn of(over: Over, directories: &Path) -> Self {
        match over {
            Over::Two => Self::Shared(Shared::new(Arc::new(MemoryStore::new(0)))),
            Over::Memory => Self::Memory,
            Over::Files(engine) => {
                Self::Directory(engine, tempfile::tempdir_in(directories).expect("a directory"))
            }
            Over::Postgres(cluster) => Self::Schema(Schema::new(cluster), 1),
            Over::TwoOfPostgres(cluster) => Self::Schema(Schema::new(cluster), 2),
        }
    }

    /// The number of servers over the store.
    pub fn engines(&self) -> usize {
        match self {
            Self::Memory | Self::Directory(..) => 1,
            Self::Shared(_) => 2,
            Self::Schema(_, servers) => *servers,
        }
    }

    /// Whether a server finds what the previous one has stored.
    pub fn is_durable(&self) -> bool {
        !matches!(self, Self::Memory)
    }

    /// A server over the store, which no other server may be using unless it is shared.
    pub fn server(&self, settings: &Settings, clock: &Arc<ManualClock>) -> Result<Server, String> {
        match self {
            Self::Memory => return Ok(server_in_memory(settings, clock)),
            Self::Shared(store) => Server::over(Arc::new(store.clone()), settings, clock.clone()),
            Self::Directory(engine, directory) => server_in(directory.path(), *engine, settings, clock),
            Self::Schema(schema, _) => Server::new(&schema.settings(settings), clock.clone()),
        }
        .map_err(|error| format!("the server does not start: {error}"))
    }
}
