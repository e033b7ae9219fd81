//! `utterd show`: the window as a person reads it.

use std::io;

use prost_reflect::DynamicMessage;
use serde::Serialize;

use super::{
    args::{self, Target},
    bar::bar,
    capacity::heading,
    client::Connection,
    errors::CliError,
    json::reflect,
    output::{Output, bold, dim},
    text::{clipped, count, counted, said, speaker, visible},
};
use crate::proto::{
    Capacity, GetCapacityInfoRequest, GetSummaryRequest, GetSummaryResponse, ListUtterancesRequest,
    ListUtterancesResponse, Utterance, UtteranceState,
};

/// Utterances of one page: with the largest contents, what the client still reads.
const PAGE_SIZE: i32 = 100;
/// Columns that a speaker's name may take.
const SPEAKER_COLUMNS: usize = 24;

/// Prints the window, the summary of what left it, and the budget.
pub async fn show(args: args::Show) -> Result<(), CliError> {
    let connection = Connection::open(&args.target).await?;
    let window = Window::fetch(&connection, &args.target).await?;
    let mut output = Output::new();
    if args.target.json {
        output.json_value(&window.reflected()?)?;
    } else {
        window.tell(&mut output)?;
    }
    Ok(output.flush()?)
}

struct Window {
    utterances: Vec<Utterance>,
    summary: GetSummaryResponse,
    capacity: Capacity,
}

/// The JSON of `show`: the utterances, and the responses of GetSummary and GetCapacityInfo.
#[derive(Serialize)]
struct Reflected {
    utterances: Vec<DynamicMessage>,
    summary: DynamicMessage,
    capacity: DynamicMessage,
}

impl Window {
    async fn fetch(connection: &Connection, target: &Target) -> Result<Self, CliError> {
        let request = GetCapacityInfoRequest {
            conversation_id: target.conversation.clone(),
            recipient_id: target.recipient.clone(),
            ..Default::default()
        };
        let capacity = connection.memory().get_capacity_info(request).await?.into_inner();
        let capacity = capacity.capacity.unwrap_or_default();
        // From here on by its id: the recipient's active conversation may become another.
        let conversation_id = capacity.conversation_id.clone();
        if conversation_id.is_empty() {
            return Ok(Self { utterances: Vec::new(), summary: GetSummaryResponse::default(), capacity });
        }
        let request = GetSummaryRequest { conversation_id: conversation_id.clone(), ..Default::default() };
        let summary = connection.conversations().get_summary(request).await?.into_inner();
        let utterances = utterances(connection, conversation_id).await?;
        Ok(Self { utterances, summary, capacity })
    }

    fn reflected(&self) -> Result<Reflected, CliError> {
        let utterances = self.utterances.iter().map(|utterance| reflect("Utterance", utterance));
        Ok(Reflected {
            utterances: utterances.collect::<Result<_, _>>()?,
            summary: reflect("GetSummaryResponse", &self.summary)?,
            capacity: reflect("Capacity", &self.capacity)?,
        })
    }

    fn tell(&self, output: &mut Output) -> io::Result<()> {
        output.line(&bold(&heading(&self.capacity)))?;
        output.line("")?;
        let widths = Widths::of(&self.utterances);
        for utterance in &self.utterances {
            tell_utterance(output, utterance, &widths)?;
        }
        if self.utterances.is_empty() {
            output.line(&dim("nothing in the window"))?;
        }
        self.tell_marks(output)?;
        self.tell_summary(output)?;
        output.line("")?;
        output.line(&bar(&self.capacity))
    }

    fn tell_marks(&self, output: &mut Output) -> io::Result<()> {
        let used = |mark: &&Mark| self.utterances.iter().any(|utterance| (mark.holds)(utterance));
        let marks: Vec<_> =
            MARKS.iter().filter(used).map(|mark| format!("{} {}", mark.sign, mark.meaning)).collect();
        if marks.is_empty() { Ok(()) } else { output.line(&dim(&marks.join(", "))) }
    }

    fn tell_summary(&self, output: &mut Output) -> io::Result<()> {
        if self.summary.text.is_empty() {
            return Ok(());
        }
        let covered = self.capacity.summary.unwrap_or_default().covered_utterance_count();
        let covered = counted(covered, "earlier utterance");
        let tokens = counted(self.summary.token_count(), "token");
        output.line("")?;
        output.line(&bold(&format!("summary of {covered} ({tokens})")))?;
        for line in self.summary.text.lines() {
            output.line(&clipped(&format!("  {}", visible(line)), output.width()))?;
        }
        Ok(())
    }
}

/// All pages of the window, what is soft-forgotten in it too.
async fn utterances(connection: &Connection, conversation_id: String) -> Result<Vec<Utterance>, CliError> {
    let mut request = ListUtterancesRequest {
        conversation_id,
        include_forgotten: true,
        page_size: PAGE_SIZE,
        ..Default::default()
    };
    let mut utterances = Vec::new();
    loop {
        let page = connection.conversations().list_utterances(request.clone()).await?.into_inner();
        let ListUtterancesResponse { utterances: more, next_page_token } = page;
        utterances.extend(more);
        if next_page_token.is_empty() {
            return Ok(utterances);
        }
        request.page_token = next_page_token;
    }
}

/// What is special about an utterance.
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

/// Columns of what varies in width.
struct Widths {
    position: usize,
    turn: usize,
    speaker: usize,
    tokens: usize,
}

impl Widths {
    fn of(utterances: &[Utterance]) -> Self {
        let widest = |width: fn(&Utterance) -> usize| utterances.iter().map(width).max().unwrap_or(0);
        Self {
            position: widest(|it| it.position().to_string().len()),
            turn: widest(|it| it.turn_number().to_string().len()),
            speaker: widest(|it| console::measure_text_width(&speaker(it))).min(SPEAKER_COLUMNS),
            tokens: widest(|it| count(it.token_count()).len()),
        }
    }
}

/// Position, mark, turn, speaker, tokens and what is said; further calls stand below.
fn tell_utterance(output: &mut Output, utterance: &Utterance, widths: &Widths) -> io::Result<()> {
    let mark = MARKS.iter().find(|mark| (mark.holds)(utterance)).map_or(" ", |mark| mark.sign);
    let name = clipped(&speaker(utterance), Some(widths.speaker));
    let name = console::pad_str(&name, widths.speaker, console::Alignment::Left, None).into_owned();
    let head = format!(
        "{:>position$}{mark} {}  {}  {:>tokens$}  ",
        utterance.position(),
        dim(&format!("t{:<turn$}", utterance.turn_number(), turn = widths.turn)),
        bold(&name),
        count(utterance.token_count()),
        position = widths.position,
        tokens = widths.tokens,
    );
    let indent = " ".repeat(console::measure_text_width(&head));
    for (index, line) in said(utterance).into_iter().enumerate() {
        let before = if index == 0 { &head } else { &indent };
        let line = if mark == "×" { dim(&line) } else { line };
        output.line(clipped(&format!("{before}{line}"), output.width()).trim_end())?;
    }
    Ok(())
}
