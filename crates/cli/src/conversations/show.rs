//! `utterd show`: shows a conversation to a person.

use std::io;

use prost_reflect::DynamicMessage;
use serde::Serialize;

use clap::Args;

use super::stored;
use crate::{
    args::Target,
    client::Connection,
    errors::CliError,
    messages::capacity::heading,
    terminal::{Output, bar, bold, clipped, count, counted, dim, reflect, said, speaker, visible, wrap},
};
use utterd_rpc::proto::{
    Capacity, Conversation, GetCapacityInfoRequest, GetConversationRequest, GetSummaryRequest,
    GetSummaryResponse, ListUtterancesRequest, Utterance, UtteranceState,
};

/// Show a conversation
///
/// Prints the title, the utterances of the window, the summary of earlier ones, and how full the window is. `forget`
/// and `restore` take the number before an utterance, UpdateUtterance its id. On a terminal, a PAGER shows output that
/// is longer than the screen.
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
/// The fewest columns for the text next to the speaker; with fewer, the text goes below.
const LEAST_COLUMNS: usize = 30;
/// The most characters shown of one text.
const SHOWN_CHARACTERS: usize = 600;

/// Prints the window, the summary of what left it, and the budget.
pub async fn show(args: Show) -> Result<(), CliError> {
    let connection = Connection::to(&args.target.remote).await?;
    let window = Window::fetch(&connection, &args.target).await?;
    let mut output = Output::paged();
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
        let request = GetCapacityInfoRequest {
            conversation_id: target.conversation(),
            recipient_id: target.recipient.clone(),
            ..Default::default()
        };
        let capacity = connection.memory().get_capacity_info(request).await?.into_inner();
        let capacity = capacity.capacity.unwrap_or_default();
        // From here on by its id: the recipient's active conversation might change.
        let conversation_id = capacity.conversation_id.clone();
        if conversation_id.is_empty() {
            let summary = GetSummaryResponse::default();
            return Ok(Self { conversation: None, utterances: Vec::new(), summary, capacity });
        }
        let request =
            GetConversationRequest { conversation_id: conversation_id.clone(), ..Default::default() };
        let conversation =
            connection.conversations().get_conversation(request).await?.into_inner().conversation;
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
        let utterances = self.utterances.iter().map(|utterance| reflect("Utterance", utterance));
        let conversation =
            self.conversation.as_ref().map(|conversation| reflect("Conversation", conversation));
        Ok(Reflected {
            conversation: conversation.transpose()?,
            utterances: utterances.collect::<Result<_, _>>()?,
            summary: reflect("GetSummaryResponse", &self.summary)?,
            capacity: reflect("Capacity", &self.capacity)?,
        })
    }

    fn tell(&self, output: &mut Output, full: bool) -> io::Result<()> {
        tell_line(output, &heading(&self.capacity), bold)?;
        let conversation = self.conversation.clone().unwrap_or_default();
        if !conversation.title.is_empty() {
            tell_line(output, &visible(&conversation.title), str::to_owned)?;
        }
        output.line("")?;
        let widths = Widths::of(&self.utterances);
        for utterance in &self.utterances {
            tell_utterance(output, utterance, &widths, full)?;
        }
        if self.utterances.is_empty() {
            output.line(&dim("nothing in the window"))?;
        }
        self.tell_marks(output)?;
        let covered = self.capacity.summary.unwrap_or_default().covered_utterance_count();
        let (covered, tokens) = (counted(covered, "earlier utterance"), self.summary.token_count());
        let heading = format!("summary of {covered} ({})", counted(tokens, "token"));
        tell_text(output, &heading, &self.summary.text)?;
        tell_text(output, "closing summary", &conversation.closing_summary)?;
        output.line("")?;
        tell_line(output, &bar(&self.capacity), str::to_owned)
    }

    fn tell_marks(&self, output: &mut Output) -> io::Result<()> {
        let used = |mark: &&Mark| self.utterances.iter().any(|utterance| (mark.holds)(utterance));
        let marks: Vec<_> =
            MARKS.iter().filter(used).map(|mark| format!("{} {}", mark.sign, mark.meaning)).collect();
        if marks.is_empty() { Ok(()) } else { tell_line(output, &marks.join(", "), dim) }
    }
}

/// Prints a line, or several on a narrow terminal.
fn tell_line(output: &mut Output, line: &str, style: impl Fn(&str) -> String) -> io::Result<()> {
    wrapped(line, output.width()).iter().try_for_each(|line| output.line(&style(line)))
}

/// Prints a text from the server below its heading; nothing if the text is empty.
fn tell_text(output: &mut Output, heading: &str, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    output.line("")?;
    tell_line(output, heading, bold)?;
    let room = output.width().map(|width| width.saturating_sub(2));
    let lines = text.lines().flat_map(|line| wrapped(&visible(line), room));
    lines.into_iter().try_for_each(|line| output.line(&format!("  {line}")))
}

/// A sign for something special about an utterance.
struct Mark {
    sign: &'static str,
    meaning: &'static str,
    holds: fn(&Utterance) -> bool,
}

static MARKS: [Mark; 4] = [
    Mark { sign: "×", meaning: "forgotten", holds: |it| it.state() == UtteranceState::Forgotten },
    Mark { sign: "!", meaning: "kept aside", holds: |it| it.aside },
    Mark { sign: "*", meaning: "pinned", holds: |it| it.pinned },
    Mark { sign: "~", meaning: "edited", holds: |it| it.original_content.is_some() },
];

/// The widths of the columns that vary.
struct Widths {
    sequence: usize,
    turn: usize,
    speaker: usize,
    tokens: usize,
}

impl Widths {
    fn of(utterances: &[Utterance]) -> Self {
        let widest = |width: fn(&Utterance) -> usize| utterances.iter().map(width).max().unwrap_or(0);
        Self {
            sequence: widest(|it| it.sequence.to_string().len()),
            turn: widest(|it| it.turn_number().to_string().len()),
            speaker: widest(|it| console::measure_text_width(&speaker(it))).min(SPEAKER_COLUMNS),
            tokens: widest(|it| count(it.token_count()).len()),
        }
    }
}

/// Prints sequence, mark, turn, speaker, tokens and what is said; further calls go below.
fn tell_utterance(output: &mut Output, utterance: &Utterance, widths: &Widths, full: bool) -> io::Result<()> {
    let mark = MARKS.iter().find(|mark| (mark.holds)(utterance)).map_or(" ", |mark| mark.sign);
    let name = clipped(&speaker(utterance), Some(widths.speaker));
    let name = console::pad_str(&name, widths.speaker, console::Alignment::Left, None).into_owned();
    let head = format!(
        "{:>sequence$}{mark} {}  {}  {:>tokens$}  ",
        utterance.sequence,
        dim(&format!("t{:<turn$}", utterance.turn_number(), turn = widths.turn)),
        bold(&name),
        count(utterance.token_count()),
        sequence = widths.sequence,
        tokens = widths.tokens,
    );
    let mut indent = console::measure_text_width(&head);
    let mut before = head;
    if output.width().is_some_and(|width| width < indent + LEAST_COLUMNS) {
        output.line(before.trim_end())?;
        (indent, before) = (2, "  ".to_owned());
    }
    let room = output.width().map(|width| width.saturating_sub(indent));
    let said = said(utterance).into_iter().map(|said| if full { said } else { shortened(said) });
    let id = full.then(|| format!("id {}", visible(&utterance.utterance_id)));
    for line in said.chain(id).flat_map(|said| wrapped(&said, room)) {
        let line = if mark == "×" { dim(&line) } else { line };
        output.line(format!("{before}{line}").trim_end())?;
        before = " ".repeat(indent);
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

/// Wraps a text between words, and at line ends (`⏎`). Without `columns`, it stays one line.
fn wrapped(said: &str, columns: Option<usize>) -> Vec<String> {
    let Some(columns) = columns else { return vec![said.to_owned()] };
    said.split('⏎').flat_map(|line| wrap(line, columns)).collect()
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

    #[test]
    fn lines_are_cut_between_words_on_a_terminal_alone() {
        let said = "the train leaves⏎at nine";
        assert_eq!(wrapped(said, Some(12)), ["the train", "leaves", "at nine"]);
        assert_eq!(wrapped(said, None), [said]);
    }
}
