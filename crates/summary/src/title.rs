//! The title of a conversation, and what is told of one that ended.

use utterd_text::{Word, matter, words};

use crate::{
    item::{Item, Kind, Marks},
    settle::{Part, settle},
};

/// The most words of a title (seed 000).
pub const MOST_WORDS: usize = 8;
/// With fewer words before it, a mark does not end a title.
const LEAST_WORDS: usize = 3;
/// How many sentences of the goal compete.
const COMPETING: usize = 6;
/// What the title of an issue can begin with.
const KINDS: [&str; 7] = ["bug", "enhancement", "feature", "feature request", "issue", "question", "task"];

/// The title: at most eight words of what was asked for first. An issue or a task that was handed over gives its own.
/// `None` if nothing was said.
pub fn title(items: &[Item]) -> Option<String> {
    let settled = settle(items.to_vec(), Part::START);
    let said = |item: &&Item| matches!(item.kind, Kind::Goal | Kind::Said);
    if let Some(own) = settled.iter().find(|item| item.kind == Kind::Goal && item.marks.has(Marks::TITLE)) {
        return Some(short(of_issue(&own.text))).filter(|title| !title.is_empty());
    }
    let goal: Vec<&Item> = settled.iter().filter(|item| item.kind == Kind::Goal).take(COMPETING).collect();
    let asked = goal.iter().find(|item| item.marks.has(Marks::REQUEST));
    let first = asked.copied().or(goal.first().copied()).or_else(|| settled.iter().find(said));
    let did = || {
        settled
            .iter()
            .rfind(|item| item.kind == Kind::Did && !item.marks.has(Marks::COUNTED))
            .map(|item| format!("{} {}", item.head, item.text))
    };
    let title = first.map(|item| short(matter(&item.text))).filter(|title| !title.is_empty());
    title.or_else(|| did().map(|did| short(&did))).filter(|title| !title.is_empty())
}

/// How many words a title has: what is between blanks; where there are none, a pair of characters is one.
pub fn size(title: &str) -> usize {
    let all: Vec<Word<'_>> = words(title).collect();
    (0..all.len()).filter(|at| begins(title, &all, *at)).count()
}

/// Without `[Bug]:` and the like.
fn of_issue(title: &str) -> &str {
    let bare = title.trim_start_matches(|c: char| !c.is_alphanumeric());
    let kind = bare.split_once([':', ']']).map(|(kind, rest)| (kind.trim_end_matches(']').trim(), rest));
    match kind {
        Some((kind, rest)) if KINDS.contains(&kind.to_ascii_lowercase().as_str()) => {
            rest.trim_start_matches([':', ' '])
        }
        _ => title,
    }
}

/// The first clause of a text, of at most eight words, that neither begins nor ends with a word that only carries others.
fn short(text: &str) -> String {
    let text = clause(text);
    let mut all: Vec<Word<'_>> = words(text).collect();
    let first = all.iter().position(|word| !word.is_stop);
    let first = first.filter(|first| all.len() - first >= LEAST_WORDS).unwrap_or(0);
    let all = all.split_off(first);
    let Some(start) = all.first().map(|word| word.start) else { return String::new() };
    let beyond = (0..all.len()).filter(|at| begins(text, &all, *at)).nth(MOST_WORDS);
    let last = beyond.map(|beyond| &all[whole_phrases(&all, beyond)]);
    let end = last.map_or(text.len(), |last| last.start + last.text.len());
    let title = text[start..end].trim_matches(|c: char| c.is_whitespace() || ".,;:!?…。！？\"".contains(c));
    let mut letters = title.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Whether the word at a place begins what counts as a word: blanks set them apart, and where there are none, each pair
/// of characters is one.
fn begins(text: &str, all: &[Word<'_>], at: usize) -> bool {
    let word = &all[at];
    at == 0 || text[..word.start].ends_with(char::is_whitespace) || !all[at - 1].text.is_ascii()
}

/// The last of the words before `beyond` with which a title can end: a phrase that goes on is left out as a whole.
fn whole_phrases(all: &[Word<'_>], beyond: usize) -> usize {
    let content = |before: usize| all[..before].iter().rposition(|word| !word.is_stop).unwrap_or(0);
    let last = content(beyond);
    let phrase = all[..last].iter().rposition(|word| word.is_stop).filter(|at| *at >= LEAST_WORDS);
    phrase.filter(|_| last + 1 == beyond && !all[beyond].is_stop).map_or(last, content)
}

/// The text up to the first mark that ends a clause behind a few words.
fn clause(text: &str) -> &str {
    let marks = text
        .char_indices()
        .filter(|(_, c)| matches!(c, '.' | ',' | ';' | '?' | '!' | '。' | '，' | '？' | '！' | '\n'));
    let ends = marks.filter(|(at, c)| {
        let rest = &text[at + c.len_utf8()..];
        rest.is_empty() || !c.is_ascii() || rest.starts_with(char::is_whitespace)
    });
    let long = |end: usize| text[..end].split_whitespace().count() >= LEAST_WORDS || !text[..end].is_ascii();
    ends.map(|(at, _)| at).find(|end| long(*end)).map_or(text, |end| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_what_is_asked_for() {
        for (text, title) in [
            (
                "modify a flight booking I made for a trip from New York to Chicago.",
                "Modify a flight booking I made",
            ),
            ("to change my order, please.", "Change my order"),
            ("remove a guest named Ada from my evening booking", "Remove a guest named Ada"),
            (
                "the queue in src/queue.rs stalls when it is full",
                "Queue in src/queue.rs stalls when it is full",
            ),
            ("", ""),
            ("!!!", ""),
        ] {
            assert_eq!(short(text), title, "{text}");
        }
        assert_eq!(of_issue("[Bug]: Unable to pickle"), "Unable to pickle");
        assert_eq!(of_issue("Feature request: sort keys"), "sort keys");
        assert_eq!(of_issue("The bug: it stalls"), "The bug: it stalls");
    }
}
