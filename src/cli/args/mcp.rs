//! Arguments of `mcp`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use crate::cli::access::Access;

/// Arguments of `mcp`.
#[derive(Debug, Args)]
pub struct Mcp {
    /// Offer the conversations of a running server: host:port, http://, https:// or unix:/path [env: UTTERD_SERVER]
    #[arg(long, value_name = "URL", conflicts_with_all = ["data_dir", "config"])]
    pub server: Option<String>,
    /// What that server is shown.
    #[command(flatten)]
    pub access: Access,
    /// Keep conversations in files in this directory, by a server of its own; one process at a time can
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The TOML file with the settings of a server of its own [env: UTTERD_CONFIG] [default: utterd.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Whose conversations are meant where a call names none
    #[arg(long, short, value_name = "ID", default_value = "default")]
    pub recipient: String,
    /// Listen here for MCP over streamable HTTP, in place of stdio; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<SocketAddr>,
    /// A host, or host:port, that requests may name, such as a proxy's; localhost and the address itself always may
    #[arg(long, value_name = "HOST", requires = "http")]
    pub http_host: Vec<String>,
    /// An origin whose web pages may call, such as `https://chat.example.org:443`; those of this machine always may
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub http_origin: Vec<String>,
    /// Listen on an address that others reach, although there is no TLS
    #[arg(long, requires = "http")]
    pub allow_insecure: bool,
}
