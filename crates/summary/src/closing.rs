//! What is told of a conversation that ended: what was wanted, and what came of it.

use std::cmp::Reverse;

use crate::{
    item::{Item, Kind, Marks},
    settle::{Part, settle},
};

/// A longer sentence is cut.
const MOST_BYTES: usize = 400;

/// The closing summary, of two or three sentences (seed 000), or one if no more was said: the first request; what was
/// decided, or else the last deed that worked; what the assistant said of it last. `None` if nothing was said.
pub fn closing(items: &[Item]) -> Option<String> {
    let settled = settle(items.to_vec(), Part::START);
    let asked = settled.iter().filter(|item| item.kind == Kind::Goal);
    let asked = asked.min_by_key(|item| (Reverse(rank(item)), item.sequence));
    let behind = asked.map_or(0, |asked| asked.sequence);
    let later = || settled.iter().rev().filter(|item| item.sequence > behind && is_statement(item));
    let decided = later().find(|item| decides(item));
    let did = settled.iter().rfind(|item| item.worked() && !item.marks.has(Marks::COUNTED));
    let outcome = later().find(|item| item.marks.has(Marks::ASSISTANT));
    let middle = decided.or(did);
    let mut told: Vec<&Item> = [asked, middle, outcome].into_iter().flatten().collect();
    if told.is_empty() {
        told.extend(settled.iter().find(|item| item.kind == Kind::Said));
    }
    told.sort_by_key(|item| item.sequence);
    told.dedup_by(|a, b| std::ptr::eq(*a, *b));
    let sentences: Vec<String> = told.iter().map(|item| sentence(item)).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn rank(item: &Item) -> (bool, bool) {
    (item.marks.has(Marks::TITLE), item.marks.has(Marks::REQUEST))
}

fn is_statement(item: &Item) -> bool {
    item.kind == Kind::Said && !item.marks.has_any(Marks::QUESTION.with(Marks::PROMISE))
}

/// Whether a user says which of what was offered it is to be, or corrects what was said.
fn decides(item: &Item) -> bool {
    item.marks.has_any(Marks::USER.with(Marks::PERSON))
        && item.marks.has_any(Marks::DECISION.with(Marks::CORRECTION).with(Marks::ANSWER))
        && !item.marks.has(Marks::AFFIRMS)
}

/// `User: Which one?`, `Assistant called cancel(A1) → ok.`
fn sentence(item: &Item) -> String {
    if item.kind == Kind::Did {
        return format!("Assistant called {}({}) → ok.", item.head, item.text);
    }
    let said = item.text.trim_end_matches([':', ',', ';', ' ']);
    if said.len() > MOST_BYTES {
        let words = said[..said.floor_char_boundary(MOST_BYTES)].rsplit_once(' ');
        return format!("{}: {}…", item.head, words.map_or("", |(words, _)| words));
    }
    let ends = said.ends_with(['.', '!', '?', '…', '。', '！', '？', ')', '"', '”', '»']);
    format!("{}: {said}{}", item.head, if ends { "" } else { "." })
}
