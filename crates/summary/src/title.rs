//! The title of a conversation, and what is told of one that ended.

use utterd_text::{Cues, Word, cues, is_unspaced, matter, words};

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
    // what begins with a word of meaning asks, or names what it is about
    let is_matter = |text: &str| {
        let first = text.split(' ').next().unwrap_or_default();
        first.chars().all(char::is_alphabetic) && words(text).next().is_some_and(|word| !word.is_stop)
    };
    // "Can you help me with that?" says nothing of what
    let says = |item: &&&Item| item.concepts().len() > 1;
    let asks = |item: &&&Item| item.marks.has(Marks::REQUEST) || is_matter(&item.text);
    let asked = goal.iter().filter(says).find(asks);
    let first = asked.copied().or(goal.first().copied()).or_else(|| settled.iter().find(said));
    let did = || {
        settled
            .iter()
            .rfind(|item| item.kind == Kind::Did && !item.marks.has(Marks::COUNTED))
            .map(|item| format!("{} {}", item.head, item.text))
    };
    let title = first.map(|item| short(matter(asking(&item.text)))).filter(|title| !title.is_empty());
    title.or_else(|| did().map(|did| short(&did))).filter(|title| !title.is_empty())
}

/// How many words a title has: what is between blanks; where there are none, a pair of characters is one.
pub fn size(title: &str) -> usize {
    let all: Vec<Word<'_>> = words(title).collect();
    (0..all.len()).filter(|at| begins(title, &all, *at)).count()
}

/// From the first clause on that asks: "I'm bored, please find a movie".
fn asking(text: &str) -> &str {
    let mut start = 0;
    for part in text.split_inclusive(", ") {
        if cues(part).has(Cues::REQUEST) && words(matter(part)).count() >= LEAST_WORDS {
            return &text[start..];
        }
        start += part.len();
    }
    text
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
    // `is_empty` begins with a word that only carries others, and is a name
    let first = (0..=first).rev().find(|at| begins(text, &all, *at)).unwrap_or(0);
    let all = all.split_off(first.min(all.len()));
    let Some(start) = all.first().map(|word| word.start) else { return String::new() };
    let beyond = (0..all.len()).filter(|at| begins(text, &all, *at)).nth(MOST_WORDS);
    let last = beyond.map(|beyond| &all[whole_phrases(&all, beyond)]);
    let end = last.map_or(text.len(), |last| last.start + last.text.len());
    let title = text[start..end].trim_matches(|c: char| c.is_whitespace() || ".,;:!?…。！？".contains(c));
    let title = paired(title, &text[end..]);
    // a name of a program keeps its letters
    let is_word = |word: &str| word.chars().skip(1).all(|c| c.is_lowercase() || "'’-,".contains(c));
    let mut letters = title.chars();
    match letters.next().filter(|_| title.split(' ').next().is_some_and(is_word)) {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => title,
    }
}

/// A title without marks that are not closed in it; what follows it may close them.
fn paired(title: &str, rest: &str) -> String {
    let mut title = match title.rfind('(').filter(|at| !title[*at..].contains(')')) {
        Some(open) => title[..open].trim_end().to_owned(),
        None => title.to_owned(),
    };
    for mark in ['"', '`'] {
        match title.rfind(mark) {
            Some(_) if title.matches(mark).count() % 2 == 0 => {}
            Some(_) if rest.starts_with(mark) => title.push(mark),
            Some(at) => drop(title.remove(at)),
            None => {}
        }
    }
    title.trim().to_owned()
}

/// Whether the word at a place begins what counts as a word: blanks set them apart, and where there are none, each pair
/// of characters is one. What else is a word by itself depends on the language, which a part of a text may not show.
fn begins(text: &str, all: &[Word<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| all.get(before)) else { return true };
    let Some(word) = all.get(at) else { return false };
    let is_apart = |text: &str| text.contains(char::is_whitespace);
    // pairs overlap
    text.get(before.start + before.text.len()..word.start).is_none_or(is_apart)
        || before.text.ends_with(is_unspaced)
        || word.text.starts_with(is_unspaced)
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
            ("`is_empty` gives wrong results", "is_empty gives wrong results"),
            ("kernS: unbound name in the parser", "kernS: unbound name in the parser"),
            ("Add a function add(a: int, b: int)", "Add a function add"),
            ("Rename the field to \"size of queue\"", "Rename the field to \"size of queue\""),
            (
                "Create pages of all books even if `quiet=True` is set",
                "Create pages of all books even if `quiet=True`",
            ),
            ("", ""),
            ("!!!", ""),
        ] {
            assert_eq!(short(text), title, "{text}");
        }
        for (text, asked) in [
            ("I'm bored, I'd like to watch a movie.", "I'd like to watch a movie."),
            ("to change my order, please.", "to change my order, please."),
        ] {
            assert_eq!(asking(text), asked);
        }
        assert_eq!(of_issue("[Bug]: Unable to pickle"), "Unable to pickle");
        assert_eq!(of_issue("Feature request: sort keys"), "sort keys");
        assert_eq!(of_issue("The bug: it stalls"), "The bug: it stalls");
    }

    /// A part of a text can show another language than the whole, in which an apostrophe parts words.
    #[test]
    fn a_title_has_as_many_words_as_were_counted_in_the_text() {
        let odd = "𑩐'ጘ(\u{a980}🪀¹ ² 𐞲 \u{b3c}{c:j{¹[𞤀{a(𐖗";
        for text in [odd, "l'eau d'été n'a qu'un goût d'herbe, don't you think it's what one's mother'd say"]
        {
            for text in [text.to_owned(), format!("{text} {text}"), format!("{text}用红色还是{text}")] {
                assert!(size(&short(&text)) <= MOST_WORDS, "{text}: {}", short(&text));
            }
        }
    }
}
