//! What a model's text for a segment must not lose.

use crate::{
    Sequence, TokenCounter,
    extractive::{LineKind, Origin, Part, Sentence, ToldCall, identifiers},
};

/// The maximum number of facts.
const MOST_FACTS: usize = 24;
/// Words with fewer characters are not looked for.
const LEAST_CHARACTERS: usize = 4;
/// The weight of a line of facts when lines compete: more than any line of a model's.
const WEIGHT: u32 = 80;

/// Returns the identifiers mentioned by sentences of more than one utterance, then the calls that changed
/// something, with their outcome, then where things stand: the goal, the last check and error, what is open. Each
/// oldest first.
pub fn facts(sentences: &[Sentence]) -> Vec<String> {
    let all = Fact::all(sentences);
    let told = all[all.len().saturating_sub(MOST_FACTS)..].iter().map(|(_, fact)| fact.told());
    told.collect()
}

/// One line of the facts that `text`, a model's text for these sentences, does not mention, in at most `room`
/// tokens: the last ones if there is no room for all, and the number of the others. `None` if no fact is
/// missing, or there is no room for any.
pub(super) fn dropped(
    sentences: &[Sentence],
    text: &[Sentence],
    room: u32,
    counter: &dyn TokenCounter,
) -> Option<Sentence> {
    let text: String = text.iter().map(|line| line.text.to_lowercase()).collect();
    let all = Fact::all(sentences);
    let missing: Vec<Part> =
        all.iter().filter(|(_, fact)| !fact.is_in(&text)).map(|(from, fact)| part(*from, fact)).collect();
    let most = missing.len().min(MOST_FACTS);
    (1..=most).rev().map(|count| line(&missing, count, counter)).find(|line| line.tokens <= room)
}

fn part((sequence, result): Origin, fact: &Fact<'_>) -> Part {
    Part { sequence, result, text: fact.told().into(), weight: WEIGHT }
}

/// A line of the last `count` of the missing facts.
fn line(missing: &[Part], count: usize, counter: &dyn TokenCounter) -> Sentence {
    let left_out = missing.len() - count;
    Sentence::listed(LineKind::Facts, "Noted:", &missing[left_out..], left_out, counter)
}

/// Something that must not be lost.
enum Fact<'a> {
    Call(ToldCall<'a>),
    Name(&'a str),
    /// Where things stand: `Check: cargo test → ok`.
    State {
        head: &'a str,
        said: &'a str,
        is_goal: bool,
    },
}

impl<'a> Fact<'a> {
    /// All facts, each with what it is taken from.
    fn all(sentences: &'a [Sentence]) -> Vec<(Origin, Self)> {
        let acts = sentences.iter().filter(|line| line.kind == LineKind::Act);
        let calls =
            acts.flat_map(|line| ToldCall::all_of(line).into_iter().map(|call| (line.sequence, call)));
        let calls: Vec<(Sequence, ToldCall<'a>)> = calls.collect();
        let is_new = |name: &&'a str| !calls.iter().any(|(_, call)| call.arguments.contains(name));
        let mut all: Vec<(Origin, Self)> = Vec::new();
        for (name, sequence) in recurring(sentences) {
            if is_new(&name) {
                all.push(((sequence, None), Self::Name(name)));
            }
        }
        all.extend(calls.iter().map(|(sequence, call)| ((*sequence, None), Self::Call(*call))));
        all.extend(sentences.iter().filter(|line| line.tells_state()).flat_map(Self::states));
        all
    }

    /// What a line says of where things stand.
    fn states(line: &'a Sentence) -> Vec<(Origin, Self)> {
        let state = |head, said| Self::State { head, said, is_goal: line.is_goal() };
        if line.items.is_empty() {
            let (head, said) = line.text.trim_end().split_once(' ').unwrap_or((&line.text, ""));
            return vec![((line.sequence, line.result), state(head, said))];
        }
        let items = line.items.iter();
        items.map(|item| ((item.sequence, item.result), state(line.head(), line.item(item)))).collect()
    }

    fn told(&self) -> String {
        match self {
            Self::Call(call) => call.short(),
            Self::Name(name) => (*name).to_owned(),
            Self::State { head, said, .. } => format!("{head} {said}"),
        }
    }

    /// Whether `text`, in lower case, mentions it.
    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Name(name) => text.contains(&name.to_lowercase()),
            // a goal in other words is told all the same
            Self::State { said, is_goal, .. } => *is_goal || tells(text, said, 2),
            Self::Call(call) => match call.key() {
                Some(key) => names(text, key),
                None if call.arguments.is_empty() => tells(text, call.tool, 1),
                None => tells(text, call.arguments, 2),
            },
        }
    }
}

/// Whether `text` mentions `key`; for a path, its last part is enough.
fn names(text: &str, key: &str) -> bool {
    let key = key.to_lowercase();
    let last = key.rsplit('/').next().unwrap_or_default();
    text.contains(&key) || last.len() >= LEAST_CHARACTERS && text.contains(last)
}

/// Whether `text` has at least one in `of` of the words of `said`.
fn tells(text: &str, said: &str, of: usize) -> bool {
    let words = said.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| word.chars().count() >= LEAST_CHARACTERS).map(str::to_lowercase).collect();
    let found = words.iter().filter(|word| text.contains(word.as_str())).count();
    words.is_empty() || found > 0 && found * of >= words.len()
}

/// Identifiers mentioned by sentences of more than one utterance, with their first mention.
fn recurring(sentences: &[Sentence]) -> Vec<(&str, Sequence)> {
    let mut seen: Vec<(&str, Sequence, bool)> = Vec::new();
    for sentence in sentences.iter().filter(|line| line.kind != LineKind::Open) {
        identifiers(&sentence.text, |name| match seen.iter_mut().find(|(other, ..)| *other == name) {
            Some((_, first, again)) => *again |= *first != sentence.sequence,
            None => seen.push((name, sentence.sequence, false)),
        });
    }
    seen.into_iter().filter_map(|(name, first, again)| again.then_some((name, first))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::o200k;

    fn sentence(sequence: u64, text: &str) -> Sentence {
        let kind =
            if text.contains(" called ") && !text.contains(" get_") { LineKind::Act } else { LineKind::Said };
        let text = format!("{text}\n");
        let tokens = o200k().count(&text);
        Sentence::plain(kind, Sequence(sequence), text.into(), 9, tokens)
    }

    fn source() -> Vec<Sentence> {
        vec![
            sentence(1, "User: Please cancel reservation LU15PA and tell ann@x.org."),
            sentence(2, "Assistant called get_reservation(LU15PA) → ok"),
            sentence(3, "Assistant called cancel_reservation(LU15PA) → ok: {\"status\":\"cancelled\"}"),
            sentence(4, "Assistant called bash(git commit -m \"Round the delta\") → ok"),
            sentence(5, "Assistant called edit(src/fields.py, a, b) → error: no match"),
            sentence(6, "User: ORD-77 is not part of it."),
            sentence(7, "Assistant: I left ORD-77 alone."),
        ]
    }

    fn missing(text: &str, room: u32) -> Option<String> {
        let text: Vec<Sentence> = text.lines().map(|line| sentence(1, line)).collect();
        dropped(&source(), &text, room, o200k()).map(|line| line.text.to_string())
    }

    #[test]
    fn calls_that_change_something_and_identifiers_that_recur_are_facts() {
        let expected = [
            "ORD-77",
            "cancel_reservation(LU15PA) → ok",
            "bash(git commit -m \"Round the delta\") → ok",
            "edit(src/fields.py, a, b) → error: no match",
        ];
        assert_eq!(facts(&source()), expected);
    }

    #[test]
    fn where_things_stand_is_a_fact_that_a_text_must_tell() {
        let mut source = source();
        source.push(sentence(8, "Check: cargo test → error: test t5 failed"));
        let told = facts(&source);
        assert_eq!(told.last().unwrap(), "Check: cargo test → error: test t5 failed");
        let text = |text: &str| vec![sentence(1, text)];
        let all = text("ORD-77, lu15pa, round the delta, fields.py");
        let line = dropped(&source, &all, 100, o200k()).unwrap();
        assert_eq!(&*line.text, "Noted: Check: cargo test → error: test t5 failed\n");
        let all = text("ORD-77, lu15pa, round the delta, fields.py; cargo: test t5 failed");
        assert_eq!(dropped(&source, &all, 100, o200k()), None);
    }

    #[test]
    fn a_text_that_tells_them_gets_no_line() {
        let text = "- Cancelled lu15pa; ORD-77 stays\n- Committed \"round the delta\"; the edit of `fields.py` failed";
        assert_eq!(missing(text, 100), None);
    }

    #[test]
    fn what_a_text_drops_follows_as_far_as_there_is_room() {
        let text = "- A reservation was cancelled, and `src/fields.py` could not be edited";
        let all =
            "Noted: ORD-77; cancel_reservation(LU15PA) → ok; bash(git commit -m \"Round the delta\") → ok\n";
        assert_eq!(missing(text, 100).as_deref(), Some(all));
        let cut = missing(text, 24).unwrap();
        assert_eq!(cut, "Noted: bash(git commit -m \"Round the delta\") → ok; … and 2 more\n");
        assert!(o200k().count(&cut) <= 24, "{cut}");
        assert_eq!(missing(text, 4), None);
    }
}
