//! Sessions of Codex: the files `~/.codex/sessions/**/rollout-*.jsonl`, one line per event.
//!
//! Utterances are items of OpenAI's Responses API, in lines of the type `response_item`; in older files, the items are
//! the lines themselves. Where turns were rolled back, the session branches.

use serde_json::Value;

use super::{BRANCH_OF, Message, conversation, labels, text, time_of};
use crate::{Parsed, notes::Notes, openai_responses};
use utterd_domain::{Refusal, Timestamp};

/// What a line is about, whatever the version of the file.
struct Line {
    kind: Kind,
    time: Option<Timestamp>,
    value: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The session's id, and where it took place.
    Session,
    /// Something that was said.
    Item,
    /// Turns were rolled back.
    RolledBack,
    /// Something that was not said.
    Other,
}

/// Reads the lines of one or several sessions. A part that was rolled back is a conversation of its own, with what was
/// said before it.
pub fn conversations(lines: Vec<Value>, notes: &mut Notes) -> Result<Vec<Parsed>, Refusal> {
    let mut sessions: Vec<Session> = Vec::new();
    for line in lines.into_iter().map(line) {
        match (line.kind, sessions.last_mut()) {
            // A session that continues another one repeats the line about that one.
            (Kind::Session, Some(session)) if !session.said.is_empty() || session.about.is_null() => {
                sessions.push(Session::of(line.value));
            }
            (Kind::Session, None) => sessions.push(Session::of(line.value)),
            (Kind::Item, Some(session)) => session.said.push(line),
            (Kind::RolledBack, Some(session)) => session.roll_back(&line.value),
            (Kind::Item, None) => sessions.push(Session { said: vec![line], ..Session::of(Value::Null) }),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for session in sessions {
        session.read(&mut found, notes)?;
    }
    Ok(found)
}

/// A line, or nothing if it is not read; `None` if it is no JSON.
pub fn condensed(text: &str) -> Option<String> {
    let Line { kind, .. } = line(serde_json::from_str(text).ok()?);
    Some(if kind == Kind::Other { String::new() } else { text.to_owned() })
}

fn line(mut line: Value) -> Line {
    let time = time_of(&line, "timestamp");
    let (kind, is_item) = match (text(&line, "type"), line.get("payload")) {
        (Some("session_meta"), Some(_)) => (Kind::Session, false),
        (Some("response_item"), Some(item)) => (is_said(item), false),
        (Some("event_msg"), Some(event)) if text(event, "type") == Some("thread_rolled_back") => {
            (Kind::RolledBack, false)
        }
        (None, None) if text(&line, "id").is_some() => (Kind::Session, true),
        (Some(_), None) => (is_said(&line), true),
        _ => (Kind::Other, true),
    };
    let value = if is_item { line } else { line["payload"].take() };
    Line { kind, time, value }
}

/// Snapshots of files are no part of what the model was sent.
fn is_said(item: &Value) -> Kind {
    match text(item, "type") {
        Some("ghost_snapshot") | None => Kind::Other,
        Some(_) => Kind::Item,
    }
}

struct Session {
    about: Value,
    said: Vec<Line>,
    /// The branches that turns were rolled back from, each from the session's first message on.
    left: Vec<Vec<Message>>,
}

impl Session {
    fn of(about: Value) -> Self {
        Self { about, said: Vec::new(), left: Vec::new() }
    }

    fn roll_back(&mut self, event: &Value) {
        let turns = event.get("num_turns").and_then(Value::as_u64).unwrap_or(0);
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let begins = |line: &Line| text(&line.value, "role") == Some("user") && !is_context(&line.value);
        let starts: Vec<usize> = (0..self.said.len()).filter(|at| begins(&self.said[*at])).collect();
        if turns == 0 || starts.is_empty() {
            return;
        }
        let stays = starts[starts.len().saturating_sub(turns)];
        self.left.push(self.said.iter().map(Line::message).collect());
        self.said.truncate(stays);
    }

    fn read(self, found: &mut Vec<Parsed>, notes: &mut Notes) -> Result<(), Refusal> {
        let name = text(&self.about, "id").unwrap_or("session").to_owned();
        let git = self.about.get("git").and_then(|git| text(git, "branch"));
        let branches = self.left.into_iter().enumerate().map(|(number, said)| (Some(number + 1), said));
        let said: Vec<_> = self.said.iter().map(Line::message).collect();
        for (branch, said) in std::iter::once((None, said)).chain(branches) {
            if said.is_empty() {
                continue;
            }
            let id = branch.map_or_else(|| name.clone(), |number| format!("{name}~{number}"));
            let mut parsed = conversation(id, said, openai_responses::conversation, notes)?;
            parsed.labels = labels([
                ("cwd", text(&self.about, "cwd")),
                ("git_branch", git),
                ("forked_from", text(&self.about, "forked_from_id")),
                (BRANCH_OF, branch.map(|_| name.as_str())),
            ]);
            found.push(parsed);
        }
        Ok(())
    }
}

impl Line {
    fn message(&self) -> Message {
        Message { id: None, time: self.time, value: self.value.clone() }
    }
}

/// Whether the program wrote a user's message: what it tells the model about the machine and the project.
fn is_context(item: &Value) -> bool {
    let first = item["content"].get(0).and_then(|part| text(part, "text")).unwrap_or_default().trim_start();
    ["<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md"]
        .into_iter()
        .any(|mark| first.starts_with(mark))
}
