//! Turns a unit of the window into messages that a provider accepts.

use std::{ops::Range, sync::Arc};

use smallvec::SmallVec;

use crate::{
    Role, Sequence, ToolCall, Utterance, Window,
    context::{
        ContentParts, How, Message, Omission, Unanswered, mask,
        message::tokens_of,
        wording::{self, Costs},
    },
    exchange::OpenCalls,
    shortening::trim,
};

/// A unit, rendered.
#[derive(Debug)]
pub(super) struct Unit {
    /// Its places in the window; empty if it is not there.
    pub(super) places: Range<usize>,
    /// Its turn.
    pub(super) turn: u32,
    /// Tokens of its messages.
    pub(super) tokens: u64,
    /// Tokens of its messages before any was trimmed, and those of them that cannot be.
    whole: u64,
    firm: u64,
    /// The tokens that the window counts for it.
    pub(super) counted: u64,
    /// Its messages; none if all of it is left out.
    pub(super) messages: SmallVec<[Message; 1]>,
    /// The utterances that are left out of it.
    pub(super) omitted: Vec<(Sequence, Omission)>,
}

impl Unit {
    /// An empty unit at the end of a window of `end` places.
    pub(super) fn nothing(end: usize) -> Self {
        Self {
            places: end..end,
            turn: 0,
            tokens: 0,
            whole: 0,
            firm: 0,
            counted: 0,
            messages: SmallVec::new(),
            omitted: Vec::new(),
        }
    }

    /// What it counts as if it may have `room` tokens. If it is trimmed, that is `room`, although a trimmed text is a
    /// little shorter: how much varies, and would make a larger room look fuller than a smaller one.
    pub(super) fn within(&self, room: u64) -> u64 {
        self.whole.min(room.max(self.firm))
    }
}

/// The places of the unit that ends before `end`, from `floor` on.
pub(super) fn before(window: &Window, floor: usize, end: usize) -> Option<Range<usize>> {
    let last = end.checked_sub(1).filter(|last| *last >= floor)?;
    let unit = window.at(last)?.unit;
    let mut start = last;
    while start > floor && window.at(start - 1).is_some_and(|utterance| utterance.unit == unit) {
        start -= 1;
    }
    Some(start..end)
}

/// How units are rendered.
#[derive(Clone, Copy)]
pub(super) struct Rendering<'a> {
    pub(super) costs: Costs<'a>,
    /// Results of earlier turns are masked.
    pub(super) first_whole_turn: u32,
    pub(super) unanswered: Unanswered,
    /// Content that has more than text.
    pub(super) parts: Option<&'a ContentParts>,
}

impl Rendering<'_> {
    /// The unit at `places`, with no result trimmed.
    pub(super) fn unit(&self, window: &Window, places: Range<usize>) -> Unit {
        let turn = window.at(places.start).map_or(0, |first| first.turn);
        let unit = Unit { turn, places: places.clone(), ..Unit::nothing(0) };
        self.render(unit, window.slice(places))
    }

    /// The unit of `utterances` that are not in the window: it has no places there.
    pub(super) fn unit_away(&self, utterances: &[Arc<Utterance>]) -> Unit {
        self.render(Unit::nothing(0), utterances.iter())
    }

    fn render<'u>(&self, mut unit: Unit, utterances: impl Iterator<Item = &'u Arc<Utterance>>) -> Unit {
        let mut exchange = Exchange::default();
        for utterance in utterances {
            unit.counted += u64::from(utterance.counted_tokens());
            let omission = match self.omission(utterance) {
                None if utterance.late().is_some() => {
                    exchange.say(self.late_result(utterance), &[]);
                    None
                }
                None if utterance.role == Role::Tool => exchange.answer(utterance),
                None => self.say(&mut exchange, utterance),
                omission => omission,
            };
            unit.omitted.extend(omission.map(|omission| (utterance.sequence, omission)));
        }
        self.lay_out(exchange, &mut unit);
        unit.tokens = tokens_of(&unit.messages);
        unit.whole = unit.tokens;
        unit.firm =
            unit.messages.iter().filter(|message| !is_long(message)).map(|m| u64::from(m.tokens)).sum();
        unit
    }

    /// The message that renders `utterance` unchanged.
    pub(super) fn message(&self, utterance: &Arc<Utterance>) -> Option<Message> {
        let parts = self.parts.and_then(|parts| parts.of(utterance.sequence));
        let tokens = match &parts {
            Some((_, words)) => self.costs.with_parts(utterance).saturating_add(*words),
            None => self.costs.of(utterance)?,
        };
        Some(Message {
            role: utterance.role,
            utterance: Some(utterance.clone()),
            instead: None,
            content_parts: parts.map(|(json, _)| json),
            answers: 0,
            how: How::Whole,
            tokens,
        })
    }

    fn omission(&self, utterance: &Utterance) -> Option<Omission> {
        match utterance {
            _ if utterance.forgotten => Some(Omission::Forgotten),
            _ if utterance.aside => Some(Omission::Aside),
            _ if utterance.late().is_some() => None,
            _ if utterance.role == Role::Tool && !self.costs.takes_results() => Some(Omission::Format),
            _ => None,
        }
    }

    /// Adds an utterance that is a message of its own, unless it is empty.
    fn say<'u>(&self, exchange: &mut Exchange<'u>, utterance: &'u Arc<Utterance>) -> Option<Omission> {
        let Some(message) = self.message(utterance) else { return Some(Omission::Empty) };
        let calls = if self.costs.takes_results() { utterance.tool_calls() } else { &[] };
        exchange.say(message, calls);
        None
    }

    /// Puts each call's results directly after it, the rest in order. Without placeholders, a message with an
    /// unanswered call is left out, with the results of its other calls.
    fn lay_out(&self, exchange: Exchange<'_>, unit: &mut Unit) {
        for Said { message, answers } in exchange.said {
            if self.unanswered == Unanswered::Omit && answers.iter().any(Option::is_none) {
                let said = message.utterance.iter().map(|utterance| utterance.sequence);
                let answers = answers.into_iter().flatten().map(|utterance| utterance.sequence);
                let all = said.chain(answers);
                unit.omitted.extend(all.map(|sequence| (sequence, Omission::UnansweredCall)));
                continue;
            }
            let utterance = message.utterance.clone();
            unit.messages.push(message);
            let calls = utterance.as_ref().map_or(&[][..], |utterance| utterance.tool_calls());
            for (index, (call, answer)) in calls.iter().zip(answers).enumerate() {
                let message = match answer {
                    Some(result) => self.result(call, result),
                    None => self.placeholder(call),
                };
                unit.messages.push(Message { answers: index, ..message });
            }
        }
    }

    fn result(&self, call: &ToolCall, result: &Arc<Utterance>) -> Message {
        let Some(whole) = self.message(result) else { return self.placeholder(call) };
        self.masked(whole, result, &call.name, |text| self.costs.of_words(text))
    }

    /// A late result in its place, on the user's side.
    fn late_result(&self, result: &Arc<Utterance>) -> Message {
        let whole = Message {
            role: Role::User,
            utterance: Some(result.clone()),
            instead: Some(wording::late_result(result, &result.content).into()),
            content_parts: None,
            answers: 0,
            how: How::Whole,
            tokens: self.costs.of_late_result(result, &result.content),
        };
        let tool = result.late().map_or("", |late| &late.tool);
        self.masked(whole, result, tool, |text| self.costs.of_note(result, text))
    }

    /// The message with a result, masked if the result is of an earlier turn and costs less that way.
    fn masked(&self, whole: Message, result: &Utterance, tool: &str, cost: impl Fn(&str) -> u32) -> Message {
        if result.turn >= self.first_whole_turn {
            return whole;
        }
        let text = mask::text(tool, result, result.tokens);
        let tokens = cost(&text);
        match tokens < whole.tokens {
            true => Message { instead: Some(text.into()), how: How::Masked, tokens, ..whole },
            false => whole,
        }
    }

    fn placeholder(&self, call: &ToolCall) -> Message {
        let text = format!("[no result: the call of {} was not answered]", call.name);
        let tokens = self.costs.of_words(&text);
        Message::own(Role::Tool, How::Placeholder, text, tokens)
    }

    /// The fewest tokens to which [`Rendering::fit`] can reduce a unit.
    pub(super) fn least(&self, unit: &Unit) -> u64 {
        unit.messages.iter().map(|message| self.least_of(message)).sum()
    }

    fn least_of(&self, message: &Message) -> u64 {
        let trimmed = || self.trimmed(message, 0).map_or(message.tokens, |(_, tokens)| tokens);
        let least = if is_long(message) { trimmed().min(message.tokens) } else { message.tokens };
        least.into()
    }

    /// Trims the unit's longest results until it has at most `room` tokens, or as close to that as possible.
    pub(super) fn fit(&self, unit: &mut Unit, room: u64) {
        if unit.tokens <= room {
            return;
        }
        let mut long: Vec<&mut Message> = unit.messages.iter_mut().filter(|m| is_long(m)).collect();
        long.sort_by_key(|message| message.tokens);
        let mut later: u64 = long.iter().map(|message| self.least_of(message)).sum();
        let mut count = long.len() as u64;
        let results: u64 = long.iter().map(|message| u64::from(message.tokens)).sum();
        let mut free = room.saturating_sub(unit.tokens - results);
        for message in long {
            later -= self.least_of(message);
            let share = (free / count).min(free.saturating_sub(later));
            if u64::from(message.tokens) > share {
                self.trim(message, u32::try_from(share).unwrap_or(u32::MAX));
            }
            free = free.saturating_sub(message.tokens.into());
            count -= 1;
        }
        unit.tokens = tokens_of(&unit.messages);
    }

    fn trim(&self, message: &mut Message, room: u32) {
        if let Some((text, tokens)) =
            self.trimmed(message, room).filter(|(_, tokens)| *tokens < message.tokens)
        {
            (message.instead, message.how, message.tokens) = (Some(text.into()), How::Trimmed, tokens);
        }
    }

    /// A result's text in at most `room` tokens, or as close to that as possible, and what it costs.
    fn trimmed(&self, message: &Message, room: u32) -> Option<(String, u32)> {
        let result = message.utterance.as_deref()?;
        if !message.is_late_result() {
            let (content, around) = (self.costs.content_of(message), self.costs.of_words(""));
            let (text, tokens) =
                trim(&result.content, content, room.saturating_sub(around), self.costs.counter);
            return Some((text, tokens + around));
        }
        let content = self.costs.counter.count(&result.content);
        let around = self.costs.of_late_result(result, "");
        let mut free = room.saturating_sub(around);
        loop {
            // joined, a text can have a few tokens more than its parts
            let (text, _) = trim(&result.content, content, free, self.costs.counter);
            let tokens = self.costs.of_late_result(result, &text);
            if tokens <= room || free == 0 {
                return Some((wording::late_result(result, &text), tokens));
            }
            free = free.saturating_sub((tokens - room).max(1));
        }
    }
}

/// The messages of a unit, except the results.
#[derive(Default)]
struct Exchange<'u> {
    said: SmallVec<[Said<'u>; 1]>,
    /// For each open call, the places of the message and of the call.
    open: OpenCalls<&'u str, (usize, usize)>,
}

/// A message of an exchange, and the results of its calls.
struct Said<'u> {
    message: Message,
    answers: SmallVec<[Option<&'u Arc<Utterance>>; 1]>,
}

impl<'u> Exchange<'u> {
    /// Adds a message that makes `calls`.
    fn say(&mut self, message: Message, calls: &'u [ToolCall]) {
        let place = self.said.len();
        for (index, call) in calls.iter().enumerate() {
            self.open.open(&call.id, (place, index));
        }
        self.said.push(Said { message, answers: calls.iter().map(|_| None).collect() });
    }

    /// Assigns a result to the call that it answers.
    fn answer(&mut self, result: &'u Arc<Utterance>) -> Option<Omission> {
        match self.open.answer(result.tool_call_id().unwrap_or_default()) {
            Some((place, index)) => {
                self.said[place].answers[index] = Some(result);
                None
            }
            None => Some(Omission::Aside),
        }
    }
}

/// Whether a message is a result that can be trimmed.
fn is_long(message: &Message) -> bool {
    (message.role == Role::Tool || message.is_late_result()) && message.how == How::Whole
}
