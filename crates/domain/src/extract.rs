//! The summary that needs no model: what utterances say, as items, and the lines that tell them.
//!
//! Pure, deterministic, and linear in what it reads. `utterd-summary` chooses; here utterances become its messages, and
//! its lines get the sequences that they depend on:
//!
//! ```text
//! Goal: I need to change my flight on May 27.
//! User: My user ID is omar_rossi_1241. Don't use my credit card.
//! cancel_reservation(EHGLP3) → ok
//! Check: cargo test → ok: 23 passed
//! FQ8APE: flight HAT056; price 117; date 2024-05-27
//! Open: Assistant asked: Which card should I charge instead?
//! ```
//!
//! Each line starts with a letter or a digit and ends with a line break that no white space precedes. No pre-token of
//! o200k, cl100k, p50k or r50k crosses such a line end, so the lines' token counts add up exactly and a summary never
//! has to be recounted.

use std::sync::Arc;

use utterd_summary::{
    analysis::analyse,
    compose::{self, summarise},
    message::{Answer, Call, Message, Role as Speaker},
};

use crate::{
    Ranges, Role, Sequence, Timestamp, TokenCounter, Utterance,
    exchange::{Answers, LateResult, Pairing, Said},
    limits::DEFAULT_SUMMARY_TOKENS,
    values::memory::allocated,
};

pub use utterd_summary::{
    compose::Wanted,
    facts::{Fact, facts},
    hidden::Credentials,
    item::{Item, Kind, Marks as ItemMarks, Seen},
    settle::Part,
    talk::Talk,
};
pub use utterd_text::Kind as Shape;

/// A line of a summary.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Line {
    /// The text, with `\n` at its end and nowhere else.
    pub text: Box<str>,
    /// The exact token count of `text`.
    pub tokens: u32,
    /// The utterances that it is taken from; none for a line that was imported or that a model wrote.
    pub from: Ranges,
}

impl Line {
    /// A line that comes from no utterance that is known. `text` is on one line, without white space at its ends.
    pub fn quoted(text: &str, counter: &dyn TokenCounter) -> Self {
        let text = format!("{text}\n");
        Self { tokens: counter.count(&text), text: text.into(), from: Ranges::new() }
    }

    /// The approximate memory in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + allocated(self.text.len()) + self.from.memory_bytes()
    }
}

/// What is told, and what else can be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extract {
    /// What can be told, oldest first: more than the lines tell.
    pub items: Vec<Item>,
    /// What is told.
    pub lines: Vec<Line>,
}

/// What `source`, whole units in order, says. Soft-forgotten utterances, results without a call, and head instructions
/// say nothing.
pub fn items(source: &[Arc<Utterance>]) -> Vec<Item> {
    analyse(&messages(source))
}

/// What a summary says of which only the text is left.
pub(crate) fn items_of_text(text: &str) -> Vec<Item> {
    utterd_summary::parse::items(text)
}

/// What `source` mostly is.
pub fn talk(source: &[Arc<Utterance>]) -> Option<Talk> {
    utterd_summary::talk::talk(&messages(source))
}

/// The lines that tell most of `items` in the tokens that are wanted.
pub fn tell(items: &[Item], wanted: &Wanted, counter: &dyn TokenCounter) -> Vec<Line> {
    lines(&summarise(items.to_vec(), wanted, &|text| counter.count(text)))
}

/// The same, and the items that a later summary may still need, in about `room` tokens.
pub(crate) fn extract(items: Vec<Item>, wanted: &Wanted, room: u32, counter: &dyn TokenCounter) -> Extract {
    let count = |text: &str| counter.count(text);
    let summary = summarise(items.clone(), wanted, &count);
    Extract { lines: lines(&summary), items: summary.kept(&items, room, &count) }
}

fn lines(summary: &compose::Summary) -> Vec<Line> {
    let line = |line: &utterd_summary::render::Line| Line {
        text: line.text.as_str().into(),
        tokens: line.tokens,
        from: line.items.iter().filter_map(|at| summary.items.get(*at)).flat_map(sequences).collect(),
    };
    summary.lines.iter().map(line).collect()
}

/// The utterances that an item depends on: hard-forgetting one of them removes it.
pub fn sequences(item: &Item) -> impl Iterator<Item = Sequence> + use<> {
    [Some(item.sequence), item.also].into_iter().flatten().filter(|sequence| *sequence > 0).map(Sequence)
}

/// The approximate memory of an item in bytes. Its texts can be shared with others.
pub(crate) fn memory_bytes(item: &Item) -> usize {
    let texts = [&item.head, &item.text, &item.note];
    size_of::<Item>() + texts.map(|text| allocated(COUNTS + text.len())).iter().sum::<usize>()
}

/// What a shared text has beside its bytes.
const COUNTS: usize = 2 * size_of::<usize>();

/// The live utterances that are no instructions, each call with its result.
fn messages(source: &[Arc<Utterance>]) -> Vec<Message<'_>> {
    let pairing = Pairing::of(source.iter().map(|utterance| Said::from(&**utterance)));
    let mut results = pairing.results;
    for (place, answers) in pairing.answers.iter().enumerate() {
        if let Answers::Late(Some((caller, call))) = answers {
            results[*caller][*call] = Some(place);
        }
    }
    let takes_part = |utterance: &Utterance| utterance.is_live() && !utterance.instruction;
    let told = source.iter().zip(&pairing.answers).zip(&results).filter(|((said, _), _)| takes_part(said));
    told.map(|((utterance, answers), results)| {
        let late = utterance.late().filter(|_| !matches!(answers, Answers::Late(Some(_))));
        message(utterance, results, late, source)
    })
    .collect()
}

/// An utterance with its calls; a `late` result, whose call is not among `source`, brings its call along.
fn message<'a>(
    utterance: &'a Utterance,
    results: &[Option<usize>],
    late: Option<&'a LateResult>,
    source: &'a [Arc<Utterance>],
) -> Message<'a> {
    let answer = |place: usize| {
        let result = source.get(place).filter(|result| result.is_live())?;
        Some(Answer { sequence: result.sequence.get(), text: &result.content })
    };
    let calls = utterance.tool_calls().iter().zip(results).map(|(call, result)| Call {
        tool: &call.name,
        arguments: &call.arguments_json,
        result: result.and_then(answer),
    });
    let late = late.map(|late| Call {
        tool: &late.tool,
        arguments: "",
        result: Some(Answer { sequence: utterance.sequence.get(), text: &utterance.content }),
    });
    Message {
        sequence: utterance.sequence.get(),
        role: match utterance.role {
            Role::System => Speaker::System,
            Role::User => Speaker::User,
            Role::Assistant => Speaker::Assistant,
            Role::Tool => Speaker::Tool,
        },
        name: utterance.name().filter(|_| utterance.role != Role::Tool),
        time: Some(utterance.create_time)
            .filter(|time| *time != Timestamp::UNKNOWN)
            .map(|time| time.0 / 1_000_000),
        text: &utterance.content,
        calls: calls.chain(late).collect(),
    }
}

/// The reason a summary is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untold {
    /// The scope contains no utterance.
    #[error("the summary is empty: the scope contains nothing to summarise")]
    NothingSelected,
    /// Every sentence is longer than the limit.
    #[error("the summary is empty: the token limit is {0}, and every sentence is longer")]
    LimitTooSmall(u32),
    /// The scope contains only greetings and the like.
    #[error("the summary is empty: the scope contains nothing that a summary would keep")]
    NothingToTell,
}

impl Untold {
    /// The reason nothing fits in `limit` tokens; `tells` returns whether anything fits in a given number of
    /// tokens.
    pub fn of(is_selected: bool, limit: u32, tells: impl FnOnce(u32) -> bool) -> Self {
        match is_selected {
            false => Self::NothingSelected,
            true if limit < DEFAULT_SUMMARY_TOKENS && tells(DEFAULT_SUMMARY_TOKENS) => {
                Self::LimitTooSmall(limit)
            }
            true => Self::NothingToTell,
        }
    }
}

#[cfg(test)]
mod tests;
