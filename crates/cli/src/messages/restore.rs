//! `utterd restore`: brings back what was forgotten, or a store from its backup.

use std::{ops::RangeInclusive, path::Path};

use clap::Args;
use tokio::time::Instant;

use crate::{
    args::Target,
    client::{Connection, block_on},
    conversations::stored,
    errors::CliError,
    stores::{
        database::DatabaseOptions,
        verify::{problems, whole},
    },
    terminal::{Output, bytes, counted, note, seconds, sequences},
};
use utterd_config::Place;
use utterd_rpc::proto::{RestoreRequest, RestoreResponse, Utterance, UtteranceState};
use utterd_server::upkeep::{self, Held, Report};

/// The most utterances in one request.
const MOST: usize = 1_000;

/// Bring back forgotten utterances, or a whole backup
///
/// Utterances that were forgotten with --hard do not come back.
///
/// With --to, this makes a store from a backup, whatever kept what is in it. It reads and checks the whole backup before
/// it writes anything; then it compares the store with the backup, and verifies it. If it is interrupted, repeat the
/// command.
///
/// A PLACE is fjall:DIR or sled:DIR; the URL of a database, with ?schema=NAME unless the schema is that of the settings
/// (utterd by default); or postgres, for the database of the settings: UTTERD_DATABASE_URL and UTTERD_DATABASE_SCHEMA,
/// or the same keys in the configuration file. Other users of the machine can see a password on the command line.
#[derive(Debug, Default, Args)]
#[command(
    after_help = "Examples:
  utterd restore trip 3,5-7
  utterd restore trip --all
  utterd restore nightly.utterd --to fjall:/var/lib/utterd
  utterd restore nightly.utterd --to postgres://utterd@db1/utterd",
    override_usage = "utterd restore [OPTIONS] [CONVERSATION] <UTTERANCES>
       utterd restore [OPTIONS] [CONVERSATION] --all
       utterd restore --to <PLACE> <FILE>"
)]
pub struct Restore {
    #[command(flatten)]
    pub target: Target,
    /// Bring back all that is forgotten and can be
    #[arg(long, conflicts_with_all = ["which", "to"])]
    pub all: bool,
    /// Make this store from a backup: there must be none yet
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["which", "recipient", "json"])]
    pub to: Option<Place>,
    #[command(flatten)]
    pub database: DatabaseOptions,
    /// The numbers of utterances, as `show` prints them, such as 3 or 2,5-7; or one id
    #[arg(value_name = "UTTERANCES")]
    pub which: Option<String>,
}

/// Restores utterances, or a store.
pub fn restore(args: Restore) -> Result<(), CliError> {
    match args.to {
        None => block_on(forgotten(args)),
        // the only word, which stands where the conversation would
        Some(to) if !args.target.conversation().is_empty() => {
            backup(Path::new(&args.target.conversation()), to, args.database)
        }
        Some(_) => Err(CliError::Usage("FILE is missing: --to makes a store from a backup file".into())),
    }
}

/// Brings back what was forgotten.
pub async fn forgotten(Restore { mut target, all, which, .. }: Restore) -> Result<(), CliError> {
    let which = if all { None } else { Some(target.own(which, "UTTERANCES")?) };
    let connection = Connection::to(&target.remote).await?;
    let conversation_id =
        stored::conversation(&connection, &target.conversation(), &target.recipient).await?.conversation_id;
    let stored = stored::everything(&connection, &conversation_id).await?;
    let named = match which {
        Some(which) => named(stored, &which)?,
        None => stored,
    };
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
            true => output.json(&response)?,
            false => tell(&mut output, &response)?,
        }
    }
    Ok(output.flush()?)
}

/// The utterances that `which` names: `7`, `2,5-7`, or one by its id.
fn named(stored: Vec<Utterance>, which: &str) -> Result<Vec<Utterance>, CliError> {
    let is_stored = |range: &RangeInclusive<i64>| stored.iter().any(|it| range.contains(&it.sequence));
    let place = |part: &str| range(part.trim()).filter(is_stored).ok_or_else(|| missing(part));
    let places = match stored.iter().find(|it| it.utterance_id == which) {
        Some(one) => vec![one.sequence..=one.sequence],
        None => which.split(',').map(place).collect::<Result<_, _>>()?,
    };
    let is_named = |it: &Utterance| places.iter().any(|place| place.contains(&it.sequence));
    Ok(stored.into_iter().filter(is_named).collect())
}

fn range(text: &str) -> Option<RangeInclusive<i64>> {
    let (first, last) = text.split_once(['-', '–']).unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

fn missing(which: &str) -> CliError {
    CliError::Missing(format!("there is no utterance {which}: `utterd show` lists them with their numbers"))
}

fn tell(output: &mut Output, response: &RestoreResponse) -> Result<(), CliError> {
    let restored = counted(response.restored.len(), "utterance");
    let (which, place) = (sequences(&response.restored), &response.conversation_id);
    output.line(&format!("restored {restored} ({which}) of {place}"))?;
    Ok(output.evicted(&response.evicted)?)
}

/// Checks the backup, makes the store, verifies it, and prints what is in it.
fn backup(file: &Path, to: Place, database: DatabaseOptions) -> Result<(), CliError> {
    let settings = database.settings(&to)?;
    let began = Instant::now();
    note(&format!("restoring {}", file.display()));
    let (held, report) = upkeep::restore(file, &to, &settings)?;
    let took = seconds(began);
    let mut output = Output::new();
    problems(&report, &mut output)?;
    let file = file.display();
    output.line(&format!("restored {file} to {to} and verified it: {}, in {took}", all(held, &report)))?;
    output.flush()?;
    whole(&to, &report)
}

/// What was restored.
fn all(held: Held, report: &Report) -> String {
    let conversations = counted(report.conversations, "conversation");
    let utterances = counted(report.utterances, "utterance");
    format!("{conversations}, {utterances}, {}, {}", counted(held.records, "record"), bytes(held.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_must_be_there() {
        let stored =
            |sequence| Utterance { sequence, utterance_id: format!("id-{sequence}"), ..Default::default() };
        let named = |which| {
            let found = named((1..=4).map(stored).collect(), which).map_err(|error| error.to_string())?;
            Ok::<_, String>(found.iter().map(|it| it.sequence).collect::<Vec<_>>())
        };
        assert_eq!(named("2-9"), Ok(vec![2, 3, 4]));
        assert_eq!(named("4, 1–2"), Ok(vec![1, 2, 4]));
        assert_eq!(named("id-3"), Ok(vec![3]));
        for missing in ["5", "0", "3-2", "id-5", "1,x"] {
            assert!(named(missing).is_err_and(|error| error.contains("there is no utterance")), "{missing}");
        }
    }
}
