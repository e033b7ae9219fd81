//! `utterd mcp`: the memory as tools and resources of the Model Context Protocol.
//!
//! - [`source`]: the server whose conversations are offered, a running one or one of this process
//! - [`stdio`], [`http`]: what the protocol goes over
//! - [`handler`]: what is answered to each of its requests
//! - [`memory`]: a server as one caller sees it
//! - [`tools`]: the tools, a file each; [`tool`] what each is made of
//! - [`resources`]: conversations as resources; [`prompts`]: one that continues a conversation; [`transcript`]: conversations as seed 000 tells them
//! - [`fault`]: what goes wrong, and what to do next

mod admission;
pub mod args;
mod fault;
mod handler;
mod http;
mod memory;
mod prompts;
mod resources;
mod schema;
mod signal;
mod source;
mod stdio;
mod tool;
mod tools;
mod transcript;

use std::time::Duration;

use tokio::runtime::Builder;

use super::errors::CliError;
use handler::Handler;
use source::Source;

/// A read of stdin that is still going on when everything else has ended is waited for so long.
const LAST_READ: Duration = Duration::from_millis(10);

/// Serves the protocol until its client goes away, or the process is asked to end.
pub fn mcp(args: args::Mcp) -> Result<(), CliError> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(serve(args));
    runtime.shutdown_timeout(LAST_READ);
    result
}

async fn serve(args: args::Mcp) -> Result<(), CliError> {
    let listening = args.http.map(|address| http::Listening::new(address, &args)).transpose()?;
    let source = Source::open(&args).await?;
    let handler = Handler::new(source.memory(&args.recipient), source.keeps());
    let served = match listening {
        Some(listening) => listening.serve(handler).await,
        None => stdio::serve(handler).await,
    };
    source.end().await;
    served
}
