//! User and assistant take turns (seed 002, "Role Alternation").
//!
//! Tool results are on the user's side and belong to their call, so a user or assistant message after them is
//! in turn. A system message is nobody's turn.

use std::sync::Arc;

use crate::{
    Draft, More, Role, Sequence, TokenCounter, Utterance, Window,
    context::{How, Message},
};

/// What happens to two messages of one role in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alternation {
    /// They become one message.
    #[default]
    Merge,
    /// The newer one is kept.
    Drop,
    /// The history is refused.
    Reject,
}

/// Each pair of consecutive messages of the same role. `across_system` ignores system messages in between, for a format
/// that sends them separately.
pub fn clashes(window: &Window, across_system: bool) -> Vec<(Sequence, Sequence)> {
    let begins_turn = |said: &&Arc<Utterance>| {
        (said.role != Role::Tool || said.late().is_some()) && !(across_system && said.role == Role::System)
    };
    let said: Vec<&Arc<Utterance>> = window.iter().filter(begins_turn).collect();
    let pairs = said.windows(2).filter(|pair| clash(pair[0], pair[1]));
    pairs.map(|pair| (pair[0].sequence, pair[1].sequence)).collect()
}

fn clash(first: &Utterance, second: &Utterance) -> bool {
    let role = |said: &Utterance| if said.late().is_some() { Role::User } else { said.role };
    first.tool_calls().is_empty() && is_turn(role(first)) && role(first) == role(second)
}

fn is_turn(role: Role) -> bool {
    matches!(role, Role::User | Role::Assistant)
}

/// Joins consecutive messages of the same role; returns how many were joined to the message before them.
///
/// Their texts become one message, separated by an empty line. If their speakers have different names, each
/// text begins with its speaker's name.
pub fn merge(messages: &[Message], counter: &dyn TokenCounter) -> (Vec<Message>, usize) {
    let joins = |one: &Message, next: &Message| {
        is_turn(one.role) && one.role == next.role && one.utterance.is_some() && next.utterance.is_some()
    };
    let runs = messages.chunk_by(joins);
    let merged: Vec<Message> = runs.filter_map(|run| joined(run, counter)).collect();
    let joined = messages.len() - merged.len();
    (merged, joined)
}

/// The messages of a run as one; only the last of them can make calls.
fn joined(run: &[Message], counter: &dyn TokenCounter) -> Option<Message> {
    let last = run.last()?;
    let (Some(utterance), false) = (&last.utterance, run.len() == 1) else { return Some(last.clone()) };
    let is_one = run.iter().all(|message| message.name() == last.name());
    let text = |message: &Message| match message.name().filter(|_| !is_one && !message.text().is_empty()) {
        Some(name) => named(name, message.text()),
        None => message.text().to_owned(),
    };
    let texts: Vec<String> = run.iter().map(text).filter(|text| !text.is_empty()).collect();
    let more = More {
        name: last.name().filter(|_| is_one).map(Into::into),
        tool_calls: last.tool_calls().to_vec(),
        ..More::default()
    };
    let draft = Draft::of(last.role, texts.join("\n\n"), more);
    let is_trimmed = run.iter().any(|message| message.how == How::Trimmed);
    let tokens = draft.tokens(counter);
    let (role, content, more) = (draft.role, draft.content, draft.more);
    let mut joined = last.clone();
    joined.utterance = Some(Arc::new(Utterance { role, content, more, ..(**utterance).clone() }));
    joined.instead = None;
    joined.how = if is_trimmed { How::Trimmed } else { last.how };
    joined.tokens = tokens;
    Some(joined)
}

/// A text after the name of its speaker.
pub fn named(name: &str, text: &str) -> String {
    format!("{name}: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        context::{Request, build},
        testing::{Talk, o200k},
    };

    fn clashes_of(talk: &Talk) -> Vec<(u64, u64)> {
        let clashes = clashes(&talk.0.window, false);
        clashes.into_iter().map(|(first, second)| (first.get(), second.get())).collect()
    }

    fn merged(talk: &Talk) -> (Vec<Message>, usize) {
        let context = build(&talk.0, &[], &Request::default(), o200k()).unwrap();
        merge(&context.messages, o200k())
    }

    fn texts(messages: &[Message]) -> Vec<&str> {
        messages.iter().map(Message::text).collect()
    }

    #[test]
    fn a_clash_is_named_by_its_places() {
        let mut talk = Talk::session();
        talk.say(Role::System, "s").say(Role::User, "q").call("", &["a"]).answer("a", "it is");
        talk.say(Role::Assistant, "x").say(Role::User, "r");
        assert_eq!(clashes_of(&talk), []);
        talk.say(Role::User, "2").say(Role::Assistant, "x").call("", &["b"]).answer("b", "it is");
        assert_eq!(clashes_of(&talk), [(6, 7), (8, 9)]);
    }

    #[test]
    fn system_messages_are_looked_through_when_they_stand_apart() {
        let mut talk = Talk::session();
        talk.say(Role::User, "q").say(Role::System, "s").say(Role::User, "r");
        assert_eq!(clashes_of(&talk), []);
        assert_eq!(clashes(&talk.0.window, true), [(Sequence(1), Sequence(3))]);
    }

    #[test]
    fn a_row_becomes_one_message() {
        let mut talk = Talk::session();
        talk.say(Role::User, "1").say(Role::User, "2").say(Role::Assistant, "x").call("", &["a"]);
        talk.answer("a", "it is").say(Role::User, "3");
        let (messages, joined) = merged(&talk);
        assert_eq!(texts(&messages), ["1\n\n2", "x", "it is", "3"]);
        assert_eq!((joined, messages[1].tool_calls().len()), (2, 1));
    }

    #[test]
    fn speakers_stay_apart_in_one_message() {
        let mut talk = Talk::session();
        for (name, text) in [(Some("Ann"), "1"), (Some("Ann"), "2"), (Some("Bob"), "3"), (None, "4")] {
            talk.add(Role::User, text, More { name: name.map(Into::into), ..More::default() });
        }
        let (messages, _) = merged(&talk);
        assert_eq!(texts(&messages), ["Ann: 1\n\nAnn: 2\n\nBob: 3\n\n4"]);
        assert_eq!(messages[0].name(), None);
    }
}
