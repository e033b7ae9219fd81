//! The server that a command talks to, and the conversation.

use clap::Args;
use prost::{Message, Name};

use crate::{access::Access, errors::CliError, help::CONNECTION, terminal::Output};

/// The default address of a server.
const DEFAULT_SERVER: &str = "http://127.0.0.1:50051";
/// Where the options that commands share stand in the help: after a command's own, before `--help`.
const SHARED: usize = 900;

/// The server to talk to.
#[derive(Clone, Debug, Default, Args)]
pub struct Remote {
    /// The server's address: HOST, HOST:PORT, http://…, https://… or unix:PATH [default: 127.0.0.1:50051]
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "UTTERD_SERVER",
        hide_env_values = true,
        hide_short_help = true, help_heading = CONNECTION
    )]
    pub server: Option<String>,
    /// The credentials to send.
    #[command(flatten)]
    pub access: Access,
}

impl Remote {
    /// The server's address as given, or the default one.
    pub fn address(&self) -> &str {
        self.server.as_deref().unwrap_or(DEFAULT_SERVER)
    }
}

/// Whether a command prints JSON.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Json {
    /// Print JSON instead of text, for errors too
    #[arg(long, display_order = SHARED + 1)]
    pub json: bool,
}

impl Json {
    /// Prints a response: as JSON, or as `tell` tells it.
    pub fn answer<M: Message + Name, E>(
        self,
        response: M,
        tell: impl FnOnce(&mut Output, M) -> Result<(), E>,
    ) -> Result<(), CliError>
    where
        CliError: From<E>,
    {
        let mut output = Output::new();
        if self.json {
            output.json(&response)?
        } else {
            tell(&mut output, response)?
        }
        Ok(output.flush()?)
    }
}

/// The server to talk to, the conversation, and the form of the output.
#[derive(Debug, Default, Args)]
pub struct Target {
    /// The server to talk to.
    #[command(flatten)]
    pub remote: Remote,
    /// The conversation [default: the recipient's active one]
    #[arg(value_name = "CONVERSATION")]
    conversation: Option<String>,
    /// The recipient whose conversations are meant [default: default]
    #[arg(long, short, value_name = "ID", default_value = "", display_order = SHARED)]
    pub recipient: String,
    /// The form of the output.
    #[command(flatten)]
    pub json: Json,
}

impl Target {
    /// A conversation at a server, for output as text.
    pub fn of(remote: Remote, conversation_id: String) -> Self {
        Self { remote, conversation: Some(conversation_id), ..Self::default() }
    }

    /// The conversation; empty for the recipient's active one.
    pub fn conversation(&self) -> String {
        self.conversation.clone().unwrap_or_default()
    }

    /// A command's `own` word, called `name` in the help. If it is the only word, it stands where the conversation would.
    pub fn own(&mut self, own: Option<String>, name: &str) -> Result<String, CliError> {
        let own = own.or_else(|| self.conversation.take());
        own.ok_or_else(|| CliError::Usage(format!("{name} is missing; --help shows the usage")))
    }
}
