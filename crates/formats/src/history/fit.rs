//! Fits a history into the limits: builds a context of as many of its newest messages as fit.
//!
//! A context keeps to the tokens. The limits of messages and bytes are kept by moving the oldest messages out of the
//! window first.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    history::{Request, finish::Finished},
    render,
};
use utterd_domain::{
    Conversation, Ranges, Refusal, Result, Role, Sequence, TokenCounter, Window,
    context::{self, Archived, Context, How, RecallLimits, asked_before, build_with, recallable},
    history::{
        Limit,
        recall::{Recall, Searched},
    },
};

/// A conversation to fit.
pub struct Fit<'a> {
    /// The conversation, with all of the history in its window that is not in its summary.
    pub whole: Conversation,
    /// The whole history.
    pub said: Window,
    /// What the caller asks for.
    pub request: &'a Request,
    /// Counts tokens.
    pub counter: &'a dyn TokenCounter,
    /// Whether the newest utterance is the prompt, which never leaves.
    pub has_prompt: bool,
}

/// A history that fits.
pub struct Fitted {
    /// What goes to the model.
    pub finished: Finished,
    /// The utterances that are left out, each with the limit that it does not fit.
    pub left_out: Vec<(Sequence, Limit)>,
    /// The utterances that are quoted.
    pub recalled: Vec<Sequence>,
    shown: Ranges,
    stay: Stay,
}

/// What stays in the window: this many instructions, and everything from a place on.
#[derive(Clone, Copy)]
struct Stay {
    instructions: usize,
    start: usize,
}

/// Why something does not fit.
struct Over {
    limit: Limit,
    /// The tokens and the bytes of what was written.
    tokens: u32,
    bytes: usize,
    refusal: Refusal,
}

/// What is recalled, and from what.
type Search<'a> = Option<(&'a Recall, Searched)>;

impl Fit<'_> {
    /// Fits the newest units, and what they leave out is recalled if there is room for it.
    pub fn fit(&self) -> Result<Fitted> {
        let recall = self.request.recall.as_ref();
        let search = recall.and_then(|recall| Some((recall, Searched::of(&self.said, recall)?)));
        let fitted = match search {
            None => self.newest(&None),
            search => self.newest(&search).or_else(|_| self.newest(&None)),
        };
        fitted.map_err(|over| over.refusal)
    }

    /// Fits as many of the newest units as possible. If not even the newest one fits, it is cut; then instructions
    /// leave, the last first; and at last, if it is not the prompt, the newest unit too.
    fn newest(&self, search: &Search<'_>) -> Result<Fitted, Over> {
        let end = self.whole.window.len();
        let instructions = (self.whole.window.instructions() as usize).min(self.request.limits.messages);
        let starts = self.starts(instructions);
        let mut over = self.over(Limit::Messages, 0, 0);
        let mut note = |made: Result<Fitted, Over>| made.map_err(|why| over = why).ok();
        let units = |at: usize| Stay { instructions, start: starts[at] };
        let mut fitted =
            first_made(starts.len(), |at| note(self.attempt(units(at), self.request.limits.tokens, search)));
        let newest = starts.last().copied();
        for start in newest.into_iter().chain((!self.has_prompt).then_some(end)) {
            let fewer = |count: usize| Stay { instructions: instructions - count, start };
            fitted = fitted
                .or_else(|| first_made(instructions + 1, |count| note(self.shortened(fewer(count), search))));
        }
        let all = Stay { instructions, start: starts.first().copied().unwrap_or(end) };
        match fitted {
            Some(fitted) => Ok(Fitted { left_out: self.left_out(&fitted, all, over.limit), ..fitted }),
            None => Err(over),
        }
    }

    /// The places at which the units begin that `max_messages` allows beside this many instructions.
    fn starts(&self, instructions: usize) -> Vec<usize> {
        let window = &self.whole.window;
        let head = window.instructions() as usize;
        let room = (self.request.limits.messages - instructions).saturating_add(self.has_prompt.into());
        let unit = |place: usize| window.at(place).map(|said| said.unit);
        let begins = |place: &usize| *place == head || unit(*place) != unit(*place - 1);
        (window.len().saturating_sub(room).max(head)..window.len()).filter(begins).collect()
    }

    /// Makes what goes out if this stays; cuts long messages until it fits the bytes.
    fn shortened(&self, stay: Stay, search: &Search<'_>) -> Result<Fitted, Over> {
        let mut over = match self.attempt(stay, self.request.limits.tokens, search) {
            Err(over) if over.limit == Limit::Bytes => over,
            made => return made,
        };
        loop {
            let (room, needed) = (self.request.limits.bytes as u128, over.bytes as u128);
            // a sixteenth less, so that a few steps are enough
            let budget = u128::from(over.tokens) * room * 15 / (needed * 16);
            match self.attempt(stay, Some(budget as u32), search) {
                Err(again) if again.limit == Limit::Bytes && again.tokens < over.tokens => over = again,
                Err(_) => return Err(over),
                made => return made,
            }
        }
    }

    /// Makes what goes out if this stays, within `budget` tokens.
    fn attempt(&self, stay: Stay, budget: Option<u32>, search: &Search<'_>) -> Result<Fitted, Over> {
        let conversation = self.leaving(stay);
        let context = self.context(&conversation, budget, search);
        let context = context.map_err(|refusal| Over { refusal, ..self.over(Limit::Tokens, 0, 0) })?;
        let shown = context.messages.iter().filter_map(|message| Some(message.utterance.as_ref()?.sequence));
        let shown = shown.collect();
        let recalled = context.recalled.iter().map(|found| found.utterance.sequence).collect();
        let mut finished = Finished::of(context, self.counter);
        let (tokens, limits) = (finished.tokens(), self.request.limits);
        let text = finished.text_bytes();
        if finished.count > limits.messages.saturating_add(self.has_prompt.into()) {
            return Err(self.over(Limit::Messages, tokens, text));
        }
        if limits.tokens.is_some_and(|most| tokens > most) {
            return Err(self.over(Limit::Tokens, tokens, text));
        }
        // what is written is no shorter
        if text > limits.bytes {
            return Err(self.over(Limit::Bytes, tokens, text));
        }
        finished.rendered = render(&finished.context, self.counter);
        let bytes = finished.rendered.messages_json.len() + finished.system.len();
        match bytes > limits.bytes {
            true => Err(self.over(Limit::Bytes, tokens, bytes)),
            false => Ok(Fitted { finished, left_out: Vec::new(), recalled, shown, stay }),
        }
    }

    fn over(&self, limit: Limit, tokens: u32, bytes: usize) -> Over {
        let most = self.request.limits.of(limit);
        let needs = |least| format!("is {most}; the prompt alone needs {least}, which is the least accepted");
        let text = match limit {
            // Everything but the summary can leave.
            Limit::Messages => format!("is {most}; the summary alone needs 1, which is the least accepted"),
            Limit::Bytes => needs(bytes),
            Limit::Tokens => needs(tokens as usize),
        };
        Over { limit, tokens, bytes, refusal: Refusal::invalid(limit.field(), text) }
    }

    /// The conversation after everything else has left its window.
    fn leaving(&self, stay: Stay) -> Conversation {
        let mut conversation = self.whole.clone();
        let gone = self.whole.window.slice(stay.instructions..stay.start);
        leave(&mut conversation, &gone.map(|said| said.sequence).collect());
        conversation
    }

    /// The context of `conversation`. What it recalls has its share of the tokens and of the bytes.
    fn context(
        &self,
        conversation: &Conversation,
        budget: Option<u32>,
        search: &Search<'_>,
    ) -> Result<Context> {
        let is_asked = |turn| {
            let mut said = self.said.iter();
            said.find(|said| said.turn == turn && said.role == Role::User)
        };
        let archived =
            Archived { asked: asked_before(conversation).and_then(is_asked), ..Archived::default() };
        let mut request = context::Request {
            format: self.request.format,
            budget,
            stable_steps: Some(self.request.summary.is_some()),
            summary: self.request.summary.as_ref().map(|summary| summary.placement).unwrap_or_default(),
            whole_messages: self.request.whole_messages,
            ..context::Request::default()
        };
        let Some((recall, searched)) = search else {
            return build_with(conversation, archived, &request, self.counter);
        };
        let room = self.request.limits.bytes.saturating_mul(recall.percent as usize) / 100;
        let mut percent = recall.percent;
        loop {
            request.recall = Some(RecallLimits { matches: recall.matches, percent: Some(percent) });
            let wanted = recallable(conversation, archived, &request, self.counter)?;
            let matches = searched.matches(&wanted);
            let archived = Archived { recalled: &matches, ..archived };
            let context = build_with(conversation, archived, &request, self.counter)?;
            let bytes = quoted_bytes(&context);
            if bytes <= room {
                return Ok(context);
            }
            percent = (percent as u128 * room as u128 * 15 / (bytes as u128 * 16)) as u32;
        }
    }

    /// The utterances that are not shown. `all` of what `max_messages` allows would stay if it were not `over` a limit.
    fn left_out(&self, fitted: &Fitted, all: Stay, over: Limit) -> Vec<(Sequence, Limit)> {
        let head = self.whole.window.instructions() as usize;
        let limit = |place: usize| match place < head {
            true if place >= all.instructions => Limit::Messages,
            true => over,
            false if place < all.start => Limit::Messages,
            false if place < fitted.stay.start => over,
            false => Limit::Tokens,
        };
        let said = self.whole.window.iter().enumerate();
        let left_out = said.filter(|(_, said)| !fitted.shown.contains(said.sequence));
        left_out.map(|(place, said)| (said.sequence, limit(place))).collect()
    }
}

/// Moves utterances out of the window.
pub fn leave(conversation: &mut Conversation, gone: &Ranges) {
    conversation.window.remove(gone);
    Arc::make_mut(&mut conversation.head.left).union(gone);
    conversation.head.archived = conversation.head.left.clone();
}

/// The bytes of the message that quotes what is recalled.
fn quoted_bytes(context: &Context) -> usize {
    let quote = context.messages.iter().find(|message| message.how == How::Recalled);
    quote.map_or(0, |quote| Value::from(quote.text()).to_string().len())
}

/// What is made of the first of `count` numbers from 0 of which something can be made, if something can be made of every
/// later one too.
fn first_made<T>(count: usize, mut make: impl FnMut(usize) -> Option<T>) -> Option<T> {
    let (mut low, mut high) = (0, count.checked_sub(1)?);
    let first = make(low);
    if first.is_some() || high == 0 {
        return first;
    }
    let mut made = make(high)?;
    while high - low > 1 {
        let middle = low.midpoint(high);
        match make(middle) {
            Some(better) => (made, high) = (better, middle),
            None => low = middle,
        }
    }
    Some(made)
}
