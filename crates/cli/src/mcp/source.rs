//! The server whose conversations are offered.

use std::{env, sync::Arc};

use super::{super::serve::log, args, memory::Memory};
use crate::{args::Remote, client::Connection, errors::CliError};
use utterd_config::{Backend, Effective, LogFormat, Settings, Sources};
use utterd_server::Shared;

/// The variable that names the running server, if no flag does.
const SERVER: &str = "UTTERD_SERVER";
/// The variable with the log filter, if no configuration is read.
const LOG: &str = "UTTERD_LOG";

/// The server whose conversations are offered.
pub struct Source {
    connection: Connection,
    /// The server, unless it runs by itself.
    own: Option<Arc<Shared>>,
    /// Whether the conversations are lost when this process ends.
    pub is_brief: bool,
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
        Ok(Self { connection, own: None, is_brief: false })
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
        let own = Shared::start(&settings).await?;
        let connection = Connection::sharing(own.clone(), &args.access).await?;
        Ok(Self { connection, own: Some(own), is_brief })
    }

    /// The server as its callers see it; `recipient` is meant if a call names none.
    pub fn memory(&self, recipient: &str) -> Memory {
        Memory::new(self.connection.clone(), recipient)
    }

    /// Ends the server, if it is one within this process.
    pub async fn end(self) {
        drop(self.connection);
        if let Some(own) = self.own {
            own.end().await;
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
