//! The messages that the limits leave out become a summary, which a later call recognizes.

use crate::history::{
    Compaction, Request,
    fit::{Fit, Fitted, leave},
};
use utterd_domain::{
    Conversation, Marks, Ranges, Refusal, Result, Role, TokenCounter,
    context::recognize,
    history::{Entry, Limit, Limits},
    segment::{Summary, SummaryContext},
};

/// What a rendering adds to a summary has at most so many tokens.
const FRAME_TOKENS: u32 = 64;

/// The summary with which a history begins.
pub struct Earlier {
    text: String,
    /// The number of messages that it is about.
    messages: u64,
    /// The last sequence before those of the history: what the summary says has the numbers of its lines.
    pub before: u64,
}

impl Earlier {
    /// Takes the summary of an earlier call out of the system messages at the head, or the message behind them.
    pub fn take(entries: &mut Vec<Entry>) -> Option<Self> {
        let head = entries.iter().take_while(|entry| entry.draft.role == Role::System).count();
        let told = entries.iter().take(head + 1).enumerate().rev().find_map(|(place, entry)| {
            let found = recognize(entry.draft.role, &entry.draft.content)?;
            let (text, messages) = (found.text.to_owned(), found.messages);
            let earlier = Self { messages, before: messages.max(text.lines().count() as u64), text };
            let around: Vec<&str> = found.around.into_iter().filter(|text| !text.is_empty()).collect();
            Some((place, around.join("\n\n"), earlier))
        });
        let (place, rest, earlier) = told?;
        match rest.is_empty() {
            true => drop(entries.remove(place)),
            false => entries[place].draft.content = rest.into(),
        }
        Some(earlier)
    }

    /// The summary.
    pub fn summary(&self, counter: &dyn TokenCounter) -> Summary {
        Summary::of_text(&self.text, self.messages, counter)
    }
}

impl Request {
    /// The request without the room for a summary.
    fn beside(&self, compaction: &Compaction) -> Result<Self> {
        let taken = compaction.token_limit.saturating_add(FRAME_TOKENS);
        let beside = |tokens: u32| {
            let text = format!("is {tokens}; accepted with this summary_token_limit: more than {taken}");
            let rest = tokens.checked_sub(taken).filter(|rest| *rest > 0);
            rest.ok_or_else(|| Refusal::invalid(Limit::Tokens.field(), text))
        };
        let tokens = self.limits.tokens.map(beside).transpose()?;
        let limits = Limits { messages: self.limits.messages.saturating_sub(1), tokens, ..self.limits };
        Ok(Self { limits, recall: None, ..self.clone() })
    }
}

impl Fit<'_> {
    /// Moves what does not fit beside a summary into one; returns what it is about that no earlier one was.
    pub fn fold(&mut self, compaction: &Compaction) -> Result<Ranges> {
        let beside = self.request.beside(compaction)?;
        self.whole.head.policy.tokens = beside.limits.tokens.map(Marks::of);
        let whole = Conversation { summary: Summary::default(), ..self.whole.clone() };
        let fitted = Fit { whole, said: self.said.clone(), request: &beside, ..*self }.fit()?;
        let head = self.whole.window.instructions() as usize;
        let start = self.end_of_left_out(&fitted, head);
        if start == head {
            return Ok(Ranges::new());
        }
        let start = start.max(compaction.keep_recent.map_or(head, |count| self.last_units(count as usize)));
        let left: Vec<_> = self.whole.window.slice(head..start).cloned().collect();
        let gone: Ranges = left.iter().map(|said| said.sequence).collect();
        leave(&mut self.whole, &gone);
        let with = SummaryContext {
            limit: Some(compaction.token_limit),
            counter: self.counter,
            window: Some(&self.whole.window),
            compacts: true,
            awaits: None,
        };
        self.whole.summary = self.whole.summary.tell_anew(&left, &compaction.focus, &with);
        Ok(gone)
    }

    /// The place after the last message that is left out, from `head` on.
    fn end_of_left_out(&self, fitted: &Fitted, head: usize) -> usize {
        let places =
            fitted.left_out.iter().filter_map(|(sequence, _)| self.whole.window.place(*sequence).ok());
        places.max().map_or(head, |last| head.max(last + 1))
    }

    /// The place of the unit with which at least this many of the newest messages begin, without the prompt.
    fn last_units(&self, count: usize) -> usize {
        let window = &self.whole.window;
        let place = window.len().saturating_sub(count.saturating_add(self.has_prompt.into()));
        window.at(place).map_or(place, |said| window.place(said.unit).unwrap_or_else(|place| place))
    }
}
