//! `utterd compact`: folds most of a window into its summary, or undoes that.

use std::io;

use clap::Args;

use crate::{
    args::Target,
    client::Connection,
    conversations::stored,
    errors::CliError,
    terminal::{Output, count, counted, note, ranges, sequences},
};
use utterd_rpc::proto::{
    Capacity, CompactConversationRequest, CompactConversationResponse, Compaction, SummaryMethod,
    UndoCompactionRequest, UndoCompactionResponse,
};

/// Compress old conversation history to save context
///
/// The last utterances of the window stay in it, the others move to the archive. There, searches and exports still find
/// them, and --undo brings them back.
#[derive(Debug, Default, Args)]
#[command(
    aliases = ["summarize-history", "compress"],
    after_help = "Examples:
  utterd compact
  utterd compact trip --keep 20 --dry-run --focus refund
  utterd compact trip --undo"
)]
pub struct Compact {
    #[command(flatten)]
    pub target: Target,
    /// Keep at least the last N utterances in the window [default: 15]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub keep: Option<i32>,
    /// Show the utterances that would be compacted and the summary that they would get, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Wait until a model has written the summary, if the server has a model
    #[arg(long)]
    pub wait: bool,
    /// Prefer sentences with this word for the summary
    #[arg(long, value_name = "WORD")]
    pub focus: Vec<String>,
    /// Instead, undo the last compaction
    #[arg(long, conflicts_with_all = ["keep", "dry_run", "wait", "focus"])]
    pub undo: bool,
}

/// Compacts, or undoes a compaction.
pub async fn compact(args: Compact) -> Result<(), CliError> {
    let connection = Connection::to(&args.target.remote).await?;
    if args.undo { undo(&connection, &args).await } else { make(&connection, &args).await }
}

async fn make(connection: &Connection, args: &Compact) -> Result<(), CliError> {
    let request = CompactConversationRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient.clone(),
        keep_recent: args.keep,
        focus_areas: args.focus.clone(),
        preview: args.dry_run,
        wait_for_llm: args.wait,
        ..Default::default()
    };
    let response = connection.compactions().compact_conversation(request).await?.into_inner();
    let mut output = Output::new();
    match args.target.json.json {
        true => output.json(&response)?,
        false => tell(&mut output, &response, args.dry_run)?,
    }
    if args.dry_run && !args.target.json.json && !response.nothing_to_compact {
        show(&mut output, connection, &response).await?;
    }
    Ok(output.flush()?)
}

fn tell(output: &mut Output, response: &CompactConversationResponse, preview: bool) -> io::Result<()> {
    let capacity = response.capacity.clone().unwrap_or_default();
    if response.nothing_to_compact {
        return output.prose(&nothing_to_compact(&capacity));
    }
    let compaction = response.compaction.clone().unwrap_or_default();
    output.prose(&compacted(&compaction, preview))?;
    match capacity.summary.unwrap_or_default().provisional_segment_count() {
        0 => {}
        awaited => note(&format!("a model will write {} of the summary again", counted(awaited, "segment"))),
    }
    Ok(())
}

/// Prints the utterances that would be compacted, and the summary.
async fn show(
    output: &mut Output,
    connection: &Connection,
    response: &CompactConversationResponse,
) -> Result<(), CliError> {
    let compacted = response.compaction.as_ref().map_or(&[][..], |it| it.compacted.as_slice());
    output.line("")?;
    stored::tell(output, connection, &response.conversation_id, compacted).await?;
    if !response.summary.is_empty() {
        output.line("\nsummary:")?;
        output.text(&response.summary)?;
    }
    Ok(())
}

/// The output when nothing is left to compact:
/// `nothing is left to compact: 15 utterances stay; the summary has 412 tokens for 45 utterances before them`.
pub fn nothing_to_compact(capacity: &Capacity) -> String {
    let summary = capacity.summary.unwrap_or_default();
    format!(
        "nothing is left to compact: {} stay; the summary has {} for {} before them",
        counted(capacity.utterance_count(), "utterance"),
        counted(summary.token_count(), "token"),
        counted(summary.covered_utterance_count(), "utterance"),
    )
}

/// What a compaction did, or with `preview` would do:
/// `Compacted 37 messages into summary (1–37): 9,210 tokens → 3,022, 67 % less; 15 stay`
pub fn compacted(compaction: &Compaction, preview: bool) -> String {
    let verb = if preview { "Would compact" } else { "Compacted" };
    let into = match compaction.method() {
        SummaryMethod::Unspecified => "without a summary",
        _ => "into summary",
    };
    format!(
        "{verb} {} {into} ({}): {} → {}, {:.0} % less; {} stay",
        counted(compaction.compacted_utterance_count(), "message"),
        ranges(&compaction.compacted),
        counted(compaction.token_count_before(), "token"),
        count(compaction.token_count_after()),
        100.0 * compaction.compression_ratio(),
        count(compaction.kept_utterance_count()),
    )
}

async fn undo(connection: &Connection, args: &Compact) -> Result<(), CliError> {
    let request = UndoCompactionRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient.clone(),
        ..Default::default()
    };
    let response = connection.compactions().undo_compaction(request).await?.into_inner();
    args.target.json.answer(response, |output, response| output.prose(&undone(&response)))
}

/// `undid compaction 2: 37 utterances (1–37) are back in the window, which holds 57: 9,400 tokens`
pub fn undone(response: &UndoCompactionResponse) -> String {
    let number = response.compaction.as_ref().map_or(0, |compaction| compaction.compaction_number());
    let after = response.capacity.clone().unwrap_or_default();
    format!(
        "undid compaction {number}: {} ({}) are back in the window, which holds {}: {}",
        counted(response.restored.len(), "utterance"),
        sequences(&response.restored),
        count(after.utterance_count()),
        counted(after.token_count(), "token"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_rpc::proto::{SequenceRange, UtteranceRef};

    fn compaction() -> Compaction {
        Compaction {
            compaction_number: Some(2),
            compacted: vec![SequenceRange { first: 1, last: 37 }],
            compacted_utterance_count: Some(37),
            kept_utterance_count: Some(15),
            token_count_before: Some(9_210),
            token_count_after: Some(3_022),
            compression_ratio: Some(0.6719),
            method: SummaryMethod::Extractive.into(),
            ..Default::default()
        }
    }

    #[test]
    fn a_compaction_is_told_in_numbers() {
        let rest = "37 messages into summary (1–37): 9,210 tokens → 3,022, 67 % less; 15 stay";
        assert_eq!(compacted(&compaction(), false), format!("Compacted {rest}"));
        assert_eq!(compacted(&compaction(), true), format!("Would compact {rest}"));
        let dropped = Compaction { method: SummaryMethod::Unspecified.into(), ..compaction() };
        assert_eq!(
            compacted(&dropped, false),
            "Compacted 37 messages without a summary (1–37): 9,210 tokens → 3,022, 67 % less; 15 stay"
        );
    }

    #[test]
    fn an_undo_tells_what_came_back() {
        let reference = |sequence| UtteranceRef { sequence, ..Default::default() };
        let response = UndoCompactionResponse {
            compaction: Some(compaction()),
            restored: (1..=37).map(reference).collect(),
            capacity: Some(Capacity {
                utterance_count: Some(57),
                token_count: Some(9_400),
                ..Default::default()
            }),
            ..Default::default()
        };
        let told =
            "undid compaction 2: 37 utterances (1–37) are back in the window, which holds 57: 9,400 tokens";
        assert_eq!(undone(&response), told);
    }
}
