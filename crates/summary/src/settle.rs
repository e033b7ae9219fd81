//! What holds of all that was said and done: the last outcome, the newest value, what is still open.

use std::{collections::hash_map::Entry, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};
use utterd_text::Kind as Shape;

use crate::{
    item::{Item, Kind, Marks, Seen, UNCOMMITTED, WORTH, retain},
    replaced,
};

/// The first messages of a user among which the goal is looked for.
const GOAL_MESSAGES: usize = 4;
/// A message with fewer words of meaning is no goal, unless it is the first one.
const GOAL_WORDS: usize = 2;

/// Which part of a conversation items are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// It begins with them: their first request is the goal.
    pub begins: bool,
    /// More was said after them: what is open is not theirs to say.
    pub goes_on: bool,
}

impl Part {
    /// The whole conversation.
    pub const WHOLE: Self = Self { begins: true, goes_on: false };
    /// Its start.
    pub const START: Self = Self { begins: true, goes_on: true };
    /// What is neither its start nor its end.
    pub const MIDDLE: Self = Self { begins: false, goes_on: true };
}

impl Default for Part {
    fn default() -> Self {
        Self::WHOLE
    }
}

/// Drops what no longer holds, and gives the others their kinds: a request becomes the goal, a question that nobody
/// answered becomes open.
pub fn settle(mut items: Vec<Item>, part: Part) -> Vec<Item> {
    items.sort_by_key(|item| item.sequence);
    let acts = items.iter().any(|item| matches!(item.kind, Kind::Did | Kind::Check | Kind::Error));
    if acts {
        count_deeds(&mut items);
        commits(&mut items);
        solved(&mut items);
    }
    keep_last(&mut items);
    merge_names(&mut items);
    if acts {
        errors(&mut items);
        checks(&mut items);
    }
    replaced::drop_replaced(&mut items);
    if part.begins {
        goal(&mut items);
    }
    open(&mut items, part.goes_on);
    items
}

/// Deeds of which nothing but their number is known become one item.
fn count_deeds(items: &mut Vec<Item>) {
    let is_count = |item: &Item| item.marks.has(Marks::COUNTED);
    let given = items.iter().find(|item| is_count(item)).map(|item| item.given);
    let Some(given) = given else { return };
    let deeds = items.iter().filter(|item| is_count(item)).map(Item::deeds).sum();
    items.retain(|item| !is_count(item));
    items.insert(0, Item { given, ..Item::counted(deeds) });
}

/// If there is a commit, files that were changed after the last one are not committed yet.
fn commits(items: &mut [Item]) {
    let is_committed = |item: &Item| item.marks.has(Marks::COMMITTED);
    let behind = items.iter().rposition(Item::commits).map_or(0, |last| last + 1);
    for item in items[..behind].iter_mut().filter(|item| item.worked()) {
        item.marks = item.marks.with(Marks::COMMITTED);
    }
    if !items.iter().any(is_committed) {
        return;
    }
    for item in items.iter_mut().filter(|item| item.worked()) {
        let is_open = !is_committed(item) && is_file(item);
        item.note = if is_open { UNCOMMITTED.into() } else { Arc::default() };
    }
}

/// Whether its object is a file.
fn is_file(item: &Item) -> bool {
    let mut named = item.named();
    named.any(|(shape, name)| matches!(shape, Shape::Path | Shape::File) && *name == *item.text)
}

/// What failed last is told even if it worked since: how is worth knowing.
fn solved(items: &mut [Item]) {
    let Some(at) = items.iter().rposition(|item| item.marks.has(Marks::FAILED)) else { return };
    let (before, later) = items.split_at_mut(at + 1);
    let failed = &mut before[at];
    let repeats = |item: &Item| {
        matches!(item.kind, Kind::Did | Kind::Check) && item.head == failed.head && item.text == failed.text
    };
    if later.iter().any(repeats) {
        (failed.kind, failed.marks) = (Kind::Error, failed.marks.with(Marks::OUTDATED));
    }
}

/// Of deeds on one object and sentences in the same words, the last stays; of values of one label, those of the last
/// result.
fn keep_last(items: &mut Vec<Item>) {
    let mut known: FxHashMap<(Kind, &str, &str), Option<u64>> = FxHashMap::default();
    known.reserve(items.len());
    let mut keep = vec![true; items.len()];
    for (at, item) in items.iter().enumerate().rev() {
        let (key, from) = match item.kind {
            Kind::Fact if item.is_value() => (&item.note, item.also),
            _ if item.marks.has(Marks::TITLE) => continue,
            Kind::Did | Kind::Said | Kind::Step => (&item.text, None),
            _ => continue,
        };
        match known.entry((item.kind, &item.head, key)) {
            Entry::Vacant(free) => drop(free.insert(from)),
            Entry::Occupied(last) => keep[at] = from.is_some() && *last.get() == from,
        }
    }
    retain(items, &keep);
}

fn merge_names(items: &mut Vec<Item>) {
    let mut last: FxHashMap<&str, (usize, Seen)> = FxHashMap::default();
    let mut keep = vec![true; items.len()];
    for (at, item) in items.iter().enumerate() {
        let Some(mut seen) = item.seen else { continue };
        if let Some((before, older)) = last.get(&*item.text) {
            seen.merge(older);
            keep[*before] = false;
        }
        last.insert(&item.text, (at, seen));
    }
    let merged: Vec<(usize, Seen)> = last.into_values().collect();
    merged.into_iter().for_each(|(at, seen)| items[at].seen = Some(seen));
    retain(items, &keep);
}

/// Whether a check says what an earlier one said: a test does in any case, and what only runs if that only ran.
fn outdates(later: &Item, check: &Item) -> bool {
    later.kind == Kind::Check && (later.marks.has(Marks::TESTS) || !check.marks.has(Marks::TESTS))
}

/// The last test stays and what ran after it last, each marked if something was changed after it.
fn checks(items: &mut Vec<Item>) {
    let is_change = |item: &Item| item.kind == Kind::Did && !item.marks.has(Marks::FAILED);
    let mut keep = vec![true; items.len()];
    for at in 0..items.len() {
        let Some((check, later)) = items[at..].split_first_mut() else { break };
        if check.kind == Kind::Check {
            let outdated = later.iter().any(|later| is_change(later) && later.sequence > check.sequence);
            check.marks = check.marks.with_if(outdated, Marks::OUTDATED);
            keep[at] = !later.iter().any(|later| outdates(later, check));
            // what failed, and was not repeated, is an error
            let is_again = |later: &Item| later.kind == Kind::Check && later.text == check.text;
            if !keep[at] && check.marks.has(Marks::FAILED) && !later.iter().any(is_again) {
                (check.kind, keep[at]) = (Kind::Error, true);
            }
        }
    }
    retain(items, &keep);
}

/// Errors before a later success with the same tool are dropped, and so are all but the last of a tool.
fn errors(items: &mut Vec<Item>) {
    let mut later: FxHashSet<&str> = FxHashSet::default();
    let mut keep = vec![true; items.len()];
    for (at, item) in items.iter().enumerate().rev() {
        match item.kind {
            Kind::Error => keep[at] = later.insert(&item.head) || item.marks.has(Marks::OUTDATED),
            Kind::Did if !item.marks.has(Marks::FAILED) => drop(later.insert(&item.head)),
            _ => {}
        }
    }
    retain(items, &keep);
}

/// The first message of a user that says something is the goal.
fn goal(items: &mut [Item]) {
    if items.iter().any(|item| item.kind == Kind::Goal) {
        return;
    }
    let users = |item: &Item| item.kind == Kind::Said && item.marks.has(Marks::USER);
    let first = items.iter().find(|item| users(item)).map(|item| item.head.clone());
    // of a talk between people nobody sets the goal
    if items.iter().any(|item| users(item) && first.as_ref() != Some(&item.head)) {
        return;
    }
    let mut messages: Vec<u64> = items.iter().filter(|item| users(item)).map(|item| item.sequence).collect();
    messages.dedup();
    messages.truncate(GOAL_MESSAGES);
    let of = |sequence: u64| items.iter().filter(move |item| users(item) && item.sequence == sequence);
    let says = |sequence: &u64| of(*sequence).map(|item| item.concepts().len()).sum::<usize>() >= GOAL_WORDS;
    let goal = messages.iter().find(|sequence| says(sequence));
    let Some(goal) = goal.or(messages.first()).copied() else { return };
    for item in items.iter_mut().filter(|item| users(item) && item.sequence == goal) {
        item.kind = Kind::Goal;
    }
}

/// Gives what nobody answered the kind of open matters.
fn open(items: &mut Vec<Item>, goes_on: bool) {
    let said = |item: &&Item| matches!(item.kind, Kind::Said | Kind::Goal);
    let last_of = |who: Marks| {
        items.iter().filter(said).filter(|item| item.marks.has(who)).map(|item| item.sequence).max()
    };
    let (user, assistant) = (last_of(Marks::USER).unwrap_or(0), last_of(Marks::ASSISTANT).unwrap_or(0));
    // a list that is older than the last request says nothing of it
    let todo = items.iter().rposition(|item| item.kind == Kind::Open && &*item.head == "To do");
    let todo = todo.filter(|at| items[*at].sequence > user && !items[*at].text.is_empty());
    let stays = |(at, item): (usize, &Item)| item.kind != Kind::Open || Some(at) == todo;
    let keep: Vec<bool> = items.iter().enumerate().map(stays).collect();
    retain(items, &keep);
    if goes_on {
        return;
    }
    let statement = items
        .iter()
        .filter(said)
        .filter(|item| item.marks.has(Marks::ASSISTANT) && !item.marks.has(Marks::CALLS));
    let answered = statement.map(|item| item.sequence).max().unwrap_or(0);
    if user > answered {
        unanswered(items, user);
    }
    if assistant > user {
        waiting(items, assistant);
    }
}

/// The end of the last request that nobody answered.
fn unanswered(items: &mut [Item], user: u64) {
    let of_last =
        |item: &&mut Item| item.kind == Kind::Said && item.sequence == user && item.marks.has(Marks::USER);
    for item in items.iter_mut().rev().filter(of_last).take(2) {
        item.kind = Kind::Open;
        item.worth = 4 * WORTH;
        if item.marks.has(Marks::AFFIRMS) && !item.note.is_empty() {
            item.head = "User said yes to".into();
            let asked = std::mem::take(&mut item.note);
            item.say(asked);
        }
    }
}

/// What the assistant asks at the end, or is about to do.
fn waiting(items: &mut [Item], assistant: u64) {
    // what it was about to do then is done
    let acts = |item: &Item| matches!(item.kind, Kind::Did | Kind::Check | Kind::Error);
    let is_over = items.iter().any(|item| acts(item) && item.sequence > assistant);
    let of_last = |item: &&mut Item| item.kind == Kind::Said && item.sequence == assistant;
    let asked = items
        .iter_mut()
        .rev()
        .filter(of_last)
        .find(|item| item.marks.has(Marks::QUESTION) && !item.marks.has(Marks::CALLS));
    if let Some(item) = asked {
        (item.kind, item.head, item.worth) = (Kind::Open, "Assistant asked".into(), 3 * WORTH);
        return;
    }
    let next = items.iter_mut().rev().filter(of_last).find(|item| item.marks.has(Marks::PROMISE));
    if let Some(item) = next.filter(|_| !is_over) {
        // its message calls tools to do so
        let head = if item.marks.has(Marks::CALLS) { "In progress" } else { "Next" };
        (item.kind, item.head, item.worth) = (Kind::Open, head.into(), 2 * WORTH);
    }
}
