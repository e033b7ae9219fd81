//! `utterd remember`: finds utterances.

use std::io;

use clap::Args;

use crate::{
    args::{Speaker, Target},
    client::Connection,
    errors::CliError,
    terminal::{Output, folded, note, said, speaker},
};
use utterd_rpc::proto::{Match, RememberFilter, RememberRequest, RememberResponse};

/// Search utterances
///
/// Searches the conversation that is named, or else all of the recipient. Prints one match per line: conversation, number,
/// speaker, relevance, text. `utterd call Remember` takes everything else that can be asked for.
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
    /// Find only utterances of this role; can be repeated
    #[arg(long)]
    pub role: Vec<Speaker>,
    /// Print at most N utterances
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(i32).range(1..=1000))]
    pub limit: i32,
    /// What to search for
    pub prompt: Option<String>,
}

/// Prints the matches, one per line: place, speaker, the score that they are sorted by, and what was said.
pub async fn remember(mut args: Remember) -> Result<(), CliError> {
    let prompt = args.target.own(args.prompt.take(), "PROMPT")?;
    let connection = Connection::to(&args.target.remote).await?;
    let json = args.target.json;
    let response = connection.memory().remember(request(args, prompt)).await?.into_inner();
    json.answer(response, |output, response| tell(output, &response))
}

fn request(args: Remember, prompt: String) -> RememberRequest {
    let roles = args.role.into_iter().map(|role| role.wire().into()).collect();
    RememberRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient,
        prompt,
        filter: Some(RememberFilter { roles, ..Default::default() }),
        page_size: args.limit,
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
