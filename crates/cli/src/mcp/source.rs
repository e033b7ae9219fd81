//! The server whose conversations are offered.

use std::{env, sync::Arc};

use super::{super::serve::log, args, memory::Memory};
use crate::{args::Remote, client::Connection, errors::CliError};
use utterd_config::{Backend, Effective, LogFormat, Settings, Sources};
use utterd_server::{InProcess, Shared};

/// The variable that names the running server, if no flag does.
const SERVER: &str = "UTTERD_SERVER";
/// The variable with the log filter, if no configuration is read.
const LOG: &str = "UTTERD_LOG";

/// The server whose conversations are offered.
pub struct Source {
    connection: Connection,
    server: Server,
    /// Whether the conversations are lost when this process ends.
    pub is_brief: bool,
}

/// Where the server is.
enum Server {
    /// It runs by itself.
    Running,
    /// In this process.
    Own(Box<InProcess>),
    /// On files, in this process or in another one.
    Shared(Arc<Shared>),
}

impl Source {
    /// Opens the server that is named, or else one within this process.
    pub async fn open(args: &args::Mcp) -> Result<Self, CliError> {
        match named(args) {
            Some(server) => Self::running(server, args).await,
            None => Self::own(args).await,
        }
    }

    async fn running(server: String, args: &args::Mcp) -> Result<Self, CliError> {
        log(&env::var(LOG).unwrap_or_else(|_| Settings::default().log), LogFormat::Text);
        let remote = Remote { server: Some(server), access: args.access.clone() };
        let connection = Connection::to(&remote).await?;
        Ok(Self { connection, server: Server::Running, is_brief: false })
    }

    async fn own(args: &args::Mcp) -> Result<Self, CliError> {
        let Effective { settings, warnings, .. } = effective(args)?;
        log(&settings.log, settings.log_format);
        warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        let is_brief = settings.backend == Backend::Memory;
        if is_brief {
            tracing::warn!(
                "conversations are kept in memory, and are lost when this ends: --data-dir DIR keeps them in files, \
                 --server URL offers those of a running server"
            );
        }
        let (connection, server) = match settings.backend {
            Backend::Durable(_) => {
                let shared = Shared::start(&settings).await?;
                (Connection::sharing(shared.clone(), &args.access).await?, Server::Shared(shared))
            }
            Backend::Memory | Backend::Postgres => {
                let own = InProcess::start(&settings).await?;
                (Connection::within(own.connector(), &args.access).await?, Server::Own(own.into()))
            }
        };
        Ok(Self { connection, server, is_brief })
    }

    /// The server as its callers see it; `recipient` is meant if a call names none.
    pub fn memory(&self, recipient: &str) -> Memory {
        Memory::new(self.connection.clone(), recipient)
    }

    /// Ends the server, if it is one within this process.
    pub async fn end(self) {
        drop(self.connection);
        match self.server {
            Server::Running => {}
            Server::Own(own) => own.end().await,
            Server::Shared(shared) => shared.end().await,
        }
    }
}

/// The running server that is named by the flag, or by the environment unless a flag asks for a server within this
/// process.
fn named(args: &args::Mcp) -> Option<String> {
    let variable = || env::var(SERVER).ok().filter(|server| !server.is_empty());
    match (&args.server, &args.data_dir, &args.config) {
        (Some(server), ..) => Some(server.clone()),
        (None, None, None) => variable(),
        _ => None,
    }
}

/// The settings of a server within this process. With a directory for files, the backend must be a durable one.
fn effective(args: &args::Mcp) -> Result<Effective, CliError> {
    let directory = args.data_dir.as_ref().map(|directory| ("data_dir", directory.display().to_string()));
    let mut flags: Vec<_> = directory.into_iter().collect();
    let effective = Sources::of_process(flags.clone(), args.config.clone()).load()?;
    if flags.is_empty() || effective.settings.backend != Backend::Memory {
        return Ok(effective);
    }
    flags.push(("backend", "fjall".to_owned()));
    Ok(Sources::of_process(flags, args.config.clone()).load()?)
}
