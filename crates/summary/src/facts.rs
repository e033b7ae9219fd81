//! What a text that somebody else writes of the same conversation must not lose.

use utterd_text::Kind as Shape;

use crate::{
    item::{Item, Kind, Marks},
    render,
    settle::{Part, settle},
};

/// The most facts.
const MOST: usize = 24;
/// Words with fewer characters are not looked for.
const LEAST_CHARACTERS: usize = 4;

/// Something that must not be lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    item: Item,
    /// `cancel(A1) → ok`, on one line.
    pub text: String,
}

/// The facts of `items`: names that several messages use, then the calls that changed something, with their outcome,
/// then where things stand: the goal, the last check and error, what is open. The newest, each kind oldest first.
pub fn facts(items: &[Item], part: Part) -> Vec<Fact> {
    let settled = settle(items.to_vec(), part);
    let done: Vec<&Item> =
        settled.iter().filter(|item| item.kind == Kind::Did && !item.marks.has(Marks::COUNTED)).collect();
    let is_done = |name: &Item| done.iter().any(|deed| deed.text.contains(&*name.text));
    let names = settled.iter().filter(|item| recurs(item) && !is_done(item));
    let states = settled.iter().filter(|item| is_state(item));
    let mut all: Vec<&Item> = names.chain(done.iter().copied()).chain(states).collect();
    all.drain(..all.len().saturating_sub(MOST));
    all.into_iter().map(|item| Fact { item: item.clone(), text: render::alone(item) }).collect()
}

/// Whether it identifies a thing, and at least two messages name it.
fn recurs(item: &Item) -> bool {
    item.seen.is_some_and(|seen| {
        let identifies = matches!(
            seen.shape,
            Shape::Code | Shape::Identifier | Shape::Path | Shape::File | Shape::Url | Shape::Email
        );
        identifies && seen.users + seen.assistants > 1
    })
}

fn is_state(item: &Item) -> bool {
    matches!(item.kind, Kind::Goal | Kind::Check | Kind::Error | Kind::Open)
}

impl Fact {
    /// Whether `text`, in lower case, tells it: a name, the object of a deed, half of the words of anything else. A goal
    /// in other words is told all the same.
    pub fn is_told_by(&self, text: &str) -> bool {
        let Item { kind, head, text: said, .. } = &self.item;
        match kind {
            Kind::Goal => !self.item.marks.has(Marks::TITLE) || tells(text, said),
            Kind::Fact => text.contains(&said.to_lowercase()),
            Kind::Did if said.is_empty() => tells(text, head),
            Kind::Did if !said.contains(' ') => names(text, said),
            _ => tells(text, said),
        }
    }

    /// The utterances that it depends on.
    pub fn sources(&self) -> impl Iterator<Item = u64> {
        [Some(self.item.sequence), self.item.also].into_iter().flatten()
    }
}

/// Whether `text` has `name`; of a path, its last part is enough.
fn names(text: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    let last = name.rsplit('/').next().unwrap_or_default();
    text.contains(&name) || last.len() >= LEAST_CHARACTERS && text.contains(last)
}

/// Whether `text` has at least half of the words of `said`.
fn tells(text: &str, said: &str) -> bool {
    let words = said.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| word.chars().count() >= LEAST_CHARACTERS).map(str::to_lowercase).collect();
    let found = words.iter().filter(|word| text.contains(word.as_str())).count();
    words.is_empty() || 2 * found >= words.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        analysis::analyse,
        message::{Answer, Call, Message, Role},
    };

    fn said(sequence: u64, role: Role, text: &str) -> Message<'_> {
        Message { sequence, role, name: None, time: None, text, calls: Vec::new() }
    }

    fn called<'a>(sequence: u64, tool: &'a str, arguments: &'a str, result: &'a str) -> Message<'a> {
        let result = Some(Answer { sequence: sequence + 1, text: result });
        let calls = vec![Call { tool, arguments, result }];
        Message { calls, ..said(sequence, Role::Assistant, "") }
    }

    fn all() -> Vec<Fact> {
        let messages = [
            said(1, Role::User, "Please cancel reservation LU15PA; leave ORD-77 alone."),
            called(2, "get_reservation", "{\"id\":\"LU15PA\"}", "{\"status\":\"open\"}"),
            called(4, "cancel_reservation", "{\"id\":\"LU15PA\"}", "{\"status\":\"cancelled\"}"),
            said(6, Role::Assistant, "It is cancelled, and ORD-77 stays."),
        ];
        facts(&analyse(&messages), Part::WHOLE)
    }

    #[test]
    fn names_that_recur_deeds_and_where_things_stand_are_facts() {
        let told: Vec<String> = all().into_iter().map(|fact| fact.text).collect();
        assert_eq!(
            told,
            [
                "ORD-77",
                "cancel_reservation(LU15PA) → ok",
                "Goal: Please cancel reservation LU15PA; leave ORD-77 alone."
            ]
        );
    }

    #[test]
    fn a_text_tells_a_fact_in_its_own_words() {
        let untold = |text: &str| -> Vec<String> {
            let missing = all().into_iter().filter(|fact| !fact.is_told_by(&text.to_lowercase()));
            missing.map(|fact| fact.text).collect()
        };
        assert_eq!(untold("LU15PA was cancelled; nothing was done to ORD-77."), Vec::<String>::new());
        assert_eq!(untold("The reservation was cancelled."), ["ORD-77", "cancel_reservation(LU15PA) → ok"]);
    }
}
