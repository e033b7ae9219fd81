//! `utterd share`: tokens for reading one conversation.

use std::{io, time::Duration};

use clap::Args;

use crate::cli::{
    args::Target,
    client::Connection,
    errors::CliError,
    terminal::{
        output::{Output, bold, dim, note},
        text::{clipped, counted, minute, said, speaker, visible},
    },
};
use crate::proto::{
    ConversationShare, GetConversationRequest, ReadSharedRequest, ReadSharedResponse, RevokeShareRequest,
    ShareConversationRequest, ShareConversationResponse,
};

/// Make a token with which others can read a conversation
///
/// Also lists, revokes and reads shares.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd share trip --ttl 1day
  utterd share trip --list
  utterd share trip --revoke 01M8FF2QVAQ8HCQ8A30RRVVXT3
  utterd share --read utterd_share_…")]
pub struct Share {
    #[command(flatten)]
    pub target: Target,
    /// How long the token is valid, such as 12h [default: 7 days]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub ttl: Option<Duration>,
    /// Open the archive too, not only the window
    #[arg(long)]
    pub archive: bool,
    /// Instead, list the shares of the conversation
    #[arg(long, group = "instead", conflicts_with_all = ["ttl", "archive"])]
    pub list: bool,
    /// Instead, revoke a share
    #[arg(id = "share_id", long = "revoke", value_name = "ID", group = "instead", conflicts_with_all = ["ttl", "archive"])]
    pub revoke: Option<String>,
    /// Instead, read the conversation of a token
    #[arg(id = "token", long = "read", value_name = "TOKEN", group = "instead", conflicts_with_all = ["ttl", "archive", "conversation_id", "recipient_id"])]
    pub read: Option<String>,
}

/// Makes a token; or lists, revokes or reads shares instead.
pub async fn share(args: Share) -> Result<(), CliError> {
    let connection = Connection::open(&args.target).await?;
    match &args {
        Share { read: Some(token), .. } => read(&connection, &args, token).await,
        Share { revoke: Some(id), .. } => revoke(&connection, &args, id).await,
        Share { list: true, .. } => list(&connection, &args).await,
        _ => make(&connection, &args).await,
    }
}

/// Prints only the token on stdout, so that it can be piped, and what it opens on stderr.
async fn make(connection: &Connection, args: &Share) -> Result<(), CliError> {
    let ttl = args.ttl.map(prost_types::Duration::try_from).transpose();
    let request = ShareConversationRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient.clone(),
        ttl: ttl.map_err(|_| CliError::Usage("--ttl is too long: at most 366 days".to_owned()))?,
        include_archive: args.archive,
    };
    let response = connection.conversations().share_conversation(request).await?.into_inner();
    let mut output = Output::new();
    if args.target.json.json {
        output.json("ShareConversationResponse", &response)?;
        return Ok(output.flush()?);
    }
    output.line(&response.token)?;
    output.flush()?;
    made(&response).iter().for_each(|line| note(line));
    Ok(())
}

fn made(response: &ShareConversationResponse) -> [String; 2] {
    let (share, id) = (response.share.clone().unwrap_or_default(), &response.conversation_id);
    [
        format!("the token opens {id} {}", reach(&share)),
        format!("to revoke it: utterd share {id} --revoke {}", share.share_id),
    ]
}

/// What a share opens, and until when.
fn reach(share: &ConversationShare) -> String {
    let what = if share.include_archive { "with its archive" } else { "without its archive" };
    let time = share.expire_time.as_ref().map(minute).unwrap_or_default();
    format!("{what} until {time} UTC")
}

async fn list(connection: &Connection, args: &Share) -> Result<(), CliError> {
    let request = GetConversationRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient.clone(),
        ..Default::default()
    };
    let response = connection.conversations().get_conversation(request).await?.into_inner();
    let mut output = Output::new();
    for share in &response.shares {
        match args.target.json.json {
            true => output.json_line("ConversationShare", share)?,
            false => output.line(&format!("{} {}", share.share_id, reach(share)))?,
        }
    }
    output.flush()?;
    if response.shares.is_empty() {
        note("nothing is shared");
    }
    Ok(())
}

async fn revoke(connection: &Connection, args: &Share, id: &str) -> Result<(), CliError> {
    let request = RevokeShareRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient.clone(),
        share_id: id.to_owned(),
    };
    let response = connection.conversations().revoke_share(request).await?.into_inner();
    args.target
        .json
        .answer("RevokeShareResponse", response, |output, _| output.line(&format!("revoked {id}")))
}

/// Prints everything that a token opens, page by page; as JSON, one response per line.
async fn read(connection: &Connection, args: &Share, token: &str) -> Result<(), CliError> {
    let mut output = Output::new();
    let mut request = ReadSharedRequest { token: token.to_owned(), ..Default::default() };
    loop {
        let page = connection.conversations().read_shared(request.clone()).await?.into_inner();
        match args.target.json.json {
            true => output.json_line("ReadSharedResponse", &page)?,
            false => tell(&mut output, &page)?,
        }
        output.flush()?;
        if page.next_page_token.is_empty() {
            return Ok(());
        }
        request.page_token = page.next_page_token;
    }
}

fn tell(output: &mut Output, page: &ReadSharedResponse) -> io::Result<()> {
    if let Some(conversation) = &page.conversation {
        let stored = counted(conversation.utterance_count(), "utterance");
        output.line(&bold(&format!("{} · {stored}", conversation.conversation_id)))?;
        if !conversation.title.is_empty() {
            output.line(&visible(&conversation.title))?;
        }
        for line in conversation.summary.lines() {
            output.line(&dim(&clipped(&visible(line), output.width())))?;
        }
    }
    for utterance in &page.utterances {
        for line in said(utterance) {
            output.line(&format!("{}: {line}", speaker(utterance)))?;
        }
    }
    Ok(())
}
