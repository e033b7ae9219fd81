//! What a conversation mostly is (seed 004).

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use utterd_text::{Kind as Shape, entities, words};

use crate::{
    calls::{Json, Outcome, deeds},
    message::{Message, Role},
};

/// How much of a message is read, in bytes.
const READ_BYTES: usize = 1 << 10;
/// A kind shows in at least this many messages.
const LEAST_MESSAGES: usize = 2;

/// What a conversation mostly is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Talk {
    /// Work on code.
    Code,
    /// Building a feature.
    Feature,
    /// Reading somebody's code.
    Review,
    /// Making a plan.
    Planning,
    /// Questions and answers.
    Questions,
    /// Looking for an error.
    Debugging,
}

/// What a message shows.
struct Shown {
    is_user: bool,
    asks: bool,
    code: bool,
    /// What its words are signs of, by their names in `kinds.tsv`.
    signs: Vec<&'static str>,
}

/// What a conversation mostly is, if that shows in a third of its messages; questions, in half of the user's.
pub fn talk(messages: &[Message<'_>]) -> Option<Talk> {
    let said = messages.iter().filter(|message| matches!(message.role, Role::User | Role::Assistant));
    let said: Vec<Shown> = said.map(shown).collect();
    let count = |is: &dyn Fn(&Shown) -> bool| said.iter().filter(|shown| is(shown)).count();
    let shows = |is: &dyn Fn(&Shown) -> bool| count(is) >= LEAST_MESSAGES && count(is) * 3 >= said.len();
    let of_user = |sign| count(&|shown| shown.is_user && shown.signs.contains(&sign));
    let (code, asked) = (shows(&|shown| shown.code), count(&|shown| shown.is_user && shown.asks));
    let (reviews, builds) = (of_user("review"), of_user("build"));
    match () {
        () if code && reviews > 0 && reviews >= builds => Some(Talk::Review),
        () if code && shows(&|shown| shown.signs.contains(&"trouble")) => Some(Talk::Debugging),
        () if code && builds > 0 => Some(Talk::Feature),
        () if code => Some(Talk::Code),
        () if shows(&|shown| shown.signs.contains(&"plan")) => Some(Talk::Planning),
        () if shows(&|shown| shown.signs.contains(&"trouble")) => Some(Talk::Debugging),
        () if asked >= LEAST_MESSAGES && asked * 2 >= count(&|shown| shown.is_user) => Some(Talk::Questions),
        () => None,
    }
}

fn shown(message: &Message<'_>) -> Shown {
    let text = &message.text[..message.text.floor_char_boundary(READ_BYTES)];
    let mut deeds = message.calls.iter().flat_map(|call| deeds(call, &Json::of(call)));
    let failed = deeds.any(|deed| matches!(deed.outcome, Outcome::Failed(_)));
    let signs = words(text).filter_map(|word| SIGNS.get(&word.concept).copied());
    Shown {
        is_user: message.role == Role::User,
        asks: text.contains(['?', '？', '؟']),
        code: is_code(text) || message.calls.iter().any(|call| names_file(call.arguments)),
        signs: signs.chain(failed.then_some("trouble")).collect(),
    }
}

fn is_code(text: &str) -> bool {
    text.contains("```")
        || entities(text).iter().any(|entity| matches!(entity.kind, Shape::Path | Shape::File | Shape::Code))
}

fn names_file(arguments: &str) -> bool {
    let read = &arguments[..arguments.floor_char_boundary(READ_BYTES)];
    entities(read).iter().any(|entity| matches!(entity.kind, Shape::Path | Shape::File))
}

/// A sign and a word on each line.
static SIGNS: LazyLock<FxHashMap<u64, &str>> = LazyLock::new(|| {
    let entries = include_str!("kinds.tsv").lines().filter_map(|line| line.split_once('\t'));
    entries.filter_map(|(sign, word)| Some((words(word).next()?.concept, sign))).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    fn of(turns: &[&str]) -> Option<Talk> {
        let role = |at: u64| if at % 2 == 1 { Role::User } else { Role::Assistant };
        let messages: Vec<Message<'_>> = (1..)
            .zip(turns)
            .map(|(sequence, text)| Message {
                sequence,
                role: role(sequence),
                name: None,
                time: None,
                text,
                calls: Vec::new(),
            })
            .collect();
        talk(&messages)
    }

    #[test]
    fn a_conversation_is_what_most_of_it_is() {
        for (turns, expected) in [
            (
                &[
                    "Add a call to parse_header in src/reader.rs.",
                    "It is in src/reader.rs.",
                    "Now rename openFile.",
                    "Done in src/reader.rs.",
                ][..],
                Some(Talk::Code),
            ),
            (
                &[
                    "Please review src/reader.rs.",
                    "parse_header in src/reader.rs is fragile.",
                    "And src/writer.rs?",
                    "The name of flush_now in src/writer.rs is misleading.",
                ],
                Some(Talk::Review),
            ),
            (
                &[
                    "Implement a cache in src/cache.rs.",
                    "There is an LRU in src/cache.rs.",
                    "Now the endpoint in src/api.rs.",
                    "It is in src/api.rs.",
                ],
                Some(Talk::Feature),
            ),
            (
                &[
                    "src/reader.rs crashes with a panic.",
                    "The error is in src/reader.rs.",
                    "It still fails in src/reader.rs.",
                    "Then the bug is in src/header.rs.",
                ],
                Some(Talk::Debugging),
            ),
            (
                &[
                    "We need a roadmap for the spring fair.",
                    "The first phase is the venue.",
                    "Which tasks come before the opening?",
                    "The plan has four tasks for April.",
                ],
                Some(Talk::Planning),
            ),
            (
                &[
                    "How high is Mont Blanc?",
                    "It is 4,806 metres high.",
                    "And who climbed it first?",
                    "Balmat and Paccard, in 1786.",
                ],
                Some(Talk::Questions),
            ),
            (&["We walked along the river.", "That sounds lovely.", "It rained a little.", "Oh no."], None),
        ] {
            assert_eq!(of(turns), expected, "{turns:?}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_has_each_word_once() {
        let lines: Vec<&str> = include_str!("kinds.tsv").lines().collect();
        assert!(lines.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(SIGNS.len(), lines.len(), "every line is read");
    }
}
