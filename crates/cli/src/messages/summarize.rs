//! `utterd summarize`: a summary of a conversation or a part of it.

use clap::Args;

use crate::{
    args::Target,
    client::Connection,
    errors::CliError,
    terminal::{counted, note, ranges},
};
use utterd_rpc::proto::{SummarizeRequest, SummarizeResponse, SummarizeScope};

/// Summarise a conversation or a part of it
///
/// The summary is printed and not stored. `utterd call Summarize` takes everything else that can be asked for.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd summarize trip
  utterd summarize trip --recent 4 --budget 100 --focus refund")]
pub struct Summarize {
    #[command(flatten)]
    pub target: Target,
    /// Summarise only the last N utterances of the window
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub recent: Option<i32>,
    /// The most tokens of the summary [default: the conversation's limit]
    #[arg(long = "budget", value_name = "N", allow_negative_numbers = true)]
    pub tokens: Option<i32>,
    /// Prefer sentences with this word; can be repeated
    #[arg(long, value_name = "WORD")]
    pub focus: Vec<String>,
    /// Wait until a model has written the summary, if the server has one
    #[arg(long)]
    pub wait: bool,
}

/// Prints the summary on stdout, and on stderr what it was made from.
pub async fn summarize(args: Summarize) -> Result<(), CliError> {
    let connection = Connection::to(&args.target.remote).await?;
    let json = args.target.json;
    let response = connection.memory().summarize(request(args)).await?.into_inner();
    json.answer(response, |output, response| {
        output.text(&response.text)?;
        output.flush()?;
        match response.warnings.as_slice() {
            [] => note(&made_from(&response)),
            warnings => warnings.iter().for_each(|warning| note(&warning.text)),
        }
        Ok::<_, CliError>(())
    })
}

fn request(args: Summarize) -> SummarizeRequest {
    let scope = if args.recent.is_some() { SummarizeScope::Recent } else { SummarizeScope::All };
    SummarizeRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient,
        scope: scope.into(),
        recent_count: args.recent,
        token_limit: args.tokens,
        focus_areas: args.focus,
        wait_for_llm: args.wait,
        ..Default::default()
    }
}

fn made_from(response: &SummarizeResponse) -> String {
    format!(
        "{} for {} of utterances {}",
        counted(response.token_count(), "token"),
        counted(response.source_token_count(), "token"),
        ranges(&response.sources),
    )
}
