//! Turns a unit of the window into messages that a provider accepts.

use std::{ops::Range, sync::Arc};

use smallvec::SmallVec;

use crate::{
    Role, Sequence, ToolCall, Utterance, Window,
    context::{
        ContentParts, How, Message, Omission, Original, Unanswered,
        content_parts::Beyond,
        mask,
        message::tokens_of,
        wording::{self, Costs, says},
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
    /// Tokens of its messages before any was trimmed; of these, what was said, and what cannot be trimmed.
    whole: u64,
    said: u64,
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
            said: 0,
            firm: 0,
            counted: 0,
            messages: SmallVec::new(),
            omitted: Vec::new(),
        }
    }

    /// What it counts as if it may have `room` tokens. If it is trimmed, that is `room`, although a trimmed text is a
    /// little shorter: how much varies, and would make a larger room look fuller than a smaller one.
    pub(super) fn within(&self, room: u64, trims: Trims) -> u64 {
        let firm = if trims == Trims::All { self.firm } else { self.firm + self.said };
        self.whole.min(room.max(firm))
    }
}

/// What can be trimmed of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trims {
    /// Results.
    Results,
    /// Results, and then what was said.
    All,
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
    /// Images of earlier turns are masked.
    pub(super) first_turn_with_images: u32,
    pub(super) unanswered: Unanswered,
    /// What can be trimmed of a unit that is not the newest.
    pub(super) trims: Trims,
    /// Content that has more than text.
    pub(super) parts: Option<&'a ContentParts>,
    /// Whether unchanged messages count what they do as they are stored.
    pub(super) as_stored: bool,
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
        let of = |part: Option<Part>| {
            unit.messages
                .iter()
                .filter(|message| self.part(message) == part)
                .map(|m| u64::from(m.tokens))
                .sum()
        };
        (unit.said, unit.firm) = (of(Some(Part::Said)), of(None));
        unit
    }

    /// The message that renders `utterance` unchanged.
    pub(super) fn message(&self, utterance: &Arc<Utterance>) -> Option<Message> {
        let (original, words) =
            self.beyond(utterance).map_or((None, 0), |it| (it.original.as_ref(), it.words));
        let plain = match original {
            Some(original) => self.costs.with_parts(utterance, original, 0),
            None => self.costs.of(utterance)?,
        };
        let tokens = plain.saturating_add(words).max(self.stored_tokens(utterance));
        let mut message = Message {
            role: utterance.role,
            utterance: Some(utterance.clone()),
            instead: None,
            content_parts: original.map(|original| original.json.clone()),
            answers: 0,
            how: How::Whole,
            tokens,
            beside: tokens - plain,
        };
        if utterance.turn < self.first_turn_with_images {
            self.mask_images(&mut message, 0, How::Masked);
        }
        Some(message)
    }

    fn beyond(&self, utterance: &Utterance) -> Option<&Beyond> {
        self.parts?.of(utterance.sequence)
    }

    /// What an utterance counts as it is stored, if that counts.
    fn stored_tokens(&self, utterance: &Utterance) -> u32 {
        let words = self.beyond(utterance).map_or(0, |beyond| beyond.stored_words);
        if self.as_stored { utterance.tokens.saturating_add(words) } else { 0 }
    }

    /// The content of a message that shows images, and the tokens of its words beside the text.
    fn images(&self, message: &Message) -> Option<(&Original, u32)> {
        let utterance = message.utterance.as_ref().filter(|_| message.how == How::Whole)?;
        let beyond = self.beyond(utterance).filter(|_| message.content_parts().is_some())?;
        let original = beyond.original.as_ref().filter(|original| !original.images.is_empty())?;
        Some((original, beyond.words))
    }

    /// Puts a mark in the place of each image that `message` shows, the oldest first, until it has at most `room` tokens.
    fn mask_images(&self, message: &mut Message, room: u64, how: How) {
        let Some(((original, words), utterance)) = self.images(message).zip(message.utterance.as_deref())
        else {
            return;
        };
        let tokens = |count| self.costs.with_parts(utterance, original, count).saturating_add(words);
        let all = original.images.len();
        let count = (1..all).find(|count| u64::from(tokens(*count)) <= room).unwrap_or(all);
        (message.tokens, message.beside) = (tokens(count), words);
        (message.content_parts, message.how) = (Some(original.without(count)), how);
    }

    /// Leaves out what a message has beside its text and its calls.
    fn leave_beside(&self, message: &mut Message) {
        let Some(utterance) = message.utterance.as_deref().filter(|_| message.beside > 0) else { return };
        if self.beyond(utterance).is_some_and(|beyond| beyond.words > 0) {
            let Some(plain) = self.costs.of(utterance) else { return };
            (message.content_parts, message.tokens) = (None, plain);
        } else {
            message.tokens -= message.beside;
        }
        (message.beside, message.how) = (0, How::Trimmed);
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
        let led = std::mem::take(&mut exchange.led);
        let Some(mut message) = self.message(utterance) else {
            exchange.led = led.saturating_add(self.stored_tokens(utterance));
            return Some(Omission::Empty);
        };
        message.tokens = message.tokens.saturating_add(led);
        message.beside = message.beside.saturating_add(led);
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
            beside: 0,
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
            true => Message { instead: Some(text.into()), how: How::Masked, tokens, beside: 0, ..whole },
            false => whole,
        }
    }

    fn placeholder(&self, call: &ToolCall) -> Message {
        let text = format!("[no result: the call of {} was not answered]", call.name);
        let tokens = self.costs.of_words(&text);
        Message::own(Role::Tool, How::Placeholder, text, tokens)
    }

    /// The part that a message belongs to; `None` if it cannot be trimmed.
    fn part(&self, message: &Message) -> Option<Part> {
        let is_whole = message.how == How::Whole || message.how == How::Masked && message.instead.is_none();
        match is_whole {
            true if message.is_result() => Some(Part::Results),
            true if message.beside > 0 || self.images(message).is_some() => Some(Part::Said),
            true if says(message.text(), self.costs.format) => Some(Part::Said),
            _ => None,
        }
    }

    /// The fewest tokens to which [`Rendering::fit`] can reduce a unit.
    pub(super) fn least(&self, unit: &Unit, trims: Trims) -> u64 {
        unit.messages.iter().map(|message| self.least_of(message, trims)).sum()
    }

    /// The fewest tokens to which a message can be trimmed.
    pub(super) fn least_of(&self, message: &Message, trims: Trims) -> u64 {
        let least = match self.part(message).is_some_and(|part| trims.parts().contains(&part)) {
            true => {
                let mut message = message.clone();
                self.trim(&mut message, 0);
                message.tokens
            }
            false => message.tokens,
        };
        least.into()
    }

    /// Trims the unit until it has at most `room` tokens, or as close to that as possible.
    pub(super) fn fit(&self, unit: &mut Unit, room: u64, trims: Trims) {
        for part in trims.parts() {
            if unit.tokens > room {
                self.fit_part(unit, room, *part);
            }
        }
    }

    /// Trims the longest messages of this part.
    fn fit_part(&self, unit: &mut Unit, room: u64, part: Part) {
        let is_part = |message: &&mut Message| self.part(message) == Some(part);
        let mut long: Vec<&mut Message> = unit.messages.iter_mut().filter(is_part).collect();
        long.sort_by_key(|message| message.tokens);
        let mut later: u64 = long.iter().map(|message| self.least_of(message, Trims::All)).sum();
        let mut count = long.len() as u64;
        let trimmable: u64 = long.iter().map(|message| u64::from(message.tokens)).sum();
        let mut free = room.saturating_sub(unit.tokens - trimmable);
        for message in long {
            later -= self.least_of(message, Trims::All);
            self.trim(message, (free / count).min(free.saturating_sub(later)));
            free = free.saturating_sub(message.tokens.into());
            count -= 1;
        }
        unit.tokens = tokens_of(&unit.messages);
    }

    /// Trims a message that has more than `room` tokens to that, or as close to it as possible: first its images, then
    /// what else it has beside its text, then the text.
    pub(super) fn trim(&self, message: &mut Message, room: u64) {
        if u64::from(message.tokens) > room {
            self.mask_images(message, room, How::Trimmed);
        }
        if u64::from(message.tokens) > room {
            self.leave_beside(message);
        }
        if u64::from(message.tokens) <= room || !says(message.text(), self.costs.format) {
            return;
        }
        let trimmed = self.trimmed(message, u32::try_from(room).unwrap_or(u32::MAX));
        if let Some((text, tokens)) = trimmed.filter(|(_, tokens)| *tokens < message.tokens) {
            (message.instead, message.how, message.tokens) = (Some(text.into()), How::Trimmed, tokens);
        }
    }

    /// A message's text in at most `room` tokens, or as close to that as possible, and what the message then costs.
    fn trimmed(&self, message: &Message, room: u32) -> Option<(String, u32)> {
        let utterance = message.utterance.as_deref()?;
        let (content, around) = self.costs.parts_of(utterance);
        let mut free = room.saturating_sub(around);
        loop {
            let (text, count) = trim(&utterance.content, content, free, self.costs.counter);
            let tokens = self.costs.of_shortened(utterance, &text, around + count);
            // joined, a text can have a few tokens more than its parts
            if tokens <= room || free == 0 {
                let text =
                    if message.is_late_result() { wording::late_result(utterance, &text) } else { text };
                return Some((text, tokens));
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
    /// Tokens of what is shown, as it is stored, with the message that follows it.
    led: u32,
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
        self.open.open(calls.iter().enumerate().map(|(index, call)| (&*call.id, (place, index))));
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

/// A part of a unit that can be trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The results.
    Results,
    /// What was said.
    Said,
}

impl Trims {
    /// The parts, in the order in which they are trimmed.
    fn parts(self) -> &'static [Part] {
        match self {
            Self::Results => &[Part::Results],
            Self::All => &[Part::Results, Part::Said],
        }
    }
}
