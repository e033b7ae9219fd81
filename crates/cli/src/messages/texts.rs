//! The utterances that a command would change, for its `--dry-run`.

use std::io;

use super::which::all_of;
use crate::{
    client::Connection,
    conversations::stored,
    errors::CliError,
    terminal::{
        output::Output,
        text::{clipped, said, speaker},
    },
};
use utterd_rpc::proto::{ListUtterancesRequest, SequenceRange, Utterance};

/// Prints the utterances of a conversation in `ranges`, each on a line: number, speaker, text.
pub async fn tell(
    output: &mut Output,
    connection: &Connection,
    conversation: &str,
    ranges: &[SequenceRange],
) -> Result<(), CliError> {
    let firsts = ranges.iter().map(|range| range.first).min();
    let Some((first, last)) = firsts.zip(ranges.iter().map(|range| range.last).max()) else { return Ok(()) };
    let between = ListUtterancesRequest {
        after_sequence: Some(first - 1),
        before_sequence: Some(last + 1),
        ..all_of(conversation)
    };
    let is_meant = |utterance: &Utterance| {
        ranges.iter().any(|range| (range.first..=range.last).contains(&utterance.sequence))
    };
    let meant: Vec<_> = stored::utterances(connection, between).await?.into_iter().filter(is_meant).collect();
    let width = meant.iter().map(|it| it.sequence.to_string().len()).max().unwrap_or(0);
    Ok(meant.iter().try_for_each(|utterance| line(output, utterance, width))?)
}

fn line(output: &mut Output, utterance: &Utterance, width: usize) -> io::Result<()> {
    let text = said(utterance).join("  ");
    let line = format!("{:>width$}  {}  {text}", utterance.sequence, speaker(utterance));
    output.line(&clipped(&line, output.width()))
}
