//! `utterd remember`: finds utterances.

use std::io;

use clap::Args;

use crate::{
    args::{Speaker, Target, choice, required},
    client::Connection,
    errors::CliError,
    terminal::{Output, folded, note, said, speaker},
};
use utterd_rpc::proto::{
    Match, RememberFilter, RememberOrder, RememberRequest, RememberResponse, RememberScope,
};

/// Search utterances
///
/// Prints one match per line: conversation, number, speaker, relevance, text.
#[derive(Debug, Default, Args)]
#[command(
    alias = "search",
    after_help = "Examples:
  utterd remember 'when does the train leave'
  utterd remember trip train --role user --limit 3",
    override_usage = "utterd remember [OPTIONS] [CONVERSATION] <PROMPT>"
)]
pub struct Remember {
    #[command(flatten)]
    pub target: Target,
    /// Where to search [default: conversation if one is named, else recipient]
    #[arg(long)]
    pub scope: Option<Scope>,
    /// Find only utterances of this role; can be repeated
    #[arg(long)]
    pub role: Vec<Speaker>,
    /// Sort by time, the newest first; PROMPT can then be left out
    #[arg(long)]
    pub recent: bool,
    /// The share of the prompt that a match must cover, from 0 to 1 [default: any, if the best match covers 0.35]
    #[arg(long, value_name = "SHARE")]
    pub min_relevance: Option<f64>,
    /// Print at most N utterances
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(i32).range(1..=1000))]
    pub limit: i32,
    /// What to search for
    pub prompt: Option<String>,
}

choice! {
    /// Where `remember` looks.
    pub enum Scope means RememberScope {
        /// the window of the conversation
        Window = Window,
        /// its window and its archive
        Conversation = Conversation,
        /// all conversations of the recipient
        Recipient = Recipient,
    }
}

/// Prints the matches, one per line: place, speaker, the score that they are sorted by, and what was said.
pub async fn remember(mut args: Remember) -> Result<(), CliError> {
    [args.prompt] = args.target.split([args.prompt.take()]);
    if !args.recent {
        required(args.prompt.clone(), "PROMPT")?;
    }
    let connection = Connection::to(&args.target.remote).await?;
    let json = args.target.json;
    let response = connection.memory().remember(request(args)).await?.into_inner();
    json.answer(response, |output, response| tell(output, &response))
}

fn request(args: Remember) -> RememberRequest {
    let roles = args.role.into_iter().map(|role| role.wire().into()).collect();
    RememberRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient,
        prompt: args.prompt.unwrap_or_default(),
        filter: Some(RememberFilter { roles, ..Default::default() }),
        scope: args.scope.map_or(RememberScope::Unspecified, Scope::wire).into(),
        order: if args.recent { RememberOrder::Recency } else { RememberOrder::Unspecified }.into(),
        page_size: args.limit,
        min_relevance: args.min_relevance,
        ..Default::default()
    }
}

fn tell(output: &mut Output, response: &RememberResponse) -> io::Result<()> {
    for found in &response.matches {
        output.row(&line(found))?;
    }
    if response.matches.is_empty() {
        note("nothing found");
    } else if !response.next_page_token.is_empty() {
        note("there are more: raise --limit");
    }
    Ok(())
}

fn line(found: &Match) -> String {
    let utterance = found.utterance.clone().unwrap_or_default();
    format!(
        "{} {}  {}  {:.2}  {}",
        found.conversation_id,
        utterance.sequence,
        speaker(&utterance),
        found.score(),
        folded(&said(&utterance).join("  ")),
    )
}
