//! `utterd restore`: brings back what was forgotten, or a store from its backup.

use std::path::Path;

use clap::Args;

use super::which::{Which, everything, select};
use crate::cli::{
    args::Target,
    client::{Connection, block_on},
    conversations::stored,
    errors::CliError,
    stores::{
        copy::{all, so_far},
        meter::Meter,
        verify::{problems, whole},
    },
    terminal::{
        output::{Output, note},
        text::{counted, sequences},
    },
};
use crate::{
    config::{Files, Place},
    proto::{RestoreRequest, RestoreResponse, Utterance, UtteranceState},
    server::upkeep,
};

/// The most utterances in one request.
const MOST: usize = 1_000;

/// Bring back what was forgotten, or with --to a whole store from a backup
///
/// What was forgotten with --hard does not come back. A backup is read and checked completely before anything is
/// written. If its restore is interrupted, repeat the command to continue.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd restore 3 5-7 --conversation demo
  utterd restore --all
  utterd restore nightly.utterd --to fjall:/var/lib/utterd")]
pub struct Restore {
    #[command(flatten)]
    target: Target,
    /// Everything that is forgotten
    #[arg(long, conflicts_with_all = ["utterance_ids", "to"])]
    all: bool,
    /// Make this durable store from a backup instead: its backend and its directory
    #[arg(long, value_name = "BACKEND:DIR", requires = "utterance_ids", conflicts_with_all = ["conversation_id", "recipient_id", "json"])]
    to: Option<Files>,
    /// Numbers of utterances, as `show` prints them: `3` or `5-7`; or their ids; with --to the backup file
    #[arg(id = "utterance_ids", value_name = "WHAT", required_unless_present = "all")]
    what: Vec<String>,
}

/// Restores utterances, or a store.
pub fn restore(args: Restore) -> Result<(), CliError> {
    match (&args.to, args.what.as_slice()) {
        (None, _) => block_on(forgotten(args)),
        (Some(to), [file]) => backup(Path::new(file), to),
        (Some(_), _) => Err(CliError::Usage("--to: must be one backup file".into())),
    }
}

async fn forgotten(Restore { target, all, what, .. }: Restore) -> Result<(), CliError> {
    let which = what.iter().map(|name| name.parse()).collect::<Result<Vec<Which>, _>>();
    let which = which.map_err(|wrong| CliError::Usage(format!("WHAT: {wrong}")))?;
    let connection = Connection::open(&target).await?;
    let conversation_id = stored::conversation(&connection, &target).await?.conversation_id;
    let stored = everything(&connection, &conversation_id).await?;
    let named = if all { stored } else { select(stored, &which)? };
    let is_forgotten = |utterance: &Utterance| utterance.state() == UtteranceState::Forgotten;
    let ids: Vec<_> = named.into_iter().filter(is_forgotten).map(|it| it.utterance_id).collect();
    if ids.is_empty() {
        note(&format!("nothing to restore in {conversation_id}"));
    }
    let mut output = Output::new();
    for ids in ids.chunks(MOST) {
        let request = RestoreRequest {
            conversation_id: conversation_id.clone(),
            utterance_ids: ids.to_vec(),
            ..Default::default()
        };
        let response = connection.memory().restore(request).await?.into_inner();
        match target.json {
            true => output.json("RestoreResponse", &response)?,
            false => tell(&mut output, &response)?,
        }
    }
    Ok(output.flush()?)
}

fn tell(output: &mut Output, response: &RestoreResponse) -> Result<(), CliError> {
    let restored = counted(response.restored.len(), "utterance");
    let (which, place) = (sequences(&response.restored), &response.conversation_id);
    output.line(&format!("restored {restored} ({which}) of {place}"))?;
    if !response.evicted.is_empty() {
        output.line(&format!("evicted {}", sequences(&response.evicted)))?;
    }
    Ok(())
}

/// Checks the backup, makes the store, verifies it, and prints what is in it.
fn backup(file: &Path, to: &Files) -> Result<(), CliError> {
    let meter = Meter::new();
    let (copied, report) = upkeep::restore(file, to, &mut |copying| meter.at(|| so_far(copying)))?;
    let took = meter.end();
    let mut output = Output::new();
    problems(&report, &mut output)?;
    let file = file.display();
    output.line(&format!("restored {file} to {to} and verified it: {}, in {took}", all(&copied, &report)))?;
    output.flush()?;
    whole(Place::Files(to.clone()), &report)
}
