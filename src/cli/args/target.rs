//! The server that a command talks to, and the conversation.

use clap::Args;

use crate::cli::access::Access;

/// The default address of a server.
const DEFAULT_SERVER: &str = "http://127.0.0.1:50051";

/// The server to talk to.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub struct Remote {
    /// The server's address: host:port, http://, https:// or unix:/path
    #[arg(
        long,
        value_name = "URL",
        env = "UTTERD_SERVER",
        hide_env_values = true,
        default_value = DEFAULT_SERVER
    )]
    pub server: String,
    /// The credentials to send.
    #[command(flatten)]
    pub access: Access,
}

/// The server to talk to, the conversation, and the form of the output.
///
/// An argument that fills a field of the request has the field's name as its id; that is how a server's errors find
/// the argument.
#[derive(Debug, Args)]
pub struct Target {
    /// The server to talk to.
    #[command(flatten)]
    pub remote: Remote,
    /// The conversation [default: the recipient's active one]
    #[arg(
        id = "conversation_id",
        long = "conversation",
        short = 'c',
        value_name = "ID",
        default_value = "",
        hide_default_value = true
    )]
    pub conversation: String,
    /// The recipient [default: default]
    #[arg(
        id = "recipient_id",
        long = "recipient",
        short = 'r',
        value_name = "ID",
        default_value = "",
        hide_default_value = true
    )]
    pub recipient: String,
    /// Print the response as JSON, and an error as JSON on stderr
    #[arg(long)]
    pub json: bool,
}
