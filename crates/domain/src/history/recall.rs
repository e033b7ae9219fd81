//! Recalls what a prompt asks for from the messages that the limits leave out, as one marked message.
//!
//! A share of the limits is reserved for it; the newest messages get the part of the share that it does not
//! need. Units are recalled whole or in passages, never a call without its results.

use std::ops::Range;

use super::{
    Entry, Recalled, Unit,
    cut::{Cost, Frame, Kept, cut, head},
};
use crate::{
    Draft, More, Result, Role, TokenCounter, ToolCall,
    limits::DEFAULT_MAX_TOKENS,
    quoting::{AFTER, BEFORE, Line, Said, companion_tokens, tokens_of, widest},
    recall::{self, Floor, Hit, Index, Matched, Query, Search},
};

/// The default share for what is recalled, in percent of the limits.
pub const RECALL_PERCENT: u32 = 50;

/// What to recall.
#[derive(Clone, Debug, PartialEq)]
pub struct Recall {
    /// What to look for.
    pub prompt: String,
    /// The maximum number of matches; `None` means as many as fit.
    pub matches: Option<usize>,
    /// The maximum share of the byte and token limits, in percent; of 8,000 tokens if tokens are unlimited.
    pub percent: u32,
    /// The least relevance of a match, from 0 to 1; by default, that of [`Floor::of_recall`].
    pub min_relevance: Option<f64>,
}

/// Measures a quoting message in a format.
pub struct Scale<'a> {
    /// Its bytes.
    pub bytes: &'a dyn Fn(&Draft) -> u64,
    /// Counts its tokens.
    pub counter: &'a dyn TokenCounter,
}

/// Cuts `units` to `most` as [`cut`] does, and adds what is recalled of the rest to what is kept.
pub fn cut_and_recall<'u>(
    units: &'u [Unit],
    recall: &Recall,
    most: Cost,
    frame: Frame,
    scale: &Scale<'_>,
) -> Result<Kept<'u>> {
    let plain = cut(units, most, frame)?;
    let share = recall.share(most);
    let Some(Ok(fewest)) = most.minus(share).map(|beside| cut(units, beside, frame)) else {
        return Ok(plain);
    };
    if plain.left_out.is_empty() {
        return Ok(plain);
    }
    let mut matches = recall.ranked(units, &left_out(&fewest));
    // a quote below its share leaves room for messages that it would have quoted; it then omits these
    while let Some((message, cost)) = recall.quote(units, &matches, share, scale) {
        let Some(beside) = most.minus(cost) else { break };
        let mut kept = cut(units, beside, frame)?;
        let (left_out, before) = (left_out(&kept), matches.len());
        matches.retain(|(place, _)| left_out.contains(place));
        if matches.len() == before {
            kept.recalled = Some(message);
            return Ok(kept);
        }
    }
    Ok(plain)
}

fn left_out(kept: &Kept<'_>) -> Vec<usize> {
    kept.left_out.iter().map(|(place, _)| *place).collect()
}

impl Recall {
    /// The most that is reserved for it.
    fn share(&self, most: Cost) -> Cost {
        let of = |limit: u64| limit * u64::from(self.percent) / 100;
        let tokens = if most.tokens == u64::MAX { DEFAULT_MAX_TOKENS.into() } else { most.tokens };
        Cost { messages: 1, bytes: of(most.bytes), tokens: of(tokens) }
    }

    /// The places among `wanted` of the units that say most about the prompt, best first, with where their messages
    /// match; instructions are not quoted.
    fn ranked(&self, units: &[Unit], wanted: &[usize]) -> Vec<Ranked> {
        let Some(floor) = Floor::of_recall(&self.prompt, self.min_relevance) else { return Vec::new() };
        // for each sequence, from 0, the place of its unit
        let places: Vec<usize> =
            units.iter().zip(0..).flat_map(|(unit, place)| unit.entries().map(move |_| place)).collect();
        let mut index = Index::new();
        let said = units.iter().flat_map(searched).zip(0..);
        index.extend(said.map(|(said, sequence)| recall::Said { sequence, ..said }));
        let head = head(units);
        let eligible = |hit: &Hit| {
            let place = places[hit.sequence as usize];
            floor.admits(hit) && place >= head && wanted.binary_search(&place).is_ok()
        };
        let search = Search::new(Query::new(&self.prompt), vec![index]);
        let hits = search.hits(eligible, 0..places.len());
        if !floor.is_reached(&hits) {
            return Vec::new();
        }
        let mut seen = vec![false; units.len()];
        let mut matcher = search.matched();
        let ranked = hits.into_iter().map(|hit| places[hit.sequence as usize]);
        let ranked = ranked.filter(|place| !std::mem::replace(&mut seen[*place], true));
        let matched = |entry: &Entry, matcher: &mut Matched<'_>| matcher.of(&entry.draft.content).ranges;
        ranked
            .map(|place| (place, units[place].entries().map(|entry| matched(entry, &mut matcher)).collect()))
            .collect()
    }

    /// The message that quotes as many of the units at `matches`, best first, as `share` has room for; and
    /// its cost.
    fn quote(
        &self,
        units: &[Unit],
        matches: &[Ranked],
        share: Cost,
        scale: &Scale<'_>,
    ) -> Option<(Recalled, Cost)> {
        let frame = quoted(&[], units).message.draft.tokens(scale.counter);
        let tokens = share.tokens.checked_sub(frame.into())?;
        let room = u32::try_from(tokens).unwrap_or(u32::MAX);
        let mut chosen = widest(room, |tokens| self.chosen(units, matches, (room, tokens), scale));
        while !chosen.is_empty() {
            let recalled = quoted(&chosen, units);
            let draft = &recalled.message.draft;
            let tokens = draft.tokens(scale.counter).into();
            let cost = Cost { messages: 1, bytes: (scale.bytes)(draft), tokens };
            if cost.above(share).is_none() {
                return Some((recalled, cost));
            }
            chosen.pop();
        }
        None
    }

    /// The lines of the matches that `room` has space for, with this many tokens of each message, and whether these
    /// are all.
    fn chosen(
        &self,
        units: &[Unit],
        matches: &[Ranked],
        (room, tokens): (u32, u32),
        scale: &Scale<'_>,
    ) -> (Vec<(usize, Vec<Line>)>, bool) {
        let (mut left, mut chosen) = (room, Vec::new());
        for (place, matched) in matches.iter().take(self.matches.unwrap_or(usize::MAX)) {
            let lines = lines(&units[*place], matched, tokens, scale.counter);
            match left.checked_sub(tokens_of(lines.iter())) {
                Some(rest) => {
                    left = rest;
                    chosen.push((*place, lines));
                }
                None => return (chosen, false),
            }
        }
        (chosen, true)
    }
}

/// The place of a unit, and for each of its messages the byte ranges that match.
type Ranked = (usize, Vec<Vec<Range<usize>>>);

/// The messages of a unit, for the search.
fn searched(unit: &Unit) -> impl Iterator<Item = recall::Said<'_>> {
    let calls = unit.message.draft.tool_calls();
    unit.entries().map(|entry| {
        let said = said(&entry.draft, calls);
        recall::Said {
            sequence: 0,
            role: said.role,
            name: said.name.unwrap_or_default(),
            minute: 0,
            content: said.content,
            calls: said.calls.iter().map(|call| (&*call.name, &*call.arguments_json)).collect(),
        }
    })
}

fn lines(unit: &Unit, matched: &[Vec<Range<usize>>], most: u32, counter: &dyn TokenCounter) -> Vec<Line> {
    let calls = unit.message.draft.tool_calls();
    let others = companion_tokens(most, matched.len());
    let line = |(entry, matched): (&Entry, &Vec<Range<usize>>)| {
        said(&entry.draft, calls).line(matched, if matched.is_empty() { others } else { most }, counter)
    };
    unit.entries().zip(matched).map(line).collect()
}

/// A message of a unit that makes `calls`.
fn said<'a>(draft: &'a Draft, calls: &'a [ToolCall]) -> Said<'a> {
    let tool = || calls.iter().find(|call| Some(&*call.id) == draft.tool_call_id()).map(|call| &*call.name);
    let name = if draft.role == Role::Tool { tool().or(draft.name()) } else { draft.name() };
    Said { role: draft.role, name, content: &draft.content, calls: draft.tool_calls() }
}

/// The message that quotes the `chosen` units, in order.
fn quoted(chosen: &[(usize, Vec<Line>)], units: &[Unit]) -> Recalled {
    let mut chosen: Vec<_> = chosen.iter().collect();
    chosen.sort_by_key(|(place, _)| *place);
    let lines = chosen.iter().flat_map(|(_, lines)| lines).map(|line| line.text.as_str());
    let content: String = [BEFORE].into_iter().chain(lines).chain([AFTER]).collect();
    let quoted = chosen.iter().flat_map(|(place, _)| units[*place].entries());
    let places = quoted.filter_map(|entry| entry.index).collect();
    Recalled {
        message: Entry { index: None, draft: Draft::of(Role::System, content, More::default()) },
        places,
    }
}
