//! What a prompt asks for from the messages that the limits leave out, as one marked message.
//!
//! A share of the limits is reserved for it; what it does not need of that is for the newest messages. Units
//! are recalled whole or shortened, never a call without its results.

use super::{
    Entry, Recalled, Unit,
    cut::{Cost, Kept, Limits, Measure, cut},
};
use crate::domain::{
    Draft, Refusal, Role, TokenCounter, ToolCall,
    history::Dropped,
    limits::DEFAULT_MAX_TOKENS,
    quoting::{AFTER, BEFORE, Line, Room, Said},
    recall::{self, Index, Query, score},
};

/// The default share for what is recalled, in percent of the limits.
pub const RECALL_PERCENT: u32 = 50;

/// What to recall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recall {
    /// What to look for.
    pub prompt: String,
    /// The maximum number of matches; `None` means as many as fit.
    pub matches: Option<usize>,
    /// The maximum share of the byte and token limits, in percent; of 8,000 tokens if tokens are unlimited.
    pub percent: u32,
}

/// Cuts `units` to the limits as [`cut`] does, and adds what is recalled of the rest to what is kept.
pub fn cut_and_recall(
    units: Vec<Unit>,
    recall: &Recall,
    limits: &Limits,
    measure: &dyn Measure,
    counter: &dyn TokenCounter,
) -> Result<(Kept, Vec<Dropped>), Refusal> {
    let (plain, dropped) = cut(units.clone(), limits, measure)?;
    let share = recall.share(limits);
    let beside = limits.less(share);
    let Some(Ok((fewest, _))) = beside.map(|beside| cut(units.clone(), &beside, measure)) else {
        return Ok((plain, dropped));
    };
    let (mut matches, mut chosen) = (recall.ranked(&units, left_out(&units, &fewest)), None);
    if dropped.is_empty() || matches.is_empty() {
        return Ok((plain, dropped));
    }
    // what it leaves lets messages stay that it would have quoted; it then goes without these
    while let Some((message, cost)) = recall.quote(&units, &matches, share, measure, counter) {
        let Some(beside) = limits.less(cost) else { break };
        let (kept, dropped) = cut(units.clone(), &beside, measure)?;
        let left_out = left_out(&units, &kept);
        let before = matches.len();
        matches.retain(|place| left_out.contains(place));
        if matches.len() == before {
            chosen = Some((Kept { recalled: Some(message), ..kept }, dropped));
            break;
        }
    }
    Ok(chosen.unwrap_or((plain, dropped)))
}

/// The places of the history's units that are not `kept`.
fn left_out(units: &[Unit], kept: &Kept) -> Vec<usize> {
    let stays: Vec<usize> = kept.entries().filter_map(|entry| entry.index).collect();
    let head = units.iter().position(|unit| unit.role() != Role::System).unwrap_or(units.len());
    let left = |unit: &Unit| unit.message.index.is_some_and(|index| stays.binary_search(&index).is_err());
    (head..units.len()).filter(|place| left(&units[*place])).collect()
}

impl Recall {
    /// The most that is reserved for it.
    fn share(&self, limits: &Limits) -> Cost {
        let of = |limit: u64| limit * u64::from(self.percent) / 100;
        let tokens = of(limits.tokens.unwrap_or(DEFAULT_MAX_TOKENS).into());
        Cost { messages: 1, bytes: of(limits.bytes as u64) as usize, tokens }
    }

    /// The units among `wanted` that say most about the prompt, best first.
    fn ranked(&self, units: &[Unit], wanted: Vec<usize>) -> Vec<usize> {
        // for each sequence, from 0, the place of its unit
        let places: Vec<usize> =
            units.iter().zip(0..).flat_map(|(unit, place)| unit.entries().map(move |_| place)).collect();
        let mut index = Index::new();
        index.extend(
            units
                .iter()
                .flat_map(searched)
                .zip(0..)
                .map(|(said, sequence)| recall::Said { sequence, ..said }),
        );
        let eligible = |_, sequence: u64| wanted.binary_search(&places[sequence as usize]).is_ok();
        let hits = score(&Query::new(&self.prompt), &[&index], eligible, 0..places.len());
        let mut seen = vec![false; units.len()];
        let ranked = hits.into_iter().map(|hit| places[hit.sequence as usize]);
        ranked.filter(|place| !std::mem::replace(&mut seen[*place], true)).collect()
    }

    /// The message that quotes as many of the units at `matches`, best first, as `share` has room for; and
    /// its cost.
    fn quote(
        &self,
        units: &[Unit],
        matches: &[usize],
        share: Cost,
        measure: &dyn Measure,
        counter: &dyn TokenCounter,
    ) -> Option<(Recalled, Cost)> {
        let frame = message(Vec::new(), units);
        let tokens = share.tokens.checked_sub(frame.message.message.draft.tokens(counter).into())?;
        let mut room = Room::of(u32::try_from(tokens).unwrap_or(u32::MAX));
        let mut chosen: Vec<(usize, Vec<Line>)> = Vec::new();
        for &place in matches {
            if !room.is_open() || Some(chosen.len()) == self.matches {
                break;
            }
            let mut lines = lines(&units[place], counter);
            if room.take(&mut lines.iter_mut().collect::<Vec<_>>(), 0, counter) {
                chosen.push((place, lines));
            }
        }
        while !chosen.is_empty() {
            let recalled = message(chosen.clone(), units);
            let entry = &recalled.message.message;
            let tokens = entry.draft.tokens(counter).into();
            let cost = Cost { messages: 1, tokens, ..measure.entry(entry) };
            if cost.bytes <= share.bytes && cost.tokens <= share.tokens {
                return Some((recalled, cost));
            }
            chosen.pop();
        }
        None
    }
}

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

fn lines(unit: &Unit, counter: &dyn TokenCounter) -> Vec<Line> {
    let calls = unit.message.draft.tool_calls();
    unit.entries().map(|entry| said(&entry.draft, calls).line().counted(counter)).collect()
}

/// A message of a unit that makes `calls`.
fn said<'a>(draft: &'a Draft, calls: &'a [ToolCall]) -> Said<'a> {
    let name = draft.more.as_ref().and_then(|more| more.name.as_deref());
    let tool = || calls.iter().find(|call| Some(&*call.id) == draft.tool_call_id()).map(|call| &*call.name);
    let name = if draft.role == Role::Tool { tool().or(name) } else { name };
    Said { role: draft.role, name, content: &draft.content, calls: draft.tool_calls() }
}

/// The message that quotes the `chosen` units, in order.
fn message(mut chosen: Vec<(usize, Vec<Line>)>, units: &[Unit]) -> Recalled {
    chosen.sort_by_key(|(place, _)| *place);
    let lines = chosen.iter().flat_map(|(_, lines)| lines).map(|line| line.text.as_str());
    let content: String = [BEFORE].into_iter().chain(lines).chain([AFTER]).collect();
    let draft = Draft {
        id: None,
        role: Role::System,
        content: content.into(),
        turn: None,
        create_time: None,
        pinned: false,
        more: None,
    };
    let quoted = chosen.iter().flat_map(|(place, _)| units[*place].entries());
    let message = Unit { message: Entry { index: None, draft }, results: Vec::new() };
    Recalled { message, places: quoted.filter_map(|entry| entry.index).collect() }
}
