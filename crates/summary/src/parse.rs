//! The items of a summary of which only the text is left: what `render` wrote is read again.

use utterd_text::Kind as Shape;

use crate::{
    analysis::analyse,
    item::{Item, Kind, Marks, Seen, UNCOMMITTED},
    message::{Message, Role},
};

/// What stands between a deed or a check and how it ended.
const ENDED: &str = " → ";
/// A line of more words that ends a sentence is somebody's, whatever the name before it.
const SPOKEN_WORDS: usize = 4;

/// The items of a summary's lines, with the numbers of the lines, from 1, as their sequences.
pub fn items(text: &str) -> Vec<Item> {
    let (mut items, mut spoken) = (Vec::new(), Vec::new());
    for (line, number) in text.lines().zip(1..) {
        let (label, rest) = line.split_once(": ").unwrap_or(("", line));
        match (label, speaker(label, rest)) {
            (_, Some(role)) => spoken.push(message(number, role, label, rest)),
            ("Check", _) => items.push(check(rest, number)),
            ("Error", _) => items.push(error(rest, number)),
            ("Steps", _) => {
                items.extend(rest.split("; ").map(|step| Item::new(Kind::Step, "", step, number)))
            }
            ("Files", _) => items.extend(names(rest, Shape::File, number)),
            ("Named", _) => items.extend(names(rest, Shape::Name, number)),
            ("Open", _) => items.extend(open(rest, number)),
            _ if line.contains(ENDED) => items.extend(deeds(line, number)),
            ("", _) => items.extend(counted(line).or_else(|| quoted(line, number))),
            (thing, _) => items.extend(rest.split("; ").map(|said| value(thing, said, number))),
        }
    }
    if items.iter().any(Item::commits) {
        let committed = items.iter_mut().filter(|item| item.worked() && &*item.note != UNCOMMITTED);
        committed.for_each(|item| item.marks = item.marks.with(Marks::COMMITTED));
    }
    let goals: Vec<u64> =
        spoken.iter().filter(|said| said.name == Some(GOAL)).map(|said| said.sequence).collect();
    let nameless = |said: &Message<'_>| matches!(said.name, Some(GOAL | "User" | "Assistant"));
    spoken.iter_mut().filter(|said| nameless(said)).for_each(|said| said.name = None);
    let mut said = analyse(&spoken);
    said.retain(|item| item.seen.is_none());
    let is_goal = |item: &&mut Item| item.kind == Kind::Said && goals.contains(&item.sequence);
    said.iter_mut().filter(is_goal).for_each(|item| item.kind = Kind::Goal);
    items.extend(said);
    items.sort_by_key(|item| item.sequence);
    items
}

/// The label of what a conversation is for.
const GOAL: &str = "Goal";

/// Whose words a line tells, if it tells any.
fn speaker(label: &str, rest: &str) -> Option<Role> {
    let is_sentence = || rest.ends_with(['.', '!', '?', '…']) && rest.split(' ').count() > SPOKEN_WORDS;
    let is_other = matches!(label, "" | "Check" | "Error" | "Steps" | "Files" | "Named" | "Open" | "Root");
    match label {
        "Assistant" => Some(Role::Assistant),
        GOAL | "User" => Some(Role::User),
        _ if !is_other && !label.contains(ENDED) && is_sentence() => Some(Role::User),
        _ => None,
    }
}

fn message<'a>(sequence: u64, role: Role, name: &'a str, text: &'a str) -> Message<'a> {
    Message { sequence, role, name: Some(name), time: None, text, calls: Vec::new() }
}

/// `edit(a.rs) → ok`, `edit → ok: a.rs; b.rs`, `book(A1) → failed: no seats`.
fn deeds(line: &str, number: u64) -> Vec<Item> {
    let Some((what, ended)) = line.rsplit_once(ENDED) else { return Vec::new() };
    let (head, within) = what.strip_suffix(')').and_then(|what| what.split_once('(')).unwrap_or((what, ""));
    let (failed, note) = outcome(ended);
    let list = |outcome: &'static str| ended.strip_prefix(outcome)?.strip_prefix(": ");
    let lists = [("", list("ok")), (UNCOMMITTED, list(UNCOMMITTED))].into_iter();
    let listed = lists.filter(|_| within.is_empty()).find_map(|(note, list)| Some((note, list?)));
    let (note, objects) = listed.unwrap_or((note, within));
    let marks = Marks::default().with_if(failed, Marks::FAILED);
    let deed = |object: &str| Item { marks, note: note.into(), ..Item::new(Kind::Did, head, object, number) };
    objects.split("; ").map(deed).collect()
}

/// Whether it failed, and what is told of how it ended.
fn outcome(ended: &str) -> (bool, &str) {
    match ended {
        "ok" => (false, ""),
        "failed" => (true, ""),
        _ => match (ended.strip_prefix("failed: "), ended.strip_prefix("ok: ")) {
            (Some(why), _) => (true, why),
            (None, told) => (false, told.unwrap_or(ended)),
        },
    }
}

/// `3 more calls that changed something`.
fn counted(line: &str) -> Option<Item> {
    let count = line.split_once(" more call").filter(|(_, rest)| rest.ends_with("that changed something"))?.0;
    Some(Item::counted(if count == "One" { 1 } else { count.parse().ok()? }))
}

fn quoted(line: &str, number: u64) -> Option<Item> {
    let is_date = line.starts_with("On ") && line.ends_with(':');
    (!is_date && !line.is_empty()).then(|| Item::new(Kind::Quoted, "", line, number))
}

fn check(told: &str, number: u64) -> Item {
    let now = told.strip_prefix("(before the last change) ");
    let (command, ended) = now.unwrap_or(told).rsplit_once(ENDED).unwrap_or((now.unwrap_or(told), "ok"));
    let (failed, note) = outcome(ended);
    let program = command.split(' ').next().unwrap_or_default();
    let marks = Marks::TESTS.with_if(now.is_some(), Marks::OUTDATED).with_if(failed, Marks::FAILED);
    Item { marks, note: note.into(), ..Item::new(Kind::Check, program, command, number) }
}

fn error(told: &str, number: u64) -> Item {
    let solved = told.strip_prefix("(solved) ");
    let (what, why) = solved.unwrap_or(told).split_once(": ").unwrap_or(("", solved.unwrap_or(told)));
    let (head, text) = match what.strip_suffix(')').and_then(|what| what.split_once('(')) {
        Some(called) => called,
        None => (what.split(' ').next().unwrap_or_default(), what),
    };
    let marks = Marks::FAILED.with_if(solved.is_some(), Marks::OUTDATED);
    Item { marks, note: why.into(), ..Item::new(Kind::Error, head, text, number) }
}

fn open(told: &str, number: u64) -> Option<Item> {
    let (head, text) = told.split_once(": ")?;
    Some(Item::new(Kind::Open, head, text, number))
}

/// Names of one word with blanks between them, and behind them the others, each behind a mark.
fn names(list: &str, shape: Shape, number: u64) -> Vec<Item> {
    let (single, several) = list.split_once("; ").unwrap_or((list, ""));
    let seen = Seen { shape, users: 0, assistants: 1, calls: 1, results: 0, last: number, used: None };
    let name = |name: &str| Item { seen: Some(seen), ..Item::new(Kind::Fact, "", name, number) };
    single.split(' ').chain(several.split("; ").filter(|name| !name.is_empty())).map(name).collect()
}

/// A value of a thing, behind its label: words in small letters.
fn value(thing: &str, said: &str, number: u64) -> Item {
    let is_label = |word: &str| word.chars().all(char::is_lowercase);
    let words: Vec<&str> = said.split(' ').collect();
    let labels = words.iter().take_while(|word| is_label(word)).count();
    let labels = if labels == words.len() { labels.min(1) } else { labels };
    let (note, value) = if words.len() > 1 { words.split_at(labels) } else { words.split_at(0) };
    let item = Item::new(Kind::Fact, thing, value.join(" "), number);
    Item { note: note.join(" ").into(), also: Some(number), ..item }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compose::{Wanted, summarise},
        settle::Part,
    };

    /// What is read from a summary tells the same again.
    #[test]
    fn a_summary_is_told_again() {
        let text = "Goal: Fix the stall of the queue in src/queue.rs. Never touch the public API.\n\
            User: Please use tokio 1.40 for this. Don't add new dependencies.\n\
            edit → ok: src/queue.rs; src/lib.rs\n\
            git commit(Wait for the queue) → ok\n\
            edit → ok, not committed yet: src/view.rs; src/list.rs\n\
            git push(origin) → failed: permission denied\n\
            4 more calls that changed something\n\
            Check: cargo test → ok: 23 passed\n\
            Error: cargo clippy: unused variable\n\
            FQ8APE: flight HAT056; price 117\n\
            Files: src/main.rs src/wait.rs\n";
        let wanted = Wanted { budget: 1_000, part: Part::START, focus: Vec::new() };
        let again = summarise(items(text), &wanted, &|text| text.split(' ').count() as u32).text();
        assert_eq!(again, text);
    }
}
