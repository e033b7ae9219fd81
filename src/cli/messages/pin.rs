//! `utterd pin` and `utterd unpin`: which utterances eviction skips.

use clap::Args;
use prost_types::FieldMask;

use super::which::{everything, named, select};
use crate::cli::{
    args::Target,
    client::Connection,
    conversations::stored,
    errors::CliError,
    terminal::{output::Output, text::ranges},
};
use crate::proto::{SequenceRange, UpdateUtteranceRequest};

/// Keep utterances in the window
///
/// Eviction skips pinned utterances. A pinned call keeps its results, and a pinned result its call.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  utterd pin 3
  utterd pin trip 2,5-7",
    override_usage = "utterd pin [OPTIONS] [CONVERSATION] <UTTERANCES>"
)]
pub struct Pin {
    #[command(flatten)]
    named: Named,
}

/// Let pinned utterances leave the window again
#[derive(Debug, Args)]
#[command(
    after_help = "Example: utterd unpin trip 3",
    override_usage = "utterd unpin [OPTIONS] [CONVERSATION] <UTTERANCES>"
)]
pub struct Unpin {
    #[command(flatten)]
    named: Named,
}

#[derive(Debug, Args)]
struct Named {
    #[command(flatten)]
    target: Target,
    /// The numbers of utterances, as `show` prints them, such as 3 or 2,5-7; or one id
    #[arg(id = "utterance_id", value_name = "UTTERANCES")]
    which: Option<String>,
}

/// Pins.
pub async fn pin(args: Pin) -> Result<(), CliError> {
    set(args.named, true).await
}

/// Unpins.
pub async fn unpin(args: Unpin) -> Result<(), CliError> {
    set(args.named, false).await
}

async fn set(Named { mut target, which }: Named, pinned: bool) -> Result<(), CliError> {
    let [which] = target.split([which]);
    let which = named(which, "UTTERANCES")?;
    let connection = Connection::open(&target).await?;
    let conversation_id = stored::conversation(&connection, &target).await?.conversation_id;
    let named = select(everything(&connection, &conversation_id).await?, &which)?;
    let (mut output, mut done, mut evicted) = (Output::new(), Vec::new(), Vec::new());
    for utterance in named {
        let request = UpdateUtteranceRequest {
            conversation_id: conversation_id.clone(),
            utterance_id: utterance.utterance_id,
            pinned,
            update_mask: Some(FieldMask { paths: vec!["pinned".into()] }),
            ..Default::default()
        };
        let response = connection.conversations().update_utterance(request).await?.into_inner();
        if target.json.json {
            output.json_line("UpdateUtteranceResponse", &response)?;
        }
        done.push(SequenceRange { first: utterance.sequence, last: utterance.sequence });
        evicted.extend(response.evicted);
    }
    if !target.json.json {
        let verb = if pinned { "pinned" } else { "unpinned" };
        output.line(&format!("{verb} {} of {conversation_id}", ranges(&done)))?;
        output.evicted(&evicted)?;
    }
    Ok(output.flush()?)
}
