//! `utterd chat`: a conversation that the server keeps, line by line: in a terminal, or from a pipe.
//!
//! - [session] does what each line asks for, one thing at a time
//! - [lines] reads them
//! - [server] has the calls to the server, [reply] those to the model
//! - [command] parses what begins with a slash, [shown] has the texts that are printed

pub mod args;
mod command;
mod export;
mod lines;
#[cfg_attr(not(feature = "llm"), path = "no_reply.rs")]
mod reply;
mod server;
mod session;
mod shown;

use self::{lines::Lines, reply::Model, server::Server, session::Session};
use super::{client::Connection, errors::CliError};

/// Chats until the user leaves, or the pipe ends.
pub async fn chat(args: args::Chat) -> Result<(), CliError> {
    let model = Model::of(&args)?;
    let server = Server::new(Connection::to(&args.remote).await?, &args);
    let session = Session::open(&args.conversation, args.remote, server, model, Lines::new()?).await?;
    session.run().await
}
