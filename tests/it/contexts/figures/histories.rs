//! PrepareHistory with every prefix of every transcript as the history.

use serde_json::Value;
use utterd::{
    domain::{Draft, history::Limits},
    formats::history::{Format, Incoming, Prepared, Request, prepare, prompt},
};

use super::super::{
    replay::{said::counter, transcripts::Transcript},
    validator::{anthropic, openai},
};
use super::validity::Outcome;

/// The results for one format.
pub struct Row {
    /// The format's name.
    pub format: &'static str,
    /// The outcome.
    pub outcome: Outcome,
}

/// A row for each format.
pub fn rows(transcripts: &[Transcript]) -> Vec<Row> {
    let formats = [(Format::OpenAiChat, "openai"), (Format::AnthropicMessages, "anthropic")];
    formats.map(|(format, name)| Row { format: name, outcome: of_format(transcripts, format) }).into()
}

fn of_format(transcripts: &[Transcript], format: Format) -> Outcome {
    let mut outcome = Outcome::default();
    for (number, transcript) in transcripts.iter().enumerate() {
        for end in 0..=transcript.drafts.len() {
            let limits =
                Limits { tokens: [None, Some(1_000), Some(4_000)][end % 3], ..Request::default().limits };
            let request = Request { limits, format, ..Request::default() };
            // The newest thousand are more than any limit here keeps.
            let history = incoming(&transcript.drafts[end.saturating_sub(1_000)..end]);
            let prepared =
                prepare(history, Some(prompt("And now?")), &request, counter()).expect("nothing is rejected");
            outcome.add(check(&prepared, format), is_over(&prepared, &limits), || {
                format!("{} #{number}, the first {end}, {format:?}", transcript.file)
            });
        }
    }
    outcome
}

fn incoming(drafts: &[Draft]) -> Incoming {
    let mut incoming = Incoming::of("utterances", drafts.len(), 0);
    drafts.iter().enumerate().for_each(|(index, draft)| incoming.add(index, Ok(draft.clone())));
    incoming
}

fn check(prepared: &Prepared, format: Format) -> Vec<super::super::validator::Fault> {
    match format {
        Format::OpenAiChat | Format::Text => openai::faults(&prepared.messages_json),
        Format::AnthropicMessages => {
            let mut faults = anthropic::faults(&prepared.messages_json);
            if !prepared.system.is_empty() {
                faults.extend(anthropic::system_faults(&Value::from(prepared.system.as_str())));
            }
            faults
        }
    }
}

fn is_over(prepared: &Prepared, limits: &Limits) -> bool {
    let bytes = prepared.messages_json.len() + prepared.system.len();
    bytes > limits.bytes
        || prepared.message_count > limits.messages + 1
        || limits.tokens.is_some_and(|tokens| prepared.token_count > tokens)
}

/// Prints the rows as a table.
pub fn print(rows: &[Row]) {
    println!("\nPrepareHistory, every beginning of every transcript");
    println!("{:<10}{:>8}{:>8}{:>8}{:>11}{:>6}", "", "steps", "faulty", "orphans", "unanswered", "over");
    for Row { format, outcome } in rows {
        let Outcome { steps, faulty, orphans, unanswered, over, .. } = outcome;
        println!("{format:<10}{steps:>8}{faulty:>8}{orphans:>8}{unanswered:>11}{over:>6}");
    }
    rows.iter().filter_map(|row| row.outcome.first.as_ref()).for_each(|first| println!("  {first}"));
}
