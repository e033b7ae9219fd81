//! `utterd export`: exports conversations in the formats of other programs.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::PathBuf,
};

use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use tokio::time::Instant;

use crate::{
    args::{ConversationFormat, Target},
    client::Connection,
    errors::CliError,
    terminal::{Output, Part, Sink, all_or_nothing, bytes, counted, note, ranges, seconds},
};
use utterd_rpc::proto::{
    ExportConversationRequest, ExportEnd, ExportLoss, export_conversation_response::Message,
};

/// Export conversations for other programs
///
/// Exports the named or the active conversation, or with --all those of the recipient. Lists on stderr what the format
/// cannot hold.
#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:
  utterd export trip --format anthropic
  utterd export --all --recipient alice --format persisted -o alice.json")]
pub struct Export {
    #[command(flatten)]
    pub target: Target,
    /// Export all conversations of the recipient, one per line unless the format is persisted
    #[arg(long, conflicts_with = "conversation")]
    pub all: bool,
    /// The format
    #[arg(long, default_value = "openai", value_parser = exported())]
    pub format: ConversationFormat,
    /// The file to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Accepts the formats that can be exported.
fn exported() -> impl TypedValueParser<Value = ConversationFormat> {
    let names = ConversationFormat::EXPORTED.iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(names).try_map(|name| ConversationFormat::from_str(&name, false))
}

/// Exports to a file or stdout; reports on stderr what the format cannot carry.
pub async fn export(args: Export) -> Result<(), CliError> {
    all_or_nothing(args.output.is_some(), write(args)).await
}

async fn write(args: Export) -> Result<(), CliError> {
    let connection = Connection::to(&args.target.remote).await?;
    let mut conversations = connection.conversations();
    let mut stream = conversations.export_conversation(request(&args)?).await?.into_inner();
    let began = Instant::now();
    let mut sink = Sink::open(args.output.as_deref(), PUBLIC)?;
    let mut end = None;
    while let Some(response) = stream.message().await? {
        match response.message {
            Some(Message::Chunk(chunk)) => sink.write(&chunk)?,
            Some(Message::End(last)) => end = Some(last),
            None => {}
        }
    }
    let end =
        end.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "the server ended the export early"))?;
    io::stdout().flush()?;
    sink.part.map(Part::finish).transpose()?;
    tell(&args, &end, sink.written, &seconds(began))
}

fn request(args: &Export) -> Result<ExportConversationRequest, CliError> {
    if args.target.json.json && args.output.is_none() {
        return Err(CliError::Usage("--json describes the export, and requires --output".into()));
    }
    Ok(ExportConversationRequest {
        all_conversations: args.all,
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient.clone(),
        format: args.format.wire().into(),
        ..Default::default()
    })
}

fn tell(args: &Export, end: &ExportEnd, written: u64, took: &str) -> Result<(), CliError> {
    lost(&end.losses).iter().for_each(|line| note(line));
    if let Some(count) = end.omitted_loss_count {
        note(&format!("and {} like these", counted(count, "line")));
    }
    let Some(file) = &args.output else { return Ok(()) };
    let mut output = Output::new();
    match args.target.json.json {
        true => output.json(end)?,
        false => output.prose(&format!(
            "exported {}, {}, to {}: {}, in {took}",
            counted(end.conversation_count(), "conversation"),
            counted(end.utterance_count(), "utterance"),
            file.display(),
            bytes(written)
        ))?,
    }
    Ok(output.flush()?)
}

/// One line per loss; a loss that several conversations share is listed once.
fn lost(losses: &[ExportLoss]) -> Vec<String> {
    let mut same = BTreeMap::<_, Vec<_>>::new();
    losses.iter().for_each(|loss| same.entry((&loss.field, &loss.reason)).or_default().push(loss));
    let of = |losses: &[&ExportLoss]| match losses {
        [loss] => format!("{} {}", loss.conversation_id, ranges(&loss.sequences)).trim_end().to_owned(),
        more => counted(more.len(), "conversation"),
    };
    same.iter().map(|((field, reason), losses)| format!("{}: {field}: {reason}", of(losses))).collect()
}

/// The mode of a file that others can read, as far as the caller's umask allows.
const PUBLIC: u32 = 0o666;
