//! What a conversation mostly is (seed 004).

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use utterd_text::{Kind as Shape, entities, words};

use crate::{
    calls::{Outcome, deeds},
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

/// What a word is a sign of.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Build,
    Plan,
    Review,
    Trouble,
}

/// How many messages show each sign.
#[derive(Default)]
struct Counts {
    said: usize,
    users: usize,
    asked: usize,
    code: usize,
    plans: usize,
    trouble: usize,
    reviews: usize,
    builds: usize,
}

/// What a conversation mostly is, if that shows in a third of its messages; questions, in half of the user's.
pub fn talk(messages: &[Message<'_>]) -> Option<Talk> {
    let mut counts = Counts::default();
    let mut open_file = None;
    let said = messages.iter().filter(|message| matches!(message.role, Role::User | Role::Assistant));
    for message in said {
        let failed = message.calls.iter().flat_map(|call| deeds(call, &mut open_file));
        let failed = failed.filter(|deed| matches!(deed.outcome, Outcome::Failed(_))).count() > 0;
        counts.see(message, failed);
    }
    counts.talk()
}

impl Counts {
    fn see(&mut self, message: &Message<'_>, failed: bool) {
        let text = &message.text[..message.text.floor_char_boundary(READ_BYTES)];
        let signs: Vec<Sign> = words(text).filter_map(|word| SIGNS.get(&word.concept).copied()).collect();
        let is_user = message.role == Role::User;
        let shows = |sign: Sign| usize::from(signs.contains(&sign));
        let of_user = |sign: Sign| if is_user { shows(sign) } else { 0 };
        self.said += 1;
        self.users += usize::from(is_user);
        self.asked += usize::from(is_user && text.contains(['?', '？', '؟']));
        self.code +=
            usize::from(is_code(text) || message.calls.iter().any(|call| names_file(call.arguments)));
        self.plans += shows(Sign::Plan);
        self.trouble += shows(Sign::Trouble).max(usize::from(failed));
        self.reviews += of_user(Sign::Review);
        self.builds += of_user(Sign::Build);
    }

    fn talk(&self) -> Option<Talk> {
        let shows = |count: usize| count >= LEAST_MESSAGES && count * 3 >= self.said;
        let code = shows(self.code);
        match () {
            () if code && self.reviews > 0 && self.reviews >= self.builds => Some(Talk::Review),
            () if code && shows(self.trouble) => Some(Talk::Debugging),
            () if code && self.builds > 0 => Some(Talk::Feature),
            () if code => Some(Talk::Code),
            () if shows(self.plans) => Some(Talk::Planning),
            () if shows(self.trouble) => Some(Talk::Debugging),
            () if self.asked >= LEAST_MESSAGES && self.asked * 2 >= self.users => Some(Talk::Questions),
            () => None,
        }
    }
}

fn is_code(text: &str) -> bool {
    text.contains("```") || entities(text).iter().any(|entity| is_of_code(entity.kind))
}

fn names_file(arguments: &str) -> bool {
    let read = &arguments[..arguments.floor_char_boundary(READ_BYTES)];
    entities(read).iter().any(|entity| matches!(entity.kind, Shape::Path | Shape::File))
}

fn is_of_code(kind: Shape) -> bool {
    matches!(kind, Shape::Path | Shape::File | Shape::Code)
}

static SIGNS: LazyLock<FxHashMap<u64, Sign>> = LazyLock::new(|| {
    let entry = |line: &str| {
        let (sign, word) = line.split_once('\t')?;
        let sign = match sign {
            "build" => Sign::Build,
            "plan" => Sign::Plan,
            "review" => Sign::Review,
            "trouble" => Sign::Trouble,
            _ => return None,
        };
        Some((words(word).next()?.concept, sign))
    };
    include_str!("kinds.tsv").lines().filter_map(entry).collect()
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
