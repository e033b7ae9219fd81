//! `utterd summarize`: a summary of a conversation or a part of it.

use super::{
    args,
    client::Connection,
    errors::CliError,
    output::{Output, note},
    text::{counted, ranges},
};
use crate::proto::{SummarizeRequest, SummarizeResponse, SummarizeScope};

/// Prints the summary on stdout, and on stderr what it was made from.
pub async fn summarize(args: args::Summarize) -> Result<(), CliError> {
    let connection = Connection::open(&args.target).await?;
    let json = args.target.json;
    let response = connection.memory().summarize(request(args)).await?.into_inner();
    let mut output = Output::new();
    if json {
        output.json("SummarizeResponse", &response)?;
        return Ok(output.flush()?);
    }
    output.text(&response.text)?;
    output.flush()?;
    match response.warnings.as_slice() {
        [] => note(&made_from(&response)),
        warnings => warnings.iter().for_each(|warning| note(&warning.text)),
    }
    Ok(())
}

fn request(args: args::Summarize) -> SummarizeRequest {
    let scope = match (args.recent, args.evicted, args.turns) {
        (Some(_), ..) => SummarizeScope::Recent,
        (_, true, _) => SummarizeScope::Evicted,
        (.., Some(_)) => SummarizeScope::Turns,
        _ => SummarizeScope::All,
    };
    SummarizeRequest {
        conversation_id: args.target.conversation,
        recipient_id: args.target.recipient,
        scope: scope.into(),
        recent_count: args.recent,
        first_turn: args.turns.map(|(first, _)| first),
        last_turn: args.turns.map(|(_, last)| last),
        token_limit: args.tokens,
        focus_areas: args.focus,
        wait_for_llm: args.wait,
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
