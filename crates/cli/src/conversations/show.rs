//! `utterd show`: shows a conversation to a person.

use std::{collections::BTreeSet, io};

use clap::Args;
use console::Alignment::{Left, Right};
use prost_reflect::DynamicMessage;
use serde::Serialize;

use super::stored;
use crate::{
    args::Target,
    client::Connection,
    errors::CliError,
    messages::capacity::heading,
    terminal::{Output, aligned, bar, clipped, count, counted, folded, reflect, said, speaker},
};
use utterd_rpc::proto::{
    Capacity, Conversation, GetSummaryRequest, GetSummaryResponse, ListUtterancesRequest, Utterance,
    UtteranceState,
};

/// Show a conversation
///
/// Prints the title, the utterances of the window, the summary of earlier ones, and how full the window is. `forget`
/// and `restore` take the number before an utterance, UpdateUtterance its id.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd show trip
  utterd show --recipient alice --full")]
pub struct Show {
    #[command(flatten)]
    target: Target,
    /// Print long utterances in full, and the id of each
    #[arg(long)]
    full: bool,
}

/// Utterances per page: few enough for the client to read, even with the largest contents.
const PAGE_SIZE: i32 = 100;
/// The most columns for a speaker's name.
const SPEAKER_COLUMNS: usize = 24;
/// The most characters shown of one text.
const SHOWN_CHARACTERS: usize = 600;

/// Prints the window, the summary of what left it, and the budget.
pub async fn show(args: Show) -> Result<(), CliError> {
    let connection = Connection::to(&args.target.remote).await?;
    let window = Window::fetch(&connection, &args.target).await?;
    let mut output = Output::new();
    if args.target.json.json {
        output.json_value(&window.reflected()?)?;
    } else {
        window.tell(&mut output, args.full)?;
    }
    Ok(output.flush()?)
}

struct Window {
    /// `None` if there is none yet.
    conversation: Option<Conversation>,
    utterances: Vec<Utterance>,
    summary: GetSummaryResponse,
    capacity: Capacity,
}

/// The JSON of `show`: the conversation, its utterances, and the responses of GetSummary and GetCapacityInfo.
#[derive(Serialize)]
struct Reflected {
    conversation: Option<DynamicMessage>,
    utterances: Vec<DynamicMessage>,
    summary: DynamicMessage,
    capacity: DynamicMessage,
}

impl Window {
    async fn fetch(connection: &Connection, target: &Target) -> Result<Self, CliError> {
        let (id, recipient) = (target.conversation(), target.recipient.clone());
        let capacity = stored::capacity(connection, id, recipient).await?;
        // From here on by its id: the recipient's active conversation might change.
        let conversation_id = capacity.conversation_id.clone();
        if conversation_id.is_empty() {
            let summary = GetSummaryResponse::default();
            return Ok(Self { conversation: None, utterances: Vec::new(), summary, capacity });
        }
        let conversation = Some(stored::conversation(connection, &conversation_id, "").await?);
        let request = GetSummaryRequest { conversation_id: conversation_id.clone(), ..Default::default() };
        let summary = connection.conversations().get_summary(request).await?.into_inner();
        let request = ListUtterancesRequest {
            conversation_id,
            include_forgotten: true,
            page_size: PAGE_SIZE,
            ..Default::default()
        };
        let utterances = stored::utterances(connection, request).await?;
        Ok(Self { conversation, utterances, summary, capacity })
    }

    fn reflected(&self) -> Result<Reflected, CliError> {
        Ok(Reflected {
            conversation: self.conversation.as_ref().map(reflect).transpose()?,
            utterances: self.utterances.iter().map(reflect).collect::<Result<_, _>>()?,
            summary: reflect(&self.summary)?,
            capacity: reflect(&self.capacity)?,
        })
    }

    fn tell(&self, output: &mut Output, full: bool) -> io::Result<()> {
        output.prose(&heading(&self.capacity))?;
        let conversation = self.conversation.clone().unwrap_or_default();
        if !conversation.title.is_empty() {
            output.prose(&folded(&conversation.title))?;
        }
        output.line("")?;
        for (head, utterance) in heads(&self.utterances).iter().zip(&self.utterances) {
            tell_utterance(output, head, utterance, full)?;
        }
        if self.utterances.is_empty() {
            output.line("nothing in the window")?;
        }
        let marks: BTreeSet<_> = self.utterances.iter().filter_map(mark).map(|mark| mark.join(" ")).collect();
        if !marks.is_empty() {
            output.prose(&Vec::from_iter(marks).join(", "))?;
        }
        let covered = self.capacity.summary.unwrap_or_default().covered_utterance_count();
        let (covered, tokens) = (counted(covered, "earlier utterance"), self.summary.token_count());
        let heading = format!("summary of {covered} ({})", counted(tokens, "token"));
        tell_text(output, &heading, &self.summary.text)?;
        tell_text(output, "closing summary", &conversation.closing_summary)?;
        output.line("")?;
        output.prose(&bar(&self.capacity))
    }
}

/// Prints a text from the server below its heading; nothing if the text is empty.
fn tell_text(output: &mut Output, heading: &str, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    output.line("")?;
    output.prose(heading)?;
    text.lines().try_for_each(|line| output.hanging("  ", line))
}

/// The sign for something special about an utterance, and its meaning.
fn mark(utterance: &Utterance) -> Option<[&'static str; 2]> {
    match utterance {
        it if it.state() == UtteranceState::Forgotten => Some(["×", "forgotten"]),
        it if it.aside => Some(["!", "kept aside"]),
        it if it.pinned => Some(["*", "pinned"]),
        it if it.original_content.is_some() => Some(["~", "edited"]),
        _ => None,
    }
}

/// What stands before each text: sequence, mark, turn, speaker and tokens.
fn heads(utterances: &[Utterance]) -> Vec<String> {
    let digits = utterances.last().map_or(0, |last| last.sequence.to_string().len());
    let cells = |it: &Utterance| {
        let mark = mark(it).map_or(" ", |[sign, _]| sign);
        let place = format!("{:>digits$}{mark} t{}", it.sequence, it.turn_number());
        [place, clipped(&speaker(it), SPEAKER_COLUMNS), count(it.token_count())]
    };
    aligned(&utterances.iter().map(cells).collect::<Vec<_>>(), [Left, Left, Right])
}

/// Prints what is said next to its head; further calls go below.
fn tell_utterance(output: &mut Output, head: &str, utterance: &Utterance, full: bool) -> io::Result<()> {
    let mut head = format!("{head}  ");
    let said = said(utterance).into_iter().map(|said| if full { said } else { shortened(said) });
    let id = full.then(|| format!("id {}", utterance.utterance_id));
    for said in said.chain(id) {
        output.hanging(&head, &said)?;
        head = " ".repeat(console::measure_text_width(&head));
    }
    Ok(())
}

/// The part of a text that is shown, and how much more there is.
fn shortened(said: String) -> String {
    let more = said.chars().count().saturating_sub(SHOWN_CHARACTERS);
    if more == 0 {
        return said;
    }
    let head: String = said.chars().take(SHOWN_CHARACTERS).collect();
    format!("{head}… ({} more: --full)", counted(more, "character"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_cut_and_says_so() {
        assert_eq!(shortened("short".into()), "short");
        let cut = shortened("x".repeat(SHOWN_CHARACTERS + 1_200));
        assert!(cut.ends_with("x… (1,200 characters more: --full)"), "{cut}");
    }
}
