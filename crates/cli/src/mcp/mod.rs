//! `utterd mcp`: the memory as tools of the Model Context Protocol.
//!
//! - [`source`]: the server whose conversations are offered, a running one or one in this process
//! - [`stdio`], [`http`]: the transports; [`wire`]: what clients send, as text
//! - [`handler`]: answers each request of the protocol
//! - [`memory`]: a server as one caller sees it, and the conversation of one client's session
//! - [`tools`]: the tools, one file each; [`tool`]: what they have in common; [`fit`]: what models write, fitted to
//!   their [`schema`]
//! - [`bounds`]: how much an answer holds
//! - [`transcript`]: what was said in a conversation, in the form of seed 000
//! - [`fault`]: errors, and what to do next

mod admission;
pub mod args;
mod bounds;
mod fault;
mod fit;
mod handler;
mod http;
mod memory;
mod schema;
mod signal;
mod source;
mod stdio;
mod tool;
mod tools;
mod transcript;
mod wire;

use std::time::Duration;

use super::errors::CliError;
use handler::Handler;
use source::Source;
use utterd_server as server;

/// How long to wait, at the end, for a read of stdin that is still in progress.
const LAST_READ: Duration = Duration::from_millis(10);

/// Serves the protocol until its client disconnects, or the process is asked to end.
pub fn mcp(args: args::Mcp) -> Result<(), CliError> {
    let runtime = server::runtime()?;
    let result = runtime.block_on(serve(args));
    runtime.shutdown_timeout(LAST_READ);
    result
}

async fn serve(args: args::Mcp) -> Result<(), CliError> {
    let listening = args.http.map(|address| http::Listening::new(address, &args)).transpose()?;
    let source = Source::open(&args).await?;
    let handler = Handler::new(source.memory(&args.recipient), source.is_brief, args.all_tools);
    let served = match listening {
        Some(listening) => listening.serve(handler).await,
        None => stdio::serve(handler).await,
    };
    source.end().await;
    served
}
