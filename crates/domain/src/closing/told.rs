//! The title and the closing summary that a model writes for an ended conversation.

use std::sync::Arc;

use crate::{
    Conversation, Ending, Revision, TokenCounter, Transition,
    change::Context,
    conversation::Teller,
    limits::{CLOSING_TOKENS, MAX_TITLE_BYTES},
};
use utterd_summary::title::MOST_WORDS;
use utterd_text::one_line;

/// What a model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The title; at most 8 words.
    pub title: Arc<str>,
    /// The summary, on one line.
    pub summary: Arc<str>,
}

/// The reason a model's text cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The title or the summary is missing.
    #[error("nothing follows {0:?}")]
    Missing(&'static str),
    /// The title is too long.
    #[error("the title has {words} words; accepted: at most {MOST_WORDS}")]
    LongTitle {
        /// The number of words it has.
        words: usize,
    },
    /// The summary is too long.
    #[error("the summary has {tokens} tokens; accepted: at most {CLOSING_TOKENS}")]
    LongSummary {
        /// The number of tokens it has.
        tokens: u32,
    },
}

const TITLE: &str = "Title:";
const SUMMARY: &str = "Summary:";

/// Reads `Title: …` and, on a later line, `Summary: …` up to the end. Quotes and markup around the title are
/// dropped, and so is its full stop.
pub fn told(text: &str, counter: &dyn TokenCounter) -> Result<Told, Unfit> {
    let mut lines = text.lines().skip_while(|line| behind(line, TITLE).is_none());
    let title = lines.next().and_then(|line| behind(line, TITLE)).unwrap_or_default();
    let mut lines = lines.skip_while(|line| behind(line, SUMMARY).is_none());
    let first = lines.next().and_then(|line| behind(line, SUMMARY)).unwrap_or_default();
    let title = one_line(title.trim_matches(MARKS).trim_end_matches('.'));
    let summary = one_line(&std::iter::once(first).chain(lines).collect::<Vec<_>>().join(" "));
    let (words, tokens) = (utterd_summary::title::size(&title), counter.count(&summary));
    match () {
        () if title.is_empty() => Err(Unfit::Missing(TITLE)),
        () if summary.is_empty() => Err(Unfit::Missing(SUMMARY)),
        () if words > MOST_WORDS || title.len() > MAX_TITLE_BYTES => Err(Unfit::LongTitle { words }),
        () if tokens > CLOSING_TOKENS => Err(Unfit::LongSummary { tokens }),
        () => Ok(Told { title: title.into(), summary: summary.into() }),
    }
}

/// Marks that models put around words.
const MARKS: [char; 9] = ['*', '_', '#', '`', '"', '\'', '“', '”', ' '];

/// The text after `name` at the start of a line, ignoring case.
fn behind<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let line = line.trim_start_matches(MARKS);
    let (start, rest) = line.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then(|| rest.trim_matches(['*', ' ']))
}

/// A model's title and summary of an ended conversation.
#[derive(Clone, Debug)]
pub struct ReplaceClosing {
    /// What the model wrote.
    pub told: Told,
    /// The model, and how it was asked.
    pub teller: Teller,
    /// The revision at which the model was shown the conversation.
    pub seen: Revision,
}

/// Replaces the title and the closing summary made without a model by the model's; `None` if nothing is
/// waiting for them, or if anything was forgotten, restored or edited since the model was shown the
/// conversation.
///
/// A title given by a caller stays.
pub fn replace_closing(
    before: &Conversation,
    command: &ReplaceClosing,
    context: &Context<'_>,
) -> Option<Transition> {
    let head = &before.head;
    if head.erased_at > command.seen || head.silenced_at > command.seen {
        return None;
    }
    let ending = awaiting(before)?;
    let mut transition = Transition::from(before, context.now);
    let Told { title, summary } = command.told.clone();
    transition.after.head.ended = Some(Arc::new(Ending {
        title: head.title.is_none().then_some(title),
        summary: Some(summary),
        awaits: None,
        teller: Some(command.teller.clone()),
        ..ending.clone()
    }));
    Some(transition.finish(&before.summary))
}

/// Stops waiting for a model's title and closing summary; `None` if nothing is waiting.
pub fn give_up_closing(before: &Conversation, context: &Context<'_>) -> Option<Transition> {
    awaiting(before)?;
    let mut transition = Transition::from(before, context.now);
    transition.settle_closing();
    Some(transition.finish(&before.summary))
}

fn awaiting(conversation: &Conversation) -> Option<&Ending> {
    conversation.head.ended.as_deref().filter(|ending| ending.awaits.is_some())
}

impl Transition {
    /// Keeps the present title and closing summary.
    pub(crate) fn settle_closing(&mut self) {
        if let Some(ending) = self.after.head.ended.as_mut().filter(|ending| ending.awaits.is_some()) {
            Arc::make_mut(ending).awaits = None;
        }
    }
}
