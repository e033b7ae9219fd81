//! Arguments of `mcp`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use crate::access::Access;

/// Offer the memory to models as tools: a server of the Model Context Protocol, over stdio or HTTP
///
/// With --server it offers the conversations of a running server; with --data-dir those in files, which any number of
/// processes share; without either, those in its own memory, which are lost when it ends. stdout carries
/// only the protocol; logs go to stderr.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd mcp --data-dir ~/.utterd
  utterd mcp --server 127.0.0.1:50051 --recipient alice
  utterd mcp --server 127.0.0.1:50051 --http 127.0.0.1:50090

A client starts it by itself, once its configuration has:
  {\"mcpServers\": {\"utterd\": {\"command\": \"utterd\", \"args\": [\"mcp\", \"--data-dir\", \"/home/me/.utterd\"]}}}")]
pub struct Mcp {
    /// Offer the conversations of a running server: host:port, http://, https:// or unix:/path [env: UTTERD_SERVER]
    #[arg(long, value_name = "URL", conflicts_with_all = ["data_dir", "config"])]
    pub server: Option<String>,
    /// The credentials to send to that server.
    #[command(flatten)]
    pub access: Access,
    /// Keep the conversations in files in this directory; all processes with the same directory share them
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The TOML file with the settings of a server of its own [env: UTTERD_CONFIG] [default: utterd.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The recipient of calls that name none
    #[arg(long, short, value_name = "ID", default_value = "default")]
    pub recipient: String,
    /// List every tool with all its arguments, and add the JSON of the API to each answer, for programs: it costs a model
    /// many more tokens
    #[arg(long)]
    pub all_tools: bool,
    /// Listen here for MCP over streamable HTTP, instead of stdio; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<SocketAddr>,
    /// A host, or host:port, that requests may name, such as a proxy's; localhost and the address are always allowed
    #[arg(long, value_name = "HOST", requires = "http")]
    pub http_host: Vec<String>,
    /// An origin whose web pages may call, such as `https://chat.example.org:443`; this machine's are always allowed
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub http_origin: Vec<String>,
    /// Listen on an address that other machines can reach, although there is no TLS
    #[arg(long, requires = "http")]
    pub allow_insecure: bool,
}
