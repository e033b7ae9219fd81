//! The recalled utterances, as one marked message.

use crate::{
    Ranges, Role, Timestamp,
    context::{Format, Found, How, Match, Message, Source, entry::Entry, wording::Costs},
    quoting::{AFTER, BEFORE, Line, least_tokens, widest},
};

/// The first line if some utterances are from other conversations; each conversation then has a heading.
const BEFORE_ALL: &str = "[Recalled from earlier conversations]\n";
/// The heading of the utterances from this conversation, in that case.
const HERE: &str = "From this conversation:\n";

/// The recalled utterances, and the message that quotes them.
pub(super) struct Quote {
    /// Best first.
    entries: Vec<Entry>,
    message: Message,
}

/// What can be quoted.
#[derive(Clone, Copy)]
pub(super) struct Quotable<'a> {
    /// The matches, best first.
    pub(super) matches: &'a [Match],
    /// The most matches to quote.
    pub(super) most: usize,
    /// What is shown anyway, and not quoted.
    pub(super) shown: &'a Ranges,
    pub(super) costs: Costs<'a>,
}

impl Quotable<'_> {
    /// Quotes the best matches that fit into `room` tokens.
    pub(super) fn within(self, room: u64) -> Option<Quote> {
        let left = left(room, self.costs)?;
        let entries = widest(left, |tokens| {
            let mut choice = Choice { entries: Vec::new(), quotable: self, left };
            let all = choice.fill(tokens);
            (choice.entries, all)
        });
        compose(entries, room, self.costs)
    }

    /// Whether the shortest quote of all matches fits into `room` tokens.
    pub(super) fn fits(self, room: u64) -> bool {
        let left = left(room, self.costs).unwrap_or(0);
        Choice { entries: Vec::new(), quotable: self, left }.fill(least_tokens(left))
    }
}

impl Quote {
    /// The message, and the utterances that it quotes, in its order.
    pub(super) fn parts(self) -> (Message, Vec<Found>) {
        let found = |(found, line): &(Found, Line)| Found { quoted: line.quoted.clone(), ..found.clone() };
        let found = in_order(&self.entries).into_iter().map(found).collect();
        (self.message, found)
    }
}

/// The tokens of `room` for entries.
fn left(room: u64, costs: Costs<'_>) -> Option<u32> {
    let frame = costs.of_words(BEFORE_ALL) + costs.counter.count(AFTER);
    u32::try_from(room).unwrap_or(u32::MAX).checked_sub(frame)
}

/// The entries of a quote, while they are chosen.
struct Choice<'a> {
    entries: Vec<Entry>,
    quotable: Quotable<'a>,
    left: u32,
}

impl Choice<'_> {
    /// Adds matches, `tokens` of each utterance, up to the first that has no room. Returns whether all were added.
    fn fill(&mut self, tokens: u32) -> bool {
        let Quotable { matches, most, costs, .. } = self.quotable;
        for one in matches {
            if self.entries.len() == most {
                break;
            }
            let Some(entry) = Entry::of(one, |found| self.is_quotable(found), tokens, costs.counter) else {
                continue;
            };
            let cost = entry.tokens().saturating_add(self.headings(&entry));
            match self.left.checked_sub(cost) {
                Some(left) => {
                    self.left = left;
                    self.entries.push(entry);
                }
                None => return false,
            }
        }
        true
    }

    fn is_quotable(&self, found: &Found) -> bool {
        let utterance = &found.utterance;
        let shown = found.is_here(|sequence| self.quotable.shown.contains(sequence));
        let quoted = || self.entries.iter().any(|entry| entry.has(found));
        utterance.is_live() && !utterance.instruction && !shown && !quoted()
    }

    /// The tokens of the headings that the entry adds.
    fn headings(&self, entry: &Entry) -> u32 {
        let Some((found, _)) = entry.lines.first() else { return 0 };
        let said = || self.entries.iter().flat_map(|entry| &entry.lines).map(|(found, _)| found);
        let of_source = || said().filter(|other| other.source == found.source);
        let source = match &found.source {
            _ if of_source().next().is_some() => 0,
            Some(source) => self.quotable.costs.counter.count(&source.heading()),
            None => self.quotable.costs.counter.count(HERE),
        };
        let day = day(found);
        let known = of_source().any(|other| self::day(other) == day);
        source + if known { 0 } else { self.quotable.costs.counter.count(&day) }
    }
}

/// The heading of the utterances of one day; none if it is not known.
fn day(found: &Found) -> String {
    let Timestamp(micros) = found.utterance.create_time;
    match jiff::Timestamp::from_microsecond(micros) {
        _ if found.utterance.create_time == Timestamp::UNKNOWN => String::new(),
        Ok(time) => time.strftime("On %a %Y-%m-%d:\n").to_string(),
        Err(_) => "On an unknown day:\n".to_owned(),
    }
}

/// Ordered by conversation, oldest first and this one last, then by sequence.
fn in_order(entries: &[Entry]) -> Vec<&(Found, Line)> {
    let mut order: Vec<_> = entries.iter().flat_map(|entry| &entry.lines).collect();
    order.sort_by_key(|(found, _)| {
        let source = found.source.as_deref().map(Source::order);
        (source.is_none(), source, found.utterance.sequence)
    });
    order
}

/// Drops the worst entry while they are too long together.
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
