//! `utterd restore`: brings back what was forgotten, or a store from its backup.

use std::path::Path;

use clap::Args;

use super::which::{everything, named, select};
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

/// Bring back forgotten utterances, or a whole backup
///
/// Utterances that were forgotten with --hard do not come back.
///
/// With --to, this makes a store from a backup. It reads and checks the whole backup before it writes anything. If it
/// is interrupted, repeat the command to continue.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  utterd restore trip 3,5-7
  utterd restore trip --all
  utterd restore nightly.utterd --to fjall:/var/lib/utterd",
    override_usage = "utterd restore [OPTIONS] [CONVERSATION] <UTTERANCES>
       utterd restore [OPTIONS] [CONVERSATION] --all
       utterd restore --to <BACKEND:DIR> <FILE>"
)]
pub struct Restore {
    #[command(flatten)]
    target: Target,
    /// Bring back all that is forgotten and can be
    #[arg(long, conflicts_with_all = ["utterance_ids", "to"])]
    all: bool,
    /// Make this durable store from a backup: fjall:DIR or sled:DIR
    #[arg(long, value_name = "BACKEND:DIR", conflicts_with_all = ["utterance_ids", "recipient_id", "json"])]
    to: Option<Files>,
    /// The numbers of utterances, as `show` prints them, such as 3 or 2,5-7; or one id
    #[arg(id = "utterance_ids", value_name = "UTTERANCES")]
    which: Option<String>,
}

/// Restores utterances, or a store.
pub fn restore(args: Restore) -> Result<(), CliError> {
    match &args.to {
        None => block_on(forgotten(args)),
        // the only word, which stands where the conversation would
        Some(to) if !args.target.conversation().is_empty() => {
            backup(Path::new(&args.target.conversation()), to)
        }
        Some(_) => Err(CliError::Usage("FILE is missing: --to makes a store from a backup file".into())),
    }
}

async fn forgotten(Restore { mut target, all, which, .. }: Restore) -> Result<(), CliError> {
    let which = match all {
        true => Vec::new(),
        false => {
            let [which] = target.split([which]);
            named(which, "UTTERANCES")?
        }
    };
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
        match target.json.json {
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
    Ok(output.evicted(&response.evicted)?)
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
