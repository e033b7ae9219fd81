//! `utterd remember`: finds utterances.

use std::io;

use super::{
    args::{self, Scope},
    client::Connection,
    errors::CliError,
    output::{Output, bold, dim, note},
    text::{clipped, said, speaker},
};
use crate::proto::{
    Match, RememberFilter, RememberOrder, RememberRequest, RememberResponse, RememberScope, Role,
};

/// Prints what is found, an utterance a line.
pub async fn remember(args: args::Remember) -> Result<(), CliError> {
    let connection = Connection::open(&args.target).await?;
    let json = args.target.json;
    let response = connection.memory().remember(request(args)).await?.into_inner();
    let mut output = Output::new();
    if json {
        output.json("RememberResponse", &response)?;
    } else {
        tell(&mut output, &response)?;
    }
    Ok(output.flush()?)
}

fn request(args: args::Remember) -> RememberRequest {
    let roles = args.role.into_iter().map(|role| Role::from(role).into()).collect();
    RememberRequest {
        conversation_id: args.target.conversation,
        recipient_id: args.target.recipient,
        prompt: args.prompt.join(" "),
        filter: Some(RememberFilter { roles, ..Default::default() }),
        scope: match args.scope {
            Scope::Window => RememberScope::Window,
            Scope::Conversation => RememberScope::Conversation,
            Scope::Recipient => RememberScope::Recipient,
        }
        .into(),
        order: match args.recent {
            true => RememberOrder::Recency,
            false => RememberOrder::Unspecified,
        }
        .into(),
        page_size: args.limit,
        ..Default::default()
    }
}

fn tell(output: &mut Output, response: &RememberResponse) -> io::Result<()> {
    for found in &response.matches {
        let line = line(found);
        let line = clipped(&line, output.width());
        output.line(&line)?;
    }
    if response.matches.is_empty() {
        note("nothing found");
    } else if !response.next_page_token.is_empty() {
        note("there is more: raise --limit");
    }
    Ok(())
}

fn line(found: &Match) -> String {
    let utterance = found.utterance.clone().unwrap_or_default();
    let place = format!("{} {}", found.conversation_id, utterance.sequence);
    format!(
        "{}  {}  {:.2}  {}",
        dim(&place),
        bold(&speaker(&utterance)),
        found.relevance(),
        said(&utterance).join("  "),
    )
}
