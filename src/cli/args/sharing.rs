//! Arguments of the command that shares conversations.

use std::time::Duration;

use clap::Args;

use super::target::Target;

/// Arguments of `share`.
#[derive(Debug, Args)]
pub struct Share {
    #[command(flatten)]
    pub target: Target,
    /// The token expires so long from now, such as `12h` [default: 7 days]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub ttl: Option<Duration>,
    /// Its holder reads the archive too, not only the window
    #[arg(long)]
    pub archive: bool,
    /// List the shares of the conversation instead
    #[arg(long, group = "instead", conflicts_with_all = ["ttl", "archive"])]
    pub list: bool,
    /// Take a share back instead
    #[arg(long, value_name = "ID", group = "instead", conflicts_with_all = ["ttl", "archive"])]
    pub revoke: Option<String>,
    /// Read what a token opens instead
    #[arg(long, value_name = "TOKEN", group = "instead", conflicts_with_all = ["ttl", "archive", "conversation", "recipient"])]
    pub read: Option<String>,
}
