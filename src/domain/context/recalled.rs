//! What was recalled, as one marked message.

use crate::domain::{
    Ranges, Role, Timestamp,
    context::{Format, Found, How, Match, Message, Source, entry::Entry, wording::Costs},
    quoting::{LEAST_TOKENS, Line},
};

const BEFORE: &str = "[Recalled from earlier in this conversation]\n";
/// Where some is from other conversations, each with a heading.
const BEFORE_ALL: &str = "[Recalled from earlier conversations]\n";
/// What is of this conversation has one too, then.
const HERE: &str = "From this conversation:\n";
const AFTER: &str = "[End of what was recalled]";
/// With fewer tokens left nothing more is looked for.
const LEAST_LEFT: u32 = 8;
/// A match has so much of the room at most.
const QUARTER: u32 = 4;
/// A match of so many tokens is quoted whole where there is room.
const LEAST_WHOLE: u32 = 128;

/// What is recalled, and the message that quotes it.
pub(super) struct Quote {
    /// The best first.
    entries: Vec<Entry>,
    message: Message,
}

impl Quote {
    /// What of `matches` fits into `room` tokens, the best first and at most so many of them, without what is
    /// `shown` anyway.
    pub(super) fn of(
        matches: &[Match],
        most: usize,
        shown: &Ranges,
        room: u64,
        costs: Costs<'_>,
    ) -> Option<Self> {
        let frame = costs.of_words(BEFORE_ALL) + costs.counter.count(AFTER);
        let left = u32::try_from(room).unwrap_or(u32::MAX).checked_sub(frame)?;
        let whole = (left / QUARTER).max(LEAST_WHOLE);
        let mut choice = Choice { entries: Vec::new(), shown, left, whole, excerpts: whole, costs };
        for one in matches {
            if choice.entries.len() == most || choice.left < LEAST_LEFT {
                break;
            }
            choice.take(one);
        }
        compose(choice.entries, room, costs)
    }

    /// What it costs.
    pub(super) fn tokens(&self) -> u64 {
        self.message.tokens.into()
    }

    /// The message, and what it quotes, in its order.
    pub(super) fn parts(self) -> (Message, Vec<Found>) {
        let found = in_order(&self.entries).into_iter().map(|(found, _)| found.clone()).collect();
        (self.message, found)
    }
}

/// The entries of a quote, as they are chosen. A long match would take the place of many short ones: one of
/// more than a quarter of the room is shortened to half of that, and such ones have a quarter together.
struct Choice<'a> {
    entries: Vec<Entry>,
    shown: &'a Ranges,
    /// Tokens that are left.
    left: u32,
    /// The most tokens of a match that is quoted whole.
    whole: u32,
    /// What is left for shortened ones.
    excerpts: u32,
    costs: Costs<'a>,
}

impl Choice<'_> {
    /// Takes the match if there is room for it, whole or shortened.
    fn take(&mut self, one: &Match) {
        let long = one.found.utterance.tokens > self.whole.min(self.left).saturating_add(LEAST_TOKENS);
        if long && self.excerpts < LEAST_TOKENS {
            return;
        }
        let Some(mut entry) = Entry::of(one, |found| self.is_quotable(found), self.costs.counter) else {
            return;
        };
        let Some(room) = self.left.checked_sub(self.headings(&entry)) else { return };
        if entry.tokens() > room.min(self.whole) {
            let excerpt = (self.whole / 2).min(self.excerpts).min(room);
            if !entry.fit(excerpt, self.costs.counter) {
                return;
            }
            self.excerpts = self.excerpts.saturating_sub(entry.tokens());
        }
        let before = entry.before(one, |found| self.is_quotable(found), self.costs.counter);
        if let Some(before) = before.filter(|(_, line)| entry.tokens() + line.tokens <= room) {
            entry.lines.insert(0, before);
        }
        self.left = self.left.saturating_sub(entry.tokens() + self.headings(&entry));
        self.entries.push(entry);
    }

    fn is_quotable(&self, found: &Found) -> bool {
        let utterance = &found.utterance;
        let shown = found.is_here(|sequence| self.shown.contains(sequence));
        let quoted = || self.entries.iter().any(|entry| entry.has(found));
        utterance.is_live() && !utterance.instruction && !shown && !quoted()
    }

    /// The tokens of the headings that the entry brings.
    fn headings(&self, entry: &Entry) -> u32 {
        let Some((found, _)) = entry.lines.first() else { return 0 };
        let said = || self.entries.iter().flat_map(|entry| &entry.lines).map(|(found, _)| found);
        let of_source = || said().filter(|other| other.source == found.source);
        let source = match &found.source {
            _ if of_source().next().is_some() => 0,
            Some(source) => self.costs.counter.count(&source.heading()),
            None => self.costs.counter.count(HERE),
        };
        let day = day(found);
        let known = of_source().any(|other| self::day(other) == day);
        source + if known { 0 } else { self.costs.counter.count(&day) }
    }
}

/// When it was said, as it stands before what was said that day.
fn day(found: &Found) -> String {
    let Timestamp(micros) = found.utterance.create_time;
    match jiff::Timestamp::from_microsecond(micros) {
        Ok(time) => time.strftime("On %a %Y-%m-%d:\n").to_string(),
        Err(_) => "On an unknown day:\n".to_owned(),
    }
}

/// By conversation, the oldest first and this one last, and as it was said.
fn in_order(entries: &[Entry]) -> Vec<&(Found, Line)> {
    let mut order: Vec<_> = entries.iter().flat_map(|entry| &entry.lines).collect();
    order.sort_by_key(|(found, _)| {
        let source = found.source.as_deref().map(Source::order);
        (source.is_none(), source, found.utterance.sequence)
    });
    order
}

/// The worst entry goes while they are too long together.
fn compose(mut entries: Vec<Entry>, room: u64, costs: Costs<'_>) -> Option<Quote> {
    while !entries.is_empty() {
        let text = quoted(&in_order(&entries));
        let tokens = costs.of_words(&text);
        if u64::from(tokens) <= room {
            let role = if costs.format == Format::OpenAiChat { Role::System } else { Role::User };
            return Some(Quote { entries, message: Message::own(role, How::Recalled, text, tokens) });
        }
        entries.pop();
    }
    None
}

fn quoted(lines: &[&(Found, Line)]) -> String {
    let all_here = lines.iter().all(|(found, _)| found.source.is_none());
    let mut text = if all_here { BEFORE } else { BEFORE_ALL }.to_owned();
    for of_one in lines.chunk_by(|(one, _), (other, _)| one.source == other.source) {
        match of_one.first().and_then(|(found, _)| found.source.as_ref()) {
            Some(source) => text += &source.heading(),
            None if all_here => {}
            None => text += HERE,
        }
        for of_day in of_one.chunk_by(|(one, _), (other, _)| day(one) == day(other)) {
            text.extend(of_day.first().map(|(found, _)| day(found)));
            text.extend(of_day.iter().map(|(_, line)| line.text.as_str()));
        }
    }
    text + AFTER
}
