//! What must hold for a conversation after every step of any sequence: judged by the server's responses, not
//! by the model, except for the members of units.

use std::collections::{BTreeMap, BTreeSet};

use utterd::proto::{Capacity, Conversation as Shown, GetSummaryResponse, Role, Utterance, UtteranceState};

use crate::{
    naive::Conversation,
    text::{markers, tokens},
};

/// Returns an error unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

/// Returns an error that shows both, unless they are equal.
pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, expected: &T) -> Result<(), String> {
    ensure!(got == expected, "{what}\n     is: {got:?}\nmust be: {expected:?}");
    Ok(())
}

/// A conversation as the server shows it at one revision.
#[derive(Debug)]
pub struct Observed {
    /// In the FULL view.
    pub conversation: Shown,
    /// Window and archive, including soft-forgotten utterances.
    pub stored: Vec<Utterance>,
    pub summary: GetSummaryResponse,
    pub capacity: Capacity,
}

/// Checks everything that must hold.
pub fn absolutes(seen: &Observed, model: &Conversation) -> Result<(), String> {
    let window: Vec<&Utterance> = seen.stored.iter().filter(|said| said.position.is_some()).collect();
    positions(&window)?;
    numbers(seen, &window)?;
    limits(seen, &window, model)?;
    exchanges(&window)?;
    units(seen, model)?;
    summary(seen, model)
}

fn positions(window: &[&Utterance]) -> Result<(), String> {
    let counted: Vec<i32> = (1..).take(window.len()).collect();
    let positions: Vec<i32> = window.iter().filter_map(|said| said.position).collect();
    same("the positions of the window", &positions, &counted)?;
    ensure!(window.is_sorted_by_key(|said| said.sequence), "the window is not in the order said");
    Ok(())
}

/// Every count, recounted from the list of stored utterances.
fn numbers(seen: &Observed, window: &[&Utterance]) -> Result<(), String> {
    let capacity = &seen.capacity;
    let count = |number: usize| Some(number as i32);
    let live = || window.iter().filter(|said| takes_part(said));
    let turns: BTreeSet<i32> = live().filter_map(|said| said.turn_number).filter(|turn| *turn > 0).collect();
    let forgotten = window.iter().filter(|said| said.state() == UtteranceState::Forgotten).count();
    let used = live().map(|said| said.token_count()).sum::<i32>();
    same("utterance_count", &capacity.utterance_count, &count(window.len()))?;
    same("soft_deleted_count", &capacity.soft_deleted_count, &count(forgotten))?;
    same("turn_count", &capacity.turn_count, &count(turns.len()))?;
    same("token_count", &capacity.token_count, &Some(used))?;
    same("archived", &capacity.archived_utterance_count, &count(seen.stored.len() - window.len()))?;
    same("stored", &seen.conversation.utterance_count, &count(seen.stored.len()))?;
    let summary = capacity.summary.unwrap_or_default();
    same("summary tokens", &summary.token_count, &seen.summary.token_count)?;
    same("segment_count", &summary.segment_count, &count(seen.summary.segments.len()))?;
    same("covered", &summary.covered_utterance_count, &count(covered(&seen.summary)?.len()))?;
    let total = used + seen.summary.token_count.unwrap_or(0);
    same("total_token_count", &capacity.total_token_count, &Some(total))?;
    let revision = seen.conversation.revision;
    same("the revisions", &(seen.summary.revision, capacity.revision), &(revision, revision))
}

/// At or under each maximum; or over it, with nothing in the window that could leave.
fn limits(seen: &Observed, window: &[&Utterance], model: &Conversation) -> Result<(), String> {
    let capacity = &seen.capacity;
    let over =
        |value: Option<i32>, max: Option<i32>| max.is_some_and(|max| value.is_some_and(|value| value > max));
    let is_over = over(capacity.utterance_count, capacity.max_utterances)
        || over(capacity.token_count, capacity.max_tokens)
        || over(capacity.turn_count, capacity.max_turns);
    same("over_limit", &capacity.over_limit, &Some(is_over))?;
    same("whether over_limit has a cause", &!capacity.over_limit_causes.is_empty(), &is_over)?;
    if is_over && !model.unsettled {
        let units = model.pairing().units;
        let unit = |said: &Utterance| units[said.sequence as usize - 1];
        let newest = window.last().map(|said| unit(said));
        let may_leave = |said: &&&Utterance| {
            Some(unit(said)) != newest && !said.pinned && !model.is_instruction(said.sequence)
        };
        let left: Vec<_> = window.iter().filter(may_leave).map(|said| said.sequence).collect();
        ensure!(left.is_empty(), "over a limit although these could leave: {left:?}");
    }
    Ok(())
}

/// The window as a provider's API reads it: each result follows the call that it answers. Late results are
/// rendered elsewhere.
fn exchanges(window: &[&Utterance]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for said in window.iter().filter(|said| takes_part(said)) {
        if said.role() == Role::Tool && !said.late {
            let call = open.iter().rposition(|call| *call == said.tool_call_id);
            ensure!(call.is_some(), "the result {} stands without its call", said.sequence);
            call.map(|call| open.remove(call));
        }
        open.extend(said.tool_calls.iter().map(|call| call.id.as_str()));
    }
    Ok(())
}

/// A unit is in the window, in the archive, or removed; and it is pinned or forgotten as a whole.
fn units(seen: &Observed, model: &Conversation) -> Result<(), String> {
    let stored: BTreeMap<i64, &Utterance> = seen.stored.iter().map(|said| (said.sequence, said)).collect();
    let mut units: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (sequence, unit) in (1..).zip(model.pairing().units) {
        units.entry(unit).or_default().push(sequence);
    }
    for members in units.values() {
        let state = |sequence: &i64| {
            stored.get(sequence).map(|said| (said.position.is_some(), said.state, said.pinned))
        };
        let states: Vec<_> = members.iter().map(state).collect();
        ensure!(
            states.windows(2).all(|pair| pair[0] == pair[1]),
            "the unit {members:?} is split: {states:?}"
        );
    }
    Ok(())
}

fn summary(seen: &Observed, model: &Conversation) -> Result<(), String> {
    let (summary, encoding) = (&seen.summary, seen.conversation.encoding.as_str());
    for segment in &summary.segments {
        let counted = Some(tokens(encoding, &segment.text));
        same(&format!("tokens of segment {}", segment.segment_number), &segment.token_count, &counted)?;
    }
    let text: String = summary.segments.iter().map(|segment| segment.text.as_str()).collect();
    same("the summary's text", &summary.text, &text)?;
    same("the summary's tokens", &summary.token_count, &Some(tokens(encoding, &text)))?;
    let limit = seen.capacity.summary.and_then(|summary| summary.token_limit).unwrap_or(i32::MAX);
    ensure!(summary.token_count <= Some(limit), "the summary passes its limit of {limit}: {summary:?}");
    same("what segments cover", &covered(summary)?, &model.covered)?;
    let (told, tellable) = (markers(text.as_bytes()), model.summarizable());
    let leaked: Vec<_> = told.difference(&tellable).collect();
    ensure!(leaked.is_empty(), "the summary tells of {leaked:?}: {text:?}");
    Ok(())
}

/// What the segments cover; an error if a sequence is covered twice.
pub fn covered(summary: &GetSummaryResponse) -> Result<BTreeSet<i64>, String> {
    let mut covered = BTreeSet::new();
    for segment in &summary.segments {
        ensure!(!segment.covers.is_empty(), "segment {} covers nothing", segment.segment_number);
        for sequence in segment.covers.iter().flat_map(|range| range.first..=range.last) {
            ensure!(covered.insert(sequence), "{sequence} is covered twice: {:?}", summary.segments);
        }
    }
    Ok(covered)
}

fn takes_part(said: &Utterance) -> bool {
    said.state() != UtteranceState::Forgotten && !said.aside
}
